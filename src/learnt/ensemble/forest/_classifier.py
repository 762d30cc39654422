"""Forests of classification trees: classes, shares of votes, scores on rows left out."""

from __future__ import annotations

import warnings
from typing import Any

import numpy as np
from sklearn.utils import Bunch
from sklearn.utils.class_weight import compute_class_weight, compute_sample_weight
from sklearn.utils.multiclass import type_of_target

from learnt.engine.arrays import is_lazy
from learnt.engine.classification.labels import encode_labels
from learnt.engine.columns import monotone_directions
from learnt.engine.params import ParameterError
from learnt.engine.validation import check_target
from learnt.engine.weights import without_absent
from learnt.ensemble._common import row_count
from learnt.ensemble._lazy import LazyClassifier
from learnt.ensemble.forest._base import PredictingForest, target_columns
from learnt.ensemble.forest._lazy import in_blocks
from learnt.ensemble.forest._left_out import permutation_importances, predictions
from learnt.ensemble.forest._sampling import Sampling


class ForestClassifier(LazyClassifier, PredictingForest):
    """What forests of classes share."""

    _criteria = ("gini", "entropy", "log_loss")
    classes_: Any
    n_classes_: Any

    def _check_parameters(self) -> None:
        super()._check_parameters()
        value = self.class_weight
        named = isinstance(value, str) and value in ("balanced", "balanced_subsample")
        several = isinstance(value, list) and all(isinstance(item, dict) for item in value)
        if not (value is None or named or several or isinstance(value, dict)):
            raise ParameterError(
                f"The 'class_weight' parameter of {type(self).__name__} must be a dict, a list of dicts, 'balanced', "
                f"'balanced_subsample' or None. Got {value!r} instead."
            )
        if named and self.warm_start:
            warnings.warn(
                'class_weight presets "balanced" or "balanced_subsample" are not recommended for warm_start if the '
                "fitted data differs from the full dataset: compute the weights once from all of it and give a dict.",
                stacklevel=3,
            )

    def _targets(self, y: Any, X: Any) -> np.ndarray:
        columns = target_columns(y, X, type(self).__name__)
        classes, codes = [], []
        for column in columns.T:
            labels, code = encode_labels(check_target(column, "label", X, type(self).__name__))
            classes.append(labels)
            codes.append(code)
        if self.warm_start and hasattr(self, "grove_") and not _same_classes(classes, self._class_list()):
            raise ValueError(
                "y has other classes than the trees that are there; set warm_start=False to grow a new forest."
            )
        self.n_outputs_ = len(classes)
        single = len(classes) == 1
        self.classes_ = classes[0] if single else classes
        self.n_classes_ = len(classes[0]) if single else [len(c) for c in classes]
        self._y_columns = columns
        return np.ascontiguousarray(np.column_stack(codes).astype(np.float64))

    def _class_list(self) -> list[np.ndarray]:
        return [self.classes_] if self.n_outputs_ == 1 else self.classes_

    def _class_counts(self) -> np.ndarray:
        return np.array([len(c) for c in self._class_list()], dtype=np.int64)

    def _weights(self, targets: np.ndarray, w: np.ndarray | None) -> np.ndarray | None:
        columns = self.__dict__.pop("_y_columns")
        value = self.class_weight
        if value is None or (value == "balanced_subsample" and self.bootstrap):
            return w
        if isinstance(value, str):
            value = [
                dict(
                    zip(classes.tolist(), compute_class_weight("balanced", classes=classes, y=column, sample_weight=w))
                )
                for classes, column in zip(self._class_list(), columns.T)
            ]
        if isinstance(value, list) and self.n_outputs_ == 1 and len(value) == 1:
            value = value[0]
        extra = compute_sample_weight(value, columns if self.n_outputs_ > 1 else columns[:, 0])
        return extra if w is None else w * extra

    def _monotone_directions(self, d: int) -> np.ndarray | None:
        if self.monotonic_cst is None:
            return None
        if self.n_outputs_ > 1 or self.n_classes_ > 2:
            what = "multiple outputs" if self.n_outputs_ > 1 else "multiclass classification"
            raise ValueError(
                f"Monotonicity constraints are not supported with {what}: they hold for the probability of one of two "
                "classes."
            )
        return -monotone_directions(self, d)  # the tree's first value is the share of class 0

    def _score_left_out(self, X: Any, targets: np.ndarray, sampling: Sampling, with_absent: Any) -> None:
        kind = type_of_target(targets if self.n_outputs_ > 1 else targets[:, 0])
        if kind == "multiclass-multioutput" or kind == "unknown":
            raise ValueError(
                f"The type of target cannot be used to compute OOB estimates: got {kind}, and only binary, multiclass "
                "and multilabel-indicator are supported."
            )
        shares = predictions(self.grove_, self.seeds_, sampling, X)
        found = self._votes(shares).argmax(axis=1)
        votes = self._votes(with_absent(shares))
        self.oob_decision_function_ = votes[:, :, 0] if self.n_outputs_ == 1 else votes
        if callable(self.oob_score):
            self.oob_score_ = self.oob_score(targets, found[:, 0] if self.n_outputs_ == 1 else found)
        else:
            self.oob_score_ = float((found == targets).all(axis=1).mean())

    def _votes(self, shares: np.ndarray) -> np.ndarray:
        """(n, n_classes, n_outputs)."""
        return shares.reshape(len(shares), self.n_outputs_, -1).transpose(0, 2, 1)

    def predict_proba(self, X: Any) -> Any:
        """The mean over trees of the shares of the classes in each row's leaf; a list of arrays for several outputs.

        Returns
        -------
        proba : ndarray of shape (n_samples, n_classes), or list of these
            The probability of each class, in the order of `classes_`; a list for several outputs.
        """
        if is_lazy(X):
            outputs = range(getattr(self, "n_outputs_", 1))
            found = [in_blocks(self, X, "_shares_of_output", o) for o in outputs]
            return found[0] if len(found) == 1 else found
        X = self._rows(X)
        shares = self._sum_of_trees(X)
        shares /= self.grove_.n_trees
        if self.n_outputs_ == 1:
            return shares
        width = shares.shape[1] // self.n_outputs_
        return [shares[:, o * width : o * width + len(c)].copy() for o, c in enumerate(self.classes_)]

    def _shares_of_output(self, X: np.ndarray, output: int) -> np.ndarray:
        shares = self.predict_proba(X)
        return shares if self.n_outputs_ == 1 else shares[output]

    def predict(self, X: Any) -> np.ndarray:
        """The class with the largest mean share.

        Returns
        -------
        y_pred : ndarray of shape (n_samples,) or (n_samples, n_outputs)
            The predicted label of each row.
        """
        if is_lazy(X):
            return in_blocks(self, X, "predict")
        shares = self.predict_proba(X)
        if self.n_outputs_ == 1:
            return self.classes_.take(shares.argmax(axis=1))
        columns = [classes.take(share.argmax(axis=1)) for share, classes in zip(shares, self.classes_)]
        return np.stack(columns, axis=1)

    def predict_log_proba(self, X: Any) -> Any:
        """The logarithms of the probabilities of the classes; -inf for a probability of 0.

        Returns
        -------
        log_proba : ndarray of shape (n_samples, n_classes), or list of these
            The logarithm of the probability of each class, in the order of `classes_`; a list for several outputs.
        """
        shares = self.predict_proba(X)
        with np.errstate(divide="ignore"):
            return np.log(shares) if self.n_outputs_ == 1 else [np.log(share) for share in shares]

    def spread(self, X: Any) -> np.ndarray:
        """How far the trees disagree: the standard deviation of their shares of each class.

        One output only.

        Parameters
        ----------
        X : array-like of shape (n_samples, n_features)
            Rows to predict, with the columns of those it was fitted to.

        Returns
        -------
        spread : ndarray of shape (n_samples, n_classes)
            The standard deviation over trees, in the order of `classes_`.
        """
        self._require_one_output("spread")
        return tree_deviation(self, self._rows(X))

    def permutation_importances(self, X: Any, y: Any, random_state: Any = None) -> Bunch:
        """How much accuracy each tree loses, on the training rows it has not seen, when a column is shuffled.

        An honest measure of what columns are worth, without a validation set; needs `bootstrap`. Of two columns that
        say the same, both look less important than they are together.

        Parameters
        ----------
        X : array-like of shape (n_samples, n_features)
            The rows it was fitted to, in the same order.
        y : array-like of shape (n_samples,) or (n_samples, n_outputs)
            Their targets.
        random_state : int, RandomState, Generator or None, default=None
            Shuffles the columns. Pass an integer for the same result every time.

        Returns
        -------
        result : Bunch
            `importances` of shape (n_features, n_estimators), `importances_mean` and `importances_std`, each over the
            trees.
        """
        X, y, sampling = training_rows(self, X, y)
        columns = target_columns(y, X, type(self).__name__)
        codes = [np.searchsorted(c, column) for c, column in zip(self._class_list(), columns.T)]
        y_codes = np.column_stack(codes)

        def score(rows: np.ndarray, values: np.ndarray) -> float:
            found = values.reshape(len(rows), self.n_outputs_, -1).argmax(axis=2)
            return float((found == y_codes[rows]).mean())

        return importance_bunch(
            permutation_importances(self.grove_, self.seeds_, sampling, X, score, random_state, self.n_jobs)
        )

    def _require_one_output(self, what: str) -> None:
        if getattr(self, "n_outputs_", 1) > 1:
            raise ValueError(f"{what} of {type(self).__name__} is for one output; y had {self.n_outputs_} columns.")

    def __sklearn_tags__(self) -> Any:
        tags = super().__sklearn_tags__()
        tags.classifier_tags.multi_label = True
        return tags


