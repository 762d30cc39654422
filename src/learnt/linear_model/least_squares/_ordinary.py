"""Ordinary least squares."""

from __future__ import annotations

from functools import partial
from typing import Any

import numpy as np
from sklearn.base import MultiOutputMixin, RegressorMixin

from learnt.engine.cached import cached_property
from learnt.engine.estimator import Estimator, Takes
from learnt.engine.finite import require_finite_cells
from learnt.engine.params import check_choice, check_flag, check_number
from learnt.engine.rows import ArrayRows, as_rows
from learnt.engine.schema import Schema, anyof, count, fields, flag, none, number, real, text
from learnt.engine.validation import check_fit
from learnt.engine.weights import present_rows
from learnt.linalg.spectrum import singular_values
from learnt.linear_model._base import is_single, record_coefficients
from learnt.linear_model._schema import LINES, WITH_INTERCEPT, one_intercept_a_target
from learnt.linear_model.least_squares._inference_predictor import InferringPredictor
from learnt.linear_model.least_squares._operator import by_blocks, by_operator, is_operator, reads_blocks
from learnt.linear_model.least_squares._solvers import Solution, least_squares

_SOLVERS = ("auto", "normal", "cholesky", "qr", "svd", "lsqr")
_LARGEST_KEPT = 2048  # rows of the matrix that a model may keep for its singular values: 32 MB


