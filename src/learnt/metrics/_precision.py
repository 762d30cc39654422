"""Precision, recall and their mean, class by class or averaged."""

from __future__ import annotations

import warnings
from collections.abc import Iterable
from typing import Any

import numpy as np
from sklearn.exceptions import UndefinedMetricWarning

from learnt.engine.documentation import documented
from learnt.metrics._confusion import binary_tables
from learnt.metrics._inputs import check_option
from learnt.metrics._labels import Targets, check_targets, unknown_label

AVERAGES = (None, "binary", "micro", "macro", "weighted", "samples")


def _zero_division_value(zero_division: Any) -> float:
    if isinstance(zero_division, str) and zero_division == "warn":
        return 0.0
    if isinstance(zero_division, int | float | np.number) and (zero_division in (0, 1) or np.isnan(zero_division)):
        return float(zero_division)
    raise ValueError(f"zero_division must be 'warn', 0, 1 or nan; got {zero_division!r}.")


def _divide(
    top: np.ndarray, bottom: np.ndarray, name: str, missing: str, warn: bool, average: str | None, zero_division: Any
) -> np.ndarray:
    """top / bottom, with `zero_division` (and a warning, where wanted) in place of 0/0."""
    empty = bottom == 0
    if not empty.any():
        return top / bottom
    ratio = top / np.where(empty, 1, bottom)
    ratio[empty] = _zero_division_value(zero_division)
    if warn and isinstance(zero_division, str):
        what, where = ("labels", "samples") if average == "samples" else ("samples", "labels")
        place = f"in {where} with no" if ratio.size > 1 else "due to no"
        warnings.warn(
            f"{name.capitalize()} is ill-defined and being set to 0.0 {place} {missing} {what}. "
            "Use `zero_division` parameter to control this behavior.",
            UndefinedMetricWarning,
            stacklevel=4,
        )
    return ratio


def _chosen_labels(targets: Targets, labels: Any, pos_label: Any, average: str | None) -> Any:
    """The classes to score; for average="binary" the positive one only."""
    check_option(average, "average", AVERAGES)
    if average == "binary":
        if targets.kind != "binary":
            others = [a for a in AVERAGES if a != "binary" and (a != "samples" or targets.multilabel)]
            raise ValueError(
                f"Target is {targets.kind} but average='binary'. "
                f"Please choose another average setting, one of {others}."
            )
        if targets.classes.size == 2 and pos_label not in targets.classes.tolist():
            raise unknown_label(pos_label, targets.classes)
        return [pos_label]
    if pos_label is not None and not (isinstance(pos_label, int) and pos_label == 1):
        warnings.warn(
            f"Note that pos_label (set to {pos_label!r}) is ignored when average != 'binary' (got {average!r}); "
            "You may use labels=[pos_label] to specify a single positive class.",
            UserWarning,
            stacklevel=4,
        )
    if average == "samples" and not targets.multilabel:
        raise ValueError("Samplewise metrics are not available outside of multilabel classification.")
    return labels


def _mean(values: np.ndarray, weights: np.ndarray | None) -> float:
    """The (weighted) mean of the entries that are not NaN."""
    known = ~np.isnan(values)
    if not known.any():
        return float("nan")
    if weights is None:
        return float(values[known].mean())
    weights = weights[known]
    return float(np.average(values[known], weights=weights)) if weights.sum() != 0 else float(values[known].mean())


def _scores(
    targets: Targets,
    beta: float,
    labels: Any,
    pos_label: Any,
    average: str | None,
    warn_for: Iterable[str],
    zero_division: Any,
) -> tuple[Any, Any, Any, Any]:
    _zero_division_value(zero_division)
    if not (isinstance(beta, int | float | np.number) and beta >= 0):
        raise ValueError(f"beta must be a number of at least 0; got {beta!r}.")
    labels = _chosen_labels(targets, labels, pos_label, average)
    table = binary_tables(targets, labels, average == "samples")
    hits = table[:, 1, 1]
    predicted, actual = hits + table[:, 0, 1], hits + table[:, 1, 0]
    if average == "micro":
        hits, predicted, actual = (np.array([part.sum()]) for part in (hits, predicted, actual))
    options = (average, zero_division)
    precision = _divide(hits, predicted, "precision", "predicted", "precision" in warn_for, *options)
    recall = _divide(hits, actual, "recall", "true", "recall" in warn_for, *options)
    if np.isposinf(beta):
        f_score = recall
    elif beta == 0:
        f_score = precision
    else:
        # The harmonic mean written on the counts: no 0/0 where precision and recall are both 0.
        top = (1 + beta**2) * hits.astype(np.float64)
        bottom = beta**2 * actual.astype(np.float64) + predicted
        f_score = _divide(top, bottom, "f-score", "true nor predicted", "f-score" in warn_for, *options)
    if average is None:
        return precision, recall, f_score, actual
    weights = actual if average == "weighted" else targets.weight if average == "samples" else None
    return _mean(precision, weights), _mean(recall, weights), _mean(f_score, weights), None


