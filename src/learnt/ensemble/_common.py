"""What ensembles of any estimators share: the members' fits, their random states, their labels."""

from __future__ import annotations

import sys
from collections.abc import Callable, Iterator, Sequence
from copy import copy
from functools import partial
from typing import Any, TypeVar

import numpy as np
from scipy import sparse
from sklearn import config_context, get_config
from sklearn.utils.metadata_routing import process_routing

from learnt.engine.cells import is_frame
from learnt.engine.mixins import clone
from learnt.engine.single import require_float32
from learnt.engine.threads import run_tasks
from learnt.engine.validation import refuse_elsewhere

T = TypeVar("T")
_PLAIN = (bool, int, float, str, type(None), np.number)
_MAX_SEED = np.iinfo(np.int32).max
_TREES = ("DecisionTreeClassifier", "DecisionTreeRegressor", "ExtraTreeClassifier", "ExtraTreeRegressor")

# --- fits


def routing_enabled() -> bool:
    """Whether scikit-learn's metadata routing is on."""
    return bool(get_config().get("enable_metadata_routing", False))


def check_fit_params(
    owner: Any, params: dict[str, Any], method: str = "fit", allowed: Sequence[str] = ("sample_weight",)
) -> None:
    """Without scikit-learn's metadata routing, weights are all that `fit` passes on, and other methods nothing."""
    strange = sorted(params.keys() - set(allowed))
    if strange and not routing_enabled():
        raise ValueError(
            f"Passing {', '.join(strange)} to {type(owner).__name__}.{method} is only supported if "
            "enable_metadata_routing=True, which sklearn.set_config sets."
        )


def member_params(owner: Any, names: Sequence[str], fit_params: dict[str, Any]) -> dict[str, dict[str, Any]]:
    """What each member's `fit` gets besides X and y.

    By scikit-learn's routing where it is enabled, else the weights.
    """
    if routing_enabled():
        routed = process_routing(owner, "fit", **fit_params)
        return {name: dict(routed[name]["fit"]) for name in names}
    return {name: dict(fit_params) for name in names}


def fit_member(estimator: Any, X: Any, y: Any, fit_params: dict[str, Any]) -> Any:
    """Fit one member; an error says where it takes no weights."""
    try:
        estimator.fit(X, y, **fit_params)  # what it returns is not relied on
        return estimator
    except TypeError as error:
        if "unexpected keyword argument 'sample_weight'" in str(error):
            raise TypeError(
                f"Underlying estimator {type(estimator).__name__} does not support sample weights; fit without "
                "sample_weight or drop it."
            ) from error
        raise


def run_members(tasks: Sequence[Callable[[], T]], n_jobs: int | None) -> list[T]:
    """Run the fits one after another, each on all threads (`n_jobs=None`), or `n_jobs` of them at a time."""
    if n_jobs is None:
        return [task() for task in tasks]
    config = get_config()

    def under(task: Callable[[], T]) -> T:
        with config_context(**config):  # scikit-learn's settings belong to a thread
            return task()

    return run_tasks([partial(under, task) for task in tasks], n_jobs=n_jobs)


def member_maker(prototype: Any) -> Callable[[np.random.RandomState], Any]:
    """random → a copy of `prototype` whose every `random_state` is drawn from `random`, in scikit-learn's order."""
    first = clone(prototype)
    params = first.get_params(deep=True)
    keys = sorted(key for key in params if key == "random_state" or key.endswith("__random_state"))
    # A clone reads all parameters four times. Of an estimator of ours that has only numbers and strings a copy
    # is the same, and takes a twentieth of the time.
    plain = type(first).__module__.startswith("learnt.") and all(isinstance(value, _PLAIN) for value in params.values())

    def make(random: np.random.RandomState) -> Any:
        member = copy(first) if plain else clone(prototype)
        if keys:
            drawn = {key: int(random.randint(_MAX_SEED)) for key in keys}
            setattr(member, *drawn.popitem()) if plain else member.set_params(**drawn)
        return member

    return make


class Members:
    """`len(model)`, `model[i]` and iteration over the fitted members."""

    estimators_: list[Any]

    def __len__(self) -> int:
        return len(self.estimators_)

    def __getitem__(self, index: Any) -> Any:
        return self.estimators_[index]

    def __iter__(self) -> Iterator[Any]:
        return iter(self.estimators_)


# --- data


def row_count(X: Any, name: str) -> int:
    """The number of rows of whatever table the members will read; tables that are elsewhere are refused."""
    refuse_elsewhere(X, name)
    if getattr(X, "shape", ()):
        return int(X.shape[0])
    return len(X) if hasattr(X, "__len__") else len(np.asarray(X))


def by_columns(X: Any, given: Any) -> Any:
    """A checked sparse table stored by columns again, if it was given so: members may work by columns."""
    return X.tocsc() if sparse.issparse(given) and given.format == "csc" else X


def as_trees_compare(prototype: Any, X: Any, name: str) -> tuple[Any, dict[str, Any]]:
    """X in single precision where the members are trees of ours, and the flag for their `fit`; else as it is.

    Otherwise each member would copy and validate it again.
    """
    if not _is_tree(prototype) or names_categories(prototype) or not is_numbers(X):
        return X, {}
    require_float32(X, name)
    return np.ascontiguousarray(X, dtype=np.float32), {"check_input": False}


def _is_tree(model: Any) -> bool:
    """Whether a model is a tree of ours; most ensembles need not load what grows them."""
    trees = sys.modules.get("learnt.tree")
    return trees is not None and any(type(model) is getattr(trees, name) for name in _TREES)


def names_categories(model: Any) -> bool:
    """Whether `categorical_features` lists columns, so that even an array of numbers has categories."""
    return model.categorical_features is not None and not isinstance(model.categorical_features, str)


def is_numbers(X: Any) -> bool:
    """Whether a checked table is a dense matrix of numbers, as opposed to a sparse one or one with other cells."""
    return isinstance(X, np.ndarray) and X.dtype != object


def columns_of(X: Any, columns: np.ndarray) -> Any:
    """Some columns of a table, a frame or not."""
    if not is_frame(X):
        return X[:, columns]
    import narwhals as nw

    return nw.from_native(X, eager_only=True)[:, columns.tolist()].to_native()


def several_columns(y: Any) -> bool:
    """Whether y has more than one column."""
    y = np.asarray(y)
    return y.ndim == 2 and y.shape[1] > 1


def plain_columns(X: Any) -> Any:
    """A data frame's cells as an array; everything else as it is."""
    if not is_frame(X):
        return X
    import narwhals as nw

    return nw.from_native(X, eager_only=True).to_numpy()


class LabelCodes:
    """Class labels and their positions among `classes_`.

    >>> codes = LabelCodes(np.array(["a", "b"]))
    >>> codes.inverse_transform(np.array([1, 0])).tolist(), codes.transform(["b"]).tolist()
    (['b', 'a'], [1])
    """

    def __init__(self, classes: np.ndarray) -> None:
        self.classes_ = classes

    def transform(self, y: Any) -> np.ndarray:
        """The position of each label."""
        y = np.asarray(y)
        unknown = np.setdiff1d(y, self.classes_)
        if unknown.size:
            raise ValueError(f"y contains previously unseen labels: {unknown.tolist()!r:.80}; refit with them.")
        return np.searchsorted(self.classes_, y)

    def inverse_transform(self, codes: Any) -> np.ndarray:
        """The label at each position."""
        return self.classes_[np.asarray(codes)]
