"""Areas under curves for two classes, many classes and label matrices."""

from __future__ import annotations

from collections.abc import Callable
from itertools import combinations
from typing import Any

import numpy as np

from learnt.engine.arrays import is_foreign_array
from learnt.engine.documentation import documented
from learnt.engine.matrices import dense
from learnt.metrics._inputs import check_finite, check_lengths, check_option, check_weight, column, follow, host, ranks
from learnt.metrics._labels import encode, is_multilabel, label_vector, unknown_label
from learnt.metrics._ranking import SEVERAL, binary_auc, binary_average_precision

BinaryMetric = Callable[[np.ndarray, np.ndarray, "np.ndarray | None"], float]


def _score_matrix(y_score: Any) -> np.ndarray:
    scores = ranks(host(y_score, "y_score"), "y_score")
    if scores.ndim not in (1, 2):
        raise ValueError(f"y_score has shape {scores.shape}; give one score a row, or one a row and class.")
    return scores


def _over_labels(
    metric: BinaryMetric, indicator: np.ndarray, scores: np.ndarray, average: str | None, weight: np.ndarray | None
) -> Any:
    """A binary metric on every column of a label matrix (uint8), averaged as asked."""
    check_option(average, "average", (None, "micro", "macro", "weighted", "samples"))
    if scores.shape != indicator.shape:
        raise ValueError(f"y_score has shape {scores.shape}; y_true makes it {indicator.shape}: one column a label.")
    if average == "micro":
        spread = None if weight is None else np.repeat(weight, indicator.shape[1])
        return metric(indicator.ravel(), scores.ravel(), spread)
    shares: np.ndarray | None = None
    if average == "samples":
        indicator, scores, shares, weight = indicator.T, scores.T, weight, None
    elif average == "weighted":
        shares = indicator.sum(axis=0) if weight is None else weight @ indicator
        if np.isclose(shares.sum(), 0):
            return 0.0
    values = np.array(
        [
            metric(np.ascontiguousarray(indicator[:, j]), np.ascontiguousarray(scores[:, j]), weight)
            for j in range(indicator.shape[1])
        ]
    )
    if average is None:
        return values
    if shares is not None:
        values[shares == 0] = 0
    return float(np.average(values, weights=shares))


def _label_matrix(y_true: Any) -> np.ndarray:
    return host(dense(y_true), "y_true").astype(np.uint8)


def _area_on_device(y_true: Any, y_score: Any) -> float:
    """The area for scores of another library or device: pairs counted by binary search."""
    xp, y_true, y_score, _ = follow(y_true, y_score, None)
    check_finite(y_score, "y_score")
    classes = xp.unique_values(y_true)
    if classes.shape[0] > 2:
        raise ValueError("multi_class must be in ('ovo', 'ovr') for more than two classes, and the scores a matrix.")
    if classes.shape[0] == 1:
        return binary_auc(np.ones(1, dtype=np.uint8), np.ones(1), None)
    above, below = y_score[y_true == classes[1]], xp.sort(y_score[y_true == classes[0]])
    left = xp.sum(xp.astype(xp.searchsorted(below, above, side="left"), xp.int64))
    right = xp.sum(xp.astype(xp.searchsorted(below, above, side="right"), xp.int64))
    return (int(left) + int(right)) / (2 * above.shape[0] * below.shape[0])


