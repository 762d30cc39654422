"""Tests of many groups or columns at once, so that noise among them is seldom taken for a finding.

Each test is valid for small counts too; `holm` corrects for how many were made, whatever their dependence.
"""

from __future__ import annotations

import numpy as np
from scipy.special import chdtrc, gammaln, kolmogorov, ndtr, stdtr

LEVEL = 0.05  # the chance that anything is flagged where there is nothing
LEAST_EXPECTED = 5.0  # rows in a cell of a table that is tested by chi-square


def holm(p_values: np.ndarray) -> np.ndarray:
    """P-values corrected for their number (Holm): those below 5% have a false one among them 5% of the time at most.

    >>> holm(np.array([0.01, 0.04, 0.03])).round(3).tolist()
    [0.03, 0.06, 0.06]
    """
    order = np.argsort(p_values, kind="stable")
    factors = len(p_values) - np.arange(len(p_values))
    raised = np.maximum.accumulate(np.minimum(p_values[order] * factors, 1.0))
    corrected = np.empty(len(p_values))
    corrected[order] = raised
    return corrected


def share_differs(inside: int, rows: int, total: int, all_rows: int) -> float:
    """Fisher's exact test: `inside` of the `rows` of a group are hits, `total` of `all_rows` are; two-sided.

    >>> round(share_differs(0, 5, 5, 10), 4)  # 2 / C(10, 5)
    0.0079
    """
    least, most = max(0, rows + total - all_rows), min(rows, total)
    k = np.arange(least, most + 1)
    logs = _choices(total, k) + _choices(all_rows - total, rows - k) - _choices(all_rows, np.array(rows))
    chances = np.exp(logs)
    below, above = chances[k <= inside].sum(), chances[k >= inside].sum()
    return float(min(2 * min(below, above), 1.0))


def _choices(n: int, k: np.ndarray) -> np.ndarray:
    """The logarithm of n over k."""
    return gammaln(n + 1) - gammaln(k + 1) - gammaln(n - k + 1)


def rank_differs(ranks: np.ndarray, inside: np.ndarray) -> float:
    """Wilcoxon's rank-sum test of a group against all other rows, ties and finite numbers allowed for; two-sided."""
    n, rows = len(ranks), int(inside.sum())
    if rows in (0, n):
        return 1.0
    variance = ranks.var(ddof=1) * (1 - rows / n) / rows
    if variance <= 0:
        return 1.0
    z = (ranks[inside].mean() - ranks.mean()) / np.sqrt(variance)
    return float(2 * ndtr(-abs(z)))


def clusters_differ(values: np.ndarray, inside: np.ndarray, clusters: np.ndarray) -> float:
    """Whether a group's mean differs where rows of a cluster are alike: a t-test; two-sided.

    The k rows of a cluster in the group vary as k(1 + (k - 1)ρ) independent ones, ρ being the correlation of rows of
    one cluster, from all of them: the few clusters of a group may look alike by chance.
    """
    _, codes = np.unique(clusters, return_inverse=True)
    own = np.bincount(codes[inside])
    own = own[own > 0].astype(np.float64)
    variance = float(values.var())
    if len(own) < 2 or inside.all() or variance == 0:
        return 1.0
    together = float((own * (1 + (own - 1) * _alike(values, codes))).sum())
    gap = values[inside].mean() - values.mean()
    z = gap * own.sum() / np.sqrt(variance * together * (1 - inside.mean()))
    return float(2 * stdtr(len(own) - 1, -abs(z)))


def _alike(values: np.ndarray, codes: np.ndarray) -> float:
    """The correlation of two rows of one cluster, by analysis of variance; from 0 to 1.

    >>> _alike(np.array([0.0, 0.0, 1.0, 1.0]), np.array([0, 0, 1, 1]))
    1.0
    """
    sizes = np.bincount(codes).astype(np.float64)
    n, k = len(values), len(sizes)
    if k < 2 or n <= k:
        return 1.0
    means = np.bincount(codes, weights=values) / sizes
    between = float((sizes * (means - values.mean()) ** 2).sum()) / (k - 1)
    within = float(((values - means[codes]) ** 2).sum()) / (n - k)
    size = (n - (sizes**2).sum() / n) / (k - 1)
    return float(min(max((between - within) / (between + (size - 1) * within), 0.0), 1.0))


def distance_of(a: np.ndarray, b: np.ndarray) -> float:
    """Kolmogorov and Smirnov's distance: the greatest gap between two cumulative shares.

    >>> distance_of(np.array([1.0, 2.0]), np.array([3.0, 4.0]))
    1.0
    """
    a, b = np.sort(a), np.sort(b)
    places = np.concatenate([a, b])
    gaps = np.searchsorted(a, places, side="right") / len(a) - np.searchsorted(b, places, side="right") / len(b)
    return float(np.abs(gaps).max())


def distance_p(distance: float, n: float, m: float) -> float:
    """The chance of such a distance between samples of n and m rows of one distribution (asymptotic, conservative)."""
    return float(kolmogorov(np.sqrt(n * m / (n + m)) * distance))


def counts_differ(a: np.ndarray, b: np.ndarray) -> float:
    """Pearson's chi-square test of two rows of counts; values of which too few are expected are taken together.

    >>> counts_differ(np.array([50, 50]), np.array([50, 50]))
    1.0
    """
    both = a + b
    expected = both * min(a.sum(), b.sum()) / max(both.sum(), 1)
    rare = expected < LEAST_EXPECTED
    if rare.any():
        a, b = (np.append(part[~rare], part[rare].sum()) for part in (a, b))
        both = a + b
        expected = both * min(a.sum(), b.sum()) / max(both.sum(), 1)
        if 0 < expected[-1] < LEAST_EXPECTED and len(both) > 2:  # together they are still rare: leave them out
            a, b, both = a[:-1], b[:-1], both[:-1]
    kept = both > 0
    a, b, both = a[kept], b[kept], both[kept]
    if len(both) < 2 or not a.sum() or not b.sum():
        return 1.0
    square = 0.0
    for part in (a, b):
        wanted = both * part.sum() / both.sum()
        square += float(((part - wanted) ** 2 / wanted).sum())
    return float(chdtrc(len(both) - 1, square))
