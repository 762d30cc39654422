"""Ridge regression with its penalty chosen by leave-one-out."""

from __future__ import annotations

import math
import warnings
from functools import partial
from numbers import Real
from typing import Any

import numpy as np
from scipy import sparse

from learnt.engine.arrays import to_numpy
from learnt.engine.estimator import Estimator, Takes, Trial
from learnt.engine.finite import require_finite_cells
from learnt.engine.matrices import Route
from learnt.engine.mixins import BaseEstimator, MultiOutputMixin, RegressorMixin
from learnt.engine.params import ParameterError, check_choice, check_flag
from learnt.engine.rows import Rows, as_rows, in_memory, target_in_memory
from learnt.engine.rows.blocks import as_columns
from learnt.engine.schema import Schema, anyof, flag, number, real
from learnt.engine.validation import check_fit, refuse_unnumbered
from learnt.engine.weights import (
    RowIndex,
    present_rows,
    rows_given,
    scatter_rows,
    take_folds,
    take_params,
    without_absent,
)
from learnt.linear_model._base import LinearPredictor, is_single, record_coefficients
from learnt.linear_model._schema import LINES, WITH_INTERCEPT, one_intercept_a_target
from learnt.linear_model.least_squares import _leave_one_out as loo
from learnt.linear_model.least_squares._leave_one_out_wide import wide_residuals
from learnt.linear_model.least_squares._ridge import Ridge


