"""The histogram as a density."""

from __future__ import annotations

import math
import warnings
from typing import Any

import numpy as np

from learnt.density._base import Density, check_sample, mapped
from learnt.engine.estimator import Takes, Trial
from learnt.engine.params import ParameterError, check_number
from learnt.engine.random import random_state_of
from learnt.engine.rows import as_rows, in_memory
from learnt.engine.rows.blocks import Block
from learnt.engine.schema import FEATURES, Dims, Schema, listof, number, real
from learnt.engine.targets import require_one_weight_a_row
from learnt.engine.validation import check_fit
from learnt.statistics import BIN_RULES, edges_by_rule, sorted_column

_MOST_CELLS = 1 << 24


class Histogram(Density):
    """Rows counted in bins:  p(x) = N_l / (N V_l),  l the bin that x is in, V_l its width or volume.

    The density to look at first, of one or two features. With several features the bins are the cells of a grid, which
    are soon too many to be filled: from four features on a `DensityTree` does better.

    Parameters
    ----------
    bins : {"scott", "fd", "shimazaki", "cv", "stone", "sturges", "rice", "sqrt", "auto"}, int, array of edges, or a \
list with one of these for each feature, default="scott"
        The bins of each feature: so many of equal width, these edges, or a rule. "scott" (Scott) and "fd" (Freedman and
        Diaconis) set the width by the spread and the number of rows; "shimazaki" (Shimazaki and Shinomoto) and "cv"
        (cross-validated, which NumPy calls "stone") look for the width of least error; "sturges", "rice" and "sqrt" set
        the number of bins by that of the rows; "auto" is NumPy's. Rules that NumPy has give its bins. More bins show
        finer detail, and more of the chance in it.
    alpha : float, default=0
        Smoothing: rows counted in each cell beforehand. With 0 the density is 0 in empty cells, and log p is −∞ there.
    contamination : float, default=0.1
        The share of the training rows that `predict` is to call novelties (−1), from 0 to 0.5: what precision and
        recall of novelties are traded by. The density does not depend on it.

    Attributes
    ----------
    bin_edges_ : list of ndarrays of shape (n_bins of the feature + 1,)
        Where the bins of each feature begin and end.
    counts_ : ndarray with an axis for each feature
        The weight of the rows in each cell.
    density_ : ndarray of the same shape
        p in each cell.
    outside_ : float
        The weight of training rows beyond edges that were given.
    offset_ : float
        The log density below which a row is a novelty.

    See Also
    --------
    DensityTree : Bins that follow the rows, for more features.
    learnt.neighbors.KernelDensity : A smooth density.
    learnt.naive_bayes.HistogramNB : A classifier of histograms, one for each column and class.

    Notes
    -----
    Rules read one feature at a time. The grid may have 2²⁴ cells at most.

    References
    ----------
    .. [1] David W. Scott, "On Optimal and Data-Based Histograms", Biometrika, 1979.
    .. [2] David Freedman and Persi Diaconis, "On the Histogram as a Density Estimator: L2 Theory", Zeitschrift für
       Wahrscheinlichkeitstheorie und verwandte Gebiete, 1981.
    .. [3] Hideaki Shimazaki and Shigeru Shinomoto, "A Method for Selecting the Bin Size of a Time Histogram", Neural
       Computation, 2007.

    Examples
    --------
    >>> import numpy as np
    >>> from learnt.density import Histogram
    >>> model = Histogram(bins=2).fit([[0.0], [1.0], [2.0], [4.0]])
    >>> model.bin_edges_[0], model.counts_
    (array([0., 2., 4.]), array([2., 2.]))
    >>> np.exp(model.score_samples([[0.5], [9.0]]))
    array([0.25, 0.  ])
    """

    __learnt_schema__ = Schema(
        state={
            **FEATURES,
            "bin_edges_": listof(real(None), "d"),
            "counts_": lambda value, dims: real(*[None] * dims["d"], low=0)(value, dims),
            "density_": lambda value, dims: real(*[None] * dims["d"], low=0)(value, dims),
            "outside_": number(0),
            "offset_": number(),
        },
        rule=lambda model, state, dims: _disproved(state, dims),
    )
    __learnt_takes__ = Takes(lazy=True)
    # A grid of the 30 features of scikit-learn's check of weights has too many cells; tests/density has a smaller one.
    __learnt_trial__ = Trial(quick={"bins": 3}, weight_repeats=False)

    def __init__(self, *, bins: Any = "scott", alpha: float = 0.0, contamination: float = 0.1) -> None:
        self.bins = bins
        self.alpha = alpha
        self.contamination = contamination

    def fit(self, X: Any, y: Any = None, sample_weight: Any = None) -> Histogram:
        """Count the rows in their bins; a weight of 2 counts a row twice, 0 not at all."""
        check_number(self, "alpha", 0.0)
        self._check_contamination()
        X, _, w = check_fit(self, X, None, sample_weight)
        if w is not None:
            w = in_memory(w)
            require_one_weight_a_row(as_rows(X).n_rows, len(w))
        self.bin_edges_ = self._edges(X, w)
        shape = tuple(len(e) - 1 for e in self.bin_edges_)
        cells = in_memory(mapped(X, _cell_of_block, self.bin_edges_))
        total = float(len(cells) if w is None else w.sum())
        here = cells >= 0
        counts = np.bincount(cells[here], None if w is None else w[here], minlength=math.prod(shape))
        self.counts_ = counts.reshape(shape).astype(np.float64)
        inside = float(self.counts_.sum())
        self.outside_ = max(total - inside, 0.0)
        if inside == 0:
            raise ValueError("No row lies between the edges given in `bins`; give edges around the rows.")
        smoothed = self.counts_ + self.alpha
        with np.errstate(over="ignore", divide="ignore", invalid="ignore"):
            self.density_ = smoothed / smoothed.sum() / _volumes(self.bin_edges_)
        if not (np.isfinite(self.density_).all() and (self.density_ > 0).any()):
            raise ValueError(
                "The bins of Histogram are too wide or too narrow for their volume to be a number in float64; bring "
                "the columns to ordinary units first."
            )
        self._set_offset(X, w)
        if not math.isfinite(self.offset_):  # rows beyond the edges: whatever lies inside is no novelty
            self.offset_ = math.log(self.density_[self.density_ > 0].min())
        return self

    def _edges(self, X: Any, w: Any) -> list[np.ndarray]:
        d = X.shape[1]
        each = _one_for_each(self.bins, d)
        edges = []
        for j, bins in enumerate(each):
            if isinstance(bins, np.ndarray):
                edges.append(bins)
                continue
            column = sorted_column(in_memory(mapped(X, _column_of_block, j)), w, d)
            if column.range == 0:
                warnings.warn(
                    f"Feature {j} is constant, so it has one bin of width 1 around its value; drop it, or give edges.",
                    UserWarning,
                    stacklevel=3,
                )
            edges.append(edges_by_rule(column, bins))
        cells = math.prod(len(e) - 1 for e in edges)
        if cells > _MOST_CELLS:
            raise ValueError(
                f"A grid of {' × '.join(str(len(e) - 1) for e in edges)} bins has {cells:.3g} cells, more than "
                f"{_MOST_CELLS}; set bins to fewer, or take a DensityTree, whose cells are where the rows are."
            )
        return edges

    def _log_density(self, X: Any) -> Any:
        with np.errstate(divide="ignore"):
            return mapped(X, _log_density_of_block, self.bin_edges_, np.log(self.density_))

    def sample(self, n_samples: int = 1, random_state: Any = None) -> np.ndarray:
        """Return rows drawn from the density, (n_samples, n_features): a cell by its share, then anywhere in it.

        Parameters
        ----------
        n_samples : int, default=1
            How many rows to draw.

        Returns
        -------
        X : ndarray of shape (n_samples, n_features)
            The rows.
        """
        check_sample(self, n_samples)
        random = random_state_of(random_state)
        shares = np.cumsum((self.density_ * _volumes(self.bin_edges_)).ravel())
        flat = np.searchsorted(shares, random.random_sample(n_samples) * shares[-1], side="right")
        index = np.unravel_index(np.minimum(flat, len(shares) - 1), self.density_.shape)
        within = random.random_sample((n_samples, len(index)))
        columns = [e[i] + u * (e[i + 1] - e[i]) for e, i, u in zip(self.bin_edges_, index, within.T, strict=True)]
        return np.stack(columns, axis=1)