@documented
def roc_auc_score(
    y_true: Any,
    y_score: Any,
    *,
    average: str | None = "macro",
    sample_weight: Any = None,
    max_fpr: float | None = None,
    multi_class: str = "raise",
    labels: Any = None,
) -> Any:
    """The area under the ROC curve: P(s₊ > s₋) + ½ P(s₊ = s₋) for a random positive and a random negative.

    ROC AUC judges the order of scores, whatever the threshold and however common the classes: 1 where every positive
    scores higher than every negative, 0.5 for random scores. It says nothing about calibration.

    Parameters
    ----------
    y_true : array-like of shape (n_samples,) or (n_samples, n_labels)
        The true labels; of two classes the larger label is the positive one. Where a row has several labels, a matrix
        of zeros and ones.
    y_score : array-like of shape (n_samples,), (n_samples, n_classes) or (n_samples, n_labels)
        Probabilities of the positive class, `predict_proba(X)[:, 1]`, or decision values. With more than two classes,
        probabilities that sum to 1, a column a class; with several labels a row, a column of scores a label.
    average : {"micro", "macro", "samples", "weighted"} or None, default="macro"
        How the areas of several labels or classes become one. "macro": their plain mean. "weighted": their mean by how
        often each is true. "micro": one area over all entries of the matrix. "samples": the mean over rows of several
        labels. None: an area for each.
    max_fpr : float in (0, 1], default=None
        The standardised area up to this false positive rate, where only few false alarms can be borne; two classes or a
        matrix of labels.
    multi_class : {"raise", "ovr", "ovo"}, default="raise"
        With more than two classes. "ovr": each against the rest, which depends on how common they are. "ovo": each pair
        of classes (Hand and Till), which does not with `average="macro"`. "raise": an error, so that you choose.
    labels : array-like, default=None
        The classes of the columns of y_score, sorted; those of y_true by default. Only with more than two classes.

    Returns
    -------
    auc : float or ndarray of shape (n_classes,)
        0.5 for random scores, 1 at best; an array where `average=None`. NaN, with a warning, where only one class is
        present.

    See Also
    --------
    roc_curve : The curve.
    average_precision_score : The area under the precision–recall curve, which shows more where positives are rare.
    learnt.diagnosis.auc_interval : A confidence interval for the area.
    log_loss : Judges the probabilities, too.
    learnt.plots.roc : A picture of the curve.

    Notes
    -----
    Without weights the area of two classes is exact: ordered pairs are counted as integers. O(n log n) time; large
    inputs are sorted by a radix sort on all cores. Scores in vectors of PyTorch and other Array API libraries are
    compared on their device, where there are neither weights nor `max_fpr`.

    References
    ----------
    .. [1] J. A. Hanley and B. J. McNeil, "The meaning and use of the area under a receiver operating characteristic
       (ROC) curve", Radiology, 1982.
    .. [2] D. J. Hand and R. J. Till, "A simple generalisation of the area under the ROC curve for multiple class
       classification problems", Machine Learning, 2001.
    .. [3] D. K. McClish, "Analyzing a portion of the ROC curve", Medical Decision Making, 1989.

    Examples
    --------
    >>> from learnt.metrics import roc_auc_score
    >>> roc_auc_score([0, 0, 1, 1], [0.1, 0.4, 0.35, 0.8])
    0.75
    >>> proba = [[0.8, 0.1, 0.1], [0.3, 0.4, 0.3], [0.2, 0.5, 0.3], [0.1, 0.3, 0.6]]
    >>> round(roc_auc_score([0, 1, 2, 2], proba, multi_class="ovr"), 2)
    0.85
    """
    if is_foreign_array(y_score) and y_score.ndim == 1 and sample_weight is None and max_fpr is None:
        check_lengths(y_true=y_true, y_score=y_score)
        return _area_on_device(y_true, y_score)
    n = check_lengths(y_true=y_true, y_score=y_score, sample_weight=sample_weight)
    weight = check_weight(sample_weight, n)
    scores = _score_matrix(y_score)
    check_option(multi_class, "multi_class", ("raise", "ovr", "ovo"))
    if max_fpr is not None and not 0 < max_fpr <= 1:
        raise ValueError(f"Expected max_fpr in range (0, 1], got: {max_fpr!r}.")

    def area(positive: np.ndarray, scores: np.ndarray, weight: np.ndarray | None) -> float:
        return binary_auc(positive, scores, weight, max_fpr)

    if is_multilabel(y_true):
        return _over_labels(area, _label_matrix(y_true), scores, average, weight)
    classes, codes = encode(label_vector(y_true, "y_true", SEVERAL), "y_true")
    if classes.size > 2 or (scores.ndim == 2 and scores.shape[1] > 2):
        if max_fpr is not None and max_fpr != 1:
            raise ValueError(
                "Partial AUC computation not available in multiclass setting, 'max_fpr' must be set to `None`, "
                f"received `max_fpr={max_fpr}` instead."
            )
        return _multiclass_area(classes, codes, scores, average, weight, multi_class, labels)
    if scores.ndim == 2 and scores.shape[1] == 2:
        raise ValueError(
            f"y should be a 1d array, got an array of shape {scores.shape} instead: for two classes give the scores "
            "of the positive one, y_score[:, 1]."
        )
    if classes.size == 1:
        codes = np.zeros(n, dtype=np.uint8)
    return binary_auc(codes.astype(np.uint8, copy=False), column(scores, "y_score"), weight, max_fpr)


