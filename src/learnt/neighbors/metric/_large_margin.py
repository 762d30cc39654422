"""Large-margin nearest neighbours."""

from __future__ import annotations

import sys
from typing import Any

import numpy as np

from learnt.distances import Search
from learnt.engine.classification.labels import encode_labels
from learnt.engine.estimator import Trial, Warm
from learnt.engine.params import ParameterError, check_number
from learnt.engine.progress import with_callbacks
from learnt.engine.schema import FEATURES, Schema, count, none, real
from learnt.engine.validation import check_fit
from learnt.neighbors.metric._kernels import large_margin
from learnt.neighbors.metric._linear import LinearMetric, overflow
from learnt.neighbors.metric._pairs import PairsObjective
from learnt.neighbors.metric._starts import check_continued, start_of

_DOUBLINGS, _HALVINGS = 60, 3  # of the start's factor


class LMNN(LinearMetric):
    """The linear map A that keeps rows of other classes a margin away (Weinberger and Saul, 2009).

    A = argmin Σᵢ Σ_{j target of i} ( r d_ij + (1 − r) Σ_{l: y_l ≠ y_i} max(0, margin + d_ij − d_il) ),
    d_ij = ‖Ax_i − Ax_j‖²

    The targets of a row are the `n_neighbors` nearest rows of its class in X as it comes, so that columns should have
    like scales. The first part pulls them near, the second pushes rows of other classes beyond them. The objective is
    convex in M = AᵀA, the matrix of a Mahalanobis distance; with fewer components than features it has several minima.
    Put it before a `KNeighborsClassifier`.

    Parameters
    ----------
    n_components : int or None, default=None
        Rows of A, and columns that `transform` returns; None for as many as features. Take 2 or 3 to plot classes, few
        to speed up the search for neighbours.
    n_neighbors : int, default=3
        Targets of a row; a class of fewer rows has as many as it can. Take the k of the classifier behind it.
    margin : float, default=1.0
        By how much a row of another class is to be farther away than a target, in squared distances. It sets the scale
        of A.
    regularization : float, default=0.5
        r, the weight of pulling against pushing, from 0 to less than 1.
    init : {"auto", "pca", "lda", "identity", "random"} or array of shape (n_components, n_features), default="auto"
        Where to begin, up to the factor that suits the margin best:

        - "pca": principal components.
        - "lda": linear discriminants, at most one fewer than classes.
        - "identity": the first columns as they are.
        - "random": numbers of the standard normal distribution.
        - "auto": "lda" where the classes give enough discriminants, else "pca", else "identity".
        - an array: A itself.
    warm_start : bool, default=False
        Whether to begin from `components_` of the last fit.
    max_iter : int, default=100
        Most iterations of L-BFGS. With `verbose` above 0 a ConvergenceWarning says where they were not enough.
    tol : float, default=1e-5
        Stop when the objective falls by less than this share of itself: convergence.
    callback : callable or None, default=None
        Called after each iteration with A, flattened, and the number of the iteration.
    verbose : int, default=0
        Above 0, iterations are logged to the logger named "learnt".
    random_state : int, RandomState, Generator or None, default=None
        Where random numbers come from; used by `init="random"` only.

    Attributes
    ----------
    components_ : ndarray of shape (n_components, n_features)
        The linear map A.
    n_iter_ : int
        Iterations, the start counted as one.

    See Also
    --------
    NeighborhoodComponentsAnalysis : Probabilities instead of a margin; not convex.
    KNeighborsClassifier : The classifier that it prepares the columns for.
    learnt.discriminant_analysis.LinearDiscriminantAnalysis : Discriminants in one step, for classes of one cloud each.

    Notes
    -----
    An iteration takes all pairs of rows, n²·d time. Distances are seen block by block, so that memory grows with the
    rows and not with their pairs.

    References
    ----------
    .. [1] K. Q. Weinberger, L. K. Saul, "Distance Metric Learning for Large Margin Nearest Neighbor Classification",
       Journal of Machine Learning Research 10, 2009.

    Examples
    --------
    >>> rng = np.random.default_rng(0)
    >>> X, y = rng.normal(size=(60, 3)), np.arange(60) % 2
    >>> X[:, 2] += 3 * y
    >>> model = LMNN().fit(X, y)
    >>> int(model.get_mahalanobis_matrix().diagonal().argmax())
    2
    """

    __learnt_schema__ = Schema(
        params={"callback": none},
        state={**FEATURES, "components_": real(None, "d"), "n_iter_": count(1)},
    )
    __learnt_trial__ = Trial(
        quick={"max_iter": 5}, warmup=(Warm("classes", {"max_iter": 2}),), most_rows=4000, target="classes"
    )

    _method = "LMNN"

    def __init__(
        self,
        n_components: int | None = None,
        *,
        n_neighbors: int = 3,
        margin: float = 1.0,
        regularization: float = 0.5,
        init: Any = "auto",
        warm_start: bool = False,
        max_iter: int = 100,
        tol: float = 1e-5,
        callback: Any = None,
        verbose: int = 0,
        random_state: Any = None,
    ) -> None:
        self.n_components = n_components
        self.n_neighbors = n_neighbors
        self.margin = margin
        self.regularization = regularization
        self.init = init
        self.warm_start = warm_start
        self.max_iter = max_iter
        self.tol = tol
        self.callback = callback
        self.verbose = verbose
        self.random_state = random_state

    @with_callbacks
    def fit(self, X: Any, y: Any) -> LMNN:
        """Learn A; y has the classes of the rows.

        Parameters
        ----------
        y : array-like of shape (n_samples,)
            Class labels of the rows: numbers, text or booleans.
        """
        self._check_descent()
        check_number(self, "n_neighbors", 1, integer=True)
        check_number(self, "margin", 0, sys.float_info.max, open_low=True)
        check_number(self, "regularization", 0, 1)
        if self.regularization == 1:
            raise ParameterError("regularization=1 pulls rows together and pushes none, so that A is 0; take less.")
        check_continued(self, X)
        X, y, _ = check_fit(self, X, y, target="label", min_rows=2)
        codes = encode_labels(y)[1]
        sizes = np.bincount(codes)
        if sizes.size < 2:
            raise ValueError("LMNN pushes classes apart, and y has 1 class; give rows of at least 2.")
        if sizes.max() < 2:
            raise ValueError("LMNN pulls rows of a class together, and no two rows have the same; give classes as y.")
        with np.errstate(over="ignore"):
            if not np.isfinite(np.sum(np.ptp(X, axis=0, keepdims=True) ** 2, dtype=np.float64)):
                raise overflow("LMNN")
        going_on = self.warm_start and "components_" in vars(self)
        start = start_of(self, X, codes)
        order = np.argsort(codes, kind="stable")  # as the objective numbers the rows
        targets = targets_of(X[order], sizes, int(self.n_neighbors))
        objective = MarginObjective(X, codes, targets, float(self.margin), float(self.regularization))
        self._descend(objective, start if going_on else objective.scaled(start), X, y)
        return self


