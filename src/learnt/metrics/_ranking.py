"""Scores against labels: ROC and precision–recall curves and the areas under them.

Everything here follows from one pass over the sorted scores: how much weight of positives and of negatives lies at or
above each distinct score. The area under the ROC curve needs not even that: it is the share of (positive, negative)
pairs in the right order, ties counting half, and pairs are integers, so it is exact.
"""

from __future__ import annotations

import warnings
from typing import Any, NamedTuple

import numpy as np
from sklearn.exceptions import UndefinedMetricWarning

from learnt.engine.documentation import documented
from learnt.engine.kernel import kernel
from learnt.engine.threads import for_blocks
from learnt.metrics._inputs import SMALL, check_finite, check_lengths, check_weight, column, ranks, real
from learnt.metrics._labels import encode, label_vector
from learnt.metrics._sort import FallingScores

_GRAIN = 1 << 18
SEVERAL = "multiclass-multioutput format is not supported"


@kernel
def _ordered_pairs(keys, positive, start, stop):
    """Positives p, negatives q, and twice the pairs in the right order plus ties, over the tied groups that begin in
    [start, stop) of a falling order. Without `positive`, it is the lowest bit of the keys."""
    n = keys.size
    one = np.uint64(1)
    label_bits = np.uint64(0)
    if positive is None:
        label_bits = one
    i = start
    if i > 0:
        while i < n and keys[i] >> label_bits == keys[start - 1] >> label_bits:
            i += 1
    pairs = p = q = 0
    while i < stop:
        key = keys[i] >> label_bits
        tied = tied_p = 0
        while i < n and keys[i] >> label_bits == key:
            tied += 1
            if positive is None:
                tied_p += np.int64(keys[i] & one)
            else:
                tied_p += np.int64(positive[i])
            i += 1
        tied_q = tied - tied_p
        pairs += tied_q * (2 * p + tied_p)
        p += tied_p
        q += tied_q
    return p, q, pairs


def _exact_area(positive: np.ndarray, scores: np.ndarray) -> float:
    """The area under the ROC curve of two non-empty classes, from integers of pairs."""
    if scores.size <= SMALL:
        check_finite(scores, "y_score")
        is_positive = positive.astype(bool)
        above, below = scores[is_positive], np.sort(scores[~is_positive])
        pairs = int(np.searchsorted(below, above, "left").sum() + np.searchsorted(below, above, "right").sum())
        return pairs / (2 * above.size * below.size)
    ranked = FallingScores(scores, positive, packed=True)
    if not ranked.finite:
        check_finite(scores, "y_score")
    parts = for_blocks(lambda lo, hi: _ordered_pairs(ranked.keys, ranked.payload, lo, hi), scores.size, grain=_GRAIN)
    pairs = p = q = 0
    for block_p, block_q, block_pairs in parts:
        pairs += int(block_pairs) + 2 * p * int(block_q)
        p += int(block_p)
        q += int(block_q)
    return pairs / (2 * p * q)


class RankingCounts(NamedTuple):
    """Weight of the negatives and of the positives at or above each distinct score, from the largest score down."""

    fps: np.ndarray
    tps: np.ndarray
    thresholds: np.ndarray


def ranking_counts(positive: np.ndarray, scores: np.ndarray, weight: np.ndarray | None) -> RankingCounts:
    """One pass over the sorted scores. `positive` holds zeros and ones (uint8)."""
    if weight is not None:
        present = weight != 0
        if not present.all():
            positive, scores, weight = positive[present], scores[present], weight[present]
    if scores.size <= SMALL:
        check_finite(scores, "y_score")
        order = np.argsort(-scores, kind="stable")
        falling = scores[order]
        new = np.flatnonzero(falling[1:] != falling[:-1])
    else:
        order = positive if weight is None else np.arange(scores.size, dtype=np.int64)
        ranked = FallingScores(scores, order)
        if not ranked.finite:
            check_finite(scores, "y_score")
        order = ranked.payload
        new = np.flatnonzero(ranked.keys[1:] != ranked.keys[:-1])
    last = np.append(new, scores.size - 1)
    thresholds = falling[last] if scores.size <= SMALL else ranked.score(last)
    if weight is None:
        hit = positive[order] if scores.size <= SMALL else order
        tps = np.cumsum(hit, dtype=np.int64)[last].astype(np.float64)
        return RankingCounts(1.0 + last - tps, tps, thresholds)
    hit, weight = positive[order], weight[order].astype(np.float64)
    return RankingCounts(np.cumsum((1 - hit) * weight)[last], np.cumsum(hit * weight)[last], thresholds)


