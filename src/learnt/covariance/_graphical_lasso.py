"""Which features depend on each other when all others are known: an inverse covariance with many zeros."""

from __future__ import annotations

import warnings
from typing import Any, Self

import numpy as np
from sklearn.exceptions import ConvergenceWarning

from learnt.covariance._empirical import STATE, EmpiricalCovariance, keep_beside
from learnt.covariance._glasso import Goal, Sparse, graphical_lasso_of, objective
from learnt.covariance._sample import sample
from learnt.engine.arrays import to_numpy
from learnt.engine.estimator import Trial, Warm
from learnt.engine.params import check_choice, check_flag, check_number, check_verbose
from learnt.engine.progress import CallbackSupportMixin, FitLoop, fit_loop, with_callbacks
from learnt.engine.schema import Schema, count, record
from learnt.engine.threads import single_blas
from learnt.engine.validation import check_fit

_EPS = float(np.finfo(np.float64).eps)


def graphical_lasso(
    emp_cov: Any,
    alpha: float,
    *,
    mode: str = "cd",
    tol: float = 1e-4,
    enet_tol: float = 1e-4,
    max_iter: int = 100,
    verbose: Any = False,
    return_costs: bool = False,
    eps: float = _EPS,
    return_n_iter: bool = False,
) -> tuple:
    """The sparse inverse of a covariance S (graphical lasso), for a penalty on its entries beside the diagonal.

        min over P ≻ 0   tr(S P) − log det P + α Σ_{i≠j} |P_ij|

    Parameters
    ----------
    emp_cov : array-like of shape (n_features, n_features)
        The covariance S.
    alpha : float
        Regularisation strength, at least 0, in units of the covariance: the larger, the more zeros in the inverse.
    mode : {"cd", "lars"}, default="cd"
        Kept for scikit-learn's signature: both find the same minimum by coordinate descent.
    tol : float, default=1e-4
        Stopping tolerance: the fit ends when the duality gap is at most this. Larger is faster and less exact; raise
        it, or `max_iter`, after a convergence warning.
    enet_tol : float, default=1e-4
        Tolerance of the lasso of a single column: the most that its last sweep may gain, in units of log det. A smaller
        one is used by itself where `tol` needs it.
    max_iter : int, default=100
        The most passes over all columns.
    verbose : bool, default=False
        Kept for scikit-learn's signature, and without effect.
    return_costs : bool, default=False
        Whether to return the objective and the duality gap after each pass too.
    eps : float, default=machine epsilon
        Kept for scikit-learn's signature, and without effect.
    return_n_iter : bool, default=False
        Whether to return the number of passes too.

    Returns
    -------
    covariance : ndarray of shape (n_features, n_features)
        The covariance under the model: the solution of the dual problem.
    precision : ndarray of shape (n_features, n_features)
        Its sparse inverse P.
    costs : list of (float, float)
        Objective and duality gap after each pass; only where `return_costs`.
    n_iter : int
        The number of passes; only where `return_n_iter`.

    See Also
    --------
    GraphicalLasso : The same for rows, as an estimator.
    GraphicalLassoCV : Chooses alpha by cross-validation.

    Notes
    -----
    Each column in turn is a lasso, solved by coordinate descent; a pass over all d columns costs O(d³) at most. An
    alpha of 0 is the plain inverse.

    Examples
    --------
    >>> graphical_lasso([[2.0, 0.5], [0.5, 1.0]], 0.6)[1].tolist()
    [[0.5, 0.0], [0.0, 1.0]]
    """
    model = GraphicalLasso(
        alpha,
        mode=mode,
        covariance="precomputed",
        tol=tol,
        enet_tol=enet_tol,
        max_iter=max_iter,
        verbose=verbose,
        eps=eps,
    ).fit(emp_cov)
    found: tuple = (model.covariance_, model.precision_)
    found += (model.costs_,) if return_costs else ()
    return (*found, model.n_iter_) if return_n_iter else found


