"""Random cosines: √(2/m) cos(wᵀx + b) with w drawn from the kernel's spectrum, b uniform."""

from __future__ import annotations

import math
from typing import Any

import numpy as np
from scipy import sparse

from learnt.engine.arrays import is_foreign_array, is_numpy, namespace, to_device_of, to_numpy
from learnt.engine.estimator import Estimator, Takes, Trial
from learnt.engine.matrices import Route, route
from learnt.engine.mixins import ClassNamePrefixFeaturesOutMixin, TransformerMixin
from learnt.engine.params import check_number
from learnt.engine.random import random_state_of
from learnt.engine.rows import as_rows
from learnt.engine.rows.blocks import Block
from learnt.engine.schema import FEATURES, Schema, number, real
from learnt.engine.validation import check_fit, check_predict
from learnt.linalg.cosine import cosines_in_place

_CELLS = 1 << 16  # of a product: half a megabyte
_STATE = {**FEATURES, "random_weights_": real("d", "k"), "random_offset_": real("k")}


def cosines(block: Block, weights: Any, offset: Any) -> Any:
    """√(2/m) cos(wᵀx + b) of the rows of a block."""
    scale = math.sqrt(2.0 / weights.shape[1])
    if route(block.X) is Route.DENSE and weights.dtype == block.X.dtype == np.float64:
        return _compiled_cosines(block.X, weights, offset, scale)
    found = block.X @ weights
    if not is_numpy(found):
        return namespace(found).cos(found + offset) * scale
    found += offset
    np.cos(found, out=found)
    found *= scale
    return found


