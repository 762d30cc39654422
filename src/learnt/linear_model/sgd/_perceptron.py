"""The perceptron."""

from __future__ import annotations

from typing import Any

import numpy as np
from sklearn.base import ClassifierMixin

from learnt.engine.estimator import Estimator, Trial, Warm
from learnt.engine.matrices import double, row_squares
from learnt.engine.schema import Schema, anyof, count, integers, number, one_plane_a_class, real
from learnt.linear_model.sgd._base import DESCENT, PLANES
from learnt.linear_model.sgd._classifier import StochasticClassifier
from learnt.linear_model.sgd._run import End


class Perceptron(StochasticClassifier, ClassifierMixin, Estimator):
    """Rosenblatt's rule: where a row is on the wrong side, y(xᵀw + b) ≤ 0, add y·(x, 1) to (w, b).

    If some unit vector separates the rows (x, 1) with margin γ, where the longest row has length 1, it makes at most
    1/γ² mistakes, in whatever order the rows come; without a penalty it then stops at the first epoch without one.

    Parameters
    ----------
    penalty : {"l2", "l1", "elasticnet", None}, default=None
    alpha, l1_ratio : float, default=1e-4 and 0.15
    fit_intercept : bool, default=True
    max_iter : int, default=1000
        The most epochs.
    tol : float or None, default=1e-3
        Stop when the mean loss has not fallen by `tol` for `n_iter_no_change` epochs; with None, only when an epoch
        makes no mistake.
    shuffle : bool, default=True
    verbose : int, default=0
        Kept for scikit-learn's signature: see `learnt.engine.progress`.
    eta0 : float, default=1
        What a mistake is multiplied by; it changes the length of the coefficients only.
    n_jobs, random_state, early_stopping, validation_fraction, n_iter_no_change, class_weight, warm_start :
        As for `SGDClassifier`.

    Attributes
    ----------
    classes_, coef_, intercept_, n_iter_, t_ :
        As for `SGDClassifier`.
    mistakes_ : int, or array of shape (n_classes,) with more than two classes
        How often the coefficients were moved.
    margin_ : float, or array of shape (n_classes,)
        The margin γ of the plane that was found: min y(xᵀw + b) / (‖(w, b)‖ · longest row). Where it is above 0 the
        rows are separated and mistakes_ ≤ 1/margin_².

    Examples
    --------
    >>> X = np.array([[2.0, 1.0], [1.0, 2.0], [-1.0, -2.0], [-2.0, -1.0]])
    >>> model = Perceptron().fit(X, [1, 1, 0, 0])
    >>> bool(model.mistakes_ <= 1 / model.margin_**2)
    True
    """

    __learnt_schema__ = Schema(
        state=PLANES,
        extra={**DESCENT, "mistakes_": anyof(count(), integers("r")), "margin_": anyof(number(), real("r"))},
        rule=one_plane_a_class,
    )
    # Rows come in a random order that is part of the result, and a weight is a longer step, not a second visit.
    __learnt_trial__ = Trial(
        warmup=(Warm("two classes"),), any_order=False, weight_repeats=False, weight_unit_free=False
    )

    def __init__(
        self,
        *,
        penalty=None,
        alpha=0.0001,
        l1_ratio=0.15,
        fit_intercept=True,
        max_iter=1000,
        tol=1e-3,
        shuffle=True,
        verbose=0,
        eta0=1.0,
        n_jobs=None,
        random_state=0,
        early_stopping=False,
        validation_fraction=0.1,
        n_iter_no_change=5,
        class_weight=None,
        warm_start=False,
    ):
        self.penalty = penalty
        self.alpha = alpha
        self.l1_ratio = l1_ratio
        self.fit_intercept = fit_intercept
        self.max_iter = max_iter
        self.tol = tol
        self.shuffle = shuffle
        self.verbose = verbose
        self.eta0 = eta0
        self.n_jobs = n_jobs
        self.random_state = random_state
        self.early_stopping = early_stopping
        self.validation_fraction = validation_fraction
        self.n_iter_no_change = n_iter_no_change
        self.class_weight = class_weight
        self.warm_start = warm_start

    _sparse_intercept = 1.0  # no smaller steps: the bound on the mistakes holds for rows (x, 1)

    # What is a parameter of SGDClassifier and fixed here
    _fixed = {"loss": "perceptron", "learning_rate": "constant", "power_t": 0.5, "average": False, "epsilon": 0.1}

    def _get(self, name: str) -> Any:
        return self._fixed[name] if name in self._fixed else getattr(self, name)

    @property
    def _until_perfect(self) -> bool:  # type: ignore[override]
        return self.penalty is None

    def _record(self, X: Any, codes: np.ndarray, weight: np.ndarray, ends: list[End]) -> None:
        super()._record(X, codes, weight, ends)
        rows = weight > 0
        squares = row_squares(double(X))
        longest = np.sqrt(np.max(np.asarray(squares)[rows]) + float(self.fit_intercept))
        margins = []
        for c, end in enumerate(ends):
            side = np.where(codes == (c if len(ends) > 1 else 1), 1.0, -1.0)
            length = np.sqrt(end.coef @ end.coef + (end.intercept**2 if self.fit_intercept else 0.0))
            closest = np.min((side * (np.asarray(X @ end.coef) + end.intercept))[rows])
            margins.append(closest / (length * longest) if length > 0 and longest > 0 else 0.0)
        moves = [end.moves for end in ends]
        self.mistakes_ = moves[0] if len(ends) == 1 else np.array(moves)
        self.margin_ = float(margins[0]) if len(ends) == 1 else np.array(margins)
