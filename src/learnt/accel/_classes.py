"""A class that replaces scikit-learn's: learnt's estimator, which becomes scikit-learn's where its fit fails.

Whatever learnt's cannot fit (a value of a parameter, a kind of data), scikit-learn's fits, or refuses with its own
error: the object changes its class and is from then on scikit-learn's estimator, as if it had been made by it. A class
that a script derives from one of these derives from scikit-learn's, since it may use its internals.
"""

from __future__ import annotations

import inspect
import threading
from abc import ABCMeta
from collections.abc import Callable
from functools import cache, wraps
from time import perf_counter
from types import MethodType, new_class
from typing import Any

import numpy as np

from learnt.accel._pairs import Pair
from learnt.accel._record import ran, went_back
from learnt.accel._recursion import partial_dependence

FITS = ("fit", "fit_transform", "fit_predict", "partial_fit")
USES = (
    *("predict", "predict_proba", "predict_log_proba", "decision_function", "transform", "inverse_transform"),
    *("score", "score_samples", "kneighbors", "radius_neighbors", "apply", "staged_predict"),
)
# Attributes that `clone` copies besides the parameters.
SETTINGS = ("_metadata_request", "_skl_callbacks", "_sklearn_output_config")
# Classes that scikit-learn's partial dependence asks about.
BY_RECURSION = (
    *("DecisionTreeRegressor", "RandomForestRegressor", "GradientBoostingClassifier", "GradientBoostingRegressor"),
    *("HistGradientBoostingClassifier", "HistGradientBoostingRegressor"),
)
_running = threading.local()


class Standing(ABCMeta):
    """The class of these classes: learnt's and scikit-learn's objects are instances of them too."""

    __replaces__: Pair

    @property
    def __wrapped__(cls) -> type:
        """Where `inspect` finds the source."""
        return cls.__replaces__.ours

    def __new__(meta, name: str, bases: tuple[type, ...], body: dict[str, Any], **options: Any) -> Any:
        if "__replaces__" in body:
            return super().__new__(meta, name, bases, body)
        originals = tuple(base.__replaces__.original if isinstance(base, Standing) else base for base in bases)
        went_back(name, "a class derived by the script")
        return new_class(name, originals, options, lambda namespace: namespace.update(body))

    def __getattr__(cls, name: str) -> Any:
        """Tables that scikit-learn's class has (`loss_functions`, `_parameter_constraints`) and learnt's has not."""
        value = getattr(cls.__replaces__.original, name)
        if name.startswith("__") or callable(value) or not isinstance(value, dict | list | tuple | str):
            raise AttributeError(f"type object {cls.__name__!r} has no attribute {name!r}")
        return value

    def __instancecheck__(cls, instance: Any) -> bool:
        return isinstance(instance, (cls.__replaces__.ours, cls.__replaces__.original))

    def __subclasscheck__(cls, subclass: type) -> bool:
        return issubclass(subclass, (cls.__replaces__.ours, cls.__replaces__.original))


@cache
def standing_class(pair: Pair) -> type:
    """The class that replaces scikit-learn's of a pair."""
    body = {
        "__replaces__": pair,
        "__doc__": pair.ours.__doc__,
        "__module__": "learnt.accel.replaced",
        "__qualname__": f"{pair.room}.{pair.name}",
        "__setstate__": _set_state,
    }
    cls = Standing(pair.name, (pair.ours,), body)
    # After the class is made: what scikit-learn wraps in new classes (set_output) is wrapped in learnt's already.
    for method in FITS + USES:
        if hasattr(pair.ours, method):
            setattr(cls, method, _Watched(pair, method))
    if pair.name in BY_RECURSION:
        cls._compute_partial_dependence_recursion = partial_dependence
    if isinstance(pair.original, ABCMeta):  # counts as scikit-learn's where code has that class from a private module
        pair.original.register(pair.ours)
    return cls


class _Watched:
    """A method of learnt's class, timed; a fit that fails is scikit-learn's."""

    def __init__(self, pair: Pair, method: str) -> None:
        self.inherited = inspect.getattr_static(pair.ours, method)
        self.function = _watched(pair, method, self.inherited)

    def __get__(self, instance: Any, owner: type) -> Any:
        if instance is None:
            return self.function
        self.inherited.__get__(instance, owner)  # an AttributeError where its parameters do not allow the method
        return MethodType(self.function, instance)


def _watched(pair: Pair, name: str, inherited: Any) -> Callable[..., Any]:
    @wraps(getattr(pair.ours, name))
    def call(self: Any, *args: Any, **options: Any) -> Any:
        if not issubclass(type(self), pair.ours):  # Ridge.fit(self, X, y) in a class derived from scikit-learn's
            return getattr(pair.original, name)(self, *args, **options)
        method = inherited.__get__(self, type(self))
        if id(self) in _inside():  # a step of another of its methods
            return method(*args, **options)
        _inside().add(id(self))
        start = perf_counter()
        try:
            if name not in FITS:
                return method(*args, **options)
            return _fit(pair, self, method, args, options)
        finally:
            _inside().discard(id(self))
            ran(pair.name, name, perf_counter() - start)

    return call


def _inside() -> set[int]:
    """Objects with a watched method that runs in this thread."""
    if not hasattr(_running, "objects"):
        _running.objects = set()
    return _running.objects


def _fit(pair: Pair, model: Any, method: Any, args: Any, options: Any) -> Any:
    """learnt's fit; where it fails, scikit-learn's."""
    before, draws = dict(vars(model)), _draws(model)
    try:
        return method(*args, **options)
    except Exception as error:
        if method.__name__ == "partial_fit" and any(_is_fitted(name) for name in before):
            raise  # what it has learnt so far cannot be handed over
        failure = error
    for source, state in draws:
        source.set_state(state)
    after = dict(vars(model))
    become_original(pair, model)
    try:
        result = getattr(model, method.__name__)(*args, **options)
    except Exception:
        model.__class__ = standing_class(pair)  # refused by both: nothing has changed
        _set(model, after)
        raise
    went_back(pair.name, str(failure) or type(failure).__name__)
    return result


def become_original(pair: Pair, model: Any) -> None:
    """From now on the object is scikit-learn's estimator with the same parameters, not fitted."""
    state = vars(model)
    theirs, ours = (inspect.signature(cls).parameters for cls in (pair.original, pair.ours))
    given = {name: state[name] for name in theirs if state[name] is not ours[name].default}
    given |= {name: state[name] for name, parameter in theirs.items() if parameter.default is parameter.empty}
    kept = {name: state[name] for name in SETTINGS if name in state}
    model.__class__ = pair.original
    _set(model, kept)
    model.__init__(**given)


def _set_state(self: Any, state: dict[str, Any]) -> None:
    """An old pickle of scikit-learn's may name its class by the public name; its state shows which class it is."""
    if "_sklearn_version" in state:
        self.__class__ = type(self).__replaces__.original
        self.__setstate__(state)
    else:
        vars(self).update(state)


def _set(model: Any, state: dict[str, Any]) -> None:
    vars(model).clear()
    vars(model).update(state)


def _is_fitted(name: str) -> bool:
    return name.endswith("_") and not name.startswith("_")


def _draws(model: Any) -> list[tuple[Any, Any]]:
    """The generators that a fit may draw from, with their states, so that another fit draws the same."""
    source = getattr(model, "random_state", 0)
    if source is None:
        return [(np.random, np.random.get_state())]
    return [(source, source.get_state())] if isinstance(source, np.random.RandomState) else []
