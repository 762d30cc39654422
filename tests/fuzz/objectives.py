"""What estimators minimise, from what a fitted model predicts: the same formula for ours and for scikit-learn's.

Each is a function of (model, table) over rows of weight above 0. A model that predicts what is not finite has the
objective NaN, which is worse than any.
"""

from __future__ import annotations

from typing import Any

import numpy as np
from scipy.special import logsumexp
from scipy.stats import multivariate_normal


def rows_that_count(table: Any) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """Rows, targets and weights, without those of weight 0."""
    w = np.ones(len(table.plain)) if table.w is None else table.w
    return table.plain[w > 0], table.y[w > 0] if table.y is not None else None, w[w > 0]


def _coefficients(model: Any) -> np.ndarray:
    return np.asarray(model.coef_, dtype=np.float64)


def _error(model: Any, X: Any, y: Any) -> np.ndarray:
    return y - np.asarray(model.predict(X), dtype=np.float64).reshape(y.shape)


def squares(model: Any, table: Any) -> float:
    X, y, w = rows_that_count(table)
    penalty = model.get_params().get("alpha", 0.0) * (_coefficients(model) ** 2).sum()
    return float(w @ _error(model, X, y) ** 2 + penalty)


def elastic(model: Any, table: Any) -> float:
    X, y, w = rows_that_count(table)
    b, share = _coefficients(model), getattr(model, "l1_ratio", 1.0)
    penalty = model.alpha * (share * np.abs(b).sum() + 0.5 * (1.0 - share) * (b**2).sum())
    return float(0.5 * (w @ _error(model, X, y) ** 2) / w.sum() + penalty)


def _codes(model: Any, y: np.ndarray) -> np.ndarray:
    return np.searchsorted(model.classes_, y)


def logistic(model: Any, table: Any) -> float:
    X, y, w = rows_that_count(table)
    f = np.asarray(model.decision_function(X), dtype=np.float64)
    if f.ndim == 1:
        f = np.column_stack([np.zeros(len(f)), f])
    loss = logsumexp(f, axis=1) - f[np.arange(len(f)), _codes(model, y)]
    return float(model.C * (w @ loss) + 0.5 * (_coefficients(model) ** 2).sum())


def _deviance(name: str, power: float, y: np.ndarray, mean: np.ndarray) -> np.ndarray:
    """Half of it, up to what depends on y alone."""
    if name == "PoissonRegressor":
        return mean - y * np.log(mean)
    if name == "GammaRegressor":
        return y / mean + np.log(mean)
    return mean ** (2 - power) / (2 - power) - y * mean ** (1 - power) / (1 - power)


def generalised(model: Any, table: Any) -> float:
    X, y, w = rows_that_count(table)
    mean = np.asarray(model.predict(X), dtype=np.float64)
    loss = _deviance(type(model).__name__, getattr(model, "power", 1.5), y, np.maximum(mean, 1e-300))
    return float(w @ loss / w.sum() + 0.5 * model.alpha * (_coefficients(model) ** 2).sum())


def huber(model: Any, table: Any) -> float:
    X, y, w = rows_that_count(table)
    e, scale, bend = np.abs(_error(model, X, y)), max(float(model.scale_), 1e-300), model.epsilon
    loss = np.where(e <= bend * scale, e**2 / scale, 2.0 * bend * e - bend**2 * scale)
    return float(w @ (scale + loss) + model.alpha * (_coefficients(model) ** 2).sum())


def pinball(model: Any, table: Any) -> float:
    X, y, w = rows_that_count(table)
    e, q = _error(model, X, y), model.quantile
    return float(w @ np.where(e > 0, q * e, (q - 1) * e) / w.sum() + model.alpha * np.abs(_coefficients(model)).sum())


def _norm_in_feature_space(model: Any) -> float:
    """aᵀKa of a machine whose kernel is "linear" or "rbf" with a number for gamma; Σa is 0."""
    Z, a = np.asarray(model.support_vectors_, dtype=np.float64), np.asarray(model.dual_coef_, dtype=np.float64).ravel()
    if model.kernel == "linear" and len(Z):
        return float(((a @ (Z - Z[0])) ** 2).sum())
    gap = ((Z[:, None, :] - Z[None, :, :]) ** 2).sum(axis=2)
    return float(a @ np.exp(-model.gamma * gap) @ a)


