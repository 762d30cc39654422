"""A classifier whose scores become probabilities by a map fitted to rows it has not seen."""

from __future__ import annotations

import warnings
from functools import partial
from typing import Any, NamedTuple

import numpy as np
from sklearn.frozen import FrozenEstimator
from sklearn.model_selection import LeaveOneOut, check_cv, cross_val_predict
from sklearn.utils import get_tags
from sklearn.utils.metadata_routing import MetadataRouter, MethodMapping, process_routing
from sklearn.utils.validation import check_is_fitted, has_fit_parameter

from learnt.calibration._maps import (
    METHODS,
    apply_one,
    apply_temperature,
    as_logits,
    fit_one,
    fit_temperature,
    normalised,
)
from learnt.calibration._schema import CALIBRATED
from learnt.engine.classification.labels import encode_labels
from learnt.engine.documentation import Documented
from learnt.engine.estimator import Trial, Warm
from learnt.engine.matrices import take_rows
from learnt.engine.mixins import BaseEstimator, ClassifierMixin, MetaEstimatorMixin, clone
from learnt.engine.params import ParameterError, check_choice
from learnt.engine.progress import task
from learnt.engine.validation import check_target, check_weights
from learnt.engine.weights import rows_given, take_folds, take_params, without_absent
from learnt.ensemble._common import routing_enabled, row_count, run_members
from learnt.ensemble._trial_members import one_classifier, takes_what_members_take
from learnt.explanation import Explained


class Calibrated(NamedTuple):
    """One fitted classifier, and the maps of its scores."""

    estimator: Any
    calibrators: list[np.ndarray]
    classes: np.ndarray
    method: str

    def predict_proba(self, X: Any) -> np.ndarray:
        """Calibrated probabilities of all classes, (n, K)."""
        scores, are_probabilities = scores_of(self.estimator, X)
        places = np.searchsorted(self.classes, self.estimator.classes_)
        if self.method == "temperature":
            return apply_temperature(
                self.calibrators[0], as_logits(scores, are_probabilities, places, len(self.classes))
            )
        probability = np.zeros((len(scores), len(self.classes)))
        if len(self.classes) == 2:
            probability[:, 1] = apply_one(self.method, self.calibrators[0], scores[:, 1])
            probability[:, 0] = 1.0 - probability[:, 1]
            return probability
        for place, fitted, column in zip(places, self.calibrators, scores.T):
            probability[:, place] = apply_one(self.method, fitted, column)
        return normalised(probability)


