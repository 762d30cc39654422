"""Which output is largest, or positive, in single precision where its error bound proves it.

Labels depend only on the order of the outputs of a row. A product of matrices in single precision takes half the time
of one in double, and its error is bounded: let u = 2⁻²⁴, and let the inputs h of a layer of k inputs be wrong by a
vector of length e. The outputs hW + b of that layer are then wrong by a vector of length at most

    ‖W‖₂ e + (k + 4) u (‖W‖_F ‖h‖ + ‖b‖),

and each single output by at most ‖w‖ e + (k + 4) u (‖w‖ ‖h‖ + |b|), w its column of W, both to first order in u;
(k + 4) counts the rounding of h, of W, the k products and sums, and b. ‖W‖₂² ≤ ‖WᵀW‖_F. All activations here have
slopes of at most one, and add a few u of their own. Rows whose two largest outputs are closer than twice the bound (one
output: closer to zero than the bound) are computed again in double precision, so that labels are the same.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import NamedTuple

import numpy as np

from learnt.engine.threads import for_blocks, single_blas
from learnt.neural_network._forward import activate, raw_outputs, rows_at_once

_U = 2.0**-24
_SAFETY = 1.1  # over the terms of second order in u
_TINY = 2.0**-63  # squares of smaller numbers, and products of their squares, have lost digits
_HUGE = 2.0**126  # larger sums may overflow
_ACTIVATION = 8 * _U  # of an activation that is not exact: tanh and the logistic function are within 4 u of at most 1
_AGAIN = 0.3  # share of rows computed twice above which double precision only is faster
_FEW = 500  # rows below which nothing is gained
_TRIED = 64  # rows of which that share is measured


class Layer(NamedTuple):
    """A layer in single precision and what bounds its error."""

    W: np.ndarray
    b: np.ndarray
    grows: float  # how much longer the vector of errors may become
    size: float  # the length of all weights, or of the longest column of the last layer's
    shift: float  # the length of b, or the largest of the last layer's


def labels_in_single(
    X: np.ndarray, coefs: Sequence[np.ndarray], intercepts: Sequence[np.ndarray], activation: str
) -> np.ndarray:
    """The number of the largest output of every row, or whether its only output is positive, as in double precision.

    For dense X, weights in double precision and many rows; see `applies`.
    """
    n = len(X)
    with single_blas():
        layers = layers_in_single(coefs, intercepts)
        tried = _decided(*_single(X[:_TRIED], layers, activation))[1]
    if tried.mean() < 1 - _AGAIN:
        return labels_of(raw_outputs(X, coefs, intercepts, activation))
    out = np.empty(n, dtype=np.intp)

    def work(lo: int, hi: int) -> np.ndarray:
        out[lo:hi], settled = _decided(*_single(X[lo:hi], layers, activation))
        return lo + np.flatnonzero(~settled)

    again = np.concatenate(for_blocks(work, n, grain=rows_at_once(n, coefs, 4)))
    if len(again):
        out[again] = labels_of(raw_outputs(X[again], coefs, intercepts, activation))
    return out


def labels_of(z: np.ndarray) -> np.ndarray:
    """The number of the largest output (the first of equal ones), or 1 where the only output is positive, else 0."""
    return (z[:, 0] > 0).astype(np.intp) if z.shape[1] == 1 else z.argmax(axis=1)


def applies(X: np.ndarray, coefs: Sequence[np.ndarray]) -> bool:
    return isinstance(X, np.ndarray) and X.dtype == coefs[0].dtype == np.float64 and len(X) > _FEW


def layers_in_single(coefs: Sequence[np.ndarray], intercepts: Sequence[np.ndarray]) -> list[Layer]:
    last = len(coefs) - 1
    return [_layer(W, b, first=i == 0, last=i == last) for i, (W, b) in enumerate(zip(coefs, intercepts))]


def _layer(W: np.ndarray, b: np.ndarray, first: bool, last: bool) -> Layer:
    with np.errstate(over="ignore", invalid="ignore"):
        single = W.astype(np.float32)
        if last:
            size = grows = float(np.sqrt(np.einsum("ij,ij->j", W, W).max()))
            shift = float(np.abs(b).max())
        else:
            size, shift = float(np.linalg.norm(W)), float(np.linalg.norm(b))
            unit = single if first else (W / (size + _TINY)).astype(np.float32)  # its squares do not overflow
            grows = size if first else size * float(np.sqrt(np.linalg.norm(unit.T @ unit)))
        return Layer(single, b.astype(np.float32), grows, size + _TINY, shift)


def _single(X: np.ndarray, layers: list[Layer], activation: str) -> tuple[np.ndarray, np.ndarray]:
    """The outputs of some rows in single precision, (outputs, n), and bounds on their errors, (n,).

    An output's values of all rows lie side by side, so that outputs are compared as vectors. The bound of a row with a
    value beyond single precision is infinite.
    """
    with np.errstate(over="ignore", invalid="ignore"):
        h = X.astype(np.float32)
        error = np.zeros(len(h))
        for i, one in enumerate(layers):
            k, hidden = len(one.W), i < len(layers) - 1
            lengths = _lengths(h)
            if i and activation not in ("relu", "identity"):
                error += _ACTIVATION * np.maximum(lengths, np.sqrt(k))
            sums = one.size * lengths + one.shift  # no partial sum is larger
            rounding = np.where(sums < _HUGE, (k + 4) * _U * sums + _TINY * _U, np.inf)
            error = _SAFETY * (one.grows * error + rounding)
            h = h @ one.W if hidden else one.W.T @ h.T
            h += one.b if hidden else one.b[:, None]
            if hidden:
                activate(h, activation)
    return h, error


def _lengths(h: np.ndarray) -> np.ndarray:
    """At least the length of every row."""
    return np.sqrt(np.einsum("ij,ij->i", h, h), dtype=np.float64) + _TINY * np.sqrt(h.shape[1])


def _decided(z: np.ndarray, bound: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """The labels of outputs (outputs, n), and which of them the error cannot change."""
    if len(z) == 1:
        return z[0] > 0, np.abs(z[0]) > bound
    labels = np.zeros(z.shape[1], dtype=np.intp)
    top, second = z[0].copy(), np.full(z.shape[1], -np.inf, dtype=z.dtype)
    for number in range(1, len(z)):
        one = z[number]
        np.maximum(second, np.minimum(top, one), out=second)
        labels[one > top] = number
        np.maximum(top, one, out=top)
    with np.errstate(invalid="ignore"):  # ∞ − ∞ of values beyond single precision: undecided
        return labels, top - second > 2 * bound
