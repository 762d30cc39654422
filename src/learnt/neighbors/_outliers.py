"""Outliers: rows in regions less dense than those of their neighbours."""

from __future__ import annotations

import warnings
from typing import Any

import numpy as np
from sklearn.utils.metaestimators import available_if

from learnt.engine.mixins import OutlierMixin
from learnt.engine.params import check_flag, check_number
from learnt.engine.schema import Schema, count, flag, number, real
from learnt.engine.threads import for_blocks
from learnt.neighbors._base import KNeighborsMixin, NeighborsBase
from learnt.neighbors._schema import METRIC, RECALL, SEARCH, metric_rule

# What scikit-learn adds to a mean distance, so that more than k equal rows do not divide by 0.
_TINY = 1e-10
_ROWS = 2048  # of a task


def local_density(distances: np.ndarray, index: np.ndarray, reach: np.ndarray) -> np.ndarray:
    """1 / mean over the neighbours of max(distance, the neighbour's own distance to its k-th neighbour)."""
    return 1.0 / (np.maximum(distances, reach[index]).mean(axis=1) + _TINY)


def _of_novelties(name: str, instead: str) -> Any:
    """A method for novelty detection only."""

    def available(self: Any) -> bool:
        if not self.novelty:
            raise AttributeError(f"{name} is not available when novelty=False; {instead}")
        return True

    return available_if(available)


def _of_training_rows(self: Any) -> bool:
    if self.novelty:
        raise AttributeError(
            "fit_predict is not available when novelty=True. Use novelty=False to predict on the training set."
        )
    return True


def _rule(model: Any, state: dict[str, Any], dims: dict[str, int]) -> str | None:
    if state["n_neighbors_"] > max(1, dims["n"] - 1):
        return "has more neighbours than rows"
    return metric_rule(model, state, dims)


