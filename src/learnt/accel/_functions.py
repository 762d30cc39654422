"""A function that replaces scikit-learn's: learnt's, and scikit-learn's where that fails."""

from __future__ import annotations

from collections.abc import Callable
from functools import cache, wraps
from time import perf_counter
from typing import Any

from learnt.accel._pairs import Pair
from learnt.accel._record import ran, went_back


@cache
def standing_function(pair: Pair) -> Callable[..., Any]:
    """The function that replaces scikit-learn's of a pair."""

    @wraps(pair.ours)
    def call(*args: Any, **options: Any) -> Any:
        start = perf_counter()
        try:
            try:
                return pair.ours(*args, **options | _SETTINGS.get(pair.name, dict)())
            except Exception as error:
                failure = error
            result = pair.original(*args, **options)
            went_back(pair.name, str(failure) or type(failure).__name__)
            return result
        finally:
            ran(pair.name, "call", perf_counter() - start)

    call.__module__, call.__qualname__ = "learnt.accel.replaced", f"{pair.room}.{pair.name}"
    return call


def _current_axes() -> dict[str, Any]:
    """scikit-learn's `plot_tree` draws into the current axes, and makes them where there are none."""
    import matplotlib.pyplot as plt

    return {"ax": plt.gca()}


_SETTINGS: dict[str, Callable[[], dict[str, Any]]] = {"plot_tree": _current_axes}
