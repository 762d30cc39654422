"""Which output is largest, or positive, in single precision where its error bound proves it.

Labels depend only on the order of the outputs of a row. A product of matrices in single precision takes half the time
of one in double, and its error is bounded: let u = 2⁻²⁴, and let the inputs h of a layer of k inputs be wrong by a
vector of length e. The outputs hW + b of that layer are then wrong by a vector of length at most

    ‖W‖₂ e + (k + 4) u (‖W‖_F ‖h‖ + ‖b‖),

and each single output by at most ‖w‖ e + (k + 4) u (‖w‖ ‖h‖ + |b|), w its column of W, both to first order in u;
(k + 4) counts the rounding of h, of W, the k products and sums, and b. ‖W‖₂ ≤ ‖(WᵀW)²‖_F^¼. All activations here have
slopes of at most one, and add a few u of their own. Lengths need no pass over the rows of each layer: ‖h‖ is at most
√k behind tanh and the logistic function, and else ‖W‖₂ ‖h'‖ + ‖b‖ of the inputs h' of the layer before. So the error of
an output is at most a constant plus a slope times the length of x, both of the weights alone. Rows whose two largest
outputs are closer than twice that (one output: closer to zero than that) are computed again in double precision, so
that labels are the same.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import NamedTuple

import numpy as np

from learnt.engine.threads import for_blocks, single_blas
from learnt.neural_network._forward import Memory, memory_of_threads, raw_outputs, rows_at_once, with_intercept

_U = 2.0**-24
_SAFETY = 1.1  # over the terms of second order in u
_TINY = 2.0**-63  # squares of smaller numbers, and products of their squares, have lost digits
_HUGE = 2.0**126  # larger sums may overflow
_ACTIVATION = 8 * _U  # of an activation that is not exact: tanh and the logistic function are within 4 u of at most 1
_AGAIN = 0.3  # share of rows computed twice above which double precision only is faster
_FEW = 500  # rows below which nothing is gained
_TRIED = 64  # rows of which that share is measured


class Single(NamedTuple):
    """The layers in single precision, and what bounds the errors of their outputs."""

    weights: list[np.ndarray]  # the intercept is the last row
    constant: float
    slope: float  # what a unit of the length of x adds to the bound
    limit: float  # the length of x from which sums may overflow


def labels_in_single(
    X: np.ndarray, coefs: Sequence[np.ndarray], intercepts: Sequence[np.ndarray], activation: str
) -> np.ndarray:
    """The number of the largest output of every row, or whether its only output is positive, as in double precision.

    For dense X, weights in double precision and many rows; see `applies`.
    """
    n = len(X)
    with single_blas():
        net = in_single(coefs, intercepts, activation)
        tried = _decided(*_outputs(X[:_TRIED], net, activation, Memory(_TRIED, net.weights)))[1]
    if tried.mean() < 1 - _AGAIN:
        return labels_of(raw_outputs(X, coefs, intercepts, activation))
    out, own = np.empty(n, dtype=np.intp), memory_of_threads(n, net.weights)

    def work(lo: int, hi: int) -> np.ndarray:
        out[lo:hi], settled = _decided(*_outputs(X[lo:hi], net, activation, own()))
        return lo + np.flatnonzero(~settled)

    again = np.concatenate(for_blocks(work, n, grain=rows_at_once(n, net.weights)))
    if len(again):
        out[again] = labels_of(raw_outputs(X[again], coefs, intercepts, activation))
    return out


def labels_of(z: np.ndarray) -> np.ndarray:
    """The number of the largest output (the first of equal ones), or 1 where the only output is positive, else 0."""
    return (z[:, 0] > 0).astype(np.intp) if z.shape[1] == 1 else z.argmax(axis=1)


def applies(X: np.ndarray, coefs: Sequence[np.ndarray]) -> bool:
    return isinstance(X, np.ndarray) and X.dtype == coefs[0].dtype == np.float64 and len(X) > _FEW


def in_single(coefs: Sequence[np.ndarray], intercepts: Sequence[np.ndarray], activation: str) -> Single:
    inexact = 0.0 if activation in ("relu", "identity") else _ACTIVATION
    bounded = activation in ("tanh", "logistic", "sigmoid")
    layers = []
    with np.errstate(over="ignore", invalid="ignore"):
        for i, (W, b) in enumerate(zip(coefs, intercepts)):
            if i == len(coefs) - 1:  # each output by itself
                size = spread = float(np.sqrt(np.einsum("ij,ij->j", W, W).max())) + _TINY
                layers.append(_Layer(len(W), size, spread, float(np.abs(b).max())))
            else:
                size = float(np.linalg.norm(W)) + _TINY
                layers.append(_Layer(len(W), size, size * _stretch(W / size), float(np.linalg.norm(b))))
        constant, slope, limit = 0.0, 0.0, np.inf
        length = _Length(0.0, 1.0)  # of the inputs of a layer: a constant and a multiple of the length of x
        for i, (k, size, spread, shift) in enumerate(layers):
            passed_on = _SAFETY ** (len(layers) - i) * float(np.prod([later.spread for later in layers[i + 1 :]]))
            before = inexact * spread if i else 0.0  # the error of the activation of a unit; X has none
            rate = passed_on * ((k + 4) * _U * size + before)
            constant += passed_on * ((k + 4) * _U * shift + _TINY * _U + before * np.sqrt(k)) + rate * length.constant
            slope += rate * length.multiple
            limit = min(limit, length.reaches((_HUGE - shift) / size))
            grown = _Length(spread * length.constant + shift, spread * length.multiple)
            length = _Length(_SAFETY * np.sqrt(len(intercepts[i])), 0.0) if bounded else grown
        weights = [with_intercept(W, b, np.float32) for W, b in zip(coefs, intercepts)]
    return Single(weights, constant, slope, limit)


class _Layer(NamedTuple):
    inputs: int
    size: float  # ‖W‖_F, or of the last layer its longest column
    spread: float  # at least ‖W‖₂, or the same
    shift: float  # ‖b‖


class _Length(NamedTuple):
    """constant + multiple · ‖x‖."""

    constant: float
    multiple: float

    def reaches(self, limit: float) -> float:
        """The length of x at which this may be `limit`."""
        room = limit / _SAFETY - self.constant
        if not room > 0:
            return 0.0
        return room / self.multiple if self.multiple > 0 else np.inf


def _stretch(unit: np.ndarray) -> float:
    """At least the largest singular value of a matrix whose squares sum to 1, and at most the root of that sum."""
    small = unit.astype(np.float32)
    gram = small.T @ small if len(small) >= small.shape[1] else small @ small.T
    return float(np.sqrt(np.sqrt(np.linalg.norm(gram @ gram))))


def _outputs(X: np.ndarray, net: Single, activation: str, memory: Memory) -> tuple[np.ndarray, np.ndarray]:
    """The outputs of some rows in single precision, (outputs, n), and bounds on their errors, (n,).

    An output's values of all rows lie side by side, so that outputs are compared as vectors. The bound of a row with a
    value beyond single precision is infinite.
    """
    with np.errstate(over="ignore", invalid="ignore"):
        layers = memory.inputs(X, activation)
        last = next(layers)
        lengths = _lengths(last[:, :-1])
        if not lengths.max() < net.limit:
            lengths[~(lengths < net.limit)] = np.inf
        for following in layers:
            last = following
        return net.weights[-1].T @ last.T, net.constant + net.slope * lengths


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
