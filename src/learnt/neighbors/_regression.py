"""Regression by the nearest neighbours."""

from __future__ import annotations

from typing import Any

import numpy as np
from sklearn.base import RegressorMixin
from sklearn.utils.metaestimators import available_if

from learnt.engine.schema import Schema, anyof, choice, count
from learnt.explanation import Explained
from learnt.neighbors._base import KNeighborsMixin, NeighborsBase, takes_more_rows
from learnt.neighbors._choice_of_k import ChoiceOfK
from learnt.neighbors._leave_one_out import squared_errors
from learnt.neighbors._schema import AMOUNTS, CHOSEN, METRIC, SEARCH, chosen, metric_rule
from learnt.neighbors._targets import NumberTargets
from learnt.neighbors._vote import check_weights_parameter, means, neighbor_weights


class KNeighborsRegressor(ChoiceOfK, KNeighborsMixin, NumberTargets, RegressorMixin, NeighborsBase, Explained):
    """The mean target of a row's k nearest training rows.

        ŷ(x) = Σ over the k nearest xᵢ of  vᵢ yᵢ  /  Σ vᵢ,     vᵢ = 1, or 1 / distance

    The neighbours are exact, and of equal distances the first training rows count, so the answer is the same in every
    run.

    Parameters
    ----------
    n_neighbors : int or "auto", default=5
        The number of neighbours k. "auto" takes the k with the smallest leave-one-out error among 1, 2, … 4 √n, found
        by one search for the training rows' neighbours (of at most 5,000 of them).
    weights, algorithm, leaf_size, p, metric, metric_params, n_jobs :
        As for `KNeighborsClassifier`.

    Attributes
    ----------
    effective_metric_ : str or callable
        The metric that is meant: "euclidean" for "minkowski" with p = 2, say.
    effective_metric_params_ : dict
    n_samples_fit_ : int
        The number of training rows.
    n_neighbors_, left_out_errors_ : int, array
        With n_neighbors="auto": the k that was taken, and the error of k = 1, 2, …: squared, over the
        variance of y.
    n_features_in_ : int

    Examples
    --------
    >>> X = np.array([[0.0], [1.0], [2.0], [3.0]])
    >>> KNeighborsRegressor(n_neighbors=2).fit(X, [0.0, 0.0, 1.0, 1.0]).predict([[1.5], [0.2]])
    array([0.5, 0. ])
    """

    __learnt_schema__ = Schema(
        params={
            "n_neighbors": anyof(count(1), choice("auto")),
            "weights": choice(None, "uniform", "distance"),
            **METRIC,
        },
        state={**SEARCH, **AMOUNTS},
        extra=CHOSEN,
        rule=chosen(metric_rule),
    )

    def __init__(
        self,
        n_neighbors=5,
        *,
        weights="uniform",
        algorithm="auto",
        leaf_size=30,
        p=2,
        metric="minkowski",
        metric_params=None,
        n_jobs=None,
    ):
        self.n_neighbors = n_neighbors
        self.weights = weights
        self.algorithm = algorithm
        self.leaf_size = leaf_size
        self.p = p
        self.metric = metric
        self.metric_params = metric_params
        self.n_jobs = n_jobs

    def fit(self, X: Any, y: Any) -> KNeighborsRegressor:
        """Remember the rows and their targets; y may have several columns."""
        check_weights_parameter(self)
        self._fit_numbers(self._fit_rows(X), y)
        self._choose(self._errors)
        return self

    @available_if(takes_more_rows)
    def partial_fit(self, X: Any, y: Any) -> KNeighborsRegressor:
        """Remember more rows and their targets; brute force and graphs are not built anew."""
        if not self._knows_rows():
            return self.fit(X, y)
        X = self._more_rows(X)
        self._add_numbers(X, y)
        self._append(X)
        self._choose(self._errors)
        return self

    def _errors(self) -> tuple[np.ndarray, np.ndarray]:
        errors = squared_errors(self._built(), self._columns(), self.weights, self.n_jobs)
        return errors, errors

    def predict(self, X: Any) -> np.ndarray:
        """The mean target of each row's neighbours; X = None asks for the training rows, each by its other rows."""
        Q, m, k = self._checked_queries(X)
        y = self._columns()
        out = np.empty((m, y.shape[1]))

        def consume(lo: int, hi: int, distances: np.ndarray, index: np.ndarray) -> None:
            out[lo:hi] = means(y[index], neighbor_weights(distances, self.weights))

        self._built().nearest_blocks(Q, k, consume, n_jobs=self.n_jobs)
        return self._shaped(out)
