"""k-means clustering."""

from __future__ import annotations

import mmap
import warnings
from functools import partial
from typing import Any

import numpy as np
from scipy import sparse
from sklearn.exceptions import ConvergenceWarning

from learnt.cluster._bounded import (
    COMPILED_WORK,
    DenseLloyd,
    dense_inertia,
    dense_labels,
    quick_sums,
    scale_of,
)
from learnt.cluster._grouped import FEWEST_CENTERS, LEAST_WORK, GroupedLloyd
from learnt.cluster._lloyd import RowsLloyd, Run, lloyd
from learnt.cluster._sparse_lloyd import SparseLloyd
from learnt.cluster._spread import Spread, rough_spread, spread_of
from learnt.cluster._starts import Starts, check_centers
from learnt.cluster._sums import distance_block, inertia_sum, label_block, label_finite
from learnt.distances import nearest_center
from learnt.engine.arrays import is_lazy, like, namespace, to_numpy
from learnt.engine.cells import frame_matrix, is_frame
from learnt.engine.estimator import Estimator, Takes, Trial, Warm
from learnt.engine.kernel import compilation_enabled
from learnt.engine.matrices import Route, dense, double, n_stored, on_host, to_device_of_as_double
from learnt.engine.mixins import ClassNamePrefixFeaturesOutMixin, ClusterMixin, TransformerMixin
from learnt.engine.params import ParameterError, check_choice, check_flag, check_number
from learnt.engine.progress import CallbackSupportMixin, fit_loop, with_callbacks
from learnt.engine.random import random_state_of
from learnt.engine.rows import Rows, as_rows, transform
from learnt.engine.schema import FEATURES, Schema, anyof, count, flag, integers, number, real
from learnt.engine.threads import single_blas
from learnt.engine.validation import check_fit, check_predict, check_weights
from learnt.engine.verbose import tell
from learnt.engine.weights import absent_rows, present_rows, rows_given, scatter_rows, take_rows, without_absent

_ONE_THREAD = 1 << 16  # multiplications for which BLAS has one thread anyway
_INITS = ("k-means++", "farthest-first", "random")


