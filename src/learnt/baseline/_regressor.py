"""The best constant number."""

from __future__ import annotations

from typing import Any

import numpy as np
from scipy.special import stdtrit  # Student's quantiles without the seconds that scipy.stats takes to import

from learnt.baseline._quantiles import quantiles, row_worth
from learnt.baseline._validation import require_fitted, row_count, stand_in
from learnt.engine.estimator import Estimator, Takes, Trial
from learnt.engine.mixins import MultiOutputMixin, RegressorMixin
from learnt.engine.params import ParameterError, check_choice, check_number
from learnt.engine.schema import Dims, Schema, choice, count, number, real
from learnt.engine.validation import check_target, check_weights
from learnt.engine.weights import without_absent
from learnt.explanation import Explained

_KEPT = 1_001  # order statistics kept for intervals: all up to so many rows, every thousandth beyond


def _some_residuals(model: Any, state: dict[str, Any], dims: Dims) -> str | None:
    return None if state["residual_quantiles_"].shape[0] else "has no residuals"


class ConstantNumber(MultiOutputMixin, RegressorMixin, Estimator, Explained):
    """What regressors that predict a constant share: how it is found, and predictions."""

    __learnt_takes__ = Takes(sparse=True, categories=True, missing=True)

    def __init__(self, *, strategy: str = "mean", constant: Any = None, quantile: float | None = None) -> None:
        self.strategy = strategy
        self.constant = constant
        self.quantile = quantile

    def _fit_constant(self, X: Any, y: Any, sample_weight: Any) -> tuple[np.ndarray, np.ndarray | None, np.ndarray]:
        """Set the constant; targets as a matrix, their weights and the constant in float64."""
        check_choice(self, "strategy", ("mean", "median", "quantile", "constant"))
        check_number(self, "quantile", 0, 1, also=(None,))
        name = type(self).__name__
        rows, y, sample_weight, _ = without_absent(stand_in(self, X, y), y, sample_weight)
        if y is None:
            raise ValueError(f"This {name} estimator requires y to be passed, but the target y is None.")
        targets = check_target(y, "numbers", rows, name)
        weight = check_weights(sample_weight, rows)
        targets = targets.reshape(targets.shape[0], -1)
        constant = self._best(targets, weight)
        self.n_outputs_ = targets.shape[1]
        self.constant_ = constant.astype(targets.dtype).reshape(1, -1)
        return targets, weight, constant

    def _best(self, y: np.ndarray, weight: np.ndarray | None) -> np.ndarray:
        """The constant of each output, in float64."""
        if self.strategy == "mean":
            return np.average(y.astype(np.float64, copy=False), axis=0, weights=weight)
        if self.strategy == "constant":
            return self._given(y.shape[1])
        if self.strategy == "quantile" and self.quantile is None:
            raise ParameterError(
                "When using `strategy='quantile', you have to specify the desired quantile in the range [0, 1]."
            )
        share = np.array([0.5 if self.strategy == "median" else self.quantile], dtype=np.float64)
        return np.array([quantiles(column, weight, share)[0] for column in y.T], dtype=np.float64)

    def _given(self, n_outputs: int) -> np.ndarray:
        if self.constant is None:
            raise ParameterError("Constant target value has to be specified when the constant strategy is used.")
        try:
            given = np.asarray(self.constant, dtype=np.float64).ravel()
        except (TypeError, ValueError):
            raise ParameterError(
                f"The constant must be a number or one for each output; got {self.constant!r}."
            ) from None
        if given.size != n_outputs:
            raise ParameterError(
                f"Constant target value should have shape ({n_outputs}, 1), one for each output; got {self.constant!r}."
            )
        if not np.isfinite(given).all():
            raise ParameterError(f"The constant must be finite; got {self.constant!r}.")
        return given

    def predict(self, X: Any, return_std: bool = False) -> Any:
        """Return the constant, once for every row of X; with `return_std`, also the spread of that prediction: 0.

        Parameters
        ----------
        return_std : bool, default=False
            Whether to return a standard deviation too, which is 0 for every row.

        Returns
        -------
        y_pred : ndarray of shape (n_samples,) or (n_samples, n_outputs)
            The constant, for each row.
        std : ndarray of the same shape
            Zeros; only where `return_std` is set.
        """
        require_fitted(self)
        answer = self._for_each_row(row_count(self, X), self.constant_[0])
        return (answer, np.zeros(answer.shape)) if return_std else answer

    def _for_each_row(self, n: int, values: np.ndarray) -> np.ndarray:
        return np.repeat(values, n) if self.n_outputs_ == 1 else np.tile(values, (n, 1))

    def score(self, X: Any, y: Any, sample_weight: Any = None) -> float:
        """Return R²; X may be None."""
        return super().score(np.zeros((len(y), 1)) if X is None else X, y, sample_weight)

    def __sklearn_tags__(self) -> Any:
        tags = super().__sklearn_tags__()
        tags.regressor_tags.poor_score = True
        tags.no_validation = True  # X is not used
        return tags


