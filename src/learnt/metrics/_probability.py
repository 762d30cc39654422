"""Predicted probabilities against outcomes: log loss, Brier score, calibration, and decisions with costs."""

from __future__ import annotations

import math
import warnings
from typing import Any

import numpy as np
from sklearn.exceptions import UndefinedMetricWarning

from learnt.engine.arrays import device_of, is_foreign_array
from learnt.engine.documentation import documented
from learnt.engine.kernel import kernel
from learnt.engine.matrices import dense
from learnt.engine.threads import for_blocks
from learnt.metrics._inputs import (
    GRAIN,
    SMALL,
    cached_blocks,
    check_finite,
    check_lengths,
    check_option,
    check_weight,
    column,
    follow,
    host,
    real,
)
from learnt.metrics._labels import encode, is_multilabel, label_vector, unknown_label

SEVERAL = "Multioutput target data is not supported with label binarization"


@kernel
def _pick_from_vector(p, positive, eps, picked):
    """The probability given to the true one of two classes, clipped. False: some p is not in [0, 1]."""
    fine = True
    for i in range(p.size):
        q = np.float64(p[i])
        if not (q >= 0.0 and q <= 1.0):  # written so that NaN fails
            fine = False
        if positive[i] == 0:
            q = 1.0 - q
        picked[i] = min(max(q, eps), 1.0 - eps)
    return fine


@kernel
def _pick_from_matrix(P, codes, eps, tolerance, picked):
    """The probability given to the true class, clipped. False: some p is not in [0, 1], or a row does not sum to 1."""
    fine = True
    for i in range(P.shape[0]):
        total = 0.0
        for j in range(P.shape[1]):
            q = np.float64(P[i, j])
            if not (q >= 0.0 and q <= 1.0):
                fine = False
            total += q
        if not abs(total - 1.0) <= tolerance:
            fine = False
        picked[i] = min(max(np.float64(P[i, codes[i]]), eps), 1.0 - eps)
    return fine


@kernel
def _sum_of_logs(p):
    """Σ log p for probabilities of at least 2⁻⁵², one logarithm for sixteen of them.

    A product of sixteen cannot underflow. Its rounding is that of the sum of their logarithms, unless it is near 1,
    where logarithms are small and their own rounding matters: there each is computed separately.
    """
    total = 0.0
    n = p.size
    i = 0
    while i < n:
        end = min(i + 16, n)
        product = 1.0
        for j in range(i, end):
            product *= p[j]
        if product < 0.5:
            total += np.log(product)
        else:
            for j in range(i, end):
                total += np.log(p[j])
        i = end
    return total


def _check_probabilities(xp: Any, P: Any, tolerance: float) -> None:
    """Raise on entries outside [0, 1]; warn on rows that do not sum to 1. A vector is the second of two columns."""
    check_finite(P, "y_proba")
    low, high = float(xp.min(P)), float(xp.max(P))
    if high > 1:
        raise ValueError(f"y_prob contains values greater than 1: {high!r}; give probabilities.")
    if low < 0:
        raise ValueError(f"y_prob contains values lower than 0: {low!r}; give probabilities.")
    if P.ndim == 2 and bool(
        xp.any(xp.abs(P @ xp.ones_like(P[0, :]) - 1) > tolerance)
    ):  # the product sums short rows fastest
        warnings.warn(
            "The y_prob values do not sum to one; make sure to pass probabilities.", UserWarning, stacklevel=4
        )


def _as_probabilities(y_proba: Any) -> tuple[np.ndarray, float]:
    """Probabilities as a float matrix, or a vector for two classes, and the rounding error of their dtype."""
    P = host(y_proba, "y_proba")
    eps = float(np.finfo(P.dtype).eps) if P.dtype.kind == "f" else float(np.finfo(np.float64).eps)
    P = real(P, "y_proba")
    if P.ndim == 2 and P.shape[1] == 1:
        P = P[:, 0]
    if P.ndim not in (1, 2):
        raise ValueError(f"y_proba has shape {P.shape}; give one probability a row, or one a row and class.")
    return P, eps


