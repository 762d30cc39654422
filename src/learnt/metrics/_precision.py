"""Precision, recall and their mean, class by class or averaged."""

from __future__ import annotations

import warnings
from collections.abc import Iterable
from typing import Any

import numpy as np
from sklearn.exceptions import UndefinedMetricWarning

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

    Parameters
    ----------
    y_true, y_pred : array-like of shape (n,), or (n, n_labels) of zeros and ones
    beta : float, default=1.0
        How many times recall weighs as much as precision.
    labels : array-like, default=None
        The classes to score, in this order; all of them, sorted, by default.
    pos_label : label, default=1
        The class to score where average="binary".
    average : {None, "binary", "micro", "macro", "weighted", "samples"}, default=None
        None gives an array with one entry a class; "binary" the positive class; "micro" pools the counts; "macro"
        is the plain mean over classes, "weighted" the mean by true rows; "samples" the mean over the rows of a label
        matrix.
    warn_for : tuple, for internal use
    sample_weight : array-like of shape (n,), default=None
    zero_division : {"warn", 0, 1, nan}, default="warn"
        The value of 0/0; "warn" is 0 with a warning. NaN is left out of means.

    Returns
    -------
    precision, recall, fscore : float, or array where average is None
    support : array, or None where there is an average

    Examples
    --------
    >>> y_true = ["cat", "dog", "pig", "cat", "dog", "pig"]
    >>> y_pred = ["cat", "pig", "dog", "cat", "cat", "dog"]
    >>> precision_recall_fscore_support(y_true, y_pred, average="macro")
    (0.2222222222222222, 0.3333333333333333, 0.26666666666666666, None)
    """
    targets = check_targets(y_true, y_pred, sample_weight)
    return _scores(targets, beta, labels, pos_label, average, tuple(warn_for), zero_division)


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

    Parameters as in `precision_recall_fscore_support`.

    >>> precision_score([0, 1, 1, 0], [1, 1, 1, 0])
    0.6666666666666666
    """
    targets = check_targets(y_true, y_pred, sample_weight)
    return _scores(targets, 1.0, labels, pos_label, average, ("precision",), zero_division)[0]


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

    Parameters as in `precision_recall_fscore_support`.

    >>> recall_score([0, 1, 1, 0], [1, 1, 0, 0])
    0.5
    """
    targets = check_targets(y_true, y_pred, sample_weight)
    return _scores(targets, 1.0, labels, pos_label, average, ("recall",), zero_division)[1]


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

    Parameters as in `precision_recall_fscore_support`.

    >>> fbeta_score([0, 1, 1, 0], [1, 1, 1, 0], beta=0.5)
    0.7142857142857143
    """
    targets = check_targets(y_true, y_pred, sample_weight)
    return _scores(targets, beta, labels, pos_label, average, ("f-score",), zero_division)[2]


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

    Parameters as in `precision_recall_fscore_support`.

    >>> f1_score([0, 1, 1, 0], [1, 1, 1, 0])
    0.8
    """
    targets = check_targets(y_true, y_pred, sample_weight)
    return _scores(targets, 1.0, labels, pos_label, average, ("f-score",), zero_division)[2]


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

    Parameters
    ----------
    y_true, y_pred : array-like of shape (n,), or (n, n_labels) of zeros and ones
    labels : array-like, default=None
        The classes to show, in this order.
    target_names : list of str, default=None
        Names to print in place of the labels.
    sample_weight : array-like of shape (n,), default=None
    digits : int, default=2
        Decimals in the text.
    output_dict : bool, default=False
    zero_division : {"warn", 0, 1, nan}, default="warn"

    Examples
    --------
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
