"""What every density has: log densities of rows, their mean, novelty by a quantile, and a picture."""

from __future__ import annotations

import warnings
from abc import abstractmethod
from numbers import Integral
from typing import Any

import numpy as np
from sklearn.utils.validation import check_is_fitted

from learnt.density._picture import picture_of
from learnt.drawing.svg import Chart
from learnt.engine.arrays import is_lazy, like, namespace
from learnt.engine.estimator import Estimator
from learnt.engine.mixins import OutlierMixin
from learnt.engine.params import ParameterError, check_number
from learnt.engine.rows import as_rows, in_memory
from learnt.engine.targets import require_one_weight_a_row
from learnt.engine.validation import NOT_FITTED, check_predict, check_weights
from learnt.engine.weights import without_absent

_EVEN = 1e-9  # cumulative weights this near to the requested share have reached it


class Density(OutlierMixin, Estimator):
    """The base of all densities. A class adds `fit`, `_log_density(X)` of checked rows, and `sample`.

    A density is a novelty detector too: `contamination` is the share of the training rows that is to lie below the
    threshold `offset_`, and `predict` gives −1 to every row that is less probable than that.
    """

    contamination: float
    offset_: float

    @abstractmethod
    def _log_density(self, X: Any) -> Any:
        """log p(x) of each row of X, which has been checked."""

    @abstractmethod
    def sample(self, n_samples: int = 1, random_state: Any = None) -> np.ndarray:
        """Return rows drawn from the density, (n_samples, n_features).

        Parameters
        ----------
        n_samples : int, default=1
            How many rows to draw.

        Returns
        -------
        X : ndarray of shape (n_samples, n_features)
            The rows.
        """

    def score_samples(self, X: Any) -> Any:
        """Return log p(x) of each row; −∞ where the density is 0."""
        return self._log_density(check_predict(self, X))

    def score(self, X: Any, y: Any = None, sample_weight: Any = None) -> float:
        """Return the mean of log p(x) over the rows: higher is better.

        On rows that were held out it chooses between densities and their parameters, as `GridSearchCV` does.

        Parameters
        ----------
        y : Ignored
            Not used; there so that all estimators can be called in the same way.

        Returns
        -------
        score : float
            The mean log density, by weight; −∞ where a row lies where the density is 0, with a warning.
        """
        X, _, sample_weight, _ = without_absent(X, None, sample_weight)
        X = check_predict(self, X)
        w = check_weights(sample_weight, X)
        scores, w = in_memory(self._log_density(X)), None if w is None else in_memory(w)
        if w is not None:
            require_one_weight_a_row(len(scores), len(w))
        if nowhere := int(np.count_nonzero(scores == -np.inf)):
            warnings.warn(
                f"{nowhere} of the {len(scores)} rows lie where the density is 0 (an empty bin, or beyond the training "
                "rows), so that the mean of log p is −inf; `score_samples` tells which, and `alpha` above 0 fills "
                "empty bins.",
                UserWarning,
                stacklevel=2,
            )
        return float(np.average(scores, weights=w))

    def decision_function(self, X: Any) -> Any:
        """Return log p(x) − `offset_`: negative for novelties.

        Returns
        -------
        scores : ndarray of shape (n_samples,)
            The lower, the more unusual.
        """
        return self.score_samples(X) - self.offset_

    def predict(self, X: Any) -> Any:
        """Return 1 for rows as probable as most training rows, −1 for novelties: log densities below `offset_`."""
        scores = self.score_samples(X)
        if is_lazy(scores):
            return scores.map_blocks(_sides, self.offset_, dtype=np.int64)
        return _sides(scores, self.offset_)

    def fit_predict(self, X: Any, y: Any = None, sample_weight: Any = None) -> Any:
        """Fit, and return which of the training rows are novelties: −1, and 1 for the others."""
        return self.fit(X, sample_weight=sample_weight).predict(X)

    def plot(self, title: str = "") -> Chart:
        """Return the density of one or two features as a picture, which notebooks show and `save` writes.

        Parameters
        ----------
        title : str, default=""
            What stands above it; by default the class and the columns.

        Returns
        -------
        Chart
            The picture, an SVG.

        Raises
        ------
        ValueError
            Where the density has more than two features.
        """
        return picture_of(self, title)

    def _check_contamination(self) -> None:
        check_number(self, "contamination", 0.0, 0.5, open_low=True)

    def _set_offset(self, X: Any, w: Any) -> None:
        """The threshold below which the given share of the training rows lies."""
        weights = None if w is None else in_memory(w)
        self.offset_ = low_score(in_memory(self._log_density(X)), weights, self.contamination)


def low_score(scores: np.ndarray, weights: np.ndarray | None, share: float) -> float:
    """The lowest score such that rows of this share of the weight, or less, are below it.

    >>> low_score(np.array([4.0, 1.0, 3.0, 2.0]), None, 0.5)
    3.0
    >>> low_score(np.array([1.0, 2.0]), np.array([1.0, 3.0]), 0.25)
    2.0
    """
    if weights is None:
        at = min(int(share * len(scores) * (1 + _EVEN)), len(scores) - 1)
        return float(np.partition(scores, at)[at])
    order = np.argsort(scores, kind="stable")
    reached = np.cumsum(np.asarray(weights, dtype=np.float64)[order])
    at = int(np.searchsorted(reached, share * reached[-1] * (1 + _EVEN), side="right"))
    return float(scores[order[min(at, len(scores) - 1)]])


def _sides(scores: Any, offset: float) -> Any:
    xp = namespace(scores)
    if xp is np or isinstance(scores, np.ndarray):
        return np.where(scores >= offset, 1, -1)
    inside = like([1], scores, xp.int64)
    return xp.where(scores >= offset, inside, -inside)


def check_sample(model: Any, n_samples: Any) -> None:
    """Refuse to draw from a model that is not fitted, and anything but at least one row."""
    check_is_fitted(model, msg=NOT_FITTED)
    if isinstance(n_samples, bool) or not isinstance(n_samples, Integral) or n_samples < 1:
        raise ParameterError(f"n_samples must be a whole number of at least 1. Got {n_samples!r} instead.")


def mapped(X: Any, function: Any, *state: Any) -> Any:
    """`function(block, *state)` of all rows, wherever they are."""
    return as_rows(X).map(function, *state)
