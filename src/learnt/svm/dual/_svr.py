"""Support vector regression with kernels."""

from __future__ import annotations

import math
from typing import Any, Self

import numpy as np
from sklearn.utils.validation import check_is_fitted

from learnt.engine.estimator import Trial, Warm
from learnt.engine.matrices import dense
from learnt.engine.mixins import RegressorMixin
from learnt.engine.params import check_number
from learnt.engine.schema import Schema
from learnt.engine.threads import single_blas
from learnt.explanation import Explained
from learnt.svm.dual._base import EXTRA, NO_MISS, PARAMS, STATE, KernelMachine, solve_or_refuse
from learnt.svm.dual._inputs import fit_rows
from learnt.svm.dual._kernel import TrainingKernel, machine_rule
from learnt.svm.dual._problems import Machine, as_given, finite_C, kernel_rows, regress, regress_nu

_SCHEMA = Schema(params=PARAMS, state=STATE, extra=EXTRA, rule=machine_rule)
_TRIAL = Trial(quick={"tol": 1e-8, "gamma": 0.1}, warmup=(Warm("amount"),), weight_unit_free=False, most_rows=600)


class _Regression(RegressorMixin, KernelMachine, Explained):
    """Fit and predict, whatever the loss."""

    C: float

    def fit(self, X: Any, y: Any, sample_weight: Any = None) -> Self:
        """Fit to a table or, with kernel="precomputed", to the kernel between all training rows.

        Weights multiply C, and one of 0 or less leaves its row out.

        Parameters
        ----------
        X : {array-like, sparse matrix} of shape (n_samples, n_features)
            The rows to learn from; with kernel="precomputed" the kernel between all of them, of shape (n_samples,
            n_samples).
        """
        self._check_parameters()
        rows = fit_rows(self, X, y, sample_weight, "number")
        training = TrainingKernel(self._prepare(rows), rows.X)
        upper = finite_C(self.C, training) * rows.w
        y = rows.y
        with single_blas():
            machine = self._solve(kernel_rows(training, float(upper.max()), self._effort()), y, upper)
        self._keep_one(rows, as_given(machine, training))
        if training.along.any() and training.X.dtype == np.float64:
            # What large sums of far rows round away is in the predictions too: the same sums, and it cancels.
            near = float(machine.coef @ (training.X @ training.X[0])) + machine.intercept
            scores = training.kernel.scores(rows.X[:1], self.support_vectors_, dense(self.dual_coef_).T)
            self.intercept_ = near - scores[0]
        self._record(machine)
        return self

    def _solve(self, rows: Any, y: np.ndarray, upper: np.ndarray) -> Machine:
        raise NotImplementedError

    def predict(self, X: Any) -> np.ndarray:
        """The regression of each row.

        Parameters
        ----------
        X : {array-like, sparse matrix} of shape (n_samples, n_features)
            Rows to predict; with kernel="precomputed" their kernels with all training rows, of shape
            (n_samples, n_samples_fit).

        Returns
        -------
        y_pred : ndarray of shape (n_samples,)
            The predicted number of each row.
        """
        check_is_fitted(self)
        return self._scores(X, dense(self.dual_coef_).T)[:, 0] + self.intercept_[0]


