"""Ridge regression."""

from __future__ import annotations

from functools import partial
from typing import Any

import numpy as np
from scipy import sparse
from sklearn.base import MultiOutputMixin, RegressorMixin

from learnt.engine.estimator import Estimator, Takes, Trial
from learnt.engine.finite import require_finite_cells
from learnt.engine.matrices import on_host
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

    It fits from sums over rows, so X may be an array, a memory map, a SciPy matrix, a tensor on a device, a
    `learnt.scan` table larger than memory, or a Dask collection. X is copied only where rows are fewer than columns.

    Parameters
    ----------
    alpha : float or array of shape (n_targets,), default=1.0
        Strength of the penalty, at least 0; one for each target, if several are given.
    fit_intercept : bool, default=True
        Whether to fit c, which is not penalised; otherwise it is 0.
    copy_X : bool, default=True
        Kept for scikit-learn's signature: X is never changed.
    max_iter, tol : int or None, float
        Iterations and precision of `solver="lsqr"`.
    solver : {"auto", "cholesky", "svd", "qr", "augmented", "dual", "lsqr"}, default="auto"
        "auto" takes Cholesky, or the dual form where rows are fewer than columns, or LSQR for wide sparse data.
        scikit-learn's "sag", "saga" and "lbfgs" name other ways to the same minimum and mean "auto"; "sparse_cg"
        means "lsqr".
    positive : bool, default=False
        Keep all coefficients at 0 or more.
    random_state : int, RandomState or None
        Kept for scikit-learn's signature: nothing here is random.
    standardize : bool, default=False
        Bring columns to standard deviation 1 first, so that the penalty sees no units, and the coefficients back to
        the columns as they are. X must be an array or a SciPy matrix in memory, and is copied.

    Attributes
    ----------
    coef_ : array of shape (n_features,) or (n_targets, n_features)
    intercept_ : float or array of shape (n_targets,)
    n_iter_ : array of shape (n_targets,) or None
        Iterations of "lsqr"; 1 where "auto" solved directly; None for a direct solver asked for by name.
    solver_ : str
        What was used in the end, by the name that was asked for where it is a synonym.

    Examples
    --------
    >>> import numpy as np
    >>> X = np.array([[0.0], [1.0], [2.0], [3.0]])
    >>> y = np.array([1.0, 3.0, 5.0, 7.0])
    >>> model = Ridge(alpha=5.0).fit(X, y)
    >>> model.coef_, float(model.intercept_)
    (array([1.]), 2.5)
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
        alpha=1.0,
        *,
        fit_intercept=True,
        copy_X=True,
        max_iter=None,
        tol=1e-4,
        solver="auto",
        positive=False,
        random_state=None,
        standardize=False,
    ):
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
        """Fit the coefficients; a row of weight 2 counts as two rows, one of weight 0 as none."""
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