def positives(y_true: Any, pos_label: Any) -> tuple[np.ndarray, int]:
    """Which rows are positive (uint8), and how many classes there are; the rule for a missing pos_label."""
    classes, codes = encode(label_vector(y_true, "y_true", SEVERAL), "y_true")
    if pos_label is None:
        if classes.size > 2:
            raise ValueError(
                f"multiclass format is not supported: y_true holds {classes.size} classes; give pos_label."
            )
        usual = classes.dtype.kind not in "UTO" and set(classes.tolist()) <= {-1, 0, 1}
        if not usual or classes.tolist() == [-1, 0]:
            raise ValueError(
                f"y_true takes value in {{{', '.join(map(repr, classes.tolist()))}}} and pos_label is not specified: "
                "either make y_true take value in {0, 1} or {-1, 1} or pass pos_label explicitly."
            )
        pos_label = 1
    matches = np.array([label == pos_label for label in classes.tolist()], dtype=np.uint8)
    return matches[codes], classes.size


def _binary_counts(y_true: Any, y_score: Any, pos_label: Any, sample_weight: Any) -> tuple[RankingCounts, int]:
    n = check_lengths(y_true=y_true, y_score=y_score, sample_weight=sample_weight)
    positive, n_classes = positives(y_true, pos_label)
    scores = ranks(column(y_score, "y_score"), "y_score")
    return ranking_counts(positive, scores, check_weight(sample_weight, n)), n_classes


@documented
def roc_curve(
    y_true: Any, y_score: Any, *, pos_label: Any = None, sample_weight: Any = None, drop_intermediate: bool = True
) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """False positive rate FP/N against true positive rate TP/P as the threshold falls.

    Each point is a classifier that calls scores from a threshold on positive: what share of positives it finds, for
    what share of false alarms. Choose a threshold from it, or compare models by the area under it.

    Parameters
    ----------
    y_true : array-like of shape (n_samples,)
        The true labels, of two classes; `pos_label` must be given unless they are {0, 1} or {−1, 1}.
    y_score : array-like of shape (n_samples,)
        The larger, the more positive: probabilities of the positive class, or decision values.
    pos_label : int, float, bool or str, default=None
        The label of the positive class; None for 1, where the labels are {0, 1} or {−1, 1}.
    drop_intermediate : bool, default=True
        Leave out points on a straight line between their neighbours: the curve is the same, and shorter.

    Returns
    -------
    fpr : ndarray of shape (n_thresholds,)
        False positive rates, rising from 0 to 1.
    tpr : ndarray of shape (n_thresholds,)
        True positive rates (recall), rising from 0 to 1.
    thresholds : ndarray of shape (n_thresholds,)
        Falling; scores from here on are called positive. The first is infinity: nothing is predicted positive.

    See Also
    --------
    roc_auc_score : The area under it.
    precision_recall_curve : Shows more where positives are rare.
    det_curve : Both kinds of errors against each other.
    learnt.plots.roc : A picture of it.

    Notes
    -----
    O(n log n) time. A rate is NaN, with a warning, where its class is absent.

    References
    ----------
    .. [1] T. Fawcett, "An introduction to ROC analysis", Pattern Recognition Letters, 2006.

    Examples
    --------
    >>> from learnt.metrics import roc_curve
    >>> fpr, tpr, thresholds = roc_curve([0, 0, 1, 1], [0.1, 0.4, 0.35, 0.8])
    >>> fpr, tpr
    (array([0. , 0. , 0.5, 0.5, 1. ]), array([0. , 0.5, 0.5, 1. , 1. ]))
    >>> thresholds
    array([ inf, 0.8 , 0.4 , 0.35, 0.1 ])
    """
    (fps, tps, thresholds), _ = _binary_counts(y_true, y_score, pos_label, sample_weight)
    if drop_intermediate and fps.size > 2:
        corner = np.flatnonzero((np.diff(fps, 2) != 0) | (np.diff(tps, 2) != 0)) + 1
        kept = np.concatenate(([0], corner, [fps.size - 1]))
        fps, tps, thresholds = fps[kept], tps[kept], thresholds[kept]
    fps, tps = np.append(0.0, fps), np.append(0.0, tps)
    return (
        _rate(fps, "negative", "false positive"),
        _rate(tps, "positive", "true positive"),
        np.append(np.inf, thresholds.astype(np.float64)),
    )


