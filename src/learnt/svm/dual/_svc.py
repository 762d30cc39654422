"""Support vector classification with kernels."""

from __future__ import annotations

import math
import warnings
from dataclasses import replace
from functools import partial
from typing import Any, ClassVar

import numpy as np
from scipy import sparse
from sklearn.base import ClassifierMixin
from sklearn.exceptions import NotFittedError
from sklearn.model_selection import StratifiedKFold
from sklearn.utils.metaestimators import available_if
from sklearn.utils.validation import check_is_fitted

from learnt.engine.classification.labels import class_weights, encode_labels
from learnt.engine.estimator import Trial, Warm
from learnt.engine.matrices import dense
from learnt.engine.params import check_choice, check_class_weight, check_flag, check_number
from learnt.engine.random import first_seed
from learnt.engine.schema import Schema, flag, integers, labels, real
from learnt.engine.threads import run_tasks, single_blas
from learnt.svm.dual._base import EXTRA, NO_MISTAKE, PARAMS, STATE, KernelMachine, solve_or_refuse
from learnt.svm.dual._inputs import Rows, fit_rows
from learnt.svm.dual._kernel import Kernel, TrainingKernel, machine_rule
from learnt.svm.dual._pairs import couple, one_vs_rest, pair_probabilities, pairs_of, sigmoid_of, votes_of
from learnt.svm.dual._problems import Machine, classify, classify_nu, finite_C, kernel_rows

_FOLDS = 5  # of the cross-validation that probabilities come from


def _rule(model: Any, state: dict[str, Any], dims: dict[str, Any]) -> str | None:
    k = dims["c"]
    if dims["r"] != k - 1 or dims["p"] != k * (k - 1) // 2:
        return "has other machines than pairs of classes"
    if int(state["_n_support"].sum()) != dims["s"]:
        return "has other support vectors than it counts"
    if model.probability and len(state.get("_probA", ())) != dims["p"]:
        return "has no probabilities for its pairs of classes"
    return machine_rule(model, state, dims)


_SCHEMA = Schema(
    params={**PARAMS, "probability": flag, "break_ties": flag},
    state={**STATE, "classes_": labels("c", low=2), "_n_support": integers("c"), "class_weight_": real("c")},
    extra={**EXTRA, "_probA": real(None), "_probB": real(None)},
    rule=_rule,
)
_TRIAL = Trial(
    quick={"tol": 1e-8, "gamma": 0.1},
    warmup=(Warm("two classes"), Warm("classes")),
    weighted=({"class_weight": "balanced"},),
    weight_unit_free=False,
    most_rows=600,
)


def _gives_probabilities(model: Any) -> bool:
    if not model.probability:
        raise AttributeError("predict_proba is not available when probability=False")
    return True


