"""Multidimensional scaling: points whose distances are near to given ones."""

from __future__ import annotations

from typing import Any

import numpy as np

from learnt.distances import check_metric, distance_function
from learnt.engine.estimator import Estimator, Takes, Trial
from learnt.engine.mixins import ClassNamePrefixFeaturesOutMixin, TransformerMixin
from learnt.engine.params import ParameterError, check_choice, check_flag, check_number, check_verbose
from learnt.engine.schema import FEATURES, Schema, count, number, real
from learnt.engine.threads import for_blocks
from learnt.engine.validation import check_fit
from learnt.manifold._classical import principal_coordinates
from learnt.manifold._smacof import checked_dissimilarities, smacof

_CELLS = 1 << 18  # distances of a block


def dissimilarities_of(name: str, X: np.ndarray, metric: Any, params: dict | None) -> np.ndarray:
    """All distances between the rows of X, or X itself where it holds them."""
    check_metric(name, metric, X)
    if isinstance(metric, str) and metric == "precomputed":
        return checked_dissimilarities(X)
    function = distance_function(X, metric, params)
    D = np.empty((len(X), len(X)))

    def fill(lo: int, hi: int) -> None:
        D[lo:hi] = function(X[lo:hi], X)

    for_blocks(fill, len(X), grain=max(1, _CELLS // len(X)))
    np.fill_diagonal(D, 0.0)
    return D


class _Scaling(ClassNamePrefixFeaturesOutMixin, TransformerMixin, Estimator):
    """What both kinds share: their rows are mapped while they are fitted."""

    metric: Any
    embedding_: np.ndarray

    @property
    def __learnt_takes__(self) -> Takes:
        return Takes()

    @property
    def _n_features_out(self) -> int:
        return self.embedding_.shape[1]

    def _metric(self) -> Any:
        return self.metric

    def __sklearn_tags__(self) -> Any:
        tags = super().__sklearn_tags__()
        metric = self._metric()
        tags.input_tags.pairwise = isinstance(metric, str) and metric == "precomputed"
        return tags


class MDS(_Scaling):
    """Points whose distances are near to the dissimilarities of rows: the least stress Σᵢ<ⱼ (dᵢⱼ − δᵢⱼ)².

    Take it to draw a map of objects of which only dissimilarities are known, or whose distances, near and far, should
    be kept.

    Parameters
    ----------
    n_components : int, default=2
        The number of dimensions of the embedding; 2 for a map to look at.
    metric_mds : bool, default=True
        Whether the dissimilarities count as numbers. False: only their order counts (nonmetric MDS), and those of 0 are
        missing.
    n_init : int, default=1
        How many random starts to make; the best end is kept. More find a lower stress.
    init : {"random", "classical_mds"}, default="random"
        Where to start: "random" points, or those of `ClassicalMDS`, a good start that is always the same.
    max_iter : int, default=300
        The most steps from each start.
    verbose : int, default=0
        Log the stress of each step to the logger "learnt" where it is more than 0.
    eps : float, default=1e-6
        Stopping tolerance: by how much less the stress must become in a step, as a share of the sum of squared
        distances.
    n_jobs : int or None, default=None
        Kept for scikit-learn's signature: a step runs on all threads.
    random_state : int, RandomState, Generator or None, default=None
        Where random starts come from. Pass an integer for the same map every time.
    dissimilarity : {"euclidean", "precomputed"}, default="deprecated"
        Deprecated; the old name of `metric`, which is taken where it is given.
    metric : str or callable, default="euclidean"
        The distance between rows: a name such as "euclidean", "manhattan" or "cosine", a function of two rows, or
        "precomputed", where X holds dissimilarities. True and False are taken for `metric_mds`, whose old name this is.
    metric_params : dict or None, default=None
        Keyword arguments of the metric.
    normalized_stress : bool or "auto", default="auto"
        Whether `stress_` is √(Σ (d − δ)² / Σ d²), which does not depend on scale; "auto" is True where `metric_mds` is
        False.

    Attributes
    ----------
    embedding_ : ndarray of shape (n_samples, n_components)
        The points, one for each row.
    stress_ : float
        Their stress; the smaller, the better. Normalised, 0.2 is poor, 0.1 fair and 0.05 good by a rule of Kruskal's.
    dissimilarity_matrix_ : ndarray of shape (n_samples, n_samples)
        The dissimilarities δ between the rows.
    n_iter_ : int
        How many steps were made from the best start.

    See Also
    --------
    ClassicalMDS : By eigenvectors, without a start or iterations.
    smacof : The same of given dissimilarities, as a function.
    Isomap : Keeps distances along a curved surface.
    TSNE : Keeps neighbours instead of distances.

    Notes
    -----
    The stress falls at every step by majorisation (SMACOF) [2]_. Nonmetric, δ becomes the rising function of the
    dissimilarities that is nearest to d [3]_. A step takes O(n²) time for n rows. Only a local minimum is found. New
    rows cannot be placed: there is no `transform`.

    References
    ----------
    .. [1] I. Borg and P. J. F. Groenen, "Modern Multidimensional Scaling", Springer, 2005.
    .. [2] J. de Leeuw, "Applications of convex analysis to multidimensional scaling", Recent Developments in
       Statistics, 1977.
    .. [3] J. B. Kruskal, "Nonmetric multidimensional scaling: a numerical method", Psychometrika 29, 1964.

    Examples
    --------
    >>> X = np.random.default_rng(0).normal(size=(10, 3))
    >>> model = MDS(init="classical_mds").fit(X)
    >>> model.embedding_.shape, bool(model.stress_ < 60)
    ((10, 2), True)
    """

    __learnt_schema__ = Schema(
        state={
            **FEATURES,
            "embedding_": real("n", "k"),
            "stress_": number(0),
            "dissimilarity_matrix_": real("n", "n"),
            "n_iter_": count(),
        }
    )
    # Points are given to rows, so that they come in the order of the rows.
    __learnt_trial__ = Trial(
        quick={"init": "classical_mds", "max_iter": 10, "random_state": 0}, any_order=False, most_rows=300
    )

    def __init__(
        self,
        n_components: int = 2,
        *,
        metric_mds: bool = True,
        n_init: int = 1,
        init: str = "random",
        max_iter: int = 300,
        verbose: int = 0,
        eps: float = 1e-6,
        n_jobs: int | None = None,
        random_state: Any = None,
        dissimilarity: str = "deprecated",
        metric: Any = "euclidean",
        metric_params: dict | None = None,
        normalized_stress: bool | str = "auto",
    ) -> None:
        self.n_components = n_components
        self.metric_mds = metric_mds
        self.n_init = n_init
        self.init = init
        self.max_iter = max_iter
        self.verbose = verbose
        self.eps = eps
        self.n_jobs = n_jobs
        self.random_state = random_state
        self.dissimilarity = dissimilarity
        self.metric = metric
        self.metric_params = metric_params
        self.normalized_stress = normalized_stress

    def fit(self, X: Any, y: Any = None, init: Any = None) -> MDS:
        """Find points for the rows of X, or for rows whose dissimilarities X holds.

        Parameters
        ----------
        init : array-like of shape (n_samples, n_components), default=None
            Points to start from, in place of what the parameter `init` says.
        """
        self._check()
        X = check_fit(self, X, order="C").X
        D = dissimilarities_of("MDS", X, self._metric(), self.metric_params)
        self.dissimilarity_matrix_ = D
        if init is None and self.init == "classical_mds":
            init = principal_coordinates(D, self.n_components)[1]
        self.embedding_, self.stress_, self.n_iter_ = smacof(
            D,
            metric=self.metric if isinstance(self.metric, bool) else self.metric_mds,
            n_components=self.n_components,
            init=init,
            n_init=self.n_init,
            max_iter=self.max_iter,
            verbose=self.verbose,
            eps=self.eps,
            random_state=self.random_state,
            return_n_iter=True,
            normalized_stress=self.normalized_stress,
        )
        return self

    def fit_transform(self, X: Any, y: Any = None, init: Any = None) -> np.ndarray:
        """Find points for the rows of X, and return them.

        Parameters
        ----------
        init : array-like of shape (n_samples, n_components), default=None
            Points to start from, in place of what the parameter `init` says.
        """
        return self.fit(X, init=init).embedding_

    def _metric(self) -> Any:
        if isinstance(self.metric, bool):
            return "euclidean" if self.dissimilarity == "deprecated" else self.dissimilarity
        return self.metric if self.dissimilarity == "deprecated" else self.dissimilarity

    def _check(self) -> None:
        check_number(self, "n_components", 1, integer=True)
        check_flag(self, "metric_mds")
        check_number(self, "n_init", 1, integer=True)
        check_choice(self, "init", ("random", "classical_mds", "warn"))  # scikit-learn's name of "random" for now
        check_number(self, "max_iter", 1, integer=True)
        check_verbose(self)
        check_number(self, "eps", 0)
        check_choice(self, "dissimilarity", ("euclidean", "precomputed", "deprecated"))
        check_choice(self, "normalized_stress", ("auto", True, False))
        if self.dissimilarity != "deprecated" and self.metric not in ("euclidean", True, False):
            raise ParameterError("MDS got `dissimilarity` and `metric`, two names of one thing; give metric alone.")


class ClassicalMDS(_Scaling):
    """Points by eigenvectors: those of −½ H D² H, H = I − 11ᵀ/n, times the roots of its eigenvalues (Torgerson, 1952).

    Of Euclidean distances these are the scores of `PCA`. Take it for a quick map of distances without random starts,
    and as a start of `MDS`.

    Parameters
    ----------
    n_components : int, default=2
        The number of dimensions of the embedding; 2 for a map to look at.
    metric : str or callable, default="euclidean"
        The distance between rows: a name such as "euclidean", "manhattan" or "cosine", a function of two rows, or
        "precomputed", where X holds all distances.
    metric_params : dict or None, default=None
        Keyword arguments of the metric.

    Attributes
    ----------
    embedding_ : ndarray of shape (n_samples, n_components)
        The points, one for each row.
    dissimilarity_matrix_ : ndarray of shape (n_samples, n_samples)
        The distances D between the rows.
    eigenvalues_ : ndarray of shape (n_components,)
        The largest eigenvalues, falling; how much of the distances each dimension explains.

    See Also
    --------
    MDS : Fits distances instead of their squares, by iterations.
    Isomap : The same with distances along a curved surface.
    learnt.decomposition.PCA : The same of Euclidean distances, for many rows, with `transform`.

    Notes
    -----
    Directions with an eigenvalue below 0, which distances that are not Euclidean can have, are 0. O(n²) memory and up
    to O(n³) time for n rows. New rows cannot be placed: there is no `transform`.

    References
    ----------
    .. [1] W. S. Torgerson, "Multidimensional scaling: I. Theory and method", Psychometrika 17, 1952.

    Examples
    --------
    >>> ClassicalMDS(1).fit_transform([[0.0], [1.0], [5.0]]).ravel().round(6).tolist()
    [-2.0, -1.0, 3.0]
    """

    __learnt_schema__ = Schema(
        state={
            **FEATURES,
            "embedding_": real("n", "k"),
            "dissimilarity_matrix_": real("n", "n"),
            "eigenvalues_": real("k"),
        }
    )
    __learnt_trial__ = Trial(any_order=False, most_rows=300)

    def __init__(self, n_components: int = 2, *, metric: Any = "euclidean", metric_params: dict | None = None) -> None:
        self.n_components = n_components
        self.metric = metric
        self.metric_params = metric_params

    def fit(self, X: Any, y: Any = None) -> ClassicalMDS:
        """Find points for the rows of X, or for rows whose dissimilarities X holds."""
        check_number(self, "n_components", 1, integer=True)
        X = check_fit(self, X, order="C").X
        D = dissimilarities_of("ClassicalMDS", X, self.metric, self.metric_params)
        self.dissimilarity_matrix_ = D
        self.eigenvalues_, self.embedding_ = principal_coordinates(D, self.n_components)
        return self

    def fit_transform(self, X: Any, y: Any = None) -> np.ndarray:
        """Find points for the rows of X, and return them."""
        return self.fit(X).embedding_
