"""Ridge regression."""

from __future__ import annotations

from functools import partial
from typing import Any

import numpy as np
from scipy import sparse

from learnt.engine.estimator import Estimator, Takes, Trial
from learnt.engine.finite import require_finite_cells
from learnt.engine.matrices import on_host
from learnt.engine.mixins import MultiOutputMixin, RegressorMixin
from learnt.engine.params import ParameterError, check_choice, check_flag, check_number
from learnt.engine.rows import as_rows
from learnt.engine.schema import Schema, anyof, count, integers, none, text
from learnt.engine.validation import check_fit
from learnt.engine.weights import present_rows
from learnt.linear_model._base import LinearPredictor, is_single, record_coefficients
from learnt.linear_model._schema import LINES, WITH_INTERCEPT, one_intercept_a_target
from learnt.linear_model.least_squares._solvers import least_squares

# scikit-learn's names of iterative solvers for the same minimum; the exact solution is quicker here.
_SYNONYMS = {"sparse_cg": "lsqr", "sag": "auto", "saga": "auto", "lbfgs": "auto"}
_SOLVERS = ("auto", "cholesky", "svd", "qr", "augmented", "dual", "lsqr", *_SYNONYMS)


class Ridge(MultiOutputMixin, LinearPredictor, RegressorMixin, Estimator):
    """Least squares with a squared penalty on the weights:  min over b, c of  Σᵢ wᵢ (yᵢ − xᵢᵀb − c)² + α‖b‖².

    The penalty shrinks the coefficients towards 0, which costs a little bias and saves much variance where columns are
    many or collinear: a safe default for linear regression. All columns stay in the model; take `Lasso` or `ElasticNet`
    where most should get a coefficient of 0. Columns should have like units, or `standardize=True`.

    Parameters
    ----------
    alpha : float or array-like of shape (n_targets,), default=1.0
        α, the regularisation strength, at least 0: larger values mean more shrinkage and less overfitting, 0 is plain
        least squares. Several numbers are one for each target. It depends on the units of X and grows with the number
        of rows; try powers of 10, or let `RidgeCV` choose.
    fit_intercept : bool, default=True
        Whether to fit the intercept c, which is never penalised. Choose False only where y is known to be 0 at x = 0,
        or where X and y are centred already.
    copy_X : bool, default=True
        Kept for scikit-learn's signature: X is never changed.
    max_iter : int or None, default=None
        The most iterations of `solver="lsqr"`; None for twice the number of columns. Direct solvers ignore it.
    tol : float, default=1e-4
        Precision of `solver="lsqr"`, where values above 1e-6 count as 1e-6. Direct solvers ignore it.
    solver : str, default="auto"
        How the problem is solved; all ways find the same minimum.

        - "auto" takes "cholesky", or "dual" where rows are fewer than columns, or "lsqr" for wide sparse data.
        - "cholesky" solves the normal equations, and corrects the solution where they are ill-conditioned.
        - "svd" uses singular values: the safest for collinear columns and a tiny α.
        - "qr" and "augmented" factorise the data with √α·I below them.
        - "dual" solves the n × n problem, for fewer rows than columns.
        - "lsqr" only multiplies by X: for large sparse data.
        - "sparse_cg", "sag", "saga" and "lbfgs" are scikit-learn's names of other ways to the same minimum: the first
          means "lsqr" here, the others "auto". "lbfgs" needs `positive=True`.
    positive : bool, default=False
        Keep all coefficients at 0 or more, where a negative effect makes no sense; with solver "auto" or "lbfgs".
    random_state : int, RandomState or None, default=None
        Kept for scikit-learn's signature: nothing here is random.
    standardize : bool, default=False
        Bring columns to standard deviation 1 first, so that the penalty does not depend on their units, and the
        coefficients back to the columns as they are. X must be an array or a SciPy matrix in memory, and is copied.

    Attributes
    ----------
    coef_ : ndarray of shape (n_features,) or (n_targets, n_features)
        The coefficients b; a row for each target where y has several columns.
    intercept_ : float or ndarray of shape (n_targets,)
        The intercept c, or one for each target; 0.0 with `fit_intercept=False`.
    n_iter_ : ndarray of shape (n_targets,) or None
        Iterations of "lsqr"; 1 where "auto" solved directly; None for a direct solver asked for by name.
    solver_ : str
        The solver that was used in the end, by the name that was asked for where that is one of scikit-learn's.

    See Also
    --------
    RidgeCV : Chooses alpha by leave-one-out, for the cost of about one fit.
    RidgeClassifier : Ridge regression of labels.
    Lasso : Penalises absolute values, which sets many coefficients to 0.
    BayesianRidge : Finds the strength from the evidence, with standard deviations of the predictions.
    learnt.kernel_ridge.KernelRidge : Ridge regression of nonlinear functions by kernels.

    Notes
    -----
    It fits from sums over rows: O(n d²) for n rows and d columns, plus O(d³) for the solution; O(n² d) where rows are
    fewer than columns, the only case in which X is copied. Multiplying all weights by a number is the same as dividing
    α by it. In a Bayesian reading, α is the variance of the noise over that of the coefficients.

    References
    ----------
    .. [1] A. E. Hoerl and R. W. Kennard, "Ridge Regression: Biased Estimation for Nonorthogonal Problems",
           Technometrics 12(1), 1970.

    Examples
    --------
    >>> import numpy as np
    >>> X = np.array([[0.0], [1.0], [2.0], [3.0]])
    >>> y = np.array([1.0, 3.0, 5.0, 7.0])
    >>> model = Ridge(alpha=5.0).fit(X, y)
    >>> model.coef_, float(model.intercept_)
    (array([1.]), 2.5)

    A larger α shrinks more:

    >>> [float(Ridge(alpha).fit(X, y).coef_[0]) for alpha in (0.0, 5.0, 15.0)]
    [2.0, 1.0, 0.5]
    """

    __learnt_schema__ = Schema(
        params=WITH_INTERCEPT,
        state=LINES,
        extra={"n_iter_": anyof(none, count(), integers(None)), "solver_": text},
        rule=one_intercept_a_target,
    )
    __learnt_takes__ = Takes(sparse=True, tensors=True, lazy=True)
    __learnt_trial__ = Trial(weight_unit_free=False)

    def __init__(
        self,
        alpha: Any = 1.0,
        *,
        fit_intercept: bool = True,
        copy_X: bool = True,
        max_iter: int | None = None,
        tol: float = 1e-4,
        solver: str = "auto",
        positive: bool = False,
        random_state: Any = None,
        standardize: bool = False,
    ) -> None:
        self.alpha = alpha
        self.fit_intercept = fit_intercept
        self.copy_X = copy_X
        self.max_iter = max_iter
        self.tol = tol
        self.solver = solver
        self.positive = positive
        self.random_state = random_state
        self.standardize = standardize

    def fit(self, X: Any, y: Any, sample_weight: Any = None) -> Ridge:
        """Fit the coefficients; a row of weight 2 counts as two rows, one of weight 0 as none.

        Parameters
        ----------
        y : array-like of shape (n_samples,) or (n_samples, n_targets)
            The number to predict for each row, or several.
        """
        check_flag(self, "fit_intercept", "positive", "standardize", "copy_X")
        check_number(self, "max_iter", 1, integer=True, also=(None,))
        check_number(self, "tol", 0)
        check_choice(self, "solver", _SOLVERS)
        if self.solver == "lbfgs" and not self.positive:
            raise ValueError("'lbfgs' solver can be used only when positive=True; use solver='auto'.")
        if self.positive and self.solver not in ("auto", "lbfgs"):
            raise ValueError(f"solver={self.solver!r} does not support positive fitting; set solver to 'auto'.")
        # The sums over X will show whether all cells are finite; `check_cells` then says which are not.
        plain = type(X) is np.ndarray and present_rows(sample_weight, X) is None
        X, y, w = check_fit(self, X, y, sample_weight, target="numbers", allow_nan=plain)
        Z, scale = _standardised(X, w) if self.standardize else (X, 1.0)
        rows = as_rows(Z, y, w)
        alpha = check_alpha(self, y)
        solver = _SYNONYMS.get(self.solver, self.solver)
        if solver in ("dual", "lsqr") and not rows.on_host:
            raise ValueError(f"solver={self.solver!r} needs X as an array in memory; use solver='auto' for other data.")
        solution = least_squares(
            rows,
            solver,
            self.fit_intercept,
            alpha,
            positive=self.positive,
            tol=min(self.tol, 1e-6),
            max_iter=self.max_iter,
            check_cells=partial(require_finite_cells, self, X) if plain else None,
        )
        record_coefficients(self, solution.coef / scale, solution.intercept, rows, is_single(y), flat=True)
        self.solver_ = self.solver if self.solver in _SYNONYMS else solution.solver
        n_targets = solution.coef.shape[1]
        if (
            solution.n_iter is None
        ):  # a direct solver takes one step; asked for by name, it reports none, as scikit-learn's
            self.n_iter_ = np.ones(n_targets, dtype=int) if self.solver == "auto" else None
        else:
            self.n_iter_ = np.full(n_targets, solution.n_iter)
        return self


