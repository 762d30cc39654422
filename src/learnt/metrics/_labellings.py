"""Two labellings of the same rows compared: true classes with clusters, or two clusterings."""

from __future__ import annotations

import warnings
from collections.abc import Callable
from typing import Any

import numpy as np
from scipy.special import gammaln, xlogy

from learnt.engine.documentation import documented
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


@documented
def pair_confusion_matrix(labels_true: Any, labels_pred: Any) -> np.ndarray:
    """Ordered pairs of rows that are apart or together in each labelling, (2 × 2).

    Rows are the true groups and columns the found ones: [[apart in both, joined by mistake], [split by mistake,
    together in both]]. The Rand indices and the Fowlkes–Mallows score are read off it.

    Parameters
    ----------
    labels_true : array-like of shape (n_samples,)
        The true groups of the rows: integers or strings, whose values mean nothing.
    labels_pred : array-like of shape (n_samples,)
        The groups that were found.

    Returns
    -------
    pairs : ndarray of shape (2, 2)
        Counts of ordered pairs of different rows: each pair counts twice, and n (n − 1) in all.

    See Also
    --------
    rand_score : The share of pairs on which both agree.
    adjusted_rand_score : The same less what chance gives.
    fowlkes_mallows_score : Precision and recall of the pairs.
    confusion_matrix : Counts of labels that mean the same in both.

    References
    ----------
    .. [1] L. Hubert and P. Arabie, "Comparing partitions", Journal of Classification, 1985.

    Examples
    --------
    >>> from learnt.metrics import pair_confusion_matrix
    >>> pair_confusion_matrix([0, 0, 1, 1], [0, 0, 1, 2])
    array([[8, 0],
           [2, 2]])
    """
    table = contingency_table(labels_true, labels_pred).astype(np.int64)
    n = int(table.sum())
    both = int(np.square(table).sum())
    rows, columns = int(np.square(table.sum(axis=1)).sum()), int(np.square(table.sum(axis=0)).sum())
    return np.array([[n * n - rows - columns + both, columns - both], [rows - both, both - n]])


@documented
def rand_score(labels_true: Any, labels_pred: Any) -> float:
    """The share of pairs of rows on which two labellings agree: together in both, or apart in both.

    The names of the groups do not matter. It is high for random groups too, the higher the more of them there are: take
    `adjusted_rand_score` to compare clusterings.

    Parameters
    ----------
    labels_true : array-like of shape (n_samples,)
        The true groups of the rows: integers or strings, whose values mean nothing.
    labels_pred : array-like of shape (n_samples,)
        The groups that were found.

    Returns
    -------
    score : float
        Between 0 and 1; 1 for the same partition.

    See Also
    --------
    adjusted_rand_score : About 0 for random groups.
    adjusted_mutual_info_score : Agreement by information, about 0 for random groups.
    pair_confusion_matrix : The counts behind it.

    References
    ----------
    .. [1] W. M. Rand, "Objective criteria for the evaluation of clustering methods", Journal of the American
       Statistical Association, 1971.

    Examples
    --------
    >>> from learnt.metrics import rand_score
    >>> rand_score([0, 0, 1, 1], [1, 1, 0, 0])
    1.0
    >>> round(rand_score([0, 0, 1, 1], [0, 0, 1, 2]), 2)
    0.83
    """
    pairs = pair_confusion_matrix(labels_true, labels_pred)
    total = pairs.sum()
    return 1.0 if total == 0 else float(np.trace(pairs) / total)


@documented
def adjusted_rand_score(labels_true: Any, labels_pred: Any) -> float:
    """The Rand index less what chance gives (ARI): 1 for equal clusters, about 0 for random ones.

    The usual agreement of a clustering with true classes, or of two clusterings. The names of the groups do not matter,
    and it is the same with both exchanged.

    Parameters
    ----------
    labels_true : array-like of shape (n_samples,)
        The true groups of the rows: integers or strings, whose values mean nothing.
    labels_pred : array-like of shape (n_samples,)
        The groups that were found.

    Returns
    -------
    ari : float
        1 for the same partition, about 0 for random groups, at least −0.5.

    See Also
    --------
    adjusted_mutual_info_score : By information: better where groups are of very different sizes.
    rand_score : Without the correction for chance.
    v_measure_score : Homogeneity and completeness, which tell the kind of mistakes.
    silhouette_score : Judges clusters without true classes.

    Notes
    -----
    (RI − E) / (max − E) with the Rand index RI and its mean E over random groups of the same sizes. O(n log n) time.

    References
    ----------
    .. [1] L. Hubert and P. Arabie, "Comparing partitions", Journal of Classification, 1985.

    Examples
    --------
    >>> from learnt.metrics import adjusted_rand_score
    >>> adjusted_rand_score([0, 0, 1, 1], [1, 1, 0, 0])
    1.0
    >>> round(adjusted_rand_score([0, 0, 1, 1], [0, 0, 1, 2]), 2), adjusted_rand_score([0, 0, 1, 1], [0, 1, 0, 1])
    (0.57, -0.5)
    """
    (apart, joined), (split, together) = pair_confusion_matrix(labels_true, labels_pred).tolist()
    if joined == 0 and split == 0:
        return 1.0
    above = 2.0 * (together * apart - split * joined)
    return above / ((together + split) * (split + apart) + (together + joined) * (joined + apart))


