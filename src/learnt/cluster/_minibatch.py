"""k-means from small batches of rows."""

from __future__ import annotations

import warnings
from collections.abc import Iterator
from functools import partial
from operator import itemgetter
from typing import Any

import numpy as np

from learnt.cluster._kmeans import KMeans, warn_of_few
from learnt.cluster._minibatch_steps import Progress, reassign, rounded_rows, step
from learnt.cluster._spread import spread_of
from learnt.cluster._starts import Starts, check_centers
from learnt.cluster._sums import inertia_sum
from learnt.distances import center_errors, nearest_center
from learnt.engine.estimator import Takes, Trial, Warm
from learnt.engine.memory import free_bytes
from learnt.engine.params import check_flag, check_number
from learnt.engine.progress import fit_loop, with_callbacks
from learnt.engine.random import random_state_of, stream, uniforms
from learnt.engine.rows import Rows, as_rows, in_memory
from learnt.engine.schema import FEATURES, Schema, anyof, count, integers, number, real
from learnt.engine.threads import for_blocks, run_tasks, single_blas
from learnt.engine.validation import check_fit
from learnt.engine.verbose import tell
from learnt.engine.weights import present_rows, rows_given

_GRAIN = 8192
# Of rows that are not in memory, batches of so many bytes are read at once, and at least so many batches.
# Where memory is free, a sixteenth of that, up to more bytes: a file is read less often.
_READ_BYTES, _MOST_BYTES, _FEWEST_BATCHES = 1 << 27, 1 << 30, 32
_INDEX_NUMBERS = 4  # that finding a row takes besides its cells


