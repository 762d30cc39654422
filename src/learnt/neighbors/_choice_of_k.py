"""`n_neighbors="auto"`: the number of neighbours by leave-one-out."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np


class ChoiceOfK:
    """Estimators whose parameter n_neighbors may be "auto"; `fit` then sets `n_neighbors_` and `left_out_errors_`."""

    n_neighbors: Any
    _n_neighbors_also = (None, "auto")

    def _choose(self, errors: Callable[[], tuple[np.ndarray, np.ndarray]]) -> None:
        """Take the k with the smallest error; of equal ones by the second error, then the smallest k."""
        for name in ("n_neighbors_", "left_out_errors_"):
            vars(self).pop(name, None)
        if not isinstance(self.n_neighbors, str):
            return
        if self.n_samples_fit_ < 2:  # type: ignore[attr-defined]
            raise ValueError(
                f'{type(self).__name__} chooses n_neighbors="auto" by leaving rows out, and X has n_samples = 1; give '
                "more rows or a number."
            )
        first, second = errors()
        self.n_neighbors_ = int(np.lexsort((second, first))[0]) + 1
        self.left_out_errors_ = first

    def _own_count(self) -> Any:
        return getattr(self, "n_neighbors_", self.n_neighbors) if self.n_neighbors == "auto" else self.n_neighbors
