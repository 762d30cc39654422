"""Logistic regression."""

from __future__ import annotations

import math
import warnings
from collections.abc import Callable
from typing import Any

import numpy as np
from sklearn.exceptions import ConvergenceWarning

from learnt.engine import progress
from learnt.engine.arrays import device_of, is_foreign_array, is_numpy, like, namespace, to_numpy
from learnt.engine.classification.labels import class_weights, distinct_labels, encode_labels
from learnt.engine.classification.linear_classifier import ProbabilisticLinearClassifier
from learnt.engine.estimator import Estimator, Takes, Trial, Warm
from learnt.engine.mixins import ClassifierMixin
from learnt.engine.params import check_choice, check_class_weight, check_flag, check_number
from learnt.engine.rows import Rows, as_rows
from learnt.engine.schema import CLASSES, Schema, flag, integers, labels, number, one_plane_a_class, real
from learnt.engine.threads import single_blas
from learnt.engine.validation import check_fit
from learnt.engine.verbose import tell
from learnt.erm.solvers.curved import Flat, Outcome
from learnt.explanation import Explained
from learnt.linear_model.logistic._l1 import solve_sparse
from learnt.linear_model.logistic._loss import Target, class_totals, mistakes
from learnt.linear_model.logistic._messages import too_few_classes, unfinished
from learnt.linear_model.logistic._named_solvers import NAMED, solve_named
from learnt.linear_model.logistic._problem import total
from learnt.linear_model.logistic._strategy import Solution, Task, solve

# scikit-learn's names; those of methods that stop early or on a sample mean the exact minimum here.
_SOLVERS = {
    "auto": "auto",
    "newton": "newton",
    "newton-cholesky": "newton",
    "newton-cg": "newton",
    "lbfgs": "lbfgs",
    "liblinear": "auto",
    "sag": "auto",
    "saga": "auto",
}