@documented
def precision_recall_fscore_support(
    y_true: Any,
    y_pred: Any,
    *,
    beta: float = 1.0,
    labels: Any = None,
    pos_label: Any = 1,
    average: str | None = None,
    warn_for: Iterable[str] = ("precision", "recall", "f-score"),
    sample_weight: Any = None,
    zero_division: Any = "warn",
) -> tuple[Any, Any, Any, Any]:
    """Precision TP/(TP+FP), recall TP/(TP+FN), F_β = (1+β²)PR / (β²P+R) and the number of true rows, by class.

    All four at once, from one count. Precision falls with false alarms, recall with misses, and F_β is their weighted
    harmonic mean.

    Parameters
    ----------
    y_true : array-like of shape (n_samples,) or (n_samples, n_labels)
        The true labels: integers, booleans or strings; where a row has several labels, a matrix of zeros and ones.
    y_pred : array-like of shape (n_samples,) or (n_samples, n_labels)
        The predicted labels, in the same form.
    beta : float, default=1.0
        How many times recall weighs as much as precision in F: more than 1 where misses are worse than false alarms,
        less than 1 where false alarms are worse.
    labels : array-like, default=None
        The classes to score, in this order (columns, where y_true is a matrix); None for all, sorted. Leave out a
        frequent negative class here to average over the others only.
    pos_label : label, default=1
        The class to score where `average="binary"`; ignored otherwise.
    average : {None, "binary", "micro", "macro", "weighted", "samples"}, default=None
        None gives an array with one entry a class; "binary" the positive class; "micro" pools the counts; "macro"
        is the plain mean over classes, "weighted" the mean by true rows; "samples" the mean over the rows of a label
        matrix.
    warn_for : tuple of str, default=("precision", "recall", "f-score")
        Which of the scores warn where they are 0/0.
    zero_division : {"warn", 0.0, 1.0, np.nan}, default="warn"
        The value of 0/0; "warn" is 0 with a warning. NaN is left out of means.

    Returns
    -------
    precision : float or ndarray of shape (n_classes,)
        Of what was predicted positive, the share that is. One number a class where `average=None`.
    recall : float or ndarray of shape (n_classes,)
        Of what is positive, the share that was predicted so.
    fscore : float or ndarray of shape (n_classes,)
        Their harmonic mean, where recall counts `beta` times.
    support : ndarray of shape (n_classes,) or None
        The number (or weight) of true rows of each class; None where there is an average.

    See Also
    --------
    precision_score : Precision alone.
    recall_score : Recall alone.
    f1_score : F₁ alone.
    classification_report : A table of all of them to print.
    multilabel_confusion_matrix : The counts behind them.

    Notes
    -----
    F is computed from the counts, (1+β²)TP / ((1+β²)TP + β²FN + FP): it is 0, and defined, where precision and recall
    are both 0. The mean F of "macro" is the mean of the classes' F, not the F of the mean precision and recall. O(n)
    time.

    References
    ----------
    .. [1] C. J. van Rijsbergen, "Information Retrieval", 2nd ed., Butterworths, 1979.
    .. [2] S. Godbole and S. Sarawagi, "Discriminative methods for multi-labeled classification", PAKDD, 2004.

    Examples
    --------
    >>> from learnt.metrics import precision_recall_fscore_support
    >>> y_true = ["cat", "dog", "pig", "cat", "dog", "pig"]
    >>> y_pred = ["cat", "pig", "dog", "cat", "cat", "dog"]
    >>> precision, recall, f1, support = precision_recall_fscore_support(y_true, y_pred)
    >>> precision.round(2), recall, f1, support
    (array([0.67, 0.  , 0.  ]), array([1., 0., 0.]), array([0.8, 0. , 0. ]), array([2, 2, 2]))
    """
    targets = check_targets(y_true, y_pred, sample_weight)
    return _scores(targets, beta, labels, pos_label, average, tuple(warn_for), zero_division)


