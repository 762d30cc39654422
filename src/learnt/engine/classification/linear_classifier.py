"""From linear scores to labels and probabilities, on every kind of data a classifier can be fitted on."""

from __future__ import annotations

from typing import Any, Self

import numpy as np
from scipy import sparse
from sklearn.utils.validation import check_is_fitted

from learnt.engine.arrays import is_foreign_array, is_numpy, namespace, to_device_of
from learnt.engine.classification.highest_plane import highest_planes
from learnt.engine.classification.labels import classes_on_device_of, labels_at
from learnt.engine.matrices import in_numpy
from learnt.engine.rows import as_rows
from learnt.engine.rows.blocks import Block
from learnt.engine.scoring import accuracy_of_rows, is_elsewhere
from learnt.engine.validation import check_predict

_SMALL = 1 << 17  # cells below which a plain product is quicker than blocks on the pool


def block_scores(block: Block, coef: Any, intercept: Any) -> Any:
    """X coefᵀ + intercept: (n,) for two classes, (n, K) for more."""
    product = block.X @ coef.T + intercept
    return product[:, 0] if coef.shape[0] == 1 else product


def block_labels(block: Block, coef: Any, intercept: Any, classes: Any) -> Any:
    """The class of the highest score, the first among equals."""
    scores = block_scores(block, coef, intercept)
    xp = namespace(scores)
    if xp is np:
        return classes[(scores > 0).view(np.int8) if scores.ndim == 1 else scores.argmax(axis=1)]
    return labels_at(classes, xp.astype(scores > 0, xp.int64) if scores.ndim == 1 else xp.argmax(scores, axis=1))


def block_probabilities(block: Block, coef: Any, intercept: Any) -> Any:
    """Softmax of the scores; for two classes, that of 0 and the score."""
    scores = block_scores(block, coef, intercept)
    xp = namespace(scores)
    if scores.ndim == 1:
        e = xp.exp(-xp.abs(scores))
        high, low = 1 / (1 + e), e / (1 + e)
        positive = scores > 0
        return xp.stack([xp.where(positive, low, high), xp.where(positive, high, low)], axis=1)
    e = xp.exp(scores - xp.max(scores, axis=1, keepdims=True))
    return e / xp.sum(e, axis=1, keepdims=True)


def block_log_probabilities(block: Block, coef: Any, intercept: Any) -> Any:
    """Logarithms without the underflow of probabilities: finite however unlikely a class is."""
    scores = block_scores(block, coef, intercept)
    xp = namespace(scores)
    if scores.ndim == 1:
        tail = xp.log1p(xp.exp(-xp.abs(scores)))
        zero = xp.zeros_like(scores)
        above, below = xp.where(scores > 0, scores, zero), xp.where(scores > 0, zero, scores)
        return xp.stack([-above - tail, below - tail], axis=1)
    shifted = scores - xp.max(scores, axis=1, keepdims=True)
    return shifted - xp.log(xp.sum(xp.exp(shifted), axis=1, keepdims=True))


class LinearClassifier:
    """Scores, labels and accuracy for estimators with `coef_`, `intercept_` and `classes_`."""

    coef_: Any
    intercept_: Any
    classes_: Any

    def decision_function(self, X: Any) -> Any:
        """Scores: how far each row lies on the side of the second class, or (n, K) for K > 2 classes."""
        return self._map(X, block_scores)

    def predict(self, X: Any) -> Any:
        """The likeliest class of each row."""
        codes = highest_planes(self, X, self._plane_of_each_class)
        return self._map(X, block_labels, self._classes_on_device_of) if codes is None else self.classes_[codes]

    def _plane_of_each_class(self) -> tuple[Any, Any]:
        """W (K × d) and b (K); of two classes the first has the plane 0."""
        coef, intercept = self.coef_, self.intercept_
        if not is_numpy(coef) or is_foreign_array(intercept):
            return coef, intercept
        b = np.broadcast_to(intercept, coef.shape[:1])
        return (np.pad(coef, [(1, 0), (0, 0)]), np.pad(b, (1, 0))) if coef.shape[0] == 1 else (coef, b)

    def score(self, X: Any, y: Any, sample_weight: Any = None) -> float:
        """The share of rows whose class is predicted."""
        if is_elsewhere(X):
            return accuracy_of_rows(self, X, y, sample_weight)
        right = self.predict(X) == np.ravel(in_numpy(y))
        return float(np.average(right, weights=in_numpy(sample_weight)))

    def sparsify(self) -> Self:
        """Keep `coef_` as a CSR matrix, which takes less memory where most coefficients are 0."""
        check_is_fitted(self)
        self.coef_ = sparse.csr_matrix(self.coef_)
        return self

    def densify(self) -> Self:
        """Keep `coef_` as an array again."""
        check_is_fitted(self)
        if sparse.issparse(self.coef_):
            self.coef_ = self.coef_.toarray()
        return self

    def _map(self, X: Any, function: Any, more: Any = None) -> Any:
        X = check_predict(self, X, accept_sparse=True, foreign=True, lazy=True)
        coef = self.coef_.toarray() if sparse.issparse(self.coef_) else self.coef_
        coef, intercept = to_device_of(coef, X), to_device_of(self.intercept_, X)
        state = (coef, intercept) if more is None else (coef, intercept, more(X))
        if is_foreign_array(X) or (is_numpy(X) and X.size <= _SMALL):
            return function(Block(X), *state)
        return as_rows(X).map(function, *state)

    def _classes_on_device_of(self, X: Any) -> Any:
        return classes_on_device_of(self.classes_, X)


class ProbabilisticLinearClassifier(LinearClassifier):
    """Probabilities too, where scores are logits."""

    def predict_proba(self, X: Any) -> Any:
        """The probability of each class, (n, K), in the order of `classes_`."""
        return self._map(X, block_probabilities)

    def predict_log_proba(self, X: Any) -> Any:
        """The logarithm of the probability of each class, (n, K)."""
        return self._map(X, block_log_probabilities)
