"""The linear support vector classifier."""

from __future__ import annotations

from functools import partial
from typing import Any

import numpy as np

from learnt.engine import progress
from learnt.engine.classification.labels import class_weights, encode_labels
from learnt.engine.classification.linear_classifier import LinearClassifier
from learnt.engine.estimator import Estimator, Takes, Trial, Warm
from learnt.engine.mixins import ClassifierMixin
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

    Take it for classes that a plane separates well, such as texts in many sparse columns, where labels are wanted and
    probabilities are not.

    Parameters
    ----------
    penalty : {"l2", "l1"}, default="l2"
        Kind of regularisation. "l2" shrinks all coefficients. "l1" has ‖coef‖₁ + |b/scale| in place of the squares, so
        that many coefficients are exactly 0: it selects features.
    loss : {"squared_hinge", "hinge"}, default="squared_hinge"
        What a row inside the margin costs. "squared_hinge" is smooth and quicker to minimise; "hinge" is that of `SVC`,
        and gives less say to outliers.
    dual : bool or "auto", default="auto"
        Kept for scikit-learn's signature, and refused where scikit-learn refuses it: which form is solved is chosen by
        the shape of X.
    tol : float, default=1e-4
        Convergence tolerance: stop when the duality gap is at most tol² times the objective, 1e-8 at 1e-4; tol^1.5 with
        penalty="l1", where a fit stopped by `max_iter` within tol of the minimum counts as converged all the same.
    C : float, default=1.0
        Inverse of the regularisation strength, greater than 0: the weight of the loss against the penalty. Smaller
        values mean more shrinkage and less overfitting. Try powers of 10.
    multi_class : {"ovr", "crammer_singer"}, default="ovr"
        What is done with more than two classes. "ovr" fits one class against the rest, each by itself. "crammer_singer"
        fits all at once with the loss  max over m of 1[m ≠ y] + s_m − s_y;  then `penalty`, `loss` and `dual` are not
        used. It takes longer and is seldom more accurate.
    fit_intercept : bool, default=True
        Whether to fit b; otherwise it is 0, which suits centred columns.
    intercept_scaling : float, default=1.0
        The scale of the intercept's penalty: the larger, the less the intercept is shrunk. Raise it where the columns
        are not centred.
    class_weight : dict, "balanced" or None, default=None
        Weights of the classes, which multiply those of the rows; of more than two, each class's in its own plane,
        where the rest counts once (as in scikit-learn). "balanced" gives more recall of rare classes, at the cost of
        precision.
    verbose : int, default=0
        Kept for scikit-learn's signature: nothing is printed.
    random_state : int, RandomState or None, default=None
        Kept for scikit-learn's signature: the minimum is found, not drawn.
    max_iter : int, default=1000
        The most steps: of Newton's method, or passes over the rows. Raise it where a warning says that the fit has not
        converged.

    Attributes
    ----------
    classes_ : ndarray of shape (n_classes,)
        The labels in order. A class whose rows all have weight 0 is not there.
    coef_ : ndarray of shape (1, n_features) or (n_classes, n_features)
        The weight of each column: one row for two classes, else one a class.
    intercept_ : ndarray of shape (1,) or (n_classes,), or float
        b of each plane; 0.0 where `fit_intercept` is False.
    n_iter_ : int
        Steps; the most of any class.
    dual_gap_ : float
        How far above its minimum the objective may be, relatively; the most of any class.

    See Also
    --------
    SVC : Kernels, for borders that are no planes.
    learnt.linear_model.LogisticRegression : Linear too, with probabilities.
    learnt.linear_model.SGDClassifier : The same objective one row at a time, for tables of any length.
    LinearSVR : The same for numbers.

    Notes
    -----
    Which method finds the minimum hangs on the shape of X: semismooth Newton for few columns, in the space of the rows
    where these are fewer, dual coordinate descent for large sparse tables, a working set for penalty="l1". Steps cost
    time in the cells of X that are not 0. Bring columns to like scale.

    References
    ----------
    .. [1] R.-E. Fan, K.-W. Chang, C.-J. Hsieh, X.-R. Wang, C.-J. Lin, "LIBLINEAR: a library for large linear
       classification", Journal of Machine Learning Research, 2008.
    .. [2] K. Crammer, Y. Singer, "On the algorithmic implementation of multiclass kernel-based vector machines",
       Journal of Machine Learning Research, 2001.

    Examples
    --------
    >>> import numpy as np
    >>> X = np.array([[0.0, 1.0], [1.0, 0.0], [3.0, 4.0], [4.0, 3.0]])
    >>> model = LinearSVC().fit(X, ["no", "no", "yes", "yes"])
    >>> model.predict([[3.0, 3.0]])
    array(['yes'], dtype='<U3')
    >>> model.coef_.round(1)
    array([[0.2, 0.2]])
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
        penalty: str = "l2",
        loss: str = "squared_hinge",
        *,
        dual: bool | str = "auto",
        tol: float = 1e-4,
        C: float = 1.0,
        multi_class: str = "ovr",
        fit_intercept: bool = True,
        intercept_scaling: float = 1,
        class_weight: Any = None,
        verbose: int = 0,
        random_state: Any = None,
        max_iter: int = 1000,
    ) -> None:
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
