"""Independent components."""

from __future__ import annotations

import math
import warnings
from collections.abc import Callable
from typing import Any, NamedTuple

import numpy as np
from scipy import linalg
from sklearn.exceptions import ConvergenceWarning
from sklearn.utils.validation import check_is_fitted

from learnt.decomposition._contrast import CONTRASTS, Custom, contrast_sums
from learnt.decomposition._principal import project
from learnt.decomposition.spectrum._centre import NotFiniteError, scatter
from learnt.decomposition.spectrum._exact import from_triangle, in_blocks, largest_eigen
from learnt.engine.arrays import to_device_of, to_numpy
from learnt.engine.estimator import Estimator, Takes, Trial, Warm
from learnt.engine.mixins import ClassNamePrefixFeaturesOutMixin, TransformerMixin
from learnt.engine.params import ParameterError, check_choice, check_number
from learnt.engine.progress import CallbackSupportMixin, fit_loop, with_callbacks
from learnt.engine.random import random_state_of
from learnt.engine.rows import Rows, as_rows, transform
from learnt.engine.schema import FEATURES, Schema, choice, count, real
from learnt.engine.threads import single_blas
from learnt.engine.validation import check_fit, check_predict

_WHITENINGS = ("unit-variance", "arbitrary-variance", False)


class White(NamedTuple):
    """How rows are made white: subtract the mean, multiply by Kᵀ; then their squares sum to 1."""

    K: np.ndarray
    mean: np.ndarray
    n: int


