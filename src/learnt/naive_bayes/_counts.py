"""What the naive Bayes models of counts share: sums of each class over the rows, smoothing, priors, answers.

A model defines what it counts (`_cells`: a function of a block, often the block's X itself) and its estimates from the
counts (`_estimate`). Both `fit` and `partial_fit` are sums over rows, wherever those are stored.
"""

from __future__ import annotations

import warnings
from collections.abc import Callable
from numbers import Real
from typing import Any, Self

import numpy as np
from scipy import sparse
from sklearn.utils.validation import check_is_fitted

from learnt.engine.arrays import namespace, to_device_of, to_numpy
from learnt.engine.classification.class_labels import (
    encode,
    known_classes,
    positions,
    require_classes,
    require_same_classes,
)
from learnt.engine.classification.highest_plane import highest_planes
from learnt.engine.classification.highest_sparse_plane import highest_sparse_planes
from learnt.engine.classification.labels import labels_at
from learnt.engine.classification.posterior import JointDensityClassifier
from learnt.engine.estimator import Estimator, Takes, Trial
from learnt.engine.finite import require_finite_cells
from learnt.engine.kernel import compilation_enabled
from learnt.engine.matrices import Route, result_dtype, route
from learnt.engine.params import check_flag, check_number
from learnt.engine.rows import Block, as_rows
from learnt.engine.rows.seen_rows import MappedRows
from learnt.engine.schema import CLASSES, Check, real
from learnt.engine.validation import check_fit, check_predict
from learnt.naive_bayes._sparse_counts import sparse_counts
from learnt.naive_bayes._sparse_scores import compiled_sparse_scores
from learnt.statistics import column_sums, of_classes

_COMPILED_PRODUCTS = 1 << 16  # products in a block of sparse rows from which compiled code pays
_TOO_SMALL = 1e-10  # scikit-learn's least alpha where `force_alpha` is off
# A probability of 0, which only alpha = 0 leaves, counts as this one: rows that no class allows are compared as well.
LEAST = float(np.finfo(np.float64).tiny)

COUNTED: dict[str, Check] = {
    **CLASSES,
    "class_count_": real("c", low=0),
    "class_log_prior_": real("c", finite=False),
}


