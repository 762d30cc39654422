"""Orthogonal matching pursuit."""

from __future__ import annotations

from functools import partial
from typing import Any

from learnt.engine.estimator import Estimator, Trial, Warm
from learnt.engine.finite import require_finite_cells
from learnt.engine.mixins import MultiOutputMixin, RegressorMixin
from learnt.engine.params import check_choice, check_flag, check_number
from learnt.engine.rows import as_rows
from learnt.engine.schema import Schema, anyof, count, none
from learnt.engine.validation import check_fit
from learnt.linalg.pursuit import solve
from learnt.linear_model._base import LinearPredictor, is_single, record_coefficients
from learnt.linear_model._schema import COUNTS, LINES, WITH_INTERCEPT, one_intercept_a_target
from learnt.linear_model.pursuit._gram import make_problem
from learnt.linear_model.pursuit._solve import most_atoms, warn_spent


class OrthogonalMatchingPursuit(MultiOutputMixin, LinearPredictor, RegressorMixin, Estimator):
    """Least squares with few columns, chosen greedily:  min ‖y − Xw − c‖²  with at most k entries of w not 0.

    Each step takes the column with the largest product with the residual, and fits all columns taken so far again. Take
    it where the number of columns to use is known, as in sparse coding; it does not shrink coefficients, as the lasso
    does. Where columns are nearly orthogonal and y is made of few of them, these are found exactly.

    Parameters
    ----------
    n_nonzero_coefs : int or None, default=None
        k, how many columns to take; a tenth of them (at least one) where neither this nor `tol` is given. More columns
        fit better and overfit sooner; `OrthogonalMatchingPursuitCV` chooses.
    tol : float or None, default=None
        Take columns until the squared norm of the residual is at most this; `n_nonzero_coefs` is then not looked at.
    fit_intercept : bool, default=True
        Whether to fit the intercept c. Choose False only where y is known to be 0 at x = 0, or where X and y are
        centred already.
    precompute : bool or "auto", default="auto"
        Whether to compute all of XᵀX first; False computes only the rows of it that are needed, "auto" takes whichever
        is less work.
    positive : bool, default=False
        Keep all coefficients at 0 or more: columns that point away from y are not taken, and one whose coefficient
        would become negative is given up again.

    Attributes
    ----------
    coef_ : ndarray of shape (n_features,) or (n_targets, n_features)
        The coefficients b; a row for each target where y has several columns.
    intercept_ : float or ndarray of shape (n_targets,)
        The intercept c, or one for each target; 0.0 with `fit_intercept=False`.
    n_iter_ : int or list of int
        The number of columns taken, of each target.
    n_nonzero_coefs_ : int or None
        How many were asked for; None where `tol` decided.

    See Also
    --------
    OrthogonalMatchingPursuitCV : Chooses the number of columns by cross-validation.
    Lars : Moves coefficients a little at a time instead of fitting them fully.
    Lasso : A convex penalty, which shrinks what it keeps.
    orthogonal_mp : The same as a function of arrays.

    Notes
    -----
    Each step takes the column with the largest product with the residual, and fits all columns taken so far again, by
    one more row of a Cholesky factor. A step costs O(n d) for n rows and d columns, or O(d k) with k columns taken once
    XᵀX is known. Columns should have equal norms (`StandardScaler`), since they compete by their products.

    References
    ----------
    .. [1] S. Mallat and Z. Zhang, "Matching Pursuits with Time-Frequency Dictionaries", IEEE Transactions on Signal
           Processing 41(12), 1993.
    .. [2] Y. C. Pati, R. Rezaiifar and P. S. Krishnaprasad, "Orthogonal Matching Pursuit: Recursive Function
           Approximation with Applications to Wavelet Decomposition", Asilomar Conference on Signals, Systems and
           Computers, 1993.

    Examples
    --------
    >>> import numpy as np
    >>> X = np.random.default_rng(0).normal(size=(100, 20))
    >>> model = OrthogonalMatchingPursuit(n_nonzero_coefs=2).fit(X, 3 * X[:, 4] - X[:, 11] + 7)
    >>> np.flatnonzero(model.coef_), round(float(model.intercept_), 6)
    (array([ 4, 11]), 7.0)
    """

    __learnt_schema__ = Schema(
        params=WITH_INTERCEPT,
        state={**LINES, "n_iter_": COUNTS, "n_nonzero_coefs_": anyof(none, count(1))},
        rule=one_intercept_a_target,
    )
    __learnt_trial__ = Trial(warmup=(Warm("amount"), Warm("amount", {"precompute": False})))

    def __init__(
        self,
        *,
        n_nonzero_coefs: int | None = None,
        tol: float | None = None,
        fit_intercept: bool = True,
        precompute: Any = "auto",
        positive: bool = False,
    ) -> None:
        self.n_nonzero_coefs = n_nonzero_coefs
        self.tol = tol
        self.fit_intercept = fit_intercept
        self.precompute = precompute
        self.positive = positive

    def fit(self, X: Any, y: Any) -> OrthogonalMatchingPursuit:
        """Choose columns and fit their coefficients, for each target.

        Parameters
        ----------
        y : array-like of shape (n_samples,) or (n_samples, n_targets)
            The number to predict for each row, or several.
        """
        check_number(self, "n_nonzero_coefs", 1, integer=True, also=(None,))
        check_number(self, "tol", 0, also=(None,))
        check_flag(self, "fit_intercept", "positive")
        check_choice(self, "precompute", ("auto", True, False))
        # the first products show cells that are not finite
        X, y, _ = check_fit(self, X, y, target="numbers", allow_nan=True)
        atoms = most_atoms(self.n_nonzero_coefs, self.tol, X.shape[1])
        problem = make_problem(X, y, self.fit_intercept, self.precompute, atoms, partial(require_finite_cells, self, X))
        limit = min(X.shape) if atoms is None else atoms
        codes = solve(problem.source, problem.starts, problem.energies, limit, self.tol, bool(self.positive), False)
        warn_spent(codes, limit, self.tol)
        coef = codes.coef.T
        record_coefficients(self, coef, problem.intercept(coef), as_rows(X, y), is_single(y), flat=True)
        self.n_nonzero_coefs_ = atoms
        counts = codes.n_iter.tolist()
        self.n_iter_ = counts[0] if len(counts) == 1 else counts
        return self