@documented
def precision_score(
    y_true: Any,
    y_pred: Any,
    *,
    labels: Any = None,
    pos_label: Any = 1,
    average: str | None = "binary",
    sample_weight: Any = None,
    zero_division: Any = "warn",
) -> Any:
    """Precision TP / (TP + FP): of what was predicted positive, the share that is.

    Also called positive predictive value. It falls with false alarms, and says nothing of positives that were missed:
    look at recall beside it.

    Parameters
    ----------
    y_true : array-like of shape (n_samples,) or (n_samples, n_labels)
        The true labels: integers, booleans or strings; where a row has several labels, a matrix of zeros and ones.
    y_pred : array-like of shape (n_samples,) or (n_samples, n_labels)
        The predicted labels, in the same form.
    labels : array-like, default=None
        The classes to score, in this order (columns, where y_true is a matrix); None for all, sorted. Leave out a
        frequent negative class here to average over the others only.
    zero_division : {"warn", 0.0, 1.0, np.nan}, default="warn"
        The precision where nothing was predicted positive; "warn" is 0 with a warning. NaN is left out of means.

    Returns
    -------
    precision : float or ndarray of shape (n_classes,)
        Between 0 and 1, 1 at best; one number a class where `average=None`.

    See Also
    --------
    recall_score : Of what is positive, the share found.
    f1_score : Both in one number.
    precision_recall_curve : Precision against recall at every threshold of a score.
    average_precision_score : The area under that curve.
    precision_recall_fscore_support : Precision, recall and F at once.

    Notes
    -----
    Precision depends on how common the positive class is: a rarer class has a lower one with the same rates of
    mistakes.

    Examples
    --------
    >>> from learnt.metrics import precision_score
    >>> round(precision_score([0, 1, 1, 0], [1, 1, 1, 0]), 2)
    0.67
    >>> precision_score([0, 1, 2, 2], [0, 0, 2, 2], average=None, zero_division=0)
    array([0.5, 0. , 1. ])
    """
    targets = check_targets(y_true, y_pred, sample_weight)
    return _scores(targets, 1.0, labels, pos_label, average, ("precision",), zero_division)[0]


@documented
def recall_score(
    y_true: Any,
    y_pred: Any,
    *,
    labels: Any = None,
    pos_label: Any = 1,
    average: str | None = "binary",
    sample_weight: Any = None,
    zero_division: Any = "warn",
) -> Any:
    """Recall TP / (TP + FN): of what is positive, the share that was predicted so.

    Also called sensitivity or true positive rate. It falls with misses, and says nothing of false alarms: look at
    precision beside it.

    Parameters
    ----------
    y_true : array-like of shape (n_samples,) or (n_samples, n_labels)
        The true labels: integers, booleans or strings; where a row has several labels, a matrix of zeros and ones.
    y_pred : array-like of shape (n_samples,) or (n_samples, n_labels)
        The predicted labels, in the same form.
    labels : array-like, default=None
        The classes to score, in this order (columns, where y_true is a matrix); None for all, sorted. Leave out a
        frequent negative class here to average over the others only.
    zero_division : {"warn", 0.0, 1.0, np.nan}, default="warn"
        The recall where no row is positive; "warn" is 0 with a warning. NaN is left out of means.

    Returns
    -------
    recall : float or ndarray of shape (n_classes,)
        Between 0 and 1, 1 at best; one number a class where `average=None`.

    See Also
    --------
    precision_score : Of what was predicted positive, the share that is.
    specificity_score : The share of negatives predicted negative.
    balanced_accuracy_score : The mean recall of all classes.
    f1_score : Precision and recall in one number.
    precision_recall_fscore_support : Precision, recall and F at once.

    Notes
    -----
    With `average="weighted"` it is the accuracy, where all classes are scored.

    Examples
    --------
    >>> from learnt.metrics import recall_score
    >>> recall_score([0, 1, 1, 0], [1, 1, 0, 0])
    0.5
    >>> recall_score([0, 1, 2, 2], [0, 0, 2, 2], average=None)
    array([1., 0., 1.])
    """
    targets = check_targets(y_true, y_pred, sample_weight)
    return _scores(targets, 1.0, labels, pos_label, average, ("recall",), zero_division)[1]


