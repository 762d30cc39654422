"""Regression by all neighbours within a radius."""

from __future__ import annotations

import warnings
from typing import Any

import numpy as np
from sklearn.base import RegressorMixin

from learnt.distances import BallSums
from learnt.engine.schema import Schema, anyof, choice, none, number
from learnt.neighbors._base import NeighborsBase
from learnt.neighbors._radius import RadiusNeighborsMixin, RadiusSums
from learnt.neighbors._schema import AMOUNTS, METRIC, RECALL, SEARCH, metric_rule
from learnt.neighbors._targets import NumberTargets
from learnt.neighbors._vote import all_count_the_same, check_weights_parameter, radius_means, radius_weights


class RadiusNeighborsRegressor(RadiusSums, RadiusNeighborsMixin, NumberTargets, RegressorMixin, NeighborsBase):
    """The mean target of all training rows within a radius of a row.

        ŷ(x) = Σ over xᵢ with distance(x, xᵢ) ≤ r of  vᵢ yᵢ  /  Σ vᵢ,     vᵢ = 1, or 1 / distance

    A row without neighbours gets NaN, and a warning says so.

    Parameters
    ----------
    radius : float, default=1.0
        The radius r.
    weights : {"uniform", "distance"}, callable or None, default="uniform"
        What a neighbour counts: the same, one over its distance, or a function of the distances of one row.
    algorithm, leaf_size, p, metric, metric_params, n_jobs :
        As for `KNeighborsClassifier`.

    Attributes
    ----------
    effective_metric_, effective_metric_params_, n_samples_fit_, n_features_in_ :
        As for `KNeighborsRegressor`.

    Examples
    --------
    >>> X = np.array([[0.0], [1.0], [2.0], [3.0]])
    >>> RadiusNeighborsRegressor(radius=1.0).fit(X, [0.0, 0.0, 1.0, 1.0]).predict([[1.5], [0.2]])
    array([0.5, 0. ])
    """

    __learnt_schema__ = Schema(
        params={
            "radius": anyof(none, number(0, finite=False)),
            "weights": choice(None, "uniform", "distance"),
            **METRIC,
        },
        state={**SEARCH, **AMOUNTS},
        extra=RECALL,
        rule=metric_rule,
    )

    def __init__(
        self,
        radius=1.0,
        *,
        weights="uniform",
        algorithm="auto",
        leaf_size=30,
        p=2,
        metric="minkowski",
        metric_params=None,
        n_jobs=None,
    ):
        self.radius = radius
        self.weights = weights
        self.algorithm = algorithm
        self.leaf_size = leaf_size
        self.p = p
        self.metric = metric
        self.metric_params = metric_params
        self.n_jobs = n_jobs

    def fit(self, X: Any, y: Any) -> RadiusNeighborsRegressor:
        """Remember the rows and their targets; y may have several columns."""
        check_weights_parameter(self)
        self._fit_numbers(self._fit_rows(X), y)
        self._renew_sums()
        return self

    def _make_sums(self) -> list[BallSums | None]:
        return [self._built().ball_sums(self._columns())]

    def predict(self, X: Any) -> np.ndarray:
        """The mean target around each row; X = None asks for the training rows, each by its other rows."""
        Q = self._queries(X)
        sums = self._kept_sums(Q)
        if sums is not None:
            counts, totals = sums[0].within(Q, self._radius(None), self.n_jobs)
            out = np.where(counts[:, None] > 0, totals / np.maximum(counts, 1)[:, None], np.nan)
        else:
            out = self._means(Q)
        if np.isnan(out).any():
            warnings.warn(
                "One or more samples have no neighbors within specified radius; predicting NaN.",
                UserWarning,
                stacklevel=2,
            )
        return self._shaped(out)

    def _means(self, Q: Any) -> np.ndarray:
        """The means from the neighbours themselves."""
        y = self._columns()
        out = np.empty((self.n_samples_fit_ if Q is None else Q.shape[0], y.shape[1]))
        same = all_count_the_same(self.weights)
        blocks = self._built().within_blocks(Q, self._radius(None), distances=not same, n_jobs=self.n_jobs)
        for lo, hi, found in blocks:
            out[lo:hi] = radius_means(y, found, radius_weights(found, self.weights))
        return out