class FastICA(CallbackSupportMixin, ClassNamePrefixFeaturesOutMixin, TransformerMixin, Estimator):
    """Sources that are as independent as can be:  x = mean + A s,  by the fixed-point iteration of Hyvärinen and Oja.

    Take it to separate signals that were mixed, such as voices in several microphones or artefacts in an EEG. Unlike
    the components of `PCA`, sources need not be orthogonal, have no order, and no variance of their own.

    Parameters
    ----------
    n_components : int or None, default=None
        How many sources to find; None is as many as X allows. Ignored where whiten=False.
    algorithm : {"parallel", "deflation"}, default="parallel"
        "parallel" finds all sources at once, "deflation" one after the other.
    whiten : {"unit-variance", "arbitrary-variance", False}, default="unit-variance"
        How the rows are made white, and the scale of the sources: "unit-variance" gives sources of variance 1,
        "arbitrary-variance" such of a sum of squares of 1; False where X is white already.
    fun : {"logcosh", "exp", "cube"} or callable, default="logcosh"
        The contrast that tells how far a source is from normal: tanh(αy), a good choice for most; y exp(−y²/2), robust
        against outliers; y³, quick to move and sensitive to outliers; or a function that gives its values and the mean
        of its derivative over the last axis.
    fun_args : dict or None, default=None
        {"alpha": α} in [1, 2] for "logcosh"; the keyword arguments of a callable.
    max_iter : int, default=200
        The most iterations; raise it after a convergence warning.
    tol : float, default=1e-4
        Stop when no direction turns by more: 1 − |cos| of the angle.
    w_init : array-like of shape (n_components, n_components) or None, default=None
        The rotation to start from; None draws one.
    whiten_solver : {"svd", "eigh"}, default="svd"
        "svd" takes singular vectors by QR; "eigh" eigenvectors of the scatter: faster, and half the digits of small
        variances.
    random_state : int, RandomState, Generator or None, default=None
        Where the first rotation comes from. Pass an integer for the same sources, in the same order, every time.

    Attributes
    ----------
    components_ : ndarray of shape (n_components, n_features)
        What gives sources from centred rows.
    mixing_ : ndarray of shape (n_features, n_components)
        The mixing matrix A: the pseudo-inverse of `components_`.
    mean_ : ndarray of shape (n_features,)
        The mean of each column. Not where whiten=False.
    whitening_ : ndarray of shape (n_components, n_features)
        The matrix that makes centred rows white. Not where whiten=False.
    n_iter_ : int
        The number of iterations; with "deflation" the most that a source took.

    See Also
    --------
    fastica : The same as a function.
    PCA : Directions of largest variance, uncorrelated instead of independent.
    FactorAnalysis : Normal factors with noise.

    Notes
    -----
    Rows are made white by PCA; a rotation is then found whose projections are as far from normal as the contrast can
    tell. Each iteration is a sum over rows, O(n k²) time for k sources of n rows; rows may be an array, a memory map, a
    `learnt.scan` table, a Dask collection or an array on a GPU. At most one source may be normal.

    References
    ----------
    .. [1] A. Hyvärinen and E. Oja, "Independent component analysis: algorithms and applications", Neural Networks 13,
       2000.

    Examples
    --------
    >>> t = np.linspace(0, 8, 500)
    >>> sources = np.column_stack([np.sin(2 * t), np.sign(np.sin(3 * t))])
    >>> found = FastICA(random_state=0).fit_transform(sources @ [[1.0, 0.5], [1.0, 2.0]])
    >>> np.abs(np.corrcoef(sources.T, found.T)[:2, 2:]).max(axis=1).round(1)
    array([1., 1.])
    """

    __learnt_schema__ = Schema(
        params={"whiten": choice(*_WHITENINGS)},
        state={**FEATURES, "components_": real("k", "d"), "mixing_": real("d", "k")},
        extra={"mean_": real("d"), "whitening_": real("k", "d"), "n_iter_": count()},
        rule=lambda model, state, dims: "has no mean" if model.whiten and "mean_" not in state else None,
    )
    __learnt_takes__ = Takes(tensors=True, lazy=True)
    __learnt_trial__ = Trial(
        quick={"n_components": 2, "random_state": 0, "tol": 1e-8, "max_iter": 5000},
        warmup=(Warm("none", {"n_components": 2, "random_state": 0}),),
    )

    def __init__(
        self,
        n_components: int | None = None,
        *,
        algorithm: str = "parallel",
        whiten: Any = "unit-variance",
        fun: Any = "logcosh",
        fun_args: dict | None = None,
        max_iter: int = 200,
        tol: float = 1e-4,
        w_init: Any = None,
        whiten_solver: str = "svd",
        random_state: Any = None,
    ) -> None:
        self.n_components = n_components
        self.algorithm = algorithm
        self.whiten = whiten
        self.fun = fun
        self.fun_args = fun_args
        self.max_iter = max_iter
        self.tol = tol
        self.w_init = w_init
        self.whiten_solver = whiten_solver
        self.random_state = random_state

    @with_callbacks
    def fit(self, X: Any, y: Any = None) -> FastICA:
        """Find the independent sources of X."""
        self._fit(X)
        return self

    def fit_transform(self, X: Any, y: Any = None) -> Any:
        """Find the independent sources of X, and return them."""
        return self.fit(X).transform(X)

    def _fit(self, X: Any) -> np.ndarray:
        """Check, make white, rotate, record; gives the rotation, scaled as the sources are."""
        contrast, alpha = self._checked_contrast()
        X = check_fit(self, X, min_rows=2).X
        rows = as_rows(X)
        white = self._white(rows)
        k = rows.n_features if white is None else len(white.K)
        if white is not None:
            V = white.K.T * math.sqrt(white.n)
            rows = as_rows(
                transform(X, lambda: [f"white{i}" for i in range(k)], project, *self._beside(X, V, white.mean @ V))
            )
        n = rows.n_rows if white is None else white.n

        def step(W: np.ndarray) -> np.ndarray:
            first, slope = rows.sum(contrast_sums, to_device_of(W, rows.reference), contrast, alpha)
            return to_numpy(first) / n - (to_numpy(slope) / n)[:, None] * W

        method = _all_at_once if self.algorithm == "parallel" else _one_by_one
        with single_blas(), fit_loop(self, None, X) as loop:
            W, self.n_iter_, converged = method(step, self._start(k), self.tol, self.max_iter, loop)
        if not converged:
            warnings.warn(
                "FastICA did not converge. Consider increasing tolerance or the maximum number of iterations.",
                ConvergenceWarning,
                stacklevel=4,
            )
        self._record(W, white, X)
        # White rows have squares that sum to 1 in every direction: of variance 1/n.
        return W * math.sqrt(n) if self.whiten == "unit-variance" else W

    @staticmethod
    def _beside(X: Any, *values: np.ndarray) -> tuple:
        return tuple(to_device_of(value, X) for value in values)

    def _checked_contrast(self) -> tuple[Callable, float]:
        check_number(self, "n_components", 1, integer=True, also=(None,))
        check_choice(self, "algorithm", ("parallel", "deflation"))
        check_choice(self, "whiten", _WHITENINGS)
        check_choice(self, "whiten_solver", ("eigh", "svd"))
        check_number(self, "max_iter", 1, integer=True)
        check_number(self, "tol", 0)
        arguments = {} if self.fun_args is None else self.fun_args
        if not isinstance(arguments, dict):
            raise ParameterError(
                f"The 'fun_args' parameter of FastICA must be a dict or None. Got {arguments!r} instead."
            )
        alpha = arguments.get("alpha", 1.0)
        if not 1 <= alpha <= 2:
            raise ParameterError(f"alpha must be in [1,2], and fun_args has {alpha!r}.")
        if callable(self.fun):
            return Custom(self.fun, arguments), alpha
        check_choice(self, "fun", tuple(CONTRASTS))
        return CONTRASTS[self.fun], alpha

    def _white(self, rows: Rows) -> White | None:
        """The whitening matrix, in as many directions as wanted and available."""
        side = min(rows.n_rows, rows.n_features)
        k = side if self.n_components is None else int(self.n_components)
        if not self.whiten:
            if self.n_components is not None:
                warnings.warn("Ignoring n_components with whiten=False.", UserWarning, stacklevel=5)
            return None
        if k > side:
            warnings.warn(f"n_components is too large: it will be set to {side}", UserWarning, stacklevel=5)
            k = side
        middle, lengths, V = self._principal(rows)
        rank = int(np.count_nonzero(lengths > 10 * max(V.shape) * np.finfo(float).eps * lengths.max(initial=0.0)))
        if rank == 0:
            raise ValueError(
                "All rows of X are equal, and FastICA finds sources in their differences; give other rows."
            )
        if self.whiten_solver == "eigh":  # squares lose half the digits of small lengths
            rank = int(np.count_nonzero(lengths > 1e-7 * lengths[0]))
        if rank < k:
            warnings.warn(
                f"There are some small singular values: X varies in {rank} directions, so that as many sources are "
                "found; using whiten_solver = 'svd' might lead to more accurate results.",
                UserWarning,
                stacklevel=5,
            )
            k = rank
        V = V[:k] * np.where(V[:k, :1] < 0, -1.0, 1.0)  # scikit-learn's signs
        return White(V / lengths[:k, None], to_numpy(middle.mean), middle.n)

    def _principal(self, rows: Rows) -> tuple:
        """The centre, the lengths of the principal axes and these, one a row."""
        try:
            if self.whiten_solver == "eigh":
                middle, S = scatter(in_blocks(rows))
                values, vectors = largest_eigen(S, None)
                return middle, np.sqrt(to_numpy(values)), to_numpy(vectors).T
            spectrum = from_triangle(rows)
        except NotFiniteError:
            raise ValueError(
                "X has values so large that their squares are infinite; scale the columns before FastICA."
            ) from None
        squares = to_numpy(spectrum.variance) * max(spectrum.centre.n - 1, 1)
        return spectrum.centre, np.sqrt(squares), to_numpy(spectrum.components)

    def _start(self, k: int) -> np.ndarray:
        if self.w_init is None:
            return random_state_of(self.random_state).normal(size=(k, k))
        start = np.asarray(self.w_init, dtype=np.float64)
        if start.shape != (k, k):
            raise ValueError(f"w_init has invalid shape -- should be {(k, k)}; it is {start.shape}.")
        return start

    def _record(self, W: np.ndarray, white: White | None, X: Any) -> None:
        dtype = np.float32 if str(getattr(X, "dtype", "")).endswith("float32") else np.float64
        for name in ("mean_", "whitening_"):
            if hasattr(self, name):  # of a fit with another `whiten`
                delattr(self, name)
        if white is None:
            components = W
        else:
            scale = math.sqrt(white.n) if self.whiten == "unit-variance" else 1.0
            components = scale * (W @ white.K)
            self.mean_, self.whitening_ = white.mean.astype(dtype), white.K.astype(dtype)
        self.components_ = components.astype(dtype)
        self.mixing_ = linalg.pinv(components, check_finite=False).astype(dtype)

    def transform(self, X: Any, copy: bool = True) -> Any:
        """The sources of each row (n × n_components).

        Parameters
        ----------
        copy : bool, default=True
            Kept for scikit-learn's signature: X is left as it is either way.
        """
        X = check_predict(self, X)
        V: Any = self.components_.T
        offset = self.mean_ @ V if self.whiten else np.zeros(V.shape[1], V.dtype)
        return transform(X, self.get_feature_names_out, project, to_device_of(V, X), to_device_of(offset, X))

    def inverse_transform(self, X: Any, copy: bool = True) -> Any:
        """Rows from their sources: mean + A s.

        Parameters
        ----------
        X : array-like of shape (n_samples, n_components)
            The sources of each row.
        copy : bool, default=True
            Kept for scikit-learn's signature: X is left as it is either way.
        """
        check_is_fitted(self)
        Z = np.asarray(to_numpy(X))
        if Z.ndim != 2 or Z.shape[1] != self.mixing_.shape[1]:
            raise ValueError(
                f"X has shape {tuple(Z.shape)}, and inverse_transform takes one column for each of the "
                f"{self.mixing_.shape[1]} sources."
            )
        rows = Z @ self.mixing_.T
        return rows + self.mean_ if self.whiten else rows

    @property
    def _n_features_out(self) -> int:
        return self.components_.shape[0]

    def __sklearn_tags__(self) -> Any:
        tags = super().__sklearn_tags__()
        tags.transformer_tags.preserves_dtype = ["float64", "float32"]
        return tags


