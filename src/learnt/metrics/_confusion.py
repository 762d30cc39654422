"""Counting what was predicted against what was true: confusion matrices and the rates read off them."""

from __future__ import annotations

import warnings
from typing import Any, NamedTuple

import numpy as np

from learnt.engine.documentation import documented
from learnt.engine.kernel import kernel
from learnt.engine.threads import for_blocks
from learnt.metrics._inputs import GRAIN, SMALL, check_option
from learnt.metrics._labels import Targets, check_targets


@kernel
def _count_pairs(true, pred, counts):
    for i in range(true.size):
        counts[true[i], pred[i]] += 1


def pair_counts(true: np.ndarray, pred: np.ndarray, k: int, weight: np.ndarray | None) -> np.ndarray:
    """counts[i, j] = how many rows (or how much weight) have `true` i and `pred` j, both in 0…k−1."""
    n = true.size
    if weight is None and n > SMALL and k <= 256 and true.dtype == pred.dtype == np.uint8:
        parts = np.zeros((-(-n // GRAIN), k, k), dtype=np.int64)
        for_blocks(lambda lo, hi: _count_pairs(true[lo:hi], pred[lo:hi], parts[lo // GRAIN]), n, grain=GRAIN)
        return parts.sum(axis=0)
    cells = true.astype(np.intp)
    cells *= k
    cells += pred
    if weight is not None and weight.dtype.kind in "iub":  # integer weights give integer counts, beyond 2⁵³ too
        counts = np.zeros(k * k, dtype=np.int64)
        np.add.at(counts, cells, weight.astype(np.int64))
        return counts.reshape(k, k)
    return np.bincount(cells, weights=weight, minlength=k * k).reshape(k, k)


def class_counts(targets: Targets) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """Weight of the hits, of the predictions and of the true rows, class by class."""
    true, pred, weight, k = targets.true, targets.pred, targets.weight, targets.classes.size
    if weight is None and k <= 64:
        counts = pair_counts(true, pred, k, weight)
        return counts.diagonal(), counts.sum(axis=0), counts.sum(axis=1)
    hit = true == pred
    hits = np.bincount(true[hit], None if weight is None else weight[hit], minlength=k)
    return hits, np.bincount(pred, weight, minlength=k), np.bincount(true, weight, minlength=k)


def _positions(labels: np.ndarray, classes: np.ndarray, absent: int) -> np.ndarray:
    """For every class its place in `labels`, or `absent`."""
    place = {label: i for i, label in enumerate(labels.tolist())}
    return np.array([place.get(label, absent) for label in classes.tolist()], dtype=np.intp)


@documented
def confusion_matrix(
    y_true: Any, y_pred: Any, *, labels: Any = None, sample_weight: Any = None, normalize: str | None = None
) -> np.ndarray:
    """How often class i was predicted as class j: C[i, j] = Σ w · 1[true = i, predicted = j].

    Rows are true classes, columns predicted ones, both in sorted order or that of `labels`. For two classes it is
    [[TN, FP], [FN, TP]], so that `tn, fp, fn, tp = confusion_matrix(y_true, y_pred).ravel()`.

    Parameters
    ----------
    y_true : array-like of shape (n_samples,)
        The true labels: integers, booleans or strings.
    y_pred : array-like of shape (n_samples,)
        The predicted labels.
    labels : array-like, default=None
        The classes to show, in this order; rows with any other label are left out. All classes, sorted, by default.
    normalize : {"true", "pred", "all"}, default=None
        "true" divides by the row sums, so that the diagonal is the recall of each class; "pred" by the column sums,
        which makes it the precision; "all" by the total. None gives counts.

    Returns
    -------
    matrix : ndarray of shape (n_classes, n_classes)
        Counts as integers; floats with `normalize` or with weights that are not integers.

    See Also
    --------
    multilabel_confusion_matrix : One table for each class against the rest, or for each label.
    classification_report : Precision, recall and F₁ of every class, read off it.
    confusion_matrix_at_thresholds : For two classes, at every threshold of a score.
    learnt.plots.confusion : A picture of it.

    Notes
    -----
    O(n + k²) time for n rows and k classes; large inputs are counted on all cores.

    References
    ----------
    .. [1] R. Kohavi and F. Provost, "Glossary of terms", Machine Learning, 1998.

    Examples
    --------
    >>> from learnt.metrics import confusion_matrix
    >>> confusion_matrix([2, 0, 2, 2, 0, 1], [0, 0, 2, 2, 0, 2])
    array([[2, 0, 0],
           [0, 0, 1],
           [1, 0, 2]])
    >>> tn, fp, fn, tp = confusion_matrix([0, 1, 0, 1], [1, 1, 1, 0]).ravel().tolist()
    >>> tn, fp, fn, tp
    (0, 2, 1, 1)
    """
    check_option(normalize, "normalize", ("true", "pred", "all", None))
    targets = check_targets(y_true, y_pred, sample_weight, keep_integers=True)
    if targets.multilabel:
        raise ValueError(
            "multilabel-indicator is not supported by confusion_matrix; use multilabel_confusion_matrix, one a label."
        )
    true, pred = targets.true, targets.pred
    if labels is None:
        k = targets.classes.size
        counts = pair_counts(true, pred, k, targets.weight)
    else:
        labels = np.asarray(labels)
        k = labels.size
        if k == 0:
            raise ValueError("'labels' should contain at least one label, it is empty.")
        place = _positions(labels, targets.classes, k)
        true, pred = place[true], place[pred]
        if not (true < k).any():
            raise ValueError(f"At least one label specified must be in y_true, and none of {labels.tolist()} is.")
        counts = pair_counts(true, pred, k + 1, targets.weight)[:k, :k]
    with np.errstate(invalid="ignore", divide="ignore"):
        if normalize == "true":
            counts = np.nan_to_num(counts / counts.sum(axis=1, keepdims=True))
        elif normalize == "pred":
            counts = np.nan_to_num(counts / counts.sum(axis=0, keepdims=True))
        elif normalize == "all":
            counts = np.nan_to_num(counts / counts.sum())
    if k == 1:
        warnings.warn(
            "A single label was found in 'y_true' and 'y_pred'; for the confusion matrix to have the correct shape, "
            "use the 'labels' parameter to pass all known labels.",
            UserWarning,
            stacklevel=2,
        )
    return np.ascontiguousarray(counts)


def binary_tables(targets: Targets, labels: Any = None, samplewise: bool = False) -> np.ndarray:
    """One 2 × 2 table [[TN, FP], [FN, TP]] a class (or a row, `samplewise`), shape (k, 2, 2)."""
    if targets.multilabel:
        hits, predicted, actual, total = _multilabel_counts(targets, labels, samplewise)
    else:
        if samplewise:
            raise ValueError("Samplewise metrics are not available outside of multilabel classification.")
        hits, predicted, actual = class_counts(targets)
        total = targets.true.size if targets.weight is None else targets.weight.sum()
        if labels is not None:
            labels = np.asarray(labels)
            place = _positions(targets.classes, labels, targets.classes.size)
            hits, predicted, actual = (np.append(c, c.dtype.type(0))[place] for c in (hits, predicted, actual))
    false_positives, false_negatives = predicted - hits, actual - hits
    table = np.array([total - hits - false_positives - false_negatives, false_positives, false_negatives, hits])
    return table.T.reshape(-1, 2, 2)


def _multilabel_counts(targets: Targets, labels: Any, samplewise: bool) -> tuple[np.ndarray, ...]:
    true, pred, weight = targets.true, targets.pred, targets.weight
    if labels is not None:
        labels = np.asarray(labels)
        if labels.size and (labels.max() >= true.shape[1] or labels.min() < 0):
            raise ValueError(
                f"All labels must be in [0, n labels) for multilabel targets: they are columns 0 to "
                f"{true.shape[1] - 1}, got {labels.tolist()}."
            )
        true, pred = true[:, labels], pred[:, labels]
    both = true.multiply(pred).astype(bool)
    parts = [np.asarray(part.astype(bool).astype(np.int64).sum(axis=1)) for part in (both, pred, true)]
    if samplewise:
        total: Any = true.shape[1]
        if weight is not None:
            parts, total = [part * weight for part in parts], total * weight
    elif weight is None:
        parts = [np.asarray(part.astype(bool).astype(np.int64).sum(axis=0)) for part in (both, pred, true)]
        total = true.shape[0]
    else:
        parts = [part.astype(bool).astype(np.float64).T @ weight for part in (both, pred, true)]
        total = weight.sum()
    return parts[0], parts[1], parts[2], total


@documented
def multilabel_confusion_matrix(
    y_true: Any, y_pred: Any, *, sample_weight: Any = None, labels: Any = None, samplewise: bool = False
) -> np.ndarray:
    """One table [[TN, FP], [FN, TP]] for each class against the rest.

    Several classes are taken as one question each ("is it this class?"); several labels a row are such questions
    already.

    Parameters
    ----------
    y_true : array-like of shape (n_samples,) or (n_samples, n_labels)
        The true labels: integers, booleans or strings; where a row has several labels, a matrix of zeros and ones.
    y_pred : array-like of shape (n_samples,) or (n_samples, n_labels)
        The predicted labels, in the same form.
    labels : array-like, default=None
        The classes (or columns) to show, in this order; None for all, sorted.
    samplewise : bool, default=False
        For label matrices: one table a row instead of one a label.

    Returns
    -------
    tables : ndarray of shape (n_classes, 2, 2), or (n_samples, 2, 2) with `samplewise=True`
        `tables[k]` is [[TN, FP], [FN, TP]] of class k.

    See Also
    --------
    confusion_matrix : All classes against each other.
    classification_rates : Sensitivity, specificity and the other two rates of each class.
    precision_recall_fscore_support : Precision, recall and F of each class.

    Notes
    -----
    With `samplewise=True` the tables of a row are multiplied by its weight.

    Examples
    --------
    >>> from learnt.metrics import multilabel_confusion_matrix
    >>> multilabel_confusion_matrix(["a", "b", "a"], ["a", "a", "a"])
    array([[[0, 1],
            [0, 2]],
    <BLANKLINE>
           [[2, 0],
            [1, 0]]])
    """
    return binary_tables(check_targets(y_true, y_pred, sample_weight), labels, samplewise)


class ClassificationRates(NamedTuple):
    """The four rates of a class against the rest, each a number or an array with one entry a class.

    What `classification_rates` returns: a named tuple, which unpacks as `tpr, fpr, tnr, fnr`.

    Parameters
    ----------
    tpr : float or ndarray of shape (n_classes,)
        True positive rate, TP / (TP + FN): sensitivity, recall.
    fpr : float or ndarray of shape (n_classes,)
        False positive rate, FP / (FP + TN): false alarms among the negatives.
    tnr : float or ndarray of shape (n_classes,)
        True negative rate, TN / (TN + FP): specificity.
    fnr : float or ndarray of shape (n_classes,)
        False negative rate, FN / (FN + TP): misses among the positives.

    See Also
    --------
    classification_rates : Computes them.
    confusion_matrix : The counts behind them.

    Examples
    --------
    >>> from learnt.metrics import classification_rates
    >>> tpr, fpr, tnr, fnr = classification_rates([0, 0, 0, 1, 1], [0, 1, 0, 1, 1])
    >>> round(fpr, 2), fnr
    (0.33, 0.0)
    """

    tpr: Any
    fpr: Any
    tnr: Any
    fnr: Any

    @property
    def sensitivity(self) -> Any:
        """TP / (TP + FN): the share of the class that is found; the same as `tpr` and as recall."""
        return self.tpr

    @property
    def specificity(self) -> Any:
        """TN / (TN + FP): the share of the rest that is left alone; the same as `tnr`."""
        return self.tnr


@documented
def classification_rates(
    y_true: Any, y_pred: Any, *, pos_label: Any = None, labels: Any = None, sample_weight: Any = None
) -> ClassificationRates:
    """True and false positive and negative rates: TPR = TP/(TP+FN), FPR = FP/(FP+TN), TNR = 1−FPR, FNR = 1−TPR.

    Sensitivity and specificity, as medicine reports them, with their complements. Unlike precision, none of them
    depends on how common the classes are.

    Parameters
    ----------
    y_true : array-like of shape (n_samples,) or (n_samples, n_labels)
        The true labels: integers, booleans or strings; where a row has several labels, a matrix of zeros and ones.
    y_pred : array-like of shape (n_samples,) or (n_samples, n_labels)
        The predicted labels, in the same form.
    pos_label : label, default=None
        The class to look at: four numbers. Without it, the larger label of two; with more than two, every class
        against the rest, as arrays.
    labels : array-like, default=None
        Look at these classes, in this order, as arrays. Not together with `pos_label`.

    Returns
    -------
    rates : ClassificationRates
        A named tuple (tpr, fpr, tnr, fnr), also with `.sensitivity` and `.specificity`; NaN where a rate is 0/0.

    See Also
    --------
    sensitivity_score : The true positive rate alone.
    specificity_score : The true negative rate alone.
    roc_curve : True and false positive rates at every threshold of a score.
    precision_score : The share of positive predictions that are right.

    Examples
    --------
    >>> from learnt.metrics import classification_rates
    >>> rates = classification_rates([0, 0, 0, 1, 1], [0, 1, 0, 1, 1])
    >>> round(rates.sensitivity, 2), round(rates.specificity, 2)
    (1.0, 0.67)
    """
    targets = check_targets(y_true, y_pred, sample_weight)
    if labels is not None and pos_label is not None:
        raise ValueError("Give classification_rates either pos_label or labels, not both.")
    chosen = labels
    if pos_label is not None:
        chosen = [pos_label]
    elif labels is None and targets.classes.size <= 2 and not targets.multilabel:
        chosen = targets.classes[-1:]
    if chosen is not None and not targets.multilabel:
        unknown = [label for label in np.asarray(chosen).tolist() if label not in targets.classes.tolist()]
        if unknown:
            raise ValueError(f"Label {unknown[0]!r} is not valid: the labels are {targets.classes.tolist()}.")
    table = binary_tables(targets, chosen).astype(np.float64)
    (tn, fp), (fn, tp) = table[:, 0].T, table[:, 1].T
    with np.errstate(invalid="ignore", divide="ignore"):
        rates = tp / (tp + fn), fp / (fp + tn), tn / (fp + tn), fn / (tp + fn)
    if labels is None and table.shape[0] == 1:
        return ClassificationRates(*(float(rate[0]) for rate in rates))
    return ClassificationRates(*rates)


@documented
def sensitivity_score(y_true: Any, y_pred: Any, *, pos_label: Any = None, sample_weight: Any = None) -> Any:
    """Sensitivity TP / (TP + FN), also called recall or true positive rate.

    Of the rows that are positive, the share that is predicted so: how many of the ill a test finds.

    Parameters
    ----------
    y_true : array-like of shape (n_samples,) or (n_samples, n_labels)
        The true labels: integers, booleans or strings; where a row has several labels, a matrix of zeros and ones.
    y_pred : array-like of shape (n_samples,) or (n_samples, n_labels)
        The predicted labels, in the same form.
    pos_label : label, default=None
        The positive class. Without it, the larger label of two; with more than two, every class against the rest.

    Returns
    -------
    sensitivity : float or ndarray of shape (n_classes,)
        Between 0 and 1; NaN where there is no positive row. An array for more than two classes without `pos_label`.

    See Also
    --------
    specificity_score : The share of negatives predicted negative.
    classification_rates : Both, and their complements.
    recall_score : The same number, with averages over classes.

    Examples
    --------
    >>> from learnt.metrics import sensitivity_score
    >>> sensitivity_score([0, 1, 1], [0, 1, 0])
    0.5
    """
    return classification_rates(y_true, y_pred, pos_label=pos_label, sample_weight=sample_weight).tpr


@documented
def specificity_score(y_true: Any, y_pred: Any, *, pos_label: Any = None, sample_weight: Any = None) -> Any:
    """Specificity TN / (TN + FP), also called true negative rate.

    Of the rows that are negative, the share that is predicted so: how many of the healthy a test leaves alone.

    Parameters
    ----------
    y_true : array-like of shape (n_samples,) or (n_samples, n_labels)
        The true labels: integers, booleans or strings; where a row has several labels, a matrix of zeros and ones.
    y_pred : array-like of shape (n_samples,) or (n_samples, n_labels)
        The predicted labels, in the same form.
    pos_label : label, default=None
        The positive class. Without it, the larger label of two; with more than two, every class against the rest.

    Returns
    -------
    specificity : float or ndarray of shape (n_classes,)
        Between 0 and 1; NaN where there is no negative row. An array for more than two classes without `pos_label`.

    See Also
    --------
    sensitivity_score : The share of positives predicted positive.
    classification_rates : Both, and their complements.

    Examples
    --------
    >>> from learnt.metrics import specificity_score
    >>> specificity_score([0, 0, 1], [0, 1, 1])
    0.5
    """
    return classification_rates(y_true, y_pred, pos_label=pos_label, sample_weight=sample_weight).tnr
