"""Mean shift: the estimator, and the same as a function."""

from __future__ import annotations

from typing import Any

import numpy as np
from sklearn.utils.validation import check_is_fitted

from learnt.cluster.mean_shift._bandwidth import estimate_bandwidth
from learnt.cluster.mean_shift._climbing import climb, means_within, separate
from learnt.cluster.mean_shift._seeds import get_bin_seeds
from learnt.distances import Search
from learnt.engine.documentation import documented
from learnt.engine.estimator import Estimator, Trial
from learnt.engine.mixins import ClusterMixin
from learnt.engine.params import check_flag, check_number
from learnt.engine.schema import FEATURES, Schema, count, integers, real
from learnt.engine.threads import thread_count
from learnt.engine.validation import check_fit, check_predict


class MeanShift(ClusterMixin, Estimator):
    """Clusters around the peaks of the density of the rows (Comaniciu and Meer, 2002); their number is not given.

        m(x) = mean of the rows within `bandwidth` of x

    Every start moves to m(x) until it stands still; where it does, the number of rows around it is largest.
    Of peaks within `bandwidth` of each other the one with most rows around it is kept, and rows belong to the nearest.

    Parameters
    ----------
    bandwidth : float or None, default=None
        The radius: the parameter to choose. Larger values give fewer, larger clusters. None takes what
        `estimate_bandwidth` finds.
    seeds : array-like of shape (n_seeds, n_features) or None, default=None
        The starts; None for all rows, or the points of a grid with `bin_seeding`.
    bin_seeding : bool, default=False
        Whether to start from the points of a grid that have rows near them (`get_bin_seeds`) instead of from all rows:
        quicker.
    min_bin_freq : int, default=1
        The fewest rows of such a point.
    cluster_all : bool, default=True
        Whether rows farther than `bandwidth` from all peaks belong to the nearest as well; otherwise their label is −1.
    n_jobs : int or None, default=None
        The most threads to use; None or -1 for all that this process may.
    max_iter : int, default=300
        The most moves of a start.

    Attributes
    ----------
    cluster_centers_ : ndarray of shape (n_clusters, n_features)
        The peaks, by falling number of rows around them.
    labels_ : ndarray of shape (n_samples,)
        The cluster of each row; −1 for rows far from all peaks, without `cluster_all`.
    n_iter_ : int
        The most moves of a start before its last.

    See Also
    --------
    estimate_bandwidth : A radius from the rows.
    mean_shift : The same as a function.
    HDBSCAN : Clusters of any shape, without a radius.
    KMeans : A given number of clusters, for many rows.

    Notes
    -----
    Starts that meet go on as one, and rows are added up by nodes of a tree, so that all rows may be starts. Each move
    searches the rows within `bandwidth`: quick in few columns, n² in many.

    References
    ----------
    .. [1] D. Comaniciu, P. Meer, "Mean Shift: A Robust Approach Toward Feature Space Analysis", IEEE Transactions on
       Pattern Analysis and Machine Intelligence 24, 2002.

    Examples
    --------
    >>> X = np.array([[1.0, 1.0], [2.0, 1.0], [1.0, 0.0], [4.0, 7.0], [3.0, 5.0], [3.0, 6.0]])
    >>> model = MeanShift(bandwidth=2).fit(X)
    >>> model.labels_, model.predict([[0.0, 0.0], [5.0, 5.0]])
    (array([1, 1, 1, 0, 0, 0]), array([1, 0]))
    """

    __learnt_schema__ = Schema(
        state={
            **FEATURES,
            "cluster_centers_": real("k", "d"),
            "labels_": integers(None, low=-1, below="k"),
            "n_iter_": count(0),
        }
    )
    # Labels are given to rows, in their order.
    __learnt_trial__ = Trial(quick={"bandwidth": 2.0}, any_order=False, most_rows=3000)

    def __init__(
        self,
        *,
        bandwidth: float | None = None,
        seeds: Any = None,
        bin_seeding: bool = False,
        min_bin_freq: int = 1,
        cluster_all: bool = True,
        n_jobs: int | None = None,
        max_iter: int = 300,
    ) -> None:
        self.bandwidth = bandwidth
        self.seeds = seeds
        self.bin_seeding = bin_seeding
        self.min_bin_freq = min_bin_freq
        self.cluster_all = cluster_all
        self.n_jobs = n_jobs
        self.max_iter = max_iter

    def fit(self, X: Any, y: Any = None) -> MeanShift:
        """Find the peaks, and the peak of each row."""
        check_number(self, "bandwidth", 0, also=(None,))
        check_number(self, "min_bin_freq", 1, integer=True)
        check_number(self, "max_iter", 0, integer=True)
        check_flag(self, "bin_seeding", "cluster_all")
        thread_count(self.n_jobs)
        X = check_fit(self, X, order="C").X
        points = X.astype(np.float64, copy=False)
        radius = self.bandwidth
        radius = float(estimate_bandwidth(points, n_jobs=self.n_jobs) if radius is None else radius)
        means = means_within(points, radius, self.n_jobs)
        peaks = climb(means, self._starts(points, radius), radius, self.max_iter)
        if not len(peaks.places):
            raise ValueError(
                f"No point was within bandwidth={radius:f} of any seed. Try a different seeding strategy or increase "
                "the bandwidth."
            )
        self.n_iter_ = peaks.n_iter
        self.cluster_centers_ = separate(peaks, radius, self.n_jobs).astype(X.dtype, copy=False)
        distances, labels = self._nearest(points)
        self.labels_ = labels if self.cluster_all else np.where(distances <= radius, labels, -1)
        return self

    def _starts(self, points: np.ndarray, radius: float) -> np.ndarray:
        if self.seeds is None:
            return get_bin_seeds(points, radius, self.min_bin_freq) if self.bin_seeding else points
        seeds = np.asarray(self.seeds, dtype=np.float64)
        if seeds.ndim != 2 or seeds.shape[1] != points.shape[1] or not len(seeds) or not np.isfinite(seeds).all():
            raise ValueError(
                f"The seeds of MeanShift have the shape {seeds.shape}; give rows of {points.shape[1]} finite numbers, "
                "as X has."
            )
        return seeds

    def _nearest(self, points: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
        """The distance of each row to the nearest peak, and its number."""
        centers = np.ascontiguousarray(self.cluster_centers_, dtype=np.float64)
        distances, index = Search.build(centers).nearest(points, 1, n_jobs=self.n_jobs)
        return distances[:, 0], index[:, 0]

    def predict(self, X: Any) -> np.ndarray:
        """The number of the nearest peak of each row."""
        check_is_fitted(self)
        return self._nearest(check_predict(self, X, order="C").astype(np.float64, copy=False))[1]


@documented
def mean_shift(
    X: Any,
    *,
    bandwidth: float | None = None,
    seeds: Any = None,
    bin_seeding: bool = False,
    min_bin_freq: int = 1,
    cluster_all: bool = True,
    max_iter: int = 300,
    n_jobs: int | None = None,
) -> tuple[np.ndarray, np.ndarray]:
    """Clusters around the peaks of the density of the rows; `MeanShift` as a function.

    Parameters
    ----------
    X : array-like of shape (n_samples, n_features)
        The rows to cluster.
    bandwidth : float or None, default=None
        The radius: the parameter to choose. Larger values give fewer, larger clusters. None takes what
        `estimate_bandwidth` finds.
    seeds : array-like of shape (n_seeds, n_features) or None, default=None
        The starts; None for all rows, or the points of a grid with `bin_seeding`.
    bin_seeding : bool, default=False
        Whether to start from the points of a grid that have rows near them (`get_bin_seeds`) instead of from all rows:
        quicker.
    min_bin_freq : int, default=1
        The fewest rows of such a point.
    cluster_all : bool, default=True
        Whether rows farther than `bandwidth` from all peaks belong to the nearest as well; otherwise their label is −1.
    max_iter : int, default=300
        The most moves of a start.

    Returns
    -------
    cluster_centers : ndarray of shape (n_clusters, n_features)
        The peaks, by falling number of rows around them.
    labels : ndarray of shape (n_samples,)
        The cluster of each row; −1 for rows far from all peaks, without `cluster_all`.

    See Also
    --------
    MeanShift : The same as a class, which predicts the clusters of new rows.
    estimate_bandwidth : A radius from the rows.

    Notes
    -----
    Starts that meet go on as one, and rows are added up by nodes of a tree, so that all rows may be starts. Each move
    searches the rows within `bandwidth`: quick in few columns, n² in many.

    Examples
    --------
    >>> mean_shift([[0.0], [1.0], [9.0]], bandwidth=2)
    (array([[0.5],
           [9. ]]), array([0, 0, 1]))
    """
    model = MeanShift(
        bandwidth=bandwidth,
        seeds=seeds,
        bin_seeding=bin_seeding,
        min_bin_freq=min_bin_freq,
        cluster_all=cluster_all,
        n_jobs=n_jobs,
        max_iter=max_iter,
    ).fit(X)
    return model.cluster_centers_, model.labels_
