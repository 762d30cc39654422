"""Any loss of classes."""

from __future__ import annotations

import warnings
from typing import Any

import numpy as np
from sklearn.exceptions import ConvergenceWarning
from sklearn.utils.metaestimators import available_if

from learnt.engine import progress
from learnt.engine.arrays import device_of, is_foreign_array, like, namespace, to_numpy
from learnt.engine.classification.labels import (
    class_weights,
    classes_on_device_of,
    distinct_labels,
    encode_labels,
    labels_at,
)
from learnt.engine.estimator import Estimator, Trial, Warm
from learnt.engine.rows import target_in_memory
from learnt.engine.schema import FEATURES, Schema, flag, labels, one_plane_a_class, real
from learnt.engine.scoring import RowsClassifier
from learnt.engine.validation import check_fit
from learnt.erm._estimator import FIT_RECORD, LinearRisk, start_of
from learnt.erm._minimize import Result
from learnt.erm._parts import loss_of
from learnt.erm._problem import Problem
from learnt.erm.losses import Log, Loss, Softmax

_LOG = Log()


def _has_probabilities(estimator: Any) -> bool:
    loss = loss_of(estimator, "sign")
    return loss.target == "class" or getattr(type(loss), "mean", Loss.mean) is not Loss.mean


class ERMClassifier(LinearRisk, RowsClassifier, Estimator):
    """A linear classifier:  min over w, b of  Σᵢ sᵢ loss(yᵢ, xᵢᵀw + b) / Σᵢ sᵢ + alpha·penalty(w).

    For two classes y is −1 or +1 inside, +1 the second of `classes_`. For more, the log loss becomes the softmax loss
    if it was asked for by name, and any other is fitted once for each class against the rest. Take it for a loss, a
    penalty, a constraint or a solver that other estimators do not have, or for a loss of your own.

    Parameters
    ----------
    loss : str or object, default="log"
        What a wrong score costs: a name or object of `learnt.erm.losses`. "log" is logistic regression; "hinge" a
        support vector machine; "squared_hinge" its smooth square; "exponential" that of boosting; "modified_huber" is
        robust to outliers; "softmax" is the log loss of many classes. A custom object needs `value(y, score)` and
        `gradient(y, score)`, y being −1 or +1; `curvature(y, score)` makes it quicker.
    penalty : str, object or None, default="l2"
        Kind of regularisation: a name or object of `learnt.erm.penalties`. "l2" is ‖w‖², which shrinks all
        coefficients; "l1" is ‖w‖₁, which makes many exactly 0; "elasticnet" is half of each; "l0" counts coefficients
        that are not 0 (local minima only); "nonnegative" and "box" are sets to stay in; "none" or None is no penalty. A
        custom object needs `value(w)` and `prox(w, step)` or, where it is smooth, `gradient(w)`.
    alpha : float, default=1e-4
        Regularisation strength, at least 0: larger values mean more shrinkage and less overfitting. The loss is a mean,
        so that a good alpha hangs little on the number of rows. Try powers of 10.
    bound : float or None, default=None
        Where it is given, ask for penalty(w) ≤ bound in place of adding alpha·penalty(w); alpha is then not used.
    solver : str or object, default="auto"
        How the minimum is found: a name or object of `learnt.erm.solvers`. "auto" takes a quick one that reaches it.
    fit_intercept : bool, default=True
        Whether to fit b, which is not penalised; otherwise it is 0.
    max_iter : int or None, default=None
        The most iterations, in place of the solver's own. Raise it where a warning says that the fit has not converged.
    tol : float or None, default=None
        Convergence tolerance, in place of the solver's own: how small the gradient may be beside that at 0, or the
        duality gap beside the objective at 0.
    early_stopping : bool, default=False
        Whether to hold out rows, stop when their loss has not fallen for `n_iter_no_change` iterations, and keep the
        coefficients that were best for them: against overfitting, in place of a penalty.
    validation_fraction : float, default=0.1
        Share of the rows that `early_stopping` holds out, at most 0.9.
    n_iter_no_change : int, default=10
        Patience of `early_stopping`: iterations without a better validation loss that end the fit.
    record_path : bool, default=False
        Whether to keep the coefficients after each iteration in `path_`.
    random_state : int, RandomState, Generator or None, default=None
        Draws the rows that `early_stopping` holds out. Pass an integer to get the same ones every time.
    class_weight : dict, "balanced" or None, default=None
        Weights of the classes, which multiply those of the rows. "balanced" gives every class the same total: more
        recall of rare classes, at the cost of precision.

    Attributes
    ----------
    classes_ : ndarray of shape (n_classes,)
        The labels in order. A class whose rows all have weight 0 is not there.
    coef_ : ndarray of shape (1, n_features) or (n_classes, n_features)
        The weight of each column: one row for two classes, else one a class.
    intercept_ : ndarray of shape (1,) or (n_classes,)
        b, the constant of each score.
    n_iter_ : int
        Iterations of the solver; the most of any class.
    objective_ : float
        The objective that was reached; of one class against the rest the sum over classes.
    gradient_norm_ : float
        The largest entry of its gradient there.
    gap_ : float or None
        At most how far the objective is above its minimum; None where no bound is known.
    converged_ : bool
        Whether the minimum was reached, to `tol`.
    loss_curve_ : ndarray of shape (n_iter_,)
        The objective over all rows (without those held out) after each iteration; for solvers that take mini-batches,
        after each epoch. Of one class against the rest the sum over classes, with the last value of those that ended
        before others.
    solver_ : str
        Name of the solver that was taken.
    path_ : list of (coef, intercept)
        The coefficients at the start and after each iteration; only with `record_path`. Of one class against the rest,
        a list of such lists.
    validation_losses_ : ndarray of shape (n_iter_,)
        The mean loss of the rows held out, after each iteration; only with `early_stopping`.

    See Also
    --------
    ERMRegressor : The same for numbers.
    learnt.linear_model.LogisticRegression : The log loss alone, faster.
    learnt.svm.LinearSVC : The hinge losses alone, faster.
    learnt.linear_model.SGDClassifier : Similar losses one row at a time, for rows that keep coming.

    Notes
    -----
    The loss is averaged over rows, s their weights; the intercept b is not penalised. Time goes with the solver, mostly
    in the cells of X an iteration. Files and Dask collections need a smooth loss.

    Examples
    --------
    >>> import numpy as np
    >>> X = np.array([[0.0], [1.0], [2.0], [3.0]])
    >>> model = ERMClassifier("hinge", alpha=0.01).fit(X, ["no", "no", "yes", "yes"])
    >>> model.predict([[2.5]])
    array(['yes'], dtype='<U3')
    >>> model.converged_
    True
    """

    __learnt_schema__ = Schema(
        params={"fit_intercept": flag},
        state={**FEATURES, "classes_": labels("c", low=2), "coef_": real("r", "d"), "intercept_": real("r")},
        extra=FIT_RECORD,
        rule=one_plane_a_class,
    )
    __learnt_trial__ = Trial(warmup=(Warm("two classes"),))

    def __init__(
        self,
        loss: Any = "log",
        *,
        penalty: Any = "l2",
        alpha: float = 1e-4,
        bound: float | None = None,
        solver: Any = "auto",
        fit_intercept: bool = True,
        max_iter: int | None = None,
        tol: float | None = None,
        early_stopping: bool = False,
        validation_fraction: float = 0.1,
        n_iter_no_change: int = 10,
        record_path: bool = False,
        random_state: Any = None,
        class_weight: Any = None,
    ) -> None:
        super().__init__(
            loss,
            penalty=penalty,
            alpha=alpha,
            bound=bound,
            solver=solver,
            fit_intercept=fit_intercept,
            max_iter=max_iter,
            tol=tol,
            early_stopping=early_stopping,
            validation_fraction=validation_fraction,
            n_iter_no_change=n_iter_no_change,
            record_path=record_path,
            random_state=random_state,
        )
        self.class_weight = class_weight

    @progress.with_callbacks
    def fit(
        self, X: Any, y: Any, sample_weight: Any = None, coef_init: Any = None, intercept_init: Any = None
    ) -> ERMClassifier:
        """Fit the coefficients, starting from `coef_init` and `intercept_init` where they are given.

        Parameters
        ----------
        coef_init : array-like of shape (1, n_features) or (n_classes, n_features), default=None
            Coefficients to start from; None for 0.
        intercept_init : array-like of shape (1,) or (n_classes,), default=None
            Intercepts to start from; None for 0.
        """
        self._check_parameters()
        loss = loss_of(self, "sign")
        if loss.target == "number":
            raise ValueError(f"ERMClassifier predicts classes and {loss!r} is a loss of numbers; use ERMRegressor.")
        X, y, w = check_fit(self, X, y, sample_weight, target="label")
        y, w = target_in_memory(y), target_in_memory(w)  # X may be large, one label a row is not
        self.classes_, codes = _encode(y)
        codes, w = self._weigh(codes, w)
        k = len(self.classes_)
        if loss.target == "class" or (
            self.loss in ("log", "log_loss") and k > 2 if isinstance(self.loss, str) else False
        ):
            problem = self._pose(X, codes, w, Softmax() if loss.target != "class" else loss, k)
            result = self._fit_one(problem, start_of(problem, coef_init, intercept_init))
            coef, intercept = to_numpy(result.coef).T, to_numpy(result.intercept)
            intercept = intercept - intercept.mean()  # adding a constant to all classes changes nothing
            if k == 2:  # only the difference of two scores matters
                coef, intercept = coef[1:] - coef[:1], intercept[1:] - intercept[:1]
            self._record(X, [result], coef, intercept)
            return self
        xp = namespace(codes)
        results = []
        for c in range(1, 2) if k == 2 else range(k):
            side = xp.where(codes == c, 1.0, -1.0) if xp is np else xp.astype(codes == c, xp.float64) * 2 - 1
            problem = self._pose(X, side, w, loss)
            given = [v if v is None or k == 2 else np.asarray(v)[c] for v in (coef_init, intercept_init)]
            results.append(self._fit_one(problem, start_of(problem, *given)))
        self._record(
            X,
            results,
            np.stack([to_numpy(result.coef) for result in results]),
            np.array([float(result.intercept) for result in results]),
        )
        return self

    def _weigh(self, codes: Any, w: Any) -> tuple[Any, Any]:
        """Weights of rows times those of classes; classes without weight are left out."""
        numbers = to_numpy(codes)
        totals = np.bincount(numbers, None if w is None else to_numpy(w), minlength=len(self.classes_))
        present = totals > 0
        if present.sum() < 2:
            only = ", ".join(map(repr, self.classes_[present].tolist()))
            raise ValueError(
                f"ERMClassifier needs rows of at least 2 classes with weight, and y has only one class ({only}); "
                "a constant needs no model, see learnt.baseline.ConstantClassifier."
            )
        if not present.all():
            codes = like(np.maximum(np.cumsum(present) - 1, 0)[numbers], codes)
            self.classes_, totals = self.classes_[present], totals[present]
        if self.class_weight is None:
            return codes, w
        table = class_weights(self.class_weight, self.classes_, totals)
        each = table[to_numpy(codes)] * (1.0 if w is None else to_numpy(w))
        return codes, like(each, codes, namespace(codes).float64)

    def _fit_one(self, problem: Problem, start: Any) -> Result:
        """Minimise; without a penalty, stop as soon as all rows are separated."""
        separated = False

        def watch(posed: Problem, theta: Any) -> bool:
            nonlocal separated
            separated = _separates(posed, theta)
            return separated

        result = self._solve(problem, start, watch if problem.free and _never_flat(problem) else None)
        if separated:
            warnings.warn(
                "The classes can be separated exactly by these columns, so without a penalty there is no best fit: "
                "larger coefficients are always better; coef_ is one direction that separates them, and alpha > 0 "
                "makes the fit unique.",
                ConvergenceWarning,
                stacklevel=4,
            )
        return result

    def decision_function(self, X: Any) -> Any:
        """Scores: how far each row lies on the side of the second class, or (n, K) for K > 2 classes."""
        return self._scores(X, _flat)

    def predict(self, X: Any) -> Any:
        """The class of the highest score."""
        return self._scores(X, self._labels)

    def _labels(self, scores: Any) -> Any:
        scores = _flat(scores)
        xp = namespace(scores)
        if xp is np:
            best = (scores > 0).astype(np.intp) if scores.ndim == 1 else scores.argmax(axis=1)
            return self.classes_[best]
        best = xp.astype(scores > 0, xp.int64) if scores.ndim == 1 else xp.argmax(scores, axis=1)
        return labels_at(classes_on_device_of(self.classes_, scores), best)

    @available_if(_has_probabilities)
    def predict_proba(self, X: Any) -> Any:
        """The probability of each class, (n, K), for losses whose scores stand for one.

        These are "log", "softmax", "exponential" and "modified_huber", and custom losses with a `mean(score)`.

        Parameters
        ----------
        X : {array-like, sparse matrix} of shape (n_samples, n_features)
            Rows to predict, with the columns of those it was fitted to.

        Returns
        -------
        proba : ndarray of shape (n_samples, n_classes)
            The probability of each class, in the order of `classes_`; a row adds up to 1.
        """
        return self._scores(X, self._probabilities)

    def _probabilities(self, scores: Any) -> Any:
        xp = namespace(scores)
        loss = loss_of(self, "sign")
        if len(self.classes_) > 2 and (loss.target == "class" or self.loss in ("log", "log_loss")):
            return Softmax().mean(scores)
        if scores.shape[1] == 1:
            p = (loss if loss.target != "class" else _LOG).mean(scores)
            return xp.concat([1 - p, p], axis=1) if xp is not np else np.concatenate([1 - p, p], axis=1)
        p = loss.mean(scores) + 1e-300
        return p / xp.sum(p, axis=1, keepdims=True)


