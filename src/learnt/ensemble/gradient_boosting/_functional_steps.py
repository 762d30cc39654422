"""The pieces of boosting in function space: the best constant, the step length along a learner, and a tree's leaves."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
from scipy.optimize import minimize_scalar

from learnt.erm import losses

_TINY = 1e-150


def weighted_mean(values: np.ndarray, w: np.ndarray | None) -> float:
    return float(np.average(values, weights=w))


def weighted_quantile(values: np.ndarray, w: np.ndarray | None, q: float) -> float:
    """The q-quantile; of weighted rows the smallest value with a share of q at or below it."""
    if w is None:
        return float(np.quantile(values, q))
    order = np.argsort(values, kind="stable")
    reached = np.cumsum(w[order])
    goal = q * reached[-1]
    first = int(np.searchsorted(reached, goal * (1 - 1e-12)))
    value = values[order[first]]
    if abs(reached[first] - goal) <= 1e-12 * reached[-1] and first + 1 < len(order):  # between two rows: the middle
        above = order[first + 1 :][w[order[first + 1 :]] > 0]
        value = (value + values[above[0]]) / 2 if len(above) else value
    return float(value)


def best_constant(loss: Any, y: np.ndarray, w: np.ndarray | None, n_classes: int) -> np.ndarray:
    """argmin over c of Σ w ℓ(y, c): (1,), or (K,) for a loss of classes."""
    if loss.target == "class":
        shares = np.bincount(y, weights=w, minlength=n_classes)
        return np.log(np.maximum(shares / shares.sum(), np.finfo(float).tiny))
    constant = _closed_form(loss, y, w)
    if constant is None:
        span = float(np.ptp(y)) or 1.0
        objective = _along(loss, y, w, np.zeros(len(y)), np.ones(len(y)))
        found = minimize_scalar(objective, bounds=(y.min() - span, y.max() + span), method="bounded")
        constant = float(found.x)
    return np.array([constant])


def _closed_form(loss: Any, y: np.ndarray, w: np.ndarray | None) -> float | None:
    if isinstance(loss, losses.Squared):
        return weighted_mean(y, w)
    if isinstance(loss, losses.Absolute):
        return weighted_quantile(y, w, 0.5)
    if isinstance(loss, losses.Quantile):
        return weighted_quantile(y, w, loss.q)
    if isinstance(loss, losses.Poisson | losses.Gamma | losses.Tweedie):
        return float(np.log(max(weighted_mean(y, w), np.finfo(float).tiny)))
    if isinstance(loss, losses.Log | losses.Exponential):
        share = np.clip(weighted_mean((y > 0) * 1.0, w), np.finfo(float).eps, 1 - np.finfo(float).eps)
        odds = float(np.log(share / (1 - share)))
        return odds if isinstance(loss, losses.Log) else odds / 2
    return None


def total_loss(loss: Any, y: np.ndarray, w: np.ndarray | None, scores: np.ndarray) -> float:
    """The weighted mean of the loss."""
    values = loss.value(y, scores if loss.target == "class" else scores[:, 0])
    return weighted_mean(values, w)


def gradients(loss: Any, y: np.ndarray, scores: np.ndarray) -> np.ndarray:
    """∂ℓ/∂F for every row: (n, K) or (n, 1)."""
    if loss.target == "class":
        return np.asarray(loss.gradient(y, scores))
    return np.asarray(loss.gradient(y, scores[:, 0]))[:, None]


def _along(loss: Any, y: np.ndarray, w: np.ndarray | None, start: np.ndarray, way: np.ndarray) -> Callable:
    def objective(step: float) -> float:
        with np.errstate(over="ignore", invalid="ignore"):
            value = weighted_mean(loss.value(y, start + step * way), w)
        return value if np.isfinite(value) else np.inf

    return objective


def line_search(loss: Any, y: np.ndarray, w: np.ndarray | None, scores: np.ndarray, way: np.ndarray) -> float:
    """argmin over γ ≥ 0 of Σ w ℓ(y, F + γ h)."""
    if isinstance(loss, losses.Squared):
        r, h = y - scores[:, 0], way[:, 0]
        weights = np.ones(len(y)) if w is None else w
        bottom = float(weights @ h**2)
        return max(float(weights @ (r * h)) / bottom, 0.0) if bottom > 0 else 0.0
    single = loss.target != "class"
    objective = _along(loss, y, w, scores[:, 0] if single else scores, way[:, 0] if single else way)
    start, far = objective(0.0), 1.0
    if not np.any(way):
        return 0.0
    while objective(2 * far) < objective(far) and far < 1e6:  # the minimum lies beyond
        far *= 2
    found = minimize_scalar(objective, bounds=(0.0, 2 * far), method="bounded", options={"xatol": 1e-9 * far})
    return float(found.x) if found.fun < start else 0.0


def has_leaves(member: Any) -> bool:
    """Whether a fitted learner is a tree whose leaves can be given other values."""
    return hasattr(member, "tree_") and hasattr(member, "apply") and hasattr(member.tree_, "value")


def set_leaves(
    member: Any,
    X: Any,
    loss: Any,
    y: np.ndarray,
    w: np.ndarray | None,
    scores: np.ndarray,
    column: int,
    slope: np.ndarray,
) -> None:
    """Give every leaf of a tree the number that lowers the loss of its rows most, or one Newton step towards it."""
    leaves = np.asarray(member.apply(X)).ravel()
    values = member.tree_.value
    order = np.argsort(leaves, kind="stable")
    ends = np.flatnonzero(np.diff(leaves[order], append=-1))
    start = 0
    curvature = _curvatures(loss, y, scores, column)
    for end in ends.tolist():
        rows = order[start : end + 1]
        start = end + 1
        part = None if w is None else w[rows]
        values[leaves[rows[0]], 0, 0] = _leaf_value(
            loss, y[rows], part, scores[rows], slope[rows], None if curvature is None else curvature[rows]
        )


def _curvatures(loss: Any, y: np.ndarray, scores: np.ndarray, column: int) -> np.ndarray | None:
    if isinstance(loss, losses.Softmax):
        p = loss.mean(scores)[:, column]
        k = scores.shape[1]
        return p * (1 - p) * k / (k - 1)  # the classes share what one of them gains
    if isinstance(loss, losses.Log | losses.Exponential):
        return np.asarray(loss.curvature(y, scores[:, 0]))
    return None  # where the curvature may vanish, a Newton step may be arbitrarily long


def _leaf_value(
    loss: Any, y: np.ndarray, w: np.ndarray | None, scores: np.ndarray, slope: np.ndarray, curvature: np.ndarray | None
) -> float:
    if isinstance(loss, losses.Squared | losses.Absolute | losses.Quantile):
        return _closed_form(loss, y - scores[:, 0], w) or 0.0
    if curvature is None:
        sign = -1.0 if weighted_mean(slope, w) > 0 else 1.0
        return sign * line_search(loss, y, w, scores, np.full_like(scores, sign))
    bottom = weighted_mean(curvature, w)
    return 0.0 if abs(bottom) < _TINY else -weighted_mean(slope, w) / bottom
