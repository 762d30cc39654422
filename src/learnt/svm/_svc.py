"""The linear support vector classifier."""

from __future__ import annotations

from functools import partial
from typing import Any

import numpy as np
from sklearn.base import ClassifierMixin

from learnt.engine import progress
from learnt.engine.classification.labels import class_weights, encode_labels
from learnt.engine.classification.linear_classifier import LinearClassifier
from learnt.engine.estimator import Estimator, Takes, Trial, Warm
from learnt.engine.params import check_choice, check_class_weight
from learnt.engine.schema import FEATURES, Schema, anyof, count, flag, labels, number, one_plane_a_class, real
from learnt.engine.threads import run_tasks, single_blas
from learnt.engine.validation import check_fit
from learnt.svm._design import Design
from learnt.svm._joint import JointCurvature, JointLoss
from learnt.svm._linear import check_common, check_squares, goal, warn_unfinished, watcher
from learnt.svm._losses import hinge
from learnt.svm._newton import Outcome, minimize
from learnt.svm._sparse_coefficients import minimize_l1
from learnt.svm._strategy import pose, solve

_ALONE = 1 << 14  # cells of a table whose planes one thread finds
_NO_WEIGHT = 1e-100  # of the largest, for a class that is to have none


class LinearSVC(progress.CallbackSupportMixin, LinearClassifier, ClassifierMixin, Estimator):
    """A plane with the widest margin:  min over coef, b of  (‖coef‖² + (b/scale)²)/2 + C Σᵢ wᵢ ℓ(yᵢ (coef·xᵢ + b)).

    ℓ(m) is max(0, 1 − m), the hinge, or its square; y is ±1, one class against the rest where there are more than
    two. As in scikit-learn the intercept is penalised too, the less the larger its scale. The fit stops on a duality
    gap: how far the objective is above its minimum is known, not guessed. The result does not depend on the number
    of threads.

    Parameters
    ----------
    penalty : {"l2", "l1"}, default="l2"
        "l1" has ‖coef‖₁ + |b/scale| in place of the squares, so that many coefficients are exactly 0.
    loss : {"squared_hinge", "hinge"}, default="squared_hinge"
    dual : "auto" or bool, default="auto"
        Kept for scikit-learn's signature, and refused where scikit-learn refuses it: which form is solved is chosen
        by the shape of X.
    tol : float, default=1e-4
        Stop when the duality gap is at most tol² times the objective, 1e-8 at 1e-4; tol^1.5 with penalty="l1", where
        a fit stopped by `max_iter` within tol of the minimum counts as converged all the same.
    C : float, default=1.0
        The weight of the loss against the penalty.
    multi_class : {"ovr", "crammer_singer"}, default="ovr"
        One class against the rest, or all at once with the loss  max over m of 1[m ≠ y] + s_m − s_y;  then
        `penalty`, `loss` and `dual` are not used.
    fit_intercept : bool, default=True
    intercept_scaling : float, default=1
        The scale of the intercept's penalty.
    class_weight : dict, "balanced" or None, default=None
        Weights of the classes, which multiply those of the rows; of more than two, each class's in its own plane,
        where the rest counts once (as in scikit-learn).
    verbose : int, default=0
        Kept for scikit-learn's signature: nothing is printed.
    random_state : int, RandomState or None
        Kept for scikit-learn's signature: the minimum is found, not drawn.
    max_iter : int, default=1000
        The most steps: of Newton's method, or passes over the rows.

    Attributes
    ----------
    classes_ : array of shape (n_classes,)
        The labels in order. A class whose rows all have weight 0 is not there.
    coef_ : array of shape (1, n_features) or (n_classes, n_features)
    intercept_ : array of shape (1,) or (n_classes,), or 0.0 where `fit_intercept` is False
    n_iter_ : int
        Steps; the most of any class.
    dual_gap_ : float
        How far above its minimum the objective may be, relatively; the most of any class.

    Examples
    --------
    >>> import numpy as np
    >>> X = np.array([[0.0, 1.0], [1.0, 0.0], [3.0, 4.0], [4.0, 3.0]])
    >>> model = LinearSVC().fit(X, ["no", "no", "yes", "yes"])
    >>> model.predict([[3.0, 3.0]])
    array(['yes'], dtype='<U3')
    """

    __learnt_schema__ = Schema(
        params={"fit_intercept": flag},
        state={
            **FEATURES,
            "classes_": labels("c", low=2),
            "coef_": real("r", "d"),
            "intercept_": anyof(real("r"), number(0, 0)),
        },
        extra={"n_iter_": count(), "dual_gap_": number(finite=False)},
        rule=one_plane_a_class,
    )
    __learnt_takes__ = Takes(sparse=True)
    __learnt_trial__ = Trial(
        warmup=(
            Warm("two classes"),
            Warm("two classes", {"penalty": "l1"}),
            Warm("two classes", sparse=True),
            Warm("two classes", {"loss": "hinge"}, sparse=True),
            Warm("two classes", {"penalty": "l1", "C": 0.1}, sparse=True),
        ),
        weight_unit_free=False,
    )

    def __init__(
        self,
        penalty="l2",
        loss="squared_hinge",
        *,
        dual="auto",
        tol=1e-4,
        C=1.0,
        multi_class="ovr",
        fit_intercept=True,
        intercept_scaling=1,
        class_weight=None,
        verbose=0,
        random_state=None,
        max_iter=1000,
    ):
        self.penalty = penalty
        self.loss = loss
        self.dual = dual
        self.tol = tol
        self.C = C
        self.multi_class = multi_class
        self.fit_intercept = fit_intercept
        self.intercept_scaling = intercept_scaling
        self.class_weight = class_weight
        self.verbose = verbose
        self.random_state = random_state
        self.max_iter = max_iter

    @progress.with_callbacks
    def fit(self, X: Any, y: Any, sample_weight: Any = None) -> LinearSVC:
        """Fit the plane; a row of weight 2 counts as two rows, one of weight 0 as none."""
        self._check_parameters()
        X, y, w = check_fit(self, X, y, sample_weight, target="label")
        w = np.ones(X.shape[0]) if w is None else w
        check_squares(X, self.C * w)
        self.classes_, codes = encode_labels(y)
        table = self._class_weights(np.bincount(codes, w))
        bias = float(self.intercept_scaling) if self.fit_intercept else 0.0
        with single_blas(), progress.fit_loop(self, None, X, y) as loop:
            outcomes = self._solve(X, codes, self.C * w, table, bias, watcher(self, loop))
        self._record(outcomes, bias)
        return self

    def _check_parameters(self) -> None:
        check_common(self)
        check_choice(self, "penalty", ("l1", "l2"))
        check_choice(self, "loss", ("squared_hinge", "hinge"))
        check_choice(self, "multi_class", ("ovr", "crammer_singer"))
        check_class_weight(self)
        if self.multi_class == "crammer_singer":
            return
        primal_only, dual_only = self.penalty == "l1", self.loss == "hinge"
        dual = None if isinstance(self.dual, str) else bool(self.dual)
        if (primal_only and (dual_only or dual is True)) or (dual_only and dual is False):
            raise ValueError(
                f"Unsupported set of arguments: penalty={self.penalty!r}, loss={self.loss!r}, dual={self.dual!r} do "
                "not go together; 'l1' needs loss='squared_hinge' and not dual=True, 'hinge' needs not dual=False."
            )

    def _class_weights(self, totals: np.ndarray) -> np.ndarray:
        """The weight of each class, where the rows of each have these weights in all."""
        table = class_weights(self.class_weight, self.classes_, totals)
        if (table < 0).any():
            raise ValueError("The 'class_weight' parameter of LinearSVC has a negative weight; use 0 or more.")
        if np.count_nonzero(table) < 2:
            only = ", ".join(repr(label) for label in self.classes_[table > 0].tolist())
            raise ValueError(
                f"LinearSVC needs rows of at least 2 classes with weight, and y has only one class ({only}); "
                "a constant needs no model, see learnt.baseline.ConstantClassifier."
            )
        return np.maximum(table, _NO_WEIGHT * table.max())

    def _solve(
        self, X: Any, codes: np.ndarray, weight: np.ndarray, table: np.ndarray, bias: float, watch: Any
    ) -> list[Outcome]:
        """One outcome a plane; with all classes at once, one whose coefficients are D × K."""
        K = len(self.classes_)
        if self.multi_class == "crammer_singer":
            design, loss = Design(X, bias), JointLoss(np.eye(K)[codes], (weight * table[codes])[:, None])
            settings = {"tol": goal(self.tol), "max_iter": self.max_iter, "watch": watch}
            start, curvature = np.zeros((design.D, K)), JointCurvature(design)
            return [minimize(design, loss, start, curvature=curvature, **settings)]
        if self.penalty == "l1":
            one = partial(minimize_l1, Design(X, bias))
        else:
            one = partial(solve, *pose(X, bias))

        def plane(k: int) -> Outcome:
            own = codes == k
            sign = np.where(own, 1.0, -1.0)
            # The other classes have weight 1, as in liblinear
            share = np.where(own, table[k], 1.0 if K > 2 else table[0])
            loss = hinge(sign, weight * share, self.loss == "squared_hinge")
            return one(loss, self._goal(), self.max_iter, watch)

        planes = [partial(plane, k) for k in range(K)] if K > 2 else [partial(plane, 1)]
        if X.shape[0] * X.shape[1] <= _ALONE:  # sooner done than shared out
            return [task() for task in planes]
        return run_tasks(planes)

    def _goal(self) -> float:
        """The relative duality gap at which a plane is found."""
        l1_planes = self.penalty == "l1" and self.multi_class == "ovr"
        return max(self.tol**1.5, goal(0.0)) if l1_planes else goal(self.tol)

    def _record(self, outcomes: list[Outcome], bias: float) -> None:
        if self.multi_class == "crammer_singer":
            w = outcomes[0].w.T
            w = w[1:] - w[:1] if len(w) == 2 else w
        else:
            w = np.stack([outcome.w for outcome in outcomes])
        d = self.n_features_in_
        self.coef_ = np.ascontiguousarray(w[:, :d])
        self.intercept_ = bias * w[:, d] if self.fit_intercept else 0.0
        self.n_iter_ = max(outcome.n_iter for outcome in outcomes)
        self.dual_gap_ = max(outcome.gap / outcome.value if outcome.value > 0 else 0.0 for outcome in outcomes)
        if not all(outcome.converged for outcome in outcomes):
            warn_unfinished(self, self.dual_gap_, self._goal())
