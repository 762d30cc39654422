"""The metric that models are chosen by, where the user names one: any of `learnt.metrics` that is a single number.

    metric_of("roc_auc", "classify").loss(y, probability)        what a race minimises
    metric_of("f1", "classify").best_threshold(y, probability)   the threshold it is best at

Names are those of `learnt.metrics` (``f1_score``), of scikit-learn's scorers (``neg_log_loss``, ``f1_macro``), or
common abbreviations (``rmse``, ``auc``, ``f2``). Targets are class numbers with a column of probabilities for each
class, or amounts. Measures of decisions that weigh both kinds of error (F, balanced accuracy, Matthews, kappa, costs)
are evaluated at the threshold that is best for the given rows, as the study's own threshold is chosen; others at one
half.
"""

from __future__ import annotations

import difflib
import re
from collections.abc import Callable
from dataclasses import dataclass, field
from importlib import import_module
from typing import Any

import numpy as np

from learnt.study._errors import StudyError


@dataclass(frozen=True)
class _Kind:
    words: str
    task: str
    takes: str  # "probability", "decision" (at one half), "best decision" (at the best threshold) or "number"
    greater: bool = True


_KINDS: dict[str, _Kind] = {
    "accuracy_score": _Kind("accuracy", "classify", "decision"),
    "average_precision_score": _Kind("average precision", "classify", "probability"),
    "balanced_accuracy_score": _Kind("balanced accuracy", "classify", "best decision"),
    "brier_score_loss": _Kind("Brier score", "classify", "probability", greater=False),
    "cohen_kappa_score": _Kind("Cohen's kappa", "classify", "best decision"),
    "d2_brier_score": _Kind("share of the Brier score explained", "classify", "probability"),
    "f1_score": _Kind("F1", "classify", "best decision"),
    "fbeta_score": _Kind("F", "classify", "best decision"),
    "hamming_loss": _Kind("share of wrong labels", "classify", "decision", greater=False),
    "log_loss": _Kind("log loss", "classify", "probability", greater=False),
    "matthews_corrcoef": _Kind("Matthews correlation", "classify", "best decision"),
    "mean_cost": _Kind("cost a row", "classify", "best decision", greater=False),
    "precision_score": _Kind("precision", "classify", "decision"),
    "recall_score": _Kind("recall", "classify", "decision"),
    "roc_auc_score": _Kind("ROC area", "classify", "probability"),
    "sensitivity_score": _Kind("sensitivity", "classify", "decision"),
    "specificity_score": _Kind("specificity", "classify", "decision"),
    "zero_one_loss": _Kind("share of errors", "classify", "decision", greater=False),
    "explained_variance_score": _Kind("explained variance", "regress", "number"),
    "max_error": _Kind("largest error", "regress", "number", greater=False),
    "mean_absolute_error": _Kind("mean absolute error", "regress", "number", greater=False),
    "mean_absolute_percentage_error": _Kind("mean relative error", "regress", "number", greater=False),
    "mean_pinball_loss": _Kind("pinball loss", "regress", "number", greater=False),
    "mean_squared_error": _Kind("mean squared error", "regress", "number", greater=False),
    "mean_squared_log_error": _Kind("mean squared error of logarithms", "regress", "number", greater=False),
    "median_absolute_error": _Kind("median absolute error", "regress", "number", greater=False),
    "r2_score": _Kind("R²", "regress", "number"),
    "root_mean_squared_error": _Kind("RMSE", "regress", "number", greater=False),
    "root_mean_squared_log_error": _Kind("RMSE of logarithms", "regress", "number", greater=False),
}
_SAID = {
    "auc": "roc_auc_score", "rocauc": "roc_auc_score", "roc_area": "roc_auc_score", "gini": "roc_auc_score",
    "pr_auc": "average_precision_score", "pr_area": "average_precision_score", "ap": "average_precision_score",
    "logloss": "log_loss", "cross_entropy": "log_loss", "brier": "brier_score_loss", "error": "zero_one_loss",
    "error_rate": "zero_one_loss", "mcc": "matthews_corrcoef", "kappa": "cohen_kappa_score", "cost": "mean_cost",
    "balanced_acc": "balanced_accuracy_score", "acc": "accuracy_score", "mae": "mean_absolute_error",
    "mse": "mean_squared_error", "rmse": "root_mean_squared_error", "mape": "mean_absolute_percentage_error",
    "rmsle": "root_mean_squared_log_error", "msle": "mean_squared_log_error", "pinball": "mean_pinball_loss",
    "r_squared": "r2_score", "tpr": "sensitivity_score", "tnr": "specificity_score",
}  # fmt: skip
_AVERAGED = ("precision_score", "recall_score", "f1_score", "fbeta_score")
_AVERAGES = ("micro", "macro", "weighted")
_AREAS = {"ovr": {"multi_class": "ovr"}, "ovo": {"multi_class": "ovo"}}
_AREAS |= {f"{k}_weighted": {**v, "average": "weighted"} for k, v in _AREAS.items()}