class LogisticRegression(
    progress.CallbackSupportMixin, ProbabilisticLinearClassifier, ClassifierMixin, Estimator, Explained
):
    """Class probabilities from linear scores:  min over coef, c of  C Σᵢ wᵢ ℓ(yᵢ, coef xᵢ + c) + penalty,

        penalty = (1 − ρ) ‖coef‖²/2 + ρ‖coef‖₁,    ρ = l1_ratio

    ℓ is the log loss: −log of the probability of the class that was seen, where probabilities are the softmax of the
    scores (two classes share one score). The intercept c is not penalised. Take it as the first classifier on any
    table: it is fast, its probabilities are usually well calibrated, and its coefficients can be read as changes of
    log-odds.

    It fits from sums over rows, so X may be an array, a memory map, a SciPy matrix, a tensor on a device, a
    `learnt.scan` table larger than memory, or a Dask collection. Columns need no scaling for convergence: they are
    brought to like units inside. The result does not depend on the number of threads.

    Parameters
    ----------
    penalty : {"l2", "l1", "elasticnet", None}, default="deprecated"
        Deprecated; kept for scikit-learn's signature: what `C` and `l1_ratio` say now. "l2" means `l1_ratio=0`, "l1"
        means `l1_ratio=1`, "elasticnet" takes `l1_ratio` as it is, None means `C=np.inf`.
    C : float, default=1.0
        Inverse of the regularisation strength, greater than 0: the weight of the loss against the penalty. Smaller
        values mean more shrinkage and less overfitting; `np.inf` for no penalty. Try powers of 10, or let
        `LogisticRegressionCV` choose. The penalty sees columns in their own units, so bring those to like scale where
        shrinkage matters.
    l1_ratio : float or None, default=0.0
        ρ, the share of the absolute in the penalty, from 0 to 1. 0 (or None) shrinks all coefficients; 1 makes many
        exactly 0 and so selects features; in between (elastic net) correlated columns are kept together. Above 0, X
        must be an array or a SciPy matrix in memory.
    dual : bool, default=False
        Kept for scikit-learn's signature: which form is solved is chosen by the shape of X.
    tol : float, default=1e-4
        Convergence tolerance: stop when the objective is thought to be within tol³, relatively, of its minimum: 1e-12
        at 1e-4. Stopped by `max_iter` within tol² of it, the fit counts as converged all the same. With `l1_ratio` > 0
        a duality gap is known, and the fit stops when that is tol² of the objective. The ways of `learnt.erm.solvers`
        stop when the largest entry of the gradient is tol times that at 0.
    fit_intercept : bool, default=True
        Whether to fit c; otherwise it is 0.
    intercept_scaling : float, default=1
        Kept for scikit-learn's signature: the intercept is never penalised, whatever its scale.
    class_weight : dict, "balanced" or None, default=None
        Weights of the classes, which multiply those of the rows. "balanced" gives each class the same total: more
        recall of rare classes at the cost of precision, and probabilities that are no longer calibrated.
    random_state : int, RandomState or None, default=None
        The order of the rows for `solver="sgd"`; elsewhere the minimum is found, not drawn.
    solver : str, default="auto"
        How the minimum is found; all ways lead to the same one, so leave it at "auto".
        "auto" takes Newton's method where the table is small, Newton on a sample and L-BFGS on all rows where it is
        tall, Newton over the rows where they are fewer than the columns, L-BFGS where both are many, Newton with
        conjugate gradients where most cells are zeros or classes are many, and with coordinate descent where
        `l1_ratio` > 0.
        "newton" and "lbfgs" are those two alone.
        scikit-learn's "newton-cholesky" and "newton-cg" mean "newton"; "liblinear", "sag" and "saga" mean "auto".
        "gd", "momentum", "nesterov", "adagrad", "adam", "sgd", "newton-diagonal", "hybrid", "irls", "ista", "fista" and
        "cd" are the ways of `learnt.erm.solvers`, for X in memory: they need scaled columns and more iterations.
    max_iter : int, default=100
        The most steps over all rows. Raise it where a warning says that the fit has not converged.
    verbose : int, default=0
        Log each step to the logger "learnt" at level INFO.
    warm_start : bool, default=False
        Start from the coefficients of the last `fit` if they have the same shape.
    n_jobs : int or None, default=None
        The most threads to use; None for all that the process may.

    Attributes
    ----------
    classes_ : ndarray of shape (n_classes,)
        The labels in order. A class whose rows all have weight 0 is not there.
    coef_ : ndarray of shape (1, n_features) or (n_classes, n_features)
        The weight of each column: one row for two classes (the log-odds of `classes_[1]`), else one a class.
    intercept_ : ndarray of shape (1,) or (n_classes,)
        The constant c of each score.
    n_iter_ : ndarray of shape (1,)
        Steps over all rows.
    converged_ : bool
        Whether the minimum was reached, to `tol`.
    optimality_ : float
        How far above its minimum the objective is thought to be, relatively; NaN where that is not known.

    See Also
    --------
    LogisticRegressionCV : Chooses C and l1_ratio by cross-validation.
    SGDClassifier : The same objective one row at a time, for rows that keep coming.
    learnt.svm.LinearSVC : A hinge in place of the log loss, without probabilities.
    learnt.calibration.CalibratedClassifierCV : Calibrates the probabilities of any classifier.

    Notes
    -----
    Of n rows and d columns, a step of Newton's method takes time in n·d², one of L-BFGS in n·d. Classes that the
    columns separate exactly have no best fit without a penalty; the fit then stops with a warning.

    References
    ----------
    .. [1] D. R. Cox, "The regression analysis of binary sequences", Journal of the Royal Statistical Society B, 1958.
    .. [2] T. Hastie, R. Tibshirani, J. Friedman, "The Elements of Statistical Learning", chapter 4.4, 2nd edition,
       Springer, 2009.
    .. [3] D. C. Liu, J. Nocedal, "On the limited memory BFGS method for large scale optimization", Mathematical
       Programming, 1989.

    Examples
    --------
    >>> import numpy as np
    >>> X = np.array([[0.0], [1.0], [2.0], [3.0]])
    >>> model = LogisticRegression().fit(X, ["no", "no", "yes", "yes"])
    >>> model.predict([[2.5]])
    array(['yes'], dtype='<U3')
    >>> model.predict_proba([[1.5]])
    array([[0.5, 0.5]])
    """

    __learnt_schema__ = Schema(
        params={"fit_intercept": flag},
        state={**CLASSES, "classes_": labels("c", low=2), "coef_": real("r", "d"), "intercept_": real("r")},
        extra={"n_iter_": integers(None), "converged_": flag, "optimality_": number(finite=False)},
        rule=one_plane_a_class,
    )
    __learnt_takes__ = Takes(sparse=True, tensors=True, lazy=True)
    # So exact that what is compared is the optimum, not where each fit stopped.
    __learnt_trial__ = Trial(
        quick={"tol": 1e-10},
        warmup=(
            Warm("two classes"),
            Warm("classes"),
            Warm("two classes", {"l1_ratio": 1.0}),
            Warm("two classes", sparse=True),
            Warm("two classes", {"l1_ratio": 1.0, "C": 0.1}, sparse=True),
        ),
        weight_unit_free=False,
    )

    def __init__(
        self,
        penalty: str | None = "deprecated",
        *,
        C: float = 1.0,
        l1_ratio: float | None = 0.0,
        dual: bool = False,
        tol: float = 1e-4,
        fit_intercept: bool = True,
        intercept_scaling: float = 1,
        class_weight: Any = None,
        random_state: Any = None,
        solver: str = "auto",
        max_iter: int = 100,
        verbose: int = 0,
        warm_start: bool = False,
        n_jobs: int | None = None,
    ) -> None:
        self.penalty = penalty
        self.C = C
        self.l1_ratio = l1_ratio
        self.dual = dual
        self.tol = tol
        self.fit_intercept = fit_intercept
        self.intercept_scaling = intercept_scaling
        self.class_weight = class_weight
        self.random_state = random_state
        self.solver = solver
        self.max_iter = max_iter
        self.verbose = verbose
        self.warm_start = warm_start
        self.n_jobs = n_jobs

    @progress.with_callbacks
    def fit(self, X: Any, y: Any, sample_weight: Any = None) -> LogisticRegression:
        """Fit the coefficients; a row of weight 2 counts as two rows, one of weight 0 as none."""
        self._check_parameters()
        X, y, w = check_fit(self, X, y, sample_weight, target="label")
        with single_blas():
            rows, classes, target, counts, weight = pose_classes(X, y, w, self.class_weight, self.n_jobs)
            self.classes_ = classes
            ratio, enough, separated = self._ratio(), self.tol**2, False
            if ratio > 0 and np.isfinite(self.C) and self.solver not in NAMED:
                enough = self.tol**1.5
                solution = self._solve_sparse(rows, target, ratio, X, y)
            else:
                task = Task(
                    rows,
                    target,
                    alpha=0.0 if self.penalty is None else 1.0 / self.C,
                    fit_intercept=bool(self.fit_intercept),
                    counts=counts,
                    weight=weight,
                    tol=self.tol**3,
                    max_iter=self.max_iter,
                    solver=_SOLVERS.get(self.solver, self.solver),
                    start=self._start(target, rows.n_features),
                )
                solution, separated = self._solve(task, X, y)
        self._record(solution, rows, enough)
        self._warn(solution, separated, enough)
        return self

    def _check_parameters(self) -> None:
        check_choice(self, "penalty", ("l2", None, "deprecated", "l1", "elasticnet"))
        check_number(self, "C", 0, open_low=True)
        check_number(self, "l1_ratio", 0, 1, also=(None,))
        check_number(self, "tol", 0)
        check_number(self, "max_iter", 0, integer=True)
        check_number(self, "intercept_scaling", 0, open_low=True)
        check_flag(self, "fit_intercept", "dual", "warm_start")
        check_choice(self, "solver", (*_SOLVERS, *NAMED))
        check_class_weight(self)
        ratio = self._ratio()
        if ratio > 0 and self.solver in ("newton", "newton-cholesky", "newton-cg", "lbfgs", "sag"):
            raise ValueError(
                f"Solver {self.solver} supports only 'l2' or None penalties, got l1_ratio={ratio:g}; use solver='auto'."
            )
        if self.penalty in ("l1", "l2", None) and 0 < (self.l1_ratio or 0.0) < 1:
            warnings.warn(
                f"l1_ratio parameter is only used when penalty is 'elasticnet'. Got (penalty={self.penalty}); leave "
                "penalty alone and set l1_ratio.",
                stacklevel=4,
            )
        elif self.penalty in ("l1", "l2") and self.l1_ratio not in (None, 0.0, ratio):
            warnings.warn(
                f"Inconsistent values: penalty={self.penalty} with l1_ratio={self.l1_ratio}, of which penalty counts; "
                "leave penalty alone and set l1_ratio.",
                stacklevel=4,
            )
        if self.dual and self.solver not in ("auto", "liblinear"):
            raise ValueError(f"Solver {self.solver} supports only dual=False, got dual=True; use solver='auto'.")
        if self.penalty is None and self.C != 1.0:
            warnings.warn(
                "Setting penalty=None will ignore the C and l1_ratio parameters; leave penalty alone and set C=np.inf.",
                stacklevel=4,
            )

    def _ratio(self) -> float:
        """The share of the absolute in the penalty."""
        if self.penalty == "elasticnet" and self.l1_ratio is None:
            raise ValueError("l1_ratio must be specified when penalty is elasticnet; give a number between 0 and 1.")
        if self.penalty in ("l1", "l2") or self.penalty is None:
            return 1.0 if self.penalty == "l1" else 0.0
        return float(self.l1_ratio or 0.0)

    def _solve_sparse(self, rows: Rows, target: Target, ratio: float, X: Any, y: Any) -> Solution:
        """With absolute values in the penalty."""
        if not rows.on_host:
            raise ValueError(
                f"l1_ratio={ratio:g} needs X as an array or a SciPy matrix in memory, and it is a "
                f"{type(rows.X).__name__}; load it first, or set l1_ratio=0."
            )
        codes = np.asarray(rows.y).astype(np.intp)
        w = target.weights[codes] * (1.0 if rows.w is None else rows.w)
        weighted = w > 0
        A, codes, w = (rows.X, codes, w) if weighted.all() else (rows.X[weighted], codes[weighted], w[weighted])
        with progress.fit_loop(self, max(self.max_iter, 1), X, y) as loop:

            def watch(theta: np.ndarray, value: float, n_iter: int) -> bool:
                if self.verbose:
                    tell("LogisticRegression step %d: loss and penalty %.8g", n_iter, value)
                return loop.step(f"{value:.6g}", lambda: attributes(theta, rows))

            found = solve_sparse(
                A,
                codes,
                w,
                target.n_classes,
                ratio / self.C,
                (1.0 - ratio) / self.C,
                fit_intercept=bool(self.fit_intercept),
                tol=self.tol**2,
                max_iter=self.max_iter,
                start=self._start(target, rows.n_features),
                watch=watch,
            )
        return Solution(found.theta, Outcome(*found, curvature=Flat()))

    def _start(self, target: Target, n_features: int) -> np.ndarray | None:
        """Coefficients to start from, K × (d + 1)."""
        if not (self.warm_start and hasattr(self, "coef_")):
            return None
        self.densify()
        coef, intercept = (to_numpy(part).astype(np.float64) for part in (self.coef_, self.intercept_))
        if coef.shape != (target.n_outputs, n_features):
            return None
        return np.concatenate([coef, intercept[:, None]], axis=1)

    def _solve(self, task: Task, X: Any, y: Any) -> tuple[Solution, bool]:
        separated = False
        with progress.fit_loop(self, max(self.max_iter, 1), X, y) as loop:

            def watch(theta: Callable[[], np.ndarray], value: float, n_iter: int) -> bool:
                nonlocal separated
                if self.verbose:
                    tell("LogisticRegression step %d: loss and penalty %.8g", n_iter, value)
                stop = loop.step(f"{value:.6g}", lambda: attributes(theta(), task.rows))
                if task.alpha == 0.0 and value < 0.5 * math.log(2) * task.weight:
                    separated = total(task.rows, mistakes, theta(), task.target)[0] == 0
                return stop or separated

            task = task._replace(watch=watch)
            named = self.solver in NAMED
            solution = solve_named(task, self._ratio(), self.tol, self.random_state) if named else solve(task)
        return solution, separated

    def _record(self, solution: Solution, rows: Rows, enough: float) -> None:
        outcome = solution.outcome
        for name, value in attributes(solution.theta, rows).items():
            setattr(self, name, value)
        self.n_iter_ = np.array([outcome.n_iter], dtype=np.int32)
        self.optimality_ = outcome.gap / outcome.value if outcome.value > 0 else 0.0
        near = outcome.status in ("iterations", "stalled") and self.optimality_ <= enough
        self.converged_ = outcome.status == "converged" or near

    def _warn(self, solution: Solution, separated: bool, enough: float) -> None:
        if separated:
            warnings.warn(
                "The classes can be separated exactly by these columns, so without a penalty there is no best fit: "
                "larger coefficients are always better; coef_ is one direction that separates them, and a finite C "
                "makes the fit unique.",
                ConvergenceWarning,
                stacklevel=4,
            )
        elif self.converged_:
            return
        elif solution.outcome.status == "iterations":
            far = f"about {self.optimality_:.1e} (relative)" if self.optimality_ >= 0 else "an unknown distance"
            warnings.warn(
                f"{unfinished(self.solver, self.n_iter_[0])} LogisticRegression stopped after {self.n_iter_[0]} steps "
                f"with its objective {far} above the minimum, where tol={self.tol:g} asks for {enough:.1e} at most; "
                f"raise max_iter above {self.max_iter}.",
                ConvergenceWarning,
                stacklevel=4,
            )
        elif solution.outcome.status == "diverged":
            warnings.warn(
                f"LogisticRegression: the steps of solver={self.solver!r} ran away after {self.n_iter_[0]} of them; "
                "scale the columns, or use solver='auto'.",
                ConvergenceWarning,
                stacklevel=4,
            )
        elif solution.outcome.status == "stalled":
            warnings.warn(
                f"LogisticRegression found no lower objective after {self.n_iter_[0]} steps, about "
                f"{self.optimality_:.1e} (relative) above the minimum: the columns are too nearly dependent for "
                "float64; lower C or drop columns.",
                ConvergenceWarning,
                stacklevel=4,
            )


