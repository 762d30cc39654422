"""Which output is largest, or positive, in single precision where its error bound proves it.

Labels depend only on the order of the outputs of a row. A product of matrices in single precision takes half the time
of one in double, and its error is bounded: let u = 2⁻²⁴, and let e bound the error of the inputs h of a layer of k
inputs. The outputs z = hW + b of that layer are then wrong by at most

    S e + (k + 3) u (S max|h| + max|b|),     S = max over units of Σ|W|,

to first order in u; (k + 3) counts the rounding of W, the k products and sums, and b. All activations here have slopes
of at most one, and add a few u of their own. Rows whose two largest outputs are closer than twice the bound (one
output: closer to zero than the bound) are computed again in double precision, so that labels are the same.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import NamedTuple

import numpy as np

from learnt.engine.threads import for_blocks
from learnt.neural_network._forward import CELLS, activate, block_outputs

_U = 2.0**-24
_SAFETY = 1.1  # over the terms of second order in u
_ACTIVATION = 8 * _U  # of an activation that is not exact: tanh and the logistic function are within 4 u of at most 1
_AGAIN = 0.3  # share of rows computed twice above which double precision only is faster
_FEW = 2048  # rows below which nothing is gained


class Layer(NamedTuple):
    """A layer in single precision and what bounds its error."""

    W: np.ndarray
    b: np.ndarray
    size: float  # the largest Σ|W| of a unit
    shift: float  # max|b|


def outputs_for_labels(
    X: np.ndarray, coefs: Sequence[np.ndarray], intercepts: Sequence[np.ndarray], activation: str
) -> np.ndarray:
    """Outputs (n, outputs) with the order, and the signs, that double precision gives them.

    For dense X, weights in double precision and many rows; see `applies`.
    """
    n = len(X)
    layers = [layer(W, b) for W, b in zip(coefs, intercepts)]
    out = np.empty((n, coefs[-1].shape[1]))
    grain = max(256, CELLS // max(W.shape[1] for W in coefs))

    def work(lo: int, hi: int) -> int:
        z, bound = _single(X[lo:hi], layers, activation)
        out[lo:hi] = z
        again = np.flatnonzero(~_settled(z, bound))
        if len(again):
            out[lo + again] = block_outputs(X[lo + again], coefs, intercepts, activation)
        return len(again)

    def work_in_double(lo: int, hi: int) -> None:
        out[lo:hi] = block_outputs(X[lo:hi], coefs, intercepts, activation)

    first = min(grain, n)
    doubtful = work(0, first)
    rest = work_in_double if doubtful > _AGAIN * first else work
    for_blocks(lambda lo, hi: rest(first + lo, first + hi), n - first, grain=grain)
    return out


def applies(X: np.ndarray, coefs: Sequence[np.ndarray]) -> bool:
    return isinstance(X, np.ndarray) and X.dtype == coefs[0].dtype == np.float64 and len(X) > _FEW


def layer(W: np.ndarray, b: np.ndarray) -> Layer:
    with np.errstate(over="ignore"):
        return Layer(W.astype(np.float32), b.astype(np.float32), np.abs(W).sum(axis=0).max(), np.abs(b).max())


def _single(X: np.ndarray, layers: list[Layer], activation: str) -> tuple[np.ndarray, float]:
    """The outputs of some rows in single precision, and a bound on their error: NaN where a value overflowed."""
    with np.errstate(over="ignore", invalid="ignore"):
        h = X.astype(np.float32)
        largest = _largest(h)
        error = _U * largest
        for i, one in enumerate(layers):
            h = h @ one.W
            h += one.b
            rounding = (len(one.W) + 3) * _U * (one.size * largest + one.shift)
            error = _SAFETY * (one.size * error + rounding)
            if i < len(layers) - 1:
                activate(h, activation)
                largest = _largest_after(h, activation)
                error += 0.0 if activation in ("relu", "identity") else _ACTIVATION * max(1.0, largest)
    return h, error


def _largest_after(h: np.ndarray, activation: str) -> float:
    """max|h| behind an activation: h of ReLU is not negative, tanh and the logistic function are at most one."""
    if activation == "relu":
        return float(h.max())
    return _largest(h) if activation in ("leaky_relu", "identity") else 1.0


def _largest(h: np.ndarray) -> float:
    return max(float(h.max()), -float(h.min()))


def _settled(z: np.ndarray, bound: float) -> np.ndarray:
    """Rows whose labels the error cannot change."""
    if z.shape[1] == 1:
        return np.abs(z[:, 0]) > bound
    rows, top = np.arange(len(z)), z.argmax(axis=1)
    best = z[rows, top]
    others = z.copy()
    others[rows, top] = -np.inf
    with np.errstate(invalid="ignore"):  # ∞ − ∞ of values beyond single precision: undecided
        return best - others.max(axis=1) > 2 * bound
