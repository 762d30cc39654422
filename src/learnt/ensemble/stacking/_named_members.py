"""Ensembles of estimators that have names: parameters, checks, fits, and what was dropped."""

from __future__ import annotations

from collections.abc import Callable
from functools import partial
from typing import Any, Self

from sklearn.exceptions import NotFittedError
from sklearn.utils import Bunch, get_tags
from sklearn.utils.metadata_routing import MetadataRouter, MethodMapping
from sklearn.utils.validation import check_is_fitted

from learnt.engine.documentation import Documented
from learnt.engine.mixins import BaseEstimator, MetaEstimatorMixin, TransformerMixin, is_classifier, is_regressor
from learnt.engine.params import ParameterError, check_verbose
from learnt.engine.verbose import tell
from learnt.engine.weights import RowIndex, rows_given, take_params, without_absent
from learnt.ensemble._common import run_members
from learnt.ensemble._trial_members import takes_what_members_take

DROP = "drop"


def dropped(estimator: Any) -> bool:
    """Whether a member is the word 'drop' instead of an estimator."""
    return isinstance(estimator, str) and estimator == DROP


class NamedMembers(TransformerMixin, MetaEstimatorMixin, Documented, BaseEstimator):
    """An ensemble whose `estimators` is a list of (name, estimator); parameters reach into it as `name__parameter`."""

    __learnt_takes__ = property(takes_what_members_take)

    estimators: Any
    n_jobs: Any
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

    def set_params(self, **params: Any) -> Self:
        """Set parameters of the ensemble, of members (`name__parameter`), or whole members (`name=estimator`).

        Parameters
        ----------
        **params : dict
            New values by name.

        Returns
        -------
        self : object
            The ensemble itself.
        """
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

    def fit_transform(self, X: Any, y: Any = None, **fit_params: Any) -> Any:
        """Fit, then return the answer of each member to X.

        Parameters
        ----------
        X : {array-like, sparse matrix} of shape (n_samples, n_features)
            The rows to learn from; any table that the members take.
        y : array-like of shape (n_samples,), default=None
            The target of each row.
        **fit_params : dict
            `sample_weight`, which is passed on to all members; other metadata by scikit-learn's metadata routing.
        """
        return self.fit(X, y, **fit_params).transform(X)

    def get_metadata_routing(self) -> MetadataRouter:
        """Which metadata goes to which member, for scikit-learn's routing."""
        router = MetadataRouter(owner=self)
        for name, member in self.estimators:
            router.add(**{name: member}, method_mapping=MethodMapping().add(caller="fit", callee="fit"))
        return router

    def _present(self, X: Any, y: Any, fit_params: dict[str, Any]) -> tuple[Any, Any, dict[str, Any], RowIndex]:
        """X, y and what else `fit` was given, without the rows of weight 0, and where the others were."""
        weights: Any = fit_params.get("sample_weight")
        X, y, _, present = without_absent(X, y, weights)
        return X, y, take_params(fit_params, present, rows_given(weights)), present

    def _kept(self) -> list[tuple[str, Any]]:
        """The members that are not dropped, as given."""
        return [(name, member) for name, member in self.estimators if not dropped(member)]

    def _fit_members(self, fit: Callable[[str, Any], Any], bar: Any) -> None:
        """`fit(name, member)` for all that are kept; records what it returns, the names and the columns seen."""

        check_verbose(self)
        kept = self._kept()

        def step(place: int, name: str, member: Any) -> Any:
            fitted = fit(name, member)
            bar.advance(note=name)
            if self.verbose:
                tell("%s: %s is fitted (%d of %d)", type(self).__name__, name, place, len(kept))
            return fitted

        fitted = run_members([partial(step, k, *member) for k, member in enumerate(kept, 1)], self.n_jobs)
        self.estimators_ = fitted
        self._fitted_names = [f"{'-' if dropped(member) else '+'}{name}" for name, member in self.estimators]
        names = [member.feature_names_in_ for member in fitted if hasattr(member, "feature_names_in_")]
        if names:
            self.feature_names_in_ = names[-1]
        elif hasattr(self, "feature_names_in_"):
            del self.feature_names_in_

    def _kept_names(self) -> list[str]:
        """The members that were fitted, as `transform` names them."""
        prefix = type(self).__name__.lower()
        return [f"{prefix}_{name[1:]}" for name in self._fitted_names if name[0] == "+"]


def _is_named_list(members: Any) -> bool:
    return (
        isinstance(members, list | tuple)
        and bool(members)
        and all(
            isinstance(member, list | tuple) and len(member) == 2 and isinstance(member[0], str) for member in members
        )
    )


def check_members(owner: Any, kind: bool = True) -> list[str]:
    """The names of `owner.estimators`, dropped ones among them; each must be of the owner's kind where `kind`."""
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
    return names


def check_fitted_attribute(model: Any, name: str) -> None:
    """AttributeError, which `hasattr` understands, for a fitted attribute of an unfitted model."""
    try:
        check_is_fitted(model)
    except NotFittedError as error:
        raise AttributeError(f"{type(model).__name__} object has no attribute {name} before fit.") from error
