"""`diagnose`: learning curve, noise and verdict for any estimator, in one call."""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from typing import Any

import numpy as np

from learnt.diagnosis._average import is_average
from learnt.diagnosis._bayes import noise_bounds
from learnt.diagnosis._losses import row_losses, spread_columns
from learnt.diagnosis._probe import probe
from learnt.diagnosis._regime import Diagnosis, read_curve
from learnt.engine.mixins import clone, is_classifier
from learnt.engine.random import generator


def diagnose(
    estimator: Any,
    X: np.ndarray,
    y: np.ndarray,
    *,
    folds: int = 5,
    sizes: Sequence[int] | None = None,
    random_state: Any = 0,
    on_fit: Callable[[], None] | None = None,
) -> Diagnosis:
    """Say whether a model suffers from noise, bias or variance on this table, and what to do about it.

    Underfitting (bias), overfitting (variance) or a target that these columns do not determine (noise): told apart by a
    learning curve, by nearest neighbours, and by regularised models of other kinds.

    Parameters
    ----------
    estimator : estimator
        An unfitted regressor, or a classifier with `predict_proba`; copies of it are fitted.
    X : array-like of shape (n_samples, n_features)
        Numbers without gaps.
    y : array-like of shape (n_samples,)
        Their targets: numbers for a regressor, labels for a classifier.
    folds : int, default=5
        Cross-validation folds; each holds its rows out at every training size. More give narrower intervals.
    sizes : sequence of int, default=None
        Training sizes; None for all rows, half of them and so on. Sizes too small for the model are left out.
    random_state : int, default=0
        Seed of the folds and of the draws: an integer, as each fold takes the next one.
    on_fit : callable, default=None
        A callback without arguments, called after each fold of each size, for progress.

    Returns
    -------
    diagnosis : Diagnosis
        With `regime` and `finding`, the `evidence`, the `treatments`, the three parts and the learning curve.

    Raises
    ------
    ValueError
        Where there are fewer than two rows a fold, or where the model cannot be fitted to all of them.

    See Also
    --------
    bias_variance : The three parts from models of many training sets, and for values of a parameter.
    read_curve : The same verdict from losses that you have.
    bayes_error_bounds : The ceiling alone.
    learnt.model_selection.learning_curve : The curve alone.

    Notes
    -----
    Losses are squared errors, or half the Brier score for classes. Time is that of at most two fits for each
    fold and each size.

    Examples
    --------
    >>> import numpy as np
    >>> from learnt.diagnosis import diagnose
    >>> from learnt.linear_model import LinearRegression
    >>> rng = np.random.default_rng(0)
    >>> X = rng.uniform(0, 2, size=(600, 1))
    >>> y = X[:, 0] ** 2 + rng.normal(scale=0.1, size=600)
    >>> found = diagnose(LinearRegression(), X, y)
    >>> found.regime
    'high bias'
    >>> found.treatments[0]
    'Let the model bend: interactions, splines, trees or boosting, kernels.'
    """
    X, y = np.asarray(X), np.asarray(y)
    n = len(y)
    if n < 2 * folds:
        raise ValueError(f"X has {n} rows; {folds} folds need at least {2 * folds}: pass more rows or fewer folds.")
    classes = np.unique(y) if is_classifier(estimator) else None
    order = generator(random_state).permutation(n)
    if classes is not None:  # deal the rows of each class round the folds
        order = order[np.argsort(y[order], kind="stable")]
    fold_of = np.empty(n, dtype=np.int64)
    fold_of[order] = np.arange(n) % folds
    smallest = n - int(np.bincount(fold_of).max())
    steps = _halvings(smallest) if sizes is None else sorted({min(int(s), smallest) for s in sizes})
    curve = np.full((3, len(steps), folds), np.nan)  # training loss, loss on new rows, variance
    constant = np.empty(folds)
    errors = np.empty((n, 1 if classes is None else len(classes)))  # of rows that the model had not seen
    for k in range(folds):
        inside = np.flatnonzero(fold_of != k)
        inside = inside[generator((random_state or 0) + k + 1).permutation(len(inside))]
        outside = np.flatnonzero(fold_of == k)
        constant[k] = _constant_loss(y[inside], y[outside], classes)
        for s, size in enumerate(steps):
            twin = inside[size : 2 * size]  # as many other rows, where there are
            try:
                *curve[:, s, k], predicted = _point(estimator, X, y, classes, (inside[:size], twin, outside))
            except ValueError:
                if size == steps[-1]:
                    raise
                curve[:, s, k] = np.nan  # too few rows for this model, e.g. for k neighbours
            if on_fit is not None:
                on_fit()
        errors[outside] = _as_columns(y[outside], classes) - predicted
    could = np.isfinite(curve[1]).all(axis=1)
    train, valid, variance = curve[:, could]
    half = 1.0 if classes is None else 0.5  # half the Brier score
    numbers, targets = _scaled(X), _as_columns(y, classes)
    noise = tuple(half * v for v in _noise(numbers, targets, errors, fold_of, random_state))
    found = probe(numbers, targets, errors, random_state=random_state)
    reached = _reached(valid[-1].mean(), half * found.losses, half * np.sum(errors[found.rows] ** 2, axis=1))
    return read_curve(
        np.array(steps)[could],
        train,
        valid,
        variance=variance,
        noise=noise,
        constant=constant,
        signal=found.signal,
        reached=reached,
        averages=is_average(estimator),
    )


