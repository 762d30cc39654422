"""t-SNE: a map in which neighbours stay neighbours."""

from __future__ import annotations

import warnings
from typing import Any

import numpy as np
from sklearn.utils import check_array

from learnt.decomposition import PCA
from learnt.distances import Search, check_metric, resolve_metric
from learnt.engine import progress
from learnt.engine.estimator import Estimator, Takes, Trial, Warm
from learnt.engine.matrices import Route, route, stored
from learnt.engine.mixins import ClassNamePrefixFeaturesOutMixin, TransformerMixin
from learnt.engine.params import ParameterError, check_choice, check_number, check_verbose
from learnt.engine.random import random_state_of
from learnt.engine.schema import FEATURES, Schema, count, number, real
from learnt.engine.validation import check_fit
from learnt.manifold._descent import Descent, descend
from learnt.manifold._divergence import BarnesHut, Divergence, Exact
from learnt.manifold._perplexity import conditional, joint

_SMALL = 1e-4  # the spread of the first map
_DIGITS = 24  # of square distances


class TSNE(ClassNamePrefixFeaturesOutMixin, TransformerMixin, Estimator):
    """A map of rows in which neighbours stay neighbours (van der Maaten and Hinton, 2008).

    For looking at clusters of rows in two dimensions. Distances between far groups and sizes of groups on the map mean
    little, and new rows cannot be placed; look at several perplexities. With very many columns, reduce them to about 50
    first (`PCA`, or `TruncatedSVD` for sparse rows).

    Parameters
    ----------
    n_components : int, default=2
        The number of dimensions of the map; 1, 2 or 3 with "barnes_hut".
    perplexity : float, default=30.0
        Roughly how many neighbours of a row count; less than the number of rows. Usually 5 to 50, more for more rows:
        small ones show local structure and may break groups apart, large ones the global shape.
    early_exaggeration : float, default=12.0
        By what P is multiplied in the first 250 iterations, which pulls groups together and leaves room between them.
    learning_rate : float or "auto", default="auto"
        The length of steps; "auto" is n_samples / early_exaggeration / 4, at least 50. Too
        small a rate leaves the points in one dense cloud, too large a one tears neighbours apart.
    max_iter : int, default=1000
        The most iterations, at least 250.
    n_iter_without_progress : int, default=300
        After how many iterations without progress to stop. The divergence is looked at every 50.
    min_grad_norm : float, default=1e-7
        The length of the gradient below which to stop.
    metric : str or callable, default="euclidean"
        The distance between rows: a name such as "euclidean" or "cosine", a function of two rows, or "precomputed",
        where X holds distances, or a sparse graph of enough neighbours of each row. Probabilities take squares of the
        distances.
    metric_params : dict or None, default=None
        Keyword arguments of the metric.
    init : {"pca", "random"} or ndarray of shape (n_samples, n_components), default="pca"
        The first map: "pca", principal components, scaled down, which keeps the global shape best; "random", small
        normal numbers; or the map that is given.
    verbose : int, default=0
        Log the divergence on the way to the logger "learnt" where it is more than 0.
    random_state : int, RandomState, Generator or None, default=None
        Where the first map comes from. Pass an integer for the same map every time.
    method : {"barnes_hut", "exact"}, default="barnes_hut"
        "barnes_hut" takes far points of the map together, in O(n log n) time an iteration; "exact" sums all pairs,
        O(n²).
    angle : float, default=0.5
        The size over the distance below which a cell of the map counts as one point for "barnes_hut": larger is faster
        and less exact; 0 is exact.
    n_jobs : int or None, default=None
        The most threads to use; None or -1 for all that this process may. The result does not depend on it.

    Attributes
    ----------
    embedding_ : ndarray of shape (n_samples, n_components)
        The map, in single precision.
    kl_divergence_ : float
        The divergence of the map; the smaller, the better, at the same perplexity.
    learning_rate_ : float
        The learning rate that was taken.
    n_iter_ : int
        The number of the last iteration, from 0.

    See Also
    --------
    learnt.decomposition.PCA : Linear, quick, and places new rows.
    SpectralEmbedding : Coordinates by a graph of neighbours.
    Isomap : Keeps distances along a surface.
    trustworthiness : How far neighbours on the map are neighbours in the data.

    Notes
    -----
    Each row has probabilities of choosing another as its neighbour, normal in their distance, as spread out as
    `perplexity` says; their mean over both directions is P. In the map the same are Student probabilities Q, and

        KL(P ‖ Q) = Σᵢⱼ pᵢⱼ log(pᵢⱼ / qᵢⱼ)

    goes down by gradient steps with momentum, at first with P times `early_exaggeration`. The objective is not convex:
    other starts give other maps. X may also be a SciPy sparse matrix.

    References
    ----------
    .. [1] L. van der Maaten and G. Hinton, "Visualizing data using t-SNE", Journal of Machine Learning Research 9,
       2008.
    .. [2] L. van der Maaten, "Accelerating t-SNE using tree-based algorithms", Journal of Machine Learning Research 15,
       2014.
    .. [3] A. C. Belkina et al., "Automated optimized parameters for t-distributed stochastic neighbor embedding improve
       visualization and analysis of large datasets", Nature Communications 10, 2019.

    Examples
    --------
    Two groups far apart stay apart on the map:

    >>> X = np.random.default_rng(0).normal(size=(20, 5))
    >>> X[10:] += 100.0
    >>> Y = TSNE(perplexity=5, random_state=0).fit_transform(X)
    >>> gap = np.linalg.norm(Y[:10].mean(axis=0) - Y[10:].mean(axis=0))
    >>> Y.shape, bool(gap > np.linalg.norm(Y[:10] - Y[:10].mean(axis=0), axis=1).max())
    ((20, 2), True)
    """

    __learnt_schema__ = Schema(
        state={
            **FEATURES,
            "embedding_": real("n", "k"),
            "kl_divergence_": number(),
            "learning_rate_": number(0),
            "n_iter_": count(),
        }
    )
    # The order of the rows is the order of sums, and rounding grows from step to step: short steps let it grow less.
    __learnt_trial__ = Trial(
        quick={"perplexity": 5.0, "max_iter": 250, "learning_rate": 0.01, "random_state": 0},
        warmup=(Warm("none", {"max_iter": 250, "perplexity": 3.0}),),
        any_order=False,
        most_rows=300,
    )

    _EXPLORATION_MAX_ITER = 250  # iterations with exaggeration
    _N_ITER_CHECK = 50

    def __init__(
        self,
        n_components: int = 2,
        *,
        perplexity: float = 30.0,
        early_exaggeration: float = 12.0,
        learning_rate: float | str = "auto",
        max_iter: int = 1000,
        n_iter_without_progress: int = 300,
        min_grad_norm: float = 1e-7,
        metric: Any = "euclidean",
        metric_params: dict | None = None,
        init: Any = "pca",
        verbose: int = 0,
        random_state: Any = None,
        method: str = "barnes_hut",
        angle: float = 0.5,
        n_jobs: int | None = None,
    ) -> None:
        self.n_components = n_components
        self.perplexity = perplexity
        self.early_exaggeration = early_exaggeration
        self.learning_rate = learning_rate
        self.max_iter = max_iter
        self.n_iter_without_progress = n_iter_without_progress
        self.min_grad_norm = min_grad_norm
        self.metric = metric
        self.metric_params = metric_params
        self.init = init
        self.verbose = verbose
        self.random_state = random_state
        self.method = method
        self.angle = angle
        self.n_jobs = n_jobs

    @property
    def __learnt_takes__(self) -> Takes:
        return Takes(sparse=True)

    @property
    def _n_features_out(self) -> int:
        return self.embedding_.shape[1]

    def fit(self, X: Any, y: Any = None) -> TSNE:
        """Find a map of the rows of X, or of rows whose distances X holds."""
        self._check()
        X = check_fit(self, X, order="C").X
        n = X.shape[0]
        if n <= self.perplexity:
            raise ValueError(
                f"perplexity ({self.perplexity}) must be less than n_samples ({n}): no row has so many neighbours."
            )
        start = self._start(X, random_state_of(self.random_state))
        P = joint(*self._neighbours(X))
        objective: Divergence
        if self.method == "exact":
            objective = Exact(P, self.n_components, self.n_jobs)
        else:
            objective = BarnesHut(P, self.n_components, float(self.angle), self.n_jobs)
        automatic = isinstance(self.learning_rate, str)
        self.learning_rate_ = max(n / self.early_exaggeration / 4, 50.0) if automatic else float(self.learning_rate)
        embedding = self._descend(objective, start)
        self.kl_divergence_ = objective(embedding)[0]
        self.embedding_ = embedding.astype(np.float32)
        return self

    def fit_transform(self, X: Any, y: Any = None) -> np.ndarray:
        """Find a map of the rows of X, and return it.

        Returns
        -------
        embedding : ndarray of shape (n_samples, n_components)
            The coordinates of the rows on the map, in single precision.
        """
        return self.fit(X).embedding_

    def _check(self) -> None:
        check_number(self, "n_components", 1, integer=True)
        check_number(self, "perplexity", 0, open_low=True)
        check_number(self, "early_exaggeration", 1)
        check_number(self, "learning_rate", 0, open_low=True, also=("auto",))
        check_number(self, "max_iter", 250, integer=True)
        check_number(self, "n_iter_without_progress", -1, integer=True)
        check_number(self, "min_grad_norm", 0)
        check_verbose(self)
        check_choice(self, "method", ("barnes_hut", "exact"))
        check_number(self, "angle", 0, 1)
        if not hasattr(self.init, "__array__"):
            check_choice(self, "init", ("pca", "random"))
        if self.method == "barnes_hut" and self.n_components > 3:
            raise ParameterError(
                "'n_components' should be inferior to 4 for the barnes_hut algorithm as it relies on quad-tree or "
                "oct-tree; take method='exact'."
            )
        check_metric("TSNE", self.metric)
        if self._given and isinstance(self.init, str) and self.init == "pca":
            raise ParameterError(
                'The parameter init="pca" cannot be used with metric="precomputed": there are no rows to project; give '
                'init="random" or a map.'
            )

    @property
    def _given(self) -> bool:
        return isinstance(self.metric, str) and self.metric == "precomputed"

    def _start(self, X: Any, draw: np.random.RandomState) -> np.ndarray:
        shape = X.shape[0], self.n_components
        if hasattr(self.init, "__array__"):
            start = check_array(self.init, dtype=np.float64)
            if start.shape != shape:
                raise ValueError(f"init has shape {start.shape}; give a row for each sample, {shape}.")
            return start
        if self.init == "random":
            return _SMALL * draw.standard_normal(size=shape)
        scores = np.asarray(
            PCA(self.n_components, random_state=draw).set_output(transform="default").fit_transform(X), dtype=np.float64
        )
        spread = float(scores[:, 0].std())
        return scores * (_SMALL / spread) if spread > 0 else np.zeros(shape)

    def _neighbours(self, X: Any) -> tuple[np.ndarray, np.ndarray]:
        """Neighbours of each row, and their probabilities."""
        n = X.shape[0]
        metric, params = resolve_metric(self.metric, 2, self.metric_params)
        check_metric("TSNE", metric, X)
        if self._given:
            if X.shape[0] != X.shape[1]:
                raise ValueError(f"X should be a square distance matrix; its shape is {X.shape}.")
            if route(X) is Route.SPARSE and self.method == "exact":
                raise TypeError(
                    "TSNE with method='exact' takes no sparse matrix of precomputed distances; use 'barnes_hut' or a "
                    "dense matrix."
                )
        values = stored(X)
        if self._given and values.size and values.min() < 0:
            raise ValueError(
                "Negative values in data passed to TSNE.fit(). With metric='precomputed', X should contain positive "
                "distances."
            )
        k = n - 1 if self.method == "exact" else min(n - 1, int(3.0 * self.perplexity + 1))
        with warnings.catch_warnings():
            warnings.filterwarnings("ignore", "The function given as metric is not one")  # an error below
            search = Search.build(X, metric, params, algorithm="auto", n_jobs=self.n_jobs)
        distances, index = search.nearest(None, k, n_jobs=self.n_jobs)
        if distances.min(initial=0.0) < 0:
            raise ValueError("All distances should be positive, the metric given is not correct.")
        with np.errstate(over="ignore"):
            squares = np.square(distances, dtype=np.float64)
        if not np.isfinite(squares).all():
            raise ValueError("Squares of the distances are infinite or NaN; scale the columns of X before TSNE.")
        return index, conditional(_rounded(squares), float(self.perplexity))

    def _descend(self, objective: Divergence, Y: np.ndarray) -> np.ndarray:
        middle = min(self._EXPLORATION_MAX_ITER, self.max_iter)
        early = Descent(
            rate=self.learning_rate_,
            momentum=0.5,
            exaggeration=float(self.early_exaggeration),
            patience=self._EXPLORATION_MAX_ITER,
            least_gradient=float(self.min_grad_norm),
            check=self._N_ITER_CHECK,
            verbose=bool(self.verbose),
        )
        late = early._replace(momentum=0.8, exaggeration=1.0, patience=self.n_iter_without_progress)
        with progress.task("TSNE fit", self.max_iter) as bar:
            last = 0
            if middle:
                Y, last = descend(objective, Y, 0, middle, early, bar.advance)
            if middle < self.max_iter:
                Y, last = descend(objective, Y, last + 1 if middle else 0, self.max_iter, late, bar.advance)
        self.n_iter_ = last
        return Y

    def __sklearn_tags__(self) -> Any:
        tags = super().__sklearn_tags__()
        tags.input_tags.pairwise = self._given
        return tags


def _rounded(squares: np.ndarray) -> np.ndarray:
    """With 24 binary digits: the same map whether X holds rows or distances that differ in their last bits."""
    digits, power = np.frexp(squares)
    return np.ldexp(np.rint(digits * 2.0**_DIGITS), power - _DIGITS)
