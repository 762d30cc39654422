"""One number for how well predicted labels agree with true ones."""

from __future__ import annotations

import warnings
from typing import Any

import numpy as np
from sklearn.exceptions import UndefinedMetricWarning

from learnt.engine.arrays import is_foreign_array
from learnt.metrics._confusion import confusion_matrix, pair_counts
from learnt.metrics._inputs import check_lengths, check_option, follow
from learnt.metrics._labels import check_targets


def _agreement(y_true: Any, y_pred: Any, sample_weight: Any) -> tuple[float, float]:
    """Weight of the rows whose labels agree, and of all rows."""
    if is_foreign_array(y_pred) and y_pred.ndim == 1:
        xp, y_true, y_pred, weight = follow(y_true, y_pred, sample_weight)
        n = check_lengths(y_true=y_true, y_pred=y_pred, sample_weight=weight)
        same = y_true == y_pred
        if weight is None:
            return float(xp.sum(xp.astype(same, xp.int64))), float(n)
        return float(xp.sum(weight[same])), float(xp.sum(weight))
    targets = check_targets(y_true, y_pred, sample_weight)
    if targets.multilabel:
        same = (targets.true != targets.pred).sum(axis=1) == 0
    else:
        same = targets.true == targets.pred
    if targets.weight is None:
        return float(np.count_nonzero(same)), float(same.size)
    return float(targets.weight[same].sum(dtype=np.float64)), float(targets.weight.sum(dtype=np.float64))


def accuracy_score(y_true: Any, y_pred: Any, *, normalize: bool = True, sample_weight: Any = None) -> float:
    """The share of rows predicted right, Σ w · 1[ŷ = y] / Σ w; for label matrices a row is right when all of it is.

    Parameters
    ----------
    y_true, y_pred : array-like of shape (n,), or (n, n_labels) of zeros and ones
    normalize : bool, default=True
        False gives the weight of the right rows instead of their share.
    sample_weight : array-like of shape (n,), default=None

    Examples
    --------
    >>> accuracy_score([0, 1, 2, 3], [0, 2, 1, 3])
    0.5
    """
    agreed, total = _agreement(y_true, y_pred, sample_weight)
    return agreed / total if normalize else agreed


def zero_one_loss(y_true: Any, y_pred: Any, *, normalize: bool = True, sample_weight: Any = None) -> float:
    """The share of rows predicted wrong, Σ w · 1[ŷ ≠ y] / Σ w.

    Parameters
    ----------
    y_true, y_pred : array-like of shape (n,), or (n, n_labels) of zeros and ones
    normalize : bool, default=True
        False gives the weight of the wrong rows instead of their share.
    sample_weight : array-like of shape (n,), default=None

    Examples
    --------
    >>> zero_one_loss([2, 2, 3, 4], [1, 2, 3, 4])
    0.25
    """
    agreed, total = _agreement(y_true, y_pred, sample_weight)
    return 1 - agreed / total if normalize else total - agreed


def hamming_loss(y_true: Any, y_pred: Any, *, sample_weight: Any = None) -> float:
    """The share of labels predicted wrong; for label matrices each entry counts.

    >>> hamming_loss(np.array([[0, 1], [1, 1]]), np.zeros((2, 2)))
    0.75
    """
    targets = check_targets(y_true, y_pred, sample_weight)
    if not targets.multilabel:
        return float(np.average(targets.true != targets.pred, weights=targets.weight))
    wrong = (targets.true != targets.pred).sum(axis=1)
    return float(np.average(wrong, weights=targets.weight) / targets.true.shape[1])