def _rate(counts: np.ndarray, missing: str, what: str) -> np.ndarray:
    if counts[-1] > 0:
        return counts / counts[-1]
    warnings.warn(
        f"No {missing} samples in y_true, {what} value should be meaningless.", UndefinedMetricWarning, stacklevel=3
    )
    return np.full(counts.shape, np.nan)


def _segment_ends(tps: np.ndarray) -> np.ndarray:
    """RowIndex where the true positives change just before or just after; the first and last always."""
    change = np.diff(tps) != 0
    return np.concatenate(([0], np.flatnonzero(change[:-1] | change[1:]) + 1, [tps.size - 1]))


@documented
def precision_recall_curve(
    y_true: Any, y_score: Any, *, pos_label: Any = None, sample_weight: Any = None, drop_intermediate: bool = False
) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """Precision TP/(TP+FP) and recall TP/P at every threshold, rising; the last point is (1, 0) by convention.

    Each point is a classifier that calls scores from a threshold on positive: what share of its alarms is right, and
    what share of positives it finds. The curve to look at where positives are rare.

    Parameters
    ----------
    y_true : array-like of shape (n_samples,)
        The true labels, of two classes; `pos_label` must be given unless they are {0, 1} or {−1, 1}.
    y_score : array-like of shape (n_samples,)
        The larger, the more positive: probabilities of the positive class, or decision values.
    pos_label : int, float, bool or str, default=None
        The label of the positive class; None for 1, where the labels are {0, 1} or {−1, 1}.
    drop_intermediate : bool, default=False
        Leave out thresholds at which the number of true positives changes neither before nor after: a shorter curve for
        drawing.

    Returns
    -------
    precision : ndarray of shape (n_thresholds + 1,)
        Precision at each threshold, and 1.
    recall : ndarray of shape (n_thresholds + 1,)
        Recall at each threshold, falling, and 0.
    thresholds : ndarray of shape (n_thresholds,)
        Rising; scores from here on are called positive.

    See Also
    --------
    average_precision_score : The area under it.
    roc_curve : Does not depend on how common positives are.
    metric_at_thresholds : Any other score at every threshold, such as F₁.
    learnt.plots.precision_recall : A picture of it.

    Notes
    -----
    O(n log n) time. Recall is 1 everywhere, with a warning, where no row is positive.

    Examples
    --------
    >>> from learnt.metrics import precision_recall_curve
    >>> precision, recall, thresholds = precision_recall_curve([0, 0, 1, 1], [0.1, 0.4, 0.35, 0.8])
    >>> precision.round(2), recall
    (array([0.5 , 0.67, 0.5 , 1.  , 1.  ]), array([1. , 1. , 0.5, 0.5, 0. ]))
    >>> thresholds
    array([0.1 , 0.35, 0.4 , 0.8 ])
    """
    precision, recall, thresholds = _precision_recall(
        _binary_counts(y_true, y_score, pos_label, sample_weight)[0], drop_intermediate
    )
    return np.append(precision[::-1], 1.0), np.append(recall[::-1], 0.0), thresholds[::-1]