@documented
def fbeta_score(
    y_true: Any,
    y_pred: Any,
    *,
    beta: float,
    labels: Any = None,
    pos_label: Any = 1,
    average: str | None = "binary",
    sample_weight: Any = None,
    zero_division: Any = "warn",
) -> Any:
    """F_β = (1+β²) P R / (β² P + R), where recall R weighs β times as much as precision P.

    One number for a classifier with few positives, where accuracy is high for a model that finds none.

    Parameters
    ----------
    y_true : array-like of shape (n_samples,) or (n_samples, n_labels)
        The true labels: integers, booleans or strings; where a row has several labels, a matrix of zeros and ones.
    y_pred : array-like of shape (n_samples,) or (n_samples, n_labels)
        The predicted labels, in the same form.
    beta : float
        How many times recall weighs as much as precision: 2 where misses are worse than false alarms, 0.5 where false
        alarms are worse, 1 for F₁. 0 is precision and `np.inf` recall.
    labels : array-like, default=None
        The classes to score, in this order (columns, where y_true is a matrix); None for all, sorted. Leave out a
        frequent negative class here to average over the others only.
    zero_division : {"warn", 0.0, 1.0, np.nan}, default="warn"
        The score where nothing is positive and nothing was predicted so; "warn" is 0 with a warning. NaN is left out of
        means.

    Returns
    -------
    fbeta : float or ndarray of shape (n_classes,)
        Between 0 and 1, 1 at best; one number a class where `average=None`.

    See Also
    --------
    f1_score : The same with β = 1.
    precision_score : Precision alone.
    recall_score : Recall alone.
    mean_cost : Says what mistakes cost outright.

    Notes
    -----
    Computed from the counts as (1+β²)TP / ((1+β²)TP + β²FN + FP).

    References
    ----------
    .. [1] C. J. van Rijsbergen, "Information Retrieval", 2nd ed., Butterworths, 1979.

    Examples
    --------
    >>> from learnt.metrics import fbeta_score
    >>> y_true, y_pred = [0, 1, 1, 0], [1, 1, 1, 0]  # no miss, one false alarm
    >>> round(fbeta_score(y_true, y_pred, beta=0.5), 2), round(fbeta_score(y_true, y_pred, beta=2), 2)
    (0.71, 0.91)
    """
    targets = check_targets(y_true, y_pred, sample_weight)
    return _scores(targets, beta, labels, pos_label, average, ("f-score",), zero_division)[2]


@documented
def f1_score(
    y_true: Any,
    y_pred: Any,
    *,
    labels: Any = None,
    pos_label: Any = 1,
    average: str | None = "binary",
    sample_weight: Any = None,
    zero_division: Any = "warn",
) -> Any:
    """F₁ = 2 P R / (P + R), the harmonic mean of precision and recall; macro-F₁ with average="macro".

    One number for a classifier with few positives, where accuracy is high for a model that finds none. It is near the
    smaller of precision and recall, so that neither can make up for the other.

    Parameters
    ----------
    y_true : array-like of shape (n_samples,) or (n_samples, n_labels)
        The true labels: integers, booleans or strings; where a row has several labels, a matrix of zeros and ones.
    y_pred : array-like of shape (n_samples,) or (n_samples, n_labels)
        The predicted labels, in the same form.
    labels : array-like, default=None
        The classes to score, in this order (columns, where y_true is a matrix); None for all, sorted. Leave out a
        frequent negative class here to average over the others only.
    zero_division : {"warn", 0.0, 1.0, np.nan}, default="warn"
        The score where nothing is positive and nothing was predicted so; "warn" is 0 with a warning. NaN is left out of
        means.

    Returns
    -------
    f1 : float or ndarray of shape (n_classes,)
        Between 0 and 1, 1 at best; one number a class where `average=None`.

    See Also
    --------
    fbeta_score : Recall weighs more, or less, than precision.
    precision_score : Precision alone.
    recall_score : Recall alone.
    classification_report : All of them for every class.
    average_precision_score : Judges scores instead of labels, whatever the threshold.

    Notes
    -----
    Computed from the counts as 2TP / (2TP + FP + FN). True negatives do not enter.

    References
    ----------
    .. [1] C. J. van Rijsbergen, "Information Retrieval", 2nd ed., Butterworths, 1979.

    Examples
    --------
    >>> from learnt.metrics import f1_score
    >>> round(f1_score([0, 1, 1, 0], [1, 1, 1, 0]), 2)
    0.8
    >>> round(f1_score([0, 1, 2, 2], [0, 0, 2, 2], average="macro"), 2)
    0.56
    """
    targets = check_targets(y_true, y_pred, sample_weight)
    return _scores(targets, 1.0, labels, pos_label, average, ("f-score",), zero_division)[2]


