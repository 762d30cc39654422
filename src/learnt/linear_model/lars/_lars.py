"""Least angle regression, and the lasso at one penalty by its path."""

from __future__ import annotations

import math
from functools import partial
from typing import Any, Self

import numpy as np

from learnt.engine.estimator import Estimator, Trial, Warm
from learnt.engine.finite import require_finite_cells
from learnt.engine.mixins import MultiOutputMixin, RegressorMixin
from learnt.engine.params import ParameterError, check_flag, check_number
from learnt.engine.random import random_state_of
from learnt.engine.rows import as_rows
from learnt.engine.schema import Schema, record
from learnt.engine.validation import check_fit
from learnt.linalg.pursuit import KnownRows
from learnt.linear_model._base import LinearPredictor, is_single, record_coefficients
from learnt.linear_model._schema import COUNTS, LINES, WITH_INTERCEPT, one_intercept_a_target
from learnt.linear_model.lars._functions import square_of
from learnt.linear_model.lars._path import Options, Path, follow_path, warn_irregular
from learnt.linear_model.pursuit._gram import Problem, make_problem

_EPS = float(np.finfo(float).eps)
BENDS = {"alphas_": record, "active_": record, "coef_path_": record, "n_iter_": COUNTS}


class LeastAngle(LinearPredictor, RegressorMixin, Estimator):
    """What all these models share: one path for each target, and how its last bend is recorded."""

    __learnt_schema__ = Schema(params=WITH_INTERCEPT, state=LINES, extra=BENDS, rule=one_intercept_a_target)

    method = "lar"
    positive = False

    def _check_shared(self) -> None:
        check_flag(self, "fit_intercept", "copy_X")
        check_number(self, "eps", 0)
        for name in ("positive", "fit_path"):
            if hasattr(self, name):
                check_flag(self, name)
        if hasattr(self, "max_iter"):
            check_number(self, "max_iter", 0, integer=True, also=(math.inf,))
        if self._gram_given() and np.ndim(self.precompute) != 2:
            raise ParameterError(
                f"The 'precompute' parameter of {type(self).__name__} must be True, False, 'auto' or a matrix, XᵀX. "
                f"Got {self.precompute!r} instead."
            )

    def _gram_given(self) -> bool:
        if isinstance(self.precompute, str):
            return self.precompute != "auto"
        return not (self.precompute is None or isinstance(self.precompute, bool | np.bool_))

    def _options(self, alpha: float, max_iter: float, keep: bool = True) -> Options:
        return Options(self.method == "lasso", bool(self.positive), float(alpha), max_iter, float(self.eps), keep)

    def _pose(self, X: np.ndarray, y: np.ndarray, max_iter: float, Xy: Any = None) -> Problem:
        """The products that paths of every column of y need."""
        atoms = int(max_iter) if 0 < max_iter < X.shape[1] else None
        precompute = False if self._gram_given() else bool(self.precompute) and self.precompute
        # the first products show cells that are not finite
        problem = make_problem(X, y, self.fit_intercept, precompute, atoms, partial(require_finite_cells, self, X))
        if self._gram_given():
            if self.fit_intercept:
                problem.x_mean[:] = X.mean(axis=0, dtype=np.float64)
            problem = problem._replace(source=KnownRows(square_of(self.precompute, X.shape[1])))
        if Xy is not None:
            starts = np.asarray(Xy, dtype=np.float64)
            starts = starts[None, :] if starts.ndim == 1 else starts.T
            if starts.shape != problem.starts.shape:
                raise ValueError(
                    f"Xy has the shape {np.shape(Xy)}; give Xᵀy of the centred table, {X.shape[1]} numbers for each "
                    f"of the {len(problem.starts)} targets."
                )
            problem = problem._replace(starts=np.ascontiguousarray(starts))
        return problem

    def _follow(self, problem: Problem, n: int, options: Options, X: np.ndarray, y: np.ndarray) -> list[Path]:
        """Follow the path of every target, and record where it ends."""
        paths = [follow_path(problem.source, start, n, options) for start in problem.starts]
        warn_irregular(paths, type(self).__name__)
        coef = np.stack([path.coefs[-1] for path in paths], axis=1)
        record_coefficients(self, coef, problem.intercept(coef), as_rows(X, y), is_single(y), flat=True)
        self._note(paths, options.keep, X.dtype)
        return paths

    def _note(self, paths: list[Path], keep: bool, dtype: Any) -> None:
        """The bends, as lists where there are several targets."""
        alphas = [(path.alphas if keep else path.alphas[-1:]).astype(dtype) for path in paths]
        n_iters = [path.n_iter for path in paths]
        single = len(paths) == 1
        self.alphas_ = alphas[0] if single else alphas
        self.n_iter_ = n_iters[0] if single else n_iters
        if keep:
            active, bends = [path.active for path in paths], [path.coefs.T.astype(dtype) for path in paths]
            self.active_ = active[0] if single else active
            self.coef_path_ = bends[0] if single else bends
        else:
            for name in ("active_", "coef_path_"):  # of an earlier fit
                self.__dict__.pop(name, None)


