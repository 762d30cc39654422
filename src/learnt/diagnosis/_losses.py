"""The losses of rows that every judgement uses, and the sizes of a learning curve."""

from __future__ import annotations

import numpy as np


def row_losses(y_true: np.ndarray, prediction: np.ndarray, classes: np.ndarray | None = None) -> np.ndarray:
    """The squared loss of each row: (y − ŷ)² for numbers, ½ Σₖ (pₖ − [y = k])² (half the Brier score) for classes.

    For two classes the latter is (p − [y = 1])². Both are proper, bounded by their scale, and decompose exactly
    into noise, bias and variance, which is why every judgement here uses them.

    >>> row_losses(np.array([1, 0]), np.array([[0.2, 0.8], [0.6, 0.4]]), np.array([0, 1]))
    array([0.04, 0.16])
    """
    if classes is None:
        return (np.asarray(y_true, dtype=np.float64) - np.asarray(prediction, dtype=np.float64).ravel()) ** 2
    truth = np.asarray(y_true)[:, None] == np.asarray(classes)[None, :]
    return 0.5 * np.sum((np.asarray(prediction, dtype=np.float64) - truth) ** 2, axis=1)


def spread_columns(probabilities: np.ndarray, have: np.ndarray, want: np.ndarray) -> np.ndarray:
    """Probabilities over all classes from a model that saw only some of them.

    >>> spread_columns(np.array([[0.3, 0.7]]), np.array(["a", "c"]), np.array(["a", "b", "c"]))
    array([[0.3, 0. , 0.7]])
    """
    if len(have) == len(want):
        return probabilities
    out = np.zeros((len(probabilities), len(want)))
    out[:, np.searchsorted(want, have)] = probabilities
    return out


def curve_sizes(n: int, count: int = 6) -> list[int]:
    """Training sizes for a learning curve: geometric, from a sixteenth of the rows (at least 30) to all of them.

    >>> curve_sizes(1600, 5)
    [100, 200, 400, 800, 1600]
    """
    first = max(min(n, 30), n // 16)
    return sorted({round(v) for v in np.geomspace(first, n, count)})