class CountsNB(JointDensityClassifier, Estimator):
    """Base of the models of counts."""

    __learnt_takes__ = Takes(sparse=True, tensors=True, lazy=True)
    __learnt_trial__ = Trial(weight_unit_free=False)  # alpha is a weight of rows

    alpha: Any
    force_alpha: bool
    fit_prior: bool
    class_prior: Any

    def fit(self, X: Any, y: Any, sample_weight: Any = None) -> Self:
        """Count the rows of each class; a weight of 2 counts a row twice, 0 not at all.

        Returns
        -------
        self : object
            The fitted estimator itself.
        """
        self._check_parameters()
        X, y, w = check_fit(self, X, y, sample_weight, target="label", allow_nan=self._finds_nan(X))
        classes, codes = encode(y)
        self._prepare(X, codes, w, classes, first=True)
        weight, counts = self._sums(X, codes, w, classes)
        self.classes_ = to_numpy(classes)
        self._record(weight, counts)
        return self

    def partial_fit(self, X: Any, y: Any, classes: Any = None, sample_weight: Any = None) -> Self:
        """Learn these rows too, besides those seen before; pieces give what `fit` gives on the whole.

        Parameters
        ----------
        classes : array-like of shape (n_classes,), default=None
            All labels that can ever come; needed at the first call, and the same or left out later.
        """
        self._check_parameters()
        first = not hasattr(self, "classes_")
        if first:
            require_classes(classes)
        X, y, w = check_fit(self, X, y, sample_weight, target="label", allow_nan=self._finds_nan(X), reset=first)
        known = known_classes(y, classes) if first else self.classes_
        require_same_classes(classes, known)
        codes = positions(y, known)
        self._prepare(X, codes, w, known, first)
        weight, counts = self._sums(X, codes, w, known)
        self.classes_ = to_numpy(known)
        if first:
            self._record(weight, counts)
        else:
            self._record(self.class_count_ + weight, self._counts() + counts)
        return self

    def _sums(self, X: Any, codes: Any, w: Any, classes: Any) -> tuple[np.ndarray, np.ndarray]:
        """Weight of each class, and the sums of what is counted in it."""
        if self._finds_nan(X):
            found = sparse_counts(X, codes, w, len(classes), self._above)
            if found is not None and found.fine:
                return found.weight, found.counts
            require_finite_cells(self, X.data)
        width, cells, state = self._cells(X)
        rows = MappedRows(as_rows(X, codes, w), width, cells, *state)
        weight, counts = column_sums(rows, of_classes(classes, codes))
        return to_numpy(weight), to_numpy(counts)

    def _cells(self, X: Any) -> tuple[int, Callable[..., Any], tuple]:
        """The number of counted columns, and the function of a block, with its state, that gives them."""
        return self.n_features_in_, not_negative, (f"{type(self).__name__} (input X)",)

    _above: float | None = None  # cells of sparse rows count as 1 where they are greater; None: as they are

    def _finds_nan(self, X: Any) -> bool:
        """Whether sums over these rows show cells that are not finite, so that no separate check is needed."""
        return route(X) is Route.SPARSE

    def _prepare(self, X: Any, codes: Any, w: Any, classes: Any, first: bool) -> None:
        """What must be known of the rows before they are counted."""

    def _counts(self) -> np.ndarray:
        """What was counted before."""
        return self.feature_count_

    def _record(self, weight: np.ndarray, counts: np.ndarray) -> None:
        alpha = self._smoothing()
        self.class_count_ = weight
        self._estimate(counts, alpha)
        self.class_log_prior_ = self._log_prior()

    def _estimate(self, counts: np.ndarray, alpha: Any) -> None:
        raise NotImplementedError

    def _linear(self) -> tuple[np.ndarray, np.ndarray]:
        """W (K × columns) and b (K) with log p(x, c) = W_c·x + b_c, but for what no class differs in."""
        raise NotImplementedError

    def linear_form(self) -> tuple[np.ndarray, Any]:
        """Return weights w and offset b of the equivalent linear classifier.

        Returns
        -------
        w : ndarray of shape (n_features,) or (n_classes, n_features)
            Weights: for two classes one vector, for more a row a class.
        b : float or ndarray of shape (n_classes,)
            The offsets: for two classes the second is predicted where w·x + b > 0, for more the class with the largest
            w_c·x + b_c.
        """
        check_is_fitted(self)
        return one_plane(*self._linear())

    def _joint(self, X: Any) -> tuple[Callable[..., Any], tuple, Any]:
        W, b = self._linear()
        _, cells, state = self._cells_of_answers(X)
        dtype = result_dtype(X)
        return linear_joint, (to_device_of(np.ascontiguousarray(W.T), X), to_device_of(b, X), cells, state), dtype

    def _side(self, X: Any) -> tuple[Callable[..., Any], tuple, Any]:
        """The same for how much more the second of two classes has (n × 1)."""
        _, (W, b, *cells), dtype = self._joint(X)
        return linear_joint, (W[:, 1:] - W[:, :1], b[1:] - b[:1], *cells), dtype

    def _cells_of_answers(self, X: Any) -> tuple[int, Callable[..., Any], tuple]:
        return self.n_features_in_, as_it_is, ()

    def predict(self, X: Any) -> Any:
        """Return the most probable class of each row."""
        codes = None if self._encodes_cells else highest_planes(self, X, self._linear)
        if codes is not None:
            return self.classes_[codes]
        if self._finds_nan(X):
            X = check_predict(self, X, allow_nan=True)
            codes = highest_sparse_planes(X, *self._linear(), self._above)
            if codes is not None:
                return self.classes_[codes]
            require_finite_cells(self, X.data)
        two = len(getattr(self, "classes_", ())) == 2
        return self._map(X, label_of_side, labels=True, joint=self._side) if two else super().predict(X)

    @property
    def _encodes_cells(self) -> bool:
        """Whether scores are linear in something other than the cells of X."""
        return type(self)._cells_of_answers is not CountsNB._cells_of_answers

    # --- parameters

    def _check_parameters(self) -> None:
        check_flag(self, "fit_prior", "force_alpha")
        if isinstance(self.alpha, Real | str) or self.alpha is None:
            check_number(self, "alpha", 0)

    def _smoothing(self) -> Any:
        """alpha: a number, or one for each feature."""
        alpha = self.alpha
        if not isinstance(alpha, Real):
            alpha = np.asarray(alpha, dtype=np.float64)
            if alpha.shape != (self.n_features_in_,):
                raise ValueError(
                    f"When alpha is an array, it should contains `n_features`. Got {alpha.size} elements instead of "
                    f"{self.n_features_in_}; give one number for each column of X."
                )
            if alpha.min() < 0:
                raise ValueError(f"All values in alpha must be greater than 0. The lowest is {alpha.min():g}.")
        if not self.force_alpha and np.min(alpha) < _TOO_SMALL:
            warnings.warn(
                f"alpha too small will result in numeric errors, setting alpha = {_TOO_SMALL:.1e}. "
                "Use `force_alpha=True` to keep alpha unchanged.",
                UserWarning,
                stacklevel=4,
            )
            return np.maximum(alpha, _TOO_SMALL)
        return alpha

    def _log_prior(self) -> np.ndarray:
        n_classes = len(self.classes_)
        if self.class_prior is not None:
            prior = to_numpy(self.class_prior).astype(np.float64)
            if prior.shape != (n_classes,):
                raise ValueError(
                    f"Number of priors must match number of classes. There are {prior.size} in class_prior and "
                    f"{n_classes} classes."
                )
            if not (prior >= 0).all() or not prior.any():
                raise ValueError(f"class_prior must hold probabilities; it is {self.class_prior!r}.")
        elif self.fit_prior:
            prior = self.class_count_ / self.class_count_.sum()
        else:
            return np.full(n_classes, -np.log(n_classes))
        with np.errstate(divide="ignore"):  # a class without rows has prior 0 and log prior −∞
            return np.log(prior)


