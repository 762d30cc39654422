"""Bagging and pasting: the same estimator fitted on many random parts of the table."""

from __future__ import annotations

import warnings
from functools import partial
from numbers import Integral
from typing import Any

import numpy as np
from sklearn.utils import get_tags
from sklearn.utils.metadata_routing import MetadataRouter, MethodMapping, get_routing_for_object, process_routing
from sklearn.utils.validation import check_is_fitted, has_fit_parameter

from learnt.engine.documentation import Documented
from learnt.engine.mixins import BaseEstimator, MetaEstimatorMixin
from learnt.engine.params import ParameterError, check_flag, check_number, check_verbose
from learnt.engine.progress import task
from learnt.engine.random import borrowed, random_state_of
from learnt.engine.threads import for_blocks
from learnt.engine.validation import check_fit, check_predict, check_same_columns
from learnt.engine.weights import RowIndex, absent_rows, present_rows, rows_given, scatter_rows, take_params, take_rows
from learnt.ensemble._common import (
    Members,
    as_trees_compare,
    by_columns,
    check_fit_params,
    columns_of,
    fit_member,
    member_maker,
    routing_enabled,
    run_members,
)
from learnt.ensemble.forest._sampling import draw_apart, draw_weighted, sample_size

_SEEDS = np.iinfo(np.int32).max
_GRAIN = 1 << 13


