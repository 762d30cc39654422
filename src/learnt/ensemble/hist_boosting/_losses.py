"""Losses as boosting needs them: the initial score, gradient and hessian of every row, and the inverse link.

The losses of scikit-learn's names are scaled as it scales them (half of the squared error and of a deviance); those of
`learnt.erm` and a user's own are taken as they are. Where the curvature of a loss may vanish, its upper bound is used
instead: every step then still lowers the loss.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from learnt.engine.params import ParameterError
from learnt.engine.threads import for_blocks
from learnt.erm import losses
from learnt.forestry import GIVEN, LOG, SOFTMAX, SQUARED, loss_rows, power_of

_GRAIN = 1 << 14
_MOST = 1e150  # targets up to which squares are numbers


class BoostingLoss:
    """A loss of one score a row; y are numbers."""

    n_outputs = 1
    constant_hessian = False
    steady = False  # gradients and hessians are bounded, and most are not far below the bound
    information = False  # whether the hessian is the Fisher information, by which rows are also counted
    leaf_quantile: float | None = None  # leaves hold this quantile of the residuals instead of a Newton step
    code = GIVEN  # the compiled derivatives, where there are any
    degree: int | None = None  # with y and scores c times as large the loss is c^degree times as large

    def check(self, y: np.ndarray, name: str) -> None:
        """Raise where the loss cannot have this target."""

    def power(self, y: np.ndarray) -> int:
        """The power of two that y is divided by before the fit.

        Squares of residuals then neither underflow nor overflow.
        """
        return 0 if self.degree is None else power_of(y)

    def start(self, y: np.ndarray, w: np.ndarray | None) -> np.ndarray:
        """The best constant score."""
        raise NotImplementedError

    def values(self, y: np.ndarray, scores: np.ndarray) -> np.ndarray:
        """The loss of every row; scores are (n_outputs, n)."""
        raise NotImplementedError

    def derivatives(self, y: np.ndarray, score: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
        """Gradient and hessian of every row."""
        raise NotImplementedError

    def mean(self, scores: np.ndarray) -> np.ndarray:
        """The predictions that belong to scores (n, n_outputs)."""
        return scores[:, 0]

    def mean_loss(self, y: np.ndarray, scores: np.ndarray, w: np.ndarray | None) -> float:
        """The mean loss, weighted."""
        parts = for_blocks(
            lambda lo, hi: _weighted_sum(self.values(y[lo:hi], scores[:, lo:hi]), None if w is None else w[lo:hi]),
            len(y),
            grain=_GRAIN,
        )
        return float(np.sum(parts)) / (len(y) if w is None else float(w.sum()))

    def prepare(self, scores: np.ndarray) -> np.ndarray:
        """What the gradients of all outputs share."""
        return np.empty(0)

    def gradients(
        self, k: int, y: np.ndarray, scores: np.ndarray, shared: np.ndarray, w: np.ndarray | None, g: np.ndarray,
        h: np.ndarray,
    ) -> None:  # fmt: skip
        """Fill g and h with the derivatives in output k, times the weights."""

        def block(lo: int, hi: int) -> None:
            if self.code != GIVEN:
                loss_rows(self.code, k, lo, hi, y, scores[k], shared, True, g, h)
            else:
                g[lo:hi], h[lo:hi] = self.derivatives(y[lo:hi], scores[k, lo:hi])
            if w is not None:
                g[lo:hi] *= w[lo:hi]
                h[lo:hi] *= w[lo:hi]

        for_blocks(block, len(y), grain=_GRAIN)


def _weighted_sum(values: np.ndarray, w: np.ndarray | None) -> float:
    return float(values.sum() if w is None else values @ w)


class SquaredError(BoostingLoss):
    """(s − y)² / 2."""

    constant_hessian, code, degree = True, SQUARED, 2

    def start(self, y, w):
        return np.array([np.average(y, weights=w)])

    def values(self, y, scores):
        return 0.5 * (scores[0] - y) ** 2


class QuantileLoss(BoostingLoss):
    """Pinball loss of one quantile; twice that of the median is the absolute error."""

    constant_hessian, degree = True, 1

    def __init__(self, quantile: float, scale: float = 1.0) -> None:
        self.leaf_quantile, self.scale = quantile, scale

    def start(self, y, w):
        return np.array([weighted_quantile(y, self.leaf_quantile, w)])

    def values(self, y, scores):
        r = y - scores[0]
        return self.scale * np.where(r >= 0, self.leaf_quantile * r, (self.leaf_quantile - 1.0) * r)

    def derivatives(self, y, score):
        return self.scale * np.where(y >= score, -self.leaf_quantile, 1.0 - self.leaf_quantile), np.ones_like(y)


class HalfPoisson(BoostingLoss):
    """e^s − ys."""

    positive = False

    def check(self, y, name):
        if (y < 0).any() or not y.sum() > 0:
            raise ValueError(
                f"loss='poisson' requires non-negative y and sum(y) > 0, and {name} was given others; "
                "use another loss, or shift y."
            )
        if y.max() > _MOST:
            raise ValueError(
                f"loss='poisson' takes y up to {_MOST:g}, and {name} was given {float(y.max()):g}; "
                "divide y by a constant."
            )

    def start(self, y, w):
        return np.array([np.log(max(np.average(y, weights=w), np.finfo(float).tiny))])

    def values(self, y, scores):
        return np.exp(scores[0]) - y * scores[0]

    def derivatives(self, y, score):
        e = np.exp(score)
        return e - y, e

    def mean(self, scores):
        return np.exp(scores[:, 0])


class HalfGamma(HalfPoisson):
    """s + y e^−s."""

    def check(self, y, name):
        if (y <= 0).any():
            raise ValueError(f"loss='gamma' requires strictly positive y, and {name} was given {float(y.min()):g}.")

    def values(self, y, scores):
        return scores[0] + y * np.exp(-scores[0])

    def derivatives(self, y, score):
        e = y * np.exp(-score)
        return 1.0 - e, e


class BinaryLog(BoostingLoss):
    """log(1 + e^s) − ys for y = 0 or 1."""

    code, steady, information = LOG, True, True

    def start(self, y, w):
        p = np.clip(np.average(y, weights=w), 1e-15, 1 - 1e-15)
        return np.array([np.log(p / (1 - p))])

    def values(self, y, scores):
        return np.logaddexp(0.0, scores[0]) - y * scores[0]

    def mean(self, scores):
        p = 1.0 / (1.0 + np.exp(-np.clip(scores[:, 0], -700, 700)))
        return np.column_stack([1.0 - p, p])


class ManyLog(BoostingLoss):
    """log Σₖ e^sₖ − s_y for y = 0…K−1.

    The hessian of every score is pₖ (1 − pₖ), as scikit-learn has it. All scores move at once, so that a step of each
    is too long by K / (K − 1) where classes are equally likely; Friedman and LightGBM shorten it by that. Without l2
    this is a learning rate (K − 1) / K times as large and nothing else, for which there is a parameter already.
    """

    code, steady, information = SOFTMAX, True, True

    def __init__(self, n_classes: int) -> None:
        self.n_outputs = n_classes

    def start(self, y, w):
        shares = np.bincount(y.astype(np.int64), w, minlength=self.n_outputs)
        logs = np.log(np.clip(shares / shares.sum(), 1e-15, 1.0))
        return logs - logs.mean()

    def prepare(self, scores):
        out = np.empty(scores.shape[1])

        def block(lo: int, hi: int) -> None:
            top = scores[:, lo:hi].max(axis=0)
            out[lo:hi] = top + np.log(np.exp(scores[:, lo:hi] - top).sum(axis=0))

        for_blocks(block, len(out), grain=_GRAIN)
        return out

    def values(self, y, scores):
        top = scores.max(axis=0)
        seen = scores[y.astype(np.int64), np.arange(len(y))]
        return top + np.log(np.exp(scores - top).sum(axis=0)) - seen

    def mean(self, scores):
        e = np.exp(scores - scores.max(axis=1, keepdims=True))
        return e / e.sum(axis=1, keepdims=True)


class GivenLoss(BoostingLoss):
    """A loss of `learnt.erm.losses`, or a user's own with value(y, s) and gradient(y, s), perhaps curvature(y, s)."""

    def __init__(self, loss: Any, sign: bool) -> None:
        self.loss, self.sign = loss, sign
        self._steepest = getattr(loss, "steepest", None)
        self._curved = hasattr(loss, "curvature") and self._steepest is None and getattr(loss, "smooth", True)
        self.constant_hessian = not self._curved

    def _side(self, y: np.ndarray) -> np.ndarray:
        return 2.0 * y - 1.0 if self.sign else y

    def check(self, y, name):
        lowest, allowed = getattr(self.loss, "lowest", (float("-inf"), True))
        if (y < lowest).any() or (not allowed and (y == lowest).any()):
            least = f"at least {lowest:g}" if allowed else f"greater than {lowest:g}"
            raise ValueError(f"{type(self.loss).__name__} needs y {least}, and {name} was given {float(y.min()):g}.")
        largest = float(np.abs(y).max())
        if largest > _MOST:
            raise ValueError(
                f"{name} takes y up to {_MOST:g} with the loss {type(self.loss).__name__}, and was given {largest:g}; "
                "divide y by a constant, or use loss='squared_error'."
            )

    def start(self, y, w):
        from scipy.optimize import minimize_scalar

        side = self._side(y)
        guess = np.average(y, weights=w)
        if self.sign:
            guess = 0.0
        elif hasattr(self.loss, "mean") and isinstance(self.loss, losses.Poisson | losses.Gamma | losses.Tweedie):
            return np.array([np.log(max(guess, np.finfo(float).tiny))])
        spread = 1.0 if self.sign else max(float(np.std(y)), 1e-12)
        found = minimize_scalar(
            lambda s: float(np.average(self.loss.value(side, np.full(len(y), s)), weights=w)),
            bracket=(guess, guess + 0.1 * spread),
        )
        best = float(found.x)
        # A loss without a minimum, such as a margin loss with a single class, has no best score: stay near 0.
        return np.array([min(max(best, guess - 20 * spread), guess + 20 * spread)])

    def values(self, y, scores):
        return self._looked_at("value", self.loss.value(self._side(y), scores[0]), y)

    def derivatives(self, y, score):
        side = self._side(y)
        g = self._looked_at("gradient", self.loss.gradient(side, score), y)
        if not self._curved:
            return g, np.full(len(y), 1.0 if self._steepest is None else float(self._steepest))
        h = self._looked_at("curvature", self.loss.curvature(side, score), y)
        return g, np.maximum(h, 1e-12)

    def _looked_at(self, method: str, found: Any, y: np.ndarray) -> np.ndarray:
        found = np.asarray(found, dtype=np.float64)
        name = type(self.loss).__name__
        if found.shape != y.shape:
            raise ValueError(
                f"{name}.{method} returned an array of shape {found.shape} for {len(y)} rows; "
                "return one entry for every row, without summing."
            )
        if np.isnan(found).any():
            raise ValueError(f"{name}.{method} returned NaN; it must be a number for every finite score.")
        return found

    def mean(self, scores):
        s = scores[:, 0]
        if not self.sign:
            return self.loss.mean(s) if hasattr(self.loss, "mean") else s
        p = self.loss.mean(s) if isinstance(self.loss, losses.Log | losses.Exponential | losses.ModifiedHuber) else None
        if p is None:  # a margin without probabilities of its own: by the logistic function
            p = losses.Log().mean(s)
        return np.column_stack([1.0 - p, p])


