"""Where a factorisation begins: random numbers, or the non-negative parts of singular vectors.

C. Boutsidis and E. Gallopoulos, "SVD based initialization: a head start for nonnegative matrix factorization", 2008.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from learnt.decomposition.spectrum._centre import Centre
from learnt.decomposition.spectrum._krylov import randomized
from learnt.engine.random import random_state_of
from learnt.engine.rows import Block, Rows, as_rows, in_memory

_OVERSAMPLES, _POWER = 10, 2  # a start need not be exact
_EPS = 1e-6  # smaller entries of the start are 0


def first_factors(X: Any, k: int, init: str | None, random_state: Any) -> tuple[np.ndarray, np.ndarray]:
    """W (n × k) and H (k × d) to start from."""
    rows = as_rows(X)
    n, d = rows.n_rows, rows.n_features
    if init is None:
        init = "nndsvda" if k <= min(n, d) else "random"
    if init != "random" and k > min(n, d):
        raise ValueError(
            f"init = '{init}' can only be used when n_components <= min(n_samples, n_features), and {k} components are "
            f"asked of {n} rows and {d} columns; use init='random' or fewer components."
        )
    draw = random_state_of(random_state)
    average = rows.sum(total_of)[0] / (n * d)
    if init == "random":
        size = np.sqrt(average / k)
        H = np.abs(size * draw.standard_normal((k, d)))
        W = np.abs(size * draw.standard_normal((n, k)))
        return W.astype(rows.dtype), H.astype(rows.dtype)
    W, H = non_negative_parts(*singular_vectors(rows, k, draw))
    if init == "nndsvda":
        W[W == 0] = average
        H[H == 0] = average
    elif init == "nndsvdar":
        draw = random_state_of(random_state)
        for A in (W, H):
            zero = A == 0
            A[zero] = np.abs(average * draw.standard_normal(np.count_nonzero(zero)) / 100)
    return W.astype(rows.dtype, copy=False), H.astype(rows.dtype, copy=False)


def total_of(block: Block) -> tuple[float]:
    """The sum of all entries of a block."""
    return (float(block.X.sum(dtype=np.float64)),)


def products(block: Block, B: np.ndarray) -> np.ndarray:
    return np.asarray(block.X @ B)


def singular_vectors(rows: Rows, k: int, draw: np.random.RandomState) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """U (n × k), singular values and V (k × d) of the rows as they are."""
    n, d = rows.n_rows, rows.n_features
    about = Centre(n, np.zeros(d), 0.0)
    spectrum = randomized(rows, k, _OVERSAMPLES, _POWER, draw, about)
    s = np.sqrt(np.asarray(spectrum.variance) * max(n - 1, 1))
    V = np.asarray(spectrum.components)
    U = in_memory(rows.map(products, V.T)) / np.where(s > 0, s, 1.0)
    return U, s, V


def non_negative_parts(U: np.ndarray, s: np.ndarray, V: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """For each singular pair, whichever of its positive and negative parts is larger, √σ on either side."""
    W, H = np.zeros_like(U), np.zeros_like(V)
    W[:, 0], H[0] = np.sqrt(s[0]) * np.abs(U[:, 0]), np.sqrt(s[0]) * np.abs(V[0])
    for j in range(1, len(s)):
        best = 0.0
        for sign in (1.0, -1.0):
            u, v = np.maximum(sign * U[:, j], 0.0), np.maximum(sign * V[j], 0.0)
            lengths = np.linalg.norm(u), np.linalg.norm(v)
            weight = float(lengths[0] * lengths[1])
            if weight > best:
                best = weight
                scale = np.sqrt(s[j] * weight)
                W[:, j], H[j] = scale * u / lengths[0], scale * v / lengths[1]
    W[W < _EPS] = 0.0
    H[H < _EPS] = 0.0
    return W, H
