"""Which features depend on each other when all others are known: an inverse covariance with many zeros."""

from __future__ import annotations

import warnings
from typing import Any

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
    """The sparse inverse of a covariance S; the problem is `GraphicalLasso`'s.

    Parameters
    ----------
    emp_cov : array of shape (n_features, n_features)
        S.
    alpha : float of at least 0
        The penalty on entries beside the diagonal.
    mode, tol, enet_tol, max_iter, verbose, eps
        As in `GraphicalLasso`.
    return_costs, return_n_iter : bool, default=False
        Whether costs and the number of passes are given too.

    Returns
    -------
    covariance, precision : arrays of shape (n_features, n_features)
    costs : list of (objective, duality gap)
        Where asked for, as in `GraphicalLasso`.
    n_iter : int
        Where asked for.

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

    A column at a time is a lasso, solved by coordinate descent (Friedman, Hastie and Tibshirani 2008). The dual problem
    bounds the objective from below, so that the fit ends where it is certain that no P is better by more than `tol`.

    Parameters
    ----------
    alpha : float of at least 0, default=0.01
        The penalty, in units of the covariance.
    mode : {"cd", "lars"}, default="cd"
        For code written for scikit-learn: the same minimum by coordinate descent with both.
    covariance : None or "precomputed"
        "precomputed": `fit` is given S instead of rows.
    tol : float, default=1e-4
        Stop at this duality gap.
    enet_tol : float, default=1e-4
        The most that the last sweep of a column's lasso may gain, in units of log det; less where tol needs it.
    max_iter : int, default=100
        The most passes over all columns.
    verbose : bool, default=False
        For code written for scikit-learn; `learnt.engine.progress` shows the passes.
    eps : float
        For code written for scikit-learn.
    assume_centered : bool, default=False
        Whether the mean is known to be 0.

    Attributes
    ----------
    location_ : array of shape (n_features,)
        The mean, or 0.
    covariance_ : array of shape (n_features, n_features)
        The solution of the dual problem, which is the inverse of the precision up to `tol`.
    precision_ : array of shape (n_features, n_features)
        P.
    costs_ : list of (float, float)
        Objective and duality gap after each pass; scikit-learn's objective is larger by 2 n_features log 2π.
    n_iter_ : int
        The number of passes.
    n_features_in_, feature_names_in_
        As in scikit-learn.

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
        alpha=0.01,
        *,
        mode="cd",
        covariance=None,
        tol=1e-4,
        enet_tol=1e-4,
        max_iter=100,
        verbose=False,
        eps=_EPS,
        assume_centered=False,
    ):
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
    def fit(self, X: Any, y: Any = None) -> Any:
        """Find the precision; y is not used."""
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