class CalibratedClassifierCV(ClassifierMixin, MetaEstimatorMixin, Documented, BaseEstimator, Explained):
    """Turn the scores of a classifier into probabilities, by a map fitted to rows that it has not seen.

    sigmoid      p = 1 / (1 + exp(A f + B))         Platt's: few rows are enough
    isotonic     the best increasing function       any shape; overfits below about a thousand rows
    temperature  p = softmax(β f)                   one number for all classes; the most likely class stays

    Sigmoid and isotonic maps take each class against all others; several classes are then scaled to sum to 1. Take it
    where probabilities decide and the classifier has none (`LinearSVC`), is too sure (naive Bayes, boosting) or not
    sure enough (random forests); `calibration_curve` shows which.

    Parameters
    ----------
    estimator : classifier or None, default=None
        Has `decision_function` or `predict_proba`; None: `LinearSVC()`. A fitted one in scikit-learn's
        `FrozenEstimator` is used as it is, and all rows are for its map.
    method : {"sigmoid", "isotonic", "temperature"}, default="sigmoid"
        The map: "sigmoid" for few rows, "isotonic" for a thousand or more, "temperature" for several classes, with a
        single number to fit.
    cv : int, splitter, iterable or None, default=None
        Which rows are left out, for the maps: how many folds, or how they are cut. None: 5 folds by class.
    n_jobs : int or None, default=None
        How many folds are fitted at a time; None: one after another, each free to use all threads.
    ensemble : bool or "auto", default="auto"
        True: one classifier a fold, its map fitted to the rows left out, and the mean of their probabilities. False:
        one map for the scores that all rows got when left out, and one classifier of all rows, which is smaller and
        quicker to ask. "auto": True, unless the estimator is frozen.

    Attributes
    ----------
    classes_ : ndarray of shape (n_classes,)
        The labels, sorted.
    calibrated_classifiers_ : list
        The classifiers with their maps; each has `estimator`, `calibrators` and `predict_proba`.
    estimators_ : list of classifiers
        The fitted classifiers: one a fold, or a single one.
    maps_ : list of lists of ndarrays
        The maps of each classifier, arrays of two rows. Of a sigmoid: A, then B. Of an isotonic map: scores in
        increasing order, then the probability at each. Of a temperature: β, then 0.

    See Also
    --------
    calibration_curve : How often rows are of the class, where a probability was predicted.
    learnt.isotonic.IsotonicRegression : The map of `method="isotonic"`.
    learnt.bayes.CostSensitiveClassifier : Decisions by probabilities and the costs of errors.
    learnt.metrics.brier_score_loss : Measures how good probabilities are.

    Notes
    -----
    Fits the classifier once a fold; with `ensemble=False` once more, on all rows; a frozen one not at all. Weights
    count for the maps, and for the classifiers that take them.

    References
    ----------
    .. [1] John C. Platt, "Probabilistic Outputs for Support Vector Machines and Comparisons to Regularized Likelihood
       Methods", Advances in Large Margin Classifiers, MIT Press, 1999.
    .. [2] Bianca Zadrozny and Charles Elkan, "Transforming Classifier Scores into Accurate Multiclass Probability
       Estimates", KDD, 2002.
    .. [3] Alexandru Niculescu-Mizil and Rich Caruana, "Predicting Good Probabilities with Supervised Learning", ICML,
       2005.
    .. [4] Chuan Guo, Geoff Pleiss, Yu Sun and Kilian Q. Weinberger, "On Calibration of Modern Neural Networks", ICML,
       2017.

    Examples
    --------
    >>> import numpy as np
    >>> from learnt.calibration import CalibratedClassifierCV
    >>> from learnt.naive_bayes import GaussianNB
    >>> rng = np.random.default_rng(0)
    >>> y = rng.integers(0, 2, 400)
    >>> X = np.repeat(rng.normal(y)[:, None], 10, axis=1)  # one column ten times: naive Bayes is far too sure
    >>> sure, calibrated = GaussianNB().fit(X, y), CalibratedClassifierCV(GaussianNB()).fit(X, y)
    >>> sure.predict_proba([[1.5] * 10])[0, 1].round(2), calibrated.predict_proba([[1.5] * 10])[0, 1].round(1)
    (np.float64(1.0), np.float64(0.8))
    """

    __learnt_schema__ = CALIBRATED
    __learnt_takes__ = property(takes_what_members_take)
    __learnt_trial__ = Trial(
        quick=lambda: {"estimator": one_classifier(), "cv": 3},
        warmup=lambda: (Warm("classes", {"estimator": one_classifier(), "cv": 2}),),
        any_order=False,  # folds are cut by position
        weight_repeats=False,  # so that a row twice may be in two folds
        weight_unit_free=False,  # the sigmoid's targets count rows
    )

    def __init__(
        self,
        estimator: Any = None,
        *,
        method: str = "sigmoid",
        cv: Any = None,
        n_jobs: int | None = None,
        ensemble: bool | str = "auto",
    ) -> None:
        self.estimator = estimator
        self.method = method
        self.cv = cv
        self.n_jobs = n_jobs
        self.ensemble = ensemble

    def fit(self, X: Any, y: Any, sample_weight: Any = None, **fit_params: Any) -> CalibratedClassifierCV:
        """Fit classifiers and maps; a weight of 0 leaves a row out.

        Parameters
        ----------
        X : array-like of shape (n_samples, n_features)
            The rows to learn from: whatever the classifier takes.
        y : array-like of shape (n_samples,)
            Class labels: numbers, text or booleans.
        sample_weight : array-like of shape (n_samples,), default=None
            What each row counts: 2 as two rows, 0 as none. None counts every row once.
        **fit_params : dict
            More arguments of the classifiers' `fit`; arrays of one entry a row are cut to the rows of each fold.
        """
        check_choice(self, "method", METHODS)
        check_choice(self, "ensemble", (True, False, "auto"))
        name, n_given = type(self).__name__, rows_given(sample_weight)
        X, y, sample_weight, present = without_absent(X, y, sample_weight)
        fit_params = take_params(fit_params, present, n_given)
        n = row_count(X, name)
        y = np.asarray(check_target(y, "label", np.empty((n, 0)), name))
        weights = check_weights(sample_weight, np.empty((n, 0)))
        classes, codes = encode_labels(y)
        if len(classes) < 2:
            held = f"1 class, {classes[0]!r}" if n else "0 samples"
            raise ValueError(f"{name} needs rows of at least 2 classes; y holds {held}.")
        prototype = self._prototype()
        params = self._params_of_fit(prototype, fit_params, weights)
        folds = self._folds(y, codes, take_folds(self.cv, present))
        w = np.ones(n) if weights is None else np.asarray(weights, dtype=np.float64)
        together = isinstance(prototype, FrozenEstimator) if self.ensemble == "auto" else not self.ensemble
        if isinstance(folds, LeaveOneOut) and not together:
            raise ValueError(
                "LeaveOneOut cross-validation does not leave rows of every class to fit a map to; give fewer folds, or "
                "ensemble=False."
            )
        fit = self._fit_one_for_all if together else self._fit_one_a_fold
        self.estimators_, self.maps_ = fit(prototype, X, y, _Targets(codes, w, classes), params, folds)
        self.classes_ = classes
        return self

    def _fit_one_a_fold(
        self, prototype: Any, X: Any, y: np.ndarray, targets: _Targets, params: dict[str, Any], folds: Any
    ) -> tuple[list[Any], list[list[np.ndarray]]]:
        splits = list(folds.split(X, y))
        with task(f"{type(self).__name__} fit", len(splits)) as bar:

            def one(train: np.ndarray, left_out: np.ndarray) -> tuple[Any, list[np.ndarray]]:
                member = clone(prototype).fit(take_rows(X, train), y[train], **take_params(params, train, len(y)))
                if len(member.classes_) < 2:
                    raise ValueError(f"A fold of {type(self).__name__} has rows of one class only; give a smaller cv.")
                scores, kind = scores_of(member, take_rows(X, left_out))
                maps = fit_maps(self.method, scores, kind, member.classes_, targets.take(left_out))
                bar.advance()
                return member, maps

            found = run_members([partial(one, train, left_out) for train, left_out in splits], self.n_jobs)
        return [member for member, _ in found], [maps for _, maps in found]

    def _fit_one_for_all(
        self, prototype: Any, X: Any, y: np.ndarray, targets: _Targets, params: dict[str, Any], folds: Any
    ) -> tuple[list[Any], list[list[np.ndarray]]]:
        kind = "decision_function" if hasattr(prototype, "decision_function") else "predict_proba"
        if isinstance(prototype, FrozenEstimator):
            answers = getattr(prototype, kind)(X)
        else:
            answers = cross_val_predict(clone(prototype), X, y, cv=folds, method=kind, params=params)
        member = clone(prototype).fit(X, y, **params)
        scores = two_columns(answers, kind == "predict_proba", len(member.classes_))
        check_columns(scores, member)
        return [member], [fit_maps(self.method, scores, kind == "predict_proba", member.classes_, targets)]

    # --- what is given

    def _prototype(self) -> Any:
        if self.estimator is None:
            from learnt.svm import LinearSVC

            return LinearSVC()
        if not (hasattr(self.estimator, "decision_function") or hasattr(self.estimator, "predict_proba")):
            raise ParameterError(
                f"{type(self).__name__} turns scores into probabilities, and {type(self.estimator).__name__} has "
                "neither decision_function nor predict_proba; give another estimator."
            )
        return self.estimator

    def _params_of_fit(self, prototype: Any, fit_params: dict[str, Any], weights: Any) -> dict[str, Any]:
        """What the classifiers' `fit` gets besides X and y."""
        if routing_enabled():
            return dict(process_routing(self, "fit", sample_weight=weights, **fit_params)["estimator"]["fit"])
        params = dict(fit_params)
        if weights is None:
            return params
        if has_fit_parameter(prototype, "sample_weight"):
            return {**params, "sample_weight": np.asarray(weights)}
        warnings.warn(
            f"{type(prototype).__name__} takes no sample_weight: the weights are used for the calibration alone.",
            stacklevel=3,
        )
        return params

    def _folds(self, y: np.ndarray, codes: np.ndarray, cv: Any) -> Any:
        folds = check_cv(cv, y=y, classifier=True)
        wanted = getattr(folds, "n_splits", None) or (cv if isinstance(cv, int) else 0)
        fewest = np.bincount(codes).min()
        if isinstance(wanted, int) and fewest < wanted and not isinstance(self.estimator, FrozenEstimator):
            raise ValueError(
                f"Requesting {wanted}-fold cross-validation but provided less than {wanted} examples for at least one "
                f"class: a class has {fewest}. Give more rows of it, or a smaller cv."
            )
        return folds

    # --- use

    @property
    def calibrated_classifiers_(self) -> list[Calibrated]:
        """Every fitted classifier with its maps."""
        check_is_fitted(self, "estimators_")
        return [
            Calibrated(member, maps, self.classes_, self.method) for member, maps in zip(self.estimators_, self.maps_)
        ]

    def predict_proba(self, X: Any) -> np.ndarray:
        """Return the mean of the calibrated probabilities, (n, n_classes)."""
        check_is_fitted(self)
        return np.mean([part.predict_proba(X) for part in self.calibrated_classifiers_], axis=0)

    def predict(self, X: Any) -> np.ndarray:
        """Return the likeliest class; among equals the first of `classes_`."""
        check_is_fitted(self)
        return self.classes_[self.predict_proba(X).argmax(axis=1)]

    @property
    def n_features_in_(self) -> int:
        """The number of columns `fit` saw."""
        return self._of_a_member("n_features_in_")

    @property
    def feature_names_in_(self) -> np.ndarray:
        """The names of the columns `fit` saw, where they had names."""
        return self._of_a_member("feature_names_in_")

    def _of_a_member(self, name: str) -> Any:
        if "estimators_" not in vars(self):
            raise AttributeError(f"{type(self).__name__} is not fitted, so it has no {name}; call fit first.")
        return getattr(self.estimators_[0], name)

    def __sklearn_tags__(self):
        tags = super().__sklearn_tags__()
        if self.estimator is None:
            tags.input_tags.sparse = True
        else:
            inner = get_tags(self.estimator).input_tags
            tags.input_tags.allow_nan, tags.input_tags.sparse = inner.allow_nan, inner.sparse
        return tags

    def get_metadata_routing(self) -> MetadataRouter:
        """Return which metadata goes to the classifiers and the splitter, for scikit-learn's routing."""
        return (
            MetadataRouter(owner=self)
            .add_self_request(self)
            .add(estimator=self._prototype(), method_mapping=MethodMapping().add(caller="fit", callee="fit"))
            .add(splitter=self.cv, method_mapping=MethodMapping().add(caller="fit", callee="split"))
        )


