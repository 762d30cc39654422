"""Sketches of polynomials: the product of p count sketches, by Fourier transforms."""

from __future__ import annotations

import math
from typing import Any

import numpy as np
from scipy import sparse
from scipy.fft import irfft, rfft

from learnt.engine.estimator import Estimator, Takes, Trial
from learnt.engine.matrices import dense
from learnt.engine.mixins import ClassNamePrefixFeaturesOutMixin, TransformerMixin
from learnt.engine.params import check_number
from learnt.engine.random import random_state_of
from learnt.engine.rows import as_rows
from learnt.engine.rows.blocks import Block, widen
from learnt.engine.schema import FEATURES, Schema, count, integers, number
from learnt.engine.validation import check_fit, check_predict

MOST_COMPONENTS = 1 << 17  # a few rows of more would fill the memory


def sketches(block: Block, tables: Any, constants: Any, gamma: float, n_components: int) -> np.ndarray:
    """The product of the count sketches of √γ x (and √c): a matrix product with a sparse table of signs each."""
    X = widen(block.X)
    product = None
    for table, constant in zip(tables, constants, strict=True):
        sketch = X @ table
        sketch = np.asarray(dense(sketch))
        spectrum = rfft(math.sqrt(gamma) * sketch + constant, axis=1)
        product = spectrum if product is None else product * spectrum
    return irfft(product, n=n_components, axis=1)


class PolynomialCountSketch(ClassNamePrefixFeaturesOutMixin, TransformerMixin, Estimator):
    """Features of (γxᵀz + c)^p by tensor sketching: m of them instead of all products of p features.

    A linear model on them comes near one with all interactions of p features, without the d^p columns of
    `PolynomialFeatures`. Their inner products are right on average, with a spread that falls with m.

    Parameters
    ----------
    gamma : float, default=1.0
        γ of the kernel, which scales inner products beside `coef0`.
    degree : int, default=2
        p, the order of the interactions.
    coef0 : float, default=0.0
        c, at least 0: a constant above 0 lets in interactions of lower order too.
    n_components : int, default=100
        Number m of features. Take some multiple of n_features; the more, the nearer to the exact kernel.
    random_state : int, RandomState, Generator or None, default=None
        Draws the hash tables. Pass an integer to get the same features every time.

    Attributes
    ----------
    indexHash_ : ndarray of shape (degree, n_features)
        The place of each feature in each sketch; one more column where c is not 0.
    bitHash_ : ndarray of shape (degree, n_features)
        The sign, −1 or 1, with which it is added there.

    See Also
    --------
    learnt.preprocessing.PolynomialFeatures : All products of features, exactly.
    Nystroem : Features of any kernel from some of the rows.
    RBFSampler : Random features of the "rbf" kernel.

    Notes
    -----
    Each row takes p count sketches and as many Fourier transforms of length m: time in n·p·(d + m log m), memory in
    n·m. Nothing is learnt from the rows but their number of columns.

    References
    ----------
    .. [1] N. Pham, R. Pagh, "Fast and scalable polynomial kernels via explicit feature maps", KDD, 2013.
    .. [2] M. Charikar, K. Chen, M. Farach-Colton, "Finding frequent items in data streams", ICALP, 2002.

    Examples
    --------
    >>> import numpy as np
    >>> X = np.array([[1.0, 0.0], [0.8, 0.6]])
    >>> features = PolynomialCountSketch(degree=2, n_components=1000, random_state=0).fit_transform(X)
    >>> (features @ features.T).round(1)
    array([[1. , 0.6],
           [0.6, 1. ]])
    """

    __learnt_schema__ = Schema(
        params={
            "gamma": number(0),
            "degree": count(1),
            "coef0": number(0),
            "n_components": count(1, MOST_COMPONENTS, name="k"),
        },
        state={
            **FEATURES,
            "indexHash_": integers("p", "width", below="k"),
            "bitHash_": integers("p", "width", low=-1, below=2),
        },
        rule=lambda model, state, dims: (
            None
            if dims["width"] == dims["d"] + (model.coef0 != 0) and dims["p"] == model.degree
            else "has other tables than features"
        ),
    )
    __learnt_takes__ = Takes(sparse=True)
    __learnt_trial__ = Trial(quick={"random_state": 0})

    def __init__(
        self,
        *,
        gamma: float = 1.0,
        degree: int = 2,
        coef0: float = 0.0,
        n_components: int = 100,
        random_state: Any = None,
    ) -> None:
        self.gamma = gamma
        self.degree = degree
        self.coef0 = coef0
        self.n_components = n_components
        self.random_state = random_state

    @property
    def _n_features_out(self) -> int:
        return self.n_components

    def fit(self, X: Any, y: Any = None) -> PolynomialCountSketch:
        """Draw the places and signs."""
        check_number(self, "gamma", 0)
        check_number(self, "degree", 1, integer=True)
        check_number(self, "coef0", 0)
        check_number(self, "n_components", 1, MOST_COMPONENTS, integer=True)
        X, _, _ = check_fit(self, X)
        random = random_state_of(self.random_state)
        size = (self.degree, X.shape[1] + (self.coef0 != 0))
        self.indexHash_ = random.randint(0, high=self.n_components, size=size).astype(np.int64)
        self.bitHash_ = random.choice(a=[-1, 1], size=size).astype(np.int64)
        return self

    def transform(self, X: Any) -> np.ndarray:
        """The sketch of each row.

        Returns
        -------
        X_new : ndarray of shape (n_samples, n_components)
            The features.
        """
        X = check_predict(self, X)
        d, m = X.shape[1], self.n_components
        tables, constants = [], []
        for places, signs in zip(self.indexHash_, self.bitHash_, strict=True):
            table = (signs[:d].astype(float), (np.arange(d), places[:d]))
            tables.append(sparse.csr_array(table, shape=(d, m)))
            constant = np.zeros(m)
            if self.coef0 != 0:
                constant[places[d]] = signs[d] * math.sqrt(self.coef0)
            constants.append(constant)
        return as_rows(X).map(sketches, tables, constants, float(self.gamma), m)
