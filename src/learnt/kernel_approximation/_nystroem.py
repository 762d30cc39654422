"""Nyström's approximation of any kernel."""

from __future__ import annotations

import warnings
from typing import Any

import numpy as np

from learnt.engine.arrays import like, namespace, to_device_of, to_numpy
from learnt.engine.estimator import Estimator, Takes, Trial
from learnt.engine.matrices import cast, dense, on_host, take_rows
from learnt.engine.mixins import ClassNamePrefixFeaturesOutMixin, TransformerMixin
from learnt.engine.params import check_number
from learnt.engine.random import random_state_of
from learnt.engine.rows.blocks import widen
from learnt.engine.schema import FEATURES, Schema, anyof, choice, instance, integers, none, number, real, table
from learnt.engine.threads import single_blas
from learnt.engine.validation import check_fit, check_predict
from learnt.kernels import (
    KERNEL_NAMES,
    check_kernel,
    gram,
    gram_times,
    kernel_of,
    kernel_rule,
    require_room,
    sample_places,
    warn_unless_positive,
)
from learnt.linalg import decompositions


class Nystroem(ClassNamePrefixFeaturesOutMixin, TransformerMixin, Estimator):
    """Features φ(x) = K_bb^(−½) k(b, x) from some rows b: φ(x)ᵀφ(z) is k(x, z), projected on what b spans.

    A linear model on these features approximates a kernel machine at a cost linear in the rows. Take it in a pipeline
    before `LinearSVC`, `Ridge` or `SGDClassifier` where rows are too many for the kernel matrix.

    Parameters
    ----------
    kernel : str, kernel object or callable, default="rbf"
        The kernel to approximate. A name: "linear", "poly" or "polynomial", "rbf", "laplacian", "sigmoid", "cosine",
        "chi2", "additive_chi2", or "precomputed", where X is the kernel matrix itself; a kernel of `learnt.kernels` or
        of scikit-learn; or a function of two rows that returns a number.
    gamma : float or None, default=None
        γ of the "rbf", "laplacian", "poly", "sigmoid" and "chi2" kernels; larger values see finer detail. None means
        1 / n_features (1 for "chi2").
    coef0 : float or None, default=None
        The constant added inside the "poly" and "sigmoid" kernels; None means 1.
    degree : float or None, default=None
        Degree of the "poly" kernel; None means 3.
    kernel_params : dict or None, default=None
        Keyword arguments passed to `kernel` where it is a function.
    n_components : int, default=100
        How many rows to take, which is also the number of features. More come nearer to the exact kernel: raise it
        against underfitting until the validation score no longer improves. All rows give the kernel exactly.
    random_state : int, RandomState, Generator or None, default=None
        Draws the rows. Pass an integer to get the same features every time.
    n_jobs : int or None, default=None
        Kept for scikit-learn's signature: blocks are computed on all threads.

    Attributes
    ----------
    components_ : {ndarray, sparse matrix} of shape (n_components, n_features)
        The rows b.
    component_indices_ : ndarray of shape (n_components,)
        Where these rows are in the training data.
    normalization_ : ndarray of shape (n_components, n_components)
        K_bb^(−½), the inverse square root of their kernel matrix.

    See Also
    --------
    RBFSampler : Random features of the "rbf" kernel, which do not look at the rows.
    PolynomialCountSketch : Random features of polynomial kernels.
    learnt.decomposition.KernelPCA : The main directions of the exact kernel.
    learnt.svm.SVC : The exact kernel machine, for fewer rows.

    Notes
    -----
    For m components, `fit` takes time in m²d + m³ whatever the number of rows; `transform` takes n·m·(d + m). Rows are
    drawn uniformly, without replacement.

    References
    ----------
    .. [1] C. K. I. Williams, M. Seeger, "Using the Nyström method to speed up kernel machines", NIPS, 2001.
    .. [2] T. Yang, Y.-F. Li, M. Mahdavi, R. Jin, Z.-H. Zhou, "Nyström method vs random Fourier features: a theoretical
       and empirical comparison", NIPS, 2012.

    Examples
    --------
    >>> X = [[0.0], [1.0], [2.0]]
    >>> features = Nystroem(gamma=0.5, n_components=3, random_state=0).fit_transform(X)
    >>> (features @ features.T).round(4)
    array([[1.    , 0.6065, 0.1353],
           [0.6065, 1.    , 0.6065],
           [0.1353, 0.6065, 1.    ]])
    """

    __learnt_schema__ = Schema(
        params={
            "kernel": anyof(choice(*KERNEL_NAMES, "precomputed"), instance(object, "a kernel")),
            "gamma": anyof(none, number(0)),
            "degree": anyof(none, number(0)),
            "coef0": anyof(none, number()),
        },
        state={
            **FEATURES,
            "components_": table("k", "d"),
            "component_indices_": integers("k"),
            "normalization_": real("k", "k"),
        },
        rule=lambda model, state, dims: (
            kernel_rule(model, state, {**dims, "n": dims["d"]})
            or (
                None
                if model.kernel != "precomputed" or state["component_indices_"].max(initial=0) < dims["d"]
                else "has components that its matrix does not have"
            )
        ),
    )
    __learnt_takes__ = Takes(sparse=True, tensors=True)
    # Which rows are drawn hangs on their order.
    __learnt_trial__ = Trial(quick={"random_state": 0, "n_components": 20}, any_order=False)

    def __init__(
        self,
        kernel: Any = "rbf",
        *,
        gamma: float | None = None,
        coef0: float | None = None,
        degree: float | None = None,
        kernel_params: dict[str, Any] | None = None,
        n_components: int = 100,
        random_state: Any = None,
        n_jobs: int | None = None,
    ) -> None:
        self.kernel = kernel
        self.gamma = gamma
        self.coef0 = coef0
        self.degree = degree
        self.kernel_params = kernel_params
        self.n_components = n_components
        self.random_state = random_state
        self.n_jobs = n_jobs

    @property
    def _n_features_out(self) -> int:
        return self.normalization_.shape[0]

    def fit(self, X: Any, y: Any = None) -> Nystroem:
        """Draw rows, and take the inverse square root of their kernel matrix."""
        check_kernel(self, "precomputed")
        check_number(self, "n_components", 1, integer=True)
        check_number(self, "gamma", 0, also=(None,))
        check_number(self, "degree", 1, also=(None,))
        check_number(self, "coef0", also=(None,))
        named = isinstance(self.kernel, str) and self.kernel != "precomputed"
        if not named and (self.gamma, self.coef0, self.degree) != (None, None, None):
            raise ValueError("Don't pass gamma, coef0 or degree to Nystroem if using a callable or precomputed kernel")
        X, _, _ = check_fit(self, X)
        n = X.shape[0]
        if self.n_components > n:
            warnings.warn(
                f"n_components > n_samples. This is not possible: {self.n_components} rows are asked for and there are "
                f"{n}, so all are taken, which is the full kernel.",
                stacklevel=2,
            )
        chosen = random_state_of(self.random_state).permutation(n)[: self.n_components]
        require_room("Nystroem", len(chosen), len(chosen), copies=3, instead="a smaller n_components")
        rows = take_rows(X, chosen)
        if self.kernel == "precomputed":
            K = widen(to_numpy(dense(rows)))[:, chosen]
        else:
            K = widen(to_numpy(gram(kernel_of(self, X.shape[1]), rows)))
        proven = self.kernel != "precomputed" and getattr(kernel_of(self, X.shape[1]), "proven", False)
        if not proven:
            places = sample_places(len(K))
            warn_unless_positive(K[np.ix_(places, places)], places, "Nystroem")
        with single_blas():
            self.normalization_ = to_device_of(_inverse_root(K, symmetric=proven), X)
        self.components_ = rows
        self.component_indices_ = chosen if on_host(X) else like(chosen, X, namespace(X).int64)
        return self

    def transform(self, X: Any) -> Any:
        """K_bb^(−½) k(b, x) of each row.

        Returns
        -------
        X_new : ndarray of shape (n_samples, n_components)
            The features; where the rows are on a device, a tensor there.
        """
        X = check_predict(self, X)
        root = to_device_of(self.normalization_, X).T
        if self.kernel == "precomputed":
            chosen = to_numpy(self.component_indices_)
            given = to_numpy(dense(X))[:, chosen]
            with single_blas():
                found = given @ to_numpy(root)
            return cast(to_device_of(found, X), X.dtype)
        found = gram_times(kernel_of(self, X.shape[1]), X, to_device_of(self.components_, X), root)
        return cast(found, X.dtype)

    def __sklearn_tags__(self) -> Any:
        tags = super().__sklearn_tags__()
        tags.transformer_tags.preserves_dtype = ["float64", "float32"]
        return tags


def _inverse_root(K: np.ndarray, symmetric: bool) -> np.ndarray:
    """U S^(−½) Vᵀ of K = U S Vᵀ, singular values of at least 1e-12; from eigenvectors where K is symmetric."""
    if symmetric:
        values, V = decompositions.eigh(K)
        return (V * (np.where(values < 0, -1.0, 1.0) / np.sqrt(np.maximum(np.abs(values), 1e-12)))) @ V.T
    U, S, Vt = decompositions.svd(K)
    return (U / np.sqrt(np.maximum(S, 1e-12))) @ Vt
