"""Calibration before and after: what share of the rows was what the model said, without its map and with it."""

from __future__ import annotations

import numpy as np

from learnt.diagnosis import row_losses, wilson_interval
from learnt.study.facts._sections import BeforeAndAfter, Reliability

BINS = 10
LEAST_IN_BIN = 20


def before_and_after(
    codes: np.ndarray, before: np.ndarray, after: np.ndarray, *, classes: list, positive: int | None
) -> BeforeAndAfter:
    """Reliability of held-out probabilities without and with calibration maps that were fitted to other rows.

    With two classes it is about the positive one, with more about the likeliest: how often it is right.

    Parameters
    ----------
    codes : array of int
        The number of each row's class.
    before, after : arrays of shape (n_rows, n_classes)
        Probabilities of rows that the models had not seen.
    classes : list
    positive : int or None
        The number of the positive class of two.

    Examples
    --------
    >>> p = np.array([[0.9, 0.1], [0.2, 0.8]] * 30)
    >>> found = before_and_after(np.array([0, 1] * 30), p, p, classes=["no", "yes"], positive=1)
    >>> found.about, round(found.before.gap, 2) == round(found.after.gap, 2)
    ('yes', True)
    """
    names = np.arange(len(classes))

    def one(p: np.ndarray) -> Reliability:
        brier = float(row_losses(codes, p, names).mean())
        if positive is not None:
            return _reliability(codes == positive, p[:, positive], brier)
        return _reliability(p.argmax(axis=1) == codes, p.max(axis=1), brier)

    about = str(classes[positive]) if positive is not None else "the likeliest class"
    return BeforeAndAfter(about, len(codes), one(before), one(after))


def _reliability(hit: np.ndarray, score: np.ndarray, brier: float) -> Reliability:
    order = np.argsort(score, kind="stable")
    parts = [p for p in np.array_split(order, min(BINS, max(len(hit) // LEAST_IN_BIN, 2))) if len(p)]
    predicted = [float(score[p].mean()) for p in parts]
    shares = [wilson_interval(hit[p].sum(), len(p)) for p in parts]
    rows = [len(p) for p in parts]
    gap = float(np.average([abs(a - s.estimate) for a, s in zip(predicted, shares)], weights=rows))
    return Reliability(
        predicted, [s.estimate for s in shares], [s.low for s in shares], [s.high for s in shares], rows, gap, brier
    )
