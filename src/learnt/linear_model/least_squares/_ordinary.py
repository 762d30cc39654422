"""Ordinary least squares."""

from __future__ import annotations

from functools import partial
from typing import Any

import numpy as np

from learnt.engine.cached import cached_property
from learnt.engine.estimator import Estimator, Takes
from learnt.engine.finite import require_finite_cells
from learnt.engine.mixins import MultiOutputMixin, RegressorMixin
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

    The first model to try for a number that depends on its columns about linearly: it has nothing to tune, and its
    coefficients can be read. `summary()` has standard errors, t and p; `predict(X, interval=0.95)` has prediction
    intervals. Where columns are many beside the rows, or nearly collinear, the coefficients become large and overfit:
    take `Ridge` or `Lasso`, which shrink them.

    Parameters
    ----------
    fit_intercept : bool, default=True
        Whether to fit the intercept c. Choose False only where y is known to be 0 at x = 0, or where X and y are
        centred already.
    copy_X : bool, default=True
        Kept for scikit-learn's signature: X is never changed.
    tol : float, default=1e-6
        Precision of `solver="lsqr"`: smaller values cost more iterations. Other solvers are exact and ignore it.
    n_jobs : int or None, default=None
        The most threads to use; None for as many as `learnt.set_threads` or the machine allows. The result does not
        depend on it.
    positive : bool, default=False
        Keep all coefficients at 0 or more, where a negative effect makes no sense (non-negative least squares).
    solver : {"auto", "normal", "cholesky", "qr", "svd", "lsqr"}, default="auto"
        How the problem is solved. All find the same coefficients where X is well-conditioned.

        - "auto" solves the normal equations by Cholesky, estimates the condition number, corrects the solution by
          residuals where that is bad, and goes over to singular values where it is hopeless. Wide sparse X goes to
          "lsqr", and X with fewer rows than columns to the n × n problem.
        - "cholesky" does the same, and never changes to the n × n problem or to "lsqr".
        - "normal" solves the normal equations with no correction: the quickest, for columns far from collinear.
        - "qr" and "svd" factorise the data themselves and survive a condition number of 1e8.
        - "lsqr" only multiplies by X, which may then be a `scipy.sparse.linalg.LinearOperator` too. Memory maps, `scan`
          tables and Dask collections are read block by block, one pass an iteration, in memory that does not grow with
          the number of rows.

    Attributes
    ----------
    coef_ : ndarray of shape (n_features,) or (n_targets, n_features)
        The coefficients b; a row for each target where y has several columns.
    intercept_ : float or ndarray of shape (n_targets,)
        The intercept c, or one for each target; 0.0 with `fit_intercept=False`.
    rank_ : int
        Rank of the (centred) data; only where the solver finds it, as those of dense X do.
    singular_ : ndarray of shape (min(n_samples, n_features),)
        Singular values of the (centred) data, for dense X; computed when first asked for.
    solver_ : str
        The solver that was used in the end.

    See Also
    --------
    Ridge : Shrinks the coefficients, against overfitting and collinear columns.
    Lasso : Shrinks them and sets many to exactly 0.
    HuberRegressor : Linear regression that outliers in y hardly move.
    BayesianLinearRegression : The whole posterior of the coefficients.
    TotalLeastSquares : Allows for errors in X as well as in y.

    Notes
    -----
    It fits from sums over rows, without a copy of X: X may be an array, a memory map, a SciPy sparse matrix (unless
    `positive`), a tensor on a device, a `learnt.scan` table larger than memory, or a Dask collection. Time is O(n d²)
    for n rows and d columns, and O(d³) for the solution; memory beside X is O(d²). Where several coefficient vectors
    fit equally well, because columns are collinear or rows too few, the shortest of them is taken.

    A row of weight 2 counts as two rows for the coefficients. For standard errors and intervals a weight says how exact
    a row is, its noise having the variance σ²/w.

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

    Standard errors and p-values, with a little noise on y:

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

    def __init__(
        self,
        *,
        fit_intercept: bool = True,
        copy_X: bool = True,
        tol: float = 1e-6,
        n_jobs: int | None = None,
        positive: bool = False,
        solver: str = "auto",
    ) -> None:
        self.fit_intercept = fit_intercept
        self.copy_X = copy_X
        self.tol = tol
        self.n_jobs = n_jobs
        self.positive = positive
        self.solver = solver

    def fit(self, X: Any, y: Any, sample_weight: Any = None) -> LinearRegression:
        """Fit the coefficients; a row of weight 2 counts as two rows, one of weight 0 as none.

        Parameters
        ----------
        X : {array-like, sparse matrix, LinearOperator} of shape (n_samples, n_features)
            The rows to learn from. A LinearOperator needs `solver="lsqr"` or "auto".
        y : array-like of shape (n_samples,) or (n_samples, n_targets)
            The number to predict for each row, or several.
        """
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
        """Singular values of the (centred) data, in falling order, computed when first asked for.

        With many columns they would take a good part of the time of a fit.
        """
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
