"""Two labellings of the same rows compared: true classes with clusters, or two clusterings."""

from __future__ import annotations

import warnings
from collections.abc import Callable
from typing import Any

import numpy as np
from scipy.special import gammaln, xlogy

from learnt.engine.matrices import dense
from learnt.metrics._inputs import check_finite, check_lengths, column


def contingency_table(labels_true: Any, labels_pred: Any) -> np.ndarray:
    """How many rows each pair of labels has, (classes × clusters).

    >>> contingency_table([0, 0, 1], ["a", "b", "b"])
    array([[1, 1],
           [0, 1]])
    """
    pairs = {"labels_true": labelling(labels_true, "labels_true"), "labels_pred": labelling(labels_pred, "labels_pred")}
    check_lengths(**pairs, least=0)
    kinds = [_kind(labels) for labels in pairs.values()]
    if any(kind.startswith("continuous") for kind in kinds):
        warnings.warn(
            f"Clustering metrics expects discrete values but received {kinds[0]} values for label, and {kinds[1]} "
            "values for target",
            UserWarning,
            stacklevel=3,
        )
    (classes, a), (clusters, b) = (np.unique(labels, return_inverse=True) for labels in pairs.values())
    k, m = len(classes), len(clusters)
    return np.bincount(a * m + b, minlength=k * m).reshape(k, m)


def labelling(labels: Any, name: str) -> np.ndarray:
    """Labels of the rows as a vector without NaN and infinity."""
    if len(shape := np.shape(labels)) != 1 and shape[1:] != (1,):
        raise ValueError(f"{name} must be 1D: shape is {shape}; give one label a row.")
    labels = column(labels, name)
    if labels.dtype.kind == "f":
        check_finite(labels, name)
    elif labels.dtype.kind == "O" and (labels != labels).any():
        raise ValueError(f"Input {name} contains NaN; drop those rows, or name the rows without a label.")
    return labels


def _kind(labels: np.ndarray) -> str:
    fractions = labels.dtype.kind == "f" and bool((labels != np.trunc(labels)).any())
    return "continuous" if fractions else "binary" if len(np.unique(labels)) <= 2 else "multiclass"


def pair_confusion_matrix(labels_true: Any, labels_pred: Any) -> np.ndarray:
    """Ordered pairs of rows that are apart or together in each labelling, (2 × 2).

    >>> pair_confusion_matrix([0, 0, 1, 1], [0, 0, 1, 2])
    array([[8, 0],
           [2, 2]])
    """
    table = contingency_table(labels_true, labels_pred).astype(np.int64)
    n = int(table.sum())
    both = int(np.square(table).sum())
    rows, columns = int(np.square(table.sum(axis=1)).sum()), int(np.square(table.sum(axis=0)).sum())
    return np.array([[n * n - rows - columns + both, columns - both], [rows - both, both - n]])


def rand_score(labels_true: Any, labels_pred: Any) -> float:
    """The share of pairs of rows on which two labellings agree: together in both, or apart in both.

    >>> rand_score([0, 0, 1, 1], [1, 1, 0, 0])
    1.0
    """
    pairs = pair_confusion_matrix(labels_true, labels_pred)
    total = pairs.sum()
    return 1.0 if total == 0 else float(np.trace(pairs) / total)


def adjusted_rand_score(labels_true: Any, labels_pred: Any) -> float:
    """`rand_score` less what chance gives: 1 for equal clusters, about 0 for random ones.

    >>> adjusted_rand_score([0, 0, 1, 1], [0, 0, 1, 2])
    0.5714285714285714
    """
    (apart, joined), (split, together) = pair_confusion_matrix(labels_true, labels_pred).tolist()
    if joined == 0 and split == 0:
        return 1.0
    above = 2.0 * (together * apart - split * joined)
    return above / ((together + split) * (split + apart) + (together + joined) * (joined + apart))


def fowlkes_mallows_score(labels_true: Any, labels_pred: Any) -> float:
    """The geometric mean of precision and recall over pairs of rows.

    >>> fowlkes_mallows_score([0, 0, 1, 1], [0, 0, 1, 1])
    1.0
    """
    (_, joined), (split, together) = pair_confusion_matrix(labels_true, labels_pred).tolist()
    return float(np.sqrt(together / (together + joined)) * np.sqrt(together / (together + split))) if together else 0.0


def _entropy(counts: np.ndarray) -> float:
    share = counts / max(counts.sum(), 1)
    return float(-xlogy(share, share).sum())


def _information(table: np.ndarray) -> float:
    share = table / max(table.sum(), 1)
    parts = share.sum(axis=1, keepdims=True) * share.sum(axis=0)
    some = share > 0
    return max(float((share[some] * np.log(share[some] / parts[some])).sum()), 0.0)


