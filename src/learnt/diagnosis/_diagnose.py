"""`diagnose`: learning curve, noise and verdict for any estimator, in one call."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

import numpy as np
from sklearn.base import clone, is_classifier

from learnt.diagnosis._bayes import noise_bounds
from learnt.diagnosis._losses import curve_sizes, row_losses, spread_columns
from learnt.diagnosis._regime import Diagnosis, read_curve
from learnt.engine.random import generator


def diagnose(
    estimator: Any,
    X: np.ndarray,
    y: np.ndarray,
    *,
    folds: int = 5,
    sizes: Sequence[int] | None = None,
    random_state=0,
    on_fit: Callable[[], None] | None = None,
) -> Diagnosis:
    """Say whether a model suffers from noise, bias or variance on this table, and what to do about it.

    Parameters
    ----------
    estimator : an unfitted regressor, or a classifier with ``predict_proba``.
    X, y : numbers (n, p) and n targets.
    folds : cross-validation folds; each holds its rows out at every training size.
    sizes : training sizes, or None for a geometric range; sizes too small for the model are left out.
    random_state : seed of the folds and of the draws.
    on_fit : called after each fit, for progress.

    Returns
    -------
    Diagnosis
        ``finding``, ``evidence``, ``treatments``, the three parts and the learning curve.

    >>> from learnt.linear_model import LinearRegression
    >>> rng = np.random.default_rng(0)
    >>> X = rng.uniform(0, 2, size=(600, 1)); y = X[:, 0] ** 2 + rng.normal(scale=0.1, size=600)
    >>> diagnose(LinearRegression(), X, y).regime
    'high bias'
    """
    X, y = np.asarray(X), np.asarray(y)
    n = len(y)
    if n < 2 * folds:
        raise ValueError(f"X has {n} rows; {folds} folds need at least {2 * folds}: pass more rows or fewer folds.")
    classify = is_classifier(estimator)
    classes = np.unique(y) if classify else None
    order = generator(random_state).permutation(n)
    if classify:  # deal the rows of each class round the folds
        order = order[np.argsort(y[order], kind="stable")]
    fold_of = np.empty(n, dtype=np.int64)
    fold_of[order] = np.arange(n) % folds
    smallest = n - int(np.bincount(fold_of).max())
    steps = curve_sizes(smallest) if sizes is None else sorted({min(int(s), smallest) for s in sizes})
    train, valid = np.empty((len(steps), folds)), np.empty((len(steps), folds))
    constant = np.empty(folds)
    for k in range(folds):
        inside = np.flatnonzero(fold_of != k)
        inside = inside[generator((random_state or 0) + k + 1).permutation(len(inside))]
        outside = np.flatnonzero(fold_of == k)
        constant[k] = _constant_loss(y[inside], y[outside], classes)
        for s, size in enumerate(steps):
            rows = inside[:size]
            try:
                model = clone(estimator).fit(X[rows], y[rows])
                train[s, k] = row_losses(y[rows], _predict(model, X[rows], classes), classes).mean()
                valid[s, k] = row_losses(y[outside], _predict(model, X[outside], classes), classes).mean()
            except ValueError:
                if size == steps[-1]:
                    raise
                train[s, k] = valid[s, k] = np.nan  # too few rows for this model, e.g. for k neighbours
            if on_fit is not None:
                on_fit()
    could = np.isfinite(valid).all(axis=1)
    kept, train, valid = np.array(steps)[could], train[could], valid[could]
    return read_curve(kept, train, valid, noise=_noise(X, y, classes, random_state), constant=constant.mean())


def _predict(model: Any, X: np.ndarray, classes: np.ndarray | None) -> np.ndarray:
    if classes is None:
        return model.predict(X)
    return spread_columns(model.predict_proba(X), model.classes_, classes)


def _constant_loss(y_train: np.ndarray, y_valid: np.ndarray, classes: np.ndarray | None) -> float:
    if classes is None:
        return float(np.mean((y_valid - y_train.mean()) ** 2))
    shares = np.mean(y_train[:, None] == classes[None, :], axis=0)
    return float(row_losses(y_valid, np.tile(shares, (len(y_valid), 1)), classes).mean())


def _noise(X: np.ndarray, y: np.ndarray, classes: np.ndarray | None, random_state) -> tuple[float, float, float]:
    scale = X.std(axis=0)
    X = (X - X.mean(axis=0)) / np.where(scale > 0, scale, 1.0)
    if classes is None:
        found, half = noise_bounds(X, y, random_state=random_state), 1.0
    else:
        found, half = noise_bounds(X, y[:, None] == classes[None, :], random_state=random_state), 0.5
    return half * found.low, half * found.lower, half * found.upper
