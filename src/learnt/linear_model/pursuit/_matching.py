"""Matching pursuit, the plain one."""

from __future__ import annotations

import warnings
from functools import partial
from typing import Any

import numpy as np
from sklearn.exceptions import ConvergenceWarning

from learnt.engine.estimator import Estimator
from learnt.engine.finite import require_finite_cells
from learnt.engine.interrupts import stoppable
from learnt.engine.mixins import MultiOutputMixin, RegressorMixin
from learnt.engine.params import check_flag, check_number
from learnt.engine.rows import as_rows
from learnt.engine.schema import Schema
from learnt.engine.validation import check_fit
from learnt.linalg.pursuit import resume
from learnt.linear_model._base import LinearPredictor, is_single, record_coefficients
from learnt.linear_model._schema import COUNTS, LINES, WITH_INTERCEPT, one_intercept_a_target
from learnt.linear_model.pursuit._gram import make_problem
from learnt.linear_model.pursuit._kernels import LONG, Limits, match
from learnt.linear_model.pursuit._solve import most_atoms


class MatchingPursuit(MultiOutputMixin, LinearPredictor, RegressorMixin, Estimator):
    """One column and one coefficient at a time:  w_j ← w_j + ⟨x_j, r⟩ / ‖x_j‖²  for the j that shortens r most.

    Unlike orthogonal matching pursuit, coefficients found earlier are not fitted again, so that a column may have its
    turn many times; on orthogonal columns both are the same. Its steps are cheaper, and it needs more of them.

    Parameters
    ----------
    n_nonzero_coefs : int or None, default=None
        The most columns that may get a coefficient; once there are so many, the pursuit goes on among these. A tenth of
        all (at least one) where neither this nor `tol` is given.
    tol : float or None, default=None
        Stop when the squared norm of the residual is at most this; `n_nonzero_coefs` is then not looked at.
    max_iter : int, default=1000
        The most steps, of each target.
    fit_intercept : bool, default=True
        Whether to fit the intercept c. Choose False only where y is known to be 0 at x = 0, or where X and y are
        centred already.
    positive : bool, default=False
        Keep all coefficients at 0 or more, where a negative effect makes no sense.

    Attributes
    ----------
    coef_ : ndarray of shape (n_features,) or (n_targets, n_features)
        The coefficients b; a row for each target where y has several columns.
    intercept_ : float or ndarray of shape (n_targets,)
        The intercept c, or one for each target; 0.0 with `fit_intercept=False`.
    n_iter_ : int or list of int
        Steps taken, of each target.

    See Also
    --------
    OrthogonalMatchingPursuit : Fits all columns taken so far again at each step.
    ForwardStagewiseRegression : Small steps, which shrink like the lasso.
    Lasso : A convex penalty that keeps few columns.

    Notes
    -----
    A step costs O(d) for d columns, once the row of XᵀX for its column is known, which takes O(n d) for n rows.

    References
    ----------
    .. [1] S. Mallat and Z. Zhang, "Matching Pursuits with Time-Frequency Dictionaries", IEEE Transactions on Signal
           Processing 41(12), 1993.

    Examples
    --------
    >>> import numpy as np
    >>> MatchingPursuit(n_nonzero_coefs=2, fit_intercept=False).fit(2 * np.eye(3), [1.0, -5.0, 2.0]).coef_
    array([ 0. , -2.5,  1. ])
    """

    __learnt_schema__ = Schema(params=WITH_INTERCEPT, state={**LINES, "n_iter_": COUNTS}, rule=one_intercept_a_target)

    def __init__(
        self,
        *,
        n_nonzero_coefs: int | None = None,
        tol: float | None = None,
        max_iter: int = 1000,
        fit_intercept: bool = True,
        positive: bool = False,
    ) -> None:
        self.n_nonzero_coefs = n_nonzero_coefs
        self.tol = tol
        self.max_iter = max_iter
        self.fit_intercept = fit_intercept
        self.positive = positive

    def fit(self, X: Any, y: Any) -> MatchingPursuit:
        """Pursue each target.

        Parameters
        ----------
        y : array-like of shape (n_samples,) or (n_samples, n_targets)
            The number to predict for each row, or several.
        """
        check_number(self, "n_nonzero_coefs", 1, integer=True, also=(None,))
        check_number(self, "tol", 0, also=(None,))
        check_number(self, "max_iter", 1, integer=True)
        check_flag(self, "fit_intercept", "positive")
        # the first products show cells that are not finite
        X, y, _ = check_fit(self, X, y, target="numbers", allow_nan=True)
        atoms = most_atoms(self.n_nonzero_coefs, self.tol, X.shape[1])
        problem = make_problem(X, y, self.fit_intercept, "auto", atoms, partial(require_finite_cells, self, X))
        coef, steps, left = self._pursue(problem, X.shape[1] if atoms is None else atoms)
        record_coefficients(self, coef, problem.intercept(coef), as_rows(X, y), is_single(y), flat=True)
        self.n_iter_ = steps[0] if len(steps) == 1 else steps
        if self.tol is not None and max(left) > self.tol:
            warnings.warn(
                f"Matching pursuit stopped after {max(steps)} steps with a squared residual of {max(left):.3g}, above "
                f"tol={self.tol:g}; raise max_iter or tol.",
                ConvergenceWarning,
                stacklevel=2,
            )
        return self

    def _pursue(self, problem: Any, limit: int) -> tuple[np.ndarray, list[int], list[float]]:
        coef = np.zeros(problem.starts.shape)
        tol = -1.0 if self.tol is None else float(self.tol)
        limits = Limits(limit, int(self.max_iter), tol, float(np.finfo(float).eps))
        steps, left, stop = [], [], np.zeros(1, np.int64)
        for s, energy in enumerate(problem.energies):
            correlation, progress = problem.starts[s].copy(), np.array([0.0, energy, 0.0])

            def step(rows, where, s=s, energy=energy, correlation=correlation, progress=progress):
                steps = partial(
                    match, rows, where, problem.source.square, energy, limits, bool(self.positive), correlation,
                    coef[s], progress, stop,
                )  # fmt: skip
                return stoppable(steps, stop, long=self.max_iter * len(correlation) > LONG)

            resume(problem.source, correlation, step)
            steps.append(int(progress[0]))
            left.append(float(progress[1]))
        return coef.T, steps, left