def _multiclass_area(
    classes: np.ndarray,
    codes: np.ndarray,
    scores: np.ndarray,
    average: str | None,
    weight: np.ndarray | None,
    multi_class: str,
    labels: Any,
) -> Any:
    if multi_class == "raise":
        raise ValueError("multi_class must be in ('ovo', 'ovr') for more than two classes; got 'raise'.")
    if scores.ndim != 2:
        raise ValueError(
            "`y_score` needs to be of shape `(n_samples, n_classes)`, since `y_true` contains multiple classes, "
            f"got `y_score.shape={scores.shape}`."
        )
    check_finite(scores, "y_score")
    if not np.allclose(1, scores.sum(axis=1)):
        raise ValueError(
            "Target scores need to be probabilities for multiclass roc_auc, "
            "i.e. they should sum up to 1.0 over classes."
        )
    allowed = ("macro", "weighted", None) if multi_class == "ovo" else ("micro", "macro", "weighted", None)
    if average not in allowed:
        raise ValueError(f"average must be one of {allowed} for multiclass problems, got {average!r}.")
    if labels is not None:
        classes, codes = _known_classes(classes, codes, labels, scores.shape[1])
    elif classes.size != scores.shape[1]:
        raise ValueError(
            f"Number of classes in y_true not equal to the number of columns in 'y_score': {classes.size} against "
            f"{scores.shape[1]}; give all classes as labels."
        )
    if multi_class == "ovr":
        indicator = (codes[:, None] == np.arange(classes.size)).astype(np.uint8)
        return _over_labels(binary_auc, indicator, scores, average, weight)
    if average is None:
        raise NotImplementedError("average=None is not implemented for multi_class='ovo'.")
    if weight is not None:
        raise ValueError(
            "sample_weight is not supported for multiclass one-vs-one ROC AUC, "
            "'sample_weight' must be None in this case."
        )
    return _pairwise_area(codes, scores, average)


def _known_classes(classes: np.ndarray, codes: np.ndarray, labels: Any, width: int) -> tuple[np.ndarray, np.ndarray]:
    """Codes against given labels, which must be sorted, distinct, one a column, and cover the data."""
    labels = column(np.asarray(labels), "labels")
    if np.unique(labels).size != labels.size:
        raise ValueError(f"Parameter 'labels' must be unique, got {labels.tolist()}.")
    if not np.array_equal(np.unique(labels), labels):
        raise ValueError(f"Parameter 'labels' must be ordered, got {labels.tolist()}.")
    if labels.size != width:
        raise ValueError(
            f"Number of given labels, {labels.size}, not equal to the number of columns in 'y_score', {width}."
        )
    place = {label: i for i, label in enumerate(labels.tolist())}
    unknown = [label for label in classes.tolist() if label not in place]
    if unknown:
        raise ValueError(f"'y_true' contains labels not in parameter 'labels', such as {unknown[0]!r}.")
    return labels, np.array([place[label] for label in classes.tolist()], dtype=np.intp)[codes]


def _pairwise_area(codes: np.ndarray, scores: np.ndarray, average: str | None) -> float:
    """Hand and Till: each pair of classes, both ways round, weighted by how common the pair is where asked."""
    rows = {c: np.flatnonzero(codes == c) for c in np.unique(codes).tolist()}
    areas, shares = [], []
    for a, b in combinations(rows, 2):
        both = np.concatenate((rows[a], rows[b]))
        first = np.zeros(both.size, dtype=np.uint8)
        first[: rows[a].size] = 1
        areas.append((binary_auc(first, scores[both, a], None) + binary_auc(1 - first, scores[both, b], None)) / 2)
        shares.append(both.size)
    return float(np.average(areas, weights=shares if average == "weighted" else None))


