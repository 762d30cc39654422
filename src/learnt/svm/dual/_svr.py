"""Support vector regression with kernels."""

from __future__ import annotations

import math
from typing import Any

import numpy as np
from sklearn.base import RegressorMixin
from sklearn.utils.validation import check_is_fitted

from learnt.engine.estimator import Trial, Warm
from learnt.engine.matrices import dense
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

    def fit(self, X: Any, y: Any, sample_weight: Any = None) -> Any:
        """Fit to a table or, with kernel="precomputed", to the kernel between all training rows.

        Weights multiply C, and one of 0 or less leaves its row out.
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
        """The regression of each row."""
        check_is_fitted(self)
        return self._scores(X, dense(self.dual_coef_).T)[:, 0] + self.intercept_[0]


class SVR(_Regression):
    """Regression that misses of up to ε cost nothing:  min ½‖w‖² + C Σ max(0, |yᵢ − w·φ(xᵢ) − b| − ε).

    Parameters
    ----------
    kernel : {"linear", "poly", "rbf", "sigmoid", "precomputed"}, a kernel or function, default="rbf"
        k(x, z) = x·z; (γ x·z + coef0)^degree; exp(−γ‖x − z‖²); tanh(γ x·z + coef0); X is the kernel matrix; any other
        name or object of `learnt.kernels`; or a function of two tables, or of two lists of texts or sets, that returns
        the matrix of their kernels.
    degree : float, default=3
    gamma : {"scale", "auto"} or float, default="scale"
        "scale" is 1 / (n_features · variance of X), "auto" 1 / n_features.
    coef0 : float, default=0.0
    tol : float, default=1e-3
        The largest violation of the optimality conditions that is left.
    C : float, default=1.0
        The weight of the misses against the flatness of the function; inf asks for no miss beyond epsilon.
    epsilon : float, default=0.1
        Misses up to this size cost nothing.
    shrinking : bool, default=True
        Kept for scikit-learn's signature: working sets shrink by themselves.
    cache_size : float, default=200
        Megabytes for rows of the kernel matrix.
    verbose : bool, default=False
        Kept for scikit-learn's signature: nothing is printed.
    max_iter : int, default=-1
        The most steps; −1 is no limit. A fit that ends there warns, with the gap that is left.

    Attributes
    ----------
    support_, support_vectors_ : arrays
        Indices and rows of the support vectors.
    dual_coef_ : array of shape (1, n_support)
    intercept_ : array of shape (1,)
    coef_ : array of shape (1, n_features)
        With a linear kernel only.
    n_iter_ : int
        Steps of two variables each.
    kkt_residual_, dual_gap_ : float
        The largest violation left, and how far the objective may be above its minimum, relatively.

    Examples
    --------
    >>> import numpy as np
    >>> x = np.linspace(0, 6, 60)[:, None]
    >>> model = SVR(C=10.0).fit(x, np.sin(x[:, 0]))
    >>> bool(abs(model.predict([[1.5]])[0] - np.sin(1.5)) < 0.15)
    True
    """

    __learnt_schema__ = _SCHEMA
    __learnt_trial__ = _TRIAL

    def __init__(
        self,
        *,
        kernel="rbf",
        degree=3,
        gamma="scale",
        coef0=0.0,
        tol=1e-3,
        C=1.0,
        epsilon=0.1,
        shrinking=True,
        cache_size=200,
        verbose=False,
        max_iter=-1,
    ):
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

    Parameters
    ----------
    nu : float in (0, 1], default=0.5
        At most this share of the rows misses by more than ε, at least this share are support vectors.
    C, kernel, degree, gamma, coef0, shrinking, tol, cache_size, verbose, max_iter
        As for `SVR`.

    Attributes
    ----------
    support_, support_vectors_, dual_coef_, intercept_, coef_, n_iter_, kkt_residual_
        As for `SVR`.

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
        nu=0.5,
        C=1.0,
        kernel="rbf",
        degree=3,
        gamma="scale",
        coef0=0.0,
        shrinking=True,
        tol=1e-3,
        cache_size=200,
        verbose=False,
        max_iter=-1,
    ):
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
