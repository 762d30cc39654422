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

    A smooth histogram of any shape, for few columns: to see where rows are dense, to score how usual a row is, or to
    draw new rows. Scale the columns first, as one bandwidth holds for all.

    Every sum is that of all rows to the last bits of float64: rows are left out only where all of them together are
    less than the rounding of the sum. The densities integrate to 1 for Euclidean distances alone.

    Parameters
    ----------
    bandwidth : float, "scott" or "silverman", default=1.0
        The width h of the kernel, which decides how smooth the density is: too small a one overfits, with a peak at
        every row; too large a one underfits. "scott" is n^(−1/(d+4)) and "silverman" (n (d + 2) / 4)^(−1/(d+4)), for
        columns of variance 1. Cross-validation of `score` chooses it best.
    algorithm : {"auto", "kd_tree", "ball_tree"}, default="auto"
        How rows are searched; the densities are the same. "kd_tree" is for Minkowski distances, "ball_tree" for any
        true metric, and "auto" builds a tree where it pays.
    kernel : {"gaussian", "tophat", "epanechnikov", "exponential", "linear", "cosine"}, default="gaussian"
        The shape K(u) of the bump around each row, where u is the distance over h:

        - "gaussian": exp(−u² / 2).
        - "exponential": exp(−u).
        - "tophat": 1 for u < 1, else 0.
        - "epanechnikov": 1 − u² for u < 1, else 0.
        - "linear": 1 − u for u < 1, else 0.
        - "cosine": cos(π u / 2) for u < 1, else 0.
    metric : str, default="euclidean"
        The distance by name: "euclidean", "manhattan", "chebyshev", "haversine" and others of SciPy's. Functions,
        "precomputed" and "nan_euclidean" are refused.
    atol : float, default=0
        Kept for scikit-learn's signature: sums are exact here, which meets every absolute tolerance.
    rtol : float, default=0
        Kept for scikit-learn's signature: sums are exact here, which meets every relative tolerance.
    breadth_first : bool, default=True
        Kept for scikit-learn's signature: it changes nothing here.
    leaf_size : int, default=40
        The most rows in a leaf of the tree. It changes the speed, never the densities.
    metric_params : dict or None, default=None
        Further parameters of the metric, such as `{"p": 3}` for "minkowski".

    Attributes
    ----------
    bandwidth_ : float
        The width that was used.
    tree_ : KDTree or BallTree
        A tree of the rows by the metric, made when it is asked for.

    See Also
    --------
    KDTree : Has `kernel_density` too, without an estimator.
    learnt.mixture.GaussianMixture : A density of few Gaussians: quicker, and for more columns.
    LocalOutlierFactor : How dense a row's surroundings are beside those of its neighbours.

    Notes
    -----
    `fit` builds the tree; a query costs the rows within reach of the kernel. Weights of rows multiply their kernels;
    only their ratios count. The number of rows that a density needs grows fast with the columns: beyond five or so,
    prefer a model with a shape.

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
        bandwidth: float | str = 1.0,
        algorithm: str = "auto",
        kernel: str = "gaussian",
        metric: str = "euclidean",
        atol: float = 0,
        rtol: float = 0,
        breadth_first: bool = True,
        leaf_size: int = 40,
        metric_params: dict | None = None,
    ) -> None:
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
        """log f(x) of each row; −∞ where a kernel with compact support reaches no row.

        Returns
        -------
        log_density : ndarray of shape (n_samples,)
            The logarithm of the density at each row; the lower, the more unusual.
        """
        Q = check_predict(self, X, order="C").astype(np.float64, copy=False)
        w, h = self._weights, self.bandwidth_
        total = float(self._fit_X.shape[0]) if w is None else float(w.sum())
        euclidean = self.metric in ("euclidean", "l2") and not self.metric_params
        logs = log_sums(self._built(), self.kernel, Q, w, h, euclidean)
        return logs - np.log(total) - log_volume(self.kernel, h, Q.shape[1])

    def score(self, X: Any, y: Any = None) -> float:
        """The sum of log f over the rows of X.

        Returns
        -------
        score : float
            The total log-likelihood of the rows; the higher, the better the density fits them.
        """
        return float(np.sum(self.score_samples(X)))

    def sample(self, n_samples: int = 1, random_state: Any = None) -> np.ndarray:
        """Draw rows: each a training row by its weight, then a point of the (Euclidean) kernel around it.

        Parameters
        ----------
        n_samples : int, default=1
            How many rows to draw.

        Returns
        -------
        X : ndarray of shape (n_samples, n_features)
            Rows with the density that was fitted.
        """
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
