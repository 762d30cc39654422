"""The perceptron."""

from __future__ import annotations

from typing import Any

import numpy as np

from learnt.engine.estimator import Estimator, Trial, Warm
from learnt.engine.matrices import double, row_squares
from learnt.engine.mixins import ClassifierMixin
from learnt.engine.schema import Schema, anyof, count, integers, number, one_plane_a_class, real
from learnt.linear_model.sgd._base import DESCENT, PLANES
from learnt.linear_model.sgd._classifier import StochasticClassifier
from learnt.linear_model.sgd._run import End


class Perceptron(StochasticClassifier, ClassifierMixin, Estimator):
    """Rosenblatt's rule: where a row is on the wrong side, y(xᵀw + b) ≤ 0, add y·(x, 1) to (w, b).

    If some unit vector separates the rows (x, 1) with margin γ, where the longest row has length 1, it makes at most
    1/γ² mistakes, in whatever order the rows come; without a penalty it then stops at the first epoch without one. With
    more than two classes, one for each against the rest. Take it as a first, simple learner that has no step to tune;
    where classes overlap, `SGDClassifier` and `LogisticRegression` are more accurate.

    Parameters
    ----------
    penalty : {"l2", "l1", "elasticnet", None}, default=None
        Kind of regularisation. None is none; "l2" is ‖w‖²/2, which shrinks all coefficients; "l1" is ‖w‖₁, which makes
        many exactly 0; "elasticnet" is l1_ratio·‖w‖₁ + (1 − l1_ratio)·‖w‖²/2.
    alpha : float, default=1e-4
        Regularisation strength, where there is a penalty: larger values mean more shrinkage.
    l1_ratio : float, default=0.15
        Share of the absolute in the "elasticnet" penalty, from 0 (all "l2") to 1 (all "l1"); other penalties do not use
        it.
    fit_intercept : bool, default=True
        Whether to fit the intercept b, which is not penalised; otherwise it is 0, which suits centred data.
    max_iter : int, default=1000
        The most epochs, passes over the rows, of `fit`; a call of `partial_fit` is one.
    tol : float or None, default=1e-3
        Convergence tolerance: stop when the mean loss has not fallen by `tol` for `n_iter_no_change` epochs; with None,
        only when an epoch makes no mistake.
    shuffle : bool, default=True
        Whether rows come in a new random order every epoch. Leave it on unless they are in random order already.
    verbose : int, default=0
        Kept for scikit-learn's signature: nothing is printed.
    eta0 : float, default=1
        Learning rate: what a mistake is multiplied by. Without a penalty it changes the length of the coefficients
        only.
    n_jobs : int or None, default=None
        The most threads, where there are more than two classes; None or -1 for all that this process may use.
    random_state : int, RandomState, Generator or None, default=0
        Draws the order of the rows, and those held out for `early_stopping`.
    early_stopping : bool, default=False
        Whether to judge epochs by the accuracy on rows held out and keep the best one, against overfitting; otherwise
        by the training loss. Not possible with `partial_fit`.
    validation_fraction : float, default=0.1
        Share of the rows that `early_stopping` holds out.
    n_iter_no_change : int, default=5
        Patience: how many epochs without an improvement of `tol` end the fit.
    class_weight : dict, "balanced" or None, default=None
        Weights of the classes, which multiply those of the rows. "balanced" gives every class the same total: more
        recall of rare classes, at the cost of precision. With `partial_fit` give a dict.
    warm_start : bool, default=False
        Whether the next `fit` goes on from the coefficients of the last one, instead of starting at 0.

    Attributes
    ----------
    classes_ : ndarray of shape (n_classes,)
        The labels in order.
    coef_ : ndarray of shape (1, n_features) or (n_classes, n_features)
        The weight of each column: one row for two classes, else one a class against the rest.
    intercept_ : ndarray of shape (1,) or (n_classes,)
        The constant of each score.
    n_iter_ : int
        Epochs of the last fit; the most of any class.
    t_ : float
        Steps taken, and one.
    mistakes_ : int, or ndarray of shape (n_classes,) with more than two classes
        How often the coefficients were moved.
    margin_ : float, or ndarray of shape (n_classes,) with more than two classes
        The margin γ of the plane that was found: min y(xᵀw + b) / (‖(w, b)‖ · longest row). Where it is above 0 the
        rows are separated and mistakes_ ≤ 1/margin_².

    See Also
    --------
    SGDClassifier : Other losses and steps that shrink, one row at a time.
    PassiveAggressiveClassifier : Steps just long enough to correct a row.
    LogisticRegression : Probabilities, and an exact minimum.

    Notes
    -----
    An epoch takes time in the cells of X that are not 0. On dense rows the steps are those of
    `SGDClassifier(loss="perceptron", learning_rate="constant", eta0=1.0, penalty=None)`.

    References
    ----------
    .. [1] F. Rosenblatt, "The perceptron: a probabilistic model for information storage and organization in the brain",
       Psychological Review, 1958.
    .. [2] A. B. J. Novikoff, "On convergence proofs on perceptrons", Symposium on the Mathematical Theory of Automata,
       1962.

    Examples
    --------
    >>> X = np.array([[2.0, 1.0], [1.0, 2.0], [-1.0, -2.0], [-2.0, -1.0]])
    >>> model = Perceptron().fit(X, [1, 1, 0, 0])
    >>> model.predict([[3.0, 3.0]])
    array([1])
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
        penalty: str | None = None,
        alpha: float = 0.0001,
        l1_ratio: float | None = 0.15,
        fit_intercept: bool = True,
        max_iter: int = 1000,
        tol: float | None = 1e-3,
        shuffle: bool = True,
        verbose: int = 0,
        eta0: float = 1.0,
        n_jobs: int | None = None,
        random_state: Any = 0,
        early_stopping: bool = False,
        validation_fraction: float = 0.1,
        n_iter_no_change: int = 5,
        class_weight: Any = None,
        warm_start: bool = False,
    ) -> None:
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
