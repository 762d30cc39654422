"""What feature maps share: names of columns, and the products of a polynomial in a compiled loop."""

from __future__ import annotations

from math import comb
from typing import Any, NamedTuple

import numpy as np

from learnt.engine.kernel import kernel


def names_in(estimator: Any, input_features: Any = None) -> np.ndarray:
    """The names of the columns that went in: given, remembered from `fit`, or x0, x1, …"""
    known = getattr(estimator, "feature_names_in_", None)
    d = estimator.n_features_in_
    if input_features is None:
        return np.array([f"x{j}" for j in range(d)], dtype=object) if known is None else known
    names = np.asarray(input_features, dtype=object)
    if known is not None and not np.array_equal(known, names):
        raise ValueError("input_features is not equal to feature_names_in_, the names of the columns in fit.")
    if len(names) != d:
        raise ValueError(f"input_features should have length equal to number of features ({d}), got {len(names)}.")
    return names


class Terms(NamedTuple):
    """All products of up to `degree` columns, in order of degree and then of columns: 1, a, b, aa, ab, bb, …

    starts[t] is the first term of degree t. Each of runs (from, to, at, column) makes a stretch of terms from one of a
    degree less, times a column.
    """

    starts: list[int]
    runs: np.ndarray

    def parents(self) -> tuple[np.ndarray, np.ndarray]:
        """For every term the one of a degree less that it is made from, and the column that makes it."""
        parent, feature = np.zeros(self.starts[-1], dtype=np.int64), np.zeros(self.starts[-1], dtype=np.int64)
        if len(self.starts) > 2:
            feature[self.starts[1] : self.starts[2]] = np.arange(self.starts[2] - self.starts[1])
        for low, high, at, j in self.runs:
            parent[at : at + high - low] = np.arange(low, high)
            feature[at : at + high - low] = j
        return parent, feature


def count_terms(d: int, degree: int, interaction_only: bool) -> int:
    """The number of products of exactly `degree` of d columns."""
    return comb(d, degree) if interaction_only else comb(d + degree - 1, degree) if d else int(degree == 0)


def first_terms(d: int, degree: int, interaction_only: bool, bias: bool) -> list[int]:
    """The first term of degree 0, 1, …, degree, and the end."""
    starts = [0, int(bias)]
    for t in range(1, degree + 1):
        starts.append(starts[-1] + count_terms(d, t, interaction_only))
    return starts


def first_without(columns: Any, d: int, interaction_only: bool, starts: list[int]) -> np.ndarray:
    """[t, i]: the first term of degree t that has none of the columns before columns[i]."""
    first = np.zeros((len(starts) - 1, len(columns)), dtype=np.int64)
    for t in range(1, len(first)):
        first[t] = [starts[t + 1] - count_terms(d - j, t, interaction_only) for j in columns]
    return first


def terms(d: int, degree: int, interaction_only: bool, bias: bool) -> Terms:
    """The products of degree 0 (where `bias`), 1, …, degree."""
    starts = first_terms(d, degree, interaction_only, bias)
    first = first_without(range(d + 1), d, interaction_only, starts)
    runs = [
        (first[t - 1, j + interaction_only], starts[t], first[t, j], j)
        for t in range(2, degree + 1)
        for j in range(d)
        if first[t, j] < first[t, j + 1]
    ]
    return Terms(starts, np.array(runs, dtype=np.int64).reshape(-1, 4))


@kernel
def fill_products(X, runs, bias, out):
    """All terms of every row of X."""
    d = X.shape[1]
    for i in range(X.shape[0]):
        if bias:
            out[i, 0] = 1.0
        for j in range(d):
            out[i, bias + j] = X[i, j]
        for r in range(runs.shape[0]):
            low, high, at = runs[r, 0], runs[r, 1], runs[r, 2]
            x = X[i, runs[r, 3]]
            for c in range(high - low):
                out[i, at + c] = out[i, low + c] * x


@kernel
def fill_sparse_products(data, indices, indptr, first, rest, degree, distinct, bias, out_indptr, begin, out, columns):
    """All terms of CSR rows that are not 0: those of degree t are an entry times a stretch of those of degree t − 1.

    first[t, j] is the first term of degree t that begins with column j; rest[t, j] the first that may follow it.
    """
    for i in range(indptr.size - 1):
        low, m = indptr[i], indptr[i + 1] - indptr[i]
        at = out_indptr[i]
        if bias:
            out[at] = 1.0
            columns[at] = 0
            at += 1
        for p in range(m):
            begin[0, p] = at
            out[at] = data[low + p]
            columns[at] = first[1, indices[low + p]]
            at += 1
        begin[0, m] = at
        for t in range(2, degree + 1):
            end = at
            for p in range(m):
                j = indices[low + p]
                shift = first[t, j] - rest[t - 1, j]
                begin[1, p] = at
                for q in range(begin[0, p + distinct], end):
                    out[at] = data[low + p] * out[q]
                    columns[at] = columns[q] + shift
                    at += 1
            for p in range(m):
                begin[0, p] = begin[1, p]
            begin[0, m] = at