class Lars(MultiOutputMixin, LeastAngle):
    """Least angle regression: the columns in use move together so that their correlations with the residual stay equal.

        |xⱼᵀ(y − Xw)| = nα  for every column in use,  ≤ nα  for the others

    α falls from where w = 0 to where w is least squares; a column enters when its correlation is as large as theirs. It
    gives the whole path of models of 1, 2, 3, … columns for about the cost of one least squares, also where columns are
    many more than rows. Like all stepwise methods it is sensitive to noise among strongly correlated columns.

    Parameters
    ----------
    fit_intercept : bool, default=True
        Whether to fit the intercept c. Choose False only where y is known to be 0 at x = 0, or where X and y are
        centred already.
    verbose : bool or int, default=False
        Kept for scikit-learn's signature: nothing is printed.
    precompute : bool, "auto" or array-like of shape (n_features, n_features), default="auto"
        XᵀX of the centred table, where it is known; True computes all of it first, False only the rows of it that are
        needed, "auto" whichever is less work.
    n_nonzero_coefs : int, default=500
        The most steps, each of which takes a column; `math.inf` for no limit. Fewer columns mean more regularisation.
    eps : float, default=2.2e-16
        From 1e-7 on, columns in the span of those in use are no longer left out: they enter with this as the pivot of
        the Cholesky factor. Smaller values change nothing. Raise it for nearly collinear columns.
    copy_X : bool, default=True
        Kept for scikit-learn's signature: X is never changed.
    fit_path : bool, default=True
        Whether to keep all bends of the path, in `coef_path_`; False saves memory.
    jitter : float or None, default=None
        Add uniform noise between 0 and this to y, for tables in which many columns are equally good, where the path
        could not go on.
    random_state : int, RandomState or None, default=None
        Where that noise comes from. Pass an integer to get the same result every time.

    Attributes
    ----------
    alphas_ : ndarray of shape (n_bends,), or list of them
        α at every bend, falling; only the last with `fit_path=False`. A list with several targets.
    active_ : list of int, or list of them
        The columns in use at the end, in the order they came; only with `fit_path`.
    coef_path_ : ndarray of shape (n_features, n_bends), or list of them
        The coefficients at every bend; only with `fit_path`.
    coef_ : ndarray of shape (n_features,) or (n_targets, n_features)
        The coefficients b; a row for each target where y has several columns.
    intercept_ : float or ndarray of shape (n_targets,)
        The intercept c, or one for each target; 0.0 with `fit_intercept=False`.
    n_iter_ : int or list of int
        Steps of the path, for each target.

    See Also
    --------
    LarsCV : Chooses where the path ends by cross-validation.
    LassoLars : The lasso by the same path, in which columns may leave again.
    OrthogonalMatchingPursuit : Takes columns greedily and fits them fully.
    lars_path : The path as a function of arrays.

    Notes
    -----
    A step costs O(n d) for n rows and d columns, or O(d k) with k columns in use once XᵀX is known. Columns should have
    like units (`StandardScaler`), since they compete by their correlations.

    References
    ----------
    .. [1] B. Efron, T. Hastie, I. Johnstone and R. Tibshirani, "Least Angle Regression", Annals of Statistics 32(2),
           2004.

    Examples
    --------
    >>> import numpy as np
    >>> model = Lars(n_nonzero_coefs=1).fit([[-1.0, 1.0], [0.0, 0.0], [1.0, 1.0]], [-1.1111, 0.0, -1.1111])
    >>> model.coef_
    array([ 0.    , -1.1111])
    """

    __learnt_trial__ = Trial(warmup=(Warm("amount"), Warm("amount", {"precompute": False})))

    def __init__(
        self,
        *,
        fit_intercept: bool = True,
        verbose: bool | int = False,
        precompute: Any = "auto",
        n_nonzero_coefs: Any = 500,
        eps: float = _EPS,
        copy_X: bool = True,
        fit_path: bool = True,
        jitter: float | None = None,
        random_state: Any = None,
    ) -> None:
        self.fit_intercept = fit_intercept
        self.verbose = verbose
        self.precompute = precompute
        self.n_nonzero_coefs = n_nonzero_coefs
        self.eps = eps
        self.copy_X = copy_X
        self.fit_path = fit_path
        self.jitter = jitter
        self.random_state = random_state

    def fit(self, X: Any, y: Any, Xy: Any = None) -> Self:
        """Follow the path of each target.

        Parameters
        ----------
        y : array-like of shape (n_samples,) or (n_samples, n_targets)
            The number to predict for each row, or several.
        Xy : array-like of shape (n_features,) or (n_features, n_targets), default=None
            Xᵀy of the centred table, where it is known already.
        """
        self._check_shared()
        check_number(self, "jitter", 0, also=(None,))
        alpha, max_iter = self._ends()
        X, y, _ = check_fit(self, X, y, target="numbers", allow_nan=True)
        if self.jitter is not None:
            noise = random_state_of(self.random_state).uniform(high=self.jitter, size=len(y))
            y = y + (noise if y.ndim == 1 else noise[:, None])
        problem = self._pose(X, y, max_iter, Xy)
        self._follow(problem, len(X), self._options(alpha, max_iter, bool(self.fit_path)), X, y)
        return self

    def _ends(self) -> tuple[float, float]:
        """The penalty and the number of steps at which the path ends."""
        check_number(self, "n_nonzero_coefs", 1, integer=True, also=(math.inf,))
        return 0.0, self.n_nonzero_coefs


