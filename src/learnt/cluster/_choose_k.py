"""How many clusters: elbow, silhouette, gap."""

from __future__ import annotations

import warnings
from collections.abc import Iterable
from dataclasses import dataclass
from typing import Any

import numpy as np
from sklearn.exceptions import ConvergenceWarning

from learnt.cluster._kmeans import KMeans
from learnt.drawing.frame import Frame, legend
from learnt.drawing.svg import ACCENT, MUTED, Chart, number
from learnt.engine.documentation import documented
from learnt.engine.mixins import BaseEstimator
from learnt.engine.params import check_choice, check_number
from learnt.engine.progress import track
from learnt.engine.random import random_state_of
from learnt.engine.validation import check_fit
from learnt.metrics import silhouette_score

_METHODS = ("elbow", "silhouette", "gap")
_WORDS = {
    "elbow": "within-cluster sum of squares",
    "silhouette": "mean silhouette",
    "gap": "gap",
}


@dataclass(frozen=True)
class ChosenK:
    """A number of clusters and what it was chosen by; notebooks show the picture.

    Parameters
    ----------
    k : int
        The number of clusters that was chosen.
    method : {"elbow", "silhouette", "gap"}
        What it was chosen by.
    candidates : ndarray of shape (n_candidates,)
        The numbers that were tried.
    inertia : ndarray of shape (n_candidates,)
        The inertia of k-means for each.
    scores : ndarray of shape (n_candidates,)
        What was compared: the inertia again ("elbow"), mean silhouettes (NaN for one cluster), or gaps.
    spread : ndarray of shape (n_candidates,) or None, default=None
        Standard errors of the gaps; None with another method.

    See Also
    --------
    choose_k : Makes it.

    Examples
    --------
    >>> X = np.r_[np.arange(5.0), 50 + np.arange(5.0)][:, None]
    >>> choose_k(X, range(2, 5), method="silhouette", random_state=0).k
    2
    """

    k: int
    method: str
    candidates: np.ndarray
    inertia: np.ndarray  # of k-means, for each candidate
    scores: np.ndarray  # the inertia again (elbow), mean silhouettes (NaN for one cluster), or gaps
    spread: np.ndarray | None = None  # standard errors of the gaps

    def plot(self) -> Chart:
        """The scores of all candidates, and the chosen one.

        Returns
        -------
        chart : Chart
            A picture (SVG) that notebooks show; `str` gives its text.
        """
        known = np.isfinite(self.scores)
        spread = np.zeros(len(self.scores)) if self.spread is None else self.spread
        low, high = float((self.scores - spread)[known].min()), float((self.scores + spread)[known].max())
        room = 0.08 * (high - low) or 0.1
        first, last = float(self.candidates[0]), float(self.candidates[-1])
        frame = Frame((first - 0.3, last + 0.3), (low - room, high + room), left=60, top=26)
        shown = self.candidates if len(self.candidates) <= 12 else self.candidates[:: len(self.candidates) // 8]
        frame.axes("clusters", _WORDS[self.method], x_ticks=[float(k) for k in shown])
        at = float(self.scores[self.candidates == self.k][0])
        frame.line([self.k, self.k], [low - room, high + room], color=MUTED, width=1.2, dash="4 4", label="chosen")
        if self.spread is not None:
            frame.whiskers(self.candidates, self.scores - spread, self.scores + spread)
        frame.line(self.candidates, self.scores)
        labels = [
            f"{k} clusters: {number(float(s))}" for k, s in zip(self.candidates[known], self.scores[known], strict=True)
        ]
        frame.dots(self.candidates[known], self.scores[known], labels=labels)
        legend(frame, [(_WORDS[self.method], ACCENT), (f"chosen: {self.k}", MUTED)])
        return frame.close(
            f"Clusters by {self.method}", f"{self.k} clusters are chosen; their {_WORDS[self.method]} is {number(at)}."
        )

    def _repr_svg_(self) -> str:
        return str(self.plot())


class _ChooseK(BaseEstimator):
    """Carries parameters to the checks, and the function's name to their messages."""

    def __init__(self, method: str, n_references: int, n_init: int, sample_size: int | None) -> None:
        self.method, self.n_references, self.n_init, self.sample_size = method, n_references, n_init, sample_size


_ChooseK.__name__ = "choose_k"


@documented
def choose_k(
    X: Any,
    candidates: Iterable[int] = range(1, 11),
    *,
    method: str = "gap",
    n_references: int = 10,
    n_init: int = 3,
    sample_size: int | None = 5000,
    random_state: Any = None,
) -> ChosenK:
    """A number of clusters for `KMeans`, with a picture.

    Parameters
    ----------
    X : array-like of shape (n_samples, n_features)
        The rows to cluster.
    candidates : iterable of int, default=range(1, 11)
        The numbers of clusters to try.
    method : {"gap", "silhouette", "elbow"}, default="gap"
        What to choose by.

        - "gap": the least k whose gap is within a standard error of the largest (after [2]_). gap(k) is how much lower
          log inertia is than for rows without clusters, drawn evenly from the box of the principal axes. May choose 1:
          no clusters.
        - "silhouette": the largest mean silhouette [1]_; at least 2.
        - "elbow": where log inertia stops falling most sharply: neither the first candidate nor the last.
    n_references : int, default=10
        Tables without clusters that "gap" compares with. More are more exact, and take longer.
    n_init : int, default=3
        Starts of each k-means.
    sample_size : int or None, default=5000
        Rows that silhouettes are computed from, at most: they take time in proportion to the square. None for all.

    Returns
    -------
    chosen : ChosenK
        The number `k`, what it was chosen from (`candidates`, `inertia`, `scores`), and a picture (`plot`).

    See Also
    --------
    KMeans : Clusters rows into so many.
    learnt.metrics.silhouette_score : How well one clustering separates the rows.
    HDBSCAN : Finds the number of clusters by itself.

    Notes
    -----
    One k-means for each candidate; "gap" fits `n_references` times as many again.

    References
    ----------
    .. [1] P. J. Rousseeuw, "Silhouettes: a graphical aid to the interpretation and validation of cluster analysis",
       Journal of Computational and Applied Mathematics 20, 1987.
    .. [2] R. Tibshirani, G. Walther, T. Hastie, "Estimating the number of clusters in a data set via the gap
       statistic", Journal of the Royal Statistical Society B 63, 2001.

    Examples
    --------
    >>> rng = np.random.default_rng(0)
    >>> X = rng.normal(size=(300, 2)) + 10.0 * np.repeat(np.array([[0, 0], [0, 1], [1, 0]]), 100, axis=0)
    >>> [choose_k(X, range(1, 7), method=m, random_state=0).k for m in ("elbow", "silhouette", "gap")]
    [3, 3, 3]
    """
    settings = _ChooseK(method, n_references, n_init, sample_size)
    check_choice(settings, "method", _METHODS)
    check_number(settings, "n_references", 2, integer=True)
    check_number(settings, "n_init", 1, integer=True)
    check_number(settings, "sample_size", 3, integer=True, also=(None,))
    X = np.asarray(check_fit(settings, X, min_rows=2).X, dtype=np.float64)
    ks = np.array(sorted(set(candidates)), dtype=np.int64)
    _check_candidates(ks, len(X), method)
    draw = random_state_of(random_state)
    inertia, labels = _inertias(X, ks, n_init, draw)
    if method == "elbow":
        return ChosenK(_elbow(ks, inertia), method, ks, inertia, inertia)
    if method == "silhouette":
        sample = min(sample_size or len(X), len(X))
        scores = np.array([_silhouette(X, one, sample) for one in labels])
        if np.isnan(scores).all():
            raise ValueError("Rows of X that are all equal have no silhouettes; give other rows, or use method='gap'.")
        return ChosenK(int(ks[np.nanargmax(scores)]), method, ks, inertia, scores)
    gaps, spread = _gaps(X, ks, inertia, n_references, draw)
    return ChosenK(_first_large(ks, gaps, spread), method, ks, inertia, gaps, spread)


def _check_candidates(ks: np.ndarray, n: int, method: str) -> None:
    least = {"elbow": 3, "silhouette": 1, "gap": 2}[method]
    if ks.size < least or ks[0] < 1:
        raise ValueError(
            f"method={method!r} compares at least {least} candidates of 1 or more clusters; got {ks.tolist()}."
        )
    if ks[-1] > n - (method == "silhouette"):
        raise ValueError(f"X has {n} rows, too few for {ks[-1]} clusters; leave the largest candidates out.")
    if method == "silhouette" and ks[-1] < 2:
        raise ValueError("One cluster has no silhouette; give a candidate of 2 or more, or use method='gap'.")


def _inertias(
    X: np.ndarray, ks: np.ndarray, n_init: int, draw: np.random.RandomState
) -> tuple[np.ndarray, list[np.ndarray]]:
    """Inertia and labels of k-means for each k."""
    inertia, labels = [], []
    for k in track(ks.tolist(), "choosing k"):
        with warnings.catch_warnings():
            warnings.simplefilter("ignore", ConvergenceWarning)  # fewer different rows than clusters
            model = KMeans(k, n_init=n_init, random_state=draw.randint(2**31 - 1)).fit(X)
        inertia.append(model.inertia_)
        labels.append(model.labels_)
    return np.array(inertia), labels


def _elbow(ks: np.ndarray, inertia: np.ndarray) -> int:
    """The candidate where log inertia stops falling most sharply: its slope before less its slope after.

    >>> _elbow(np.array([1, 2, 3, 4]), np.array([100.0, 60.0, 8.0, 7.0]))
    3
    """
    if inertia[0] <= 0:  # all rows are equal
        return int(ks[0])
    logs = np.log(np.maximum(inertia, np.finfo(float).eps * inertia[0]))
    slopes = np.diff(logs) / np.diff(ks)
    return int(ks[1:-1][np.diff(slopes).argmax()])


def _silhouette(X: np.ndarray, labels: np.ndarray, sample: int) -> float:
    """The mean silhouette of `sample` rows; NaN for one cluster."""
    index = np.linspace(0, len(X) - 1, sample).astype(np.int64)
    n_labels = len(np.unique(labels[index]))
    return silhouette_score(X[index], labels[index]) if 1 < n_labels < sample else np.nan


def _gaps(
    X: np.ndarray, ks: np.ndarray, inertia: np.ndarray, n_references: int, draw: np.random.RandomState
) -> tuple[np.ndarray, np.ndarray]:
    """log inertia without clusters less log inertia, and its standard error."""
    middle = X.mean(axis=0)
    _, _, Vt = np.linalg.svd(np.linalg.qr(X - middle, mode="r"), full_matrices=False)
    Z = (X - middle) @ Vt.T
    low, high = Z.min(axis=0), Z.max(axis=0)
    logs = np.array([_log(_inertias(draw.uniform(low, high, Z.shape), ks, 1, draw)[0]) for _ in range(n_references)])
    return logs.mean(axis=0) - _log(inertia), logs.std(axis=0) * np.sqrt(1 + 1 / n_references)


def _log(inertia: np.ndarray) -> np.ndarray:
    return np.log(np.maximum(inertia, np.finfo(float).tiny))


def _first_large(ks: np.ndarray, gaps: np.ndarray, spread: np.ndarray) -> int:
    """The least candidate whose gap is within a standard error of the largest.

    >>> _first_large(np.array([1, 2, 3]), np.array([0.1, 0.9, 1.0]), np.array([0.2, 0.2, 0.2]))
    2
    """
    top = int(gaps.argmax())
    return int(ks[(gaps >= gaps[top] - spread[top]).argmax()])