class LocalOutlierFactor(KNeighborsMixin, OutlierMixin, NeighborsBase):
    """How much sparser a row's surroundings are than those of its neighbours (Breunig et al., 2000).

        reach(x, o) = max(distance(x, o), distance of o to its k-th neighbour)
        density(x)  = 1 / mean of reach(x, o) over the k nearest o of x
        LOF(x)      = mean of density(o) over the k nearest o  /  density(x)

    About 1 inside a cloud of rows, larger outside. As a row is compared with its own surroundings, it finds outliers
    beside a dense cluster that a threshold on distances misses. By default the training rows are judged, each by the
    others (`fit_predict`, `negative_outlier_factor_`); with `novelty=True` new rows are (`predict`, `score_samples`).

    Parameters
    ----------
    n_neighbors : int, default=20
        The number of neighbours k; at most all other rows are taken. It should be more than the rows of the smallest
        group that is not to count as outliers, and less than the number of outliers that may lie together.
    algorithm : {"auto", "brute", "kd_tree", "ball_tree", "approximate"}, default="auto"
        How to search for neighbours. All but "approximate" give the same neighbours, so this is a choice of speed.

        - "auto": brute force at first; a tree is built once the queries so far would have paid for it.
        - "brute": distances to all training rows; for sparse rows, many columns, and metrics that no tree takes.
        - "kd_tree": nested boxes, for Minkowski distances of dense rows with few columns (up to ten or so).
        - "ball_tree": nested balls, for any true metric of dense rows.
        - "approximate": a graph of near rows (HNSW), which misses some neighbours and is much quicker on many rows of
          many columns. For "euclidean", "sqeuclidean" and "cosine"; needs `pip install learnt[ann]`. `recall_` says
          what share of the true neighbours it finds.
    leaf_size : int, default=30
        The most rows in a leaf of the tree. It changes the speed and the memory of the search, never the neighbours.
    metric : str or callable, default="minkowski"
        The distance between two rows. By name: "euclidean", "manhattan", "chebyshev", "minkowski", "cosine", "hamming",
        "jaccard", "haversine", "nan_euclidean" (which takes missing cells) and others of SciPy's; the names are in
        `VALID_METRICS`. "precomputed" means that X holds distances. A function gets two rows and returns a number; it
        is slow. Scale the columns first where they have different units: the largest one decides otherwise.
    p : float, default=2
        The power of the Minkowski metric: 1 is the Manhattan distance, 2 the Euclidean. Other metrics ignore it.
    metric_params : dict or None, default=None
        Further parameters of the metric, such as `{"w": weights}` for weights of the columns.
    contamination : "auto" or float, default="auto"
        The share of outliers among the training rows, above 0 and at most 0.5. It only sets the threshold `offset_`;
        "auto" calls a row an outlier above LOF = 1.5.
    novelty : bool, default=False
        False judges the training rows (outlier detection), True new rows by training rows that are taken as clean
        (novelty detection). It decides which methods there are.

    Attributes
    ----------
    negative_outlier_factor_ : ndarray of shape (n_samples,)
        −LOF of the training rows: about −1 for usual rows, the lower the more unusual.
    n_neighbors_ : int
        The number of neighbours that was used.
    offset_ : float
        Rows whose −LOF is below it are outliers.
    effective_metric_ : str or callable
        The metric that is computed: "euclidean" for `metric="minkowski"` with p = 2.
    effective_metric_params_ : dict
        The parameters that this metric gets.
    n_samples_fit_ : int
        The number of training rows.
    recall_ : float
        The share of the true neighbours that the search finds, measured on a sample of training rows; only with
        `algorithm="approximate"`.

    See Also
    --------
    learnt.ensemble.IsolationForest : Outliers by random splits: quicker on many rows and columns.
    learnt.svm.OneClassSVM : A boundary around the training rows, for novelties.
    learnt.covariance.EllipticEnvelope : Outliers from one Gaussian cloud.
    NearestNeighbors : The distances that the factor is computed from.

    Notes
    -----
    The cost is that of one search for the k neighbours of each row; memory grows as n·k. More than k equal rows have an
    infinite density, which makes the factors of their neighbours huge: raise `n_neighbors`, or drop duplicates.

    References
    ----------
    .. [1] M. M. Breunig, H.-P. Kriegel, R. T. Ng, J. Sander, "LOF: Identifying Density-Based Local Outliers",
       ACM SIGMOD, 2000.

    Examples
    --------
    >>> model = LocalOutlierFactor(n_neighbors=2)
    >>> model.fit_predict([[-1.1], [0.2], [101.1], [0.3]])
    array([ 1,  1, -1,  1])
    >>> model.negative_outlier_factor_.round(1)
    array([ -1. ,  -1. , -73.4,  -1. ])
    """

    __learnt_schema__ = Schema(
        params={"novelty": flag, **METRIC},
        state={
            **SEARCH,
            "n_neighbors_": count(1),
            "negative_outlier_factor_": real("n"),
            "offset_": number(),
            "_reach": real("n", low=0),
            "_density": real("n", low=0),
        },
        extra=RECALL,
        rule=_rule,
    )

    _n_neighbors_also = ()

    def __init__(
        self,
        n_neighbors: int = 20,
        *,
        algorithm: str = "auto",
        leaf_size: int = 30,
        metric: Any = "minkowski",
        p: float = 2,
        metric_params: dict | None = None,
        contamination: Any = "auto",
        novelty: bool = False,
        n_jobs: int | None = None,
    ) -> None:
        self.n_neighbors = n_neighbors
        self.algorithm = algorithm
        self.leaf_size = leaf_size
        self.metric = metric
        self.p = p
        self.metric_params = metric_params
        self.contamination = contamination
        self.novelty = novelty
        self.n_jobs = n_jobs

    def fit(self, X: Any, y: Any = None) -> LocalOutlierFactor:
        """Judge every row of X by the others.

        Parameters
        ----------
        X : {array-like, sparse matrix} of shape (n_samples, n_features)
            The training rows; with `metric="precomputed"` their distances to each other, (n_samples, n_samples).
        """
        check_number(self, "contamination", 0, 0.5, open_low=True, also=("auto",))
        check_flag(self, "novelty")
        self._fit_rows(X)
        n = self.n_samples_fit_
        if self.n_neighbors > n > 1:
            warnings.warn(
                f"n_neighbors ({self.n_neighbors}) is greater than the total number of samples ({n}). n_neighbors will "
                "be set to (n_samples - 1) for estimation.",
                UserWarning,
                stacklevel=2,
            )
        self.n_neighbors_ = max(1, min(self.n_neighbors, n - 1))
        distances, index = self.kneighbors(n_neighbors=self.n_neighbors_)
        self._reach = distances[:, -1].copy()
        self._density, self.negative_outlier_factor_ = np.empty(n), np.empty(n)

        def density(lo: int, hi: int) -> None:
            self._density[lo:hi] = local_density(distances[lo:hi], index[lo:hi], self._reach)

        def factor(lo: int, hi: int) -> None:
            of_neighbors = self._density[index[lo:hi]].mean(axis=1)
            self.negative_outlier_factor_[lo:hi] = -of_neighbors / self._density[lo:hi]

        for one in (density, factor):
            for_blocks(one, n, grain=_ROWS, n_jobs=self.n_jobs)
        automatic = isinstance(self.contamination, str)
        worst = self.negative_outlier_factor_ = self.negative_outlier_factor_.astype(self._fit_X.dtype, copy=False)
        self.offset_ = -1.5 if automatic else np.percentile(worst, 100.0 * self.contamination)
        if worst.min() < -1e7 and not self.novelty:
            warnings.warn(
                "Duplicate values are leading to incorrect results. Increase the number of neighbors for more accurate "
                "results.",
                UserWarning,
                stacklevel=2,
            )
        return self

    @available_if(_of_training_rows)
    def fit_predict(self, X: Any, y: Any = None) -> np.ndarray:
        """−1 for outliers among the rows of X, 1 for the others; only where novelty=False.

        Parameters
        ----------
        X : {array-like, sparse matrix} of shape (n_samples, n_features)
            The training rows; with `metric="precomputed"` their distances to each other, (n_samples, n_samples).
        y : Ignored
            Not used; there so that all estimators can be called in the same way.

        Returns
        -------
        is_inlier : ndarray of shape (n_samples,)
            −1 for outliers, 1 for the other rows.
        """
        return _signs(self.fit(X).negative_outlier_factor_ - self.offset_)

    @_of_novelties("predict", "use fit_predict for the training rows, or novelty=True for new ones.")
    def predict(self, X: Any = None) -> np.ndarray:
        """−1 for new rows that are outliers, 1 for the others; only where novelty=True. None: the training rows.

        Parameters
        ----------
        X : {array-like, sparse matrix} of shape (n_queries, n_features) or None, default=None
            New rows. None asks for the training rows, each judged by the others.

        Returns
        -------
        is_inlier : ndarray of shape (n_queries,)
            −1 for outliers, 1 for rows like those it was fitted to.
        """
        if X is None:
            self._queries(None)
            return _signs(self.negative_outlier_factor_ - self.offset_)
        return _signs(self.decision_function(X))

    @_of_novelties("decision_function", "use novelty=True for new rows; those of fit have negative_outlier_factor_.")
    def decision_function(self, X: Any) -> np.ndarray:
        """`score_samples` less `offset_`: negative for outliers. Only where novelty=True.

        Parameters
        ----------
        X : {array-like, sparse matrix} of shape (n_queries, n_features)
            New rows; with `metric="precomputed"` their distances to the training rows.

        Returns
        -------
        scores : ndarray of shape (n_queries,)
            The lower, the more unusual; below 0 for outliers.
        """
        return self.score_samples(X) - self.offset_

    @_of_novelties("score_samples", "use novelty=True for new rows; those of fit have negative_outlier_factor_.")
    def score_samples(self, X: Any) -> np.ndarray:
        """−LOF of new rows by the training rows; only where novelty=True.

        A training row among them is its own neighbour: its score is not that of `negative_outlier_factor_`.

        Parameters
        ----------
        X : {array-like, sparse matrix} of shape (n_queries, n_features)
            New rows; with `metric="precomputed"` their distances to the training rows.

        Returns
        -------
        scores : ndarray of shape (n_queries,)
            About −1 for usual rows; the lower, the more unusual.
        """
        Q, m, k = self._checked_queries(X, self._own_count())
        out = np.empty(m)

        def consume(lo: int, hi: int, distances: np.ndarray, index: np.ndarray) -> None:
            out[lo:hi] = -self._density[index].mean(axis=1) / local_density(distances, index, self._reach)

        self._built().nearest_blocks(Q, k, consume, n_jobs=self.n_jobs)
        return out.astype(Q.dtype, copy=False)

    def _own_count(self) -> int:
        # Before `fit` there is no number yet; the call is then refused as not fitted.
        return getattr(self, "n_neighbors_", self.n_neighbors)


def _signs(score: np.ndarray) -> np.ndarray:
    return np.where(score < 0, -1, 1)