@dataclass(frozen=True)
class Metric:
    """One number that judges predictions: `score` in its usual form, `loss` smaller where it is better."""

    name: str  # in learnt.metrics
    words: str
    task: str
    takes: str
    greater: bool
    n_classes: int = 0
    positive: int | None = None  # of two classes, the one that decisions and areas are about
    options: dict[str, Any] = field(default_factory=dict)

    @property
    def at_best_threshold(self) -> bool:
        """Whether decisions are made at the best threshold for the rows, not at one half."""
        return self.takes == "best decision" and self.n_classes == 2 and self.options.get("average") is None

    def loss(self, y: np.ndarray, predicted: np.ndarray, weights: np.ndarray | None = None) -> float:
        """The score, turned so that smaller is better."""
        value = self.score(y, predicted, weights)
        return -value if self.greater else value

    def score(
        self,
        y: np.ndarray,
        predicted: np.ndarray,
        weights: np.ndarray | None = None,
        *,
        threshold: float | None = None,
    ) -> float:
        """The value of the metric; `threshold` is for decisions between two classes.

        >>> p = np.array([[0.9, 0.1], [0.8, 0.2], [0.7, 0.3], [0.6, 0.4]])
        >>> metric_of("f1", "classify").score(np.array([0, 0, 1, 1]), p)
        1.0
        """
        y, predicted = np.asarray(y), np.asarray(predicted, dtype=np.float64)
        if self.takes == "number":
            return self._of_numbers(y, predicted, weights)
        if self.takes == "probability":
            return self._of_probabilities(y, predicted, weights)
        if threshold is None and self.at_best_threshold:
            threshold = self.best_threshold(y, predicted, weights)
        return self._of_decisions(y, self._decided(predicted, threshold), weights)

    def best_threshold(self, y: np.ndarray, predicted: np.ndarray, weights: np.ndarray | None = None) -> float:
        """The probability of the positive class from which on calling it is best for these rows."""
        assert self.positive is not None
        cuts, *counts = counts_by_threshold(y == self.positive, predicted[:, self.positive], weights)
        values = self.by_counts(*counts)
        return float(cuts[int(values.argmax() if self.greater else values.argmin())])

    def by_counts(self, tp: np.ndarray, fp: np.ndarray, fn: np.ndarray, tn: np.ndarray) -> np.ndarray:
        """The value from weights of true positives, false positives, false negatives and true negatives."""
        return _BY_COUNTS[self.name](tp, fp, fn, tn, **{k: v for k, v in self.options.items() if k in ("beta", "cost")})

    def _of_numbers(self, y: np.ndarray, predicted: np.ndarray, weights: np.ndarray | None) -> float:
        if "log" in self.name:
            predicted = np.maximum(predicted, 0.0)  # the logarithm of a negative amount is undefined
        options = {} if self.name == "max_error" else {"sample_weight": weights}
        return float(_function(self.name)(y, predicted, **options))

    def _of_probabilities(self, y: np.ndarray, predicted: np.ndarray, weights: np.ndarray | None) -> float:
        labels = np.arange(self.n_classes)
        if self.name == "log_loss":
            clipped = np.clip(predicted, 1e-15, 1.0)
            clipped /= clipped.sum(axis=1, keepdims=True)
            return float(_function("log_loss")(y, clipped, labels=labels, sample_weight=weights))
        if self.name == "brier_score_loss":
            rows = np.sum((predicted - (y[:, None] == labels)) ** 2, axis=1)
            return float(np.average(rows, weights=weights)) * (0.5 if self.n_classes == 2 else 1.0)
        if self.name == "d2_brier_score":
            truth = y[:, None] == labels
            if len(np.unique(y)) == 1:  # nothing to explain: the value of a constant
                return 0.0
            return float(_function(self.name)(truth.astype(np.int64), predicted, sample_weight=weights))
        area = _function(self.name)
        if self.n_classes == 2:
            is_positive = (y == self.positive).astype(np.int64)
            if is_positive.min() == is_positive.max():  # nothing to rank: the value of a constant
                return 0.5 if self.name == "roc_auc_score" else float(is_positive.mean())
            return float(area(is_positive, predicted[:, self.positive], sample_weight=weights))
        parts, shares = [], []
        if self.options.get("multi_class") == "ovo" and len(np.unique(y)) == self.n_classes:
            return float(area(y, predicted, labels=labels, **self.options))
        for k in labels:  # classes that are not among these rows have no area
            is_k = (y == k).astype(np.int64)
            if 0 < is_k.sum() < len(y):
                parts.append(float(area(is_k, predicted[:, k], sample_weight=weights)))
                shares.append(float(is_k.mean()))
        if not parts:
            return 0.5 if self.name == "roc_auc_score" else 1.0
        return float(np.average(parts, weights=shares if self.options.get("average") == "weighted" else None))

    def _decided(self, predicted: np.ndarray, threshold: float | None) -> np.ndarray:
        if threshold is None or self.positive is None:
            return predicted.argmax(axis=1)
        return np.where(predicted[:, self.positive] >= threshold, self.positive, 1 - self.positive)

    def _of_decisions(self, y: np.ndarray, decided: np.ndarray, weights: np.ndarray | None) -> float:
        if self.name in _BY_COUNTS and self.n_classes == 2 and "average" not in self.options:
            w = np.ones(len(y)) if weights is None else np.asarray(weights, dtype=np.float64)
            true, called = y == self.positive, decided == self.positive
            counts = [
                np.array(w[a & b].sum())
                for a, b in ((true, called), (~true, called), (true, ~called), (~true, ~called))
            ]
            return float(self.by_counts(*counts))
        options: dict[str, Any] = {"sample_weight": weights}
        if self.name in _AVERAGED:
            options |= {"labels": np.arange(self.n_classes), "zero_division": 0, "average": "macro"} | self.options
        if self.name == "balanced_accuracy_score":  # ours and scikit-learn's warn where a class is missing
            hit, w = decided == y, np.ones(len(y)) if weights is None else weights
            return float(np.mean([np.average(hit[y == k], weights=w[y == k]) for k in np.unique(y)]))
        if self.name == "cohen_kappa_score" and len(np.union1d(y, decided)) < 2:
            return 0.0  # rows of one class: nothing to agree on
        return float(_function(self.name)(y, decided, **options))