def _one_for_each(bins: Any, d: int) -> list[Any]:
    """A rule, a number or edges for each feature."""
    several = isinstance(bins, list | tuple) and any(isinstance(b, str | list | tuple | np.ndarray) for b in bins)
    if d > 1 and isinstance(bins, list | tuple) and len(bins) == d:  # so many bins each, as NumPy reads it, not edges
        several = several or all(isinstance(b, int | np.integer) for b in bins)
    if not several:
        return [_checked(bins)] * d
    if len(bins) != d:
        raise ParameterError(f"bins has {len(bins)} entries and X has {d} features; give one for each, or one for all.")
    return [_checked(b) for b in bins]


def _checked(bins: Any) -> Any:
    if isinstance(bins, str):
        if bins not in BIN_RULES:
            raise ParameterError(
                f"The 'bins' parameter of Histogram must be one of {', '.join(map(repr, BIN_RULES))}, a whole number "
                f"of at least 1, or edges. Got {bins!r} instead."
            )
        return bins
    if np.ndim(bins) == 0:
        if isinstance(bins, bool) or not isinstance(bins, int | np.integer) or bins < 1:
            raise ParameterError(
                "The 'bins' parameter of Histogram must be a rule, a whole number of at least 1, or edges. "
                f"Got {bins!r} instead."
            )
        return int(bins)
    edges = np.asarray(bins, dtype=np.float64)
    if edges.ndim != 1 or len(edges) < 2 or not np.isfinite(edges).all() or not (np.diff(edges) > 0).all():
        raise ParameterError(
            "The edges in `bins` must be at least two finite numbers, each larger than the one before."
        )
    return edges


