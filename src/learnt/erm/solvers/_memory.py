"""L-BFGS updates: the two loops of BFGS around a given approximation of H⁻¹."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

from learnt.engine.arrays import is_numpy, namespace

Pair = tuple[Any, Any, float]  # a step, how the gradient changed over it, and their product


def inverse_times(pairs: Sequence[Pair], v: Any, middle: Callable[[Any], Any]) -> Any:
    """H⁻¹v, where `middle` is H⁻¹ before the steps of `pairs` were taken, oldest first.

    Reference: Nocedal & Wright, Numerical Optimization, 2nd edition, algorithm 7.4, doi:10.1007/978-0-387-40065-5.
    """
    shares = []
    for step, change, product in reversed(pairs):
        shares.append(dot(step, v) / product)
        v = v - shares[-1] * change
    v = middle(v)
    for (step, change, product), share in zip(pairs, reversed(shares), strict=True):
        v = v + (share - dot(change, v) / product) * step
    return v


def dot(a: Any, b: Any) -> float:
    return float(a.ravel() @ b.ravel()) if is_numpy(a) else float(namespace(a).sum(a * b))