def _flat(scores: Any) -> Any:
    return scores[:, 0] if scores.shape[1] == 1 else scores


def _encode(y: Any) -> tuple[np.ndarray, Any]:
    if not is_foreign_array(y):
        return encode_labels(y)
    classes, xp = distinct_labels(y), namespace(y)
    return classes, xp.searchsorted(xp.asarray(classes, device=device_of(y)), y)


def _separates(problem: Problem, theta: Any) -> bool:
    """Whether every row with weight is strictly on its side."""
    return problem.count(_not_on_its_side, theta) == 0


def _not_on_its_side(problem: Problem, theta: Any) -> Any:
    scores = problem.scores(theta)
    xp = namespace(scores)
    if problem.n_outputs == 1:
        return ~((scores * problem.y > 0) | _weightless(problem))
    order = xp.sort(scores, axis=1)
    sure = order[:, -1] > order[:, -2]
    return ~((xp.argmax(scores, axis=1) == problem.y) & sure | _weightless(problem))


def _weightless(problem: Problem) -> Any:
    return problem.y != problem.y if problem.weight is None else problem.weight == 0


def _never_flat(problem: Problem) -> bool:
    """Whether the loss always falls with the margin, so that separable classes have no best score."""
    if problem.n_outputs > 1:
        return True
    one = np.array([1.0])
    return bool(problem.loss.gradient(one, 30 * one)[0] < 0)