def _orthonormal(W: np.ndarray) -> np.ndarray:
    """The rotation nearest to W: (W Wᵀ)^(−1/2) W."""
    U, _, Vt = np.linalg.svd(W)
    return U @ Vt


def _all_at_once(step: Callable, W: np.ndarray, tol: float, max_iter: int, loop: Any) -> tuple[np.ndarray, int, bool]:
    """The rotation, the iterations, and whether it converged."""
    W = _orthonormal(W)
    for n_iter in range(1, max_iter + 1):
        new = _orthonormal(step(W))
        turn = float(np.abs(np.abs(np.einsum("ij,ij->i", new, W)) - 1.0).max())
        W = new
        if loop.step(f"turn {turn:.2g}") or turn < tol:
            return W, n_iter, True
    return W, max_iter, False


def _one_by_one(
    step: Callable, start: np.ndarray, tol: float, max_iter: int, loop: Any
) -> tuple[np.ndarray, int, bool]:
    """The same, each direction at right angles to those before it; as in scikit-learn, none has to converge."""
    W = np.zeros_like(start)
    most = 0
    for j, w in enumerate(start):
        w = w / np.linalg.norm(w)
        for n_iter in range(1, max_iter + 1):
            most = max(most, n_iter)
            new = step(w[None, :])[0]
            new -= new @ W[:j].T @ W[:j]
            length = np.linalg.norm(new)
            new = new / length if length > 0 else w
            turn = abs(abs(float(new @ w)) - 1.0)
            w = new
            if turn < tol:
                break
        W[j] = w
        if loop.step(f"source {j + 1}"):
            break
    return W, most, True


