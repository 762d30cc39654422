"""Polynomial features."""

from __future__ import annotations

from collections.abc import Sequence
from numbers import Integral
from typing import Any

import numpy as np
from scipy import sparse
from sklearn.utils.validation import check_is_fitted

from learnt.engine.estimator import Estimator, Takes
from learnt.engine.mixins import TransformerMixin
from learnt.engine.params import check_choice, check_flag
from learnt.engine.schema import ANY_FEATURES, Schema, choice, count, flag
from learnt.engine.threads import for_blocks
from learnt.engine.validation import check_fit, check_predict
from learnt.preprocessing._feature_maps import (
    Terms,
    count_terms,
    fill_products,
    fill_sparse_products,
    first_terms,
    first_without,
    names_in,
    terms,
)

_SMALL = 1 << 15  # cells below which NumPy needs no help
_CELLS = 1 << 18  # cells a task


class PolynomialFeatures(TransformerMixin, Estimator):
    """All products of up to `degree` columns:  (a, b) becomes (1, a, b, a², ab, b²).

    A linear model on them has interactions and curves. Scale the columns first, and take a penalty: their number grows
    fast, and with it overfitting.

    Parameters
    ----------
    degree : int or tuple (int, int), default=2
        The highest degree; or the lowest and the highest. Higher ones fit finer curves, and overfit sooner.
    interaction_only : bool, default=False
        Whether to leave out powers: only products of different columns.
    include_bias : bool, default=True
        Whether the column of ones, the product of no columns, is there. False where the model has an intercept.
    order : {"C", "F"}, default="C"
        The layout of a dense result: row by row, or column by column.

    Attributes
    ----------
    powers_ : ndarray of shape (n_output_features_, n_features_in_)
        The exponent of each column in each product.
    n_output_features_ : int
        The number of products.

    See Also
    --------
    SplineTransformer : Curves of each column by pieces, which do not swing at the ends.
    GaussianFeatures : Bumps around centres.
    learnt.kernel_approximation.PolynomialCountSketch : As many columns as you like, which stand for all products.

    Notes
    -----
    d columns have (d + degree)! / (d! degree!) products: 66 for 10 columns and degree 2, 5,151 for 100. A sparse X
    gives a sparse matrix.

    Examples
    --------
    >>> PolynomialFeatures().fit_transform([[2.0, 3.0], [1.0, 5.0]])
    array([[ 1.,  2.,  3.,  4.,  6.,  9.],
           [ 1.,  1.,  5.,  1.,  5., 25.]])
    """

    __learnt_schema__ = Schema(
        params={"interaction_only": flag, "include_bias": flag, "order": choice("C", "F")},
        state={
            **ANY_FEATURES,
            "n_output_features_": count(0),
            "_min_degree": count(0, 1000),
            "_max_degree": count(0, 1000),
        },
    )
    __learnt_takes__ = Takes(sparse=True)

    def __init__(
        self, degree: Any = 2, *, interaction_only: bool = False, include_bias: bool = True, order: Any = "C"
    ) -> None:
        self.degree = degree
        self.interaction_only = interaction_only
        self.include_bias = include_bias
        self.order = order

    def fit(self, X: Any, y: Any = None) -> PolynomialFeatures:
        """Count the products; nothing is learned but the number of columns."""
        check_flag(self, "interaction_only", "include_bias")
        check_choice(self, "order", ("C", "F"))
        low, high = _degrees(self.degree, self.include_bias)
        check_fit(self, X)
        self._min_degree, self._max_degree = low, high
        self.n_output_features_ = self._count()
        if self.n_output_features_ > np.iinfo(np.intp).max:
            raise ValueError(
                f"The output that would result from the current configuration would have {self.n_output_features_} "
                "features which is too large to be indexed; lower the degree or pass fewer columns."
            )
        return self

    def _count(self) -> int:
        degrees = range(max(1, self._min_degree), self._max_degree + 1)
        bias = int(bool(self.include_bias))
        return bias + sum(count_terms(self.n_features_in_, t, bool(self.interaction_only)) for t in degrees)

    def _terms(self) -> Terms:
        return terms(self.n_features_in_, self._max_degree, bool(self.interaction_only), bool(self.include_bias))

    def _kept(self, starts: list[int]) -> np.ndarray | slice:
        """Which of all terms are in the result: those below the lowest degree are intermediate."""
        if self._min_degree <= 1:
            return slice(None)
        kept = np.arange(starts[self._min_degree], starts[-1])
        return np.r_[0, kept] if self.include_bias else kept

    @property
    def powers_(self) -> np.ndarray:
        """(n_output_features_, n_features_in_): the exponent of each column in each product."""
        check_is_fitted(self)
        table = self._terms()
        parent, feature = table.parents()
        powers = np.zeros((table.starts[-1], self.n_features_in_), dtype=np.int64)
        for t in range(1, self._max_degree + 1):
            stretch = np.arange(table.starts[t], table.starts[t + 1])
            if t > 1:
                powers[stretch] = powers[parent[stretch]]
            powers[stretch, feature[stretch]] += 1
        return powers[self._kept(table.starts)]

    def get_feature_names_out(self, input_features: Any = None) -> np.ndarray:
        """The products as text: "1", "x0", "x0^2", "x0 x1", …"""
        powers = self.powers_
        names = names_in(self, input_features)
        out = [
            " ".join(names[j] if row[j] == 1 else f"{names[j]}^{row[j]}" for j in np.flatnonzero(row)) or "1"
            for row in powers
        ]
        return np.array(out, dtype=object)

    def transform(self, X: Any) -> Any:
        """The products of each row: an array, or a sparse matrix of X's kind."""
        check_is_fitted(self)
        layout = X.format if sparse.issparse(X) else None
        kind = X
        X = check_predict(self, X, order="C")
        if layout is not None:
            return _like(self._sparse(X), kind, layout)
        table = self._terms()
        kept = self._kept(table.starts)
        out = np.empty((len(X), self.n_output_features_), dtype=X.dtype, order=self.order)
        all_columns = isinstance(kept, slice)

        def work(lo: int, hi: int) -> None:
            if all_columns:
                self._fill(X[lo:hi], table, out[lo:hi])
            else:
                full = np.empty((hi - lo, table.starts[-1]), dtype=X.dtype, order=self.order)
                self._fill(X[lo:hi], table, full)
                out[lo:hi] = full[:, kept]

        if self.order == "F":
            X = np.asfortranarray(X)
        for_blocks(work, len(X), grain=max(64 if self.order == "C" else 4096, _CELLS // max(1, table.starts[-1])))
        return out

    def _fill(self, X: np.ndarray, table: Terms, out: np.ndarray) -> None:
        bias = int(bool(self.include_bias))
        if self._max_degree == 0:
            out[:] = 1.0
            return
        if self.order == "C" and out.size > _SMALL:
            fill_products(X, table.runs, bias, out)
            return
        out[:, :bias] = 1.0
        out[:, bias : bias + X.shape[1]] = X
        for low, high, at, j in table.runs.tolist():
            np.multiply(out[:, low:high], X[:, j : j + 1], out=out[:, at : at + high - low])

    def _sparse(self, X: Any) -> Any:
        distinct, bias, degree = bool(self.interaction_only), int(bool(self.include_bias)), self._max_degree
        starts = first_terms(self.n_features_in_, degree, distinct, bool(bias))
        stored = np.diff(X.indptr).astype(np.int64)
        most = int(stored.max(initial=0))
        sizes = [sum(count_terms(m, t, distinct) for t in range(1, degree + 1)) for m in range(most + 1)]
        indptr = np.zeros(X.shape[0] + 1, dtype=np.int64)
        np.cumsum(np.array(sizes, dtype=np.int64)[stored] + bias, out=indptr[1:])
        narrow = max(int(indptr[-1]), starts[-1]) <= np.iinfo(np.int32).max
        columns = np.empty(indptr[-1], dtype=np.int32 if narrow else np.int64)
        data = np.empty(indptr[-1], dtype=X.dtype)
        if degree == 0:
            data[:], columns[:] = 1.0, 0
        else:
            indices = X.indices.astype(np.int64)
            if X.shape[1] > len(indices):  # there may be millions of empty columns
                present, indices = np.unique(indices, return_inverse=True)
            else:
                present = np.arange(X.shape[1])
            first = first_without(present.tolist(), self.n_features_in_, distinct, starts)
            rest = first_without((present + distinct).tolist(), self.n_features_in_, distinct, starts)
            rows = X.indptr.astype(np.int64)

            def work(lo: int, hi: int) -> None:
                begin = np.empty((2, most + 1), dtype=np.int64)
                fill_sparse_products(
                    X.data, indices, rows[lo : hi + 1], first, rest, degree, int(distinct), bias, indptr[lo : hi + 1],
                    begin, data, columns,
                )  # fmt: skip

            for_blocks(work, X.shape[0], grain=max(256, _CELLS // max(1, sizes[-1])))
        shape = X.shape[0], starts[-1]
        full = sparse.csr_array((data, columns, indptr.astype(columns.dtype)), shape=shape)
        kept = self._kept(starts)
        return full if isinstance(kept, slice) else full[:, kept]

    def __learnt_check__(self) -> None:
        if not 0 <= self._min_degree <= self._max_degree or self.n_output_features_ != self._count():
            raise ValueError("the number of products is not that of its degrees")

    def __sklearn_tags__(self) -> Any:
        tags = super().__sklearn_tags__()
        tags.transformer_tags.preserves_dtype = ["float64", "float32"]
        return tags


def _degrees(degree: Any, bias: bool) -> tuple[int, int]:
    """The lowest and the highest degree."""
    pair = (0, degree) if isinstance(degree, Integral) and not isinstance(degree, bool) else degree
    if not isinstance(pair, Sequence | np.ndarray) or len(pair) != 2 or (pair is not degree and pair[1] < 0):
        raise ValueError(f"degree must be a non-negative int or tuple (min_degree, max_degree), got {degree!r}.")
    if not all(isinstance(t, Integral) and int(t) >= 0 for t in pair) or pair[0] > pair[1]:
        raise ValueError(
            "degree=(min_degree, max_degree) must be two whole numbers of at least 0, the first not above the second, "
            f"got {degree!r}."
        )
    if pair[1] == 0 and not bias:
        what = "degree" if pair is not degree else "both min_degree and max_degree"
        raise ValueError(
            f"Setting {what} to zero and include_bias to False would result in an empty output array. Set one of them."
        )
    return int(pair[0]), int(pair[1])


def _like(matrix: Any, kind: Any, layout: str) -> Any:
    """A sparse result as the input was: array or matrix, CSC or else CSR."""
    matrix = matrix.tocsc() if layout == "csc" else matrix
    return matrix if isinstance(kind, sparse.sparray) else getattr(sparse, f"{matrix.format}_matrix")(matrix)
