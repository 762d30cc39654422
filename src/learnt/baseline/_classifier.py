"""The best constant label."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

import numpy as np

from learnt.baseline._validation import require_fitted, row_count, stand_in
from learnt.engine.classification.labels import encode_labels
from learnt.engine.estimator import Estimator, Takes
from learnt.engine.mixins import ClassifierMixin, MultiOutputMixin
from learnt.engine.params import check_choice
from learnt.engine.schema import Dims, Schema, choice, count, either, labels, real
from learnt.engine.validation import check_target, check_weights
from learnt.engine.weights import without_absent
from learnt.explanation import Explained


def _one_list_an_output(model: Any, state: dict[str, Any], dims: Dims) -> str | None:
    """The rule of its model files. One output: arrays. Several: lists of them, one item an output."""
    keys = ("classes_", "class_prior_", "n_classes_")
    outputs = [tuple(state[key] for key in keys)]
    if state["n_outputs_"] != 1:
        if any(type(state[key]) is not list or len(state[key]) != state["n_outputs_"] for key in keys):
            return "does not have one list of classes for each output"
        outputs = list(zip(*(state[key] for key in keys)))
    for values in outputs:
        sizes: Dims = {}
        for key, check, value in zip(keys, (labels("c"), real("c", low=0, high=1), count(1, name="c")), values):
            reason = check(value, sizes)
            if reason is not None:
                return f"has {key} that {reason}"
    return None


class ConstantClassifier(MultiOutputMixin, ClassifierMixin, Estimator, Explained):
    """Predict the same for every row: the most common label, argmax_c π_c with π_c = Σ w·1[y = c] / Σ w.

    No rule that ignores the features makes fewer mistakes, so this is the floor under every classifier. X is counted
    and never read. Equals scikit-learn's `DummyClassifier` with the strategies of the same names.

    Parameters
    ----------
    strategy : {"prior", "most_frequent", "constant"}, default="prior"
        All but the last predict the most common label (the smallest, if several are). `predict_proba` gives the shares
        π for "prior", and certainty otherwise.
    constant : label, or array-like of shape (n_outputs,), default=None
        What strategy="constant" predicts; it must occur in y.

    Attributes
    ----------
    classes_ : ndarray of shape (n_classes,), or list of such arrays
        The labels, sorted; of several outputs a list, one array an output.
    class_prior_ : ndarray of shape (n_classes,), or list of such arrays
        π: the share of each class in the weight of the training rows.
    n_classes_ : int, or list of int
        How many classes there are, of each output.
    n_outputs_ : int
        How many targets y has.

    See Also
    --------
    learnt.dummy.DummyClassifier : Draws labels at random too.
    ConstantRegressor : The same of numbers.

    Examples
    --------
    >>> from learnt.baseline import ConstantClassifier
    >>> model = ConstantClassifier().fit([[0], [1], [2], [3]], ["ham", "spam", "ham", "ham"])
    >>> model.predict([[7]]).tolist(), model.predict_proba([[7]]).tolist()
    (['ham'], [[0.75, 0.25]])
    """

    __learnt_schema__ = Schema(
        params={"strategy": choice("prior", "most_frequent", "constant")},
        state={
            "n_outputs_": count(1),
            "classes_": either(labels(None)),
            "class_prior_": either(real(None, low=0, high=1)),
            "n_classes_": either(count(1)),
        },
        rule=_one_list_an_output,
    )
    __learnt_takes__ = Takes(sparse=True, categories=True, missing=True)
    _strategies: tuple[str, ...] = ("prior", "most_frequent", "constant")

    def __init__(self, *, strategy: str = "prior", constant: Any = None) -> None:
        self.strategy = strategy
        self.constant = constant

    def fit(self, X: Any, y: Any, sample_weight: Any = None) -> ConstantClassifier:
        """Count the labels.

        Parameters
        ----------
        X : anything with rows
            Its rows are counted, and it is not read.
        y : array-like of shape (n_samples,) or (n_samples, n_outputs)
            Class labels: numbers, text or booleans; of several outputs one column each.
        """
        check_choice(self, "strategy", self._strategies)
        name = type(self).__name__
        rows, y, sample_weight, _ = without_absent(stand_in(self, X, y), y, sample_weight)
        if y is None:
            raise ValueError(f"This {name} estimator requires y to be passed, but the target y is None.")
        weight = check_weights(sample_weight, rows)
        shares = [label_shares(self._labels_of(target, rows), weight) for target in _outputs(y)]
        constants = self._constants(len(shares))
        for (classes, _), constant in zip(shares, constants, strict=True):
            if self.strategy == "constant" and constant not in classes.tolist():
                raise ValueError(
                    "The constant target value must be present in the training data, and you provided "
                    f"constant={self.constant}. Possible values are: {classes.tolist()}."
                )
        self.n_outputs_ = len(shares)
        self.classes_: Any = [classes for classes, _ in shares]
        self.class_prior_: Any = [prior for _, prior in shares]
        self.n_classes_: Any = [classes.size for classes, _ in shares]
        if self.n_outputs_ == 1:
            self.classes_, self.class_prior_ = shares[0]
            self.n_classes_ = self.classes_.size
        return self

    def _labels_of(self, target: Any, rows: np.ndarray) -> np.ndarray:
        """One target, checked."""
        return check_target(target, "label", rows, type(self).__name__)

    def _constants(self, n_outputs: int) -> list[Any]:
        """The constant of each output; None where the strategy needs none."""
        if self.strategy != "constant":
            return [None] * n_outputs
        if self.constant is None:
            raise ValueError("Constant target value has to be specified when the constant strategy is used.")
        given = np.ravel(np.asarray(self.constant)).tolist()
        if len(given) != n_outputs:
            raise ValueError(
                f"Constant target value should have shape ({n_outputs}, 1), one for each output; got {self.constant!r}."
            )
        return given

    def _choices(self) -> list[tuple[np.ndarray, np.ndarray, int]]:
        """For each output: classes, shares, and the position of the class that is predicted."""
        require_fitted(self)
        single = self.n_outputs_ == 1
        classes, priors = ([self.classes_], [self.class_prior_]) if single else (self.classes_, self.class_prior_)
        choices = []
        for known, prior, constant in zip(classes, priors, self._constants(self.n_outputs_), strict=True):
            best = known.tolist().index(constant) if self.strategy == "constant" else int(prior.argmax())
            choices.append((known, prior, best))
        return choices

    def __learnt_check__(self) -> None:
        self._choices()

    def predict(self, X: Any) -> np.ndarray:
        """Return the constant, once for every row of X."""
        columns = [labels[[best]] for labels, _, best in self._choices()]
        n = row_count(self, X)
        if len(columns) == 1:
            return np.repeat(columns[0], n)
        return np.tile(np.array([column[0] for column in columns]), (n, 1))

    def predict_proba(self, X: Any) -> Any:
        """Return the shares of the classes ("prior") or certainty, once for every row; of several outputs a list.

        Returns
        -------
        proba : ndarray of shape (n_samples, n_classes), or list of such arrays
            The same row of probabilities for each row of X.
        """
        answers = []
        choices = self._choices()
        n = row_count(self, X)
        for known, prior, best in choices:
            share = prior if self.strategy == "prior" else np.eye(1, known.size, best)[0]
            answers.append(np.tile(share, (n, 1)))
        return answers[0] if len(answers) == 1 else answers

    def predict_log_proba(self, X: Any) -> Any:
        """Return the logarithm of `predict_proba`; −infinity for what is ruled out.

        Returns
        -------
        log_proba : ndarray of shape (n_samples, n_classes), or list of such arrays
            The same row for each row of X.
        """
        P = self.predict_proba(X)
        with np.errstate(divide="ignore"):
            return [np.log(p) for p in P] if isinstance(P, list) else np.log(P)

    def score(self, X: Any, y: Any, sample_weight: Any = None) -> float:
        """Return the accuracy; X may be None."""
        return super().score(np.zeros((len(y), 1)) if X is None else X, y, sample_weight)

    def __sklearn_tags__(self) -> Any:
        tags = super().__sklearn_tags__()
        tags.classifier_tags.poor_score = True
        tags.no_validation = True  # X is not used
        return tags


def _outputs(y: Any) -> Iterable[Any]:
    """The targets one by one, of a sparse matrix one dense at a time; a vector, or a matrix of one column, is one."""
    if hasattr(y, "tocsc"):
        y = y.tocsc()
        return (y[:, [j]].toarray().ravel() for j in range(y.shape[1]))
    shape = y.shape if hasattr(y, "shape") else np.asarray(y).shape
    if len(shape) == 2 and shape[1] > 1:
        return list(np.asarray(y).T)
    return [y]


def label_shares(y: np.ndarray, weight: np.ndarray | None) -> tuple[np.ndarray, np.ndarray]:
    """The sorted labels and the share of the weight each has; labels whose rows all have weight 0 are left out.

    >>> label_shares(np.array([1, 3, 3]), None)[1]
    array([0.333, 0.667])
    """
    classes, codes = encode_labels(y)
    total = np.bincount(codes, weights=weight, minlength=classes.size).astype(np.float64)
    present = total > 0
    return classes[present], total[present] / total.sum()