def fastica(
    X: Any,
    n_components: int | None = None,
    *,
    algorithm: str = "parallel",
    whiten: Any = "unit-variance",
    fun: Any = "logcosh",
    fun_args: dict | None = None,
    max_iter: int = 200,
    tol: float = 1e-4,
    w_init: Any = None,
    whiten_solver: str = "svd",
    random_state: Any = None,
    return_X_mean: bool = False,
    compute_sources: bool = True,
    return_n_iter: bool = False,
) -> tuple:
    """Independent components in one call: how rows are made white, the rotation to sources, and the sources.

    Parameters
    ----------
    X : array-like of shape (n_samples, n_features)
        The rows, each a mixture of sources.
    n_components : int or None, default=None
        How many sources to find; None is as many as X allows. Ignored where whiten=False.
    algorithm : {"parallel", "deflation"}, default="parallel"
        "parallel" finds all sources at once, "deflation" one after the other.
    whiten : {"unit-variance", "arbitrary-variance", False}, default="unit-variance"
        "unit-variance" gives sources of variance 1, "arbitrary-variance" such of a sum of squares of 1; False where X
        is white already.
    fun : {"logcosh", "exp", "cube"} or callable, default="logcosh"
        The contrast that tells how far a source is from normal: tanh(αy), y exp(−y²/2), y³, or a function that gives
        its values and the mean of its derivative over the last axis.
    fun_args : dict or None, default=None
        {"alpha": α} in [1, 2] for "logcosh"; the keyword arguments of a callable.
    max_iter : int, default=200
        The most iterations; raise it after a convergence warning.
    tol : float, default=1e-4
        Stop when no direction turns by more: 1 − |cos| of the angle.
    w_init : array-like of shape (n_components, n_components) or None, default=None
        The rotation to start from; None draws one.
    whiten_solver : {"svd", "eigh"}, default="svd"
        "svd" takes singular vectors by QR; "eigh" eigenvectors of the scatter: faster, and half the digits of small
        variances.
    random_state : int, RandomState, Generator or None, default=None
        Where random numbers come from. Pass an integer for the same result every time.
    return_X_mean : bool, default=False
        Whether to return the means of the columns too.
    compute_sources : bool, default=True
        Whether to return the sources; False saves their memory.
    return_n_iter : bool, default=False
        Whether to return the number of iterations too.

    Returns
    -------
    K : ndarray of shape (n_components, n_features) or None
        The matrix that makes centred rows white; None where whiten=False.
    W : ndarray of shape (n_components, n_components)
        The rotation that makes sources of white rows.
    S : ndarray of shape (n_samples, n_components) or None
        The sources; None unless `compute_sources`.
    X_mean : ndarray of shape (n_features,)
        The means of the columns; only where `return_X_mean`.
    n_iter : int
        The number of iterations; only where `return_n_iter`.

    See Also
    --------
    FastICA : The same as an estimator, which transforms new rows.

    Notes
    -----
    The sources are  (X − mean) (W K)ᵀ,  each by a fixed-point iteration [1]_ that moves it as far from normal as the
    contrast can tell. Their order and signs are arbitrary.

    References
    ----------
    .. [1] A. Hyvärinen and E. Oja, "Independent component analysis: algorithms and applications", Neural Networks 13,
       2000.

    Examples
    --------
    >>> X = np.random.default_rng(0).uniform(size=(200, 3))
    >>> K, W, S = fastica(X, n_components=2, random_state=0)
    >>> K.shape, W.shape, bool(np.allclose((X - X.mean(axis=0)) @ (W @ K).T, S))
    ((2, 3), (2, 2), True)
    """
    model = FastICA(
        n_components, algorithm=algorithm, whiten=whiten, fun=fun, fun_args=fun_args, max_iter=max_iter, tol=tol,
        w_init=w_init, whiten_solver=whiten_solver, random_state=random_state,
    )  # fmt: skip
    W = model._fit(X)
    found = [model.whitening_ if whiten else None, W, model.transform(X) if compute_sources else None]
    if return_X_mean:
        found.append(model.mean_ if whiten else None)
    if return_n_iter:
        found.append(model.n_iter_)
    return tuple(found)