def _volumes(edges: list[np.ndarray]) -> np.ndarray:
    """The volume of each cell of the grid."""
    volume = np.ones(())
    for e in edges:
        volume = volume[..., None] * np.diff(e)
    return volume


def _column_of_block(block: Block, j: int) -> np.ndarray:
    return block.X[:, j]


def _cell_of_block(block: Block, edges: list[np.ndarray]) -> np.ndarray:
    """The number of each row's cell, the last feature's counting fastest; −1 beyond the edges."""
    X = block.X
    inside = np.ones(X.shape[0], dtype=bool)
    cell = np.zeros(X.shape[0], dtype=np.int64)
    for j, e in enumerate(edges):
        x = X[:, j]
        inside &= (x >= e[0]) & (x <= e[-1])
        place = np.clip(np.searchsorted(e, x, side="right") - 1, 0, len(e) - 2)  # the last bin has both its edges
        cell = cell * (len(e) - 1) + place
    return np.where(inside, cell, -1)


def _log_density_of_block(block: Block, edges: list[np.ndarray], table: np.ndarray) -> np.ndarray:
    cell = _cell_of_block(block, edges)
    return np.where(cell >= 0, table.ravel()[cell], -np.inf)


def _disproved(state: dict[str, Any], dims: Dims) -> str | None:
    edges = state["bin_edges_"]
    if any(len(e) < 2 or not (e[1:] > e[:-1]).all() for e in edges):
        return "has edges of bins that do not rise"
    with np.errstate(over="ignore"):
        if not all(np.isfinite(e[-1] - e[0]) for e in edges):
            return "has bins wider than any number"
    shape = tuple(len(e) - 1 for e in edges)
    if state["counts_"].shape != shape or state["density_"].shape != shape:
        return "has other numbers of counts than of bins"
    with np.errstate(over="ignore"):
        total = state["density_"].sum()
    return None if 0 < total < np.inf else "has no density anywhere, or one without an end"