def _function(name: str) -> Callable[..., Any]:
    """Imported when first needed: reading the options of a command must not wait for all metrics."""
    return getattr(import_module("learnt.metrics"), name)


def counts_by_threshold(
    y: np.ndarray, score: np.ndarray, weights: np.ndarray | None = None
) -> tuple[np.ndarray, np.ndarray, np.ndarray, np.ndarray, np.ndarray]:
    """Thresholds half-way between all scores, and true positives, false positives, false negatives, true negatives at
    each of them.

    >>> [part.tolist() for part in counts_by_threshold(np.array([False, True]), np.array([0.2, 0.6]))]
    [[0.0, 0.4, 1.0], [1.0, 1.0, 0.0], [1.0, 0.0, 0.0], [0.0, 0.0, 1.0], [0.0, 1.0, 1.0]]
    """
    order = np.argsort(score, kind="stable")
    s, w = np.asarray(score)[order], np.ones(len(score)) if weights is None else np.asarray(weights, float)[order]
    positive = np.asarray(y)[order].astype(bool)
    missed = np.concatenate([[0.0], np.cumsum(w * positive)])
    rejected = np.concatenate([[0.0], np.cumsum(w * ~positive)])
    cuts = np.concatenate([[0.0], (s[1:] + s[:-1]) / 2, [1.0]])
    distinct = np.concatenate([[True], s[1:] > s[:-1], [True]])
    parts = (cuts, missed[-1] - missed, rejected[-1] - rejected, missed, rejected)
    cuts, tp, fp, fn, tn = (part[distinct] for part in parts)
    return cuts, tp, fp, fn, tn