class RidgeCV(MultiOutputMixin, LinearPredictor, RegressorMixin, Estimator):
    """Ridge regression whose α has the smallest leave-one-out error, found in closed form.

        error(α) = Σᵢ wᵢ (eᵢ(α) / (1 − Hᵢᵢ(α)))² / n,    H the hat matrix

    Cross-validation with as many folds as rows, for about the cost of one `Ridge`: all α together take two passes over
    the data. Take it in place of `Ridge` wherever the regularisation strength is not known.

    Parameters
    ----------
    alphas : array-like of shape (n_alphas,), default=(0.1, 1.0, 10.0)
        The regularisation strengths to choose from, each greater than 0 (0 is allowed with `cv`). More values cost
        little: `np.logspace(-4, 4, 20)` is a good grid. Where an end of it is chosen, extend it.
    fit_intercept : bool, default=True
        Whether to fit the intercept c, which is never penalised. Choose False only where y is known to be 0 at x = 0,
        or where X and y are centred already.
    scoring : str, callable or None, default=None
        A scikit-learn score of the left-out predictions to maximise, such as "neg_mean_absolute_error"; None is the
        negative mean squared error.
    cv : int, splitter, iterable or None, default=None
        None for leave-one-out; otherwise `Ridge` is cross-validated on these splits, which takes a fit for each α and
        fold. Set it where rows come in groups or in time, so that leaving out one of them is too easy.
    gcv_mode : {None, "auto", "svd", "eigen"}, default=None
        Kept for scikit-learn's signature: the shape of X decides.
    store_cv_results : bool, default=False
        Keep the left-out squared errors (or predictions, with `scoring`) in `cv_results_`; not with `cv`.
    alpha_per_target : bool, default=False
        Choose one α for each target, instead of one for all; not with `cv`.

    Attributes
    ----------
    alpha_ : float or ndarray of shape (n_targets,)
        The regularisation strength that was chosen; with `alpha_per_target` one for each target.
    best_score_ : float or ndarray of shape (n_targets,)
        Its score. It has six digits where α was chosen in single precision, as it is for hundreds of rows that are
        fewer than the columns, unless `store_cv_results`.
    coef_ : ndarray of shape (n_features,) or (n_targets, n_features)
        The coefficients b; a row for each target where y has several columns.
    intercept_ : float or ndarray of shape (n_targets,)
        The intercept c, or one for each target; 0.0 with `fit_intercept=False`.
    cv_results_ : ndarray of shape (n_samples, n_alphas) or (n_samples, n_targets, n_alphas)
        With `store_cv_results`, the left-out squared errors, times the weights; with `scoring` the left-out
        predictions. Rows of weight 0 have the error 0, or the prediction NaN.

    See Also
    --------
    Ridge : The same model with α given.
    RidgeClassifierCV : The twin for labels.
    LassoCV : Chooses the penalty of the lasso, and few columns.
    BayesianRidge : Finds the strength from the evidence instead.

    Notes
    -----
    The leave-one-out residuals come from one decomposition of the d × d scatter matrix, or of the n × n matrix of inner
    products where rows are fewer than columns: O(n d min(n, d)), and O(n d) for each α.

    References
    ----------
    .. [1] D. M. Allen, "The Relationship between Variable Selection and Data Augmentation and a Method for Prediction",
           Technometrics 16(1), 1974.

    Examples
    --------
    >>> import numpy as np
    >>> rng = np.random.default_rng(0)
    >>> X = rng.normal(size=(20, 10))
    >>> y = X[:, 0] + 2.0 * rng.normal(size=20)
    >>> RidgeCV(alphas=[0.01, 1.0, 100.0]).fit(X, y).alpha_
    100.0
    """

    alpha_: Any

    __learnt_schema__ = Schema(
        params={**WITH_INTERCEPT, "store_cv_results": flag, "alpha_per_target": flag},
        state={**LINES, "alpha_": anyof(number(0), real("t", low=0)), "best_score_": anyof(number(), real("t"))},
        extra={"cv_results_": anyof(real(None, None, finite=False), real(None, None, None, finite=False))},
        rule=one_intercept_a_target,
    )
    __learnt_takes__ = Takes(sparse=True, tensors=True, lazy=True)
    __learnt_trial__ = Trial(
        weighted=({"store_cv_results": True}, {"store_cv_results": True, "scoring": "r2"}, {"cv": 3}),
        weight_unit_free=False,
    )

    def __init__(
        self,
        alphas: Any = (0.1, 1.0, 10.0),
        *,
        fit_intercept: bool = True,
        scoring: Any = None,
        cv: Any = None,
        gcv_mode: str | None = None,
        store_cv_results: bool = False,
        alpha_per_target: bool = False,
    ) -> None:
        self.alphas = alphas
        self.fit_intercept = fit_intercept
        self.scoring = scoring
        self.cv = cv
        self.gcv_mode = gcv_mode
        self.store_cv_results = store_cv_results
        self.alpha_per_target = alpha_per_target

    def fit(self, X: Any, y: Any, sample_weight: Any = None, **params: Any) -> RidgeCV:
        """Choose α and fit the coefficients with it; a row of weight 0 is not there.

        Parameters
        ----------
        y : array-like of shape (n_samples,) or (n_samples, n_targets)
            The number to predict for each row, or several.
        sample_weight : array-like of shape (n_samples,), default=None
            What each row counts: 2 as two rows, 0 as none. None counts every row once.
        **params : dict
            With `cv`, passed on to the search: metadata such as `groups` for the splitter.
        """
        check_flag(self, "fit_intercept", "store_cv_results", "alpha_per_target")
        check_choice(self, "gcv_mode", (None, "auto", "svd", "eigen"))
        alphas = self._checked_alphas()
        if self.cv is not None and y is not None:
            return self._search(X, y, sample_weight, alphas, params)
        present = present_rows(sample_weight, X)
        # The sums over X will show whether all cells are finite; `check_cells` then says which are not.
        plain = type(X) is np.ndarray and present is None
        X, y, w = check_fit(self, X, y, sample_weight, target="numbers", allow_nan=plain)
        rows = as_rows(X, y, w)
        if self.gcv_mode == "svd" and rows.in_memory and rows.route is Route.SPARSE:
            warnings.warn(
                "The 'svd' mode is not supported for sparse X: its shape decides; leave gcv_mode alone.",
                FutureWarning,
                stacklevel=2,
            )
        check_cells = partial(require_finite_cells, self, X) if plain else None
        coef, intercept = (self._fit_wide if self._is_wide(rows) else self._fit_tall)(rows, alphas, check_cells)
        record_coefficients(self, coef, intercept, rows, is_single(y), flat=True)
        if self.store_cv_results:
            self.cv_results_ = with_absent_results(self, present, rows_given(sample_weight))
        return self

    def _is_wide(self, rows: Rows) -> bool:
        return rows.on_host and rows.X.shape[0] < rows.n_features

    def _fit_tall(self, rows: Rows, alphas: np.ndarray, check_cells: Any) -> tuple[np.ndarray, np.ndarray]:
        spectrum = loo.spectrum(rows, self.fit_intercept, check_cells)
        if self.scoring is None and not self.store_cv_results:
            score = -loo.mean_squared_errors(rows, spectrum, alphas)
        else:
            score = self._score(rows, to_numpy(loo.residuals(rows, spectrum, alphas)), alphas)
        best = self._choose(score, alphas)
        coef = spectrum.coef(alphas)  # (d, k, A)
        coef = np.stack([coef[:, j, a] for j, a in enumerate(best)], axis=1)
        m = spectrum.moments
        return coef, m.y_mean - m.x_mean @ coef

    def _fit_wide(self, rows: Any, alphas: np.ndarray, check_cells: Any) -> tuple[np.ndarray, np.ndarray]:
        errors, solution = wide_residuals(rows, self.fit_intercept, alphas, check_cells, self.store_cv_results)
        return solution(self._choose(self._score(rows, errors, alphas), alphas))

    def _score(self, rows: Any, errors: np.ndarray, alphas: np.ndarray) -> np.ndarray:
        """(k, A): the score of every target and α from the left-out residuals."""
        weights = None if rows.w is None else in_memory(rows.w)
        Y = as_columns(in_memory(rows.y))
        single = is_single(rows.y)
        if self.scoring is None:
            kept = np.square(errors) if weights is None else np.square(errors) * weights[:, None, None]
            score = -kept.mean(axis=0)
        else:
            predictions = Y[:, :, None] - errors
            kept, score = predictions, self._user_score(Y, predictions, weights)
        if self.store_cv_results:
            self.cv_results_ = kept[:, 0, :] if single else kept
        return score

    def _user_score(self, Y: np.ndarray, predictions: np.ndarray, weights: np.ndarray | None) -> np.ndarray:
        from sklearn.metrics import get_scorer  # slow to import, seldom needed

        scorer = get_scorer(self.scoring) if isinstance(self.scoring, str) else self.scoring
        extra = {} if weights is None else {"sample_weight": weights}
        k, A = predictions.shape[1:]
        # All targets are scored together unless each chooses for itself.
        columns = list(range(k)) if self.alpha_per_target or k == 1 else [slice(None)]
        table = [[float(scorer(_Given(), predictions[:, c, a], Y[:, c], **extra)) for a in range(A)] for c in columns]
        return np.broadcast_to(np.asarray(table), (k, A))

    def _choose(self, score: np.ndarray, alphas: np.ndarray) -> np.ndarray:
        """The index of the chosen α for every target; sets `alpha_` and `best_score_`."""
        if self.alpha_per_target and score.shape[0] > 1:
            best = score.argmax(axis=1)
            self.alpha_, self.best_score_ = alphas[best], score.max(axis=1)
            return best
        mean = score.mean(axis=0)
        chosen = int(mean.argmax())
        self.alpha_, self.best_score_ = float(alphas[chosen]), float(mean[chosen])
        return np.full(score.shape[0], chosen)

    def _search(self, X: Any, y: Any, sample_weight: Any, alphas: np.ndarray, params: dict) -> RidgeCV:
        if self.store_cv_results:
            raise ValueError("cv!=None and store_cv_results=True are incompatible; use GridSearchCV to see every fold.")
        if self.alpha_per_target:
            raise ValueError("cv!=None and alpha_per_target=True are incompatible; fit one RidgeCV for each target.")
        refuse_unnumbered(X, "RidgeCV with cv")
        from sklearn.model_selection import GridSearchCV  # slow to import, seldom needed

        y, sample_weight = target_in_memory(y), target_in_memory(sample_weight)
        n = rows_given(sample_weight)
        X, y, sample_weight, present = without_absent(X, y, sample_weight)
        params, cv = take_params(params, present, n), take_folds(self.cv, present)
        model = Ridge(fit_intercept=self.fit_intercept, solver="lsqr" if sparse.issparse(X) else "auto")
        search = GridSearchCV(model, {"alpha": list(alphas)}, cv=cv, scoring=self.scoring)
        search.fit(X, y, **({} if sample_weight is None else {"sample_weight": sample_weight}), **params)
        best = search.best_estimator_
        self.alpha_, self.best_score_ = best.alpha, search.best_score_
        self.coef_, self.intercept_ = best.coef_, best.intercept_
        self.n_features_in_ = best.n_features_in_
        if hasattr(best, "feature_names_in_"):
            self.feature_names_in_ = best.feature_names_in_
        return self

    def _checked_alphas(self) -> np.ndarray:
        """Numbers greater than 0: with α = 0 a row that the model fits exactly has no leave-one-out residual."""
        given = self.alphas if np.ndim(self.alphas) else [self.alphas]
        lowest_is_open = self.cv is None
        for i, value in enumerate(given):
            if not isinstance(value, Real) or isinstance(value, bool):
                raise ParameterError(f"alphas[{i}] must be an instance of float, not {type(value).__name__}.")
            if value < 0 or (value == 0 and lowest_is_open) or not math.isfinite(value):
                bound = "> 0.0" if lowest_is_open else ">= 0.0"
                raise ParameterError(f"alphas[{i}] == {value}, must be {bound} and finite.")
        if not len(given):
            raise ParameterError("The 'alphas' parameter of RidgeCV must hold at least one number; it is empty.")
        return np.asarray(given, dtype=np.float64)


def with_absent_results(model: Any, present: RowIndex, n: int) -> np.ndarray:
    """`cv_results_` with an entry for every row that was given: rows of weight 0 have no error and no prediction."""
    return scatter_rows(model.cv_results_, present, n, 0.0 if model.scoring is None else np.nan)


class _Given(RegressorMixin, BaseEstimator):
    """An estimator that hands given predictions to a scorer."""

    def __sklearn_is_fitted__(self) -> bool:
        return True

    def predict(self, predictions: Any) -> Any:
        return predictions
