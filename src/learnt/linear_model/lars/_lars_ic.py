"""The lasso with its penalty chosen by an information criterion."""

from __future__ import annotations

import math
from dataclasses import replace
from typing import Any

import numpy as np

from learnt.engine.estimator import Trial, Warm
from learnt.engine.params import check_choice, check_number
from learnt.engine.rows import as_rows
from learnt.engine.schema import anyof, none, number, record
from learnt.engine.threads import for_blocks, single_blas
from learnt.engine.validation import check_fit
from learnt.linalg.gram import rows_a_task
from learnt.linear_model._base import record_coefficients
from learnt.linear_model.lars._lars import _EPS, BENDS, LeastAngle
from learnt.linear_model.lars._path import follow_path, warn_irregular
from learnt.linear_model.least_squares._ordinary import LinearRegression


class LassoLarsIC(LeastAngle):
    """The lasso by its path, with the penalty of the smallest information criterion.

        n log(2πσ²) + ‖y − Xb − c‖²/σ² + s·k

    k is the number of coefficients that are not 0, s is 2 (AIC) or log n (BIC), and σ² is the variance of the noise, by
    default that of the residuals of least squares. One path is all it costs, where cross-validation takes one for each
    fold; it relies on the model being right and on many more rows than columns.

    Parameters
    ----------
    criterion : {"aic", "bic"}, default="aic"
        What is made smallest.

        - "aic": Akaike's criterion, which aims at the best predictions.
        - "bic": the Bayesian criterion, which aims at the right columns and keeps fewer.
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
    positive : bool, default=False
        Keep all coefficients at 0 or more, where a negative effect makes no sense.
    noise_variance : float or None, default=None
        σ², the variance of the noise; None estimates it from the residuals of least squares. To be given where there
        are no more rows than columns.

    Attributes
    ----------
    alpha_ : float
        The penalty that was chosen.
    alphas_ : ndarray of shape (n_bends,)
        The penalties at which the path bends, among which it was; falling.
    criterion_ : ndarray of shape (n_bends,)
        The criterion there.
    noise_variance_ : float
        σ², given or estimated.
    coef_ : ndarray of shape (n_features,)
        The coefficients b.
    intercept_ : float
        The intercept c; 0.0 with `fit_intercept=False`.
    n_iter_ : int
        Steps of the path.

    See Also
    --------
    LassoLarsCV : Chooses alpha by cross-validation along the same path.
    LassoCV : Chooses alpha by cross-validation on a grid.
    LassoLars : The same model with alpha given.

    Notes
    -----
    The number of coefficients that are not 0 is an unbiased estimate of the degrees of freedom of the lasso [1]_, which
    is why it stands for k.

    References
    ----------
    .. [1] H. Zou, T. Hastie and R. Tibshirani, "On the 'Degrees of Freedom' of the Lasso", Annals of Statistics 35(5),
           2007.

    Examples
    --------
    >>> import numpy as np
    >>> rng = np.random.default_rng(0)
    >>> X = rng.normal(size=(100, 8))
    >>> model = LassoLarsIC("bic").fit(X, 3 * X[:, 4] + rng.normal(size=100))
    >>> np.flatnonzero(np.abs(model.coef_) > 1)
    array([4])
    """

    __learnt_schema__ = replace(
        LeastAngle.__learnt_schema__,
        extra={
            **{name: BENDS[name] for name in ("alphas_", "n_iter_")},
            "alpha_": number(0),
            "criterion_": record,
            "noise_variance_": anyof(none, number(0)),
        },
    )
    __learnt_trial__ = Trial(warmup=(Warm("amount"),))

    method = "lasso"

    def __init__(
        self,
        criterion: str = "aic",
        *,
        fit_intercept: bool = True,
        verbose: bool | int = False,
        precompute: Any = "auto",
        max_iter: float = 500,
        eps: float = _EPS,
        copy_X: bool = True,
        positive: bool = False,
        noise_variance: float | None = None,
    ) -> None:
        self.criterion = criterion
        self.fit_intercept = fit_intercept
        self.verbose = verbose
        self.precompute = precompute
        self.max_iter = max_iter
        self.eps = eps
        self.copy_X = copy_X
        self.positive = positive
        self.noise_variance = noise_variance

    def fit(self, X: Any, y: Any, copy_X: bool | None = None) -> LassoLarsIC:
        """Follow the path to least squares and choose one of its bends.

        Parameters
        ----------
        copy_X : bool or None, default=None
            Kept for scikit-learn's signature: X is never changed.
        """
        self._check_shared()
        check_choice(self, "criterion", ("aic", "bic"))
        check_number(self, "noise_variance", 0, also=(None,))
        X, y, _ = check_fit(self, X, y, target="number")
        n = len(X)
        variance = self._variance(X, y) if self.noise_variance is None else float(self.noise_variance)
        problem = self._pose(X, y, self.max_iter)
        path = follow_path(problem.source, problem.starts[0], n, self._options(0.0, self.max_iter))
        warn_irregular([path], type(self).__name__)
        coefs, intercepts = path.coefs.T, problem.intercept(path.coefs.T)

        def squares(lo: int, hi: int) -> np.ndarray:
            rest = y[lo:hi, None] - (X[lo:hi] @ coefs + intercepts)
            return np.einsum("ij,ij->j", rest, rest)

        with single_blas():
            total = np.sum(for_blocks(squares, n, grain=rows_a_task(X)), axis=0)
        used = (np.abs(path.coefs) > np.finfo(X.dtype).eps).sum(axis=1)
        price = 2.0 if self.criterion == "aic" else math.log(n)
        with np.errstate(divide="ignore", invalid="ignore"):  # a variance of 0 makes all but exact fits infinitely bad
            self.criterion_ = n * np.log(2 * np.pi * variance) + total / variance + price * used
        best = int(np.argmin(self.criterion_))
        self.alphas_, self.alpha_ = path.alphas.astype(X.dtype), float(path.alphas[best])
        self.noise_variance_, self.n_iter_ = variance, path.n_iter
        record_coefficients(self, coefs[:, best : best + 1], intercepts[best : best + 1], as_rows(X, y), True)
        return self

    def _variance(self, X: np.ndarray, y: np.ndarray) -> float:
        """Of the noise: what least squares leaves unexplained."""
        n, taken = len(X), X.shape[1] + bool(self.fit_intercept)
        if n <= taken:
            raise ValueError(
                f"You are using {type(self).__name__} in the case where the number of samples is smaller than the "
                f"number of features (n_samples={n}, and {taken} coefficients): the noise cannot be estimated; "
                "give noise_variance."
            )
        full = LinearRegression(positive=bool(self.positive), fit_intercept=self.fit_intercept).fit(X, y)
        rest = y - full.predict(X)
        return float(rest @ rest) / (n - taken)
