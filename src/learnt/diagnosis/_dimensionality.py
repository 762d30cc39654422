"""The curse of dimensionality, measured: how local neighbours are, and how many dimensions the rows really have."""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np
from scipy.special import gammaincinv

from learnt.diagnosis._intervals import Interval
from learnt.distances import dimension_sums
from learnt.drawing.svg import ACCENT, SECOND, Chart, number, percent, picture, tag, text
from learnt.engine.estimator import Estimator
from learnt.engine.random import generator
from learnt.engine.validation import check_fit
from learnt.neighbors import NearestNeighbors

_BINS = 40


class Dimensionality(NamedTuple):
    """What `dimensionality` measured: a named tuple with one sentence of advice and a picture.

    Parameters
    ----------
    n_rows : int
        The rows that were looked at, equal ones counted once.
    n_features : int
        Their columns.
    n_neighbors : int
        The k of the neighbours that were measured.
    edge_length : float
        The edge of a cube that holds k of n rows spread evenly over the unit cube, (k / n)^(1 / n_features).
    local_edge_length : float
        The same with the intrinsic dimension, in which the rows really spread.
    concentration : float
        The mean distance to the k-th neighbour over that of any two rows; near 1, all rows are as far away.
    spread : float
        The standard deviation of the distances of two rows over their mean, which falls like 1 / √dimension.
    intrinsic : Interval
        The intrinsic dimension, with a 95 % interval (of sampling alone).
    advice : str
        One sentence: whether neighbours are near.
    nearest_distances : ndarray of shape (n_rows,)
        The distance of each row to its k-th neighbour.
    pair_distances : ndarray
        Distances of rows drawn in pairs.

    See Also
    --------
    dimensionality : Computes it.
    intrinsic_dimension : The dimension alone.

    Examples
    --------
    >>> import numpy as np
    >>> from learnt.diagnosis import dimensionality
    >>> found = dimensionality(np.random.default_rng(0).normal(size=(500, 100)))
    >>> bool(found.concentration > 0.7)  # in 100 dimensions neighbours are hardly nearer than other rows
    True
    """

    n_rows: int
    n_features: int
    n_neighbors: int
    edge_length: float
    local_edge_length: float
    concentration: float
    spread: float
    intrinsic: Interval
    advice: str
    nearest_distances: np.ndarray
    pair_distances: np.ndarray

    def plot(self) -> Chart:
        """Draw distances to the k-th neighbour beside those of any two rows: where they overlap, none is near.

        Returns
        -------
        chart : learnt.plots.Chart
            A picture as SVG text, which notebooks show.
        """
        return _drawn(self)


def intrinsic_dimension(first: np.ndarray, second: np.ndarray, level: float = 0.95) -> Interval:
    """The dimension from the distances to the first and second neighbour of each row (TwoNN, Facco et al., 2017).

    How many numbers are needed to tell where a row lies, however many columns there are: 2 for a sheet rolled up in 100
    columns.

    Parameters
    ----------
    first : array-like of shape (n_samples,)
        The distance of each row to its nearest neighbour.
    second : array-like of shape (n_samples,)
        The distance of each row to its second neighbour.
    level : float, default=0.95
        Confidence of the interval.

    Returns
    -------
    dimension : Interval
        The estimate with the ends of its interval; infinite where first and second neighbours are all equally far.

    See Also
    --------
    dimensionality : Finds the neighbours, and says what follows from the dimension.

    Notes
    -----
    log(r₂ / r₁) is exponential with rate d wherever the density is even at that scale. The largest tenth of the ratios
    counts only as being large (a censored sample), so that 2 d Σ is χ² with two degrees of freedom a ratio believed.

    References
    ----------
    .. [1] E. Facco, M. d'Errico, A. Rodriguez and A. Laio, "Estimating the intrinsic dimension of datasets by a minimal
       neighborhood information", Scientific Reports, 2017.

    Examples
    --------
    >>> import numpy as np
    >>> from learnt.diagnosis import intrinsic_dimension
    >>> rng = np.random.default_rng(0)
    >>> found = intrinsic_dimension(np.ones(4000), np.exp(rng.exponential(1 / 3, size=4000)))
    >>> bool(found.covers(3.0))
    True
    """
    found = dimension_sums(first, second)
    seen, total = found
    if total == 0:
        return Interval(np.inf, 0.0, np.inf)
    tail = (1 - level) / 2
    low, high = (float(gammaincinv(seen, q)) / total for q in (tail, 1 - tail))
    return Interval(found.estimate, low, high)


