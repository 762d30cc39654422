"""Support vector classification with kernels."""

from __future__ import annotations

import math
import warnings
from collections.abc import Sequence
from dataclasses import replace

import numpy as np

from learnt.engine.params import check_number
from learnt.explanation import Explained
from learnt.svm.dual._base import NO_MISTAKE, solve_or_refuse
from learnt.svm.dual._classification import SCHEMA, TRIAL, Classification
from learnt.svm.dual._kernel import TrainingKernel
from learnt.svm.dual._problems import Machine, classify, classify_nu, finite_C, kernel_rows
from learnt.svm.dual._shared import Layout, Machines, Table, classify_nu_pairs, classify_pairs


class SVC(Classification, Explained):
    """The surface with the widest margin in the space of a kernel:  min ½‖w‖² + C Σ max(0, 1 − yᵢ (w·φ(xᵢ) + b)).

    More than two classes are decided by votes of all pairs. The dual problem is solved on working sets, two variables
    at a time, until no optimality condition is broken by more than `tol`.

    Parameters
    ----------
    C : float, default=1.0
        The weight of mistakes against the width of the margin; infinity allows none.
    kernel : {"linear", "poly", "rbf", "sigmoid", "precomputed"}, a kernel or function, default="rbf"
        k(x, z) = x·z; (γ x·z + coef0)^degree; exp(−γ‖x − z‖²); tanh(γ x·z + coef0); X is the kernel matrix; any other
        name or object of `learnt.kernels` (`2 * RBF(1.0) + Linear()`); or a function of two tables, or of two lists of
        texts or sets, that returns the matrix of their kernels.
    degree : float, default=3
    gamma : {"scale", "auto"} or float, default="scale"
        "scale" is 1 / (n_features · variance of X), "auto" 1 / n_features.
    coef0 : float, default=0.0
    shrinking : bool, default=True
        Kept for scikit-learn's signature: working sets shrink by themselves.
    probability : bool, default="deprecated"
        Whether to fit probabilities, by a cross-validation of five folds inside `fit`. The default means False and has
        the name that scikit-learn gives it; True and False are taken here without a warning.
    tol : float, default=1e-3
        The largest violation of the optimality conditions that is left.
    cache_size : float, default=200
        Megabytes for rows of the kernel matrix.
    class_weight : dict, "balanced" or None, default=None
        Weights of the classes, which multiply C.
    verbose : bool, default=False
        Kept for scikit-learn's signature: nothing is printed.
    max_iter : int, default=-1
        The most steps; −1 is no limit. A fit that ends there warns, with the gap that is left.
    decision_function_shape : {"ovr", "ovo"}, default="ovr"
        One column a class, or one a pair of classes.
    break_ties : bool, default=False
        Whether equal votes are settled by the decision values.
    random_state : int, RandomState or None
        Shuffles the folds that probabilities come from.

    Attributes
    ----------
    classes_ : array of shape (n_classes,)
    support_, support_vectors_, n_support_ : arrays
        Indices and rows of the support vectors, class after class, and how many each class has.
    dual_coef_ : array of shape (n_classes − 1, n_support)
        y α of each support vector, one row for each other class.
    intercept_ : array of shape (n_pairs,)
    coef_ : array of shape (n_pairs, n_features)
        With a linear kernel only.
    n_iter_ : array of shape (n_pairs,)
        Steps of two variables each.
    kkt_residual_, dual_gap_ : float
        The largest violation left, and how far the objective may be above its minimum, relatively; of the worst pair.
    probA_, probB_ : arrays of shape (n_pairs,)
        With probabilities only.

    Examples
    --------
    >>> import numpy as np
    >>> X = np.array([[-1.0, -1.0], [-2.0, -1.0], [1.0, 1.0], [2.0, 1.0]])
    >>> SVC().fit(X, [1, 1, 2, 2]).predict([[-0.8, -1.0]])
    array([1])
    """

    __learnt_schema__ = SCHEMA
    __learnt_trial__ = TRIAL

    def __init__(
        self,
        *,
        C=1.0,
        kernel="rbf",
        degree=3,
        gamma="scale",
        coef0=0.0,
        shrinking=True,
        probability="deprecated",
        tol=1e-3,
        cache_size=200,
        class_weight=None,
        verbose=False,
        max_iter=-1,
        decision_function_shape="ovr",
        break_ties=False,
        random_state=None,
    ):
        self.C = C
        self.kernel = kernel
        self.degree = degree
        self.gamma = gamma
        self.coef0 = coef0
        self.shrinking = shrinking
        self.probability = probability
        self.tol = tol
        self.cache_size = cache_size
        self.class_weight = class_weight
        self.verbose = verbose
        self.max_iter = max_iter
        self.decision_function_shape = decision_function_shape
        self.break_ties = break_ties
        self.random_state = random_state

    def _check_parameters(self) -> None:
        super()._check_parameters()
        check_number(self, "C", 0, open_low=True)

    def _machine(self, training: TrainingKernel, y: np.ndarray, weight: np.ndarray, pair: tuple[int, int]) -> Machine:
        C, effort = finite_C(self.C, training), self._effort()
        upper, max_norm = C * weight, C if math.isinf(self.C) else math.inf
        rows = kernel_rows(training, float(upper.max()), effort)
        return solve_or_refuse(
            self.C, type(self).__name__, NO_MISTAKE, upper, lambda: classify(rows, y, upper, effort, max_norm)
        )

    def _may_share(self) -> bool:
        return math.isfinite(self.C)  # others may have no solution, which is looked for in steps

    def _largest(self, weight: np.ndarray) -> float:
        return float(self.C * weight.max())

    def _machines(self, table: Table, layout: Layout, weight: np.ndarray) -> Machines:
        return classify_pairs(table, layout, self.C * weight, self._effort())


