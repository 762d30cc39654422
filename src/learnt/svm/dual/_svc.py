"""Support vector classification with kernels."""

from __future__ import annotations

import math
import warnings
from collections.abc import Sequence
from dataclasses import replace
from typing import Any

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

    Take it for classes with a curved border, in small and middling tables. Only the rows at or beyond the margin, the
    support vectors, shape the border. More than two classes are decided by votes of all pairs.

    Parameters
    ----------
    C : float, default=1.0
        Inverse of the regularisation strength, greater than 0: the weight of mistakes against the width of the margin.
        Smaller values mean a wider margin and less overfitting, larger ones fewer training mistakes; infinity allows
        none. Tune it together with `gamma`, both by powers of 10.
    kernel : str, kernel object or callable, default="rbf"
        What measures how alike two rows are. "linear" is x·z; "poly" is (γ x·z + coef0)^degree; "rbf" is exp(−γ‖x −
        z‖²), the usual first choice; "sigmoid" is tanh(γ x·z + coef0); with "precomputed" X is the kernel matrix
        itself. Or another name or an object of `learnt.kernels`, such as `2 * RBF(1.0) + Linear()`; or a function of
        two tables, or of two lists of texts or sets, that returns the matrix of their kernels.
    degree : float, default=3
        Degree of the "poly" kernel; other kernels do not use it. Higher degrees bend more, at the risk of overfitting.
    gamma : {"scale", "auto"} or float, default="scale"
        γ of the "rbf", "poly", "sigmoid" and other named kernels: how local the kernel is. Larger values follow single
        rows and overfit, smaller ones underfit; tune it together with C. "scale" is 1 / (n_features · variance of X),
        "auto" is 1 / n_features.
    coef0 : float, default=0.0
        The constant added inside the "poly" and "sigmoid" kernels; other kernels do not use it.
    shrinking : bool, default=True
        Kept for scikit-learn's signature: working sets shrink by themselves.
    probability : bool, default="deprecated"
        Whether to fit probabilities, by a cross-validation of five folds inside `fit`, which takes some times as long.
        The default means False and has the name that scikit-learn gives it; True and False are taken here without a
        warning. `learnt.calibration.CalibratedClassifierCV` is the more flexible way to probabilities.
    tol : float, default=1e-3
        Convergence tolerance: the largest violation of the optimality conditions that is left. Lower it for a more
        exact solution, raise it to stop sooner.
    cache_size : float, default=200
        Megabytes for rows of the kernel matrix. Raise it for large tables if there is memory: it saves time.
    class_weight : dict, "balanced" or None, default=None
        Weights of the classes, which multiply C. "balanced" gives every class the same total: take it where a rare
        class is missed, for more recall at the cost of precision.
    verbose : bool, default=False
        Kept for scikit-learn's signature: nothing is printed.
    max_iter : int, default=-1
        The most steps; −1 is no limit. A fit that ends there has not converged and warns, with the gap that is left.
    decision_function_shape : {"ovr", "ovo"}, default="ovr"
        What `decision_function` returns for more than two classes: "ovr" one column a class, "ovo" one column a pair of
        classes. What is fitted is pairs in both cases.
    break_ties : bool, default=False
        Whether equal votes are settled by the decision values, as "ovr" makes them, and not in favour of the first
        class. Not possible with decision_function_shape="ovo".
    random_state : int, RandomState, Generator or None, default=None
        Shuffles the folds that probabilities come from; not used without `probability`.

    Attributes
    ----------
    classes_ : ndarray of shape (n_classes,)
        The labels in order.
    support_ : ndarray of shape (n_support,)
        Indices of the support vectors among the training rows, class after class.
    support_vectors_ : {ndarray, sparse matrix} of shape (n_support, n_features)
        The support vectors themselves; empty with kernel="precomputed".
    n_support_ : ndarray of shape (n_classes,)
        How many support vectors each class has.
    dual_coef_ : {ndarray, sparse matrix} of shape (n_classes - 1, n_support)
        y α of each support vector, one row for each other class.
    intercept_ : ndarray of shape (n_pairs,)
        b of each pair of classes.
    coef_ : {ndarray, sparse matrix} of shape (n_pairs, n_features)
        Weights of the columns; with kernel="linear" only. Read-only.
    class_weight_ : ndarray of shape (n_classes,)
        What C was multiplied by for each class.
    n_iter_ : ndarray of shape (n_pairs,)
        Steps of two variables each.
    fit_status_ : int
        0 where the fit converged, 1 where it ended early, with a warning.
    shape_fit_ : tuple of (n_samples, n_features)
        The shape of the training table.
    kkt_residual_ : float
        The largest violation of the optimality conditions that is left.
    dual_gap_ : float
        How far the objective may be above its minimum, relatively; of the worst pair.
    probA_ : ndarray of shape (n_pairs,)
        Slopes of the sigmoids that make probabilities; empty without `probability`.
    probB_ : ndarray of shape (n_pairs,)
        Offsets of these sigmoids; empty without `probability`.

    See Also
    --------
    NuSVC : Gives the share of support vectors in place of C.
    LinearSVC : The linear kernel alone, for many rows or columns.
    SVR : The same for numbers.
    learnt.linear_model.SGDClassifier : Linear, one row at a time, for tables of any length.
    learnt.kernel_approximation.Nystroem : Features that bring a linear model near this one on many rows.

    Notes
    -----
    The dual problem is solved on working sets, two variables at a time (sequential minimal optimisation), in double
    precision. Time grows between n² and n³ in the rows, so that some ten thousand rows are the usual limit. Bring
    columns to like scale first (`learnt.preprocessing.StandardScaler`). The result does not depend on the number of
    threads. X may be a NumPy array, a data frame of numbers, a SciPy sparse matrix, or a list of texts or sets where
    `kernel` is a function of those.

    References
    ----------
    .. [1] C. Cortes, V. Vapnik, "Support-vector networks", Machine Learning, 1995.
    .. [2] R.-E. Fan, P.-H. Chen, C.-J. Lin, "Working set selection using second order information for training support
       vector machines", Journal of Machine Learning Research, 2005.
    .. [3] J. Platt, "Probabilistic outputs for support vector machines and comparisons to regularized likelihood
       methods", Advances in Large Margin Classifiers, MIT Press, 1999.

    Examples
    --------
    Two half-moons, which no line separates:

    >>> from sklearn.datasets import make_moons
    >>> X, y = make_moons(n_samples=200, noise=0.1, random_state=0)
    >>> round(SVC(kernel="linear").fit(X, y).score(X, y), 2)
    0.88
    >>> model = SVC(C=10.0).fit(X, y)
    >>> round(model.score(X, y), 2)
    1.0
    """

    __learnt_schema__ = SCHEMA
    __learnt_trial__ = TRIAL

    def __init__(
        self,
        *,
        C: float = 1.0,
        kernel: Any = "rbf",
        degree: float = 3,
        gamma: float | str = "scale",
        coef0: float = 0.0,
        shrinking: bool = True,
        probability: bool | str = "deprecated",
        tol: float = 1e-3,
        cache_size: float = 200,
        class_weight: Any = None,
        verbose: bool = False,
        max_iter: int = -1,
        decision_function_shape: str = "ovr",
        break_ties: bool = False,
        random_state: Any = None,
    ) -> None:
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

    With the right C, `SVC` has the same solution. Take this one where a share of mistakes is easier to name than a
    cost. More than two classes are decided by votes of all pairs.

    Parameters
    ----------
    nu : float, default=0.5
        A number in (0, 1]: at most this share of the rows is inside the margin, at least this share are support
        vectors. It regularises: larger values mean a wider margin and less overfitting. A ν that is too large for the
        smaller of two classes is refused.
    kernel : str, kernel object or callable, default="rbf"
        What measures how alike two rows are. "linear" is x·z; "poly" is (γ x·z + coef0)^degree; "rbf" is exp(−γ‖x −
        z‖²), the usual first choice; "sigmoid" is tanh(γ x·z + coef0); with "precomputed" X is the kernel matrix
        itself. Or another name or an object of `learnt.kernels`, such as `2 * RBF(1.0) + Linear()`; or a function of
        two tables, or of two lists of texts or sets, that returns the matrix of their kernels.
    degree : float, default=3
        Degree of the "poly" kernel; other kernels do not use it. Higher degrees bend more, at the risk of overfitting.
    gamma : {"scale", "auto"} or float, default="scale"
        γ of the "rbf", "poly", "sigmoid" and other named kernels: how local the kernel is. Larger values follow single
        rows and overfit, smaller ones underfit; tune it together with C. "scale" is 1 / (n_features · variance of X),
        "auto" is 1 / n_features.
    coef0 : float, default=0.0
        The constant added inside the "poly" and "sigmoid" kernels; other kernels do not use it.
    shrinking : bool, default=True
        Kept for scikit-learn's signature: working sets shrink by themselves.
    probability : bool, default="deprecated"
        Whether to fit probabilities, by a cross-validation of five folds inside `fit`, which takes some times as long.
        The default means False and has the name that scikit-learn gives it; True and False are taken here without a
        warning. `learnt.calibration.CalibratedClassifierCV` is the more flexible way to probabilities.
    tol : float, default=1e-3
        Convergence tolerance: the largest violation of the optimality conditions that is left. Lower it for a more
        exact solution, raise it to stop sooner.
    cache_size : float, default=200
        Megabytes for rows of the kernel matrix. Raise it for large tables if there is memory: it saves time.
    class_weight : dict, "balanced" or None, default=None
        Weights of the classes, which multiply those of the rows. "balanced" gives every class the same total: take it
        where a rare class is missed, for more recall at the cost of precision.
    verbose : bool, default=False
        Kept for scikit-learn's signature: nothing is printed.
    max_iter : int, default=-1
        The most steps; −1 is no limit. A fit that ends there has not converged and warns, with the gap that is left.
    decision_function_shape : {"ovr", "ovo"}, default="ovr"
        What `decision_function` returns for more than two classes: "ovr" one column a class, "ovo" one column a pair of
        classes. What is fitted is pairs in both cases.
    break_ties : bool, default=False
        Whether equal votes are settled by the decision values, as "ovr" makes them, and not in favour of the first
        class. Not possible with decision_function_shape="ovo".
    random_state : int, RandomState, Generator or None, default=None
        Shuffles the folds that probabilities come from; not used without `probability`.

    Attributes
    ----------
    classes_ : ndarray of shape (n_classes,)
        The labels in order.
    support_ : ndarray of shape (n_support,)
        Indices of the support vectors among the training rows, class after class.
    support_vectors_ : {ndarray, sparse matrix} of shape (n_support, n_features)
        The support vectors themselves; empty with kernel="precomputed".
    n_support_ : ndarray of shape (n_classes,)
        How many support vectors each class has.
    dual_coef_ : {ndarray, sparse matrix} of shape (n_classes - 1, n_support)
        y α of each support vector, one row for each other class.
    intercept_ : ndarray of shape (n_pairs,)
        b of each pair of classes.
    coef_ : {ndarray, sparse matrix} of shape (n_pairs, n_features)
        Weights of the columns; with kernel="linear" only. Read-only.
    class_weight_ : ndarray of shape (n_classes,)
        The weight of each class.
    n_iter_ : ndarray of shape (n_pairs,)
        Steps of two variables each.
    fit_status_ : int
        0 where the fit converged, 1 where it ended early, with a warning.
    shape_fit_ : tuple of (n_samples, n_features)
        The shape of the training table.
    kkt_residual_ : float
        The largest violation of the optimality conditions that is left.
    dual_gap_ : float
        NaN: a duality gap is not computed where ν is given.
    probA_ : ndarray of shape (n_pairs,)
        Slopes of the sigmoids that make probabilities; empty without `probability`.
    probB_ : ndarray of shape (n_pairs,)
        Offsets of these sigmoids; empty without `probability`.

    See Also
    --------
    SVC : The same with the cost C of mistakes.
    LinearSVC : The linear kernel alone, for many rows or columns.
    NuSVR : The same for numbers.

    Notes
    -----
    The dual problem is solved on working sets, two variables at a time (sequential minimal optimisation), in double
    precision. Time grows between n² and n³ in the rows, so that some ten thousand rows are the usual limit. Bring
    columns to like scale first (`learnt.preprocessing.StandardScaler`). The result does not depend on the number of
    threads. X may be a NumPy array, a data frame of numbers, a SciPy sparse matrix, or a list of texts or sets where
    `kernel` is a function of those.

    References
    ----------
    .. [1] B. Schölkopf, A. J. Smola, R. C. Williamson, P. L. Bartlett, "New support vector algorithms", Neural
       Computation, 2000.
    .. [2] R.-E. Fan, P.-H. Chen, C.-J. Lin, "Working set selection using second order information for training support
       vector machines", Journal of Machine Learning Research, 2005.

    Examples
    --------
    >>> import numpy as np
    >>> X = np.array([[-1.0, -1.0], [-2.0, -1.0], [1.0, 1.0], [2.0, 1.0]])
    >>> model = NuSVC().fit(X, [1, 1, 2, 2])
    >>> model.predict([[-0.8, -1.0]])
    array([1])
    >>> bool(model.n_support_.sum() >= 0.5 * len(X))
    True
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
        nu: float = 0.5,
        kernel: Any = "rbf",
        degree: float = 3,
        gamma: float | str = "scale",
        coef0: float = 0.0,
        shrinking: bool = True,
        probability: bool | str = "deprecated",
        tol: float = 1e-3,
        cache_size: float = 200,
        class_weight: Any = None,
        verbose: bool = False,
        max_iter: int = -1,
        decision_function_shape: str = "ovr",
        break_ties: bool = False,
        random_state: Any = None,
    ) -> None:
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
