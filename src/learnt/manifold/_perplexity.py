"""Probabilities of neighbours whose perplexity is given."""

from __future__ import annotations

import math

import numpy as np
from scipy import sparse

from learnt.engine.kernel import kernel
from learnt.engine.threads import for_blocks

_GRAIN = 512
_CLOSE = 1e-6  # of the logarithm of the perplexity
_STEPS = 200  # at most: a precision is doubled or halved until it is enclosed, and then its interval is halved


@kernel
def bisect_precisions(squares, entropy, close, steps, P):
    """Rows of P ∝ exp(−β d²) with the entropy that is wanted; β by bisection, one for each row of square distances."""
    for i in range(squares.shape[0]):
        least, mean = squares[i].min(), squares[i].mean()
        beta = 1.0 / (mean - least) if mean > least else 1.0
        low, high = 0.0, np.inf
        for _ in range(steps):
            total, moment = 0.0, 0.0
            for j in range(squares.shape[1]):
                gap = squares[i, j] - least
                p = math.exp(-beta * gap)
                P[i, j] = p
                total += p
                moment += p * gap
            error = math.log(total) + beta * moment / total - entropy
            for j in range(squares.shape[1]):
                P[i, j] /= total
            if abs(error) <= close:
                break
            if error > 0.0:
                low = beta
                beta = 2.0 * beta if high == np.inf else 0.5 * (low + high)
            else:
                high = beta
                beta = 0.5 * (low + high)
            if beta > 1e300 or beta == 0.0:  # as many neighbours at one distance as no precision tells apart
                break


def conditional(squares: np.ndarray, perplexity: float) -> np.ndarray:
    """p(j | i) ∝ exp(−βᵢ d²ᵢⱼ) over the neighbours of each row, where exp(entropy) = perplexity.

    Where more neighbours than that are equally near, or there are fewer, the perplexity comes as near as it can.

    >>> p = conditional(np.array([[1.0, 2.0, 4.0, 9.0]]), 2.0)
    >>> round(float(np.exp(-(p * np.log(p)).sum())), 4)
    2.0
    """
    P = np.empty(squares.shape)

    def fill(lo: int, hi: int) -> None:
        bisect_precisions(squares[lo:hi], math.log(perplexity), _CLOSE, _STEPS, P[lo:hi])

    for_blocks(fill, len(squares), grain=_GRAIN)
    return P


def joint(index: np.ndarray, P: np.ndarray) -> sparse.csr_array:
    """Symmetric probabilities of pairs, which add up to 1: (p(j | i) + p(i | j)) / 2n.

    >>> joint(np.array([[1], [0], [1]]), np.ones((3, 1))).toarray().round(3).tolist()
    [[0.0, 0.333, 0.0], [0.333, 0.0, 0.167], [0.0, 0.167, 0.0]]
    """
    n, k = index.shape
    one_way = sparse.csr_array((P.ravel(), index.ravel(), np.arange(0, n * k + 1, k)), shape=(n, n))
    both = sparse.csr_array(one_way + one_way.T)
    both.sort_indices()
    both.data /= max(float(both.data.sum()), np.finfo(np.float64).tiny)
    return both