def checked_covariance(S: np.ndarray, name: str, from_rows: bool) -> np.ndarray:
    """A covariance that can be inverted once it is penalised: square, symmetric, positive variances."""
    if S.ndim != 2 or S.shape[0] != S.shape[1]:
        raise ValueError(f"The covariance has the shape {S.shape}; give {name} a square one, or rows.")
    scale = np.abs(S).max()
    if np.abs(S - S.T).max() > 1e-8 * scale:
        raise ValueError(f"The covariance is not symmetric; give {name} a symmetric one.")
    bad = np.flatnonzero(np.diag(S) <= 0)
    if bad.size:
        where = f"Feature {bad[0]} is constant" if from_rows else f"Entry {bad[0]} of the diagonal is not positive"
        raise ValueError(f"{where}, so that it has no finite precision; leave it out before {name}.")
    unit = np.sqrt(np.diag(S))
    with single_blas():
        if np.linalg.eigvalsh(S / np.outer(unit, unit))[0] < -1e-8 * len(S):
            raise ValueError(f"The matrix is not a covariance: it has a negative eigenvalue; give {name} one without.")
    return 0.5 * (S + S.T)


def sparse_inverse(S: np.ndarray, alpha: float, goal: Goal, name: str, loop: FitLoop | None = None) -> Sparse:
    """The best precision for a penalty of 0 or more, with a warning where the goal was not reached."""
    if alpha == 0:
        return _inverse(S, name)
    report = None if loop is None else lambda value, gap: loop.step(f"objective {value:.6g}, gap {gap:.2g}")
    found = graphical_lasso_of(S, alpha, goal, report=report)
    if not np.isfinite(found.gap):
        raise ValueError(
            f"The system is too ill-conditioned for {name}: no positive definite precision was found with alpha="
            f"{alpha:g}; give a larger alpha, more iterations (max_iter), or leave out features that depend on others."
        )
    if found.gap > goal.tol and len(found.costs) >= goal.max_iter:
        warnings.warn(
            f"{name} did not converge after {goal.max_iter} iterations: the duality gap is {found.gap:.3g} and tol "
            f"{goal.tol:.3g}; increase max_iter, alpha or tol.",
            ConvergenceWarning,
            stacklevel=4,
        )
    return found


@single_blas()
def _inverse(S: np.ndarray, name: str) -> Sparse:
    unit = np.sqrt(np.diag(S))
    if np.linalg.eigvalsh(S / np.outer(unit, unit))[0] <= len(S) * _EPS:
        raise ValueError(f"The covariance is singular, so that it has no inverse; give {name} an alpha greater than 0.")
    P = np.linalg.inv(S)
    P = 0.5 * (P + P.T)
    value = objective(S, P, 0.0)
    gap = abs(float((S * P).sum()) - len(S))
    return Sparse(S.copy(), P, [(value, gap)], np.zeros_like(S))