def dimensionality(X: Any, *, n_neighbors: int = 10, max_rows: int = 5000, random_state: Any = 0) -> Dimensionality:
    """Measure whether neighbours are near: whether methods that look at similar rows can work on this table.

    The curse of dimensionality, in numbers. Where neighbours are not near, k-nearest neighbours, kernels and density
    estimates have little to go on. Distances are Euclidean: bring columns to one scale first, as you would for the
    model.

    Parameters
    ----------
    X : array-like of shape (n_samples, n_features)
        Finite numbers.
    n_neighbors : int, default=10
        The k of the neighbours that are measured: that of the model you have in mind.
    max_rows : int, default=5000
        Rows that are looked at, drawn at random where there are more.
    random_state : int, RandomState, Generator or None, default=0
        Where the draws come from.

    Returns
    -------
    found : Dimensionality
        With `advice`, one sentence; `concentration`, `intrinsic` and the other numbers; and `plot()`, one picture.

    Raises
    ------
    ValueError
        Where X has no more than `n_neighbors` different rows, or fewer than 3.

    See Also
    --------
    intrinsic_dimension : The dimension alone, from distances.
    learnt.decomposition.PCA : Reduces the columns.
    learnt.neighbors.KNeighborsClassifier : A method that needs near neighbours.

    Notes
    -----
    Neighbours are searched exactly: up to O(m² d) time for the m ≤ `max_rows` different rows.

    Examples
    --------
    >>> import numpy as np
    >>> from learnt.diagnosis import dimensionality
    >>> found = dimensionality(np.random.default_rng(0).uniform(size=(1000, 2)))
    >>> found.edge_length
    0.1
    >>> bool(1.5 < found.intrinsic.estimate < 2.5)
    True
    """
    X = check_fit(_Table(), X, order="C").X
    rng = generator(random_state)
    n, d = X.shape
    sample = X if n <= max_rows else X[np.sort(rng.choice(n, max_rows, replace=False))]
    points = np.unique(sample.astype(np.float64), axis=0)
    m = points.shape[0]
    k = n_neighbors
    if m < 3 or m <= k:
        raise ValueError(
            f"dimensionality looks at {k} neighbours of each row, and X has too few different rows for that, {m} of "
            f"{n}; give more rows or a smaller n_neighbors."
        )
    distances = NearestNeighbors(n_neighbors=max(k, 2)).fit(points).kneighbors()[0]
    dimension = intrinsic_dimension(distances[:, 0], distances[:, 1])
    nearest = distances[:, k - 1]
    left, right = rng.integers(m, size=(2, 20_000))
    apart = np.linalg.norm(points[left] - points[right], axis=1)[left != right]
    concentration, spread = float(nearest.mean() / apart.mean()), float(apart.std() / apart.mean())
    share = min(k / n, 1.0)
    edge, local = share ** (1 / d), share ** (1 / max(dimension.estimate, 1.0))
    advice = _advise(n, d, k, local, concentration, dimension)
    return Dimensionality(m, d, k, edge, local, concentration, spread, dimension, advice, nearest, apart)


def _advise(n: int, d: int, k: int, local: float, concentration: float, dimension: Interval) -> str:
    shown = f"{dimension.estimate:.1f}" if np.isfinite(dimension.estimate) else "many"
    reach = f"{k} neighbours reach {percent(local)} of the way"
    seen = f"The {n} rows spread in about {shown} dimensions ({d} columns), and {reach}"
    if local > 0.5 or concentration > 0.7:
        return (
            f"{seen} along each: neighbours are not near, so reduce or select columns, or take models that assume a "
            "shape (linear, additive, trees) rather than similar rows."
        )
    if local > 0.25:
        return f"{seen} along each: neighbours are only roughly near, so compare them with models that assume a shape."
    return f"{seen} along each: neighbours are near, so that methods by similar rows can work."


class _Table(Estimator):
    """The name used in errors of the checks of X."""


_Table.__name__ = "dimensionality"


def _ordinal(k: int) -> str:
    """
    >>> [_ordinal(k) for k in (1, 2, 3, 10, 11, 22)]
    ['1st', '2nd', '3rd', '10th', '11th', '22nd']
    """
    return f"{k}{'th' if k % 100 // 10 == 1 else {1: 'st', 2: 'nd', 3: 'rd'}.get(k % 10, 'th')}"


def _drawn(found: Dimensionality) -> Chart:
    width, height, left, bottom = 520.0, 240.0, 20.0, 200.0
    end = float(max(found.pair_distances.max(), found.nearest_distances.max())) or 1.0
    step = (width - 2 * left) / _BINS
    body = []
    for values, color, label, row in (
        (found.pair_distances, ACCENT, "any two rows", 0),
        (found.nearest_distances, SECOND, f"a row and its {_ordinal(found.n_neighbors)} neighbour", 1),
    ):
        counts = np.histogram(values, bins=_BINS, range=(0.0, end))[0]
        heights = 160.0 * counts / counts.max()
        body += [
            tag("rect", x=left + i * step, y=bottom - h, width=step, height=h, fill=color, fill_opacity=0.5)
            for i, h in enumerate(heights)
            if h > 0
        ]
        body.append(text(left, 16 + 16 * row, f"■ {label}", fill=color))
    body.append(tag("line", x1=left, x2=width - left, y1=bottom, y2=bottom, stroke="currentColor"))
    body.append(text(left, bottom + 18, "0"))
    body.append(text(width - left, bottom + 18, number(end), text_anchor="end"))
    body.append(text(width / 2, bottom + 34, "distance", text_anchor="middle"))
    return picture(width, height, body, "Distances to neighbours and between any two rows", found.advice)
