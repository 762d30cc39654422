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
    Take it for a loss, a penalty, a constraint or a solver that other estimators do not have, or for a loss of your
    own.

    Parameters
    ----------
    loss : str or object, default="squared"
        What a wrong score costs: a name or object of `learnt.erm.losses`. "squared" estimates the mean; "absolute" the
        median; "huber" and "log_cosh" are robust to outliers and smooth or nearly so; "quantile" estimates a quantile;
        "epsilon_insensitive" and "squared_epsilon_insensitive" forgive small misses; "poisson", "gamma" and "tweedie"
        are for amounts, whose mean is e^score. A custom object needs `value(y, score)` and `gradient(y, score)`;
        `curvature(y, score)` makes it quicker.
    penalty : str, object or None, default="l2"
        Kind of regularisation: a name or object of `learnt.erm.penalties`. "l2" is ‖w‖², which shrinks all
        coefficients; "l1" is ‖w‖₁, which makes many exactly 0; "elasticnet" is half of each; "l0" counts coefficients
        that are not 0 (local minima only); "nonnegative" and "box" are sets to stay in; "none" or None is no penalty. A
        custom object needs `value(w)` and `prox(w, step)` or, where it is smooth, `gradient(w)`.
    alpha : float, default=1e-4
        Regularisation strength, at least 0: larger values mean more shrinkage and less overfitting. The loss is a mean,
        so that a good alpha hangs little on the number of rows. Try powers of 10.
    bound : float or None, default=None
        Where it is given, ask for penalty(w) ≤ bound in place of adding alpha·penalty(w); alpha is then not used.
    solver : str or object, default="auto"
        How the minimum is found: a name or object of `learnt.erm.solvers`. "auto" takes a quick one that reaches it.
    fit_intercept : bool, default=True
        Whether to fit b, which is not penalised; otherwise it is 0.
    max_iter : int or None, default=None
        The most iterations, in place of the solver's own. Raise it where a warning says that the fit has not converged.
    tol : float or None, default=None
        Convergence tolerance, in place of the solver's own: how small the gradient may be beside that at 0, or the
        duality gap beside the objective at 0.
    early_stopping : bool, default=False
        Whether to hold out rows, stop when their loss has not fallen for `n_iter_no_change` iterations, and keep the
        coefficients that were best for them: against overfitting, in place of a penalty.
    validation_fraction : float, default=0.1
        Share of the rows that `early_stopping` holds out, at most 0.9.
    n_iter_no_change : int, default=10
        Patience of `early_stopping`: iterations without a better validation loss that end the fit.
    record_path : bool, default=False
        Whether to keep the coefficients after each iteration in `path_`.
    random_state : int, RandomState, Generator or None, default=None
        Draws the rows that `early_stopping` holds out. Pass an integer to get the same ones every time.

    Attributes
    ----------
    coef_ : ndarray of shape (n_features,)
        w, the weight of each column.
    intercept_ : float
        b, the constant of the score.
    n_iter_ : int
        Iterations of the solver.
    objective_ : float
        The objective that was reached.
    gradient_norm_ : float
        The largest entry of its gradient there.
    gap_ : float or None
        At most how far the objective is above its minimum; None where no bound is known.
    converged_ : bool
        Whether the minimum was reached, to `tol`.
    loss_curve_ : ndarray of shape (n_iter_,)
        The objective over all rows (without those held out) after each iteration; for solvers that take mini-batches,
        after each epoch.
    solver_ : str
        Name of the solver that was taken.
    path_ : list of (coef, intercept)
        The coefficients at the start and after each iteration; only with `record_path`.
    validation_losses_ : ndarray of shape (n_iter_,)
        The mean loss of the rows held out, after each iteration; only with `early_stopping`.

    See Also
    --------
    ERMClassifier : The same for classes.
    learnt.linear_model.Ridge : The squared loss with the "l2" penalty, in closed form.
    learnt.linear_model.QuantileRegressor : The quantile loss alone.
    learnt.linear_model.TweedieRegressor : The losses of amounts alone.

    Notes
    -----
    Time goes with the solver, mostly in the cells of X an iteration. With solver="auto", columns far from 0 are centred
    inside.

    Examples
    --------
    An outlier at the end does not move the line of the absolute loss:

    >>> import numpy as np
    >>> X = np.array([[0.0], [1.0], [2.0], [3.0], [4.0]])
    >>> y = np.array([1.0, 3.0, 5.0, 7.0, 90.0])
    >>> ERMRegressor("absolute", alpha=0).fit(X, y).coef_.round(6)
    array([2.])
    >>> ERMRegressor("squared", alpha=0).fit(X, y).coef_.round(1)
    array([18.2])
    """

    __learnt_schema__ = Schema(
        params={"fit_intercept": flag}, state={**FEATURES, "coef_": real("d"), "intercept_": ONE}, extra=FIT_RECORD
    )
    __learnt_trial__ = Trial(warmup=(Warm("amount", {"penalty": "l1", "alpha": 0.01}),))

    @progress.with_callbacks
    def fit(
        self, X: Any, y: Any, sample_weight: Any = None, coef_init: Any = None, intercept_init: Any = None
    ) -> ERMRegressor:
        """Fit the coefficients, starting from `coef_init` and `intercept_init` where they are given.

        Parameters
        ----------
        coef_init : array-like of shape (n_features,), default=None
            Coefficients to start from; None for 0.
        intercept_init : float, default=None
            Intercept to start from; None for 0.
        """
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
        """The mean that belongs to the score of each row: the score itself, or e^score for the deviances.

        Returns
        -------
        y_pred : ndarray of shape (n_samples,)
            The predicted number of each row.
        """
        return self._scores(X, loss_of(self, "number").mean)