def mutual_info_score(labels_true: Any, labels_pred: Any, *, contingency: Any = None) -> float:
    """What one labelling tells of the other, in nats; `contingency` is their table, if it is at hand.

    >>> round(mutual_info_score([0, 0, 1, 1], [0, 0, 1, 1]), 4)
    0.6931
    """
    table = contingency_table(labels_true, labels_pred) if contingency is None else np.asarray(dense(contingency))
    return _information(table)


def normalized_mutual_info_score(labels_true: Any, labels_pred: Any, *, average_method: str = "arithmetic") -> float:
    """`mutual_info_score` over a mean of the two entropies: 1 for equal clusters.

    >>> normalized_mutual_info_score([0, 0, 1, 1], [1, 1, 0, 0])
    1.0
    """
    table = contingency_table(labels_true, labels_pred)
    if table.size <= 1:  # one group in both, or no rows at all
        return 1.0
    information = _information(table)
    if information <= np.finfo(float).eps:
        return 0.0
    return information / _mean_entropy(table, average_method)


def adjusted_mutual_info_score(labels_true: Any, labels_pred: Any, *, average_method: str = "arithmetic") -> float:
    """`normalized_mutual_info_score` less what chance gives: about 0 for random labels, however many there are.

    >>> adjusted_mutual_info_score([0, 0, 1, 1], [0, 0, 1, 1])
    1.0
    """
    table = contingency_table(labels_true, labels_pred)
    if table.size <= 1 or table.shape[0] == table.shape[1] == table.sum():
        return 1.0
    if 1 in table.shape:  # a single group tells nothing, of random labels neither
        return 0.0
    expected = expected_information(table)
    room = _mean_entropy(table, average_method) - expected
    tiny = np.finfo(float).eps
    return float((_information(table) - expected) / (min(room, -tiny) if room < 0 else max(room, tiny)))


def expected_information(table: np.ndarray) -> float:
    """The mutual information of random labels with these numbers of rows (Vinh, Epps and Bailey 2010)."""
    a, b, n = table.sum(axis=1), table.sum(axis=0), int(table.sum())
    total = 0.0
    for x in a:
        least, most = np.maximum(1, x + b - n), np.minimum(x, b)
        for y, low, high in zip(b, least, most, strict=True):
            k = np.arange(low, high + 1)
            ways = gammaln(x + 1) + gammaln(y + 1) + gammaln(n - x + 1) + gammaln(n - y + 1) - gammaln(n + 1)
            ways = ways - gammaln(k + 1) - gammaln(x - k + 1) - gammaln(y - k + 1) - gammaln(n - x - y + k + 1)
            total += float((k / n * np.log(n * k / (float(x) * float(y))) * np.exp(ways)).sum())
    return total


_MEANS: dict[str, Callable[[float, float], float]] = {
    "min": min,
    "max": max,
    "arithmetic": lambda a, b: (a + b) / 2.0,
    "geometric": lambda a, b: float(np.sqrt(a * b)),
}


def _mean_entropy(table: np.ndarray, method: str) -> float:
    if method not in _MEANS:
        raise ValueError(f"average_method must be one of {', '.join(map(repr, _MEANS))}; it is {method!r}.")
    return _MEANS[method](_entropy(table.sum(axis=1)), _entropy(table.sum(axis=0)))


def homogeneity_completeness_v_measure(
    labels_true: Any, labels_pred: Any, *, beta: float = 1.0
) -> tuple[float, float, float]:
    """Whether clusters hold one class each, whether classes lie in one cluster each, and the mean of both.

    >>> homogeneity_completeness_v_measure([0, 0, 1, 1], [0, 0, 1, 2])[0]
    1.0
    """
    table = contingency_table(labels_true, labels_pred)
    information = _information(table)
    classes, clusters = _entropy(table.sum(axis=1)), _entropy(table.sum(axis=0))
    homogeneity = information / classes if classes else 1.0
    completeness = information / clusters if clusters else 1.0
    below = beta * homogeneity + completeness
    return homogeneity, completeness, (1 + beta) * homogeneity * completeness / below if below else 0.0


def homogeneity_score(labels_true: Any, labels_pred: Any) -> float:
    """Whether each cluster holds rows of one class only: 1 if so."""
    return homogeneity_completeness_v_measure(labels_true, labels_pred)[0]


def completeness_score(labels_true: Any, labels_pred: Any) -> float:
    """Whether the rows of each class lie in one cluster: 1 if so."""
    return homogeneity_completeness_v_measure(labels_true, labels_pred)[1]


def v_measure_score(labels_true: Any, labels_pred: Any, *, beta: float = 1.0) -> float:
    """The harmonic mean of homogeneity and completeness."""
    return homogeneity_completeness_v_measure(labels_true, labels_pred, beta=beta)[2]