def _standardised(X: Any, w: np.ndarray | None) -> tuple[Any, np.ndarray]:
    """X with columns of standard deviation 1, constant ones as they are, and what they were divided by, (d, 1)."""
    if not on_host(X):
        raise ValueError(
            f"standardize=True needs X as an array or a SciPy matrix in memory, and it is a {type(X).__name__}; scale "
            "its columns first, for example by StandardScaler in a pipeline."
        )
    # cells that are not finite are found in the sums, and reported there
    with np.errstate(invalid="ignore", over="ignore"):
        if sparse.issparse(X):
            mean, spread = _sparse_spread(X, w)
        else:
            mean = np.average(X, axis=0, weights=w)
            spread = np.sqrt(np.average((X - mean) ** 2, axis=0, weights=w))
        scale = np.where(spread <= 1e-14 * np.abs(mean), 1.0, spread)
        Z = sparse.csr_array(X @ sparse.diags_array(1 / scale)) if sparse.issparse(X) else X / scale.astype(X.dtype)
    return Z, scale[:, None]


def _sparse_spread(X: Any, w: np.ndarray | None) -> tuple[np.ndarray, np.ndarray]:
    """Mean and standard deviation of every column: of the cells that are stored, and of the zeros between them."""
    n, d = X.shape
    share = np.full(n, 1 / n) if w is None else w / w.sum()
    cells = X.tocoo()
    shares = share[cells.row]
    mean = np.bincount(cells.col, shares * cells.data, d)
    stored = np.where(np.bincount(cells.col, minlength=d) == n, 1.0, np.bincount(cells.col, shares, d))
    variance = np.bincount(cells.col, shares * (cells.data - mean[cells.col]) ** 2, d) + (1 - stored) * mean**2
    return mean, np.sqrt(np.maximum(variance, 0.0))


def check_alpha(estimator: Any, y: Any) -> np.ndarray:
    """`alpha` as an array: a number of at least 0, or one for each target."""
    try:
        alpha = np.asarray(estimator.alpha, dtype=np.float64)
        good = alpha.ndim <= 1 and bool(np.all(alpha >= 0)) and not np.isinf(alpha).any()
    except (TypeError, ValueError):
        good = False
    if not good:
        raise ParameterError(
            f"The 'alpha' parameter of {type(estimator).__name__} must be a finite number of at least 0, or one for "
            f"each target. Got {estimator.alpha!r} instead."
        )
    n_targets = 1 if is_single(y) else y.shape[1]
    if alpha.ndim and alpha.size not in (1, n_targets):
        raise ValueError(
            f"Number of targets and number of penalties do not correspond: {alpha.size} != {n_targets}; "
            "give alpha as one number, or one for each target."
        )
    return alpha[0] if alpha.ndim and alpha.size == 1 else alpha
