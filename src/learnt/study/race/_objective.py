"""What a race minimises: the log loss of classes, the squared error of amounts, or the metric that was asked for."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import asdict
from typing import Any

import numpy as np

from learnt.study.race._metric import Metric, area_under_roc

SMALLEST = float(np.finfo(np.float64).eps)  # probabilities below it count as it


class Objective:
    """The loss of predictions for a set of rows; `n_classes` is None for amounts, `metric` the fields of a `Metric`."""

    def __init__(self, n_classes: int | None, metric: dict[str, Any] | None = None) -> None:
        self.n_classes = n_classes
        self.metric = None if metric is None else Metric(**metric)

    @staticmethod
    def plain(metric: Metric | None) -> dict[str, Any] | None:
        """The fields of a metric, to be sent to another process."""
        return None if metric is None else asdict(metric)

    @property
    def name(self) -> str:
        if self.metric is not None:
            return self.metric.words
        return "RMSE" if self.n_classes is None else "log loss"

    def loss(self, y: np.ndarray, predicted: np.ndarray) -> float:
        """Smaller is better; `y` are class numbers with a column of probabilities for each class, or amounts."""
        if self.metric is not None:
            return float(self.metric.loss(y, predicted))
        return float(row_losses(y, predicted, self.n_classes).mean())

    def of_blends(self, y: np.ndarray) -> Callable[[np.ndarray], np.ndarray]:
        """The losses of several predictions of the same rows, as `essence` gives them."""
        if self.metric is not None:
            return lambda many: np.array([self.loss(y, p) for p in many])
        if self.n_classes is None:
            return lambda errors: np.mean(errors**2, axis=1)
        return lambda true: -np.mean(np.log(np.clip(true, SMALLEST, 1.0)), axis=1)

    def essence(self, y: np.ndarray, predicted: np.ndarray) -> np.ndarray:
        """What the loss of an average needs of its parts: errors, or probabilities of the true class."""
        if self.metric is not None:
            return predicted
        return predicted - y if self.n_classes is None else predicted[np.arange(len(y)), y]

    def also(self, y: np.ndarray, predicted: np.ndarray) -> dict[str, float]:
        """Well-known metrics, besides the loss that decides."""
        if self.n_classes is None:
            return {"mae": float(np.abs(y - predicted).mean())}
        found = {"error": float(np.mean(predicted.argmax(axis=1) != y))}
        if self.n_classes == 2 and 0 < np.mean(y) < 1:
            found["auc"] = area_under_roc(y, predicted[:, 1])
        return found


def row_losses(y: np.ndarray, predicted: np.ndarray, n_classes: int | None) -> np.ndarray:
    """−log of the probability of the true class, or the squared error, row by row."""
    if n_classes is None:
        return (y - predicted) ** 2
    return -np.log(np.clip(predicted[np.arange(len(y)), y], SMALLEST, 1.0))