def machine_of_labels(model: Any, table: Any) -> float:
    """½‖f‖² + C Σ w max(0, 1 − yf), of two classes."""
    X, y, w = rows_that_count(table)
    margin = (2.0 * _codes(model, y) - 1.0) * np.asarray(model.decision_function(X), dtype=np.float64)
    return float(0.5 * _norm_in_feature_space(model) + model.C * (w @ np.maximum(0.0, 1.0 - margin)))


def machine_of_numbers(model: Any, table: Any) -> float:
    X, y, w = rows_that_count(table)
    beyond = np.maximum(0.0, np.abs(_error(model, X, y)) - model.epsilon)
    return float(0.5 * _norm_in_feature_space(model) + model.C * (w @ beyond))


def nu_machine_of_numbers(model: Any, table: Any) -> float:
    """½‖f‖² + C (ν Σw ε + Σ w max(0, |y − f| − ε)) at the best ε, beyond which are errors of weight ν Σw."""
    X, y, w = rows_that_count(table)
    e = np.abs(_error(model, X, y))
    order = np.argsort(-e)
    last = np.searchsorted(np.cumsum(w[order]), model.nu * w.sum())
    epsilon = e[order][last] if last < len(e) else 0.0
    beyond = model.nu * w.sum() * epsilon + w @ np.maximum(0.0, e - epsilon)
    return float(0.5 * _norm_in_feature_space(model) + model.C * beyond)


def _line_and_constant(model: Any) -> float:
    return float((_coefficients(model) ** 2).sum() + (np.asarray(model.intercept_) ** 2).sum())


def linear_machine_of_labels(model: Any, table: Any) -> float:
    """The constant is penalised as scikit-learn's is."""
    X, y, w = rows_that_count(table)
    margin = (2.0 * _codes(model, y) - 1.0) * np.asarray(model.decision_function(X), dtype=np.float64)
    return float(0.5 * _line_and_constant(model) + model.C * (w @ np.maximum(0.0, 1.0 - margin) ** 2))


def linear_machine_of_numbers(model: Any, table: Any) -> float:
    X, y, w = rows_that_count(table)
    beyond = np.maximum(0.0, np.abs(_error(model, X, y)) - model.epsilon)
    return float(0.5 * _line_and_constant(model) + model.C * (w @ beyond))


def reconstruction(model: Any, table: Any) -> float:
    """‖X − X̂‖² of what k components give back."""
    back = np.asarray(model.inverse_transform(model.transform(table.plain)), dtype=np.float64)
    return float(((table.plain - back) ** 2).sum())


def inertia(model: Any, table: Any) -> float:
    X, _, w = rows_that_count(table)
    centers = np.asarray(model.cluster_centers_, dtype=np.float64)
    return float(w @ ((X[:, None, :] - centers[None, :, :]) ** 2).sum(axis=2).min(axis=1))


def surprise(model: Any, table: Any) -> float:
    """−log p of the rows under the normal distribution with the model's mean and covariance."""
    covariance = model.get_covariance() if hasattr(model, "get_covariance") else model.covariances_[0]
    mean = model.means_[0] if hasattr(model, "means_") else table.plain.mean(axis=0)
    return -float(multivariate_normal(mean, covariance, allow_singular=True).logpdf(table.plain).sum())


def graphical(model: Any, table: Any) -> float:
    """−log det P + tr SP + α Σ |Pᵢⱼ|, i ≠ j."""
    P = np.asarray(model.precision_, dtype=np.float64)
    root = np.sqrt(np.abs(np.diag(P)))
    if not np.linalg.eigvalsh(P / root / root[:, None])[0] > -1e-12:  # no precision at all
        return float("nan")
    S = np.cov(table.plain.T, bias=True).reshape(P.shape)
    return float(-np.linalg.slogdet(P)[1] + (S * P).sum() + model.alpha * (np.abs(P).sum() - np.abs(np.diag(P)).sum()))


def training_loss(model: Any, table: Any) -> float:
    """Squared error of numbers, Gini impurity of probabilities, on the rows that the model was fitted to."""
    X, y, w = rows_that_count(table)
    if not hasattr(model, "classes_"):
        return float(w @ _error(model, X, y) ** 2)
    p = np.asarray(model.predict_proba(X), dtype=np.float64)
    return float(w @ (1.0 - p[np.arange(len(p)), _codes(model, y)]))