class _Classification(ClassifierMixin, KernelMachine):
    """Pairs of classes, one machine each; votes; probabilities."""

    probability: bool
    class_weight: Any
    _refusal: ClassVar[str] = "Invalid input"
    classes_: np.ndarray
    _n_support: np.ndarray

    def _check_parameters(self) -> None:
        super()._check_parameters()
        check_choice(self, "decision_function_shape", ("ovr", "ovo"))
        check_flag(self, "probability", "break_ties")
        check_class_weight(self)

    def fit(self, X: Any, y: Any, sample_weight: Any = None) -> Any:
        """Fit to a table or, with kernel="precomputed", to the kernel between all training rows.

        Weights multiply C, and one of 0 or less leaves its row out.
        """
        self._check_parameters()
        rows = fit_rows(self, X, y, sample_weight, "label")
        kernel, X, w = self._prepare(rows), rows.X, rows.w
        self.classes_, codes = encode_labels(rows.y)
        name, only = type(self).__name__, self.classes_.tolist()[0]
        if len(self.classes_) < 2 and rows.places is not None:
            raise ValueError(
                f"{self._refusal} - all samples with positive weights belong to the same class, {only!r}, and {name} "
                "needs two: give rows of another class weights above 0."
            )
        if len(self.classes_) < 2:
            raise ValueError(
                f"{name} needs at least two classes, and y has one only: {only!r}. The number of classes has to be "
                "greater than one; got 1 class."
            )
        table = class_weights(self.class_weight, self.classes_, np.bincount(codes, minlength=len(self.classes_)))
        self.class_weight_ = np.asarray(table, dtype=np.float64)
        with single_blas():
            machines = self._machines(kernel, X, codes, w)
            self._keep(rows, codes, machines)
            if self.probability:
                self._fit_probabilities(kernel, X, codes, w)
        self._record([machine for machine, _ in machines])
        return self

    def _machines(self, kernel: Kernel, X: Any, codes: np.ndarray, w: np.ndarray) -> list[tuple[Machine, np.ndarray]]:
        """The machine of every pair of classes, and the rows it was fitted on."""
        names = pairs_of(len(self.classes_))

        def one(i: int, j: int) -> tuple[Machine, np.ndarray]:
            rows = np.flatnonzero((codes == i) | (codes == j))
            y = np.where(codes[rows] == i, 1.0, -1.0)
            weight = w[rows] * self.class_weight_[codes[rows]]
            if len(rows) == len(codes):
                part = X
            else:
                part = X[np.ix_(rows, rows)] if self.kernel == "precomputed" else X[rows]
            return self._machine(TrainingKernel(kernel, part), y, weight, names[0] if len(names) == 1 else (i, j)), rows

        if len(names) == 1:
            return [one(0, 1)]
        return run_tasks([partial(one, i, j) for i, j in names])

    def _machine(self, training: TrainingKernel, y: np.ndarray, weight: np.ndarray, pair: tuple[int, int]) -> Machine:
        raise NotImplementedError

    def _keep(self, rows: Rows, codes: np.ndarray, machines: list[tuple[Machine, np.ndarray]]) -> None:
        """Coefficients as scikit-learn lays them out: support vectors by class, one row for each other class."""
        k = len(self.classes_)
        full = np.zeros((k - 1, len(codes)))
        for (i, j), (machine, at) in zip(pairs_of(k), machines):
            first = codes[at] == i
            full[j - 1, at[first]] = machine.coef[first]
            full[i, at[~first]] = machine.coef[~first]
        used = np.flatnonzero((full != 0).any(axis=0))
        used = used[np.argsort(codes[used], kind="stable")]
        self._n_support = np.bincount(codes[used], minlength=k).astype(np.int32)
        sign = -1.0 if k == 2 else 1.0  # with two classes the second is the positive one
        self._keep_vectors(rows, used, sign * full[:, used])
        self.intercept_ = sign * np.array([machine.intercept for machine, _ in machines])
        self.n_iter_ = np.array([machine.steps for machine, _ in machines], dtype=np.int32)

    @property
    def n_support_(self) -> np.ndarray:
        """How many support vectors there are of each class."""
        check_is_fitted(self)
        return self._n_support

    def _pair_coefficients(self) -> np.ndarray:
        """(support vectors, pairs): one column for the machine of each pair, the first class positive."""
        k, coef = len(self.classes_), dense(self.dual_coef_)
        if self._n_support.sum() != len(self.support_):
            raise ValueError(f"The internal representation of {type(self).__name__} was altered: fit it again.")
        if k == 2:
            return -coef.T
        ends = np.concatenate([[0], np.cumsum(self._n_support)])
        out = np.zeros((len(self.support_), len(self.intercept_)))
        for column, (i, j) in enumerate(pairs_of(k)):
            out[ends[i] : ends[i + 1], column] = coef[j - 1, ends[i] : ends[i + 1]]
            out[ends[j] : ends[j + 1], column] = coef[i, ends[j] : ends[j + 1]]
        return out

    def _plane(self) -> Any:
        coef = self._pair_coefficients().T
        flat = (sparse.csr_matrix(coef) if sparse.issparse(self.support_vectors_) else coef) @ self.support_vectors_
        return -flat if len(self.classes_) == 2 else flat

    def _pair_decisions(self, X: Any) -> np.ndarray:
        """Decision values of all pairs, positive for the first class."""
        check_is_fitted(self)
        sign = -1.0 if len(self.classes_) == 2 else 1.0
        return self._scores(X, self._pair_coefficients()) + sign * self.intercept_

    def decision_function(self, X: Any) -> np.ndarray:
        """How far each row lies on the side of the second class; (n, K) for K > 2 classes, or (n, pairs) with "ovo"."""
        pairs = self._pair_decisions(X)
        if len(self.classes_) == 2:
            return -pairs[:, 0]
        return pairs if self.decision_function_shape == "ovo" else one_vs_rest(pairs, len(self.classes_))

    def predict(self, X: Any) -> np.ndarray:
        """The class that wins most pairs, the first among equals (the surest with `break_ties`)."""
        check_is_fitted(self)
        if self.break_ties and self.decision_function_shape == "ovo":
            raise ValueError("break_ties must be False when decision_function_shape is 'ovo'")
        pairs, k = self._pair_decisions(X), len(self.classes_)
        if k == 2:
            return self.classes_[(pairs[:, 0] <= 0).astype(np.intp)]
        counts = one_vs_rest(pairs, k) if self.break_ties else votes_of(pairs, k)
        return self.classes_[counts.argmax(axis=1)]

    def _fit_probabilities(self, kernel: Kernel, X: Any, codes: np.ndarray, w: np.ndarray) -> None:
        """A sigmoid for every pair, fitted to decision values of rows that their machine has not seen."""
        seed = first_seed(self.random_state)
        A, B = [], []
        for i, j in pairs_of(len(self.classes_)):
            rows = np.flatnonzero((codes == i) | (codes == j))
            first = codes[rows] == i
            values = np.where(first, 1.0, -1.0)
            folds = min(_FOLDS, int(np.bincount(first.astype(int), minlength=2).min()))
            if folds >= 2:
                values = self._held_out(kernel, X, codes, w, rows, (i, j), folds, seed)
            a, b = sigmoid_of(values, first, w[rows])
            A.append(a)
            B.append(b)
        self._probA, self._probB = np.array(A), np.array(B)

    def _held_out(self, kernel, X, codes, w, rows, pair, folds, seed) -> np.ndarray:
        """Decision values of a pair by cross-validation."""
        y = np.where(codes[rows] == pair[0], 1.0, -1.0)
        weight = w[rows] * self.class_weight_[codes[rows]]
        values = np.empty(len(rows))
        given = self.kernel == "precomputed"
        for inside, outside in StratifiedKFold(folds, shuffle=True, random_state=seed).split(y[:, None], y):
            some, others = rows[inside], rows[outside]
            part = X[np.ix_(some, some)] if given else X[some]
            machine = self._machine(TrainingKernel(kernel, part), y[inside], weight[inside], pair)
            used = np.flatnonzero(machine.coef)
            coef = machine.coef[used][:, None]
            if given:
                score = X[np.ix_(others, some[used])] @ coef
            else:
                score = kernel.scores(X[others], part[used], coef) if len(used) else np.zeros((len(others), 1))
            values[outside] = score[:, 0] + machine.intercept
        return values

    @property
    def probA_(self) -> np.ndarray:
        """Slopes of the sigmoids, where probabilities were asked for."""
        return getattr(self, "_probA", np.empty(0))

    @property
    def probB_(self) -> np.ndarray:
        """Offsets of the sigmoids, where probabilities were asked for."""
        return getattr(self, "_probB", np.empty(0))

    @available_if(_gives_probabilities)
    def predict_proba(self, X: Any) -> np.ndarray:
        """Probabilities of the classes, from sigmoids of the decision values that were fitted by cross-validation."""
        check_is_fitted(self)
        if len(self.probA_) == 0:
            raise NotFittedError(
                "predict_proba is not available when fitted with probability=False: fit again with probability=True."
            )
        pairs = pair_probabilities(self._pair_decisions(X), self._probA, self._probB)
        return couple(pairs, len(self.classes_))

    @available_if(_gives_probabilities)
    def predict_log_proba(self, X: Any) -> np.ndarray:
        """Logarithms of the probabilities."""
        return np.log(self.predict_proba(X))


