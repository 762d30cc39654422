"""Any loss of numbers."""

from __future__ import annotations

from typing import Any

from learnt.engine import progress
from learnt.engine.arrays import is_lazy, to_numpy
from learnt.engine.estimator import Estimator, Trial, Warm
from learnt.engine.matrices import double
from learnt.engine.schema import FEATURES, ONE, Schema, flag, real
from learnt.engine.scoring import RowsRegressor
from learnt.engine.validation import check_fit
from learnt.erm._estimator import FIT_RECORD, LinearRisk, start_of
from learnt.erm._parts import loss_of


class ERMRegressor(LinearRisk, RowsRegressor, Estimator):
    """A linear model of numbers:  min over w, b of  Σᵢ sᵢ loss(yᵢ, xᵢᵀw + b) / Σᵢ sᵢ + alpha·penalty(w).

    The loss is averaged over rows, s their weights; the intercept b is not penalised. X may be a NumPy array, a SciPy
    matrix, a tensor on a device or, for smooth losses, a `learnt.scan` table larger than memory or a Dask collection.

    Parameters
    ----------
    loss : str or object, default="squared"
        A name or object of `learnt.erm.losses`, or a custom object with `value(y, score)` and
        `gradient(y, score)`; `curvature(y, score)` makes it quicker.
    penalty : str, object or None, default="l2"
        A name or object of `learnt.erm.penalties`: "l2" is ‖w‖², "l1" is ‖w‖₁.
    alpha : float, default=1e-4
        Strength of the penalty.
    bound : float or None, default=None
        Ask for penalty(w) ≤ bound, and alpha is not used.
    solver : str or object, default="auto"
        A name or object of `learnt.erm.solvers`; "auto" takes one that reaches the minimum.
    fit_intercept : bool, default=True
    max_iter, tol : int and float, or None
        In place of the solver's own.
    early_stopping : bool, default=False
        Hold out `validation_fraction` of the rows, stop when their loss has not fallen for `n_iter_no_change`
        iterations, and keep the coefficients that were best for them.
    validation_fraction, n_iter_no_change : float and int, default=0.1 and 10
    record_path : bool, default=False
        Keep the coefficients after each iteration in `path_`.
    random_state : int, RandomState or None
        Which rows are held out.

    Attributes
    ----------
    coef_ : array of shape (n_features,)
    intercept_ : float
    n_iter_ : int
    objective_, gradient_norm_, gap_ : float
        What was reached: the objective, its gradient's largest entry, and at most how far above the minimum it is (None
        where no bound is known).
    converged_ : bool
    loss_curve_ : array of shape (n_iter_,)
        The objective over all rows (without those held out) after each iteration; for solvers that take mini-batches,
        after each epoch.
    solver_ : str
    path_ : list of (coef, intercept)
    validation_losses_ : array

    Examples
    --------
    >>> import numpy as np
    >>> X = np.array([[0.0], [1.0], [2.0], [3.0], [4.0]])
    >>> y = np.array([1.0, 3.0, 5.0, 7.0, 90.0])
    >>> ERMRegressor("absolute", alpha=0).fit(X, y).coef_.round(6)
    array([2.])
    """

    __learnt_schema__ = Schema(
        params={"fit_intercept": flag}, state={**FEATURES, "coef_": real("d"), "intercept_": ONE}, extra=FIT_RECORD
    )
    __learnt_trial__ = Trial(warmup=(Warm("amount", {"penalty": "l1", "alpha": 0.01}),))

    @progress.with_callbacks
    def fit(
        self, X: Any, y: Any, sample_weight: Any = None, coef_init: Any = None, intercept_init: Any = None
    ) -> ERMRegressor:
        """Fit the coefficients, starting from `coef_init` and `intercept_init` where they are given."""
        self._check_parameters()
        loss = loss_of(self, "number")
        if loss.target != "number":
            raise ValueError(f"ERMRegressor predicts numbers and {loss!r} is a loss of classes; use ERMClassifier.")
        X, y, w = check_fit(self, X, y, sample_weight, target="number")
        if not is_lazy(X):
            y = double(y)
        problem = self._pose(X, y, w, loss)
        result = self._solve(problem, start_of(problem, coef_init, intercept_init))
        self._record(X, [result], to_numpy(result.coef), to_numpy(result.intercept))
        return self

    def predict(self, X: Any) -> Any:
        """The mean that belongs to the score of each row: the score itself, or e^score for the deviances."""
        return self._scores(X, loss_of(self, "number").mean)