@documented
def fowlkes_mallows_score(labels_true: Any, labels_pred: Any) -> float:
    """The geometric mean of precision and recall over pairs of rows, TP / √((TP + FP)(TP + FN)).

    A pair is positive where it is together. Pairs that are apart in both do not count, so that it is less flattering
    than the Rand index with many groups; but it is not corrected for chance.

    Parameters
    ----------
    labels_true : array-like of shape (n_samples,)
        The true groups of the rows: integers or strings, whose values mean nothing.
    labels_pred : array-like of shape (n_samples,)
        The groups that were found.

    Returns
    -------
    score : float
        Between 0 and 1; 1 for the same partition, 0 where no pair is together in both.

    See Also
    --------
    adjusted_rand_score : Corrected for chance.
    pair_confusion_matrix : The counts behind it.
    v_measure_score : Homogeneity and completeness by information.

    References
    ----------
    .. [1] E. B. Fowlkes and C. L. Mallows, "A method for comparing two hierarchical clusterings", Journal of the
       American Statistical Association, 1983.

    Examples
    --------
    >>> from learnt.metrics import fowlkes_mallows_score
    >>> round(fowlkes_mallows_score([0, 0, 1, 1], [0, 0, 1, 2]), 2)
    0.71
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


@documented
def mutual_info_score(labels_true: Any, labels_pred: Any, *, contingency: Any = None) -> float:
    """What one labelling tells of the other, in nats: Σ p(i, j) log(p(i, j) / (p(i) p(j))).

    0 where they are independent, and the entropy of either where they are the same partition. It grows with the number
    of groups: compare clusterings by the adjusted one.

    Parameters
    ----------
    labels_true : array-like of shape (n_samples,)
        The true groups of the rows: integers or strings, whose values mean nothing.
    labels_pred : array-like of shape (n_samples,)
        The groups that were found.
    contingency : array-like or sparse matrix of shape (n_classes, n_clusters), default=None
        How many rows each pair of labels has, if that is at hand; the labels are ignored then.

    Returns
    -------
    information : float
        At least 0, in nats (natural logarithm).

    See Also
    --------
    adjusted_mutual_info_score : Corrected for chance, and 1 at best.
    normalized_mutual_info_score : 1 at best, not corrected for chance.
    learnt.feature_selection.mutual_info_classif : Of columns of numbers and the target.

    Notes
    -----
    O(n log n) time for n rows. Rounding below 0 is cut off.

    Examples
    --------
    >>> from learnt.metrics import mutual_info_score
    >>> round(mutual_info_score([0, 0, 1, 1], [1, 1, 0, 0]), 3), round(mutual_info_score([0, 0, 1, 1], [0, 1, 0, 1]), 3)
    (0.693, 0.0)
    """
    table = contingency_table(labels_true, labels_pred) if contingency is None else np.asarray(dense(contingency))
    return _information(table)


@documented
def normalized_mutual_info_score(labels_true: Any, labels_pred: Any, *, average_method: str = "arithmetic") -> float:
    """Mutual information over a mean of the two entropies (NMI): 1 for equal clusters, 0 for independent ones.

    Not corrected for chance: random clusters score the higher, the more of them there are.

    Parameters
    ----------
    labels_true : array-like of shape (n_samples,)
        The true groups of the rows: integers or strings, whose values mean nothing.
    labels_pred : array-like of shape (n_samples,)
        The groups that were found.
    average_method : {"arithmetic", "geometric", "min", "max"}, default="arithmetic"
        Which mean of the two entropies: "arithmetic" makes it the V-measure; "geometric" their geometric mean; "min"
        the smaller, which gives the highest score; "max" the larger, the lowest.

    Returns
    -------
    nmi : float
        Between 0 and 1; 1 for the same partition.

    See Also
    --------
    adjusted_mutual_info_score : About 0 for random clusters.
    mutual_info_score : In nats, without the division.
    v_measure_score : The same number, from homogeneity and completeness.
    adjusted_rand_score : Agreement on pairs of rows, corrected for chance.

    References
    ----------
    .. [1] N. X. Vinh, J. Epps and J. Bailey, "Information theoretic measures for clusterings comparison: variants,
       properties, normalization and correction for chance", Journal of Machine Learning Research, 2010.

    Examples
    --------
    >>> from learnt.metrics import normalized_mutual_info_score
    >>> normalized_mutual_info_score([0, 0, 1, 1], [1, 1, 0, 0])
    1.0
    >>> round(normalized_mutual_info_score([0, 0, 1, 1], [0, 0, 1, 2]), 2)
    0.8
    """
    table = contingency_table(labels_true, labels_pred)
    if table.size <= 1:  # one group in both, or no rows at all
        return 1.0
    information = _information(table)
    if information <= np.finfo(float).eps:
        return 0.0
    return information / _mean_entropy(table, average_method)


@documented
def adjusted_mutual_info_score(labels_true: Any, labels_pred: Any, *, average_method: str = "arithmetic") -> float:
    """Normalised mutual information less what chance gives (AMI): about 0 for random labels, however many there are.

    The agreement of a clustering with true classes, or of two clusterings, where groups are of very different sizes;
    where they are of about equal size, the adjusted Rand index is the usual one.

    Parameters
    ----------
    labels_true : array-like of shape (n_samples,)
        The true groups of the rows: integers or strings, whose values mean nothing.
    labels_pred : array-like of shape (n_samples,)
        The groups that were found.
    average_method : {"arithmetic", "geometric", "min", "max"}, default="arithmetic"
        Which mean of the two entropies bounds the information: their plain mean, their geometric mean, the smaller or
        the larger.

    Returns
    -------
    ami : float
        1 for the same partition, about 0 for random groups; can be negative.

    See Also
    --------
    adjusted_rand_score : Agreement on pairs of rows; cheaper.
    normalized_mutual_info_score : Not corrected for chance.
    v_measure_score : Homogeneity and completeness, which tell the kind of mistakes.
    silhouette_score : Judges clusters without true classes.

    Notes
    -----
    The information to expect of random groups of the same sizes is summed exactly, in O(n) time for each class.

    References
    ----------
    .. [1] N. X. Vinh, J. Epps and J. Bailey, "Information theoretic measures for clusterings comparison: variants,
       properties, normalization and correction for chance", Journal of Machine Learning Research, 2010.

    Examples
    --------
    >>> from learnt.metrics import adjusted_mutual_info_score
    >>> adjusted_mutual_info_score([0, 0, 1, 1], [1, 1, 0, 0])
    1.0
    >>> round(adjusted_mutual_info_score([0, 0, 1, 1], [0, 0, 1, 2]), 2)
    0.57
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