class SVC(_Classification):
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
    probability : bool, default=False
        Whether to fit probabilities, by a cross-validation of five folds inside `fit`.
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
        RowIndex and rows of the support vectors, class after class, and how many each class has.
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

    __learnt_schema__ = _SCHEMA
    __learnt_trial__ = _TRIAL

    def __init__(
        self,
        *,
        C=1.0,
        kernel="rbf",
        degree=3,
        gamma="scale",
        coef0=0.0,
        shrinking=True,
        probability=False,
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


class NuSVC(_Classification):
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

    __learnt_schema__ = _SCHEMA
    _refusal = "specified nu is infeasible"
    __learnt_trial__ = replace(
        _TRIAL,
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
        probability=False,
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
        most = 2 * min(weight[y > 0].sum(), weight[y < 0].sum()) / weight.sum()
        names = " and ".join(repr(name) for name in self.classes_[list(pair)].tolist())
        if self.nu > most:
            raise ValueError(
                f"specified nu is infeasible: nu={self.nu:g} asks for more rows in the margin than the smaller of the "
                f"classes {names} has; give nu of at most {most:.3g}."
            )
        machine = classify_nu(kernel_rows(training, 1.0, self._effort()), y, weight, float(self.nu), self._effort())
        margin = self.nu * weight.sum() / np.abs(machine.coef).sum()  # coefficients are αy over it, and Σα is known
        if not margin > self.tol:
            warnings.warn(
                f"NuSVC with nu={self.nu:g} leaves a margin between the classes {names} that is not above "
                f"tol={self.tol:g}, and decision values are hardly known: raise nu, which bounds the share of rows on "
                "the wrong side, lower tol, or give a kernel that bends more.",
                stacklevel=4,
            )
        return machine
