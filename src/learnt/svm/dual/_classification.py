"""What support vector classifiers share: pairs of classes, one machine each; votes; probabilities."""

from __future__ import annotations

from typing import Any, ClassVar, Self

import numpy as np
from scipy import sparse
from sklearn.exceptions import NotFittedError
from sklearn.utils.metaestimators import available_if
from sklearn.utils.validation import check_is_fitted

from learnt.engine.classification.labels import class_weights, encode_labels
from learnt.engine.estimator import Trial, Warm
from learnt.engine.matrices import dense
from learnt.engine.mixins import ClassifierMixin
from learnt.engine.params import check_choice, check_class_weight, check_flag
from learnt.engine.random import random_state_of
from learnt.engine.schema import Schema, anyof, choice, flag, integers, labels, real
from learnt.engine.threads import single_blas
from learnt.statistics import fit_sigmoid
from learnt.svm.dual._base import EXTRA, PARAMS, STATE, KernelMachine
from learnt.svm.dual._inputs import Rows, fit_rows
from learnt.svm.dual._kernel import TrainingKernel, machine_rule
from learnt.svm.dual._pairs import (
    PairCoefficients,
    couple,
    matrix_of,
    one_vs_rest,
    pair_probabilities,
    pairs_of,
    votes_of,
)
from learnt.svm.dual._problems import Machine
from learnt.svm.dual._shared import Layout, Machines, Table
from learnt.svm.dual._ways import Data, Fitted, Way, ranks_in_classes, way_of


def _rule(model: Any, state: dict[str, Any], dims: dict[str, Any]) -> str | None:
    k = dims["c"]
    if dims["r"] != k - 1 or dims["p"] != k * (k - 1) // 2:
        return "has other machines than pairs of classes"
    if int(state["_n_support"].sum()) != dims["s"]:
        return "has other support vectors than it counts"
    if wants_probabilities(model) and len(state.get("_probA", ())) != dims["p"]:
        return "has no probabilities for its pairs of classes"
    return machine_rule(model, state, dims)


SCHEMA = Schema(
    params={**PARAMS, "probability": anyof(flag, choice("deprecated")), "break_ties": flag},
    state={**STATE, "classes_": labels("c", low=2), "_n_support": integers("c"), "class_weight_": real("c")},
    extra={**EXTRA, "_probA": real(None), "_probB": real(None)},
    rule=_rule,
)
TRIAL = Trial(
    quick={"tol": 1e-8, "gamma": 0.1},
    warmup=(Warm("two classes"), Warm("classes")),
    weighted=({"class_weight": "balanced"},),
    weight_unit_free=False,
    most_rows=600,
)


def wants_probabilities(model: Any) -> bool:
    """The default has the name that scikit-learn gives it, and means False, as there."""
    return bool(model.probability) and not isinstance(model.probability, str)


def _gives_probabilities(model: Any) -> bool:
    if not wants_probabilities(model):
        raise AttributeError("predict_proba is not available when probability=False")
    return True


