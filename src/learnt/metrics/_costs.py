"""Decisions with costs. loss_matrix[i][j] is the loss of predicting class j when class i is true."""

from __future__ import annotations

from typing import Any

import numpy as np

from learnt.engine.documentation import documented
from learnt.metrics._confusion import confusion_matrix
from learnt.metrics._inputs import check_finite, host, real


def check_loss_matrix(loss_matrix: Any, n_classes: int | None = None) -> np.ndarray:
    """A square, finite matrix of losses with a row and a column a class."""
    L = real(np.asarray(loss_matrix), "loss_matrix").astype(np.float64)
    if L.ndim != 2 or L.shape[0] != L.shape[1] or (n_classes is not None and L.shape[0] != n_classes):
        size = f"{n_classes} × {n_classes}" if n_classes is not None else "square"
        raise ValueError(
            f"loss_matrix has shape {L.shape}; it must be {size}, a row a true and a column a predicted class."
        )
    check_finite(L, "loss_matrix")
    return L


@documented
def expected_loss(posterior: Any, loss_matrix: Any) -> np.ndarray:
    """Posterior expected loss of each decision: R(j | x) = Σᵢ p(i | x) L[i, j]; the best decision has the smallest.

    Turns probabilities and costs into decisions: `expected_loss(P, L).argmin(axis=1)` is the class to predict for each
    row. The probabilities must be calibrated for that to pay.

    Parameters
    ----------
    posterior : array-like of shape (n_samples, n_classes)
        Class probabilities, as from `predict_proba`.
    loss_matrix : array-like of shape (n_classes, n_classes)
        `loss_matrix[i][j]` is the loss of predicting class j when class i is true.

    Returns
    -------
    risk : ndarray of shape (n_samples, n_classes)
        The loss to expect of predicting each class, row by row.

    See Also
    --------
    cost_threshold : For two classes, the probability from which to predict the first.
    mean_cost : What predictions cost on rows whose truth is known.
    learnt.bayes.BayesClassifier : A classifier that decides in this way.

    Examples
    --------
    >>> from learnt.metrics import expected_loss
    >>> risk = expected_loss([[0.5, 0.5], [0.2, 0.8]], [[0, 5], [2, 0]])
    >>> risk
    array([[1. , 2.5],
           [1.6, 1. ]])
    >>> risk.argmin(axis=1)
    array([0, 1])
    """
    P = real(host(posterior, "posterior"), "posterior")
    if P.ndim != 2:
        raise ValueError(f"posterior has shape {P.shape}; give a row a case and a column a class.")
    check_finite(P, "posterior")
    return P @ check_loss_matrix(loss_matrix, P.shape[1]).astype(P.dtype)


@documented
def cost_threshold(loss_matrix: Any) -> float:
    """For two classes: predict the first where its probability exceeds L(2,1) / (L(1,2) + L(2,1)).

    Losses on the diagonal are subtracted from their row first: only what a mistake costs beyond a right answer counts.

    Parameters
    ----------
    loss_matrix : array-like of shape (2, 2)
        `loss_matrix[i][j]` is the loss of predicting class j when class i is true.

    Returns
    -------
    threshold : float
        A probability of the first class, between 0 and 1; 0.5 where both mistakes cost the same.

    Raises
    ------
    ValueError
        Where a mistake is cheaper than a right answer, or nothing costs anything: then no threshold separates the two.

    See Also
    --------
    expected_loss : The same decision for any number of classes.
    mean_cost : What predictions cost on rows whose truth is known.
    learnt.plots.cost_curve : Costs at all thresholds.

    Examples
    --------
    >>> from learnt.metrics import cost_threshold
    >>> round(cost_threshold([[0, 5], [2, 0]]), 3)  # 2/7: missing the first class is dear, so predict it early
    0.286
    """
    L = check_loss_matrix(loss_matrix, 2)
    first, second = L[0, 1] - L[0, 0], L[1, 0] - L[1, 1]
    if not (first >= 0 and second >= 0 and first + second > 0):
        raise ValueError("loss_matrix makes a mistake cheaper than a right answer; there is no threshold between them.")
    return float(second / (first + second))


@documented
def mean_cost(y_true: Any, y_pred: Any, loss_matrix: Any, *, labels: Any = None, sample_weight: Any = None) -> float:
    """What the predictions cost on average: Σ w L[y, ŷ] / Σ w.

    The score to compare classifiers by where mistakes have different prices, such as a missed illness and a false
    alarm.

    Parameters
    ----------
    y_true : array-like of shape (n_samples,)
        The true labels: integers, booleans or strings.
    y_pred : array-like of shape (n_samples,)
        The predicted labels.
    loss_matrix : array-like of shape (n_classes, n_classes)
        `loss_matrix[i][j]` is the loss of predicting class j when class i is true.
    labels : array-like, default=None
        The classes of the rows of the matrix, in their order; the sorted labels of the data by default. Give them where
        the data may lack a class.

    Returns
    -------
    cost : float
        The mean over rows, in the units of the matrix; the smaller, the better.

    See Also
    --------
    expected_loss : The cost to expect of each decision, from probabilities.
    cost_threshold : The threshold that makes the cost least, for two classes.
    zero_one_loss : All mistakes cost 1.

    Examples
    --------
    >>> from learnt.metrics import mean_cost
    >>> mean_cost([0, 0, 1, 1], [0, 1, 0, 1], [[0, 5], [2, 0]])
    1.75
    """
    L = check_loss_matrix(loss_matrix)
    share = confusion_matrix(y_true, y_pred, labels=labels, sample_weight=sample_weight, normalize="all")
    if share.shape != L.shape:
        raise ValueError(
            f"loss_matrix is for {L.shape[0]} classes and the data show {share.shape[0]}; give all of them as labels."
        )
    return float((share * L).sum())