# --- scores and their maps


class _Targets(NamedTuple):
    """Classes of rows by position, their weights, and all classes."""

    codes: np.ndarray
    weights: np.ndarray
    classes: np.ndarray

    def take(self, rows: np.ndarray) -> _Targets:
        return _Targets(self.codes[rows], self.weights[rows], self.classes)


def scores_of(member: Any, X: Any) -> tuple[np.ndarray, bool]:
    """One column of scores for each class that a fitted classifier knows, and whether they are probabilities."""
    are_probabilities = not hasattr(member, "decision_function")
    answers = member.predict_proba(X) if are_probabilities else member.decision_function(X)
    scores = two_columns(answers, are_probabilities, len(member.classes_))
    check_columns(scores, member)
    return scores, are_probabilities


def two_columns(answers: Any, are_probabilities: bool, n_classes: int) -> np.ndarray:
    """Scores as a matrix; the single score of two classes is that of the second, and its negative of the first."""
    scores = np.asarray(answers, dtype=np.float64)
    scores = scores[:, None] if scores.ndim == 1 else scores
    if scores.shape[1] == 1 and n_classes == 2:
        return np.hstack([1.0 - scores if are_probabilities else -scores, scores])
    return scores


def check_columns(scores: np.ndarray, member: Any) -> None:
    """One score a class is needed; one for each pair of classes is something else."""
    if scores.shape[1] != len(member.classes_):
        raise ParameterError(
            f"{type(member).__name__} gives {scores.shape[1]} scores a row for {len(member.classes_)} classes; "
            "calibration needs one a class (decision_function_shape='ovr')."
        )


def fit_maps(
    method: str, scores: np.ndarray, are_probabilities: bool, known: np.ndarray, targets: _Targets
) -> list[np.ndarray]:
    """The maps of a classifier that knows the classes `known`, from the scores of rows it has not seen."""
    places = np.searchsorted(targets.classes, known)
    if method == "temperature":
        logits = as_logits(scores, are_probabilities, places, len(targets.classes))
        return [fit_temperature(logits, targets.codes, targets.weights)]
    chosen = [1] if len(targets.classes) == 2 else range(len(places))
    return [fit_one(method, scores[:, j], targets.codes == places[j], targets.weights) for j in chosen]