def _compiled_cosines(X: np.ndarray, weights: np.ndarray, offset: np.ndarray, scale: float) -> np.ndarray:
    """The same, some rows at a time, so that a product is still in the cache when its cosines are taken."""
    found = np.empty((len(X), weights.shape[1]))
    step = max(1, _CELLS // weights.shape[1] // 64) * 64  # BLAS takes some rows at a time, rests are slow
    for lo in range(0, len(X), step):
        part = found[lo : lo + step]
        np.matmul(X[lo : lo + step], weights, out=part)
        cosines_in_place(part, offset, scale)
    return found


class _Cosines(ClassNamePrefixFeaturesOutMixin, TransformerMixin, Estimator):
    __learnt_schema__ = Schema(state=_STATE)

    @property
    def _n_features_out(self) -> int:
        return self.random_offset_.shape[0]

    def _keep(self, weights: np.ndarray, offset: np.ndarray, X: Any) -> None:
        """Keep what was drawn in the precision of the rows."""
        narrow = str(X.dtype).endswith("float32")
        dtype = np.float32 if narrow else np.float64
        self.random_weights_, self.random_offset_ = weights.astype(dtype), offset.astype(dtype)

    def _features(self, X: Any) -> Any:
        weights, offset = self.random_weights_, self.random_offset_
        if is_foreign_array(X):
            weights, offset = to_device_of(weights, X), to_device_of(offset, X)
        return as_rows(X).map(cosines, weights, offset)

    def __sklearn_tags__(self) -> Any:
        tags = super().__sklearn_tags__()
        tags.transformer_tags.preserves_dtype = ["float64", "float32"]
        return tags


class RBFSampler(_Cosines):
    """Random Fourier features of exp(−γ‖x − z‖²): products of m of them are off by about 1/√m.

    A linear model on these features comes near a machine with the "rbf" kernel at a cost linear in the rows. They do
    not depend on the data, which makes them suit streams and `partial_fit`; `Nystroem`, which does look at the rows, is
    usually more accurate for the same number of features.

    Parameters
    ----------
    gamma : float or "scale", default=1.0
        γ of the kernel, its inverse width squared: larger values see finer detail, at the risk of overfitting. "scale"
        is 1 / (n_features · variance of X).
    n_components : int, default=100
        Number m of features. More approximate the kernel better: four times as many halve the error.
    random_state : int, RandomState, Generator or None, default=None
        Draws the frequencies and phases. Pass an integer to get the same features every time.

    Attributes
    ----------
    random_weights_ : ndarray of shape (n_features, n_components)
        The frequencies w, drawn from a normal distribution of variance 2γ.
    random_offset_ : ndarray of shape (n_components,)
        The phases b, drawn uniformly from [0, 2π).

    See Also
    --------
    Nystroem : Features of any kernel from some of the rows.
    PolynomialCountSketch : The same for polynomial kernels.
    learnt.svm.SVC : The exact kernel machine, for fewer rows.

    Notes
    -----
    √(2/m) cos(wᵀx + b): a matrix product and a cosine, time in n·d·m and memory in n·m. Nothing is learnt from the rows
    but their number of columns (and their variance for gamma="scale").

    References
    ----------
    .. [1] A. Rahimi, B. Recht, "Random features for large-scale kernel machines", NIPS, 2007.
    .. [2] A. Rahimi, B. Recht, "Weighted sums of random kitchen sinks", NIPS, 2008.

    Examples
    --------
    >>> features = RBFSampler(gamma=0.5, n_components=5000, random_state=0).fit_transform([[0.0], [1.0]])
    >>> (features @ features.T).round(1)
    array([[1. , 0.6],
           [0.6, 1. ]])
    """

    __learnt_takes__ = Takes(sparse=True, tensors=True)
    __learnt_trial__ = Trial(quick={"random_state": 0})

    def __init__(self, *, gamma: float | str = 1.0, n_components: int = 100, random_state: Any = None) -> None:
        self.gamma = gamma
        self.n_components = n_components
        self.random_state = random_state

    def fit(self, X: Any, y: Any = None) -> RBFSampler:
        """Draw the frequencies and phases."""
        check_number(self, "gamma", 0, also=("scale",))
        check_number(self, "n_components", 1, integer=True)
        X, _, _ = check_fit(self, X)
        random = random_state_of(self.random_state)
        gamma = _scale(X) if isinstance(self.gamma, str) else float(self.gamma)
        weights = math.sqrt(2.0 * gamma) * random.normal(size=(X.shape[1], self.n_components))
        self._keep(weights, random.uniform(0, 2 * np.pi, size=self.n_components), X)
        return self

    def transform(self, X: Any) -> Any:
        """√(2/m) cos(wᵀx + b) of each row.

        Returns
        -------
        X_new : ndarray of shape (n_samples, n_components)
            The features; where the rows are on a device, a tensor there.
        """
        return self._features(check_predict(self, X))


def _scale(X: Any) -> float:
    """1 / (n_features · variance of all cells)."""
    if sparse.issparse(X):
        variance = float(X.multiply(X).mean() - X.mean() ** 2)
    else:
        variance = float(np.var(to_numpy(X), dtype=np.float64))
    return 1.0 / (X.shape[1] * variance) if variance != 0 else 1.0


class SkewedChi2Sampler(_Cosines):
    """Random cosines of logarithms for ∏ⱼ 2√(xⱼ + c)√(zⱼ + c) / (xⱼ + zⱼ + 2c), the skewed χ² kernel.

    For histograms, as in computer vision. Unlike the additive χ² kernel it is a product over features, which tells
    combinations of features apart.

    Parameters
    ----------
    skewedness : float, default=1.0
        c of the kernel; every value must be above −c. Smaller values make the kernel more sensitive to changes near 0.
        Tune it by cross-validation.
    n_components : int, default=100
        Number of features. More approximate the kernel better: four times as many halve the error.
    random_state : int, RandomState, Generator or None, default=None
        Draws the frequencies and phases. Pass an integer to get the same features every time.

    Attributes
    ----------
    random_weights_ : ndarray of shape (n_features, n_components)
        The frequencies w, drawn from the hyperbolic secant distribution.
    random_offset_ : ndarray of shape (n_components,)
        The phases b, drawn uniformly from [0, 2π).

    See Also
    --------
    AdditiveChi2Sampler : A χ² kernel that is a sum over features, without randomness.
    RBFSampler : The same for the "rbf" kernel.
    Nystroem : Features of any kernel from some of the rows.

    Notes
    -----
    √(2/m) cos(wᵀ log(x + c) + b): time in n·d·m, memory in n·m.

    References
    ----------
    .. [1] F. Li, C. Ionescu, C. Sminchisescu, "Random Fourier approximations for skewed multiplicative histogram
       kernels", DAGM Symposium on Pattern Recognition, 2010.

    Examples
    --------
    >>> import numpy as np
    >>> X = np.array([[0.0, 4.0], [4.0, 0.0]])
    >>> features = SkewedChi2Sampler(skewedness=1.0, n_components=20000, random_state=0).fit_transform(X)
    >>> (features @ features.T).round(1)
    array([[1. , 0.6],
           [0.6, 1. ]])
    >>> round(float(2 * np.sqrt(1 * 5) / 6) ** 2, 1)
    0.6
    """

    __learnt_schema__ = Schema(params={"skewedness": number()}, state=_STATE)
    __learnt_trial__ = Trial(quick={"random_state": 0, "skewedness": 100.0})

    def __init__(self, *, skewedness: float = 1.0, n_components: int = 100, random_state: Any = None) -> None:
        self.skewedness = skewedness
        self.n_components = n_components
        self.random_state = random_state

    def fit(self, X: Any, y: Any = None) -> SkewedChi2Sampler:
        """Draw the frequencies and phases."""
        check_number(self, "skewedness")
        check_number(self, "n_components", 1, integer=True)
        X, _, _ = check_fit(self, X)
        random = random_state_of(self.random_state)
        uniform = random.uniform(size=(X.shape[1], self.n_components))
        weights = np.log(np.tan(np.pi / 2.0 * uniform)) / np.pi  # the inverse of the distribution of sech
        self._keep(weights, random.uniform(0, 2 * np.pi, size=self.n_components), X)
        return self

    def transform(self, X: Any) -> np.ndarray:
        """√(2/m) cos(wᵀ log(x + c) + b) of each row.

        Parameters
        ----------
        X : array-like of shape (n_samples, n_features)
            Rows whose values are all above −c.

        Returns
        -------
        X_new : ndarray of shape (n_samples, n_components)
            The features.
        """
        X = check_predict(self, X)
        if (-self.skewedness >= X).any():
            row, column = np.argwhere(-self.skewedness >= X)[0]
            raise ValueError(
                f"X may not contain entries smaller than -skewedness. Row {row} has {X[row, column]:g} in column "
                f"{column}; increase skewedness."
            )
        return self._features(np.log(X + X.dtype.type(self.skewedness)))