def attributes(theta: np.ndarray, rows: Rows) -> dict[str, Any]:
    """`coef_` and `intercept_` in the library, place and precision of the data."""
    coef, intercept = theta[:, :-1], theta[:, -1]
    return {"coef_": like(coef.copy(), rows.reference), "intercept_": like(intercept.copy(), rows.reference)}


def pose_classes(
    X: Any, y: Any, w: Any, class_weight: Any, n_jobs: int | None
) -> tuple[Rows, np.ndarray, Target, np.ndarray, float]:
    """Rows with classes as 0…K−1, the classes, how to read and weigh them, rows of each, and the weight of all."""
    labels = None
    if is_numpy(y):
        classes, y = encode_labels(y)
    else:
        classes = distinct_labels(y)
        if is_foreign_array(y):
            xp = namespace(y)
            y = xp.searchsorted(xp.asarray(classes, device=device_of(y)), y)
        else:
            labels = classes
    counts, totals = total(as_rows(X, y, w), class_totals, Target(len(classes), np.ones(len(classes)), False, labels))
    table = np.zeros(len(classes))
    present = counts > 0
    table[present] = class_weights(class_weight, classes[present], totals[present])
    present &= table > 0
    if present.sum() < 2:
        only = ", ".join(repr(label) for label in classes[present].tolist())
        raise too_few_classes(only)
    if not present.all():  # a class without weight is not there; its rows keep weight 0 and some other's number
        classes, counts, totals, table = classes[present], counts[present], totals[present], table[present]
        labels = None if labels is None else classes
        if labels is None:
            position = np.maximum(np.cumsum(present) - 1, 0)
            y = like(position[to_numpy(y).astype(np.intp)], y)
    target = Target(len(classes), table, class_weight is not None, labels)
    if target.binary and is_numpy(y):
        y = y.astype(np.float64)
    return as_rows(X, y, w, n_jobs=n_jobs), classes, target, counts, float(table @ totals)
