"""What ensembles of any estimators share: members by name, their fits, their random states, their labels."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from functools import partial
from typing import Any, TypeVar

import numpy as np
from scipy import sparse
from sklearn import config_context, get_config
from sklearn.base import BaseEstimator, MetaEstimatorMixin, clone, is_classifier, is_regressor
from sklearn.exceptions import NotFittedError
from sklearn.utils import Bunch, get_tags
from sklearn.utils.metadata_routing import process_routing
from sklearn.utils.validation import check_is_fitted

from learnt.engine.params import ParameterError
from learnt.engine.threads import run_tasks
from learnt.engine.validation import is_frame, refuse_elsewhere

T = TypeVar("T")
DROP = "drop"


def dropped(estimator: Any) -> bool:
    """Whether a member is the word 'drop' instead of an estimator."""
    return isinstance(estimator, str) and estimator == DROP


class NamedMembers(MetaEstimatorMixin, BaseEstimator):
    """An ensemble whose `estimators` is a list of (name, estimator); parameters reach into it as `name__parameter`."""

    estimators: Any
    estimators_: list[Any]
    _fitted_names: list[str]

    @property
    def named_estimators(self) -> Bunch:
        """The estimators as they were given, by name."""
        return Bunch(**dict(self.estimators))

    @property
    def named_estimators_(self) -> Bunch:
        """The fitted estimators by name; 'drop' where one was left out."""
        check_fitted_attribute(self, "named_estimators_")
        fitted = iter(self.estimators_)
        return Bunch(**{name[1:]: next(fitted) if name[0] == "+" else DROP for name in self._fitted_names})

    @property
    def n_features_in_(self) -> int:
        """The number of columns `fit` saw."""
        check_fitted_attribute(self, "n_features_in_")
        return self.estimators_[0].n_features_in_

    def get_params(self, deep: bool = True) -> dict[str, Any]:
        """Parameters of the ensemble and, where `deep`, its members and their parameters."""
        params = super().get_params(deep=deep)
        if deep and _is_named_list(self.estimators):
            for name, estimator in self.estimators:
                params[name] = estimator
                if hasattr(estimator, "get_params"):
                    params.update({f"{name}__{key}": value for key, value in estimator.get_params(deep=True).items()})
        return params

    def set_params(self, **params: Any) -> Any:
        """Set parameters of the ensemble, of members (`name__parameter`), or whole members (`name=estimator`)."""
        if "estimators" in params:
            self.estimators = params.pop("estimators")
        if _is_named_list(self.estimators):
            names = [name for name, _ in self.estimators]
            for name in [key for key in params if key in names]:
                members = list(self.estimators)
                members[names.index(name)] = (name, params.pop(name))
                self.estimators = members
        super().set_params(**params)
        return self

    def __sklearn_tags__(self):
        tags = super().__sklearn_tags__()
        if _is_named_list(self.estimators):
            inputs = [get_tags(member).input_tags for _, member in self.estimators if hasattr(member, "fit")]
            tags.input_tags.allow_nan = all(tag.allow_nan for tag in inputs)
            tags.input_tags.sparse = all(tag.sparse for tag in inputs)
        return tags

    def _record_members(self, fitted: list[Any]) -> None:
        """The fitted members, what they are called and which were dropped, and the columns they saw."""
        self.estimators_ = fitted
        self._fitted_names = [f"{'-' if dropped(member) else '+'}{name}" for name, member in self.estimators]
        names = [member.feature_names_in_ for member in fitted if hasattr(member, "feature_names_in_")]
        if names:
            self.feature_names_in_ = names[-1]
        elif hasattr(self, "feature_names_in_"):
            del self.feature_names_in_


def _is_named_list(members: Any) -> bool:
    return (
        isinstance(members, list | tuple)
        and bool(members)
        and all(
            isinstance(member, list | tuple) and len(member) == 2 and isinstance(member[0], str) for member in members
        )
    )


def check_members(owner: Any, kind: bool = True) -> list[tuple[str, Any]]:
    """The members of `owner.estimators`, dropped ones among them; each must be of the owner's kind where `kind`."""
    name = type(owner).__name__
    if not _is_named_list(owner.estimators):
        raise ParameterError(
            f"Invalid 'estimators' attribute, 'estimators' should be a non-empty list of (string, estimator) tuples "
            f"for {name}; got {str(owner.estimators)[:80]}."
        )
    names = [key for key, _ in owner.estimators]
    if len(set(names)) != len(names):
        raise ValueError(f"Names provided are not unique: {names!r}; give every estimator of {name} its own name.")
    taken = sorted(set(names) & set(owner.get_params(deep=False)))
    if taken:
        raise ValueError(f"Estimator names conflict with constructor arguments: {taken!r}; rename them.")
    split = [key for key in names if "__" in key]
    if split:
        raise ValueError(f"Estimator names must not contain __: got {split!r}; rename them.")
    if all(dropped(member) for _, member in owner.estimators):
        raise ValueError(f"All estimators are dropped. At least one is required to be an estimator of {name}.")
    wanted, word = (is_classifier, "classifier") if is_classifier(owner) else (is_regressor, "regressor")
    for _, member in owner.estimators:
        if not dropped(member) and not (hasattr(member, "fit") and (wanted(member) or not kind)):
            raise ValueError(f"The estimator {type(member).__name__} should be a {word}.")
    return [(key, member) for key, member in owner.estimators]


def check_fitted_attribute(model: Any, name: str) -> None:
    """AttributeError, which `hasattr` understands, for a fitted attribute of an unfitted model."""
    try:
        check_is_fitted(model)
    except NotFittedError as error:
        raise AttributeError(f"{type(model).__name__} object has no attribute {name} before fit.") from error


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
    """What each member's `fit` gets beside X and y: by scikit-learn's routing where it is on, else the weights."""
    if routing_enabled():
        routed = process_routing(owner, "fit", **fit_params)
        return {name: dict(routed[name]["fit"]) for name in names}
    return {name: dict(fit_params) for name in names}


def fit_member(estimator: Any, X: Any, y: Any, fit_params: dict[str, Any]) -> Any:
    """Fit one member; that it takes no weights is said in one sentence."""
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


def make_member(prototype: Any, random: np.random.RandomState | None) -> Any:
    """A copy of `prototype` whose every `random_state` is drawn from `random`, in scikit-learn's order."""
    member = clone(prototype)
    if random is not None:
        keys = [k for k in sorted(member.get_params(deep=True)) if k == "random_state" or k.endswith("__random_state")]
        if keys:
            member.set_params(**{key: int(random.randint(np.iinfo(np.int32).max)) for key in keys})
    return member


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