def _precision_recall(
    steps: RankingCounts, drop_intermediate: bool = False
) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """Precision and recall from the largest threshold down."""
    fps, tps, thresholds = steps
    if drop_intermediate and fps.size > 2:
        kept = _segment_ends(tps)
        fps, tps, thresholds = fps[kept], tps[kept], thresholds[kept]
    predicted = tps + fps
    precision = np.divide(tps, predicted, out=np.zeros_like(tps), where=predicted != 0)
    if tps[-1] == 0:
        warnings.warn(
            "No positive class found in y_true, recall is set to one for all thresholds.", UserWarning, stacklevel=3
        )
        return precision, np.ones_like(tps), thresholds
    return precision, tps / tps[-1], thresholds


@documented
def det_curve(
    y_true: Any, y_score: Any, pos_label: Any = None, sample_weight: Any = None, drop_intermediate: bool = False
) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """Detection error trade-off: false positive rate against false negative rate as the threshold rises.

    Both axes are errors, so that the curve nearer to the origin is better. On axes of normal quantiles, as speech and
    biometrics draw it, good detectors are told apart that look the same as ROC curves.

    Parameters
    ----------
    y_true : array-like of shape (n_samples,)
        The true labels, of two classes; `pos_label` must be given unless they are {0, 1} or {−1, 1}.
    y_score : array-like of shape (n_samples,)
        The larger, the more positive: probabilities of the positive class, or decision values.
    pos_label : int, float, bool or str, default=None
        The label of the positive class; None for 1, where the labels are {0, 1} or {−1, 1}.
    drop_intermediate : bool, default=False
        Leave out thresholds at which the number of true positives changes neither before nor after: a shorter curve for
        drawing.

    Returns
    -------
    fpr : ndarray of shape (n_thresholds,)
        False positive rates (false alarms), falling.
    fnr : ndarray of shape (n_thresholds,)
        False negative rates (misses), rising.
    thresholds : ndarray of shape (n_thresholds,)
        Rising; scores from here on are called positive.

    See Also
    --------
    roc_curve : Hits against false alarms.
    precision_recall_curve : Precision against recall.
    confusion_matrix_at_thresholds : The counts behind it.

    References
    ----------
    .. [1] A. Martin, G. Doddington, T. Kamm, M. Ordowski and M. Przybocki, "The DET curve in assessment of detection
       task performance", Eurospeech, 1997.

    Examples
    --------
    >>> from learnt.metrics import det_curve
    >>> fpr, fnr, thresholds = det_curve([0, 0, 1, 1], [0.1, 0.4, 0.35, 0.8])
    >>> fpr, fnr, thresholds
    (array([0.5, 0.5, 0. ]), array([0. , 0.5, 0.5]), array([0.35, 0.4 , 0.8 ]))
    """
    (fps, tps, thresholds), n_classes = _binary_counts(y_true, y_score, pos_label, sample_weight)
    if n_classes != 2:
        raise ValueError(
            "Only one class is present in y_true: the detection error tradeoff curve is not defined in that case."
        )
    fps, tps = np.append(0.0, fps), np.append(0.0, tps)
    thresholds = np.append(np.inf, thresholds.astype(np.float64))
    if drop_intermediate and fps.size > 2:
        kept = _segment_ends(tps)
        fps, tps, thresholds = fps[kept], tps[kept], thresholds[kept]
    first = max(int(np.searchsorted(fps, fps[0], side="right")) - 1, 0)
    inside = slice(first, int(np.searchsorted(tps, tps[-1])) + 1)
    fnr = (tps[-1] - tps[inside])[::-1] / tps[-1]
    return fps[inside][::-1] / fps[-1], fnr, thresholds[inside][::-1]