@documented
def classification_report(
    y_true: Any,
    y_pred: Any,
    *,
    labels: Any = None,
    target_names: Any = None,
    sample_weight: Any = None,
    digits: int = 2,
    output_dict: bool = False,
    zero_division: Any = "warn",
) -> Any:
    """Precision, recall, F₁ and support of every class and their averages, as a text table or a dict.

    The first thing to print of a classifier with more than two classes: which it confuses shows in precision and
    recall.

    Parameters
    ----------
    y_true : array-like of shape (n_samples,) or (n_samples, n_labels)
        The true labels: integers, booleans or strings; where a row has several labels, a matrix of zeros and ones.
    y_pred : array-like of shape (n_samples,) or (n_samples, n_labels)
        The predicted labels, in the same form.
    labels : array-like, default=None
        The classes to show, in this order (columns, where y_true is a matrix); None for all, sorted.
    target_names : list of str, default=None
        Names to print in place of the labels, in their order.
    digits : int, default=2
        Decimals in the text; the dict has all of them.
    output_dict : bool, default=False
        Whether to return a dict instead of text, for a data frame or a log.
    zero_division : {"warn", 0.0, 1.0, np.nan}, default="warn"
        The value of 0/0, as the precision of a class that was never predicted; "warn" is 0 with a warning.

    Returns
    -------
    report : str or dict
        A line for each class and each average, or with `output_dict=True` a dict by class of dicts by score. "accuracy"
        stands in place of "micro avg" where all classes are shown.

    See Also
    --------
    precision_recall_fscore_support : The same numbers as arrays.
    confusion_matrix : Which class is taken for which.
    balanced_accuracy_score : The mean recall of the classes.

    Examples
    --------
    >>> from learnt.metrics import classification_report
    >>> print(classification_report([0, 1, 2, 2], [0, 0, 2, 2], zero_division=0))
                  precision    recall  f1-score   support
    <BLANKLINE>
               0       0.50      1.00      0.67         1
               1       0.00      0.00      0.00         1
               2       1.00      1.00      1.00         2
    <BLANKLINE>
        accuracy                           0.75         4
       macro avg       0.50      0.67      0.56         4
    weighted avg       0.62      0.75      0.67         4
    <BLANKLINE>
    """
    targets = check_targets(y_true, y_pred, sample_weight)
    shown = targets.classes if labels is None else np.asarray(labels)
    if target_names is not None and len(shown) != len(target_names):
        if labels is None:
            raise ValueError(
                f"Number of classes, {len(shown)}, does not match size of target_names, {len(target_names)}. "
                "Try specifying the labels parameter."
            )
        warnings.warn(
            f"labels size, {len(shown)}, does not match size of target_names, {len(target_names)}.", stacklevel=2
        )
    names = [str(name) for name in (shown if target_names is None else target_names)]
    all_shown = not targets.multilabel and set(shown.tolist()) >= set(targets.classes.tolist())

    def scores(average: str | None) -> tuple[Any, Any, Any, Any]:
        warned = ("precision", "recall", "f-score")
        return _scores(targets, 1.0, shown, None, average, warned, zero_division)

    precision, recall, f_score, support = scores(None)
    lines: list[tuple[str, Any, Any, Any, Any]] = list(zip(names, precision, recall, f_score, support, strict=False))
    means: list[tuple[str, Any, Any, Any, Any]] = []
    for average in ("micro", "macro", "weighted", "samples") if targets.multilabel else ("micro", "macro", "weighted"):
        heading = "accuracy" if average == "micro" and all_shown else f"{average} avg"
        means.append((heading, *scores(average)[:3], support.sum()))
    if output_dict:
        return _report_dict(lines + means)
    return _report_text(lines, means, digits)


_HEADERS = ("precision", "recall", "f1-score", "support")


def _report_dict(lines: list[tuple[str, Any, Any, Any, Any]]) -> dict[str, Any]:
    report: dict[str, Any] = {name: dict(zip(_HEADERS, map(float, values), strict=True)) for name, *values in lines}
    if "accuracy" in report:
        report["accuracy"] = report["accuracy"]["precision"]
    return report


def _report_text(lines: list[Any], means: list[Any], digits: int) -> str:
    width = max(*(len(line[0]) for line in lines), len("weighted avg"), digits)

    def row(name: str, precision: Any, recall: Any, f_score: Any, support: Any) -> str:
        if name == "accuracy":  # one number: precision, recall and F1 pooled over all classes are the same
            return f"{name:>{width}s}  {'':>9} {'':>9} {f_score:>9.{digits}f} {support:>9}\n"
        return f"{name:>{width}s}  {precision:>9.{digits}f} {recall:>9.{digits}f} {f_score:>9.{digits}f} {support:>9}\n"

    head = f"{'':>{width}s}  " + " ".join(f"{header:>9}" for header in _HEADERS) + "\n\n"
    return head + "".join(row(*line) for line in lines) + "\n" + "".join(row(*line) for line in means)
