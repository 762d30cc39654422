"""Naive Bayes on histograms: the density of every feature in every class is a histogram."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np

from learnt.engine.arrays import namespace, to_numpy
from learnt.engine.estimator import Takes, Trial
from learnt.engine.params import ParameterError, check_number
from learnt.engine.rows import Block, as_rows
from learnt.engine.schema import Dims, Schema, listof, real
from learnt.naive_bayes._counts import COUNTED, CountsNB, logs, shares_of
from learnt.naive_bayes._one_hot import bin_indicators, by_feature
from learnt.statistics import Moments, bins_of_size, moments, of_classes, scott_width

_RULES = ("scott", "sturges", "rice", "sqrt")
_MOST_BINS = 256  # the most bins by a rule: a few outliers would otherwise require any number


def rising_edges(model: Any, state: dict[str, Any], dims: Dims) -> str | None:
    """The rule of model files: edges rise, and there is a count and a density for every bin."""
    for edges, counts, density in zip(state["bin_edges_"], state["bin_count_"], state["feature_log_density_"]):
        if len(edges) < 2 or not (edges[1:] > edges[:-1]).all():
            return "has edges of bins that do not rise"
        if counts.shape[1] != len(edges) - 1 or density.shape[1] != len(edges) - 1:
            return "has other numbers of counts than of bins"
    return None


class HistogramNB(CountsNB):
    """Classify by Bayes' rule, every feature having a histogram in every class, independent of the others.

    p(c | x) ∝ π_c Π_j p_cj(x_j),        p_cj(x) = (N_cjb + α) / (N_c + α m_j) / width of x's bin b

    N_cjb is the number of rows of class c whose feature j is in bin b, m_j the number of bins, the same for all
    classes. Beyond the training rows the outer bins go on. Take it in place of `GaussianNB` where features are skewed
    or have several peaks, and there are rows enough to fill the bins.

    Parameters
    ----------
    bins : {"scott", "sturges", "rice", "sqrt"}, int, or array-like of edges, default="scott"
        How many bins of equal width each feature has: by Scott's rule, a width of 3.49 σ m^(−1/3) with σ the standard
        deviation within the classes and m the mean number of rows of a class; log₂ m + 1 of them; 2 ∛m; √m; a number;
        or the edges themselves, one list for all features or a list of lists. More bins follow the data more closely,
        and overfit more easily.
    alpha : float, default=1.0
        Smoothing α: rows in each bin, counted beforehand in each class. With 0 the densities are `numpy.histogram`'s;
        more of it flattens them, against overfitting.
    fit_prior : bool, default=True
        Whether π are the frequencies of the classes; False: all alike, which helps rare classes.
    class_prior : array-like of shape (n_classes,), default=None
        The probabilities π of the classes, where known: set them where the classes are as rare elsewhere as they are
        not in the training rows. None takes what `fit_prior` says.

    Attributes
    ----------
    classes_ : ndarray of shape (n_classes,)
        The labels, sorted.
    class_count_ : ndarray of shape (n_classes,)
        Total weight of the rows of each class.
    class_log_prior_ : ndarray of shape (n_classes,)
        log π: logarithms of the probabilities of the classes.
    bin_edges_ : list of ndarrays of shape (n_bins + 1 of the feature,)
        Where the bins of each feature begin and end.
    bin_count_ : list of ndarrays of shape (n_classes, n_bins of the feature)
        N_cjb of each feature: total weight of the rows of each class in each bin.
    feature_log_density_ : list of ndarrays of shape (n_classes, n_bins of the feature)
        log p_cj of each feature.

    See Also
    --------
    GaussianNB : A normal density instead of a histogram.
    MixedNB : For columns of different kinds.
    learnt.density.Histogram : The density of all columns together.
    learnt.preprocessing.KBinsDiscretizer : Bins as columns, for any classifier.

    Notes
    -----
    A pass over the rows for the bins and one for the counts: O(n d) time. `partial_fit` keeps the bins of its first
    piece.

    Examples
    --------
    >>> from learnt.naive_bayes import HistogramNB
    >>> X = [[0.1], [0.2], [0.3], [0.7], [0.8], [0.9]]
    >>> model = HistogramNB(bins=2).fit(X, ["a", "a", "b", "b", "b", "b"])
    >>> model.predict([[0.15], [0.85]])
    array(['a', 'b'], dtype='<U1')
    """

    __learnt_schema__ = Schema(
        state={
            **COUNTED,
            "bin_edges_": listof(real(None), "d"),
            "bin_count_": listof(real("c", None, low=0), "d"),
            "feature_log_density_": listof(real("c", None), "d"),
        },
        rule=rising_edges,
    )
    __learnt_takes__ = Takes(tensors=True, lazy=True)
    __learnt_trial__ = Trial(quick={"bins": 7}, weight_unit_free=False)

    force_alpha = True

    def __init__(
        self, *, bins: Any = "scott", alpha: float = 1.0, fit_prior: bool = True, class_prior: Any = None
    ) -> None:
        self.bins = bins
        self.alpha = alpha
        self.fit_prior = fit_prior
        self.class_prior = class_prior

    def linear_form(self) -> tuple[np.ndarray, Any]:
        """Return weights w and offset b of the equivalent linear classifier, on indicators of the bins.

        The columns are every bin of the first feature, then of the second, and so on.

        Returns
        -------
        w : ndarray of shape (n_bins of all features,) or (n_classes, n_bins of all features)
            Weights: for two classes one vector, for more a row a class.
        b : float or ndarray of shape (n_classes,)
            The offsets: for two classes the second is predicted where w·x + b > 0, for more the class with the largest
            w_c·x + b_c.
        """
        return super().linear_form()

    def _check_parameters(self) -> None:
        super()._check_parameters()
        check_number(self, "alpha", 0)
        if isinstance(self.bins, str) and self.bins not in _RULES:
            allowed = ", ".join(map(repr, _RULES))
            raise ParameterError(f"bins must be one of {allowed}, a number or edges; it is {self.bins!r}.")
        if np.ndim(self.bins) == 0 and not isinstance(self.bins, str):
            check_number(self, "bins", 1, integer=True)

    def _prepare(self, X: Any, codes: Any, w: Any, classes: Any, first: bool) -> None:
        if not first:
            return
        if np.ndim(self.bins) == 0 or isinstance(self.bins, str):
            low, high = as_rows(X).reduce(_range, _wider)
            found = moments(as_rows(X, codes, w), of_classes(classes, codes)).to_numpy() if self._by_rule else None
            self.bin_edges_ = equal_bins(low, high, self.bins, found)
        else:
            self.bin_edges_ = given_edges(self.bins, self.n_features_in_)

    @property
    def _by_rule(self) -> bool:
        return isinstance(self.bins, str)

    def _cells(self, X: Any) -> tuple[int, Callable[..., Any], tuple]:
        return sum(len(edges) - 1 for edges in self.bin_edges_), bin_indicators, (self.bin_edges_,)

    _cells_of_answers = _cells

    def _counts(self) -> np.ndarray:
        return np.concatenate(self.bin_count_, axis=1)

    def _estimate(self, counts: np.ndarray, alpha: Any) -> None:
        self.bin_count_ = by_feature(counts, np.array([len(edges) - 1 for edges in self.bin_edges_]))
        smoothed = [n + alpha for n in self.bin_count_]
        shares = [shares_of(n, n.sum(axis=1, keepdims=True)) for n in smoothed]
        self.feature_log_density_ = [logs(p) - np.log(np.diff(e)) for p, e in zip(shares, self.bin_edges_)]

    def _linear(self) -> tuple[np.ndarray, np.ndarray]:
        return np.concatenate(self.feature_log_density_, axis=1), self.class_log_prior_


def equal_bins(low: np.ndarray, high: np.ndarray, bins: Any, found: Moments | None) -> list[np.ndarray]:
    """Edges of bins of equal width between the ends of each feature; of a constant one, half a unit to both sides."""
    flat = high <= low
    half = np.where(flat, 0.5 + 1e-9 * np.abs(low), 0.0)
    low, high = low - half, high + half
    number = np.full(len(low), bins) if found is None else by_rule(high - low, bins, found)
    return [np.linspace(lo, hi, int(m) + 1) for lo, hi, m in zip(low, high, number)]


def by_rule(span: np.ndarray, rule: str, found: Moments) -> np.ndarray:
    """The number of bins of each feature, from the mean number of rows of a class and the deviations within classes."""
    weight = found.weight[found.weight > 0]
    rows = max(float(weight.mean()), 1.0)
    if rule == "scott":
        deviation = np.sqrt(found.within() / weight.sum())
        number = span / np.maximum(scott_width(deviation, np.cbrt(rows)), span / _MOST_BINS)
    else:
        number = np.full(len(span), bins_of_size(rows, rule))
    # Not a bin more because of rounding.
    return np.clip(np.ceil(number * (1 - 1e-12)), 1, _MOST_BINS)


def given_edges(bins: Any, n_features: int) -> list[np.ndarray]:
    """The edges that were given, for all features or for each."""
    lists = [bins] * n_features if np.ndim(bins[0]) == 0 else list(bins)
    edges = [np.asarray(one, dtype=np.float64) for one in lists]
    if len(edges) != n_features:
        raise ValueError(f"bins has edges for {len(edges)} features, and X has {n_features}; give a list for each.")
    for j, one in enumerate(edges):
        if one.ndim != 1 or len(one) < 2 or not np.isfinite(one).all() or not (np.diff(one) > 0).all():
            raise ValueError(f"The edges of feature {j} in bins must be two or more rising numbers; they are {one}.")
    return edges


def _range(block: Block) -> tuple[np.ndarray, np.ndarray]:
    """The smallest and the largest cell of each feature of a block."""
    xp = namespace(block.X)
    low, high = (to_numpy(end(block.X, axis=0)).astype(np.float64) for end in (xp.min, xp.max))
    return low, high


def _wider(total: tuple | None, part: tuple) -> tuple:
    return part if total is None else (np.minimum(total[0], part[0]), np.maximum(total[1], part[1]))