class SVR(_Regression):
    """Regression that misses of up to ε cost nothing:  min ½‖w‖² + C Σ max(0, |yᵢ − w·φ(xᵢ) − b| − ε).

    Take it for curved functions of small and middling tables, also with outliers in y: a miss costs in proportion to
    its size, not to its square. Rows within ε of the function do not shape it and are no support vectors.

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
        γ of the "rbf", "poly", "sigmoid" and other named kernels: how local the kernel is. Larger values follow single
        rows and overfit, smaller ones underfit; tune it together with C. "scale" is 1 / (n_features · variance of X),
        "auto" is 1 / n_features.
    coef0 : float, default=0.0
        The constant added inside the "poly" and "sigmoid" kernels; other kernels do not use it.
    tol : float, default=1e-3
        Convergence tolerance: the largest violation of the optimality conditions that is left. Lower it for a more
        exact solution, raise it to stop sooner.
    C : float, default=1.0
        Inverse of the regularisation strength, greater than 0: the weight of the misses against the flatness of the
        function. Smaller values mean a flatter function and less overfitting; infinity asks for no miss beyond epsilon.
        It depends on the scale of y: bring y to a spread of about 1, or raise C with it.
    epsilon : float, default=0.1
        Misses up to this size cost nothing, in the unit of y. Larger values leave fewer support vectors and a coarser
        function; about the size of the noise is a good choice.
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
        The weight of each support vector in the function.
    intercept_ : ndarray of shape (1,)
        b, the constant of the function.
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
        How far the objective may be above its minimum, relatively.

    See Also
    --------
    NuSVR : Finds ε from a share of misses.
    LinearSVR : The linear kernel alone, for many rows or columns.
    learnt.kernel_ridge.KernelRidge : The squared error with the same kernels, in closed form.
    learnt.gaussian_process.GaussianProcessRegressor : Kernels that are learnt, and error bars.

    Notes
    -----
    The dual problem is solved on working sets, two variables at a time (sequential minimal optimisation), in double
    precision. Time grows between n² and n³ in the rows, so that some ten thousand rows are the usual limit. Bring
    columns to like scale first (`learnt.preprocessing.StandardScaler`). The result does not depend on the number of
    threads. X may be a NumPy array, a data frame of numbers, a SciPy sparse matrix, or a list of texts or sets where
    `kernel` is a function of those.

    References
    ----------
    .. [1] A. J. Smola, B. Schölkopf, "A tutorial on support vector regression", Statistics and Computing, 2004.
    .. [2] R.-E. Fan, P.-H. Chen, C.-J. Lin, "Working set selection using second order information for training support
       vector machines", Journal of Machine Learning Research, 2005.

    Examples
    --------
    >>> import numpy as np
    >>> x = np.linspace(0, 6, 60)[:, None]
    >>> model = SVR(C=10.0).fit(x, np.sin(x[:, 0]))
    >>> bool(abs(model.predict([[1.5]])[0] - np.sin(1.5)) < 0.15)
    True
    >>> round(model.score(x, np.sin(x[:, 0])), 1)
    1.0
    """

    __learnt_schema__ = _SCHEMA
    __learnt_trial__ = _TRIAL

    def __init__(
        self,
        *,
        kernel: Any = "rbf",
        degree: float = 3,
        gamma: float | str = "scale",
        coef0: float = 0.0,
        tol: float = 1e-3,
        C: float = 1.0,
        epsilon: float = 0.1,
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
        self.C = C
        self.epsilon = epsilon
        self.shrinking = shrinking
        self.cache_size = cache_size
        self.verbose = verbose
        self.max_iter = max_iter

    def _check_parameters(self) -> None:
        super()._check_parameters()
        check_number(self, "C", 0, open_low=True)
        check_number(self, "epsilon", 0)

    def _solve(self, rows: Any, y: np.ndarray, upper: np.ndarray) -> Machine:
        # The function rises by the range of y over a thousandth of the data's size at most.
        max_norm = float(upper.max()) * max(np.ptp(y), 1.0) ** 2 if math.isinf(self.C) else math.inf
        return solve_or_refuse(
            self.C,
            type(self).__name__,
            NO_MISS,
            upper,
            lambda: regress(rows, y, upper, float(self.epsilon), self._effort(), max_norm),
        )


class NuSVR(_Regression):
    """Regression whose ε is found such that about the share ν of the rows misses by more.

    Take it where the noise is unknown, so that no ε can be named.

    Parameters
    ----------
    nu : float, default=0.5
        A number in (0, 1]: at most this share of the rows misses by more than ε, at least this share are support
        vectors. Smaller values mean a larger ε, fewer support vectors and a coarser function.
    C : float, default=1.0
        Inverse of the regularisation strength, greater than 0: the weight of the misses against the flatness of the
        function. Smaller values mean a flatter function and less overfitting. It depends on the scale of y: bring y to
        a spread of about 1, or raise C with it.
    kernel : str, kernel object or callable, default="rbf"
        What measures how alike two rows are. "linear" is x·z; "poly" is (γ x·z + coef0)^degree; "rbf" is exp(−γ‖x −
        z‖²), the usual first choice; "sigmoid" is tanh(γ x·z + coef0); with "precomputed" X is the kernel matrix
        itself. Or another name or an object of `learnt.kernels`, such as `2 * RBF(1.0) + Linear()`; or a function of
        two tables, or of two lists of texts or sets, that returns the matrix of their kernels.
    degree : float, default=3
        Degree of the "poly" kernel; other kernels do not use it. Higher degrees bend more, at the risk of overfitting.
    gamma : {"scale", "auto"} or float, default="scale"
        γ of the "rbf", "poly", "sigmoid" and other named kernels: how local the kernel is. Larger values follow single
        rows and overfit, smaller ones underfit; tune it together with C. "scale" is 1 / (n_features · variance of X),
        "auto" is 1 / n_features.
    coef0 : float, default=0.0
        The constant added inside the "poly" and "sigmoid" kernels; other kernels do not use it.
    shrinking : bool, default=True
        Kept for scikit-learn's signature: working sets shrink by themselves.
    tol : float, default=1e-3
        Convergence tolerance: the largest violation of the optimality conditions that is left. Lower it for a more
        exact solution, raise it to stop sooner.
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
        The weight of each support vector in the function.
    intercept_ : ndarray of shape (1,)
        b, the constant of the function.
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
    SVR : The same with a given ε.
    LinearSVR : The linear kernel alone, for many rows or columns.
    NuSVC : The same idea for classes.

    Notes
    -----
    The dual problem is solved on working sets, two variables at a time (sequential minimal optimisation), in double
    precision. Time grows between n² and n³ in the rows, so that some ten thousand rows are the usual limit. Bring
    columns to like scale first (`learnt.preprocessing.StandardScaler`). The result does not depend on the number of
    threads. X may be a NumPy array, a data frame of numbers, a SciPy sparse matrix, or a list of texts or sets where
    `kernel` is a function of those.

    References
    ----------
    .. [1] B. Schölkopf, A. J. Smola, R. C. Williamson, P. L. Bartlett, "New support vector algorithms", Neural
       Computation, 2000.
    .. [2] R.-E. Fan, P.-H. Chen, C.-J. Lin, "Working set selection using second order information for training support
       vector machines", Journal of Machine Learning Research, 2005.

    Examples
    --------
    >>> import numpy as np
    >>> x = np.linspace(0, 6, 60)[:, None]
    >>> model = NuSVR(C=10.0).fit(x, np.sin(x[:, 0]))
    >>> bool(abs(model.predict([[1.5]])[0] - np.sin(1.5)) < 0.15)
    True
    """

    __learnt_schema__ = _SCHEMA
    __learnt_trial__ = _TRIAL

    def __init__(
        self,
        *,
        nu: float = 0.5,
        C: float = 1.0,
        kernel: Any = "rbf",
        degree: float = 3,
        gamma: float | str = "scale",
        coef0: float = 0.0,
        shrinking: bool = True,
        tol: float = 1e-3,
        cache_size: float = 200,
        verbose: bool = False,
        max_iter: int = -1,
    ) -> None:
        self.nu = nu
        self.C = C
        self.kernel = kernel
        self.degree = degree
        self.gamma = gamma
        self.coef0 = coef0
        self.shrinking = shrinking
        self.tol = tol
        self.cache_size = cache_size
        self.verbose = verbose
        self.max_iter = max_iter

    def _check_parameters(self) -> None:
        super()._check_parameters()
        check_number(self, "C", 0, np.finfo(float).max, open_low=True)
        check_number(self, "nu", 0, 1, open_low=True)

    def _solve(self, rows: Any, y: np.ndarray, upper: np.ndarray) -> Machine:
        return regress_nu(rows, y, upper, float(self.nu), self._effort())
