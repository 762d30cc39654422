"""Principal components in the space of a kernel."""

from __future__ import annotations

from typing import Any

import numpy as np
from scipy import sparse
from sklearn.exceptions import NotFittedError

from learnt.decomposition._kernel_components import centred, components
from learnt.engine.arrays import is_foreign_array, namespace, to_device_of
from learnt.engine.estimator import Estimator, Takes, Trial, Warm
from learnt.engine.matrices import dense, on_host
from learnt.engine.mixins import ClassNamePrefixFeaturesOutMixin, TransformerMixin
from learnt.engine.params import check_choice, check_flag, check_number
from learnt.engine.random import random_state_of
from learnt.engine.rows.blocks import widen
from learnt.engine.schema import FEATURES, Schema, anyof, choice, flag, instance, none, number, real, table
from learnt.engine.threads import single_blas
from learnt.engine.validation import check_fit, check_predict
from learnt.kernels import (
    KERNEL_NAMES,
    check_kernel,
    gram,
    gram_times,
    kernel_of,
    kernel_rule,
    lower_gram,
    require_room,
    sample_places,
    solve_dual,
    warn_unless_positive,
)

_MANY_ROWS, _FEW_COMPONENTS = 200, 10  # from and below which an iteration is quicker than all eigenvectors


class KernelPCA(ClassNamePrefixFeaturesOutMixin, TransformerMixin, Estimator):
    """Principal components in the space of a kernel: eigenvectors of the centred matrix HKH, H = I − 11ᵀ/n.

    With the linear kernel these are the scores of `PCA`; with others, rings and spirals can become straight. Take it
    for nonlinear dimensionality reduction of up to some thousands of rows.

    Parameters
    ----------
    n_components : int or None, default=None
        How many components to keep; None is all whose eigenvalue is above 0.
    kernel : str, kernel or callable, default="linear"
        How alike two rows are: a name such as "linear", "poly", "rbf", "sigmoid" or "cosine"; "precomputed", where X
        holds the kernel matrix; a kernel of `learnt.kernels`; or a function of two rows that gives a number.
    gamma : float or None, default=None
        γ of the kernels "rbf", "laplacian", "poly", "sigmoid" and "chi2"; None is 1 / n_features (1 for "chi2"). The
        larger it is for "rbf", the more local the components.
    degree : float, default=3
        The degree of the kernel "poly".
    coef0 : float, default=1
        The constant term of the kernels "poly" and "sigmoid".
    kernel_params : dict or None, default=None
        Keyword arguments of a callable kernel.
    alpha : float, default=1.0
        Regularisation strength of the ridge regression that learns the way back; lower it for rows without noise.
    fit_inverse_transform : bool, default=False
        Whether to learn the way back from scores to rows, which `inverse_transform` needs: to remove noise, for
        example.
    eigen_solver : {"auto", "dense", "arpack", "randomized"}, default="auto"
        "dense" decomposes the whole matrix, "arpack" finds a few eigenvectors by iteration, "randomized" does so in a
        few products. "auto" is "arpack" for fewer than 10 components of more than 200 rows, else "dense".
    tol : float, default=0
        Convergence tolerance of "arpack"; 0 is machine precision.
    max_iter : int or None, default=None
        The most iterations of "arpack"; None leaves that to it.
    iterated_power : int or "auto", default="auto"
        How many products "randomized" makes after the first; "auto" stops when converged, after 5 at most.
    remove_zero_eig : bool, default=False
        Whether to leave out components whose eigenvalue is 0, so that fewer than `n_components` may come back.
    random_state : int, RandomState, Generator or None, default=None
        The start of "arpack" and "randomized". Pass an integer for the same result every time.
    copy_X : bool, default=True
        Whether the model keeps rows of its own, so that X may change after `fit`.
    n_jobs : int or None, default=None
        Kept for scikit-learn's signature: matrices are computed on all threads.

    Attributes
    ----------
    eigenvalues_ : ndarray of shape (n_components,)
        The largest eigenvalues of the centred kernel matrix, falling.
    eigenvectors_ : ndarray of shape (n_samples, n_components)
        Their eigenvectors, of length 1; the largest entry of each is positive.
    X_fit_ : ndarray or sparse matrix of shape (n_samples, n_features)
        The training rows, or the kernel matrix that was given.
    dual_coef_ : ndarray of shape (n_samples, n_features)
        The way back: weights of the training rows. Only with `fit_inverse_transform`.
    X_transformed_fit_ : ndarray of shape (n_samples, n_components)
        The scores of the training rows. Only with `fit_inverse_transform`.
    gamma_ : float
        The γ that was taken.

    See Also
    --------
    PCA : Linear, and much quicker.
    learnt.kernel_approximation.Nystroem : Approximate features of a kernel, for many rows.
    learnt.manifold.Isomap : Keeps distances along a curved surface.

    Notes
    -----
    The n × n kernel matrix is held in memory: O(n²) of it, and O(n² d) time, plus O(n³) for all eigenvectors or O(n² k)
    for k of them. The way back is a kernel ridge regression of the rows on their scores [2]_.

    References
    ----------
    .. [1] B. Schölkopf, A. Smola and K.-R. Müller, "Nonlinear component analysis as a kernel eigenvalue problem",
       Neural Computation 10, 1998.
    .. [2] G. H. Bakır, J. Weston and B. Schölkopf, "Learning to find pre-images", NIPS, 2003.

    Examples
    --------
    Two rings lie apart in one of the first three components of products of two features:

    >>> import numpy as np
    >>> turn = np.linspace(0, 2 * np.pi, 9)[:-1]
    >>> ring = np.column_stack([np.cos(turn), np.sin(turn)])
    >>> scores = KernelPCA(3, kernel="poly", degree=2).fit_transform(np.vstack([ring, 5 * ring]))[:, 2]
    >>> bool(scores[:8].min() > scores[8:].max() or scores[:8].max() < scores[8:].min())
    True
    """

    __learnt_schema__ = Schema(
        params={
            "kernel": anyof(choice(*KERNEL_NAMES, "precomputed"), instance(object, "a kernel")),
            "gamma": anyof(none, number(0)),
            "degree": number(0),
            "coef0": number(),
            "fit_inverse_transform": flag,
        },
        state={
            **FEATURES,
            "X_fit_": table("n", "d"),
            "eigenvalues_": real("k", low=0),
            "eigenvectors_": real("n", "k"),
            "gamma_": number(0),
            "_means": real("n"),
        },
        extra={"dual_coef_": real("n", "d"), "X_transformed_fit_": real("n", "k")},
        rule=lambda model, state, dims: (
            kernel_rule(model, state, dims)
            or (
                None
                if not model.fit_inverse_transform or ("dual_coef_" in state and "X_transformed_fit_" in state)
                else "has no way back"
            )
        ),
    )
    __learnt_takes__ = Takes(sparse=True, tensors=True)
    __learnt_trial__ = Trial(
        quick={"n_components": 2, "eigen_solver": "dense"},
        warmup=(Warm("none", {"n_components": 2}),),
        most_rows=300,
    )

    def __init__(
        self,
        n_components: int | None = None,
        *,
        kernel: Any = "linear",
        gamma: float | None = None,
        degree: float = 3,
        coef0: float = 1,
        kernel_params: dict | None = None,
        alpha: float = 1.0,
        fit_inverse_transform: bool = False,
        eigen_solver: str = "auto",
        tol: float = 0,
        max_iter: int | None = None,
        iterated_power: Any = "auto",
        remove_zero_eig: bool = False,
        random_state: Any = None,
        copy_X: bool = True,
        n_jobs: int | None = None,
    ) -> None:
        self.n_components = n_components
        self.kernel = kernel
        self.gamma = gamma
        self.degree = degree
        self.coef0 = coef0
        self.kernel_params = kernel_params
        self.alpha = alpha
        self.fit_inverse_transform = fit_inverse_transform
        self.eigen_solver = eigen_solver
        self.tol = tol
        self.max_iter = max_iter
        self.iterated_power = iterated_power
        self.remove_zero_eig = remove_zero_eig
        self.random_state = random_state
        self.copy_X = copy_X
        self.n_jobs = n_jobs

    @property
    def _n_features_out(self) -> int:
        return self.eigenvalues_.shape[0]

    def fit(self, X: Any, y: Any = None) -> KernelPCA:
        """Find the components of the rows of X, or of the kernel matrix X where kernel="precomputed"."""
        self._check()
        X, _, _ = check_fit(self, X)
        if on_host(X):
            require_room("KernelPCA", X.shape[0], X.shape[0])
        K, means = centred(self._training_matrix(X))
        n = K.shape[0]
        if on_host(X) and not np.isfinite(means).all():
            raise ValueError(
                "The kernel of KernelPCA gave NaN or infinity; look for them in the rows, or in the kernel function."
            )
        places = sample_places(n)
        sample = K[np.ix_(places, places)] if on_host(X) and not self._proven(X) else None
        k = n if self.n_components is None else min(n, self.n_components)
        power = None if self.iterated_power == "auto" else int(self.iterated_power)
        draw = random_state_of(self.random_state)
        solver = self._solver(n, k, not on_host(X))
        values, vectors = components(K, k, solver, float(self.tol), self.max_iter, power, draw)
        if sample is not None:
            warn_unless_positive(sample, places, "KernelPCA")
        if self.remove_zero_eig or self.n_components is None:
            kept = int(namespace(values).sum(values > 0))
            values, vectors = values[:kept], vectors[:, :kept]
        self.eigenvalues_, self.eigenvectors_, self._means = values, vectors, means
        self.X_fit_ = X.copy() if self.copy_X and on_host(X) else X
        self.gamma_ = 1.0 / X.shape[1] if self.gamma is None else self.gamma
        if self.fit_inverse_transform:
            self._learn_the_way_back(X)
        return self

    def _check(self) -> None:
        check_kernel(self, "precomputed")
        check_number(self, "n_components", 1, integer=True, also=(None,))
        check_number(self, "gamma", 0, also=(None,))
        check_number(self, "degree", 0)
        check_number(self, "coef0")
        check_number(self, "alpha", 0)
        check_flag(self, "fit_inverse_transform", "remove_zero_eig", "copy_X")
        check_choice(self, "eigen_solver", ("auto", "dense", "arpack", "randomized"))
        check_number(self, "tol", 0)
        check_number(self, "max_iter", 1, integer=True, also=(None,))
        check_number(self, "iterated_power", 0, integer=True, also=("auto",))
        if self.fit_inverse_transform and isinstance(self.kernel, str) and self.kernel == "precomputed":
            raise ValueError("Cannot fit_inverse_transform with a precomputed kernel.")

    def _solver(self, n: int, k: int, elsewhere: bool) -> str:
        if self.eigen_solver == "arpack" and elsewhere:
            raise ValueError(
                "KernelPCA with eigen_solver='arpack' takes NumPy arrays alone; use 'randomized', which runs where the "
                "rows are."
            )
        if self.eigen_solver != "auto":
            return self.eigen_solver
        return "arpack" if n > _MANY_ROWS and k < _FEW_COMPONENTS and not elsewhere else "dense"

    def _proven(self, X: Any) -> bool:
        """Whether the kernel is positive semidefinite by construction."""
        given = isinstance(self.kernel, str) and self.kernel == "precomputed"
        return not given and bool(getattr(kernel_of(self, X.shape[1]), "proven", False))

    def _training_matrix(self, X: Any) -> Any:
        if not (isinstance(self.kernel, str) and self.kernel == "precomputed"):
            return gram(kernel_of(self, X.shape[1]), X)
        if X.shape[0] != X.shape[1]:
            raise ValueError(
                "Precomputed metric requires shape (n_queries, n_indexed): a kernel matrix is square in fit, this one "
                f"has shape {tuple(X.shape)}."
            )
        if is_foreign_array(X):
            return X
        return np.array(dense(X), dtype=np.float64)

    def _learn_the_way_back(self, X: Any) -> None:
        if sparse.issparse(X):
            raise NotImplementedError("Inverse transform not implemented for sparse matrices!")
        scores, kernel = self._scores_of_fit(), kernel_of(self, X.shape[1])
        blocks = getattr(kernel, "in_blocks", False) and on_host(X)
        matrix = (lambda: lower_gram(kernel, scores)) if blocks else (lambda: gram(kernel, scores))
        self.dual_coef_ = solve_dual(matrix, widen(X), np.asarray(float(self.alpha)), None)
        self.X_transformed_fit_ = scores

    def _scores_of_fit(self) -> Any:
        return self.eigenvectors_ * self.eigenvalues_**0.5

    def fit_transform(self, X: Any, y: Any = None) -> Any:
        """Find the components of the rows, and return their scores."""
        self.fit(X)
        scores = self._scores_of_fit()
        return scores if is_foreign_array(scores) else scores.astype(self.X_fit_.dtype, copy=False)

    def transform(self, X: Any) -> Any:
        """Scores of the rows: (k(x, X) − means) H v / √λ for every component."""
        X = check_predict(self, X)
        values, vectors = to_device_of(self.eigenvalues_, X), to_device_of(self.eigenvectors_, X)
        xp = namespace(values)
        ones = xp.ones_like(values)
        scaled = vectors * xp.where(values > 0, xp.where(values > 0, values, ones) ** -0.5, 0.0 * ones)
        scaled = scaled - xp.mean(scaled, axis=0)  # H, taken from the rows to the weights
        offset = to_device_of(self._means, X) @ scaled
        if isinstance(self.kernel, str) and self.kernel == "precomputed":
            with single_blas():
                found = X @ scaled - offset
        else:
            found = gram_times(kernel_of(self, X.shape[1]), X, to_device_of(self.X_fit_, X), scaled) - offset
        return found if is_foreign_array(X) else found.astype(X.dtype, copy=False)

    def inverse_transform(self, X: Any) -> Any:
        """Rows whose scores are near these, by the ridge regression that `fit_inverse_transform=True` learns."""
        if not self.fit_inverse_transform:
            raise NotFittedError(
                "The fit_inverse_transform parameter was not set to True when instantiating and hence the inverse "
                "transform is not available."
            )
        if not hasattr(self, "dual_coef_"):
            raise NotFittedError("This KernelPCA instance is not fitted yet; call fit before inverse_transform.")
        X = X if is_foreign_array(X) else np.asarray(X, dtype=np.float64)
        if X.ndim != 2 or X.shape[1] != self._n_features_out:
            raise ValueError(
                f"inverse_transform takes scores of {self._n_features_out} components, a row for each; it got an array "
                f"of shape {tuple(X.shape)}."
            )
        fitted = to_device_of(self.X_transformed_fit_, X)
        return gram_times(kernel_of(self, self.n_features_in_), X, fitted, to_device_of(self.dual_coef_, X))

    def __sklearn_tags__(self) -> Any:
        tags = super().__sklearn_tags__()
        tags.transformer_tags.preserves_dtype = ["float64", "float32"]
        tags.input_tags.pairwise = isinstance(self.kernel, str) and self.kernel == "precomputed"
        return tags
