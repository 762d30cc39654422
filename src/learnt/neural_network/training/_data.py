"""Rows, and how a batch is taken from them."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np

from learnt.neural_network._torch import torch_for


class Data:
    """Rows to train on, all where the network is.

    Parameters
    ----------
    X : tensor of shape (n, ...) or scipy CSR matrix
    y : tensor of shape (n, outputs), or (n,) of class numbers
    w : tensor of shape (n,) or None
        Weights of the rows.
    change : callable or None
        What is done to the rows of every batch (augmentation): `change(X, first, whole)` of those that begin at `first`
        in a batch of `whole` rows.
    """

    def __init__(self, X: Any, y: Any, w: Any = None, change: Callable[[Any, int, int], Any] | None = None) -> None:
        self.X, self.y, self.w, self.change = X, y, w, change
        self.n = int(X.shape[0])
        self._room: dict[int, Any] = {}  # memory for the rows of a batch, by their number
        self._order: np.ndarray | None = None
        self.places: Any = None  # the order of the epoch, where y is; None: as they are

    def begin_epoch(self, order: np.ndarray | None) -> None:
        """Set the order of the rows; None: as they are."""
        self._order = order
        self.places = None if order is None else torch_for("a network").from_numpy(order).to(self.y.device)

    def batch(
        self, start: int, stop: int, batch_start: int | None = None, batch_stop: int | None = None
    ) -> tuple[Any, Any, Any]:
        """The rows from `start` to `stop` in the order of the epoch; X is in memory that the next batch uses again.

        Where they are a part of a batch, the others are another worker's (`_group`).
        """
        w = None
        if self._order is None:
            X, y = self.X[start:stop], self.y[start:stop]
            w = None if self.w is None else self.w[start:stop]
        else:
            places = self.places[start:stop]
            X = self._rows(places, start, stop)
            y = self.y.index_select(0, places)
            w = None if self.w is None else self.w.index_select(0, places)
        if self.change is not None:
            first = start if batch_start is None else batch_start
            X = self.change(X, start - first, (stop if batch_stop is None else batch_stop) - first)
        return X, y, w

    def take(self, places: Any) -> tuple[Any, Any, Any]:
        """The rows of a batch by index, in new memory."""
        X, w = self.X.index_select(0, places), None if self.w is None else self.w.index_select(0, places)
        if self.change is not None:
            X = self.change(X, 0, len(places))
        return X, self.y.index_select(0, places), w

    def _rows(self, places: Any, start: int, stop: int) -> Any:
        if not hasattr(self.X, "index_select"):
            return self.X[self._order[start:stop]]  # type: ignore[index]
        torch = torch_for("a network")
        out = self._room.get(stop - start)
        if out is None:
            out = self._room[stop - start] = self.X.new_empty((stop - start, *self.X.shape[1:]))
        return torch.index_select(self.X, 0, places, out=out)

    def some(self, most: int) -> Any:
        """At most so many rows of X, evenly spaced."""
        step = max(1, -(-self.n // most))
        return self.X[::step]