@documented
def homogeneity_completeness_v_measure(
    labels_true: Any, labels_pred: Any, *, beta: float = 1.0
) -> tuple[float, float, float]:
    """Whether clusters hold one class each, whether classes lie in one cluster each, and the mean of both.

    All three from one count. Low homogeneity: clusters mix classes, and there may be too few. Low completeness: classes
    are split, and there may be too many.

    Parameters
    ----------
    labels_true : array-like of shape (n_samples,)
        The true groups of the rows: integers or strings, whose values mean nothing.
    labels_pred : array-like of shape (n_samples,)
        The groups that were found.
    beta : float, default=1.0
        How many times completeness weighs as much as homogeneity in the mean: more than 1 punishes split classes more,
        less than 1 mixed clusters.

    Returns
    -------
    homogeneity : float
        Between 0 and 1; 1 where each cluster holds rows of one class only.
    completeness : float
        Between 0 and 1; 1 where the rows of each class lie in one cluster.
    v_measure : float
        Their weighted harmonic mean.

    See Also
    --------
    homogeneity_score : The first alone.
    completeness_score : The second alone.
    v_measure_score : Their mean alone.
    adjusted_mutual_info_score : Corrected for chance.

    Notes
    -----
    Homogeneity is the mutual information over the entropy of the classes, completeness that over the entropy of the
    clusters.

    Examples
    --------
    >>> from learnt.metrics import homogeneity_completeness_v_measure
    >>> homogeneity, completeness, v = homogeneity_completeness_v_measure([0, 0, 1, 1], [0, 0, 1, 2])
    >>> round(homogeneity, 2), round(completeness, 2), round(v, 2)
    (1.0, 0.67, 0.8)
    """
    table = contingency_table(labels_true, labels_pred)
    information = _information(table)
    classes, clusters = _entropy(table.sum(axis=1)), _entropy(table.sum(axis=0))
    homogeneity = information / classes if classes else 1.0
    completeness = information / clusters if clusters else 1.0
    below = beta * homogeneity + completeness
    return homogeneity, completeness, (1 + beta) * homogeneity * completeness / below if below else 0.0