@documented
def confusion_matrix_at_thresholds(
    y_true: Any, y_score: Any, *, pos_label: Any = None, sample_weight: Any = None
) -> tuple[np.ndarray, np.ndarray, np.ndarray, np.ndarray, np.ndarray]:
    """Counts of the confusion matrix where scores from each threshold on are called positive.

    From these any rate of two classes can be had at every threshold, without a pass over the rows for each.

    Parameters
    ----------
    y_true : array-like of shape (n_samples,)
        The true labels, of two classes; `pos_label` must be given unless they are {0, 1} or {−1, 1}.
    y_score : array-like of shape (n_samples,)
        The larger, the more positive: probabilities of the positive class, or decision values.
    pos_label : int, float, bool or str, default=None
        The label of the positive class; None for 1, where the labels are {0, 1} or {−1, 1}.

    Returns
    -------
    tns : ndarray of shape (n_thresholds,)
        Weight (number, without weights) of the true negatives.
    fps : ndarray of shape (n_thresholds,)
        Weight of the false positives.
    fns : ndarray of shape (n_thresholds,)
        Weight of the false negatives.
    tps : ndarray of shape (n_thresholds,)
        Weight of the true positives.
    thresholds : ndarray of shape (n_thresholds,)
        The distinct scores, falling.

    See Also
    --------
    confusion_matrix : For predicted labels, of any number of classes.
    metric_at_thresholds : A metric of your own at every threshold.
    roc_curve : The two rates at every threshold.

    Examples
    --------
    >>> from learnt.metrics import confusion_matrix_at_thresholds
    >>> tns, fps, fns, tps, thresholds = confusion_matrix_at_thresholds([0, 0, 1, 1], [0.1, 0.4, 0.35, 0.8])
    >>> fps, fns
    (array([0., 1., 1., 2.]), array([1., 1., 0., 0.]))
    """
    (fps, tps, thresholds), _ = _binary_counts(y_true, y_score, pos_label, sample_weight)
    return fps[-1] - fps, fps, tps[-1] - tps, tps, thresholds


@documented
def metric_at_thresholds(
    y_true: Any, y_score: Any, metric_func: Any, *, sample_weight: Any = None, metric_params: dict | None = None
) -> tuple[np.ndarray, np.ndarray]:
    """A metric of 0 and 1 predicted by whether a score reaches a threshold, at every threshold.

    To choose the threshold of a classifier by the metric that counts, such as F₁ or a cost: on rows that are neither
    for training nor for the final test.

    Parameters
    ----------
    y_true : array-like of shape (n_samples,)
        The true labels; 0 and 1, where `metric_func` compares them with what is predicted.
    y_score : array-like of shape (n_samples,)
        The larger, the more positive: probabilities of the positive class, or decision values.
    metric_func : callable
        Called as `metric_func(y_true, y_pred, **metric_params)`; gives a number, or several.
    sample_weight : array-like of shape (n_samples,), default=None
        Handed on to `metric_func`; rows of weight 0 are left out.
    metric_params : dict, default=None
        More keyword arguments of `metric_func`.

    Returns
    -------
    values : ndarray of shape (n_thresholds, ...)
        What `metric_func` gives at each threshold.
    thresholds : ndarray of shape (n_thresholds,)
        The distinct scores, falling.

    See Also
    --------
    confusion_matrix_at_thresholds : The four counts at every threshold, in one pass.
    precision_recall_curve : Precision and recall at every threshold.
    cost_threshold : The threshold that follows from costs, for calibrated probabilities.

    Notes
    -----
    The metric is computed once a distinct score: n calls for n of them.

    Examples
    --------
    >>> from learnt.metrics import accuracy_score, metric_at_thresholds
    >>> metric_at_thresholds([0, 0, 1, 1], [0.1, 0.4, 0.35, 0.8], accuracy_score)
    (array([0.75, 0.5 , 0.75, 0.5 ]), array([0.8 , 0.4 , 0.35, 0.1 ]))
    """
    if not callable(metric_func):
        raise TypeError(f"metric_func must be a function of y_true and y_pred; got {metric_func!r}.")
    n = check_lengths(y_true=y_true, y_score=y_score, sample_weight=sample_weight)
    labels, scores = label_vector(y_true, "y_true", SEVERAL), real(column(y_score, "y_score"), "y_score")
    check_finite(scores, "y_score")
    weight = check_weight(sample_weight, n)
    settings = dict(metric_params or {})
    if weight is not None:
        kept = weight != 0
        labels, scores, settings["sample_weight"] = labels[kept], scores[kept], weight[kept]
    thresholds = np.unique(scores)[::-1]
    values = [metric_func(labels, (scores >= threshold).astype(np.int32), **settings) for threshold in thresholds]
    return np.asarray(values), thresholds