class KMeans(CallbackSupportMixin, ClassNamePrefixFeaturesOutMixin, TransformerMixin, ClusterMixin, Estimator):
    """Clusters around k centres:  min over c₁…c_k of  Σᵢ wᵢ min_j ‖xᵢ − c_j‖²,  by Lloyd's algorithm.

    The first clustering to try: quick, and right for compact clusters of like size. Scale the columns first. For
    clusters of other shapes see `HDBSCAN` and `SpectralClustering`; for clusters of different width and probabilities
    of membership, Gaussian mixtures.

    The result is the same for any number of threads, any order of the rows (k-means++), and for a row of weight 2 in
    place of the row twice.

    Parameters
    ----------
    n_clusters : int, default=8
        The number of clusters k. `choose_k` finds one from the rows.
    init : {"k-means++", "farthest-first", "random"}, callable or array of shape (k, n_features), default="k-means++"
        Where to start.

        - "k-means++": rows drawn far apart, the best of a few draws each time (greedy k-means++).
        - "farthest-first": each row the farthest from those before; outliers are taken first.
        - "random": any rows; give more starts (`n_init`).
        - callable: a function of (X, n_clusters, random_state) that returns centres.
        - array: the centres themselves.

        For rows that are read in blocks the first two look at a sample.
    n_init : "auto" or int, default="auto"
        How many starts; the one with the lowest inertia is kept. More starts avoid poor local minima. "auto" is 10 for
        "random" and a callable, else 1.
    max_iter : int, default=300
        The most iterations of one start.
    tol : float, default=1e-4
        Convergence: stop when the squared movements of the centres sum to less than this times the mean variance of the
        features. 0 goes on until no row changes its cluster.
    verbose : int, default=0
        Above 0, iterations are logged to the logger named "learnt".
    random_state : int, RandomState, Generator or None, default=None
        Where the starts are drawn from. Pass an integer to get the same clusters every time.
    copy_x : bool, default=True
        Kept for scikit-learn's signature: X is never changed.
    algorithm : {"lloyd", "elkan", "hamerly", "auto"}, default="lloyd"
        Kept for scikit-learn's signature: names of ways to the same result, of which the fastest is always taken.

    Attributes
    ----------
    cluster_centers_ : ndarray of shape (n_clusters, n_features)
        The centres: means of the clusters.
    labels_ : ndarray of shape (n_samples,)
        The cluster of each row, as `predict` gives it. A lazy Dask array where X was a Dask collection.
    inertia_ : float
        Σᵢ wᵢ ‖xᵢ − its centre‖²: the lower, the tighter the clusters. It falls with every further cluster.
    n_iter_ : int
        Iterations of the start that was kept.
    converged_ : bool
        Whether it stopped because nothing moved any more, and not at `max_iter`.

    See Also
    --------
    MiniBatchKMeans : From random batches of rows: quicker for very many rows.
    BisectingKMeans : By halving clusters: quicker for many clusters.
    choose_k : How many clusters there are.
    learnt.mixture.GaussianMixture : Clusters of different width, and probabilities.
    HDBSCAN : Clusters of any shape, whose number need not be given.

    Notes
    -----
    An iteration takes at most time n·k·d. Arrays in memory are clustered with Hamerly's bounds, which spare most
    distances, and matrix products in single precision, checked so that every row gets the centre that the plain
    algorithm gives it. X may also be a memory map: there, as for all rows that are read in blocks, each iteration is a
    sum over rows. Only a local minimum is found: with several starts (`n_init`) it is the best of several.

    References
    ----------
    .. [1] D. Arthur, S. Vassilvitskii, "k-means++: The Advantages of Careful Seeding", SODA, 2007.
    .. [2] G. Hamerly, "Making k-means even faster", SIAM International Conference on Data Mining, 2010.

    Examples
    --------
    >>> import numpy as np
    >>> X = np.array([[1.0, 2.0], [1.0, 4.0], [1.0, 0.0], [10.0, 2.0], [10.0, 4.0], [10.0, 0.0]])
    >>> model = KMeans(n_clusters=2, random_state=0).fit(X)
    >>> model.cluster_centers_[model.predict([[0.0, 0.0], [12.0, 3.0]])]
    array([[ 1.,  2.],
           [10.,  2.]])
    >>> model.inertia_
    16.0
    """

    __learnt_schema__ = Schema(
        state={**FEATURES, "cluster_centers_": real("k", "d"), "inertia_": anyof(number(0), real(low=0))},
        extra={"labels_": integers(None, low=-1, below="k"), "n_iter_": count(), "converged_": flag},
    )
    __learnt_takes__ = Takes(sparse=True, tensors=True, lazy=True)
    __learnt_trial__ = Trial(
        quick={"n_clusters": 3, "random_state": 0},
        warmup=(
            Warm("none", {"n_clusters": 4, "n_init": 1, "random_state": 0}),
            Warm("none", {"n_clusters": 4, "n_init": 1, "random_state": 0, "max_iter": 2}, sparse=True),
        ),
        start=lambda X: {"init": X[:3], "n_init": 1},
        weighted=({"n_init": 2, "init": "random"},),
        any_order=False,
    )

    labels_: Any
    _random_starts = 10  # what n_init="auto" is where starts are drawn without care

    def __init__(
        self,
        n_clusters: int = 8,
        *,
        init: Any = "k-means++",
        n_init: Any = "auto",
        max_iter: int = 300,
        tol: float = 1e-4,
        verbose: Any = 0,
        random_state: Any = None,
        copy_x: bool = True,
        algorithm: str = "lloyd",
    ) -> None:
        self.n_clusters = n_clusters
        self.init = init
        self.n_init = n_init
        self.max_iter = max_iter
        self.tol = tol
        self.verbose = verbose
        self.random_state = random_state
        self.copy_x = copy_x
        self.algorithm = algorithm

    @with_callbacks
    def fit(self, X: Any, y: Any = None, sample_weight: Any = None) -> KMeans:
        """Find the clusters; a row of weight 2 counts as two rows, one of weight 0 as none."""
        self._check_params()
        given, present = X, present_rows(sample_weight, X)
        X, _, w = check_fit(self, X, None, sample_weight, order="C")
        rows = as_rows(X, None, w)
        n_init = self._check_against(rows)
        with single_blas():  # once for the whole fit: changing the limit costs more than a small fit
            best = self._best_run(X, rows, w, n_init)
        self._record(best, rows)
        if present is not None:
            self._label_absent(given, present, rows_given(sample_weight))
        return self

    def _label_absent(self, given: Any, present: np.ndarray, n: int) -> None:
        """A row of weight 0, which has moved no centre, has the label of the nearest, or −1 where it has none."""
        if is_lazy(given):
            C = self.cluster_centers_.astype(np.float64)
            cells = partial(_cells_of_piece, type(self).__name__)
            self.labels_ = as_rows(given, cells=cells).map(label_finite, C, C.mean(axis=0))
            return
        rows = take_rows(given, absent_rows(present, n))
        numbers = to_numpy(dense(frame_matrix(rows, type(self).__name__) if is_frame(rows) else rows))
        finite = np.isfinite(numbers.astype(np.float64, copy=False)).all(axis=1)
        labels = np.full(len(numbers), -1)
        if finite.any():
            labels[finite] = to_numpy(self.predict(take_rows(rows, finite)))
        self.labels_ = like(scatter_rows(to_numpy(self.labels_), present, n, labels), self.labels_)

    def _check_params(self) -> None:
        check_number(self, "n_clusters", 1, integer=True)
        check_number(self, "n_init", 1, integer=True, also=("auto",))
        check_number(self, "max_iter", 1, integer=True)
        check_number(self, "tol", 0)
        check_choice(self, "algorithm", ("lloyd", "elkan", "hamerly", "auto"))
        check_flag(self, "copy_x")
        self._check_init()

    def _check_init(self) -> None:
        if isinstance(self.init, str) and self.init not in _INITS:
            check_choice(self, "init", _INITS)
        elif not (callable(self.init) or isinstance(self.init, str) or hasattr(self.init, "__len__")):
            raise ParameterError(
                f"The 'init' parameter of {type(self).__name__} must be one of {', '.join(map(repr, _INITS))}, "
                f"a callable or an array of centers. Got {self.init!r} instead."
            )

    def _check_against(self, rows: Rows) -> int:
        """The number of starts; refuses more clusters than rows and centres of the wrong shape."""
        n = rows.n_rows
        if n < self.n_clusters:
            raise ValueError(
                f"n_samples={n} should be >= n_clusters={self.n_clusters}; ask for fewer clusters or give more rows."
            )
        given = not (isinstance(self.init, str) or callable(self.init))
        if given:
            check_centers(self.init, (self.n_clusters, rows.n_features))
        if getattr(self, "algorithm", None) == "elkan" and self.n_clusters == 1:  # MiniBatchKMeans has none
            warnings.warn(
                "algorithm='elkan' doesn't make sense for a single cluster. Using 'lloyd' instead.",
                RuntimeWarning,
                stacklevel=4,
            )
        if self.n_init == "auto":
            return (
                self._random_starts
                if callable(self.init) or (isinstance(self.init, str) and self.init == "random")
                else 1
            )
        if given and self.n_init != 1:
            warnings.warn(
                "Explicit initial center position passed: performing only one init in "
                f"{type(self).__name__} instead of n_init={self.n_init}.",
                RuntimeWarning,
                stacklevel=3,
            )
            return 1
        return self.n_init

    def _best_run(self, X: Any, rows: Rows, w: Any, n_init: int) -> Run:
        spread = spread_of(rows) if self.tol > 0 else rough_spread(rows)  # the variance is for the tolerance
        problem = _problem(X, rows, w, spread, self.n_clusters)
        if self.tol == 0 and isinstance(problem, DenseLloyd) and not problem.in_scale:
            spread = spread_of(rows)
            problem = _problem(X, rows, w, spread, self.n_clusters)
        rounded = (problem.W, problem.norms) if isinstance(problem, DenseLloyd) and problem.copy else None
        origin = to_device_of_as_double(spread.mean, rows.reference)
        starts = Starts(X, rows, w, origin, self.n_clusters, self.init, rounded)
        dtype = np.float32 if "32" in str(rows.dtype) else np.float64  # NumPy's name for it, whatever the library
        random_state = random_state_of(self.random_state)
        best: Run | None = None
        with fit_loop(self, n_init * self.max_iter, X) as loop:
            for _ in range(n_init):
                centers = starts.draw(random_state)

                def step(iteration: int, shift: float, state: Any) -> bool:
                    if self.verbose:
                        tell("KMeans iteration %d: centers moved by %.3g", iteration, shift)
                    return loop.step(f"shift {shift:.2g}", state)

                run = lloyd(problem, centers, dtype, self.max_iter, self.tol * spread.variance, step)
                # Equal clusterings under other names differ by rounding: keep the first of them.
                if best is None or run.inertia < best.inertia * (1 - 1e-12):
                    best = run
                if run.stopped:
                    break
        return best  # type: ignore[return-value]

    def _record(self, run: Run, rows: Rows) -> None:
        self.cluster_centers_ = like(run.centers, rows.reference)
        self.labels_ = run.labels
        self.inertia_ = run.inertia
        self.n_iter_ = run.n_iter
        self.converged_ = run.converged
        used = run.n_used if is_lazy(run.labels) else int(np.count_nonzero(np.bincount(to_numpy(run.labels))))
        warn_of_few(used, self.n_clusters, stacklevel=5)

    def predict(self, X: Any) -> Any:
        """The index of the nearest centre of each row."""
        return self._labels_of(self._checked(X))

    def _labels_of(self, X: Any) -> Any:
        rows = as_rows(X)
        C = self._centers(rows)
        origin = namespace(C).mean(C, axis=0)
        if rows.route is Route.DENSE and _many(X, C.shape[0]):
            return dense_labels(X, C, origin)
        if rows.route is Route.DENSE and X.size * C.shape[0] <= _ONE_THREAD:
            return nearest_center(X, C, origin)
        with single_blas():
            return rows.map(label_block, C, origin)

    def fit_predict(self, X: Any, y: Any = None, sample_weight: Any = None) -> Any:
        """Fit, and return the labels of the rows."""
        return self.fit(X, sample_weight=sample_weight).labels_

    def transform(self, X: Any) -> Any:
        """Euclidean distances of the rows to the centres, (n_samples, k).

        Returns
        -------
        distances : ndarray of shape (n_samples, n_clusters)
            Distances to the centres, in the order of `cluster_centers_`.
        """
        return self._transform(X)

    def fit_transform(self, X: Any, y: Any = None, sample_weight: Any = None) -> Any:
        """Fit, and return the distances of the rows to the centres.

        Returns
        -------
        distances : ndarray of shape (n_samples, n_clusters)
            Distances to the centres, in the order of `cluster_centers_`.
        """
        return self.fit(X, sample_weight=sample_weight)._transform(X)

    def _transform(self, X: Any) -> Any:
        X = self._checked(X)
        C = self._centers(as_rows(X))
        with single_blas():
            return transform(X, self.get_feature_names_out, distance_block, C, namespace(C).mean(C, axis=0))

    def score(self, X: Any, y: Any = None, sample_weight: Any = None) -> float:
        """Minus the inertia of the rows: higher is better.

        Returns
        -------
        score : float
            −Σᵢ wᵢ ‖xᵢ − its nearest centre‖².
        """
        X, _, sample_weight, _ = without_absent(X, None, sample_weight)
        X = self._checked(X)
        w = check_weights(sample_weight, X)
        rows = as_rows(X, None, w)
        C = self._centers(rows)
        origin = namespace(C).mean(C, axis=0)
        if rows.route is Route.DENSE and _many(X, C.shape[0]):
            return -dense_inertia(X, w, C, origin)
        return -float(rows.sum(inertia_sum, C, origin)[0])

    def _checked(self, X: Any) -> Any:
        return check_predict(self, X, order="C")

    def _centers(self, rows: Rows) -> Any:
        """The centres in float64, in the library and on the device of the rows."""
        return to_device_of_as_double(to_numpy(self.cluster_centers_).astype(np.float64), rows.reference)

    @property
    def _n_features_out(self) -> int:
        return self.cluster_centers_.shape[0]

    def __sklearn_tags__(self):
        tags = super().__sklearn_tags__()
        tags.transformer_tags.preserves_dtype = ["float64", "float32"]
        return tags


