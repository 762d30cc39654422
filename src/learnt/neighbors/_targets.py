"""What the neighbours' targets are: classes as codes, or numbers."""

from __future__ import annotations

from typing import Any

import numpy as np

from learnt.engine.classification.labels import encode_labels
from learnt.engine.validation import check_target


class LabelTargets:
    """Classes of one or several outputs: what classifiers by neighbours keep of y."""

    outputs_2d_: bool
    classes_: Any
    _y: np.ndarray

    def _fit_labels(self, X: Any, y: Any) -> None:
        self._encode(_label_columns(y, X, type(self).__name__))

    def _add_labels(self, X: Any, y: Any) -> None:
        """The classes of more rows, some of which may be new."""
        columns = _label_columns(y, X, type(self).__name__)
        classes, codes = self._outputs()
        if len(columns) != len(classes):
            raise ValueError(f"y has {len(columns)} columns, and {type(self).__name__} was fitted on {len(classes)}.")
        old = [names[codes[:, j]] for j, names in enumerate(classes)]
        self._encode([np.concatenate(both) for both in zip(old, columns, strict=True)])

    def _encode(self, columns: list[np.ndarray]) -> None:
        encoded = [encode_labels(column) for column in columns]
        self.outputs_2d_ = len(encoded) > 1
        self.classes_ = [classes for classes, _ in encoded] if self.outputs_2d_ else encoded[0][0]
        self._y = np.stack([codes for _, codes in encoded], axis=1) if self.outputs_2d_ else encoded[0][1]

    def _outputs(self) -> tuple[list[np.ndarray], np.ndarray]:
        """Classes and codes with one column an output."""
        if self.outputs_2d_:
            return self.classes_, self._y
        return [self.classes_], self._y[:, None]

    def _named(self, winners: np.ndarray) -> np.ndarray:
        """The labels of the classes that have these codes, (n_queries × outputs)."""
        classes, _ = self._outputs()
        if not self.outputs_2d_:
            return classes[0][winners[:, 0]]
        out = np.empty(winners.shape, dtype=np.result_type(*[names.dtype for names in classes]))
        for j, names in enumerate(classes):
            out[:, j] = names[winners[:, j]]
        return out

    def __sklearn_tags__(self) -> Any:
        tags = super().__sklearn_tags__()  # type: ignore[misc]
        tags.classifier_tags.multi_label = True
        tags.target_tags.multi_output = True
        return tags


class NumberTargets:
    """Numbers of one or several outputs: what regressors by neighbours keep of y."""

    _y: np.ndarray

    def _fit_numbers(self, X: Any, y: Any) -> None:
        y = y.toarray() if hasattr(y, "toarray") else y
        # Means are taken in float64 whatever the type of X.
        self._y = check_target(y, "numbers", np.empty((X.shape[0], 0)), type(self).__name__)

    def _add_numbers(self, X: Any, y: Any) -> None:
        """The targets of more rows."""
        old = self._y
        self._fit_numbers(X, y)
        if self._y.shape[1:] != old.shape[1:]:
            shape, self._y = self._y.shape, old
            raise ValueError(f"y has the shape {shape}, and {type(self).__name__} was fitted on {old.shape}.")
        self._y = np.concatenate([old, self._y])

    def _columns(self) -> np.ndarray:
        """Targets with one column an output."""
        return self._y[:, None] if self._y.ndim == 1 else self._y

    def _shaped(self, means: np.ndarray) -> np.ndarray:
        """Predictions of the shape of y."""
        return means[:, 0] if self._y.ndim == 1 else means

    def __sklearn_tags__(self) -> Any:
        tags = super().__sklearn_tags__()  # type: ignore[misc]
        tags.target_tags.multi_output = True
        return tags


def _label_columns(y: Any, X: Any, name: str) -> list[np.ndarray]:
    """The columns of y, each an array of labels."""
    if y is None:
        raise ValueError(f"This {name} estimator requires y to be passed, but the target y is None.")
    if hasattr(y, "toarray"):
        y = y.toarray()
    if not hasattr(y, "dtype") and not hasattr(y, "columns"):
        y = np.asarray(y)
    table = y if getattr(y, "ndim", 1) != 2 else np.asarray(y)
    if getattr(table, "ndim", 1) == 2 and table.shape[1] > 1:
        return [check_target(table[:, j], "label", X, name) for j in range(table.shape[1])]
    return [check_target(y, "label", X, name)]