def balanced_accuracy_score(y_true: Any, y_pred: Any, *, sample_weight: Any = None, adjusted: bool = False) -> float:
    """The mean over classes of the share of each class predicted right.

    Parameters
    ----------
    y_true, y_pred : array-like of shape (n,)
    sample_weight : array-like of shape (n,), default=None
    adjusted : bool, default=False
        Rescale so that chance scores 0 and perfection 1.

    Examples
    --------
    >>> balanced_accuracy_score([0, 1, 0, 0, 1, 0], [0, 1, 0, 0, 0, 1])
    0.625
    """
    targets = check_targets(y_true, y_pred, sample_weight)
    if targets.multilabel:
        raise ValueError("multilabel-indicator is not supported by balanced_accuracy_score; give one label a row.")
    counts = pair_counts(targets.true, targets.pred, targets.classes.size, targets.weight)
    if targets.classes.size == 1:
        warnings.warn("A single label was found in 'y_true' and 'y_pred'; there is nothing to balance.", stacklevel=2)
    size = counts.sum(axis=1)
    if not (size > 0).all():
        warnings.warn("y_pred contains classes not in y_true, which are left out of the mean.", stacklevel=2)
    recall = counts.diagonal()[size > 0] / size[size > 0]
    score = recall.mean()
    if adjusted:
        chance = 1 / recall.size
        score = (score - chance) / (1 - chance)
    return float(score)


def matthews_corrcoef(y_true: Any, y_pred: Any, *, sample_weight: Any = None) -> float:
    """The correlation between true and predicted labels, from −1 over 0 (chance) to 1; 0 where it is undefined.

    >>> matthews_corrcoef([1, 1, 1, 0], [1, 0, 1, 1])
    -0.33333333333333331
    """
    targets = check_targets(y_true, y_pred, sample_weight)
    if targets.multilabel:
        raise ValueError("multilabel-indicator is not supported by matthews_corrcoef; give one label a row.")
    counts = pair_counts(targets.true, targets.pred, targets.classes.size, targets.weight).astype(np.float64)
    actual, predicted = counts.sum(axis=1), counts.sum(axis=0)
    total = predicted.sum()
    covariance = np.trace(counts) * total - actual @ predicted
    spread = (total**2 - predicted @ predicted) * (total**2 - actual @ actual)
    return 0.0 if spread == 0 else float(covariance / np.sqrt(spread))


def _nothing_in_common(total: float) -> str:
    if total == 0:
        return "`y2` contains no labels that are present in both `y1` and `labels`."
    return "`y1`, `y2` and `labels` have only one label in common."


def cohen_kappa_score(
    y1: Any,
    y2: Any,
    *,
    labels: Any = None,
    weights: str | None = None,
    sample_weight: Any = None,
    replace_undefined_by: float = np.nan,
) -> float:
    """Agreement of two annotators beyond chance: κ = 1 − observed / expected disagreement.

    Parameters
    ----------
    y1, y2 : array-like of shape (n,)
    labels : array-like, default=None
        The classes to compare; all by default.
    weights : {None, "linear", "quadratic"}, default=None
        How disagreement grows with the distance between classes.
    sample_weight : array-like of shape (n,), default=None
    replace_undefined_by : float, default=nan
        The answer, with a warning, where κ is 0/0.

    Examples
    --------
    >>> cohen_kappa_score([0, 1, 1, 2], [0, 1, 2, 2])
    0.6363636363636364
    """
    check_option(weights, "weights", (None, "linear", "quadratic"))
    if labels is not None and np.size(labels) and not np.isin(y1, labels).any():
        raise ValueError(f"At least one label in `labels` must be present in `y1`; none of {list(labels)} is.")
    with warnings.catch_warnings():
        warnings.filterwarnings("ignore", message="A single label was found")
        counts = confusion_matrix(y1, y2, labels=labels, sample_weight=sample_weight).astype(np.float64)
    second, first = counts.sum(axis=0), counts.sum(axis=1)
    total = second.sum()
    place = np.arange(counts.shape[0], dtype=np.float64)
    distance = np.abs(place - place[:, None])
    if weights is None:
        distance = (distance > 0).astype(np.float64)
    elif weights == "quadratic":
        distance = distance**2
    expected = (distance * np.outer(second, first)).sum() / total if total > 0 else 0.0
    if expected == 0:
        warnings.warn(
            f"{_nothing_in_common(total)} `cohen_kappa_score` is undefined and set to the value defined by the "
            f"`replace_undefined_by` param, which is set to {replace_undefined_by}.",
            UndefinedMetricWarning,
            stacklevel=2,
        )
        return replace_undefined_by
    return float(1 - (distance * counts).sum() / expected)
