"""R² and accuracy as sums over rows, for models that are fitted from such: on a device, in a file, on a cluster."""

from __future__ import annotations

from typing import Any

import numpy as np

from learnt.engine.arrays import is_foreign_array, is_lazy, namespace, to_numpy
from learnt.engine.matrices import in_numpy
from learnt.engine.mixins import ClassifierMixin, RegressorMixin
from learnt.engine.rows import Rows, as_rows, target_in_memory
from learnt.engine.rows.blocks import Block, widen
from learnt.engine.validation import check_fit, check_predict


class RowsRegressor(RegressorMixin):
    """`score` for regressors that predict rows wherever they are stored."""

    def score(self, X: Any, y: Any, sample_weight: Any = None) -> float:
        """R² = 1 − Σw(y − ŷ)² / Σw(y − ȳ)²: 1 at best, 0 for the mean of y; the mean over several targets."""
        if not is_elsewhere(X):
            return super().score(X, *_in_numpy(y, sample_weight))
        rows, model = _rows_and_model(self, X, y, sample_weight, "numbers")
        head = widen(_columns(rows.head(256).y))
        xp = namespace(head)
        weight, first, second, left = (to_numpy(part) for part in rows.sum(_squares, model, xp.mean(head, axis=0)))
        total = second - first**2 / weight
        # As scikit-learn has it: a constant target is met (1) or not (0).
        share = np.divide(left, total, out=np.where(left > 0, 1.0, 0.0), where=total > 0)
        return float(np.mean(1.0 - share))


class RowsClassifier(ClassifierMixin):
    """`score` for classifiers that predict rows wherever they are stored."""

    def score(self, X: Any, y: Any, sample_weight: Any = None) -> float:
        """The share of rows whose class is predicted."""
        if not is_elsewhere(X):
            return super().score(X, *_in_numpy(y, sample_weight))
        return accuracy_of_rows(self, X, y, sample_weight)


def _in_numpy(*columns: Any) -> tuple:
    """A target and weights of rows in memory, wherever they lie themselves."""
    return tuple(in_numpy(target_in_memory(column)) for column in columns)


def is_elsewhere(X: Any) -> bool:
    """Whether X is not in NumPy's memory: on a device, in a file or on a cluster."""
    return is_foreign_array(X) or is_lazy(X)


def accuracy_of_rows(model: Any, X: Any, y: Any, sample_weight: Any) -> float:
    """Σw[ŷ = y] / Σw, computed where the rows are stored."""
    rows, model = _rows_and_model(model, X, y, sample_weight, "label")
    weight, right = rows.sum(_hits, model)
    return float(right) / float(weight)


def _rows_and_model(model: Any, X: Any, y: Any, sample_weight: Any, target: str) -> tuple[Rows, Any]:
    """The rows, validated, and the model as it predicts block by block, where columns have no names any more."""
    check_predict(model, X, foreign=True, lazy=True, allow_nan=True)
    nameless = object.__new__(type(model))
    nameless.__dict__.update({name: value for name, value in vars(model).items() if name != "feature_names_in_"})
    X, y, w = check_fit(nameless, X, y, sample_weight, target=target, foreign=True, lazy=True, reset=False)
    return as_rows(X, y, w), nameless


def _columns(y: Any) -> Any:
    return y[:, None] if y.ndim == 1 else y


def _squares(block: Block, model: Any, y0: Any) -> tuple:
    """Σw, Σw(y − y₀), Σw(y − y₀)² and Σw(y − ŷ)² of each target."""
    Y = widen(_columns(block.y))
    xp = namespace(Y)
    error = Y - widen(_columns(model.predict(block.X)))
    Z = Y - y0
    w = xp.ones_like(Y[:, 0]) if block.w is None else widen(block.w)
    return xp.sum(w), w @ Z, w @ (Z * Z), w @ (error * error)


def _hits(block: Block, model: Any) -> tuple:
    labels, y = model.predict(block.X), block.y
    if not is_foreign_array(labels):
        right = (labels == to_numpy(y)).astype(np.float64)
        w = None if block.w is None else to_numpy(block.w)
        return (len(right), right.sum()) if w is None else (w.sum(), w @ right)
    xp = namespace(labels)
    if labels.dtype != y.dtype:  # the Array API compares equal dtypes only
        labels, y = xp.astype(labels, xp.float64), xp.astype(y, xp.float64)
    right = xp.astype(labels == y, xp.float64)
    return (y.shape[0], xp.sum(right)) if block.w is None else (xp.sum(widen(block.w)), widen(block.w) @ right)