def _class_codes(y_true: Any, labels: Any, width: int) -> np.ndarray:
    """Position of every true label among the classes, which must be as many as there are columns."""
    classes, codes = encode(label_vector(y_true, "y_true", SEVERAL), "y_true")
    if labels is None:
        if classes.size == 1:
            raise ValueError(
                f"y_true contains only one label ({classes[0]}). Please provide the list of all expected class labels "
                "explicitly through the labels argument."
            )
        if classes.size != width:
            raise ValueError(
                f"y_true and y_prob contain different number of classes: {classes.size} vs {width}. Please provide the "
                f"true labels explicitly through the labels argument. Classes found in y_true: {classes}"
            )
        return codes
    given = np.asarray(labels)
    known = np.unique(given)
    if known.size == 1:
        raise ValueError(f"The labels array needs to contain at least two labels, got {known.tolist()}.")
    if not np.array_equal(known, given):
        warnings.warn(
            f"Labels passed were {given.tolist()}. But this function assumes labels are ordered lexicographically. "
            f"Pass the ordered labels={known.tolist()} and ensure that the columns of y_prob correspond to this "
            "ordering.",
            UserWarning,
            stacklevel=4,
        )
    place = {label: i for i, label in enumerate(known.tolist())}
    unknown = {label for label in classes.tolist() if label not in place}
    if unknown:
        raise ValueError(f"y_true contains values {unknown} not belonging to the passed labels {given.tolist()}.")
    if known.size != width:
        raise ValueError(
            f"The number of classes in labels is different from that in y_prob. Classes found in labels: {known}; "
            f"y_prob has {width} columns."
        )
    return np.array([place[label] for label in classes.tolist()], dtype=np.intp)[codes]


def _mean(losses: np.ndarray, weight: np.ndarray | None, normalize: bool = True) -> float:
    """The weighted mean (or sum) by NumPy's pairwise summation: one order, whatever the threads."""
    if weight is None:
        total, scale = losses.sum(dtype=np.float64), losses.shape[0]
    else:
        total, scale = (losses * weight).sum(dtype=np.float64), weight.sum(dtype=np.float64)
    return float(total / scale) if normalize else float(total)


