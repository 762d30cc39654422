"""A map of probabilities: a power, a floor, offsets of the classes, a share of doubt."""

from __future__ import annotations

from typing import Any

import numpy as np


def recalibrate(
    probability: np.ndarray, exponent: float = 1.0, floor: float = 0.0, offsets: Any = None, doubt: float = 0.0
) -> np.ndarray:
    """(1 − doubt)·p′ + doubt/K  with  p′_c ∝ exp(b_c) · (p_c + floor)^exponent  for each row; K classes.

    Parameters
    ----------
    probability : ndarray of shape (n_samples, n_classes)
        Probabilities; each row adds up to 1.
    exponent : float, default=1.0
        Power of the probabilities, above 0: more than 1 makes the classifier surer (sharpens), less than 1 less sure,
        as temperature scaling with the temperature 1/exponent does.
    floor : float, default=0.0
        Added to each probability before the power, from 0 to 1, so that a probability of 0 does not stay 0.
    offsets : array-like of float of shape (n_classes,) or None, default=None
        One number for each class, in the order of the columns, added to the logarithms; a positive one makes its class
        more probable. None adds nothing.
    doubt : float, default=0.0
        Weight of equal shares of all K classes, from 0 to less than 1: no class becomes surer than it allows.

    Returns
    -------
    recalibrated : ndarray of shape (n_samples, n_classes)
        The new probabilities; each row adds up to 1.

    See Also
    --------
    RecalibratedClassifier : A classifier with this map.
    learnt.calibration.CalibratedClassifierCV : Learns a map by cross-validation.

    References
    ----------
    .. [1] C. Guo, G. Pleiss, Y. Sun and K. Weinberger, "On calibration of modern neural networks", ICML, 2017.

    Examples
    --------
    >>> recalibrate(np.array([[0.2, 0.8]]), exponent=2.0).round(4)
    array([[0.0588, 0.9412]])
    """
    with np.errstate(divide="ignore"):
        scores = exponent * np.log(np.asarray(probability, dtype=np.float64) + floor)
    if offsets is not None:
        scores = scores + np.asarray(offsets, dtype=np.float64)
    scores -= scores.max(axis=1, keepdims=True)
    bent = np.exp(scores)
    bent /= bent.sum(axis=1, keepdims=True)
    return (1 - doubt) * bent + doubt / bent.shape[1] if doubt else bent