def warn_of_few(used: int, asked: int, stacklevel: int) -> None:
    """Say that fewer clusters were found than asked for."""
    if used < asked:
        warnings.warn(
            f"Number of distinct clusters ({used}) found smaller than n_clusters ({asked}). Possibly due to duplicate "
            "points in X; ask for fewer clusters.",
            ConvergenceWarning,
            stacklevel=stacklevel,
        )


def _many(X: Any, k: int) -> bool:
    """Whether one assignment is enough work for compiled code."""
    if not on_host(X):
        return False
    size = n_stored(X)
    return size * k >= COMPILED_WORK and compilation_enabled()  # in this order: asking loads Numba


def _problem(X: Any, rows: Rows, w: Any, spread: Spread, k: int) -> Any:
    """The quickest kind of assignment for these rows."""
    if is_lazy(X):
        return RowsLloyd(rows, w, spread.mean, quick_sums)
    if not _many(X, k):
        return RowsLloyd(rows, w, spread.mean)
    if sparse.issparse(X):
        return SparseLloyd(X, w, k)
    if k >= FEWEST_CENTERS and X.size * k >= LEAST_WORK and not _is_mapped(X):
        return GroupedLloyd(X, w, spread.mean, scale_of(spread.size), k)
    return DenseLloyd(X, w, spread.mean, scale_of(spread.size), k, copy=not _is_mapped(X))


def _cells_of_piece(name: str, piece: Any) -> Any:
    return double(frame_matrix(piece, name) if is_frame(piece) else piece)


def _is_mapped(X: Any) -> bool:
    """Whether the array lies in a file: then it may not fit in memory."""
    while X is not None:
        if isinstance(X, np.memmap | mmap.mmap):
            return True
        X = getattr(X, "base", None) if isinstance(X, np.ndarray) else getattr(X, "obj", None)
    return False