class LassoLars(Lars):
    """The lasso by its path:  min over b, c of  1/(2n) ‖y − Xb − c‖² + α‖b‖₁.

    Least angle regression in which a column leaves when its coefficient reaches 0 gives the minimum at every penalty
    from the largest down to α; it is exact, where coordinate descent (`Lasso`) approaches it. Take it where few columns
    are used, or where the whole path is of interest.

    Parameters
    ----------
    alpha : float, default=1.0
        α, the regularisation strength, at least 0: larger values mean more shrinkage and more coefficients of 0. 0 is
        the end of the path, least squares. Let `LassoLarsCV` choose where it is not known.
    fit_intercept : bool, default=True
        Whether to fit the intercept c, which is never penalised. Choose False only where y is known to be 0 at x = 0,
        or where X and y are centred already.
    verbose : bool or int, default=False
        Kept for scikit-learn's signature: nothing is printed.
    precompute : bool, "auto" or array-like of shape (n_features, n_features), default="auto"
        XᵀX of the centred table, where it is known; True computes all of it first, False only the rows of it that are
        needed, "auto" whichever is less work.
    max_iter : int, default=500
        The most bends of the path; `math.inf` for no limit.
    eps : float, default=2.2e-16
        From 1e-7 on, columns in the span of those in use are no longer left out: they enter with this as the pivot of
        the Cholesky factor. Smaller values change nothing. Raise it for nearly collinear columns.
    copy_X : bool, default=True
        Kept for scikit-learn's signature: X is never changed.
    fit_path : bool, default=True
        Whether to keep all bends of the path, in `coef_path_`; False saves memory.
    positive : bool, default=False
        Keep all coefficients at 0 or more, where a negative effect makes no sense.
    jitter : float or None, default=None
        Add uniform noise between 0 and this to y, for tables in which many columns are equally good, where the path
        could not go on.
    random_state : int, RandomState or None, default=None
        Where that noise comes from. Pass an integer to get the same result every time.

    Attributes
    ----------
    alphas_ : ndarray of shape (n_bends,), or list of them
        α at every bend, falling; only the last with `fit_path=False`. A list with several targets.
    active_ : list of int, or list of them
        The columns in use at the end, in the order they came; only with `fit_path`.
    coef_path_ : ndarray of shape (n_features, n_bends), or list of them
        The coefficients at every bend; only with `fit_path`.
    coef_ : ndarray of shape (n_features,) or (n_targets, n_features)
        The coefficients b; a row for each target where y has several columns.
    intercept_ : float or ndarray of shape (n_targets,)
        The intercept c, or one for each target; 0.0 with `fit_intercept=False`.
    n_iter_ : int or list of int
        Steps of the path, for each target.

    See Also
    --------
    LassoLarsCV : Chooses alpha by cross-validation.
    LassoLarsIC : Chooses alpha by AIC or BIC.
    Lasso : The same minimum by coordinate descent, for sparse tables and weights too.
    lars_path : The path as a function of arrays.

    Notes
    -----
    Between bends the coefficients are linear in α. A bend costs O(n d) for n rows and d columns, or O(d k) with k
    columns in use once XᵀX is known; with many columns in use there are many bends, and `Lasso` is quicker.

    References
    ----------
    .. [1] B. Efron, T. Hastie, I. Johnstone and R. Tibshirani, "Least Angle Regression", Annals of Statistics 32(2),
           2004.

    Examples
    --------
    >>> model = LassoLars(alpha=0.01).fit([[-1.0, 1.0], [0.0, 0.0], [1.0, 1.0]], [-1.0, 0.0, -1.0])
    >>> model.coef_.round(3), model.alphas_.round(3)
    (array([ 0.   , -0.955]), array([0.222, 0.01 ]))
    """

    __learnt_trial__ = Trial(warmup=(Warm("amount", {"alpha": 0.1}), Warm("amount", {"precompute": False})))

    method = "lasso"

    def __init__(
        self,
        alpha: float = 1.0,
        *,
        fit_intercept: bool = True,
        verbose: bool | int = False,
        precompute: Any = "auto",
        max_iter: float = 500,
        eps: float = _EPS,
        copy_X: bool = True,
        fit_path: bool = True,
        positive: bool = False,
        jitter: float | None = None,
        random_state: Any = None,
    ) -> None:
        self.alpha = alpha
        self.fit_intercept = fit_intercept
        self.verbose = verbose
        self.precompute = precompute
        self.max_iter = max_iter
        self.eps = eps
        self.copy_X = copy_X
        self.fit_path = fit_path
        self.positive = positive
        self.jitter = jitter
        self.random_state = random_state

    def _ends(self) -> tuple[float, float]:
        check_number(self, "alpha", 0)
        return float(self.alpha), self.max_iter