def area_under_roc(y: np.ndarray, score: np.ndarray) -> float:
    """The chance that a row of the positive class has the larger score, ties counting half; both classes are there.

    >>> area_under_roc(np.array([False, True, False, True]), np.array([0.1, 0.2, 0.2, 0.7]))
    0.875
    """
    _, tp, fp, *_ = counts_by_threshold(y, score)
    return float(np.sum((fp[:-1] - fp[1:]) * (tp[:-1] + tp[1:])) / (2 * tp[0] * fp[0]))


# --- from counts -----------------------------------------------------------------------------------------------


def _divide(a: np.ndarray, b: np.ndarray) -> np.ndarray:
    return np.divide(a, b, out=np.zeros_like(np.asarray(a, dtype=np.float64)), where=np.asarray(b) > 0)


def _f(tp: np.ndarray, fp: np.ndarray, fn: np.ndarray, tn: np.ndarray, beta: float = 1.0) -> np.ndarray:
    both = (1 + beta**2) * tp
    return _divide(both, both + beta**2 * fn + fp)


def _balanced(tp: np.ndarray, fp: np.ndarray, fn: np.ndarray, tn: np.ndarray) -> np.ndarray:
    present = int(np.max(tp + fn) > 0) + int(np.max(tn + fp) > 0)
    return (_divide(tp, tp + fn) + _divide(tn, tn + fp)) / max(present, 1)


def _matthews(tp: np.ndarray, fp: np.ndarray, fn: np.ndarray, tn: np.ndarray) -> np.ndarray:
    return _divide(tp * tn - fp * fn, np.sqrt((tp + fp) * (tp + fn) * (tn + fp) * (tn + fn)))


def _kappa(tp: np.ndarray, fp: np.ndarray, fn: np.ndarray, tn: np.ndarray) -> np.ndarray:
    return _divide(2 * (tp * tn - fn * fp), (tp + fp) * (fp + tn) + (tp + fn) * (fn + tn))


def _cost(
    tp: np.ndarray, fp: np.ndarray, fn: np.ndarray, tn: np.ndarray, cost: tuple[float, float] = (1.0, 1.0)
) -> np.ndarray:
    return (cost[0] * fp + cost[1] * fn) / (tp + fp + fn + tn)


_BY_COUNTS: dict[str, Callable[..., np.ndarray]] = {
    "f1_score": _f,
    "fbeta_score": _f,
    "balanced_accuracy_score": _balanced,
    "matthews_corrcoef": _matthews,
    "cohen_kappa_score": _kappa,
    "mean_cost": _cost,
    "precision_score": lambda tp, fp, fn, tn: _divide(tp, tp + fp),
    "recall_score": lambda tp, fp, fn, tn: _divide(tp, tp + fn),
    "sensitivity_score": lambda tp, fp, fn, tn: _divide(tp, tp + fn),
    "specificity_score": lambda tp, fp, fn, tn: _divide(tn, tn + fp),
}


# --- names -----------------------------------------------------------------------------------------------------


