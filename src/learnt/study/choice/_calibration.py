"""Probabilities made honest: a map fitted to out-of-fold predictions, kept only where it lowers the loss there.

The map is  p′_c ∝ exp(b_c) · (p_c + floor)^exponent.  With offsets b = 0 it is temperature scaling, with them Platt's
(for several classes: vector) scaling; the floor keeps the zeros of forests and neighbours from costing everything.
For a given floor the log loss is convex in (exponent, b), and Newton's method finds its minimum.

Whatever it says, a model has been tried on n rows only, and may know nothing about the next one: its answer is mixed
with equal shares of all K classes,  p″ = (1 − doubt)·p′ + doubt/K.  The doubt has the lowest log loss on the rows there
are and a further quarter of a row on which the model is surely wrong; where no row was, its share is 1/(4n), and that
much doubt everybody has.

References
----------
J. Platt, Probabilistic outputs for support vector machines (1999).
C. Guo, G. Pleiss, Y. Sun, K. Weinberger, On calibration of modern neural networks (2017), arXiv:1706.04599
"""

from __future__ import annotations

from typing import Any

import numpy as np

from learnt.study.race._objective import row_losses
from learnt.study.race._recipe import recalibrated

FLOORS = (1e-6, 1e-3, 1e-2)
LEAST_GAIN = 1e-3  # of the loss; less is not worth another step in the model
MOST_ROWS = 3_000  # of the fit: three parameters do not need more
UNSEEN = 0.25  # rows on which the model is surely wrong, besides those that were seen
IDENTITY: dict[str, Any] = {"exponent": 1.0, "floor": 0.0, "offsets": None}

Map = dict[str, Any]


def fit_maps(p: np.ndarray, y: np.ndarray) -> tuple[Map, Map]:
    """The maps without and with offsets that have the lowest log loss on these rows.

    Both are slightly drawn towards the identity, by a prior worth one row. The floor is chosen without offsets.
    """
    if len(y) > MOST_ROWS:
        rows = np.linspace(0, len(y) - 1, MOST_ROWS).astype(np.int64)
        p, y = p[rows], y[rows]
    plain = min((_newton(np.log(p + floor), y, False, floor) for floor in FLOORS), key=lambda pair: pair[0])[1]
    return plain, _newton(np.log(p + plain["floor"]), y, True, plain["floor"])[1]


def _newton(logs: np.ndarray, y: np.ndarray, offsets: bool, floor: float) -> tuple[float, Map]:
    """Minimise mean −log softmax(β·logs + b)_y + (½/n)·((β − 1)² + ‖b‖²)."""
    n, k = logs.shape
    truth = np.zeros((n, k))
    truth[np.arange(n), y] = 1.0
    theta = np.zeros(1 + (k if offsets else 0))
    theta[0] = 1.0
    start = np.zeros_like(theta)
    start[0] = 1.0

    def value(at: np.ndarray) -> tuple[float, np.ndarray]:
        scores = at[0] * logs + (at[1:] if offsets else 0.0)
        scores = scores - scores.max(axis=1, keepdims=True)
        e = np.exp(scores)
        total = e.sum(axis=1)
        loss = float(np.mean(np.log(total) - scores[np.arange(n), y])) + 0.5 / n * float(np.sum((at - start) ** 2))
        return loss, e / total[:, None]

    loss, q = value(theta)
    for _ in range(25):
        rest = q - truth
        centred = logs - np.sum(q * logs, axis=1, keepdims=True)
        gradient = np.concatenate([[np.sum(rest * logs)], rest.sum(axis=0) if offsets else []]) / n
        gradient += (theta - start) / n
        curvature = np.eye(len(theta)) / n
        curvature[0, 0] += np.sum(q * centred**2) / n
        if offsets:
            cross = np.sum(q * centred, axis=0) / n
            curvature[0, 1:] += cross
            curvature[1:, 0] += cross
            curvature[1:, 1:] += (np.diag(q.sum(axis=0)) - q.T @ q) / n
        step = np.linalg.solve(curvature, gradient)
        size = 1.0
        while size > 1e-4:
            trial = theta - size * step
            trial[0] = max(trial[0], 0.05)  # a negative exponent would mean a broken model, not a badly calibrated one
            new, new_q = value(trial)
            if new <= loss:
                break
            size /= 2
        else:
            break
        gained = loss - new
        theta, loss, q = trial, new, new_q
        if gained < 1e-9:
            break
    given = (theta[1:] - theta[1:].mean()).tolist() if offsets else None
    return loss, {"exponent": float(theta[0]), "floor": floor, "offsets": given}


def fit_doubt(p: np.ndarray, y: np.ndarray, unseen: float = UNSEEN) -> float:
    """The least of  −Σ log((1 − ε)·p_y + ε/K) − unseen·log ε;  0 where no probability is more extreme than that allows.

    >>> sure, n = np.array([[1.0, 0.0]]), 1000
    >>> round(4 * n * fit_doubt(np.repeat(sure, n, axis=0), np.zeros(n, dtype=np.int64)), 2)
    2.0
    """
    n, k = p.shape
    given = p[np.arange(n), y]
    low, high = np.log(1e-12), 0.0
    for _ in range(40):  # the derivative grows with ε
        middle = (low + high) / 2
        doubt = np.exp(middle)
        slope = float(np.sum((given - 1 / k) / ((1 - doubt) * given + doubt / k))) - unseen / doubt
        low, high = (low, middle) if slope > 0 else (middle, high)
    doubt = float(np.exp(low))
    return 0.0 if p.min() >= doubt / k else doubt


def least_doubt(p: np.ndarray, unseen: float = UNSEEN) -> float:
    """The result of `fit_doubt` where every row is predicted correctly with probability 1."""
    n, k = p.shape
    doubt = min(unseen / n * k / (k - 1), 0.5)
    return 0.0 if p.min() >= doubt / k else doubt


def _maps(p: np.ndarray, y: np.ndarray, unseen: float) -> list[Map]:
    """Three maps: only the least doubt; with fitted doubt and exponent, without and with offsets."""
    bent = (IDENTITY, *fit_maps(p, y))
    fitted = [{**found, "doubt": fit_doubt(recalibrated(p, found), y, unseen)} for found in bent]
    return [{**IDENTITY, "doubt": least_doubt(p, unseen)}, *fitted]


def calibrate(p: np.ndarray, y: np.ndarray, groups: np.ndarray, repeats: float = 1.0) -> tuple[Map | None, np.ndarray]:
    """The map for out-of-fold probabilities, and what they become; None and `p` itself where none is needed.

    Whether a map lowers the loss is cross-validated: rows of a group are mapped by what was fitted to all other groups.
    The map returned is fitted to all rows. `repeats` is how many times each row is among them.
    """
    unseen = UNSEEN * repeats
    mapped = np.empty((4, *p.shape))
    for g in np.unique(groups):
        inside = groups == g
        for k, found in enumerate(_maps(p[~inside], y[~inside], unseen)):
            mapped[k, inside] = recalibrated(p[inside], found)
    losses = [float(row_losses(y, one, p.shape[1]).mean()) for one in mapped]
    kind = int(np.argmin(losses))
    if losses[kind] >= (1 - LEAST_GAIN) * losses[0]:
        kind = 0
    found = _maps(p, y, unseen)[kind]
    return (None, p) if found == {**IDENTITY, "doubt": 0.0} else (found, mapped[kind])


def reshapes(found: Map | None) -> bool:
    """Whether a map does more than add doubt."""
    return found is not None and {**found, "doubt": 0.0} != {**IDENTITY, "doubt": 0.0}
