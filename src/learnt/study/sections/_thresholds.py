"""The precision–recall curve, and every threshold on the probability with its confusion matrix and costs."""

from __future__ import annotations

import numpy as np

from learnt.study.facts._sections import AtThreshold, PrecisionRecall, Thresholds
from learnt.study.race._metric import counts_by_threshold

MOST_THRESHOLDS = 101
MOST_POINTS = 200


def thresholds(
    y: np.ndarray,
    score: np.ndarray,
    *,
    positive: str,
    used: float = 0.5,
    costs: tuple[float, float] = (1.0, 1.0),
    most: int = MOST_THRESHOLDS,
) -> Thresholds | None:
    """What each threshold would mean for these rows; None where all rows are of one class.

    Parameters
    ----------
    y : array of bool
        Which rows are positive.
    score : array
        The probability that the model gave to it.
    positive : str
        What the positive class is called.
    used : float, default=0.5
        The threshold in use; it is in the table.
    costs : (float, float), default=(1, 1)
        Of a false alarm and of a missed positive.
    most : int, default=101
        Thresholds in the table: half of them evenly spaced, half where the scores are.

    Returns
    -------
    Thresholds
        Counts, precision, recall, F1, accuracy and cost at each threshold.

    Examples
    --------
    >>> found = thresholds(np.array([False, False, True, True]), np.array([0.1, 0.6, 0.4, 0.9]), positive="yes")
    >>> found.now.tp, found.now.fp, found.now.fn, found.now.tn, found.now.precision
    (1, 1, 1, 1, 0.5)
    """
    y, score = np.asarray(y, dtype=bool), np.asarray(score, dtype=np.float64)
    if y.all() or not y.any():
        return None
    table = [_at(y, score, t, costs) for t in _places(score, used, most)]
    return Thresholds(positive, len(y), int(y.sum()), used, costs, tuple(table))


def precision_recall(y: np.ndarray, score: np.ndarray, positive: str) -> PrecisionRecall | None:
    """The precision–recall curve and the area under it; None where all rows are of one class.

    >>> precision_recall(np.array([False, True, True]), np.array([0.1, 0.6, 0.9]), "yes").area
    1.0
    """
    y, score = np.asarray(y, dtype=bool), np.asarray(score, dtype=np.float64)
    if y.all() or not y.any():
        return None
    _, tp, fp, *_ = counts_by_threshold(y, score)
    tp, called = tp[::-1], (tp + fp)[::-1]  # from the strictest threshold on
    some = called > 0
    precision, recall = tp[some] / called[some], tp[some] / y.sum()
    area = float(np.sum(np.diff(recall, prepend=0.0) * precision))
    keep = np.unique(np.linspace(0, len(recall) - 1, MOST_POINTS).round().astype(int))
    return PrecisionRecall(positive, len(y), int(y.sum()), recall[keep].tolist(), precision[keep].tolist(), area)


def _places(score: np.ndarray, used: float, most: int) -> list[float]:
    """Thresholds: 0, 1, the one in use, evenly spaced ones, and quantiles of the scores, rounded."""
    half = most // 2 + 1
    even = np.linspace(0, 1, half)
    among = np.quantile(score, np.linspace(0, 1, most - half + 1)[1:-1])
    rounded = [float(f"{v:.3g}") for v in np.concatenate([even, among])]
    others = sorted({v for v in rounded if 0 <= v <= 1 and abs(v - used) > 1e-9})[: most - 1]
    return sorted([*others, float(used)])


def _at(y: np.ndarray, score: np.ndarray, threshold: float, costs: tuple[float, float]) -> AtThreshold:
    called = score >= threshold
    tp, fp = int((called & y).sum()), int((called & ~y).sum())
    fn, tn = int(y.sum()) - tp, int((~y).sum()) - fp
    precision = tp / (tp + fp) if tp + fp else None
    cost = costs[0] * fp + costs[1] * fn
    accuracy = (tp + tn) / len(y)
    return AtThreshold(
        threshold, tp, fp, fn, tn, precision, tp / (tp + fn), 2 * tp / (2 * tp + fp + fn), accuracy, cost
    )