def weighted_quantile(values: np.ndarray, q: float, w: np.ndarray | None) -> float:
    """The quantile with linear interpolation; with weights the lowest value below which a share q of them lies."""
    if w is None:
        return float(np.quantile(values, q))
    order = np.argsort(values, kind="stable")
    total = np.cumsum(w[order])
    if np.all(w == np.rint(w)) and total[-1] < 2**53:  # as if rows were repeated
        place = q * (total[-1] - 1)
        low, high = np.searchsorted(total, [np.floor(place), np.ceil(place)], side="right")
        low, high = values[order[min(low, len(w) - 1)]], values[order[min(high, len(w) - 1)]]
        return float(low + (high - low) * (place - np.floor(place)))
    return float(values[order[min(np.searchsorted(total, q * total[-1]), len(w) - 1)]])


def regression_loss(estimator: Any) -> BoostingLoss:
    """The loss of a regressor, by name or as an object."""
    loss = estimator.loss
    if isinstance(loss, str):
        if loss in ("squared_error", "squared"):
            return SquaredError()
        if loss in ("absolute_error", "absolute"):
            return QuantileLoss(0.5, 2.0)
        if loss == "quantile":
            if estimator.quantile is None:
                raise ValueError("loss='quantile' needs the parameter quantile, a number from 0 to 1; for example 0.5.")
            return QuantileLoss(float(estimator.quantile))
        if loss == "poisson":
            return HalfPoisson()
        if loss == "gamma":
            return HalfGamma()
    kind = losses.NAMES.get(loss) if isinstance(loss, str) else None
    return _given(
        estimator, kind, "number", ("squared_error", "absolute_error", "gamma", "poisson", "quantile", "huber")
    )