class Bagging(MetaEstimatorMixin, Members, Documented, BaseEstimator):
    """Draws, fits and the out-of-bag rows of each member; subclasses combine the members' predictions."""

    n_estimators: Any
    max_samples: Any
    max_features: Any
    bootstrap: Any
    bootstrap_features: Any
    oob_score: Any
    warm_start: Any
    verbose: Any
    n_jobs: Any
    random_state: Any

    def _prototype(self) -> Any:
        raise NotImplementedError

    def _score_unseen(self, X: Any, y: np.ndarray, present: RowIndex, given: Any) -> None:
        raise NotImplementedError

    def _targets(self, y: np.ndarray) -> np.ndarray:
        return y

    def _fit(self, X: Any, y: Any, sample_weight: Any, fit_params: dict[str, Any], target: str) -> Any:
        self._check_params()
        check_fit_params(self, fit_params)
        going_on = bool(self.warm_start and hasattr(self, "estimators_"))
        if going_on:
            check_same_columns(self, X)
        # The members validate the cells.
        given, present = X, present_rows(sample_weight, X)
        X, y, w = check_fit(
            self, X, y, sample_weight, target=target, accept_sparse=True, allow_nan=True, any_cells=True
        )
        X = by_columns(X, given)
        y = self._targets(y)
        if w is not None and not self.bootstrap:
            warnings.warn(
                f"When fitting {type(self).__name__} with sample_weight it is recommended to use bootstrap=True, which "
                "draws rows by their weight.",
                stacklevel=3,
            )
        self.estimator_ = self._prototype()
        X, known = as_trees_compare(self.estimator_, X, type(self).__name__)
        n = X.shape[0] if present is None else rows_given(sample_weight)
        self._plan(X.shape, n, w, present)
        if not going_on:
            self.estimators_: list[Any] = []
            self.estimators_features_: list[np.ndarray] = []
            self._seeds = np.empty(0, dtype=np.int64)
        more = self.n_estimators - len(self.estimators_)
        if more < 0:
            raise ValueError(
                f"n_estimators={self.n_estimators} must be larger or equal to len(estimators_)={len(self.estimators_)} "
                "when warm_start==True."
            )
        if more == 0:
            warnings.warn(
                "Warm-start fitting without increasing n_estimators does not fit new estimators; raise n_estimators.",
                stacklevel=3,
            )
            return self
        random = random_state_of(self.random_state)
        random.randint(_SEEDS, size=len(self.estimators_))  # advance past the draws of the existing members
        seeds = random.randint(_SEEDS, size=more).astype(np.int64)
        self._seeds = np.concatenate([self._seeds, seeds])
        if routing_enabled():
            fit_params = dict(process_routing(self, "fit", **fit_params).estimator["fit"])
        self._fit_members(X, y, present, seeds, {**take_params(fit_params, present, n), **known})
        for name in ("oob_score_", "oob_decision_function_", "oob_prediction_"):
            self.__dict__.pop(name, None)
        if self.oob_score:
            self._score_unseen(X, y, present, given)
        return self

    def _fit_members(
        self, X: Any, y: np.ndarray, present: RowIndex, seeds: np.ndarray, fit_params: dict[str, Any]
    ) -> None:
        weighted = _takes_weights(self.estimator_)
        everything = not self.bootstrap_features and self._max_features == X.shape[1]
        make = member_maker(self.estimator_)
        with task(f"{type(self).__name__} fit", len(seeds)) as bar:

            def fit(seed: int) -> tuple[Any, np.ndarray]:
                member = make(borrowed(seed))
                features, rows = self._draw(seed)
                rows = rows if present is None else np.searchsorted(present, rows)
                part = X if everything else columns_of(X, features)
                if weighted:  # a row drawn twice weighs 2
                    counts = np.bincount(rows, minlength=X.shape[0]).astype(np.float64)
                    del rows  # n integers on every thread
                    member = self._fit_one(member, part, y, {**fit_params, "sample_weight": counts}, counts)
                else:
                    taken = take_params(fit_params, rows, X.shape[0])
                    member = self._fit_one(member, take_rows(part, rows), y[rows], taken, None)
                bar.advance()
                return member, features

            n_jobs = self.n_jobs
            if n_jobs is None and type(self.estimator_).__module__.startswith("learnt."):
                n_jobs = -1  # our own members may run in parallel; for others that is not known
            results = run_members([partial(fit, int(seed)) for seed in seeds], n_jobs)
        self.estimators_ = self.estimators_ + [member for member, _ in results]
        self.estimators_features_ = self.estimators_features_ + [features for _, features in results]

    def _fit_one(
        self, member: Any, X: Any, y: np.ndarray, fit_params: dict[str, Any], counts: np.ndarray | None
    ) -> Any:
        """A fitted member; `counts` says how often each row was drawn, None that X has the drawn rows and no others."""
        return fit_member(member, X, y, fit_params)

    # --- draws

    def _check_params(self) -> None:
        check_number(self, "n_estimators", 1, integer=True)
        check_flag(self, "bootstrap", "bootstrap_features", "oob_score", "warm_start")
        check_verbose(self)
        for name, also in (("max_samples", (None,)), ("max_features", ())):
            value = getattr(self, name)
            if isinstance(value, Integral) and not isinstance(value, bool):
                check_number(self, name, 1, integer=True)
            else:
                check_number(self, name, 0.0, 1.0, open_low=True, also=also)
        estimator = self._prototype()
        if not (hasattr(estimator, "fit") and hasattr(estimator, "predict")):
            raise ParameterError(
                f"The 'estimator' parameter of {type(self).__name__} must be an estimator with fit and predict or "
                f"None. Got {str(estimator)[:80]} instead."
            )
        if self.oob_score and not self.bootstrap:
            raise ValueError("Out of bag estimation only available if bootstrap=True; without it set oob_score=False.")
        if self.oob_score and self.warm_start:
            raise ValueError("Out of bag estimate only available if warm_start=False; set one of them to False.")

    def _plan(self, shape: tuple[int, int], n_given: int, w: np.ndarray | None, present: RowIndex) -> None:
        """How many rows and columns each member gets; samples are drawn among the rows as they were given."""
        n, d = shape
        self._n_samples = n_given
        self._sample_weight = None if w is None else scatter_rows(w, present, n_given, 0.0)
        self._max_samples = sample_size(self.max_samples, n, w, stacklevel=5)
        if not self.bootstrap and self._max_samples > n:
            raise ValueError(
                f"Effective max_samples={self._max_samples} must be <= n_samples={n} to be able to sample without "
                "replacement. Lower max_samples or set bootstrap=True."
            )
        share = int(self.max_features if isinstance(self.max_features, Integral) else self.max_features * d)
        if share > d:
            raise ValueError(f"max_features must be <= n_features; it is {share} and there are {d}.")
        self._max_features = max(1, int(share))

    def _draw(self, seed: int) -> tuple[np.ndarray, np.ndarray]:
        """The columns and rows of the member with this seed; scikit-learn's for the same seed."""
        random = borrowed(seed)
        features = _indices(random, self.bootstrap_features, self.n_features_in_, self._max_features)
        if self._sample_weight is None:
            return features, _indices(random, self.bootstrap, self._n_samples, self._max_samples)
        return features, draw_weighted(random, self._sample_weight, self._max_samples, replace=self.bootstrap)

    @property
    def estimators_samples_(self) -> list[np.ndarray]:
        """The rows each member was fitted on, drawn again from its seed."""
        check_is_fitted(self)
        return [self._draw(int(seed))[1] for seed in self._seeds]

    # --- answers

    def _check(self, X: Any) -> Any:
        check_is_fitted(self)
        return check_predict(self, X, accept_sparse=True, allow_nan=True, any_cells=True)

    def _part(self, X: Any, features: np.ndarray) -> Any:
        """The columns a member was fitted on."""
        everything = len(features) == X.shape[1] and (features == np.arange(len(features))).all()
        return X if everything else columns_of(X, features)

    def _over_rows(self, X: Any, answer: Any) -> np.ndarray:
        """`answer(rows of X)` for blocks of rows on the pool; the members' answers are added in order."""
        n_jobs = self.n_jobs if self.n_jobs is not None else -1
        own = type(self.estimator_).__module__.startswith("learnt.")
        if X.shape[0] <= _GRAIN or not own:
            return answer(X)
        return np.concatenate(
            for_blocks(lambda lo, hi: answer(take_rows(X, slice(lo, hi))), X.shape[0], grain=_GRAIN, n_jobs=n_jobs)
        )

    def _unseen(self, X: Any, present: RowIndex) -> Any:
        """(member, columns, which rows it was not fitted on), for each member."""
        for member, features, seed in zip(self.estimators_, self.estimators_features_, self._seeds):
            seen = np.zeros(self._n_samples, dtype=bool)
            seen[self._draw(int(seed))[1]] = True
            seen = seen if present is None else seen[present]
            if not seen.all():
                yield member, self._part(take_rows(X, ~seen), features), ~seen

    def _with_absent(self, unseen: np.ndarray, present: RowIndex, given: Any, answer: Any) -> np.ndarray:
        """For rows of weight 0, which no member was fitted on, the prediction of all members."""
        if present is None:
            return unseen
        absent = take_rows(given, absent_rows(present, self._n_samples))
        return scatter_rows(unseen, present, self._n_samples, answer(absent))

    def get_metadata_routing(self) -> MetadataRouter:
        """Which metadata goes to the members, for scikit-learn's routing."""
        mapping = MethodMapping().add(caller="fit", callee="fit")
        for caller, callee in self._calls().items():
            mapping.add(caller=caller, callee=callee)
        return MetadataRouter(owner=self).add(estimator=self._prototype(), method_mapping=mapping)

    def _calls(self) -> dict[str, str]:
        """Which method of the members answers for which of ours."""
        return {"predict": "predict"}

    def _routed(self, caller: str, params: dict[str, Any]) -> dict[str, Any]:
        """What the members get besides X."""
        check_fit_params(self, params, caller, allowed=())
        return dict(process_routing(self, caller, **params).estimator[self._calls()[caller]]) if params else {}

    def __sklearn_tags__(self):
        tags = super().__sklearn_tags__()
        inner = get_tags(self._prototype()).input_tags
        tags.input_tags.sparse, tags.input_tags.allow_nan = inner.sparse, inner.allow_nan
        return tags


def _indices(random: np.random.RandomState, replace: bool, population: int, size: int) -> np.ndarray:
    if replace:
        return random.randint(0, population, size)
    return draw_apart(random, population, size)


def _takes_weights(estimator: Any) -> bool:
    if routing_enabled():
        return bool(get_routing_for_object(estimator).consumes("fit", ("sample_weight",)))
    return has_fit_parameter(estimator, "sample_weight")


def warn_of_unseen(missing: bool) -> None:
    """Some rows are in every member's sample."""
    if missing:
        warnings.warn(
            "Some inputs do not have OOB scores. This probably means too few estimators were used to compute any "
            "reliable oob estimates: raise n_estimators.",
            stacklevel=5,
        )
