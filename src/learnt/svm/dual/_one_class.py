"""Which rows are unlike the others: the one-class support vector machine."""

from __future__ import annotations

from typing import Any

import numpy as np
from sklearn.utils.validation import check_is_fitted

from learnt.engine.estimator import Trial, Warm
from learnt.engine.matrices import dense
from learnt.engine.mixins import OutlierMixin
from learnt.engine.params import check_number
from learnt.engine.schema import Schema, real
from learnt.engine.threads import single_blas
from learnt.svm.dual._base import EXTRA, PARAMS, STATE, KernelMachine
from learnt.svm.dual._inputs import fit_rows
from learnt.svm.dual._kernel import machine_rule
from learnt.svm.dual._problems import enclose


class OneClassSVM(OutlierMixin, KernelMachine):
    """A surface around the rows that leaves about the share ν of them outside.

    Take it for novelty detection: fit it to rows that are usual, and it says of new rows whether they are like them.
    For outliers among the training rows themselves, `learnt.ensemble.IsolationForest` is usually more robust.

    Parameters
    ----------
    kernel : str, kernel object or callable, default="rbf"
        What measures how alike two rows are. "linear" is x·z; "poly" is (γ x·z + coef0)^degree; "rbf" is exp(−γ‖x −
        z‖²), the usual first choice; "sigmoid" is tanh(γ x·z + coef0); with "precomputed" X is the kernel matrix
        itself. Or another name or an object of `learnt.kernels`, such as `2 * RBF(1.0) + Linear()`; or a function of
        two tables, or of two lists of texts or sets, that returns the matrix of their kernels.
    degree : float, default=3
        Degree of the "poly" kernel; other kernels do not use it. Higher degrees bend more, at the risk of overfitting.
    gamma : {"scale", "auto"} or float, default="scale"
        γ of the "rbf", "poly", "sigmoid" and other named kernels: how local the kernel is. Larger values draw the
        surface tighter around single rows and overfit. "scale" is 1 / (n_features · variance of X), "auto" is 1 /
        n_features.
    coef0 : float, default=0.0
        The constant added inside the "poly" and "sigmoid" kernels; other kernels do not use it.
    tol : float, default=1e-3
        Convergence tolerance: the largest violation of the optimality conditions that is left. Lower it for a more
        exact solution, raise it to stop sooner.
    nu : float, default=0.5
        A number in (0, 1]: at most this share of the training rows lies outside, at least this share are support
        vectors. Set it to the share of outliers that you expect.
    shrinking : bool, default=True
        Kept for scikit-learn's signature: working sets shrink by themselves.
    cache_size : float, default=200
        Megabytes for rows of the kernel matrix. Raise it for large tables if there is memory: it saves time.
    verbose : bool, default=False
        Kept for scikit-learn's signature: nothing is printed.
    max_iter : int, default=-1
        The most steps; −1 is no limit. A fit that ends there has not converged and warns, with the gap that is left.

    Attributes
    ----------
    support_ : ndarray of shape (n_support,)
        Indices of the support vectors among the training rows.
    support_vectors_ : {ndarray, sparse matrix} of shape (n_support, n_features)
        The support vectors themselves; empty with kernel="precomputed".
    n_support_ : ndarray of shape (1,)
        How many support vectors there are.
    dual_coef_ : {ndarray, sparse matrix} of shape (1, n_support)
        The weight of each support vector.
    intercept_ : ndarray of shape (1,)
        The constant of the decision function, −offset_.
    offset_ : ndarray of shape (1,)
        The score on the surface: decision_function = score_samples − offset_.
    coef_ : {ndarray, sparse matrix} of shape (1, n_features)
        Weights of the columns; with kernel="linear" only. Read-only.
    n_iter_ : int
        Steps of two variables each.
    fit_status_ : int
        0 where the fit converged, 1 where it ended early, with a warning.
    shape_fit_ : tuple of (n_samples, n_features)
        The shape of the training table.
    kkt_residual_ : float
        The largest violation of the optimality conditions that is left.
    dual_gap_ : float
        NaN: a duality gap is not computed where ν is given.

    See Also
    --------
    learnt.linear_model.SGDOneClassSVM : The linear kernel, in time linear in the rows.
    learnt.ensemble.IsolationForest : Outliers by random trees, for many rows.
    learnt.neighbors.LocalOutlierFactor : Outliers by the density around their neighbours.

    Notes
    -----
    The dual problem is solved on working sets, two variables at a time (sequential minimal optimisation), in double
    precision. Time grows between n² and n³ in the rows, so that some ten thousand rows are the usual limit. Bring
    columns to like scale first (`learnt.preprocessing.StandardScaler`). The result does not depend on the number of
    threads. X may be a NumPy array, a data frame of numbers, a SciPy sparse matrix, or a list of texts or sets where
    `kernel` is a function of those.

    References
    ----------
    .. [1] B. Schölkopf, J. C. Platt, J. Shawe-Taylor, A. J. Smola, R. C. Williamson, "Estimating the support of a
       high-dimensional distribution", Neural Computation, 2001.

    Examples
    --------
    >>> import numpy as np
    >>> X = np.random.default_rng(0).normal(size=(100, 2))
    >>> model = OneClassSVM(gamma=0.1, nu=0.1).fit(X)
    >>> model.predict([[0.0, 0.0], [9.0, 9.0]])
    array([ 1, -1])
    """

    _balanced = False
    __learnt_schema__ = Schema(params=PARAMS, state={**STATE, "offset_": real("p")}, extra=EXTRA, rule=machine_rule)
    # Rows on the surface are on its one side or the other by rounding, so that `predict` is not compared.
    __learnt_trial__ = Trial(
        quick={"tol": 1e-10, "gamma": 1.0},
        warmup=(Warm("none"),),
        weight_repeats=False,
        weight_unit_free=False,
        most_rows=600,
    )

    def __init__(
        self,
        *,
        kernel: Any = "rbf",
        degree: float = 3,
        gamma: float | str = "scale",
        coef0: float = 0.0,
        tol: float = 1e-3,
        nu: float = 0.5,
        shrinking: bool = True,
        cache_size: float = 200,
        verbose: bool = False,
        max_iter: int = -1,
    ) -> None:
        self.kernel = kernel
        self.degree = degree
        self.gamma = gamma
        self.coef0 = coef0
        self.tol = tol
        self.nu = nu
        self.shrinking = shrinking
        self.cache_size = cache_size
        self.verbose = verbose
        self.max_iter = max_iter

    def fit(self, X: Any, y: Any = None, sample_weight: Any = None) -> OneClassSVM:
        """Fit the surface; weights count rows, and one of 0 or less leaves its row out.

        Parameters
        ----------
        X : {array-like, sparse matrix} of shape (n_samples, n_features)
            The rows to learn from; with kernel="precomputed" the kernel between all of them, of shape (n_samples,
            n_samples).
        """
        self._check_parameters()
        check_number(self, "nu", 0, 1, open_low=True)
        rows = fit_rows(self, X, None, sample_weight, None)
        self._prepare(rows)
        with single_blas():
            machine = enclose(self._rows(rows.X, 1.0), rows.w, float(self.nu), self._effort())
        self._keep_one(rows, machine)
        self.offset_ = -self.intercept_
        self._record(machine)
        return self

    def decision_function(self, X: Any) -> np.ndarray:
        """Positive inside the surface, negative outside.

        Returns
        -------
        scores : ndarray of shape (n_samples,)
            score_samples − offset_ of each row; the lower, the more unusual.
        """
        return self.score_samples(X) - self.offset_[0]

    def score_samples(self, X: Any) -> np.ndarray:
        """The sum of kernels with the support vectors: the larger, the more like the others."""
        check_is_fitted(self)
        return self._scores(X, dense(self.dual_coef_).T)[:, 0]

    def predict(self, X: Any) -> np.ndarray:
        """1 inside the surface, −1 outside."""
        return np.where(self.decision_function(X) >= 0, 1, -1)