@documented
def auc(x: Any, y: Any) -> float:
    """The area under the points (x, y) by the trapezoidal rule; x must rise or fall.

    For any curve given by its points. For scores and labels, `roc_auc_score` is exact and needs no curve.

    Parameters
    ----------
    x : array-like of shape (n_points,)
        Horizontal coordinates, rising or falling throughout; at least 2.
    y : array-like of shape (n_points,)
        Vertical coordinates.

    Returns
    -------
    area : float
        The area between the curve and the horizontal axis.

    Raises
    ------
    ValueError
        Where there are fewer than 2 points, or x turns.

    See Also
    --------
    roc_auc_score : The area under the ROC curve of scores.
    average_precision_score : The area under the precision–recall curve, in steps.
    roc_curve : Points of the ROC curve.

    Examples
    --------
    >>> from learnt.metrics import auc
    >>> auc([0, 0.5, 1], [0, 1, 1])
    0.75
    """
    n = check_lengths(x=x, y=y)
    given, y = column(x, "x"), real(column(y, "y"), "y")
    x = real(given, "x")
    if n < 2:
        raise ValueError(f"At least 2 points are needed to compute area under curve, but x.shape = {x.shape}.")
    check_finite(x, "x")
    check_finite(y, "y")
    step = np.diff(x)
    if (step >= 0).all():
        direction = 1.0
    elif (step <= 0).all():
        direction = -1.0
    else:
        raise ValueError(
            f"x is neither increasing nor decreasing : {given}. It turns at place {_turn(step)}; sort it first."
        )
    return float(direction * (step * (y[1:] + y[:-1])).sum(dtype=np.float64) / 2)


def _turn(step: np.ndarray) -> int:
    sign = np.sign(step[step != 0])
    return int(np.flatnonzero(step != 0)[np.argmax(sign != sign[0])])


def _undefined_area() -> float:
    warnings.warn(
        "Only one class is present in y_true; ROC AUC score is not defined in that case.",
        UndefinedMetricWarning,
        stacklevel=5,
    )
    return float("nan")


def binary_auc(
    positive: np.ndarray, scores: np.ndarray, weight: np.ndarray | None, max_fpr: float | None = None
) -> float:
    """Area under the ROC curve of zeros and ones; NaN with a warning where one of the two is absent."""
    found = np.count_nonzero(positive)
    partial = max_fpr is not None and max_fpr != 1
    if found == 0 or found == positive.size:
        return _undefined_area()
    if weight is None and not partial:
        return _exact_area(positive, scores)
    fps, tps, _ = ranking_counts(positive, scores, weight)
    if fps[-1] <= 0 or tps[-1] <= 0:  # one class has total weight 0
        return _undefined_area()
    fpr, tpr = np.append(0.0, fps) / fps[-1], np.append(0.0, tps) / tps[-1]
    if not partial:
        return float((np.diff(fpr) * (tpr[1:] + tpr[:-1])).sum() / 2)
    assert max_fpr is not None
    if not 0 < max_fpr <= 1:
        raise ValueError(f"Expected max_fpr in range (0, 1], got: {max_fpr!r}.")
    stop = int(np.searchsorted(fpr, max_fpr, "right"))
    edge = np.interp(max_fpr, fpr[stop - 1 : stop + 1], tpr[stop - 1 : stop + 1])
    fpr, tpr = np.append(fpr[:stop], max_fpr), np.append(tpr[:stop], edge)
    area = (np.diff(fpr) * (tpr[1:] + tpr[:-1])).sum() / 2
    least = max_fpr**2 / 2  # McClish: chance scores ½, perfection 1
    return float((1 + (area - least) / (max_fpr - least)) / 2)


def binary_average_precision(positive: np.ndarray, scores: np.ndarray, weight: np.ndarray | None) -> float:
    """Σ (Rₖ − Rₖ₋₁) Pₖ down the scores."""
    precision, recall, _ = _precision_recall(ranking_counts(positive, scores, weight))
    return float(max(0.0, (np.diff(recall, prepend=0.0) * precision).sum()))
