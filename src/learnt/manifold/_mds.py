"""Multidimensional scaling: points whose distances are near to given ones."""

from __future__ import annotations

from typing import Any

import numpy as np
from sklearn.base import ClassNamePrefixFeaturesOutMixin, TransformerMixin

from learnt.distances import check_metric, distance_function
from learnt.engine.estimator import Estimator, Takes, Trial
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

    The stress falls by majorisation (`smacof`), from random points or from those of `ClassicalMDS`. Where `metric_mds`
    is False only the order of the dissimilarities counts: δ becomes the rising function of it that is nearest to d.

    Parameters
    ----------
    n_components : int, default=2
    metric_mds : bool, default=True
        False: only the order counts, and dissimilarities of 0 are missing.
    n_init : int, default=1
        Random starts.
    init : {"random", "classical_mds"}, default="random"
    max_iter : int, default=300
    verbose : int, default=0
    eps : float, default=1e-6
        As for `smacof`.
    n_jobs : int or None
        Kept for scikit-learn's sake: a step runs on all threads.
    random_state : None, int, RandomState or Generator
    dissimilarity : {"euclidean", "precomputed"}
        The old name of `metric`, which is taken where it is given.
    metric : str or callable, default="euclidean"
        As for `learnt.neighbors.NearestNeighbors`; "precomputed": X holds dissimilarities. True and False are taken for
        `metric_mds`, whose old name this is.
    metric_params : dict or None
    normalized_stress : bool or "auto", default="auto"
        Whether `stress_` is √(Σ (d − δ)² / Σ d²); "auto": where `metric_mds` is False.

    Attributes
    ----------
    embedding_ : array of shape (n_samples, n_components)
    stress_ : float
    dissimilarity_matrix_ : array of shape (n_samples, n_samples)
    n_iter_ : int
        Steps from the best start.
    n_features_in_, feature_names_in_
        As in scikit-learn.

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
        n_components=2,
        *,
        metric_mds=True,
        n_init=1,
        init="random",
        max_iter=300,
        verbose=0,
        eps=1e-6,
        n_jobs=None,
        random_state=None,
        dissimilarity="deprecated",
        metric="euclidean",
        metric_params=None,
        normalized_stress="auto",
    ):
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
        """Find points for the rows of X, or for rows whose dissimilarities X holds; `init`: points to start from."""
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
        """The points of the rows of X."""
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

    Of Euclidean distances these are the scores of `PCA`. Directions with an eigenvalue below 0 are 0.

    Parameters
    ----------
    n_components : int, default=2
    metric, metric_params :
        As for `MDS`.

    Attributes
    ----------
    embedding_ : array of shape (n_samples, n_components)
    dissimilarity_matrix_ : array of shape (n_samples, n_samples)
    eigenvalues_ : array of shape (n_components,)
        Falling.
    n_features_in_, feature_names_in_
        As in scikit-learn.

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

    def __init__(self, n_components=2, *, metric="euclidean", metric_params=None):
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
        """The points of the rows of X."""
        return self.fit(X).embedding_