class LinearRegression(MultiOutputMixin, InferringPredictor, RegressorMixin, Estimator):
    """Ordinary least squares:  min over b, c of  Σᵢ wᵢ (yᵢ − xᵢᵀb − c)².

    It fits from sums over rows, so X may be an array, a memory map, a SciPy matrix, a tensor on a device, a
    `learnt.scan` table larger than memory, or a Dask collection; no copy of X is made. `summary()` has standard errors,
    t and p; `predict(X, interval=0.95)` has intervals.

    Parameters
    ----------
    fit_intercept : bool, default=True
        Whether to fit c; otherwise it is 0.
    copy_X : bool, default=True
        Kept for scikit-learn's signature: X is never changed.
    tol : float, default=1e-6
        Precision of `solver="lsqr"`.
    n_jobs : int or None, default=None
        Threads; None for what `learnt.set_threads` or the machine says.
    positive : bool, default=False
        Keep all coefficients at 0 or more.
    solver : {"auto", "normal", "cholesky", "qr", "svd", "lsqr"}, default="auto"
        "auto" solves the normal equations by Cholesky, estimates the condition number, corrects the solution by
        residuals where it is bad, and goes over to singular values where it is hopeless. "normal" does none of this.
        "qr" and "svd" factorise the data and survive a condition number of 1e8. "lsqr" only multiplies by X,
        which may then be a `scipy.sparse.linalg.LinearOperator` too; memory maps, `scan` tables and Dask collections
        are read block by block, a pass an iteration, in memory that does not grow with the number of rows.

    Attributes
    ----------
    coef_ : array of shape (n_features,) or (n_targets, n_features)
    intercept_ : float or array of shape (n_targets,)
    rank_ : int
        Rank of the (centred) data, for dense X.
    singular_ : array of shape (min(n, n_features),)
        Its singular values, for dense X.
    solver_ : str
        What was used in the end.

    Examples
    --------
    >>> import numpy as np
    >>> X = np.array([[1.0, 1.0], [1.0, 2.0], [2.0, 2.0], [2.0, 3.0]])
    >>> y = X @ [1.0, 2.0] + 3.0
    >>> model = LinearRegression().fit(X, y)
    >>> model.coef_.round(6), float(model.intercept_)
    (array([1., 2.]), 3.00)
    >>> model.predict(np.array([[3.0, 5.0]]))
    array([16.])
    >>> y = y + np.array([0.1, -0.1, 0.1, 0.1])
    >>> summary = LinearRegression().fit(X, y).summary()
    >>> summary.stderr.round(2), summary.p.round(2)
    (array([0.17, 0.14, 0.1 ]), array([0.04, 0.07, 0.03]))
    """

    __learnt_schema__ = Schema(
        params={**WITH_INTERCEPT, "positive": flag},
        state=LINES,
        extra={
            "rank_": anyof(none, count()),
            "singular_": anyof(none, real(None, low=0)),
            "solver_": text,
            "_inference": fields(
                half=real("d", "d"),
                x_mean=real("d"),
                weight=number(above=0, finite=False),
                residual=real(None, low=0),
                total=real(None, low=0),
                n_rows=count(1),
                log_weight=number(),
            ),
        },
        rule=one_intercept_a_target,
    )

    @property
    def __learnt_takes__(self) -> Takes:
        return Takes(sparse=not self.positive, tensors=True, lazy=True)

    def __init__(self, *, fit_intercept=True, copy_X=True, tol=1e-6, n_jobs=None, positive=False, solver="auto"):
        self.fit_intercept = fit_intercept
        self.copy_X = copy_X
        self.tol = tol
        self.n_jobs = n_jobs
        self.positive = positive
        self.solver = solver

    def fit(self, X: Any, y: Any, sample_weight: Any = None) -> LinearRegression:
        """Fit the coefficients; a row of weight 2 counts as two rows, one of weight 0 as none."""
        check_flag(self, "fit_intercept", "positive", "copy_X")
        check_number(self, "tol", 0)
        check_choice(self, "solver", _SOLVERS)
        if is_operator(X):
            return self._fit_operator(X, y, sample_weight)
        # The sums over X will show whether all cells are finite; `check_cells` then says which are not.
        plain = type(X) is np.ndarray and present_rows(sample_weight, X) is None
        X, y, w = check_fit(self, X, y, sample_weight, target="numbers", allow_nan=plain)
        check_cells = partial(require_finite_cells, self, X) if plain else None
        rows = as_rows(X, y, w, n_jobs=self.n_jobs)
        if self.solver == "lsqr" and reads_blocks(rows) and not self.positive:
            solution = by_blocks(rows, self.fit_intercept, self.tol, type(self).__name__)
        else:
            solution = least_squares(
                rows,
                self.solver,
                self.fit_intercept,
                positive=self.positive,
                spectrum=True,
                tol=self.tol,
                check_cells=check_cells,
            )
        record_coefficients(self, solution.coef, solution.intercept, rows, is_single(y))
        self.solver_ = solution.solver
        self._record_spectrum(solution)
        self._remember(rows)
        return self

    def _fit_operator(self, X: Any, y: Any, sample_weight: Any) -> LinearRegression:
        solution, y = by_operator(self, X, y, sample_weight)
        record_coefficients(self, solution.coef, solution.intercept, ArrayRows(np.empty((0, X.shape[1]))), is_single(y))
        self.solver_ = solution.solver
        self._record_spectrum(solution)
        self._forget()
        return self

    def _record_spectrum(self, solution: Solution) -> None:
        for name in ("rank_", "singular_", "_scatter"):
            self.__dict__.pop(name, None)
        if solution.rank is not None:
            self.rank_ = solution.rank
        if solution.singular is not None:
            self.singular_ = solution.singular
        elif solution.scatter is not None:
            self._scatter = solution.scatter
            if len(solution.scatter) > _LARGEST_KEPT:
                self.singular_  # noqa: B018  now, so that the matrix is let go

    @cached_property
    def singular_(self) -> np.ndarray:
        """Computed when asked for: it would take a good part of the time of a fit with many columns."""
        scatter = vars(self).get("_scatter")
        if scatter is None:
            raise AttributeError(f"{type(self).__name__} has no singular_: it is not fitted, or its solver has none.")
        self.singular_ = singular_values(scatter)
        self.__dict__.pop("_scatter", None)
        return self.singular_

    def __getstate__(self) -> Any:
        if "_scatter" in vars(self):
            self.singular_  # noqa: B018  a copy or a file gets the values, not the matrix
        return super().__getstate__()