def _halvings(n: int) -> list[int]:
    """Training sizes: all rows, half of them, and so on to a sixteenth, but not below 30; a half in any case.

    >>> _halvings(800), _halvings(40)
    ([50, 100, 200, 400, 800], [20, 40])
    """
    return sorted({n // 2**i for i in range(5) if i <= 1 or n // 2**i >= 30})


def _point(
    estimator: Any, X: np.ndarray, y: np.ndarray, classes: np.ndarray | None, rows: tuple[np.ndarray, ...]
) -> tuple[float, float, float, np.ndarray]:
    """Training loss, loss on new rows, variance (NaN without as many other rows), and the predictions of new rows."""
    seen, twin, new = rows
    model = clone(estimator).fit(X[seen], y[seen])
    predicted = _predict(model, X[new], classes)
    train = row_losses(y[seen], _predict(model, X[seen], classes), classes).mean()
    valid = row_losses(y[new], predicted, classes).mean()
    columns = predicted.reshape(len(new), -1)
    variance = np.nan
    if len(twin) == len(seen):
        other = _predict(clone(estimator).fit(X[twin], y[twin]), X[new], classes).reshape(len(new), -1)
        half = 0.5 if classes is None else 0.25  # of a difference of two models; and half the Brier score
        variance = half * float(np.mean(np.sum((columns - other) ** 2, axis=1)))
    return float(train), float(valid), variance, columns


def _as_columns(y: np.ndarray, classes: np.ndarray | None) -> np.ndarray:
    """Targets as a column of numbers, or one column of zeros and ones for each class."""
    return y.astype(np.float64)[:, None] if classes is None else (y[:, None] == classes[None, :]).astype(np.float64)


def _predict(model: Any, X: np.ndarray, classes: np.ndarray | None) -> np.ndarray:
    if classes is None:
        return np.asarray(model.predict(X))
    return spread_columns(model.predict_proba(X), model.classes_, classes)


def _constant_loss(y_train: np.ndarray, y_valid: np.ndarray, classes: np.ndarray | None) -> float:
    if classes is None:
        return float(np.mean((y_valid - y_train.mean()) ** 2))
    shares = np.mean(y_train[:, None] == classes[None, :], axis=0)
    return float(row_losses(y_valid, np.tile(shares, (len(y_valid), 1)), classes).mean())


def _noise(
    X: np.ndarray, y: np.ndarray, errors: np.ndarray, model: np.ndarray, random_state
) -> tuple[float, float, float]:
    """Low end, estimate and upper bound of the noise: what the targets and the model's errors both allow.

    Neighbours differ by the noise and by what is left of the function between them. In the errors that is little where
    the model is good, and in the targets where the rows are dense; the smaller of the two upper bounds is the better.
    """
    of_targets = noise_bounds(X, y, random_state=random_state)
    of_errors = noise_bounds(X, errors, groups=model, random_state=random_state)
    better = min(of_targets, of_errors, key=lambda found: found.upper)
    return better.low, better.lower, min(of_targets.high, of_errors.high)


def _scaled(X: np.ndarray) -> np.ndarray:
    scale = X.std(axis=0)
    return (X - X.mean(axis=0)) / np.where(scale > 0, scale, 1.0)


def _reached(loss: float, others: np.ndarray, own: np.ndarray) -> tuple[float, float]:
    """The least loss of models of other kinds, and the upper end of its interval, against the model on the same rows.

    Rows are the same and so is their noise: paired differences vary much less than losses.
    """
    gains = own[:, None] - others
    half = 1.96 * gains.std(axis=0, ddof=1) / math.sqrt(len(gains))
    best = int(np.argmax(gains.mean(axis=0) - half))
    gain = float(gains[:, best].mean())
    if gain <= half[best]:  # may be chance
        return loss, loss - gain + float(half[best])
    return loss - gain, loss - gain + float(half[best])