def classification_loss(estimator: Any, n_classes: int) -> BoostingLoss:
    """The loss of a classifier of so many classes."""
    loss = estimator.loss
    if isinstance(loss, str) and loss in ("log_loss", "log", "softmax"):
        return BinaryLog() if n_classes <= 2 else ManyLog(n_classes)
    if isinstance(loss, losses.Softmax) or (isinstance(loss, losses.Log) and n_classes > 2):
        return ManyLog(max(n_classes, 2))
    kind = losses.NAMES.get(loss) if isinstance(loss, str) else None
    found = _given(estimator, kind, "sign", ("log_loss", "exponential", "modified_huber", "squared_hinge"))
    if n_classes > 2:
        raise ValueError(
            f"loss={loss!r} takes two classes, and y has {n_classes} classes; use loss='log_loss' for several."
        )
    return found


def _given(estimator: Any, kind: type | None, target: str, names: tuple[str, ...]) -> BoostingLoss:
    loss = kind() if kind is not None else estimator.loss
    right = getattr(loss, "target", target) == target
    missing = [method for method in ("value", "gradient") if not hasattr(loss, method)]
    if isinstance(loss, str | type) or missing or not right:
        raise ParameterError(
            f"The 'loss' parameter of {type(estimator).__name__} must be one of {', '.join(map(repr, names))} or an "
            f"object with value(y, score) and gradient(y, score). Got {estimator.loss!r} instead."
        )
    return GivenLoss(loss, target == "sign")