class MarginObjective(PairsObjective):
    """Pulling and pushing as a function of A."""

    def __init__(self, X: np.ndarray, codes: np.ndarray, targets: np.ndarray, margin: float, pull: float) -> None:
        super().__init__(X, codes, large_margin, targets, margin, pull)
        self._margin = margin

    def stationarity(self, A: np.ndarray, slope: np.ndarray) -> float:
        """The largest entry of the slope times that of A: the same in any unit of X."""
        return float(np.abs(slope).max() * np.abs(A).max())

    def scaled(self, A: np.ndarray) -> np.ndarray:
        """A times about the best factor, so that units of X do not matter; A where 0 is the best.

        The objective is convex in the square of the factor t. Far above the best the way down leads to A = 0, where the
        slope is 0 as well.
        """

        def rises(t: float) -> bool:
            return bool(np.sum(self.smooth(t * A)[1] * A) >= 0)

        with np.errstate(over="ignore"):
            widest = float(np.square(self.rows @ A.T).sum(axis=1).max())
        if not 0 < widest < np.inf:
            return A
        low = np.sqrt(self._margin / (8 * widest))  # all distances are within the margin, and all rows pushed
        if rises(low):
            return A
        high = 2 * low
        for _ in range(_DOUBLINGS):
            if rises(high):
                break
            low, high = high, 2 * high
        for _ in range(_HALVINGS):
            middle = np.sqrt(low * high)
            low, high = (low, middle) if rises(middle) else (middle, high)
        return low * A


def targets_of(X: np.ndarray, sizes: np.ndarray, k: int) -> np.ndarray:
    """The k nearest others of each row's class, −1 where it has fewer; rows are in order of classes of these sizes.

    >>> targets_of(np.array([[0.0], [3.0], [4.0], [9.0]]), np.array([3, 1]), 2)
    array([[ 1,  2],
           [ 2,  0],
           [ 1,  0],
           [-1, -1]])
    """
    k = min(k, int(sizes.max()) - 1)
    targets = np.full((len(X), k), -1)
    ends = np.cumsum(sizes)
    for lo, hi in zip(ends - sizes, ends, strict=True):
        few = min(k, int(hi - lo) - 1)
        if few > 0:
            rows = np.ascontiguousarray(X[lo:hi])
            targets[lo:hi, :few] = Search.build(rows, algorithm="auto").nearest(None, few)[1] + lo
    return targets
