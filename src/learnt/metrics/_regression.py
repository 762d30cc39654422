"""Predicted numbers against true ones.

Every score here is a weighted mean over rows, written once against the array namespace. NumPy arrays are read in
fixed blocks that stay in cache: no temporary of the size of the data, one order of summation whatever the threads.
"""

from __future__ import annotations

import warnings
from collections.abc import Callable, Iterator
from contextlib import nullcontext
from typing import Any, NamedTuple

import numpy as np
from sklearn.exceptions import UndefinedMetricWarning

from learnt.engine.arrays import like
from learnt.engine.documentation import documented
from learnt.engine.threads import single_blas
from learnt.metrics._inputs import CACHED, SMALL, check_finite, check_lengths, check_weight, follow, real
from learnt.metrics._sort import FallingScores


class Pairs(NamedTuple):
    """True and predicted values, validated, both (n,) or both (n, n_outputs)."""

    xp: Any
    true: Any
    pred: Any
    weight: Any
    n: int

    def blocks(self) -> Iterator[tuple[Any, Any, Any]]:
        """Row blocks that stay in cache; in one piece on another device."""
        if self.xp is not np or self.n <= CACHED:
            yield self.true, self.pred, self.weight
            return
        step = CACHED if self.true.ndim == 1 else max(1, 2 * CACHED // self.true.shape[1])
        for start in range(0, self.n, step):
            rows = slice(start, start + step)
            yield self.true[rows], self.pred[rows], None if self.weight is None else self.weight[rows]

    def total(self, loss: Callable[[Any, Any], Any]) -> Any:
        """The weighted sum over rows of `loss(true, pred)`, one number an output; NaN and infinity are errors."""
        return self._summed(lambda true, pred, weight: _sum(self.xp, loss(true, pred), weight))

    def squares(self, error: Callable[[Any, Any], Any]) -> Any:
        """The weighted sum over rows of `error(true, pred)²`."""
        return self._summed(lambda true, pred, weight: _sum_squares(self.xp, error(true, pred), weight))

    def mean(self, loss: Callable[[Any, Any], Any]) -> Any:
        """The weighted mean over rows of `loss(true, pred)`."""
        return self.total(loss) / self.mass

    @property
    def mass(self) -> Any:
        """The weight of all rows."""
        return self.n if self.weight is None else self.xp.sum(self.weight)

    def spread(self, value: Callable[[Any, Any], Any]) -> Any:
        """The weighted sum of squares of `value(true, pred)` about its mean, in one pass.

        Blocks have their own means; putting two together adds (difference of means)² · m₁m₂/(m₁+m₂), which has no
        cancellation, unlike Σv² − (Σv)²/n.
        """
        xp, mass, mean, squares = self.xp, 0.0, 0.0, 0.0
        with np.errstate(invalid="ignore", over="ignore"), self._one_thread():
            for true, pred, weight in self.blocks():
                values = value(true, pred)
                more = values.shape[0] if weight is None else xp.sum(weight)
                if weight is not None and not bool(more > 0):
                    continue  # a block of weight 0 does not count
                block_mean = _sum(xp, values, weight) / more
                shift = block_mean - mean
                squares = (
                    squares + _sum_squares(xp, values - block_mean, weight) + shift**2 * (mass * more / (mass + more))
                )
                mass = mass + more
                mean = mean + shift * (more / mass)
        self._check(squares)
        return squares

    def _one_thread(self) -> Any:
        """BLAS held to one thread where it would use more: the order of summation stays fixed."""
        small = self.xp is not np or self.true.size <= 8_192
        return nullcontext() if small else single_blas()

    def _summed(self, part: Callable[[Any, Any, Any], Any]) -> Any:
        with np.errstate(invalid="ignore", over="ignore", divide="ignore"), self._one_thread():
            total = None
            for block in self.blocks():
                value = part(*block)
                total = value if total is None else total + value
        self._check(total)
        return total

    def _check(self, total: Any) -> None:
        """The check for finite numbers: an entry that is not finite shows in the sum."""
        if not bool(self.xp.all(self.xp.isfinite(total))):
            check_finite(self.true, "y_true")
            check_finite(self.pred, "y_pred")


def _sum(xp: Any, values: Any, weight: Any) -> Any:
    """Σ w v down the rows, in float64 where the library can; BLAS is on one thread, so the order is fixed."""
    if xp is not np:
        return xp.sum(values, axis=0) if weight is None else weight @ values
    if weight is None and values.ndim == 1:
        return np.add.reduce(values, dtype=np.float64)
    weight = np.ones(values.shape[0]) if weight is None else weight.astype(np.float64, copy=False)
    return weight @ values.astype(np.float64, copy=False)


def _sum_squares(xp: Any, error: Any, weight: Any) -> Any:
    if xp is np:
        error = error.astype(np.float64, copy=False)
    if error.ndim == 1:
        return error @ (error if weight is None else weight * error)
    return _sum(xp, error * error, weight)


def check_pairs(y_true: Any, y_pred: Any, sample_weight: Any) -> Pairs:
    """Validation: equal shapes, numbers, one floating type (float32 where all are)."""
    xp, true, pred, weight = follow(y_true, y_pred, sample_weight)
    n = check_lengths(y_true=true, y_pred=pred, sample_weight=None if np.ndim(weight) == 0 else weight)
    if xp is np:
        true, pred = real(true, "y_true"), real(pred, "y_pred")
        weight = check_weight(weight, n)
    else:
        narrow = all(x.dtype == xp.float32 for x in (true, pred))
        dtype = xp.float32 if narrow else xp.float64
        true, pred, weight = (x if x is None else xp.astype(x, dtype, copy=False) for x in (true, pred, weight))
        if weight is not None and weight.shape != (n,):
            raise ValueError(f"sample_weight.shape == {tuple(weight.shape)}, expected {(n,)}: one weight a row.")
    if true.ndim > 2 or pred.ndim > 2:
        raise ValueError(f"y_true has {true.ndim} dimensions and y_pred {pred.ndim}; give vectors or matrices.")
    if true.ndim != pred.ndim:  # (n,) against (n, 1)
        true, pred = (xp.reshape(x, (n, 1)) if x.ndim == 1 else x for x in (true, pred))
    if true.ndim == 2:
        if true.shape[1] != pred.shape[1]:
            raise ValueError(f"y_true and y_pred have different number of output ({true.shape[1]}!={pred.shape[1]}).")
        if true.shape[1] == 1:
            true, pred = true[:, 0], pred[:, 0]
    return Pairs(xp, true, pred, weight, n)


_AVERAGES = ("raw_values", "uniform_average", "variance_weighted")


def _combine(pairs: Pairs, errors: Any, multioutput: Any, spread: Any = None) -> Any:
    """One number from one an output: all of them, their mean, or a weighted mean."""
    xp = pairs.xp
    n_outputs = 1 if errors.ndim == 0 else errors.shape[0]
    if isinstance(multioutput, str):
        if multioutput not in _AVERAGES or (multioutput == "variance_weighted" and spread is None):
            allowed = _AVERAGES if spread is not None else _AVERAGES[:2]
            raise ValueError(f"Allowed 'multioutput' string values are {allowed}, you provided {multioutput!r}.")
        if multioutput == "raw_values":
            return xp.reshape(errors, (n_outputs,))
        if multioutput == "variance_weighted" and errors.ndim == 1 and bool(xp.any(spread != 0)):
            return float(xp.sum(errors * spread) / xp.sum(spread))
        return float(xp.mean(errors))
    weights = np.asarray(multioutput, dtype=np.float64)
    if n_outputs == 1:
        raise ValueError("Custom weights are useful only in multi-output cases, and there is one output.")
    if weights.shape != (n_outputs,):
        raise ValueError(f"There must be equally many custom weights ({weights.size}) as outputs ({n_outputs}).")
    weights = like(weights, errors)
    return float(xp.sum(errors * weights) / xp.sum(weights))


@documented
def mean_squared_error(
    y_true: Any, y_pred: Any, *, sample_weight: Any = None, multioutput: Any = "uniform_average"
) -> Any:
    """Mean squared error Σ w (y − ŷ)² / Σ w.

    What least squares minimises. It is least, in expectation, for the mean of y, and large errors (outliers) weigh
    heavily.

    Parameters
    ----------
    y_true : array-like of shape (n_samples,) or (n_samples, n_outputs)
        The true values; a column for each of several outputs.
    y_pred : array-like of shape (n_samples,) or (n_samples, n_outputs)
        The predicted values, in the same form.

    Returns
    -------
    error : float or ndarray of shape (n_outputs,)
        0 at best; an array where `multioutput="raw_values"`. In squared units of y.

    See Also
    --------
    root_mean_squared_error : Its root, in the units of y.
    mean_absolute_error : Less sensitive to outliers.
    r2_score : The error as a share of the variance of y.
    learnt.diagnosis.bias_variance : What the error is made of.

    Notes
    -----
    O(n) time. PyTorch tensors and other Array API arrays are computed with on their device. Results do not depend on
    the number of threads.

    Examples
    --------
    >>> from learnt.metrics import mean_squared_error
    >>> mean_squared_error([3, -0.5, 2, 7], [2.5, 0.0, 2, 8])
    0.375
    >>> mean_squared_error([[1, 2], [3, 4]], [[1, 3], [3, 2]], multioutput="raw_values")
    array([0. , 2.5])
    """
    pairs = check_pairs(y_true, y_pred, sample_weight)
    return _combine(pairs, _squared(pairs), multioutput)


def _squared(pairs: Pairs) -> Any:
    return pairs.squares(lambda true, pred: true - pred) / pairs.mass


@documented
def root_mean_squared_error(
    y_true: Any, y_pred: Any, *, sample_weight: Any = None, multioutput: Any = "uniform_average"
) -> Any:
    """The square root of the mean squared error, RMSE = √(Σ w (y − ŷ)² / Σ w), output by output before averaging.

    A typical size of the errors in the units of y, where large errors (outliers) weigh heavily.

    Parameters
    ----------
    y_true : array-like of shape (n_samples,) or (n_samples, n_outputs)
        The true values; a column for each of several outputs.
    y_pred : array-like of shape (n_samples,) or (n_samples, n_outputs)
        The predicted values, in the same form.

    Returns
    -------
    error : float or ndarray of shape (n_outputs,)
        0 at best; an array where `multioutput="raw_values"`.

    See Also
    --------
    mean_squared_error : The same without the root.
    mean_absolute_error : The mean size of the errors, less sensitive to outliers.
    root_mean_squared_log_error : Of relative errors.
    r2_score : The error as a share of the variance of y.

    Notes
    -----
    O(n) time. PyTorch tensors and other Array API arrays are computed with on their device. Results do not depend on
    the number of threads.

    Examples
    --------
    >>> from learnt.metrics import root_mean_squared_error
    >>> round(root_mean_squared_error([3, -0.5, 2, 7], [2.5, 0.0, 2, 8]), 3)
    0.612
    """
    pairs = check_pairs(y_true, y_pred, sample_weight)
    return _combine(pairs, pairs.xp.sqrt(_squared(pairs)), multioutput)


@documented
def mean_absolute_error(
    y_true: Any, y_pred: Any, *, sample_weight: Any = None, multioutput: Any = "uniform_average"
) -> Any:
    """Mean absolute error Σ w |y − ŷ| / Σ w.

    MAE is the mean size of the errors in the units of y. It is least, in expectation, for the median of y, and less
    sensitive to outliers than the squared error.

    Parameters
    ----------
    y_true : array-like of shape (n_samples,) or (n_samples, n_outputs)
        The true values; a column for each of several outputs.
    y_pred : array-like of shape (n_samples,) or (n_samples, n_outputs)
        The predicted values, in the same form.

    Returns
    -------
    error : float or ndarray of shape (n_outputs,)
        0 at best; an array where `multioutput="raw_values"`.

    See Also
    --------
    median_absolute_error : Hardly sensitive to outliers at all.
    root_mean_squared_error : Large errors weigh more.
    mean_absolute_percentage_error : Errors as shares of y.
    mean_pinball_loss : For predicted quantiles; half the absolute error for the median.

    Notes
    -----
    O(n) time. PyTorch tensors and other Array API arrays are computed with on their device. Results do not depend on
    the number of threads.

    Examples
    --------
    >>> from learnt.metrics import mean_absolute_error
    >>> mean_absolute_error([3, -0.5, 2, 7], [2.5, 0.0, 2, 8])
    0.5
    """
    pairs = check_pairs(y_true, y_pred, sample_weight)
    return _combine(pairs, pairs.mean(lambda true, pred: pairs.xp.abs(true - pred)), multioutput)


@documented
def mean_absolute_percentage_error(
    y_true: Any, y_pred: Any, *, sample_weight: Any = None, multioutput: Any = "uniform_average"
) -> Any:
    """Mean of |y − ŷ| / max(|y|, ε), as a share and not in percent.

    MAPE compares errors of targets of different sizes. It needs targets well away from 0: there the share is enormous.
    And it favours predictions that are too low.

    Parameters
    ----------
    y_true : array-like of shape (n_samples,) or (n_samples, n_outputs)
        The true values; a column for each of several outputs.
    y_pred : array-like of shape (n_samples,) or (n_samples, n_outputs)
        The predicted values, in the same form.

    Returns
    -------
    error : float or ndarray of shape (n_outputs,)
        0 at best; an array where `multioutput="raw_values"`. 0.25 means 25 %.

    See Also
    --------
    mean_absolute_error : Errors in the units of y.
    root_mean_squared_log_error : Relative errors that treat too high and too low alike.

    Notes
    -----
    ε is the rounding of float64, 2⁻⁵²: it only keeps the division from failing. O(n) time, on the device of the arrays.

    Examples
    --------
    >>> from learnt.metrics import mean_absolute_percentage_error
    >>> mean_absolute_percentage_error([1, 2, 4], [1, 1, 5])
    0.25
    """
    pairs = check_pairs(y_true, y_pred, sample_weight)
    xp = pairs.xp
    floor = float(np.finfo(np.float64).eps)

    def share(true: Any, pred: Any) -> Any:
        return xp.abs(pred - true) / xp.maximum(xp.abs(true), xp.asarray(floor, dtype=true.dtype))

    return _combine(pairs, pairs.mean(share), multioutput)


@documented
def mean_pinball_loss(
    y_true: Any,
    y_pred: Any,
    *,
    sample_weight: Any = None,
    alpha: float = 0.5,
    multioutput: Any = "uniform_average",
) -> Any:
    """Pinball loss of a predicted α-quantile: the mean of max(α (y − ŷ), (α − 1)(y − ŷ)).

    It is least, in expectation, for the α-quantile of y: predictions that are too low cost α, those that are too high
    1 − α. The score of quantile regression and of the ends of prediction intervals.

    Parameters
    ----------
    y_true : array-like of shape (n_samples,) or (n_samples, n_outputs)
        The true values; a column for each of several outputs.
    y_pred : array-like of shape (n_samples,) or (n_samples, n_outputs)
        The predicted values, in the same form.
    alpha : float in [0, 1], default=0.5
        Which quantile is predicted: 0.9 for the value that nine of ten targets stay below; 0.5 for the median.

    Returns
    -------
    loss : float or ndarray of shape (n_outputs,)
        0 at best; an array where `multioutput="raw_values"`.

    See Also
    --------
    mean_absolute_error : Twice this loss for the median.
    learnt.linear_model.QuantileRegressor : Minimises it.

    References
    ----------
    .. [1] R. Koenker and G. Bassett, "Regression quantiles", Econometrica, 1978.

    Examples
    --------
    >>> from learnt.metrics import mean_pinball_loss
    >>> y = [1, 2, 3]
    >>> too_high, too_low = mean_pinball_loss(y, [2, 3, 4], alpha=0.9), mean_pinball_loss(y, [0, 1, 2], alpha=0.9)
    >>> round(too_high, 2), round(too_low, 2)
    (0.1, 0.9)
    """
    if not 0 <= alpha <= 1:
        raise ValueError(f"alpha must be between 0 and 1; got {alpha!r}.")
    pairs = check_pairs(y_true, y_pred, sample_weight)

    def pinball(true: Any, pred: Any) -> Any:
        error = true - pred
        return pairs.xp.maximum(alpha * error, (alpha - 1) * error)

    return _combine(pairs, pairs.mean(pinball), multioutput)


def _log_pairs(y_true: Any, y_pred: Any, sample_weight: Any, name: str) -> Pairs:
    pairs = check_pairs(y_true, y_pred, sample_weight)
    xp = pairs.xp
    if bool(xp.any(pairs.true <= -1)) or bool(xp.any(pairs.pred <= -1)):
        raise ValueError(f"{name} cannot be used when targets contain values less than or equal to -1.")
    return pairs._replace(true=xp.log1p(pairs.true), pred=xp.log1p(pairs.pred))


@documented
def mean_squared_log_error(
    y_true: Any, y_pred: Any, *, sample_weight: Any = None, multioutput: Any = "uniform_average"
) -> Any:
    """Mean squared error of log(1 + y): Σ w (log(1 + y) − log(1 + ŷ))² / Σ w.

    For counts and amounts that grow in proportion: being off by a factor costs the same for small and large targets.
    Values must be greater than −1.

    Parameters
    ----------
    y_true : array-like of shape (n_samples,) or (n_samples, n_outputs)
        The true values; a column for each of several outputs.
    y_pred : array-like of shape (n_samples,) or (n_samples, n_outputs)
        The predicted values, in the same form.

    Returns
    -------
    error : float or ndarray of shape (n_outputs,)
        0 at best; an array where `multioutput="raw_values"`.

    See Also
    --------
    root_mean_squared_log_error : Its root.
    mean_squared_error : Of the targets themselves.
    learnt.compose.TransformedTargetRegressor : Fits a model to the logarithm of its target.

    Notes
    -----
    O(n) time. PyTorch tensors and other Array API arrays are computed with on their device. Results do not depend on
    the number of threads.

    Examples
    --------
    >>> from learnt.metrics import mean_squared_log_error
    >>> round(mean_squared_log_error([3, 5, 2.5, 7], [2.5, 5, 4, 8]), 3)
    0.04
    """
    pairs = _log_pairs(y_true, y_pred, sample_weight, "Mean Squared Logarithmic Error")
    return _combine(pairs, _squared(pairs), multioutput)


@documented
def root_mean_squared_log_error(
    y_true: Any, y_pred: Any, *, sample_weight: Any = None, multioutput: Any = "uniform_average"
) -> Any:
    """The square root of the mean squared error of log(1 + y), output by output before averaging.

    RMSLE is, for small errors of large targets, about the relative error: 0.1 is about 10 %. Values must be greater
    than −1.

    Parameters
    ----------
    y_true : array-like of shape (n_samples,) or (n_samples, n_outputs)
        The true values; a column for each of several outputs.
    y_pred : array-like of shape (n_samples,) or (n_samples, n_outputs)
        The predicted values, in the same form.

    Returns
    -------
    error : float or ndarray of shape (n_outputs,)
        0 at best; an array where `multioutput="raw_values"`.

    See Also
    --------
    mean_squared_log_error : The same without the root.
    root_mean_squared_error : Of the targets themselves.
    mean_absolute_percentage_error : Errors as shares of y.

    Notes
    -----
    O(n) time. PyTorch tensors and other Array API arrays are computed with on their device. Results do not depend on
    the number of threads.

    Examples
    --------
    >>> from learnt.metrics import root_mean_squared_log_error
    >>> round(root_mean_squared_log_error([3, 5, 2.5, 7], [2.5, 5, 4, 8]), 3)
    0.199
    """
    pairs = _log_pairs(y_true, y_pred, sample_weight, "Root Mean Squared Logarithmic Error")
    return _combine(pairs, pairs.xp.sqrt(_squared(pairs)), multioutput)


@documented
def median_absolute_error(
    y_true: Any, y_pred: Any, *, multioutput: Any = "uniform_average", sample_weight: Any = None
) -> Any:
    """The median of |y − ŷ|, robust to outliers; with weights, the point where half the weight lies on either side.

    Half of the errors are smaller than this. Up to half of the rows may be outliers without changing it much.

    Parameters
    ----------
    y_true : array-like of shape (n_samples,) or (n_samples, n_outputs)
        The true values; a column for each of several outputs.
    y_pred : array-like of shape (n_samples,) or (n_samples, n_outputs)
        The predicted values, in the same form.

    Returns
    -------
    error : float or ndarray of shape (n_outputs,)
        0 at best; an array where `multioutput="raw_values"`.

    See Also
    --------
    mean_absolute_error : The mean of the same errors.
    max_error : The largest of them.

    Notes
    -----
    O(n) time without weights, O(n log n) with weights. Rows of weight 0 do not count.

    Examples
    --------
    >>> from learnt.metrics import mean_absolute_error, median_absolute_error
    >>> y_true, y_pred = [3, -0.5, 2, 700], [2.5, 0.0, 2, 8]
    >>> median_absolute_error(y_true, y_pred), mean_absolute_error(y_true, y_pred)
    (0.5, 173.25)
    """
    pairs = check_pairs(y_true, y_pred, sample_weight)
    xp = pairs.xp
    errors = xp.abs(pairs.true - pairs.pred)
    if not bool(xp.isfinite(xp.sum(errors))):
        check_finite(pairs.true, "y_true")
        check_finite(pairs.pred, "y_pred")
    return _combine(pairs, _medians(xp, errors, pairs.weight), multioutput)


def _medians(xp: Any, errors: Any, weight: Any) -> Any:
    """The median of every column: the mean of the two middle points where the weight splits evenly between them."""
    if xp is np and weight is None:
        return np.median(errors, axis=0, overwrite_input=True)
    if errors.ndim == 2:
        return xp.stack([_medians(xp, errors[:, j], weight) for j in range(errors.shape[1])])
    if xp is np and errors.size > SMALL:  # descending instead of ascending: the median is the same
        order = FallingScores(errors, np.arange(errors.size)).payload
    else:
        order = xp.argsort(errors)
    if weight is None:
        last = errors.shape[0] - 1
        return (errors[order[last // 2]] + errors[order[(last + 1) // 2]]) / 2
    order = order[weight[order] > 0]  # rows of weight 0 do not count
    reached = xp.cumulative_sum(xp.astype(weight[order], xp.float64))
    half = reached[-1] / 2
    first, last = order.shape[0], order.shape[0] - 1
    slack = 4 * float(np.finfo(np.float64).eps) * float(reached[-1])  # a sum of weights is equal up to rounding
    first = min(int(xp.sum(xp.astype(reached < half - slack, xp.int64))), last)
    second = first + 1 if abs(float(reached[first] - half)) <= slack and first < last else first
    return (errors[order[first]] + errors[order[second]]) / 2


@documented
def max_error(y_true: Any, y_pred: Any) -> float:
    """The largest |y − ŷ|.

    The worst case on these rows: a single row decides, so that it grows with their number and with outliers.

    Parameters
    ----------
    y_true : array-like of shape (n_samples,)
        The true values.
    y_pred : array-like of shape (n_samples,)
        The predicted values.

    Returns
    -------
    error : float
        0 at best, in the units of y.

    See Also
    --------
    mean_absolute_error : The mean size of the errors.
    median_absolute_error : The size that half of them stay below.

    Examples
    --------
    >>> from learnt.metrics import max_error
    >>> max_error([3, 2, 7, 1], [4, 2, 7, 1])
    1.0
    """
    pairs = check_pairs(y_true, y_pred, None)
    if pairs.true.ndim == 2:
        raise ValueError(f"Multioutput not supported in max_error, and y_true has {pairs.true.shape[1]} outputs.")
    worst = float(pairs.xp.max(pairs.xp.abs(pairs.true - pairs.pred)))
    if not np.isfinite(worst):
        check_finite(pairs.true, "y_true")
        check_finite(pairs.pred, "y_pred")
    return worst


def _explained(pairs: Pairs, residual: Any, spread: Any, multioutput: Any, force_finite: bool) -> Any:
    """1 − residual / spread; where the spread is 0, 1 for a perfect fit and 0 otherwise, if finite is forced."""
    xp = pairs.xp
    with np.errstate(divide="ignore", invalid="ignore"):
        scores = 1 - residual / spread
    if force_finite:
        flat = spread == 0
        scores = xp.where(flat, xp.astype(residual == 0, scores.dtype), scores)
    return _combine(pairs, scores, multioutput, spread)


@documented
def r2_score(
    y_true: Any,
    y_pred: Any,
    *,
    sample_weight: Any = None,
    multioutput: Any = "uniform_average",
    force_finite: bool = True,
) -> Any:
    """The share of variance explained, R² = 1 − Σ w (y − ŷ)² / Σ w (y − ȳ)².

    The coefficient of determination: what `score` of every regressor returns. It has no units, so that it can be
    compared between targets of the same table, but not between tables whose y varies by different amounts.

    Parameters
    ----------
    y_true : array-like of shape (n_samples,) or (n_samples, n_outputs)
        The true values; a column for each of several outputs.
    y_pred : array-like of shape (n_samples,) or (n_samples, n_outputs)
        The predicted values, in the same form.
    multioutput : {"raw_values", "uniform_average", "variance_weighted"} or array-like, default="uniform_average"
        What several outputs become: a score for each, their mean, their mean by the variance of each output, or their
        mean with these weights.
    force_finite : bool, default=True
        For a constant y_true: 1 for a perfect prediction and 0 for any other, instead of NaN and −infinity.

    Returns
    -------
    r2 : float or ndarray of shape (n_outputs,)
        1 at best, 0 for a constant that predicts the mean of y_true, negative for worse than that.

    See Also
    --------
    explained_variance_score : Forgives a constant offset.
    mean_squared_error : The error in squared units of y.
    root_mean_squared_error : The error in the units of y.
    d2_brier_score : The same for probabilities of classes.

    Notes
    -----
    Not the square of a correlation, unless the predictions are those of least squares on the same rows. It is NaN, with
    a warning, for fewer than two rows. O(n) time, on the device of the arrays.

    References
    ----------
    .. [1] S. Wright, "Correlation and causation", Journal of Agricultural Research, 1921.

    Examples
    --------
    >>> from learnt.metrics import r2_score
    >>> round(r2_score([3, -0.5, 2, 7], [2.5, 0.0, 2, 8]), 3)
    0.949
    >>> r2_score([1, 2, 3], [2, 2, 2]), r2_score([1, 2, 3], [3, 2, 1])
    (0.0, -3.0)
    """
    pairs = check_pairs(y_true, y_pred, sample_weight)
    if pairs.n < 2:
        message = "R^2 score is not well-defined with less than two samples."
        warnings.warn(message, UndefinedMetricWarning, stacklevel=2)
        return float("nan")

    residual = pairs.squares(lambda true, pred: true - pred)
    spread = pairs.spread(lambda true, pred: true)
    return _explained(pairs, residual, spread, multioutput, force_finite)


@documented
def explained_variance_score(
    y_true: Any,
    y_pred: Any,
    *,
    sample_weight: Any = None,
    multioutput: Any = "uniform_average",
    force_finite: bool = True,
) -> Any:
    """1 − Var(y − ŷ) / Var(y): like R², but a constant offset is forgiven.

    Where it is higher than R², the predictions are too high or too low by the same amount throughout: a bias that
    adding a constant would mend.

    Parameters
    ----------
    y_true : array-like of shape (n_samples,) or (n_samples, n_outputs)
        The true values; a column for each of several outputs.
    y_pred : array-like of shape (n_samples,) or (n_samples, n_outputs)
        The predicted values, in the same form.
    multioutput : {"raw_values", "uniform_average", "variance_weighted"} or array-like, default="uniform_average"
        What several outputs become: a score for each, their mean, their mean by the variance of each output, or their
        mean with these weights.
    force_finite : bool, default=True
        For a constant y_true: 1 for errors that are constant too and 0 for any other, instead of NaN and −infinity.

    Returns
    -------
    score : float or ndarray of shape (n_outputs,)
        1 at best, never more than that, and at least R².

    See Also
    --------
    r2_score : Counts a constant offset as an error; as a rule the one to report.
    mean_squared_error : The error in squared units of y.

    Notes
    -----
    Both variances are computed about their means in one pass without cancellation. O(n) time, on the device of the
    arrays.

    Examples
    --------
    >>> from learnt.metrics import explained_variance_score, r2_score
    >>> y_true, y_pred = [1, 2, 3, 4], [2, 3, 4, 5]  # 1 too high throughout
    >>> explained_variance_score(y_true, y_pred), round(r2_score(y_true, y_pred), 2)
    (1.0, 0.2)
    """
    pairs = check_pairs(y_true, y_pred, sample_weight)
    residual = pairs.spread(lambda true, pred: true - pred)
    return _explained(pairs, residual, pairs.spread(lambda true, pred: true), multioutput, force_finite)