@documented
def average_precision_score(
    y_true: Any, y_score: Any, *, average: str | None = "macro", pos_label: Any = 1, sample_weight: Any = None
) -> Any:
    """Average precision Σ (Rₖ − Rₖ₋₁) Pₖ over the thresholds: the step-wise area under the precision–recall curve.

    AP looks at the positives only, so that it tells classifiers apart where positives are rare and ROC AUC is near 1
    for all of them. Random scores give the share of positives, not 0.5.

    Parameters
    ----------
    y_true : array-like of shape (n_samples,) or (n_samples, n_labels)
        The true labels, of two or more classes; where a row has several labels, a matrix of zeros and ones.
    y_score : array-like of shape (n_samples,), (n_samples, n_classes) or (n_samples, n_labels)
        Probabilities of the positive class, or decision values; a column for each class or label where there are
        several.
    average : {"micro", "macro", "samples", "weighted"} or None, default="macro"
        How the numbers of several labels or classes become one. "macro": their plain mean. "weighted": their mean by
        how often each is true. "micro": one number over all entries of the matrix. "samples": the mean over rows of
        several labels. None: a number for each.

    Returns
    -------
    average_precision : float or ndarray of shape (n_classes,)
        Between 0 and 1, 1 at best; an array where `average=None`.

    See Also
    --------
    precision_recall_curve : The curve.
    roc_auc_score : The area under the ROC curve, which does not depend on how common positives are.
    f1_score : Precision and recall at one threshold.
    learnt.plots.precision_recall : A picture of the curve.

    Notes
    -----
    The area is that of steps and not of straight lines between the points, which would be too optimistic. O(n log n)
    time. With more than two classes each is scored against the rest. Where there is no positive row, the score is 0,
    with a warning.

    References
    ----------
    .. [1] C. D. Manning, P. Raghavan and H. Schütze, "Introduction to Information Retrieval", Cambridge University
       Press, 2008.
    .. [2] J. Davis and M. Goadrich, "The relationship between precision-recall and ROC curves", ICML, 2006.

    Examples
    --------
    >>> from learnt.metrics import average_precision_score
    >>> round(average_precision_score([0, 0, 1, 1], [0.1, 0.4, 0.35, 0.8]), 2)
    0.83
    """
    n = check_lengths(y_true=y_true, y_score=y_score, sample_weight=sample_weight)
    weight = check_weight(sample_weight, n)
    scores = _score_matrix(y_score)
    if is_multilabel(y_true):
        _check_fixed(pos_label, "multilabel-indicator")
        return _over_labels(binary_average_precision, _label_matrix(y_true), scores, average, weight)
    classes, codes = encode(label_vector(y_true, "y_true", SEVERAL), "y_true")
    if classes.size > 2:
        _check_fixed(pos_label, "multiclass")
        if scores.shape != (n, classes.size):
            raise ValueError(
                "`y_score` needs to be of shape `(n_samples, n_classes)`, since `y_true` contains multiple classes, "
                f"got `y_score.shape={scores.shape}`."
            )
        indicator = (codes[:, None] == np.arange(classes.size)).astype(np.uint8)
        return _over_labels(binary_average_precision, indicator, scores, average, weight)
    if classes.size == 2 and pos_label not in classes.tolist():
        raise unknown_label(pos_label, classes)
    matches = np.array([label == pos_label for label in classes.tolist()], dtype=np.uint8)
    return binary_average_precision(matches[codes], column(scores, "y_score"), weight)


def _check_fixed(pos_label: Any, kind: str) -> None:
    if pos_label != 1:
        raise ValueError(
            f"Parameter pos_label is fixed to 1 for {kind} y_true. Do not set pos_label or set pos_label to 1."
        )