def read_metric(text: str) -> tuple[str, dict[str, Any]]:
    """The name in `learnt.metrics` and its options, or one sentence with near matches.

    >>> read_metric("neg_log_loss"), read_metric("F1-macro"), read_metric("f2")
    (('log_loss', {}), ('f1_score', {'average': 'macro'}), ('fbeta_score', {'beta': 2.0}))
    """
    wanted = re.sub(r"[\s\-]+", "_", text.strip().lower())
    wanted = wanted.removeprefix("neg_")
    options: dict[str, Any] = {}
    if found := re.fullmatch(r"f_?(\d+(?:\.\d+)?|beta)(_score)?", wanted):
        if found[1] == "beta":
            raise StudyError(f"“{text}” needs its beta; write f2 (a miss weighs more) or f0.5 (a false alarm does).")
        if float(found[1]) == 0:
            raise StudyError(f"“{text}” has a beta of 0, which is precision; write precision.")
        return ("f1_score", {}) if float(found[1]) == 1 else ("fbeta_score", {"beta": float(found[1])})
    for average in _AVERAGES:
        if wanted.endswith(f"_{average}") and (name := _named(wanted.removesuffix(f"_{average}"))) in _AVERAGED:
            return str(name), {"average": average}
    for kind, chosen in _AREAS.items():
        if wanted == f"roc_auc_{kind}":
            wanted, options = "roc_auc", chosen
    name = _named(wanted)
    if name is None:
        if wanted in {name.lower() for name in import_module("learnt.metrics").__all__}:
            raise StudyError(f"“{text}” is not a single number, so models cannot be chosen by it; try {_some()}.")
        raise StudyError(f"There is no metric “{text}”; {_near(wanted)}")
    return name, options


def _named(wanted: str) -> str | None:
    if wanted in _SAID:
        return _SAID[wanted]
    return next((n for n in (wanted, f"{wanted}_score", f"{wanted}_loss", f"{wanted}_score_loss") if n in _KINDS), None)


def _near(wanted: str) -> str:
    known = {n.removesuffix("_score").removesuffix("_loss") for n in _KINDS} | set(_KINDS) | set(_SAID)
    close = difflib.get_close_matches(wanted, sorted(known), n=3, cutoff=0.6)
    if not close:
        return f"try {_some()}, or another name of learnt.metrics."
    return "did you mean " + " or ".join(f"“{name}”" for name in close) + "?"


def _some() -> str:
    return "log_loss, roc_auc, average_precision, f1 or balanced_accuracy for classes, rmse or mae for amounts"


def metric_of(
    name: str,
    task: str,
    n_classes: int = 2,
    positive: int | None = 1,
    cost: tuple[float, float] | None = None,
) -> Metric:
    """The metric of that name for a task: its `loss(y, predicted, weights)` is what a race minimises.

    Parameters
    ----------
    name : as in `read_metric`.
    task : "classify" or "regress".
    n_classes, positive : how many classes there are, and the number of the positive one of two.
    cost : of a false alarm and of a missed positive, for ``mean_cost``.

    >>> metric_of("roc_auc", "classify").loss(np.array([0, 1]), np.array([[0.8, 0.2], [0.3, 0.7]]))
    -1.0
    """
    known, options = read_metric(name)
    kind = _KINDS[known]
    if kind.task != task:
        what, others = ("classes", "rmse, mae or r2") if kind.task == "classify" else ("amounts", "log_loss or roc_auc")
        are = "an amount" if task == "regress" else "a class"
        raise StudyError(
            f"The metric “{name}” is for {what}, and the target is {are}; choose another, such as {others}."
        )
    words = kind.words
    if "beta" in options:
        words = f"F{options['beta']:g}"
    if known == "mean_cost":
        if cost is None or n_classes != 2:
            raise StudyError("The metric “mean_cost” needs two classes and their costs; add --cost fp=1,fn=10.")
        options = {"cost": cost}
    if known in ("sensitivity_score", "specificity_score") and n_classes != 2:
        raise StudyError(
            f"The metric “{name}” is for two classes, and the target has {n_classes}; try balanced_accuracy."
        )
    if "average" in options and known in _AVERAGED:
        words = f"{options['average']}-averaged {words}"
    elif n_classes > 2 and known in (*_AVERAGED, "roc_auc_score", "average_precision_score"):
        words = f"{words} averaged over the classes"
    return Metric(
        known, words, task, kind.takes, kind.greater, n_classes, positive if n_classes == 2 else None, options
    )
