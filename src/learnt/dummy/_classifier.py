"""A constant label, or labels drawn at random."""

from __future__ import annotations

import warnings
from typing import Any

import numpy as np
from scipy import sparse
from sklearn.utils.random import sample_without_replacement

from learnt.baseline import ConstantClassifier, row_count
from learnt.engine.params import ParameterError
from learnt.engine.random import random_state_of
from learnt.engine.schema import Schema, choice, flag
from learnt.engine.validation import check_target

STRATEGIES = ("most_frequent", "prior", "stratified", "uniform", "constant")
_DRAWN = ("stratified", "uniform")
_CONSTANT = ConstantClassifier.__learnt_schema__


class DummyClassifier(ConstantClassifier):
    """Predict a label without looking at X: always the same, or drawn with fixed probabilities p.

    p = the shares π_c = Σ w·1[y = c] / Σ w of the classes ("stratified"), or 1/K ("uniform").

    The baseline that a classifier must beat: where 95 % of the rows are of one class, an accuracy of 95 % is none.

    Parameters
    ----------
    strategy : {"most_frequent", "prior", "stratified", "uniform", "constant"}, default="prior"
        "prior" and "most_frequent" predict the most common label; "stratified" draws labels by their shares, "uniform"
        all alike; "constant" predicts the given one. `predict_proba` gives π for "prior", the label drawn for
        "stratified", 1/K for "uniform", and certainty otherwise.
    random_state : int, RandomState, Generator or None, default=None
        For labels that are drawn; an integer draws the same in every call, scikit-learn's labels for the same one.
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
    sparse_output_ : bool
        Whether y was sparse, and so predictions are.

    See Also
    --------
    learnt.baseline.ConstantClassifier : The best constant label, without random ones.
    DummyRegressor : The same of numbers.

    Examples
    --------
    >>> from learnt.dummy import DummyClassifier
    >>> model = DummyClassifier(strategy="uniform", random_state=0).fit([[0], [1], [2]], ["ham", "spam", "ham"])
    >>> model.predict([[7]] * 4).tolist(), model.predict_proba([[7]]).tolist()
    (['ham', 'spam', 'spam', 'ham'], [[0.5, 0.5]])
    >>> DummyClassifier().fit([[0], [1], [2]], ["ham", "spam", "ham"]).score([[0], [1]], ["ham", "spam"])
    0.5
    """

    __learnt_schema__ = Schema(
        params={"strategy": choice(*STRATEGIES)},
        state={**_CONSTANT.state, "sparse_output_": flag},
        rule=_CONSTANT.rule,
    )
    _strategies = STRATEGIES

    def __init__(self, *, strategy: str = "prior", random_state: Any = None, constant: Any = None) -> None:
        self.strategy = strategy
        self.random_state = random_state
        self.constant = constant

    def fit(self, X: Any, y: Any, sample_weight: Any = None) -> DummyClassifier:
        """Count the labels.

        Parameters
        ----------
        X : anything with rows, or None
            Its rows are counted, and it is not read.
        y : array-like or sparse matrix of shape (n_samples,) or (n_samples, n_outputs)
            Class labels: numbers, text or booleans; of several outputs one column each.
        """
        is_sparse = hasattr(y, "tocsr")
        if is_sparse and self.strategy == "uniform":
            warnings.warn(
                "y is sparse and labels drawn uniformly are not: the uniform strategy would not save memory, and "
                "predicts dense labels.",
                stacklevel=2,
            )
        super().fit(_as_many_rows(X, y), y.tocsr() if is_sparse else _vector(y), sample_weight)
        if X is None:
            del self.n_features_in_
        self.sparse_output_ = is_sparse and self.strategy != "uniform"
        return self

    def _labels_of(self, target: Any, rows: np.ndarray) -> np.ndarray:
        """One target, checked; numbers of any kind are labels here, as in scikit-learn."""
        if getattr(getattr(target, "dtype", None), "kind", "") == "f":
            return check_target(target, "number", rows, type(self).__name__)
        return super()._labels_of(target, rows)

    def predict(self, X: Any) -> Any:
        """Return a label for every row of X; sparse where y was."""
        choices = self._choices()
        if self.sparse_output_:
            return self._sparse_labels(row_count(self, X), choices)
        if self.strategy not in _DRAWN:
            return super().predict(X)
        n, random = row_count(self, X), random_state_of(self.random_state)
        if self.strategy == "uniform":
            columns = [classes[random.randint(classes.size, size=n)] for classes, _, _ in choices]
        else:
            columns = [classes[random.multinomial(1, p, size=n).argmax(axis=1)] for classes, p, _ in choices]
        return columns[0] if len(columns) == 1 else np.vstack(columns).T

    def predict_proba(self, X: Any) -> Any:
        """Return the probabilities of the classes, of labels drawn 0 or 1; a list, one an output, for several.

        Returns
        -------
        proba : ndarray of shape (n_samples, n_classes), or list of such arrays
            One row of probabilities for each row of X.
        """
        if self.strategy not in _DRAWN:
            return super().predict_proba(X)
        choices, random = self._choices(), random_state_of(self.random_state)
        n = row_count(self, X)
        if self.strategy == "uniform":
            answers = [np.full((n, classes.size), 1 / classes.size) for classes, _, _ in choices]
        else:
            answers = [random.multinomial(1, p, size=n).astype(np.float64) for _, p, _ in choices]
        return answers[0] if len(answers) == 1 else answers

    def _sparse_labels(self, n: int, choices: list[tuple[np.ndarray, np.ndarray, int]]) -> Any:
        """Labels of a sparse y. Those drawn: a share of the rows, without replacement, is not 0."""
        columns = []
        for classes, p, best in choices:
            if classes.dtype.kind not in "biu":
                raise ParameterError(f"Sparse targets must be integers; y is {classes.dtype}: give y.toarray().")
            if self.strategy == "stratified":
                columns.append(_drawn_column(n, classes, p, self.random_state))
            else:
                columns.append(sparse.csc_array(np.full((n, 1), classes[best], dtype=np.int64)))
        return sparse.hstack(columns, format="csc")


def _drawn_column(n: int, classes: np.ndarray, p: np.ndarray, random_state: Any) -> Any:
    """One sparse column of labels; the numbers drawn, and their order, are scikit-learn's."""
    other = classes != 0
    if not other.any():
        return sparse.csc_array((n, 1), dtype=np.int64)
    random = random_state_of(random_state)
    size = int(n * (1 - p[~other].sum()))
    rows = sample_without_replacement(n_population=n, n_samples=size, random_state=random_state)
    reached = np.cumsum(p[other] / p[other].sum())
    place = np.minimum(np.searchsorted(reached, random.uniform(size=size)), reached.size - 1)
    labels = classes[other][place].astype(np.int64)
    return sparse.csc_array((labels, (rows, np.zeros(size, dtype=np.intp))), shape=(n, 1))


def _as_many_rows(X: Any, y: Any) -> Any:
    """X, or where it is None, a table without columns that has the rows of y."""
    return X if X is not None or y is None else np.empty((np.shape(y)[0], 0))


def _vector(y: Any) -> Any:
    """A list of targets as an array; a column as a vector."""
    if isinstance(y, list | tuple):
        y = np.asarray(y)
    return y.ravel() if isinstance(y, np.ndarray) and y.ndim == 2 and y.shape[1] == 1 else y
