"""Kernel ridge regression."""

from __future__ import annotations

from typing import Any

import numpy as np

from learnt.engine.arrays import namespace, to_device_of, to_numpy
from learnt.engine.estimator import Estimator, Takes, Trial
from learnt.engine.matrices import cast, dense, join, on_host, take_rows
from learnt.engine.mixins import MultiOutputMixin
from learnt.engine.params import ParameterError, check_number
from learnt.engine.rows.blocks import widen
from learnt.engine.schema import FEATURES, Schema, anyof, choice, instance, none, number, real, table
from learnt.engine.scoring import RowsRegressor
from learnt.engine.threads import single_blas
from learnt.engine.validation import check_fit, check_predict
from learnt.engine.weights import present_rows, rows_given
from learnt.explanation import Explained
from learnt.kernels import (
    KERNEL_NAMES,
    check_kernel,
    gram,
    gram_times,
    kernel_of,
    kernel_rule,
    lower_gram,
    require_room,
    solve_dual,
)

_SINGLE = float(np.finfo(np.float32).eps)
_SMALL = 0.01  # share of the penalty that rounding of the kernel matrix may reach


class KernelRidge(MultiOutputMixin, RowsRegressor, Estimator, Explained):
    """Ridge regression in the space of a kernel:  f(x) = Σᵢ cᵢ k(xᵢ, x)  with  c = (K + αI)⁻¹y.

    The least of Σ w(y − f)² + α‖f‖². With the linear kernel this is `Ridge` without an intercept; other kernels make it
    a nonlinear regression with a solution in closed form. Take it for up to some ten thousand rows where the function
    is smooth and no uncertainties are needed. There is no intercept: centre the targets first if their mean is far from
    0.

    Parameters
    ----------
    alpha : float or array-like of shape (n_targets,), default=1
        Regularisation strength, at least 0: larger values mean more shrinkage, a smoother function and less
        overfitting. An array gives each target its own. Try powers of 10 in a `learnt.model_selection.GridSearchCV`,
        together with `gamma`.
    kernel : str, kernel object or callable, default="linear"
        What measures how alike two rows are. A name: "linear", "poly" or "polynomial", "rbf", "laplacian", "sigmoid",
        "cosine", "chi2", "additive_chi2", or "precomputed", where X is the kernel matrix itself; a kernel of
        `learnt.kernels` or of scikit-learn; or a function of two rows that returns a number. "rbf" is the usual first
        choice for nonlinear functions.
    gamma : float or None, default=None
        γ of the "rbf", "laplacian", "poly", "sigmoid" and "chi2" kernels. For "rbf" it is the inverse width squared:
        raise it against underfitting, lower it against overfitting. None means 1 / n_features (1 for "chi2").
    degree : float, default=3
        Degree of the "poly" kernel; other kernels do not use it.
    coef0 : float, default=1
        The constant added inside the "poly" and "sigmoid" kernels; other kernels do not use it.
    kernel_params : dict or None, default=None
        Keyword arguments passed to `kernel` where it is a function.

    Attributes
    ----------
    dual_coef_ : ndarray of shape (n_samples,) or (n_samples, n_targets)
        c, the weights of the training rows in the prediction.
    X_fit_ : {ndarray, sparse matrix} of shape (n_samples, n_features)
        The training rows, which predictions need; with kernel="precomputed" the kernel matrix that was given.

    See Also
    --------
    learnt.linear_model.Ridge : The same penalty on a linear function, for many rows.
    learnt.gaussian_process.GaussianProcessRegressor : The same mean, with uncertainties and learnt kernel parameters.
    learnt.svm.SVR : Sparse in the rows and robust to outliers, through another loss.
    learnt.kernel_approximation.Nystroem : Features for `Ridge` that come near this model on many rows.

    Notes
    -----
    One Cholesky factor of the n × n kernel matrix: time in n³/3 + n²d, memory 8n² bytes; several targets with
    one alpha share the factor. A prediction computes the kernel with all n training rows. A weight of 2 counts a row
    as two.

    References
    ----------
    .. [1] C. Saunders, A. Gammerman, V. Vovk, "Ridge regression learning algorithm in dual variables", ICML, 1998.
    .. [2] K. P. Murphy, "Machine Learning: A Probabilistic Perspective", chapter 14.4.3, MIT Press, 2012.

    Examples
    --------
    XOR is no linear function of two features, but one of their products:

    >>> X, y = [[0, 0], [0, 1], [1, 0], [1, 1]], [0, 1, 1, 0]
    >>> KernelRidge(1e-6, kernel="poly", degree=2, gamma=1.0).fit(X, y).predict(X).round(3)
    array([0., 1., 1., 0.])
    """

    __learnt_schema__ = Schema(
        params={
            "kernel": anyof(choice(*KERNEL_NAMES, "precomputed"), instance(object, "a kernel")),
            "gamma": anyof(none, number(0)),
            "degree": number(0),
            "coef0": number(),
        },
        state={**FEATURES, "X_fit_": table("n", "d"), "dual_coef_": anyof(real("n"), real("n", None))},
        rule=kernel_rule,
    )
    __learnt_takes__ = Takes(sparse=True, tensors=True)
    __learnt_trial__ = Trial(weight_unit_free=False, most_rows=600)

    def __init__(
        self,
        alpha: Any = 1,
        *,
        kernel: Any = "linear",
        gamma: float | None = None,
        degree: float = 3,
        coef0: float = 1,
        kernel_params: dict[str, Any] | None = None,
    ) -> None:
        self.alpha = alpha
        self.kernel = kernel
        self.gamma = gamma
        self.degree = degree
        self.coef0 = coef0
        self.kernel_params = kernel_params

    def fit(self, X: Any, y: Any, sample_weight: Any = None) -> KernelRidge:
        """Solve for the weights of the rows.

        Parameters
        ----------
        X : {array-like, sparse matrix} of shape (n_samples, n_features)
            The rows to learn from; with kernel="precomputed" the kernel matrix, of shape (n_samples, n_samples).
        y : array-like of shape (n_samples,) or (n_samples, n_targets)
            The numbers to predict.
        """
        check_kernel(self, "precomputed")
        check_number(self, "gamma", 0, also=(None,))
        check_number(self, "degree", 0)
        check_number(self, "coef0")
        places = present_rows(sample_weight, X) if self.kernel == "precomputed" else None
        X, y, w = check_fit(self, X, y, sample_weight, target="numbers")
        full = X
        if places is not None:
            full = _in_their_places(dense(X), places, rows_given(sample_weight))
            X = take_rows(dense(X).T, places).T if full.shape[0] == full.shape[1] else full  # which is refused
        n = X.shape[0]
        Y = widen(y[:, None] if y.ndim == 1 else y)
        alpha = self._penalties(Y.shape[1])
        root = None if w is None else namespace(widen(w)).sqrt(widen(w))
        if on_host(X):
            require_room("KernelRidge", n, n)
        else:
            X = self._precise(X, alpha)
        dual = solve_dual(self._training_matrix(X), Y, alpha, root)
        if places is not None:
            dual = _in_their_places(dual, places, full.shape[0])
        self.dual_coef_ = dual[:, 0] if y.ndim == 1 else dual
        self.X_fit_ = full
        return self

    def _penalties(self, n_targets: int) -> np.ndarray:
        alpha = to_numpy(self.alpha)
        if alpha.dtype.kind not in "iuf" or alpha.ndim > 1 or not (np.isfinite(alpha).all() and (alpha >= 0).all()):
            raise ParameterError(
                "The 'alpha' parameter of KernelRidge must be a finite number of at least 0, or one for each target. "
                f"Got {self.alpha!r} instead."
            )
        if alpha.size not in (1, n_targets):
            raise ValueError(
                f"Number of targets and number of penalties do not correspond: {alpha.size} != {n_targets}; give alpha "
                "as one number, or one for each target."
            )
        return alpha.astype(np.float64)

    def _precise(self, X: Any, alpha: np.ndarray) -> Any:
        """Rows on a device in float64, where rounding a kernel matrix in float32 is not small beside the penalty."""
        if self.kernel == "precomputed":
            return X
        size = float(namespace(X).sum(widen(kernel_of(self, X.shape[1]).diag(X))))
        return X if size * _SINGLE <= _SMALL * alpha.min() else widen(X)

    def _training_matrix(self, X: Any) -> Any:
        if self.kernel == "precomputed":
            if X.shape[0] != X.shape[1]:
                raise ValueError(
                    f"Precomputed metric requires shape (n_queries, n_indexed): a kernel matrix is square in fit, this "
                    f"one has shape {tuple(X.shape)}."
                )
            if not on_host(X):
                return lambda: namespace(X).asarray(X, copy=True)
            return lambda: widen(dense(X)).copy()
        kernel = kernel_of(self, X.shape[1])
        if getattr(kernel, "in_blocks", False) and on_host(X):
            wide = widen(X)
            return lambda: lower_gram(kernel, wide)
        return lambda: gram(kernel, X)

    def predict(self, X: Any) -> Any:
        """Σᵢ cᵢ k(xᵢ, x) of every row; of a precomputed kernel, X is the matrix k(x, xᵢ).

        Parameters
        ----------
        X : {array-like, sparse matrix} of shape (n_samples, n_features)
            Rows to predict; with kernel="precomputed" their kernels with the training rows, of shape
            (n_samples, n_samples_fit).
        """
        X = check_predict(self, X)
        Z = widen(X) if str(self.dual_coef_.dtype).endswith("float64") else X  # as it was solved
        dual = to_device_of(self.dual_coef_, Z)
        if self.kernel == "precomputed":
            with single_blas():
                return X @ to_device_of(dual, X)
        found = gram_times(kernel_of(self, X.shape[1]), Z, to_device_of(self.X_fit_, Z), dual)
        return found if on_host(X) else cast(found, X.dtype)

    def __sklearn_tags__(self) -> Any:
        tags = super().__sklearn_tags__()
        tags.input_tags.pairwise = isinstance(self.kernel, str) and self.kernel == "precomputed"
        return tags


def _in_their_places(values: Any, places: np.ndarray, n: int) -> Any:
    """One entry or row of zeros for each of n rows, and `values` at `places`."""
    order = np.full(n, len(places))
    order[places] = np.arange(len(places))
    return take_rows(join([values, values[:1, ...] * 0.0]), order)
