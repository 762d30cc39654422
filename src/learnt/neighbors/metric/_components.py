"""Neighbourhood components analysis."""

from __future__ import annotations

from typing import Any

from learnt.engine.classification.labels import encode_labels
from learnt.engine.estimator import Trial, Warm
from learnt.engine.progress import with_callbacks
from learnt.engine.schema import FEATURES, Schema, count, none, real
from learnt.engine.validation import check_fit
from learnt.neighbors.metric._kernels import stochastic_neighbors
from learnt.neighbors.metric._linear import LinearMetric
from learnt.neighbors.metric._pairs import PairsObjective
from learnt.neighbors.metric._starts import check_continued, start_of


class NeighborhoodComponentsAnalysis(LinearMetric):
    """The linear map A for which near rows most often have the same class (Goldberger et al., 2004).

    A = argmax Σᵢ pᵢ,   pᵢ = Σ_{j: y_j = y_i} exp(−‖Ax_i − Ax_j‖²) / Σ_{j ≠ i} exp(−‖Ax_i − Ax_j‖²)

    pᵢ is the chance that a neighbour of row i, drawn with probability falling with the distance, has i's class: a
    smooth stand-in for the leave-one-out score of nearest neighbours. Put it before a `KNeighborsClassifier`, or take
    two components for a plot in which the classes lie apart. The objective has many maxima; which is found depends on
    `init`.

    Parameters
    ----------
    n_components : int or None, default=None
        Rows of A, and columns that `transform` returns; None for as many as features. Take 2 or 3 to plot classes, few
        to speed up the search for neighbours.
    init : {"auto", "pca", "lda", "identity", "random"} or array of shape (n_components, n_features), default="auto"
        Where to begin:

        - "pca": principal components.
        - "lda": linear discriminants, at most one fewer than classes.
        - "identity": the first columns as they are.
        - "random": numbers of the standard normal distribution.
        - "auto": "lda" where the classes give enough discriminants, else "pca", else "identity".
        - an array: A itself.
    warm_start : bool, default=False
        Whether to begin from `components_` of the last fit.
    max_iter : int, default=50
        Most iterations of L-BFGS. With `verbose` above 0 a ConvergenceWarning says where they were not enough.
    tol : float, default=1e-5
        Stop when the objective rises by less than this share of itself: convergence.
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
    LMNN : A margin between classes instead of probabilities; convex with all components.
    KNeighborsClassifier : The classifier that it prepares the columns for.
    learnt.discriminant_analysis.LinearDiscriminantAnalysis : Discriminants in one step, for classes of one cloud each.
    learnt.decomposition.PCA : Directions of most variance, without classes.

    Notes
    -----
    An iteration takes all pairs of rows, n²·d time. Distances are seen block by block, so that memory grows with the
    rows and not with their pairs. Scale the columns first.

    References
    ----------
    .. [1] J. Goldberger, S. Roweis, G. Hinton, R. Salakhutdinov, "Neighbourhood Components Analysis",
       Advances in Neural Information Processing Systems 17, 2004.

    Examples
    --------
    >>> import numpy as np
    >>> rng = np.random.default_rng(0)
    >>> X, y = rng.normal(size=(60, 3)), np.arange(60) % 2
    >>> X[:, 2] += 3 * y
    >>> model = NeighborhoodComponentsAnalysis(n_components=1).fit(X, y)
    >>> int(np.abs(model.components_[0]).argmax())
    2
    """

    __learnt_schema__ = Schema(
        params={"callback": none},
        state={**FEATURES, "components_": real(None, "d"), "n_iter_": count(1)},
    )
    __learnt_trial__ = Trial(
        quick={"max_iter": 5}, warmup=(Warm("classes", {"max_iter": 2}),), most_rows=4000, target="classes"
    )

    _method, _sign = "NCA", -1.0

    def __init__(
        self,
        n_components: int | None = None,
        *,
        init: Any = "auto",
        warm_start: bool = False,
        max_iter: int = 50,
        tol: float = 1e-5,
        callback: Any = None,
        verbose: int = 0,
        random_state: Any = None,
    ) -> None:
        self.n_components = n_components
        self.init = init
        self.warm_start = warm_start
        self.max_iter = max_iter
        self.tol = tol
        self.callback = callback
        self.verbose = verbose
        self.random_state = random_state

    @with_callbacks
    def fit(self, X: Any, y: Any) -> NeighborhoodComponentsAnalysis:
        """Learn A; y has the classes of the rows.

        Parameters
        ----------
        y : array-like of shape (n_samples,)
            Class labels of the rows: numbers, text or booleans.
        """
        self._check_descent()
        check_continued(self, X)
        X, y, _ = check_fit(self, X, y, target="label", min_rows=2)
        codes = encode_labels(y)[1]
        objective = PairsObjective(X, codes, stochastic_neighbors)
        self._descend(objective, start_of(self, X, codes), X, y)
        return self