def logs(shares: np.ndarray) -> np.ndarray:
    """Logarithms of probabilities; of 0, that of the least number."""
    return np.log(np.maximum(shares, LEAST))


def shares_of(counts: np.ndarray, totals: np.ndarray) -> np.ndarray:
    """counts / totals; 0 where nothing was counted at all."""
    return counts / np.maximum(totals, LEAST)


def one_plane(W: np.ndarray, b: np.ndarray) -> tuple[np.ndarray, Any]:
    """For two classes the difference of their planes, for more all of them."""
    return (W[1] - W[0], float(b[1] - b[0])) if len(b) == 2 else (W, b)


# --- functions of blocks


def as_it_is(block: Block) -> Any:
    return block.X


def not_negative(block: Block, whose: str) -> Any:
    """The counts of a block, none of them negative."""
    X = block.X
    stored = X.data if hasattr(X, "indptr") else X
    if stored.shape[0] and float(namespace(stored).min(stored)) < 0:
        raise ValueError(
            f"Negative values in data passed to {whose}: the lowest is {float(namespace(stored).min(stored)):g}, and "
            "counts are 0 or more; use GaussianNB for measurements."
        )
    return X


def label_of_side(more: Any, classes: Any) -> Any:
    """The first of two classes, or the second where it has more."""
    return labels_at(classes, namespace(more).astype(more[:, 0] > 0, namespace(more).int64))


def linear_joint(block: Block, W: Any, b: Any, cells: Callable[..., Any], state: tuple) -> Any:
    """log p(x, c) but for a term without c: what is counted in each row times the weights (columns × K)."""
    X = cells(block, *state)
    if sparse.issparse(X) and X.nnz * W.shape[1] >= _COMPILED_PRODUCTS and compilation_enabled():
        return compiled_sparse_scores(X, W, b)
    product = X @ W
    if isinstance(product, np.ndarray) and product.dtype == np.float64:
        product += b
        return product
    return product + b