def _same_classes(new: list[np.ndarray], old: list[np.ndarray]) -> bool:
    return len(new) == len(old) and all(map(np.array_equal, new, old))


def tree_deviation(forest: Any, X: Any) -> np.ndarray:
    """The standard deviation over trees of what their leaves say."""
    n, k = X.shape[0], forest.grove_.n_trees
    total, squares = np.zeros((n, forest.grove_.value.shape[1])), np.zeros((n, forest.grove_.value.shape[1]))
    middle = forest._sum_of_trees(X) / k
    for t in range(k):
        off = forest._sum_of_trees(X, t, t + 1) - middle
        total += off
        squares += off * off
    return np.sqrt(np.maximum(squares / k - (total / k) ** 2, 0.0))


def training_rows(forest: Any, X: Any, y: Any) -> tuple[Any, Any, Sampling]:
    """X and y as `fit` saw them, without rows of weight 0, and the samples; refused where no rows are left out."""
    sampling = Sampling(**forest._sample)
    if sampling.size is None:
        raise ValueError(
            "permutation_importances needs rows that trees have not seen; fit with bootstrap=True, or use "
            "sklearn.inspection.permutation_importance on other data."
        )
    n = row_count(X, type(forest).__name__)
    if n != sampling.n:
        raise ValueError(f"permutation_importances takes the {sampling.n} rows of fit, and X has {n}.")
    X, y, weights, present = without_absent(X, y, sampling.weights)
    if present is not None:
        sampling = Sampling(len(present), sampling.size, weights)
    return forest._rows(X), y, sampling


def importance_bunch(importances: np.ndarray) -> Bunch:
    """As scikit-learn's `permutation_importance` returns them."""
    return Bunch(
        importances=importances,
        importances_mean=importances.mean(axis=1),
        importances_std=importances.std(axis=1),
    )
