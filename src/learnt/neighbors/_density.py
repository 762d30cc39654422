"""A density as a sum of kernels around the rows."""

from __future__ import annotations

from typing import Any

import numpy as np
from sklearn.utils.validation import check_is_fitted

from learnt.distances import METRIC_NAMES, Search, check_metric, chosen_algorithm, resolve_metric
from learnt.engine.estimator import Estimator
from learnt.engine.params import ParameterError, check_choice, check_flag, check_number
from learnt.engine.random import random_state_of
from learnt.engine.schema import FEATURES, Schema, anyof, choice, instance, none, number, real
from learnt.engine.validation import check_fit, check_predict
from learnt.neighbors._density_kernels import KERNELS, draw, log_volume
from learnt.neighbors._density_sums import log_sums
from learnt.neighbors._schema import metric_rule
from learnt.neighbors._trees import BallTree, KDTree

_METRICS = tuple(name for name in METRIC_NAMES if name not in ("precomputed", "nan_euclidean"))


def _rule(model: Any, state: dict[str, Any], dims: dict[str, int]) -> str | None:
    if dims["n"] < 1:
        return "has no rows"
    given = {"effective_metric_": model.metric, "effective_metric_params_": model.metric_params or {}, **state}
    return metric_rule(model, given, dims)


class KernelDensity(Estimator):
    """A density from a kernel around every row:  f(x) = Σᵢ wᵢ K(distance(x, xᵢ) / h)  /  (Σ wᵢ · ∫ K(‖u‖ / h) du).

    Every sum is that of all rows to the last bits of float64: rows are left out only where all of them together are
    less than the rounding of the sum. The densities integrate to 1 for Euclidean distances alone.

    Parameters
    ----------
    bandwidth : float, "scott" or "silverman", default=1.0
        The width h; the rules are n^(−1/(d+4)) and (n (d + 2) / 4)^(−1/(d+4)), for columns of variance 1.
    algorithm : {"auto", "kd_tree", "ball_tree"}, default="auto"
        How rows are searched; the densities are the same.
    kernel : {"gaussian", "tophat", "epanechnikov", "exponential", "linear", "cosine"}, default="gaussian"
    metric : str, default="euclidean"
        As for `KNeighborsClassifier`, by name.
    atol, rtol, breadth_first :
        scikit-learn's; sums are exact here, which meets every tolerance.
    leaf_size : int, default=40
        Rows of a leaf of the tree.
    metric_params : dict, optional

    Attributes
    ----------
    bandwidth_ : float
        The width that was used.
    tree_ : KDTree or BallTree
        Of the rows.
    n_features_in_ : int

    Examples
    --------
    >>> model = KernelDensity(bandwidth=0.5).fit([[0.0], [1.0]])
    >>> model.score_samples([[0.0], [9.0]])
    array([  -0.792, -128.919])
    """

    __learnt_schema__ = Schema(
        params={
            "kernel": choice(*KERNELS),
            "metric": choice(*_METRICS),
            "algorithm": choice("auto", "kd_tree", "ball_tree"),
            "metric_params": anyof(none, instance(dict, "a dict")),
        },
        state={
            **FEATURES,
            "bandwidth_": number(above=0),
            "_fit_X": real("n", "d"),
            "_weights": anyof(none, real("n", above=0)),
        },
        rule=_rule,
    )

    def __init__(
        self,
        *,
        bandwidth=1.0,
        algorithm="auto",
        kernel="gaussian",
        metric="euclidean",
        atol=0,
        rtol=0,
        breadth_first=True,
        leaf_size=40,
        metric_params=None,
    ):
        self.bandwidth = bandwidth
        self.algorithm = algorithm
        self.kernel = kernel
        self.metric = metric
        self.atol = atol
        self.rtol = rtol
        self.breadth_first = breadth_first
        self.leaf_size = leaf_size
        self.metric_params = metric_params

    def fit(self, X: Any, y: Any = None, sample_weight: Any = None) -> KernelDensity:
        """Remember the rows and their weights."""
        check_number(self, "bandwidth", 0, open_low=True, also=("scott", "silverman"))
        check_choice(self, "algorithm", ("auto", "kd_tree", "ball_tree"))
        check_choice(self, "kernel", KERNELS)
        for name in ("atol", "rtol"):
            check_number(self, name, 0)
        check_flag(self, "breadth_first")
        check_number(self, "leaf_size", 1, integer=True)
        check_choice(self, "metric", _METRICS)
        X, _, w = check_fit(self, X, None, sample_weight, order="C")
        check_metric(type(self).__name__, self.metric)
        n, d = X.shape
        rules = {"scott": n ** (-1 / (d + 4)), "silverman": (n * (d + 2) / 4) ** (-1 / (d + 4))}
        self.bandwidth_ = rules[self.bandwidth] if isinstance(self.bandwidth, str) else float(self.bandwidth)
        if w is not None:  # in a unit of their size, by a power of two: only their ratios count, to the last bit
            w = np.ldexp(w.astype(np.float64), -int(np.frexp(w.max())[1]))
        self._fit_X, self._weights = X.astype(np.float64, copy=False), w
        self._search = self._build()
        return self

    def score_samples(self, X: Any) -> np.ndarray:
        """log f(x) of each row; −∞ where a kernel with compact support reaches no row."""
        Q = check_predict(self, X, order="C").astype(np.float64, copy=False)
        w, h = self._weights, self.bandwidth_
        total = float(self._fit_X.shape[0]) if w is None else float(w.sum())
        euclidean = self.metric in ("euclidean", "l2") and not self.metric_params
        logs = log_sums(self._built(), self.kernel, Q, w, h, euclidean)
        return logs - np.log(total) - log_volume(self.kernel, h, Q.shape[1])

    def score(self, X: Any, y: Any = None) -> float:
        """The sum of log f over the rows of X."""
        return float(np.sum(self.score_samples(X)))

    def sample(self, n_samples: int = 1, random_state: Any = None) -> np.ndarray:
        """Draw rows: each a training row by its weight, then a point of the (Euclidean) kernel around it."""
        check_is_fitted(self)
        if isinstance(n_samples, bool) or not isinstance(n_samples, int | np.integer) or n_samples < 1:
            raise ParameterError(f"n_samples must be a whole number of at least 1; sample got {n_samples!r}.")
        rng = random_state_of(random_state)
        u = rng.uniform(0, 1, size=n_samples)
        if self._weights is None:
            rows = (u * self._fit_X.shape[0]).astype(np.int64)
        else:
            cumulated = np.cumsum(self._weights)
            rows = np.searchsorted(cumulated, u * cumulated[-1])
        return draw(self.kernel, rng, self._fit_X[rows], self.bandwidth_)

    @property
    def tree_(self) -> BallTree | KDTree:
        """A tree of the rows by the metric, made when it is asked for: densities come from the model's own search."""
        kind = KDTree if self.algorithm != "ball_tree" and self.metric in KDTree.valid_metrics else BallTree
        return kind(self._fit_X, leaf_size=self.leaf_size, metric=self.metric, **(self.metric_params or {}))

    def _build(self) -> Search:
        metric, params = resolve_metric(self.metric, 2, self.metric_params)
        algorithm = chosen_algorithm(self._fit_X, metric, params, self.algorithm)
        return Search.build(self._fit_X, metric, params, algorithm=algorithm, leaf_size=self.leaf_size)

    def _built(self) -> Search:
        """The search, built by `fit`; a model from a file builds it at its first query."""
        if "_search" not in vars(self):
            self._search = self._build()
        return self._search