def _total_loss(P: np.ndarray, codes: np.ndarray, eps: float, weight: np.ndarray | None) -> float:
    """−Σ w log(probability of the true class), probabilities clipped to [eps, 1 − eps]."""
    n, tolerance = P.shape[0], float(np.sqrt(eps))
    if n <= SMALL:
        _check_probabilities(np, P, tolerance)
        p = np.where(codes == 1, P, 1 - P) if P.ndim == 1 else P[np.arange(n), codes]
        losses = -np.log(np.clip(p.astype(np.float64), eps, 1 - eps))
        return float(losses.sum() if weight is None else (losses * weight).sum())
    P, picked = np.ascontiguousarray(P), np.empty(n)
    codes = np.ascontiguousarray(codes, dtype=np.uint8 if codes.dtype == np.uint8 else np.int64)

    def part(lo: int, hi: int) -> tuple[bool, float]:
        if P.ndim == 1:
            fine = _pick_from_vector(P[lo:hi], codes[lo:hi], eps, picked[lo:hi])
        else:
            fine = _pick_from_matrix(P[lo:hi], codes[lo:hi], eps, tolerance, picked[lo:hi])
        if weight is None:
            return fine, _sum_of_logs(picked[lo:hi])
        return fine, float((np.log(picked[lo:hi]) * weight[lo:hi]).sum())

    parts = for_blocks(part, n, grain=GRAIN // 4)
    if not all(fine for fine, _ in parts):
        _check_probabilities(np, P, tolerance)
    return -math.fsum(total for _, total in parts)


@documented
def log_loss(
    y_true: Any,
    y_proba: Any = None,
    *,
    normalize: bool = True,
    sample_weight: Any = None,
    labels: Any = None,
    y_pred: Any = "deprecated",
) -> float:
    """Log loss, or cross-entropy: −Σ w log p(true class) / Σ w.

    What logistic regression and networks minimise. A proper score: it is least, in expectation, for the true
    probabilities, so that it judges calibration and discrimination together. Confident mistakes cost much.

    Parameters
    ----------
    y_true : array-like of shape (n_samples,) or (n_samples, n_classes)
        The true labels; or a matrix of zeros and ones, a column a class.
    y_proba : array-like of shape (n_samples, n_classes) or (n_samples,)
        Probabilities, columns in the order of the sorted labels; a vector is the probability of the larger of two.
        They are clipped to [ε, 1 − ε], ε the rounding of their type.
    normalize : bool, default=True
        False gives the sum instead of the mean.
    labels : array-like, default=None
        All classes, where y_true does not show each of them.
    y_pred : array-like, default="deprecated"
        Deprecated; kept for scikit-learn's signature: the old name of `y_proba`, taken with a warning.

    Returns
    -------
    loss : float
        In nats, 0 at best. Equal probabilities of k classes cost log k (0.69 for two).

    See Also
    --------
    brier_score_loss : The squared error of probabilities, which is bounded.
    calibration_curve : Whether probabilities are right, and where not.
    roc_auc_score : Judges the order of scores only.
    learnt.calibration.CalibratedClassifierCV : Mends probabilities that are too extreme.

    Notes
    -----
    The logarithm is the natural one. O(n) time on all cores for large inputs. Probabilities that are arrays of PyTorch
    or another Array API library are worked on where they are, on their device.

    References
    ----------
    .. [1] C. M. Bishop, "Pattern Recognition and Machine Learning", Springer, 2006.

    Examples
    --------
    >>> from learnt.metrics import log_loss
    >>> proba = [[0.1, 0.9], [0.9, 0.1], [0.8, 0.2], [0.35, 0.65]]  # of "ham", of "spam"
    >>> round(log_loss(["spam", "ham", "ham", "spam"], proba), 3)
    0.216
    """
    if not (isinstance(y_pred, str) and y_pred == "deprecated"):
        if y_proba is not None:
            raise ValueError("Cannot use both `y_pred` and `y_proba`. `y_pred` is deprecated, use `y_proba` instead.")
        warnings.warn(
            "`y_pred` was renamed to `y_proba` in version 1.9 and will be removed in 1.11. Use `y_proba` instead.",
            FutureWarning,
            stacklevel=2,
        )
        y_proba = y_pred
    if y_proba is None:
        raise TypeError("log_loss needs y_proba, the predicted probabilities.")
    n = check_lengths(y_proba=y_proba, y_true=y_true, sample_weight=sample_weight)
    if is_foreign_array(y_proba):
        return _log_loss_on_device(y_true, y_proba, sample_weight, labels, normalize)
    P, eps = _as_probabilities(y_proba)
    weight = check_weight(sample_weight, n)
    if P.ndim == 2 and is_multilabel(y_true):
        return _mean(_indicator_losses(y_true, P, eps), weight, normalize)
    total = _total_loss(P, _class_codes(y_true, labels, 2 if P.ndim == 1 else P.shape[1]), eps, weight)
    if not normalize:
        return total
    return total / (n if weight is None else float(weight.sum(dtype=np.float64)))


def _indicator_losses(y_true: Any, P: np.ndarray, eps: float) -> np.ndarray:
    indicator = host(dense(y_true), "y_true")
    if indicator.shape != P.shape:
        raise ValueError(f"y_true has shape {indicator.shape} and y_prob {P.shape}; give one column a class in both.")
    _check_probabilities(np, P, float(np.sqrt(eps)))
    return -(indicator * np.log(np.clip(P.astype(np.float64), eps, 1 - eps))).sum(axis=1)


def _log_loss_on_device(y_true: Any, y_proba: Any, sample_weight: Any, labels: Any, normalize: bool) -> float:
    """The same in the namespace of `y_proba`, on its device."""
    xp, y_true, P, weight = follow(y_true, y_proba, sample_weight)
    n, eps = P.shape[0], float(xp.finfo(P.dtype).eps)
    _check_probabilities(xp, P, eps**0.5)
    classes = xp.unique_values(y_true if labels is None else xp.astype(follow(labels, P, None)[1], y_true.dtype))
    width = P.shape[1] if P.ndim == 2 and P.shape[1] > 1 else 2
    if classes.shape[0] != width:
        raise ValueError(
            f"y_true and y_prob contain different number of classes: {classes.shape[0]} vs {width}; please provide all "
            "of them through the labels argument."
        )
    codes = xp.searchsorted(classes, y_true)
    codes = xp.clip(codes, 0, width - 1)
    if not bool(xp.all(classes[codes] == y_true)):
        raise ValueError("y_true contains values not belonging to the passed labels.")
    if P.ndim == 1 or P.shape[1] == 1:
        P = xp.reshape(P, (-1,))
        p = xp.where(codes == 1, P, 1 - P)
    else:
        places = xp.arange(n, device=device_of(P)) * width + codes
        p = xp.take(xp.reshape(P, (-1,)), places, axis=0)
    losses = -xp.log(xp.clip(p, eps, 1 - eps))
    if weight is None:
        total, scale = xp.sum(losses), n
    else:
        weight = xp.astype(weight, losses.dtype)
        total, scale = xp.sum(losses * weight), xp.sum(weight)
    return float(total / scale) if normalize else float(total)


def _positive_rows(y_true: Any, pos_label: Any) -> np.ndarray:
    """Rows of the positive one of two classes; without pos_label the larger number, never a guessed string."""
    classes, codes = encode(label_vector(y_true, "y_true", SEVERAL), "y_true")
    if classes.size > 2:
        raise ValueError(
            "The type of the target inferred from y_true is multiclass but should be binary according to the shape of "
            f"y_prob. It has one column; the classes are {classes.tolist()[:5]}."
        )
    if pos_label is None:
        if classes.dtype.kind in "UTO":
            raise ValueError(
                f"y_true takes value in {{{', '.join(map(repr, classes.tolist()))}}} and pos_label is not specified: "
                "either make y_true take value in {0, 1} or {-1, 1} or pass pos_label explicitly."
            )
        pos_label = 1 if set(classes.tolist()) in ({0}, {-1}) else classes[-1]
    elif classes.size == 2 and pos_label not in classes.tolist():
        raise unknown_label(pos_label, classes)
    return np.array([label == pos_label for label in classes.tolist()])[codes]


@documented
def brier_score_loss(
    y_true: Any,
    y_proba: Any,
    *,
    sample_weight: Any = None,
    pos_label: Any = None,
    labels: Any = None,
    scale_by_half: bool | str = "auto",
) -> float:
    """Brier score: the mean over rows of Σₖ (1[y = k] − pₖ)², halved for two classes, which makes it (y − p)².

    The mean squared error of probabilities. A proper score, as log loss is, but bounded: a confident mistake costs no
    more than 1 (2 for more than two classes).

    Parameters
    ----------
    y_true : array-like of shape (n_samples,) or (n_samples, n_classes)
        The true labels; or a matrix of zeros and ones.
    y_proba : array-like of shape (n_samples,) or (n_samples, n_classes)
        Probabilities: of the positive class, or a column for each class in sorted order.
    pos_label : label, default=None
        The class that a vector y_proba speaks of; the larger number by default. Strings need it.
    labels : array-like, default=None
        All classes, where y_true does not show each of them and y_proba is a matrix.
    scale_by_half : {"auto", True, False}, default="auto"
        Whether to halve the sum over classes, so that the score lies between 0 and 1; "auto" halves for two classes.

    Returns
    -------
    score : float
        0 at best. A probability of 0.5 for every row of two classes costs 0.25.

    See Also
    --------
    log_loss : Punishes confident mistakes more.
    d2_brier_score : The share explained, 0 for constant probabilities.
    calibration_curve : Whether probabilities are right, and where not.
    learnt.calibration.CalibratedClassifierCV : Mends probabilities that are too extreme.

    Notes
    -----
    It falls both with better calibration and with better discrimination; a calibration curve tells the two apart.

    References
    ----------
    .. [1] G. W. Brier, "Verification of forecasts expressed in terms of probability", Monthly Weather Review, 1950.

    Examples
    --------
    >>> from learnt.metrics import brier_score_loss
    >>> round(brier_score_loss([0, 1, 1, 0], [0.1, 0.9, 0.8, 0.3]), 4)
    0.0375
    """
    check_option(scale_by_half, "scale_by_half", ("auto", True, False))
    n = check_lengths(y_true=y_true, y_proba=y_proba, sample_weight=sample_weight)
    P, eps = _as_probabilities(y_proba)
    weight = check_weight(sample_weight, n)
    two = P.ndim == 1 or P.shape[1] == 2
    if P.ndim == 1:
        positive = _positive_rows(y_true, pos_label)
        _check_probabilities(np, P, float(np.sqrt(eps)))
        losses = 2 * np.square(positive - P)
    elif is_multilabel(y_true):
        indicator = host(dense(y_true), "y_true")
        _check_probabilities(np, P, float(np.sqrt(eps)))
        losses = ((indicator - P) ** 2).sum(axis=1)
    else:
        codes = _class_codes(y_true, labels, P.shape[1])
        _check_probabilities(np, P, float(np.sqrt(eps)))
        losses = np.empty(n)
        for rows in cached_blocks(n, P.shape[1]):
            error = P[rows].astype(np.float64)
            error[np.arange(error.shape[0]), codes[rows]] -= 1
            losses[rows] = np.einsum("ij,ij->i", error, error)
    score = _mean(losses, weight)
    return score / 2 if (two if scale_by_half == "auto" else scale_by_half) else score


@documented
def d2_brier_score(
    y_true: Any, y_proba: Any, *, sample_weight: Any = None, pos_label: Any = None, labels: Any = None
) -> float:
    """The share of the Brier score of constant probabilities that is explained: 1 − Brier / Brier of the class shares.

    The Brier skill score: 1 is perfect, 0 no better than the share of each class in y_true, below 0 worse. It is to the
    Brier score what R² is to the squared error.

    Parameters
    ----------
    y_true : array-like of shape (n_samples,) or (n_samples, n_classes)
        The true labels; or a matrix of zeros and ones.
    y_proba : array-like of shape (n_samples,) or (n_samples, n_classes)
        Probabilities: of the positive class, or a column for each class in sorted order.
    pos_label : label, default=None
        The class that a vector y_proba speaks of; the larger number by default. Strings need it.
    labels : array-like, default=None
        All classes, where y_true does not show each of them and y_proba is a matrix.

    Returns
    -------
    score : float
        1 at best. NaN, with a warning, for fewer than two rows.

    See Also
    --------
    brier_score_loss : The Brier score itself.
    log_loss : Punishes confident mistakes more.
    r2_score : The same for predicted numbers.

    Notes
    -----
    Where y_true has one class only a constant is perfect, and the score is 1 or −∞.

    References
    ----------
    .. [1] A. H. Murphy, "Skill scores based on the mean square error and their relationships to the correlation
       coefficient", Monthly Weather Review, 1988.

    Examples
    --------
    >>> from learnt.metrics import d2_brier_score
    >>> round(d2_brier_score([0, 1, 1, 0], [0.1, 0.9, 0.8, 0.3]), 2)
    0.85
    """
    n = check_lengths(y_true=y_true, y_proba=y_proba, sample_weight=sample_weight)
    if n < 2:
        warnings.warn("D^2 score is not well-defined with less than two samples.", UndefinedMetricWarning, stacklevel=2)
        return math.nan
    given = {"sample_weight": sample_weight, "labels": labels, "scale_by_half": False}
    found = brier_score_loss(y_true, y_proba, pos_label=pos_label, **given)
    if is_multilabel(y_true):
        truth = host(dense(y_true), "y_true").astype(np.float64)
    else:
        P, _ = _as_probabilities(y_proba)
        if P.ndim == 1:
            positive = _positive_rows(y_true, pos_label)
            truth = np.column_stack([~positive, positive]).astype(np.float64)
        else:
            truth = np.eye(P.shape[1])[_class_codes(y_true, labels, P.shape[1])]
    weight = check_weight(sample_weight, n)
    constant = _mean(np.square(truth - np.average(truth, axis=0, weights=weight)).sum(axis=1), weight)
    if constant == 0:
        return 1.0 if found == 0 else -math.inf
    return 1.0 - found / constant


def _bins(p: np.ndarray, edges: np.ndarray) -> np.ndarray:
    """How many edges lie below each value; for few edges, counting them beats searching."""
    if edges.size > 32:
        return np.searchsorted(edges, p)
    place = np.zeros(p.size, dtype=np.uint8)
    for edge in edges:
        place += p > edge
    return place


@documented
def calibration_curve(
    y_true: Any, y_prob: Any, *, pos_label: Any = None, n_bins: int = 5, strategy: str = "uniform"
) -> tuple[np.ndarray, np.ndarray]:
    """In bins of predicted probability, the share that is positive against the mean prediction.

    The reliability diagram: of the rows to which 0.8 was predicted, 0.8 should be positive. Shares below the diagonal
    at its upper end mean overconfidence.

    Parameters
    ----------
    y_true : array-like of shape (n_samples,)
        The true labels, of two classes; `pos_label` must be given unless they are {0, 1} or {−1, 1}.
    y_prob : array-like of shape (n_samples,)
        Predicted probabilities of the positive class.
    pos_label : int, float, bool or str, default=None
        The label of the positive class; None for 1, where the labels are {0, 1} or {−1, 1}.
    n_bins : int, default=5
        How many bins; more show finer detail and need more rows.
    strategy : {"uniform", "quantile"}, default="uniform"
        "uniform": bins of equal width. "quantile": bins of equal count, where predictions crowd together.

    Returns
    -------
    prob_true : ndarray of shape (n_bins,)
        The share of positives, bin by bin. Empty bins are left out, so that there may be fewer.
    prob_pred : ndarray of shape (n_bins,)
        The mean predicted probability of the same bins.

    See Also
    --------
    brier_score_loss : One number for calibration and discrimination.
    log_loss : The same, where confident mistakes cost more.
    learnt.calibration.CalibratedClassifierCV : Mends probabilities.
    learnt.plots.calibration : A picture of it.

    References
    ----------
    .. [1] A. Niculescu-Mizil and R. Caruana, "Predicting good probabilities with supervised learning", ICML, 2005.

    Examples
    --------
    >>> from learnt.metrics import calibration_curve
    >>> y_true, y_prob = [0, 0, 0, 0, 1, 1, 1, 1, 1], [0.1, 0.2, 0.3, 0.4, 0.65, 0.7, 0.8, 0.9, 1.0]
    >>> prob_true, prob_pred = calibration_curve(y_true, y_prob, n_bins=3)
    >>> prob_true, prob_pred.round(3)
    (array([0. , 0.5, 1. ]), array([0.2  , 0.525, 0.85 ]))
    """
    check_lengths(y_true=y_true, y_prob=y_prob)
    if isinstance(n_bins, bool) or not isinstance(n_bins, int | np.integer) or n_bins < 1:
        raise ValueError(f"n_bins must be a whole number of at least 1; got {n_bins!r}.")
    check_option(strategy, "strategy", ("uniform", "quantile"))
    p = real(column(y_prob, "y_prob"), "y_prob")
    check_finite(p, "y_prob")
    classes, codes = encode(label_vector(y_true, "y_true", SEVERAL), "y_true")
    if classes.size > 2:
        raise ValueError(f"Only binary classification is supported, provided labels {classes.tolist()}.")
    if pos_label is None:
        if not set(classes.tolist()) <= {-1, 0, 1} or classes.tolist() == [-1, 0]:
            raise ValueError(
                f"y_true takes value in {{{', '.join(map(repr, classes.tolist()))}}} and pos_label is not specified: "
                "either make y_true take value in {0, 1} or {-1, 1} or pass pos_label explicitly."
            )
        pos_label = 1
    if float(p.min()) < 0 or float(p.max()) > 1:
        raise ValueError("y_prob has values outside [0, 1]; give probabilities.")
    positive = np.array([label == pos_label for label in classes.tolist()], dtype=np.uint8)[codes]
    edges = np.linspace(0.0, 1.0, n_bins + 1)
    if strategy == "quantile":
        edges = np.percentile(p, edges * 100)
    place = _bins(p, edges[1:-1])
    count = np.bincount(place, minlength=n_bins)
    share, mean = np.bincount(place, positive, minlength=n_bins), np.bincount(place, p, minlength=n_bins)
    full = count > 0
    return share[full] / count[full], mean[full] / count[full]
