"""The losses of rows that every judgement uses, and the sizes of a learning curve."""

from __future__ import annotations

import numpy as np


def row_losses(y_true: np.ndarray, prediction: np.ndarray, classes: np.ndarray | None = None) -> np.ndarray:
    """The squared loss of each row: (y − ŷ)² for numbers, ½ Σₖ (pₖ − [y = k])² (half the Brier score) for classes.

    For two classes the latter is (p − [y = 1])². Both are proper, bounded by their scale, and decompose exactly
    into noise, bias and variance, which is why every judgement here uses them.

    Parameters
    ----------
    y_true : array-like of shape (n_samples,)
        The true numbers, or the true labels.
    prediction : array-like of shape (n_samples,) or (n_samples, n_classes)
        The predicted numbers, or the probabilities of the classes.
    classes : array-like of shape (n_classes,), default=None
        The classes, in the order of the columns of `prediction`; None for numbers.

    Returns
    -------
    losses : ndarray of shape (n_samples,)
        At least 0, row by row.

    See Also
    --------
    learnt.metrics.brier_score_loss : The mean over rows, for classes.
    learnt.metrics.mean_squared_error : The mean over rows, for numbers.
    spread_columns : Probabilities of a model that saw some of the classes only.

    Examples
    --------
    >>> import numpy as np
    >>> from learnt.diagnosis import row_losses
    >>> row_losses(np.array([1, 0]), np.array([[0.2, 0.8], [0.6, 0.4]]), np.array([0, 1]))
    array([0.04, 0.16])
    """
    if classes is None:
        return (np.asarray(y_true, dtype=np.float64) - np.asarray(prediction, dtype=np.float64).ravel()) ** 2
    truth = np.asarray(y_true)[:, None] == np.asarray(classes)[None, :]
    return 0.5 * np.sum((np.asarray(prediction, dtype=np.float64) - truth) ** 2, axis=1)


def spread_columns(probabilities: np.ndarray, have: np.ndarray, want: np.ndarray) -> np.ndarray:
    """Probabilities over all classes from a model that saw only some of them; those that it did not see get 0.

    Parameters
    ----------
    probabilities : ndarray of shape (n_samples, n_seen)
        What the model predicts.
    have : ndarray of shape (n_seen,)
        The classes of its columns, sorted, such as `classes_`.
    want : ndarray of shape (n_classes,)
        All classes, sorted.

    Returns
    -------
    probabilities : ndarray of shape (n_samples, n_classes)
        A column for each of `want`; what was passed, where no class is missing.

    See Also
    --------
    row_losses : Takes such probabilities.

    Examples
    --------
    >>> import numpy as np
    >>> from learnt.diagnosis import spread_columns
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

    Parameters
    ----------
    n : int
        How many rows there are to train on.
    count : int, default=6
        How many sizes; fewer come back where some are equal.

    Returns
    -------
    sizes : list of int
        Rising, the last of them n.

    See Also
    --------
    learnt.model_selection.learning_curve : Scores at such sizes.
    read_curve : A verdict from losses at such sizes.

    Examples
    --------
    >>> from learnt.diagnosis import curve_sizes
    >>> curve_sizes(1600, 5)
    [100, 200, 400, 800, 1600]
    """
    first = max(min(n, 30), n // 16)
    return sorted({round(v) for v in np.geomspace(first, n, count)})
