"""The C below which an absolute penalty keeps all coefficients at 0."""

from __future__ import annotations

from typing import Any

import numpy as np
from sklearn.preprocessing import LabelBinarizer
from sklearn.utils import check_array, check_consistent_length

from learnt.engine.params import ParameterError


def l1_min_c(
    X: Any, y: Any, *, loss: str = "squared_hinge", fit_intercept: bool = True, intercept_scaling: float = 1.0
) -> float:
    """The largest C at which an absolute penalty keeps all coefficients at 0: above it the model is not empty.

    Take it as the lower end of a path of C for `LinearSVC(penalty="l1")` or `LogisticRegression(l1_ratio=1)`.

    Parameters
    ----------
    X : {array-like, sparse matrix} of shape (n_samples, n_features)
        The rows.
    y : array-like of shape (n_samples,)
        Their classes.
    loss : {"squared_hinge", "log"}, default="squared_hinge"
        The loss: "squared_hinge" is that of `LinearSVC`, "log" that of `LogisticRegression`.
    fit_intercept : bool, default=True
        Whether the intercept is fitted, as the coefficient of a further column.
    intercept_scaling : float, default=1.0
        What that column is filled with.

    Returns
    -------
    l1_min_c : float
        The C below which all coefficients are 0.

    See Also
    --------
    LinearSVC : The classifier with the squared hinge.
    learnt.linear_model.LogisticRegression : The classifier with the log loss.

    Notes
    -----
    The slope of C Σ loss at 0 is largest for the column with the largest |Σᵢ yᵢ xᵢⱼ|, yᵢ = ±1; the penalty outweighs
    it as long as C times this slope is at most 1.

    Examples
    --------
    >>> import numpy as np
    >>> l1_min_c(np.array([[1.0], [2.0], [-1.0]]), np.array([1, 1, 0]))
    0.125
    """
    if loss not in ("squared_hinge", "log"):
        raise ParameterError(f"loss must be 'squared_hinge' or 'log' in l1_min_c; it is {loss!r}.")
    X = check_array(X, accept_sparse="csc")
    check_consistent_length(X, y)
    sides = LabelBinarizer(neg_label=-1).fit_transform(y).T.astype(np.float64)
    steepest = float(np.abs(sides @ X).max())
    if fit_intercept:
        steepest = max(steepest, abs(intercept_scaling) * float(np.abs(sides.sum(axis=1)).max()))
    if steepest == 0.0:
        raise ValueError(
            "Ill-posed l1_min_c calculation: l1 will always select zero coefficients for this data; both classes have "
            "the same sums of every column, so that no C is large enough."
        )
    return (0.5 if loss == "squared_hinge" else 2.0) / steepest