@documented
def homogeneity_score(labels_true: Any, labels_pred: Any) -> float:
    """Whether each cluster holds rows of one class only: 1 if so.

    The mutual information over the entropy of the classes. Clusters of one row each are homogeneous, so look at
    completeness too.

    Parameters
    ----------
    labels_true : array-like of shape (n_samples,)
        The true groups of the rows: integers or strings, whose values mean nothing.
    labels_pred : array-like of shape (n_samples,)
        The groups that were found.

    Returns
    -------
    homogeneity : float
        Between 0 and 1.

    See Also
    --------
    completeness_score : Whether each class lies in one cluster; this score with both labellings exchanged.
    v_measure_score : Both in one number.
    adjusted_mutual_info_score : Corrected for chance.

    References
    ----------
    .. [1] A. Rosenberg and J. Hirschberg, "V-measure: a conditional entropy-based external cluster evaluation measure",
       EMNLP-CoNLL, 2007.

    Examples
    --------
    >>> from learnt.metrics import homogeneity_score
    >>> round(homogeneity_score([0, 0, 1, 1], [0, 0, 1, 2]), 2), round(homogeneity_score([0, 0, 1, 1], [0, 0, 0, 0]), 2)
    (1.0, 0.0)
    """
    return homogeneity_completeness_v_measure(labels_true, labels_pred)[0]


@documented
def completeness_score(labels_true: Any, labels_pred: Any) -> float:
    """Whether the rows of each class lie in one cluster: 1 if so.

    The mutual information over the entropy of the clusters. A single cluster is complete, so look at homogeneity too.

    Parameters
    ----------
    labels_true : array-like of shape (n_samples,)
        The true groups of the rows: integers or strings, whose values mean nothing.
    labels_pred : array-like of shape (n_samples,)
        The groups that were found.

    Returns
    -------
    completeness : float
        Between 0 and 1.

    See Also
    --------
    homogeneity_score : Whether each cluster holds one class; this score with both labellings exchanged.
    v_measure_score : Both in one number.
    adjusted_mutual_info_score : Corrected for chance.

    References
    ----------
    .. [1] A. Rosenberg and J. Hirschberg, "V-measure: a conditional entropy-based external cluster evaluation measure",
       EMNLP-CoNLL, 2007.

    Examples
    --------
    >>> from learnt.metrics import completeness_score
    >>> classes = [0, 0, 1, 1]
    >>> round(completeness_score(classes, [0, 0, 1, 2]), 2), round(completeness_score(classes, [0, 0, 0, 0]), 2)
    (0.67, 1.0)
    """
    return homogeneity_completeness_v_measure(labels_true, labels_pred)[1]


@documented
def v_measure_score(labels_true: Any, labels_pred: Any, *, beta: float = 1.0) -> float:
    """The harmonic mean of homogeneity and completeness, (1 + β) h c / (β h + c).

    With β = 1 it is the normalised mutual information. Random clusters score the higher, the more of them there are:
    compare clusterings with different numbers of clusters by an adjusted score.

    Parameters
    ----------
    labels_true : array-like of shape (n_samples,)
        The true groups of the rows: integers or strings, whose values mean nothing.
    labels_pred : array-like of shape (n_samples,)
        The groups that were found.
    beta : float, default=1.0
        How many times completeness weighs as much as homogeneity: more than 1 punishes split classes more, less than 1
        mixed clusters.

    Returns
    -------
    v_measure : float
        Between 0 and 1; 1 for the same partition.

    See Also
    --------
    homogeneity_completeness_v_measure : Both parts and their mean at once.
    normalized_mutual_info_score : The same number with other means of the entropies.
    adjusted_mutual_info_score : Corrected for chance.
    adjusted_rand_score : Agreement on pairs of rows, corrected for chance.

    References
    ----------
    .. [1] A. Rosenberg and J. Hirschberg, "V-measure: a conditional entropy-based external cluster evaluation measure",
       EMNLP-CoNLL, 2007.

    Examples
    --------
    >>> from learnt.metrics import v_measure_score
    >>> round(v_measure_score([0, 0, 1, 1], [0, 0, 1, 2]), 2)
    0.8
    """
    return homogeneity_completeness_v_measure(labels_true, labels_pred, beta=beta)[2]