class ConstantRegressor(ConstantNumber):
    """Predict the same number for every row: argmin_c Σ w·loss(y − c).

    The mean is best for squared loss, the median for absolute loss, a quantile for pinball loss; this is the floor
    under every regressor. X is counted and never read. Equals scikit-learn's `DummyRegressor` without weights; with
    weights, a weight of 2 is the row twice in every strategy.

    Parameters
    ----------
    strategy : {"mean", "median", "quantile", "constant"}, default="mean"
        What is predicted: "mean", best for squared loss; "median", best for absolute loss; the `quantile` that is asked
        for, best for pinball loss; or the `constant` that is given.
    constant : float, or array-like of shape (n_outputs,), default=None
        What strategy="constant" predicts, one number for all outputs or one each.
    quantile : float in [0, 1], default=None
        Which quantile strategy="quantile" predicts: 0.5 is the median.

    Attributes
    ----------
    constant_ : ndarray of shape (1, n_outputs)
        What is predicted.
    residual_quantiles_ : ndarray of shape (m, n_outputs)
        The sorted differences y − constant_: all of them, or 1001 evenly spaced of more.
    residual_count_ : float
        How many rows they stand for.
    n_outputs_ : int
        How many targets y has.

    See Also
    --------
    learnt.dummy.DummyRegressor : With scikit-learn's weighted quantiles.
    ConstantClassifier : The same of labels.
    learnt.linear_model.QuantileRegressor : A quantile that depends on the features.

    Examples
    --------
    >>> from learnt.baseline import ConstantRegressor
    >>> model = ConstantRegressor(strategy="median").fit([[0], [1], [2]], [1.0, 2.0, 9.0])
    >>> model.predict([[7], [8]])
    array([2., 2.])
    """

    __learnt_schema__ = Schema(
        params={"strategy": choice("mean", "median", "quantile", "constant")},
        state={
            "n_outputs_": count(1, name="t"),
            "constant_": real(1, "t"),
            "residual_quantiles_": real(None, "t"),
            "residual_count_": number(above=0),
        },
        rule=_some_residuals,
    )
    __learnt_trial__ = Trial(weighted=({"strategy": "median"},))

    def fit(self, X: Any, y: Any, sample_weight: Any = None) -> ConstantRegressor:
        """Find the constant.

        Parameters
        ----------
        X : anything with rows
            Its rows are counted, and it is not read.
        y : array-like of shape (n_samples,) or (n_samples, n_outputs)
            Numbers; of several outputs one column each.
        """
        targets, weight, constant = self._fit_constant(X, y, sample_weight)
        self.residual_quantiles_ = _spread(targets, weight) - constant
        self.residual_count_ = row_worth(weight, targets.shape[0])
        return self

    def predict_interval(self, X: Any, coverage: float = 0.95) -> tuple[np.ndarray, np.ndarray]:
        """Return an interval that holds a new y with probability `coverage`, by quantiles of the training targets.

        Its ends are the order statistics of rank ⌊(n+1)·α/2⌋ and ⌈(n+1)(1−α/2)⌉, α = 1 − coverage, which cover at
        least `coverage` of new rows on average whatever the distribution. Where n is too small for that, it is the
        Student interval of normal data, widened to hold all that was seen.

        Parameters
        ----------
        coverage : float, default=0.95
            The probability, between 0 and 1, both excluded.

        Returns
        -------
        lower : ndarray of shape (n_samples,) or (n_samples, n_outputs)
            The lower ends.
        upper : ndarray of shape (n_samples,) or (n_samples, n_outputs)
            The upper ends.

        Examples
        --------
        >>> import numpy as np
        >>> from learnt.baseline import ConstantRegressor
        >>> lower, upper = ConstantRegressor().fit(np.zeros((999, 1)), np.arange(999)).predict_interval([[0]], 0.9)
        >>> lower.tolist(), upper.tolist()
        ([49.0], [949.0])
        """
        require_fitted(self)
        if not (isinstance(coverage, int | float | np.number) and 0 < coverage < 1):
            raise ParameterError(f"coverage must be between 0 and 1, both excluded; got {coverage!r}.")
        n = row_count(self, X)
        below, above = residual_interval(self.residual_quantiles_, self.residual_count_, float(coverage))
        constant = self.constant_[0]
        dtype = constant.dtype
        return (
            self._for_each_row(n, (constant + below).astype(dtype)),
            self._for_each_row(n, (constant + above).astype(dtype)),
        )


def _spread(y: np.ndarray, weight: np.ndarray | None) -> np.ndarray:
    """Sorted targets, thinned to evenly spaced quantiles where there are many or they have weights."""
    y = y.astype(np.float64, copy=False)
    if weight is None and y.shape[0] <= _KEPT:
        return np.sort(y, axis=0)
    rows = min(_KEPT, y.shape[0] if weight is None else max(1, int(row_worth(weight, y.shape[0]))))
    shares = np.linspace(0.0, 1.0, rows) if rows > 1 else np.array([0.5])
    return np.stack([quantiles(column, weight, shares) for column in y.T], axis=1)


def residual_interval(residuals: np.ndarray, count: float, coverage: float) -> tuple[np.ndarray, np.ndarray]:
    """Lower and upper end, for each column of sorted residuals that represent `count` rows."""
    tail = (count + 1) * (1 - coverage) / 2
    rank_low, rank_high = np.floor(tail + 1e-9), np.ceil(count + 1 - tail - 1e-9)
    if rank_low >= 1 and rank_high <= count:
        # Ranks 1…count lie evenly on the kept order statistics.
        step = (residuals.shape[0] - 1) / (count - 1) if count > 1 else 0.0
        return _at(residuals, (rank_low - 1) * step), _at(residuals, (rank_high - 1) * step)
    mean = residuals.mean(axis=0)
    free = max(count - 1, 1)
    spread = np.sqrt(((residuals - mean) ** 2).mean(axis=0) * count / free * (1 + 1 / count))
    reach = stdtrit(free, (1 + coverage) / 2) * spread
    return np.minimum(mean - reach, residuals[0]), np.maximum(mean + reach, residuals[-1])


def _at(rows: np.ndarray, place: float) -> np.ndarray:
    """The row at a place between rows."""
    below = min(int(np.floor(place + 1e-9)), rows.shape[0] - 1)
    above = min(below + 1, rows.shape[0] - 1)
    return rows[below] + (rows[above] - rows[below]) * max(place - below, 0.0)