class MiniBatchKMeans(KMeans):
    """`KMeans` from random batches of rows: a little less exact, and much quicker for many rows.

    A batch's rows are assigned to their nearest centres, and each centre is the mean of all rows it has had so far.
    `partial_fit` takes batches as they come. X may be an array, a SciPy matrix, a memory map, a `learnt.scan` table or
    a Dask collection: of the last two many batches are read at once, and the model is the same.

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

        Rows are drawn from `init_size` of them.
    max_iter : int, default=100
        The most passes: batches that together have as many rows as X.
    batch_size : int, default=1024
        Rows of a batch. Larger batches are more exact, and take longer.
    verbose : int, default=0
        Above 0, steps are logged to the logger named "learnt".
    compute_labels : bool, default=True
        Whether `labels_` and the inertia of all rows are computed at the end.
    random_state : int, RandomState, Generator or None, default=None
        Where starts and batches are drawn from. Pass an integer to get the same clusters every time.
    tol : float, default=0.0
        Above 0, stop when the squared movements of the centres sum to less than this times the mean variance
        (convergence).
    max_no_improvement : int or None, default=10
        Stop after as many batches without a lower smoothed inertia; None never does.
    init_size : int or None, default=None
        Rows that starts are drawn from and compared on; None for 3 batches, and at least 3 rows for each cluster.
    n_init : "auto" or int, default="auto"
        How many starts are compared; the one with the lowest inertia on `init_size` rows is taken. "auto" is 3 for
        "random" and a callable, else 1.
    reassignment_ratio : float, default=0.01
        Centres with less than this share of the largest one's rows are put on other rows now and then. Larger values
        avoid small clusters, and take longer to converge.

    Attributes
    ----------
    cluster_centers_ : ndarray of shape (n_clusters, n_features)
        The centres.
    labels_ : ndarray of shape (n_samples,)
        The cluster of each row, where `compute_labels`; after `partial_fit`, of the last batch.
    inertia_ : float
        Σᵢ wᵢ ‖xᵢ − its centre‖², or an estimate unless `compute_labels`.
    n_iter_ : int
        The number of passes.
    n_steps_ : int
        The number of batches.
    counts_ : ndarray of shape (n_clusters,)
        The weight of the rows that each centre has had.
    n_samples_seen_ : int
        Rows in all batches.

    See Also
    --------
    KMeans : All rows in every iteration: lower inertia, and often quick enough.
    BisectingKMeans : By halving clusters: quicker for many clusters.
    Birch : Sums up rows in a tree as they come.

    Notes
    -----
    A batch of b rows takes time b·k·d, whatever the number of rows. A row of weight 2 is drawn twice as often.

    References
    ----------
    .. [1] D. Sculley, "Web-scale k-means clustering", WWW, 2010.

    Examples
    --------
    >>> X = np.random.default_rng(0).normal(size=(3000, 2)) + np.repeat([[0.0], [9.0], [18.0]], 1000, axis=0)
    >>> model = MiniBatchKMeans(n_clusters=3, random_state=0).fit(X)
    >>> np.sort(model.cluster_centers_[:, 0]).round().astype(int)
    array([ 0,  9, 18])
    """

    __learnt_schema__ = Schema(
        state={**FEATURES, "cluster_centers_": real("k", "d"), "counts_": real("k", low=0)},
        extra={
            "inertia_": anyof(number(0), real(low=0)),
            "labels_": integers(None, low=-1, below="k"),
            "n_iter_": count(),
            "n_steps_": count(),
            "n_samples_seen_": count(),
        },
    )
    __learnt_takes__ = Takes(sparse=True, lazy=True)
    __learnt_trial__ = Trial(
        quick={"n_clusters": 3, "random_state": 0, "n_init": 3},
        warmup=(Warm("none", {"n_clusters": 4, "random_state": 0}),),
        start=lambda X: {"init": X[:3], "n_init": 1},
        any_order=False,
        weight_repeats=False,
    )

    _random_starts = 3

    def __init__(
        self,
        n_clusters: int = 8,
        *,
        init: Any = "k-means++",
        max_iter: int = 100,
        batch_size: int = 1024,
        verbose: Any = 0,
        compute_labels: bool = True,
        random_state: Any = None,
        tol: float = 0.0,
        max_no_improvement: int | None = 10,
        init_size: int | None = None,
        n_init: Any = "auto",
        reassignment_ratio: float = 0.01,
    ) -> None:
        self.n_clusters = n_clusters
        self.init = init
        self.max_iter = max_iter
        self.batch_size = batch_size
        self.verbose = verbose
        self.compute_labels = compute_labels
        self.random_state = random_state
        self.tol = tol
        self.max_no_improvement = max_no_improvement
        self.init_size = init_size
        self.n_init = n_init
        self.reassignment_ratio = reassignment_ratio

    @with_callbacks
    def fit(self, X: Any, y: Any = None, sample_weight: Any = None) -> MiniBatchKMeans:
        """Find the clusters; a row of weight 2 is drawn twice as often, one of weight 0 never."""
        self._check_params()
        given, present = X, present_rows(sample_weight, X)
        X, _, w = check_fit(self, X, None, sample_weight, order="C")
        rows = as_rows(X, None, w)
        n_init = self._check_against(rows)
        draw = random_state_of(self.random_state)
        weights = None if w is None else in_memory(w)
        with single_blas():
            centers = self._start(rows, weights, n_init, draw)
            self._run(rows, weights, centers, draw, self.tol * spread_of(rows).variance if self.tol > 0 else 0.0)
        if self.compute_labels:
            self._label(rows)
            if present is not None:
                self._label_absent(given, present, rows_given(sample_weight))
        self._warn_of_equal_rows(rows.n_rows)
        return self

    def _warn_of_equal_rows(self, n: int) -> None:
        """Only where all rows are centres but for rounding: elsewhere equal centres are luck in the draws."""
        C = self.cluster_centers_.astype(np.float64)
        size = 100.0 * float(np.finfo(self.cluster_centers_.dtype).eps) * (np.abs(C).max() or 1.0)
        if self.inertia_ <= n * C.shape[1] * size**2:
            warn_of_few(len(np.unique(np.round(C / size), axis=0)), self.n_clusters, stacklevel=5)

    def partial_fit(self, X: Any, y: Any = None, sample_weight: Any = None) -> MiniBatchKMeans:
        """One step with these rows as the batch; the first batch has to have a row for each cluster."""
        self._check_params()
        first = not hasattr(self, "counts_")
        X, _, w = check_fit(self, X, None, sample_weight, order="C", lazy=False, reset=first)
        rows = as_rows(X, None, w)
        draw = self._draw_of_step(getattr(self, "n_steps_", 0))
        with single_blas():
            if first:
                self._check_against(rows)
                centers = self._start(rows, w, 1, draw)
                self.counts_, self.n_steps_, self.n_samples_seen_ = np.zeros(len(centers)), 0, 0
            else:
                centers = self.cluster_centers_.astype(np.float64)
                self.counts_ = np.array(self.counts_)  # those of a model that was loaded may be a memory map
            step(X, w, centers, self.counts_)
            self._reassigned(X, centers, draw)
        self.cluster_centers_ = centers.astype(X.dtype)
        self.n_steps_ += 1
        if self.compute_labels:
            self._label(rows)
        return self

    def _check_params(self) -> None:
        check_flag(self, "compute_labels")
        check_number(self, "n_clusters", 1, integer=True)
        check_number(self, "n_init", 1, integer=True, also=("auto",))
        check_number(self, "max_iter", 1, integer=True)
        check_number(self, "tol", 0)
        check_number(self, "batch_size", 1, integer=True)
        check_number(self, "max_no_improvement", 0, integer=True, also=(None,))
        check_number(self, "init_size", 1, integer=True, also=(None,))
        check_number(self, "reassignment_ratio", 0)
        self._check_init()

    def _draw_of_step(self, number_of: int) -> np.random.RandomState:
        """The draws of one call of `partial_fit`: other ones each time, and the same again from the same seed."""
        seed = self.random_state
        if number_of and isinstance(seed, int | np.integer):
            return random_state_of(stream(int(seed), number_of))
        return random_state_of(seed)

    def _start(self, rows: Rows, w: Any, n_init: int, draw: np.random.RandomState) -> np.ndarray:
        """The best of a few starts, on rows that are drawn once."""
        if not (isinstance(self.init, str) or callable(self.init)):
            return check_centers(self.init, (self.n_clusters, rows.n_features)).copy()
        n = rows.n_rows
        size = self._start_rows(n)
        check = draw.randint(0, n, size)
        judges = _taken(rows, check) if n_init > 1 else None

        def start(draw: np.random.RandomState) -> np.ndarray:
            some = np.arange(n) if size >= n else np.sort(draw.choice(n, size, replace=False))
            part, weights = _taken(rows, some), None if w is None else w[some]
            among, rounded = as_rows(part, None, weights), rounded_rows(part, self.n_clusters)
            return Starts(part, among, weights, part.mean(axis=0), self.n_clusters, self.init, rounded).draw(draw)

        def judged(draw: np.random.RandomState) -> tuple[float, np.ndarray]:
            centers = start(draw)
            errors = center_errors(judges, centers, nearest_center(judges, centers, centers.mean(axis=0)))
            return float(errors.sum() if w is None else errors @ w[check]), centers

        if n_init == 1:
            return start(draw)
        # Each start has draws of its own, so that it does not matter which is done first. A start of few rows has no
        # work for two threads; a function of the user's may not be ready for them.
        seeds = draw.randint(np.iinfo(np.int32).max, size=n_init)
        tasks = [partial(judged, random_state_of(int(seed))) for seed in seeds]
        side_by_side = size <= _GRAIN and isinstance(self.init, str) and rows.on_host
        found = run_tasks(tasks) if side_by_side else [task() for task in tasks]
        return min(found, key=itemgetter(0))[1]

    def _start_rows(self, n: int) -> int:
        size = self.init_size
        if size is None:
            size = 3 * min(self.batch_size, n)
            size = 3 * self.n_clusters if size < self.n_clusters else size
        elif size < self.n_clusters:
            warnings.warn(
                f"init_size={size} should be larger than n_clusters={self.n_clusters}. Setting it to "
                "min(3*n_clusters, n_samples)",
                RuntimeWarning,
                stacklevel=4,
            )
            size = 3 * self.n_clusters
        return min(size, n)

    def _run(self, rows: Rows, w: Any, centers: np.ndarray, draw: np.random.RandomState, tol: float) -> None:
        n = rows.n_rows
        batch = min(self.batch_size, n)
        n_steps = (self.max_iter * n) // batch
        chances, seed = None if w is None else np.cumsum(w), int(draw.randint(np.iinfo(np.int32).max))
        progress = Progress(n, batch, tol, self.max_no_improvement)
        self.counts_, self.n_samples_seen_ = np.zeros(self.n_clusters), 0
        with fit_loop(self, n_steps, rows.X) as loop:
            for number_of, some in enumerate(_batches(rows, batch, n_steps, chances, seed), start=1):
                before = centers.copy() if tol > 0 else centers
                inertia = step(some, None, centers, self.counts_) / batch
                self._reassigned(some, centers, draw)
                shift = float(np.square(centers - before).sum()) if tol > 0 else 0.0
                if self.verbose:
                    tell("MiniBatchKMeans step %d/%d: mean batch inertia %.6g", number_of, n_steps, inertia)
                if loop.step(f"inertia {inertia:.3g}") or progress.done(inertia, shift):
                    break
        self.cluster_centers_ = centers.astype(rows.dtype)
        self.n_steps_ = number_of
        self.n_iter_ = int(np.ceil(number_of * batch / n))
        smooth = inertia if progress.smooth is None else progress.smooth
        self.inertia_ = float(smooth * (n if w is None else w.sum()))

    def _reassigned(self, X: Any, centers: np.ndarray, draw: np.random.RandomState) -> None:
        """Unused centres are reassigned to other rows: after every ten rows a cluster, or when one is empty."""
        every = 10 * self.n_clusters
        before = self.n_samples_seen_ // every
        self.n_samples_seen_ += X.shape[0]
        due = (self.counts_ == 0).any() or self.n_samples_seen_ // every > before
        if due and self.reassignment_ratio > 0:
            reassign(X, centers, self.counts_, self.reassignment_ratio, draw)

    def _label(self, rows: Rows) -> None:
        """Labels and inertia of all rows."""
        labels = self.labels_ = self._labels_of(rows.X)
        C = self.cluster_centers_.astype(np.float64)
        if not rows.on_host:
            self.inertia_ = float(rows.sum(inertia_sum, C, C.mean(axis=0))[0])
            return
        X, w = rows.X, rows.w

        def some(lo: int, hi: int) -> float:
            errors = center_errors(X[lo:hi], C, labels[lo:hi])
            return float(errors.sum() if w is None else errors @ w[lo:hi])

        self.inertia_ = float(np.sum(for_blocks(some, X.shape[0], grain=_GRAIN)))