class Classification(ClassifierMixin, KernelMachine):
    """Pairs of classes, one machine each; votes; probabilities."""

    probability: bool | str
    class_weight: Any
    _refusal: ClassVar[str] = "Invalid input"
    classes_: np.ndarray
    _n_support: np.ndarray

    def _check_parameters(self) -> None:
        super()._check_parameters()
        check_choice(self, "decision_function_shape", ("ovr", "ovo"))
        check_choice(self, "probability", (True, False, "deprecated"))
        check_flag(self, "break_ties")
        check_class_weight(self)

    def fit(self, X: Any, y: Any, sample_weight: Any = None) -> Self:
        """Fit to a table or, with kernel="precomputed", to the kernel between all training rows.

        Weights multiply C, and one of 0 or less leaves its row out.

        Parameters
        ----------
        X : {array-like, sparse matrix} of shape (n_samples, n_features)
            The rows to learn from; with kernel="precomputed" the kernel between all of them, of shape (n_samples,
            n_samples).
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
        data = Data(kernel, X, codes, len(self.classes_), w * self.class_weight_[codes])
        with single_blas():
            way = way_of(self, data)
            fitted = way.fit()
            self._keep(rows, codes, fitted)
            if wants_probabilities(self):
                self._fit_probabilities(way, codes, w)
        self._record(fitted)
        return self

    def _may_share(self) -> bool:
        """Whether pairs may be solved together, where their rows are few."""
        return True

    def _largest(self, weight: np.ndarray) -> float:
        """The largest bound of any α, where rows and their classes have these weights."""
        return 1.0

    def _machine(self, training: TrainingKernel, y: np.ndarray, weight: np.ndarray, pair: tuple[int, int]) -> Machine:
        """The machine of one pair."""
        raise NotImplementedError

    def _machines(self, table: Table, layout: Layout, weight: np.ndarray) -> Machines:
        """The machines of all pairs of a small table, from weights of their variables."""
        raise NotImplementedError

    def _keep(self, rows: Rows, codes: np.ndarray, fitted: Fitted) -> None:
        """Coefficients as scikit-learn lays them out: support vectors by class, one row for each other class."""
        k = len(self.classes_)
        used = np.flatnonzero((fitted.coef != 0).any(axis=0))
        used = used[np.argsort(codes[used], kind="stable")]
        self._n_support = np.bincount(codes[used], minlength=k).astype(np.int32)
        sign = -1.0 if k == 2 else 1.0  # with two classes the second is the positive one
        self._keep_vectors(rows, used, sign * fitted.coef[:, used])
        self.intercept_ = sign * fitted.intercept
        self.n_iter_ = fitted.steps.astype(np.int32)

    @property
    def n_support_(self) -> np.ndarray:
        """How many support vectors there are of each class."""
        check_is_fitted(self)
        return self._n_support

    def _pair_coefficients(self) -> Any:
        """(support vectors, pairs): one column for the machine of each pair, the first class positive."""
        coef = dense(self.dual_coef_)
        if self._n_support.sum() != len(self.support_):
            raise ValueError(f"The internal representation of {type(self).__name__} was altered: fit it again.")
        if len(self.classes_) == 2:
            return -coef.T
        return PairCoefficients(coef, np.concatenate([[0], np.cumsum(self._n_support)]))

    def _plane(self) -> Any:
        coef = matrix_of(self._pair_coefficients()).T
        flat = (sparse.csr_matrix(coef) if sparse.issparse(self.support_vectors_) else coef) @ self._vectors_apart()
        return -flat if len(self.classes_) == 2 else flat

    def _pair_decisions(self, X: Any) -> np.ndarray:
        """Decision values of all pairs, positive for the first class."""
        self._require_fitted()
        sign = -1.0 if len(self.classes_) == 2 else 1.0
        return self._scores(X, self._pair_coefficients()) + sign * self.intercept_

    def decision_function(self, X: Any) -> np.ndarray:
        """How far each row lies on the side of the second class; (n, K) for K > 2 classes, or (n, pairs) with "ovo".

        Parameters
        ----------
        X : {array-like, sparse matrix} of shape (n_samples, n_features)
            Rows to score; with kernel="precomputed" their kernels with all training rows, of shape
            (n_samples, n_samples_fit).

        Returns
        -------
        scores : ndarray of shape (n_samples,), (n_samples, n_classes) or (n_samples, n_pairs)
            One score for two classes, more than 0 for `classes_[1]`. For more, with "ovr" one for each class: its
            votes, and a fraction by the decision values; with "ovo" one for each pair, positive for its first class.
        """
        pairs = self._pair_decisions(X)
        if len(self.classes_) == 2:
            return -pairs[:, 0]
        return pairs if self.decision_function_shape == "ovo" else one_vs_rest(pairs, len(self.classes_))

    def predict(self, X: Any) -> np.ndarray:
        """The class that wins most pairs, the first among equals (the surest with `break_ties`).

        Parameters
        ----------
        X : {array-like, sparse matrix} of shape (n_samples, n_features)
            Rows to predict; with kernel="precomputed" their kernels with all training rows, of shape
            (n_samples, n_samples_fit).
        """
        self._require_fitted()
        if self.break_ties and self.decision_function_shape == "ovo":
            raise ValueError("break_ties must be False when decision_function_shape is 'ovo'")
        pairs, k = self._pair_decisions(X), len(self.classes_)
        if k == 2:
            return self.classes_[(pairs[:, 0] <= 0).astype(np.intp)]
        counts = one_vs_rest(pairs, k) if self.break_ties else votes_of(pairs, k)
        return self.classes_[counts.argmax(axis=1)]

    def _fit_probabilities(self, way: Way, codes: np.ndarray, w: np.ndarray) -> None:
        """A sigmoid for every pair, fitted to decision values of rows that their machine has not seen."""
        ranks = ranks_in_classes(codes, random_state_of(self.random_state))
        pairs = zip(pairs_of(len(self.classes_)), way.held_out(ranks))
        found = [fit_sigmoid(values, codes[rows] == i, w[rows]) for (i, _), (rows, values) in pairs]
        self._probA, self._probB = np.array(found).T.copy()

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
        """Probabilities of the classes, from sigmoids of the decision values that were fitted by cross-validation.

        They need not agree with `predict`, which goes by votes.

        Parameters
        ----------
        X : {array-like, sparse matrix} of shape (n_samples, n_features)
            Rows to predict, with the columns of those it was fitted to.

        Returns
        -------
        proba : ndarray of shape (n_samples, n_classes)
            The probability of each class, in the order of `classes_`; a row adds up to 1.
        """
        check_is_fitted(self)
        if len(self.probA_) == 0:
            raise NotFittedError(
                "predict_proba is not available when fitted with probability=False: fit again with probability=True."
            )
        pairs = pair_probabilities(self._pair_decisions(X), self._probA, self._probB)
        return couple(pairs, len(self.classes_))

    @available_if(_gives_probabilities)
    def predict_log_proba(self, X: Any) -> np.ndarray:
        """Logarithms of the probabilities that `predict_proba` returns.

        Parameters
        ----------
        X : {array-like, sparse matrix} of shape (n_samples, n_features)
            Rows to predict, with the columns of those it was fitted to.

        Returns
        -------
        log_proba : ndarray of shape (n_samples, n_classes)
            The logarithm of the probability of each class, in the order of `classes_`.
        """
        return np.log(self.predict_proba(X))