class NuSVC(Classification, Explained):
    """Classification where ν, not C, is given: it bounds the share of rows inside the margin, and of support vectors.

    Parameters
    ----------
    nu : float in (0, 1], default=0.5
        At most this share of the rows is inside the margin, at least this share are support vectors.
    kernel, degree, gamma, coef0, shrinking, probability, tol, cache_size, class_weight, verbose, max_iter,
    decision_function_shape, break_ties, random_state
        As for `SVC`.

    Attributes
    ----------
    classes_, support_, support_vectors_, n_support_, dual_coef_, intercept_, coef_, n_iter_, kkt_residual_, probA_,
    probB_
        As for `SVC`.

    Examples
    --------
    >>> import numpy as np
    >>> X = np.array([[-1.0, -1.0], [-2.0, -1.0], [1.0, 1.0], [2.0, 1.0]])
    >>> NuSVC().fit(X, [1, 1, 2, 2]).predict([[-0.8, -1.0]])
    array([1])
    """

    __learnt_schema__ = SCHEMA
    _refusal = "specified nu is infeasible"
    __learnt_trial__ = replace(
        TRIAL,
        quick={"tol": 1e-10, "gamma": 1.0, "nu": 0.3},
        # It sets class weights that leave one class too light for any nu, which is refused.
        exempt=("check_class_weight_classifiers",),
    )

    def __init__(
        self,
        *,
        nu=0.5,
        kernel="rbf",
        degree=3,
        gamma="scale",
        coef0=0.0,
        shrinking=True,
        probability="deprecated",
        tol=1e-3,
        cache_size=200,
        class_weight=None,
        verbose=False,
        max_iter=-1,
        decision_function_shape="ovr",
        break_ties=False,
        random_state=None,
    ):
        self.nu = nu
        self.kernel = kernel
        self.degree = degree
        self.gamma = gamma
        self.coef0 = coef0
        self.shrinking = shrinking
        self.probability = probability
        self.tol = tol
        self.cache_size = cache_size
        self.class_weight = class_weight
        self.verbose = verbose
        self.max_iter = max_iter
        self.decision_function_shape = decision_function_shape
        self.break_ties = break_ties
        self.random_state = random_state

    def _check_parameters(self) -> None:
        super()._check_parameters()
        check_number(self, "nu", 0, 1, open_low=True)

    def _machine(self, training: TrainingKernel, y: np.ndarray, weight: np.ndarray, pair: tuple[int, int]) -> Machine:
        total = weight.sum()
        self._require_feasible(2 * min(weight[y > 0].sum(), weight[y < 0].sum()) / total, pair)
        machine = classify_nu(kernel_rows(training, 1.0, self._effort()), y, weight, float(self.nu), self._effort())
        self._warn_of_thin_margin(self.nu * total / np.abs(machine.coef).sum(), pair)
        return machine

    def _machines(self, table: Table, layout: Layout, weight: np.ndarray) -> Machines:
        sides = np.add.reduceat(weight, layout.sides).reshape(-1, 2)
        total = sides.sum(axis=1)
        for most, pair in zip(2 * sides.min(axis=1) / total, layout.pairs.tolist()):
            self._require_feasible(most, pair)
        machines = classify_nu_pairs(table, layout, weight, float(self.nu), self._effort())
        margins = self.nu * total / np.add.reduceat(np.abs(machines.coef), layout.sides[::2])
        for margin, pair in zip(margins, layout.pairs.tolist()):
            self._warn_of_thin_margin(margin, pair)
        return machines

    def _names(self, pair: Sequence[int]) -> str:
        return " and ".join(repr(name) for name in self.classes_[list(pair)].tolist())

    def _require_feasible(self, most: float, pair: Sequence[int]) -> None:
        if self.nu > most:
            raise ValueError(
                f"specified nu is infeasible: nu={self.nu:g} asks for more rows in the margin than the smaller of the "
                f"classes {self._names(pair)} has; give nu of at most {most:.3g}."
            )

    def _warn_of_thin_margin(self, margin: float, pair: Sequence[int]) -> None:
        """Say so where decision values, divided by a small margin, are hardly known; Σα over it is what is known."""
        if not margin > self.tol:
            warnings.warn(
                f"NuSVC with nu={self.nu:g} leaves a margin between the classes {self._names(pair)} that is not above "
                f"tol={self.tol:g}, and decision values are hardly known: raise nu, which bounds the share of rows on "
                "the wrong side, lower tol, or give a kernel that bends more.",
                stacklevel=5,
            )