def _batches(rows: Rows, batch: int, n_steps: int, chances: np.ndarray | None, seed: int) -> Iterator[Any]:
    """Random batches of rows, the same however many are read at once.

    A file is read once for as many batches as have all its rows, or as there is room for.
    """
    at_once = 1
    if not rows.on_host:
        free = max(_READ_BYTES, min(_MOST_BYTES, (free_bytes() or 0) // 16))
        room = free // (8 * batch * (rows.n_features + _INDEX_NUMBERS))
        at_once = max(_FEWEST_BATCHES, min(room, rows.n_rows // batch))
    for first in range(0, n_steps, at_once):
        last = min(first + at_once, n_steps)
        index = _drawn(uniforms(np.arange(first * batch, last * batch), seed), rows.n_rows, chances)
        if rows.on_host:
            yield _taken(rows, index)
        else:
            yield from rows.take(index).reshape(last - first, batch, -1)


def _taken(rows: Rows, index: np.ndarray) -> Any:
    """Some rows in memory; those of a sparse matrix stay sparse."""
    return rows.X[index] if rows.on_host else rows.take(index)


def _drawn(uniforms: np.ndarray, n: int, totals: np.ndarray | None) -> np.ndarray:
    """Rows for numbers in [0, 1), by the running totals of their weights; None where all weigh the same.

    >>> _drawn(np.array([0.0, 0.5, 0.9]), 2, None), _drawn(np.array([0.0, 0.5, 0.9]), 2, np.array([3.0, 4.0]))
    (array([0, 1, 1]), array([0, 0, 1]))
    """
    if totals is None:
        return np.minimum((uniforms * n).astype(np.int64), n - 1)
    return np.minimum(totals.searchsorted(uniforms * totals[-1], side="right"), n - 1)