class GraphicalLasso(CallbackSupportMixin, EmpiricalCovariance):
    """An inverse covariance with many zeros: features that do not depend on each other when the others are known.

        min over P ≻ 0   tr(S P) − log det P + α Σ_{i≠j} |P_ij|,      S the covariance of the rows

    Take it to find which columns depend on each other directly (a Gaussian graphical model): a zero in the inverse
    means that two columns are independent given all others. It also regularises a covariance of few rows.

    Parameters
    ----------
    alpha : float, default=0.01
        Regularisation strength, at least 0, in units of the covariance: the larger, the more zeros in `precision_`.
        Scale the columns to variance 1 before, so that one penalty suits all; `GraphicalLassoCV` chooses it.
    mode : {"cd", "lars"}, default="cd"
        Kept for scikit-learn's signature: both find the same minimum by coordinate descent.
    covariance : {None, "precomputed"}, default=None
        None: `fit` is given rows. "precomputed": `fit` is given their covariance S.
    tol : float, default=1e-4
        Stopping tolerance: the fit ends when the duality gap is at most this. Larger is faster and less exact; raise
        it, or `max_iter`, after a convergence warning.
    enet_tol : float, default=1e-4
        Tolerance of the lasso of a single column: the most that its last sweep may gain, in units of log det. A smaller
        one is used by itself where `tol` needs it.
    max_iter : int, default=100
        The most passes over all columns.
    verbose : bool, default=False
        Kept for scikit-learn's signature, and without effect.
    eps : float, default=machine epsilon
        Kept for scikit-learn's signature, and without effect.
    assume_centered : bool, default=False
        Whether the mean of every column is known to be 0, so that it is not estimated: True for residuals, or for rows
        that were centred before.

    Attributes
    ----------
    location_ : ndarray of shape (n_features,)
        The estimated mean of the rows; 0 where `assume_centered`.
    covariance_ : ndarray of shape (n_features, n_features)
        The covariance under the model: the solution of the dual problem, which is the inverse of `precision_` up to
        `tol`.
    precision_ : ndarray of shape (n_features, n_features)
        The sparse inverse covariance P.
    costs_ : list of (float, float)
        Objective and duality gap after each pass; scikit-learn's objective is larger by 2 n_features log 2π.
    n_iter_ : int
        The number of passes over all columns.

    See Also
    --------
    GraphicalLassoCV : Chooses alpha by cross-validation.
    graphical_lasso : The same for a covariance at hand.
    LedoitWolf : Shrinkage without zeros, which needs no tuning.

    Notes
    -----
    A column at a time is a lasso, solved by coordinate descent [1]_; a pass over all d columns costs O(d³) at most. The
    dual problem bounds the objective from below, so that the fit ends where it is certain that no P is better by more
    than `tol`.

    References
    ----------
    .. [1] J. Friedman, T. Hastie and R. Tibshirani, "Sparse inverse covariance estimation with the graphical lasso",
       Biostatistics 9, 2008.

    Examples
    --------
    >>> rng = np.random.default_rng(0)
    >>> a, b, c = rng.normal(size=(3, 500))
    >>> model = GraphicalLasso(alpha=0.2).fit(np.column_stack([a, a + b, c]))
    >>> (model.precision_ != 0).astype(int)
    array([[1, 1, 0],
           [1, 1, 0],
           [0, 0, 1]])
    >>> model.costs_[-1][1] < 1e-4
    True
    """

    __learnt_schema__ = Schema(state=STATE, extra={"costs_": record, "n_iter_": count()})
    __learnt_trial__ = Trial(warmup=(Warm("none"),))

    def __init__(
        self,
        alpha: float = 0.01,
        *,
        mode: str = "cd",
        covariance: str | None = None,
        tol: float = 1e-4,
        enet_tol: float = 1e-4,
        max_iter: int = 100,
        verbose: Any = False,
        eps: float = _EPS,
        assume_centered: bool = False,
    ) -> None:
        self.alpha = alpha
        self.mode = mode
        self.covariance = covariance
        self.tol = tol
        self.enet_tol = enet_tol
        self.max_iter = max_iter
        self.verbose = verbose
        self.eps = eps
        self.assume_centered = assume_centered

    @with_callbacks
    def fit(self, X: Any, y: Any = None) -> Self:
        """Find the sparse inverse covariance of the rows of X, or of the covariance X where covariance="precomputed".

        Parameters
        ----------
        X : array-like of shape (n_samples, n_features) or (n_features, n_features)
            The rows, or their covariance where covariance="precomputed".
        """
        check_number(self, "alpha", 0, np.finfo(float).max)
        check_choice(self, "covariance", (None, "precomputed"))
        check_solver(self)
        name = type(self).__name__
        X = check_fit(self, X, lazy=self.covariance is None).X
        if self.covariance is None:
            found = sample(X, self.assume_centered, name, fewest=2)
            location, S = found.location, found.covariance
        else:
            S = to_numpy(X).astype(np.float64)
            location = np.zeros(S.shape[1])
        S = checked_covariance(S, name, self.covariance is None)
        with fit_loop(self, self.max_iter, X) as loop:
            self._take(location, sparse_inverse(S, self.alpha, goal_of(self), name, loop))
        keep_beside(self, X)
        return self

    def _take(self, location: np.ndarray, found: Sparse) -> None:
        self.location_, self.covariance_, self.precision_ = location, found.covariance, found.precision
        self.costs_ = found.costs
        self.n_iter_ = len(found.costs)


def check_solver(model: Any) -> None:
    """The parameters that say how the problem is solved."""
    check_choice(model, "mode", ("cd", "lars"))
    check_number(model, "tol", 0, open_low=True)
    check_number(model, "enet_tol", 0, open_low=True)
    check_number(model, "max_iter", 1, integer=True)
    check_number(model, "eps", 0)
    check_verbose(model)
    check_flag(model, "assume_centered")


def goal_of(model: Any) -> Goal:
    return Goal(float(model.tol), float(model.enet_tol), int(model.max_iter))
