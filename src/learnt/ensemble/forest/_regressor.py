"""Forests of regression trees: means, spread, quantiles, prediction intervals."""

from __future__ import annotations

import warnings
from typing import Any

import numpy as np
from sklearn.metrics import r2_score
from sklearn.utils import Bunch

from learnt.engine.arrays import is_lazy
from learnt.engine.columns import monotone_directions
from learnt.engine.matrices import dense_parts, join
from learnt.engine.validation import check_target
from learnt.ensemble._lazy import LazyRegressor
from learnt.ensemble.forest._base import SPARSE_CELLS, PredictingForest, target_columns
from learnt.ensemble.forest._classifier import importance_bunch, training_rows, tree_deviation
from learnt.ensemble.forest._lazy import in_blocks
from learnt.ensemble.forest._left_out import permutation_importances, predictions, standardized_errors
from learnt.ensemble.forest._quantiles import LeafSamples, join_samples, quantiles
from learnt.ensemble.forest._sampling import Sampling
from learnt.forestry import Grove


class ForestRegressor(LazyRegressor, PredictingForest):
    """What forests of numbers share."""

    _leaf_samples: dict[str, np.ndarray]
    _errors: dict[str, Any]
    _keeps_targets = True
    _criteria = ("squared_error", "absolute_error", "friedman_mse", "poisson")

    def _check_parameters(self) -> None:
        super()._check_parameters()
        if self.criterion == "friedman_mse":
            warnings.warn(
                'criterion="friedman_mse" is deprecated and the same as "squared_error"; use that name.',
                FutureWarning,
                stacklevel=4,
            )

    def _targets(self, y: Any, X: Any) -> np.ndarray:
        name = type(self).__name__
        columns = target_columns(y, X, name)
        numbers = np.column_stack([check_target(column, "number", _Wide(X), name) for column in columns.T])
        if self.criterion == "poisson":
            if (numbers < 0).any():
                raise ValueError("Some value(s) of y are negative which is not allowed for Poisson regression.")
            if numbers.sum() <= 0:
                raise ValueError("Sum of y is not strictly positive which is necessary for Poisson regression.")
        self.n_outputs_ = numbers.shape[1]
        return np.ascontiguousarray(numbers, dtype=np.float64)

    def _class_counts(self) -> None:
        return None

    def _weights(self, targets: np.ndarray, w: np.ndarray | None) -> np.ndarray | None:
        return w

    def _monotone_directions(self, d: int) -> np.ndarray | None:
        return None if self.monotonic_cst is None else monotone_directions(self, d)

    def _keep_grown(self, samples: list[LeafSamples | None], groves: list[Grove], known: int) -> None:
        if known:
            old = self._leaf_samples
            samples = [LeafSamples(**old) if len(old["sizes"]) else None, *samples]
        joined = join_samples(samples, groves) or LeafSamples(np.empty(0, np.int32), np.empty(0))
        self._leaf_samples = {"sizes": joined.sizes, "targets": joined.targets}

    def _finish(self, X: Any, targets: np.ndarray, sampling: Sampling) -> None:
        errors, floor = np.empty(0), 0.0
        if self.bootstrap and self.n_outputs_ == 1:
            errors, floor = standardized_errors(self.grove_, self.seeds_, sampling, X, targets[:, 0])
        self._errors = {"sorted": errors, "floor": float(floor)}

    def _score_left_out(self, X: Any, targets: np.ndarray, sampling: Sampling, with_absent: Any) -> None:
        found = predictions(self.grove_, self.seeds_, sampling, X)
        column = 0 if self.n_outputs_ == 1 else slice(None)
        self.oob_prediction_ = with_absent(found)[:, column]
        scorer = self.oob_score if callable(self.oob_score) else r2_score
        self.oob_score_ = float(scorer(targets[:, column], found[:, column]))

    def predict(self, X: Any, return_std: bool = False) -> Any:
        """The mean over trees of the value of each row's leaf; with `return_std` also the spread of the trees.

        Parameters
        ----------
        return_std : bool, default=False
            Whether to return the standard deviation of the trees' predictions too.

        Returns
        -------
        y_pred : ndarray of shape (n_samples,) or (n_samples, n_outputs)
            The predicted number of each row.
        y_std : ndarray of shape (n_samples,) or (n_samples, n_outputs)
            The standard deviation over trees: how far the forest disagrees, not how noisy y is. Only with `return_std`.
        """
        if is_lazy(X):
            mean = in_blocks(self, X, "predict")
            return (mean, in_blocks(self, X, "spread")) if return_std else mean
        X = self._rows(X)
        return (self._mean(X), self._deviation(X)) if return_std else self._mean(X)

    def spread(self, X: Any) -> np.ndarray:
        """The standard deviation over trees of their predictions: how far the ensemble disagrees.

        Parameters
        ----------
        X : array-like of shape (n_samples, n_features)
            Rows to predict, with the columns of those it was fitted to.

        Returns
        -------
        spread : ndarray of shape (n_samples,) or (n_samples, n_outputs)
            The standard deviation over trees, which says nothing of the noise in y.
        """
        return self._deviation(self._rows(X))

    def _mean(self, rows: Any) -> np.ndarray:
        found = self._sum_of_trees(rows)
        found /= self.grove_.n_trees
        return found[:, 0] if self.n_outputs_ == 1 else found

    def _deviation(self, rows: Any) -> np.ndarray:
        out = tree_deviation(self, rows)
        return out[:, 0] if self.n_outputs_ == 1 else out

    def predict_quantiles(self, X: Any, q: Any = (0.05, 0.5, 0.95)) -> np.ndarray:
        """Quantiles of y given x, from the training targets in the leaves of each row.

        They show how noisy y is at x, and whether it is skewed [1]_. One output only.

        Parameters
        ----------
        X : array-like of shape (n_samples, n_features)
            Rows to predict, with the columns of those it was fitted to.
        q : float or array-like of float, default=(0.05, 0.5, 0.95)
            The levels, from 0 to 1: 0.5 is the median.

        Returns
        -------
        quantiles : ndarray of shape (n_samples, n_levels) or (n_samples,)
            The quantile of each level; one array where `q` is a single number.

        References
        ----------
        .. [1] N. Meinshausen, "Quantile regression forests", JMLR 7, 2006.
        """
        X = self._rows(X)
        self._require_one_output("predict_quantiles")
        levels = np.atleast_1d(np.asarray(q, dtype=np.float64))
        if levels.ndim != 1 or not ((levels >= 0) & (levels <= 1)).all():
            raise ValueError(f"q must be one or several numbers between 0 and 1; got {q!r}.")
        found = self._quantiles(X, levels)
        return found[:, 0] if np.ndim(q) == 0 else found

    def _quantiles(self, rows: Any, levels: np.ndarray) -> np.ndarray:
        sizes, targets = self._leaf_samples["sizes"], self._leaf_samples["targets"]
        parts = dense_parts(rows, SPARSE_CELLS)
        return join([quantiles(self.grove_, sizes, targets, part, levels) for part in parts])

    def predict_interval(self, X: Any, coverage: float = 0.9) -> np.ndarray:
        """An interval for a new y at each row, that holds it with probability `coverage`.

        With `bootstrap` its reach comes from the errors on training rows, each predicted by the trees that have not
        seen it, in units of the spread of the trees at that row: wide where trees disagree, and right on average
        whatever the noise. Without `bootstrap` no tree leaves rows out, and the interval is one of quantiles. One
        output only.

        Parameters
        ----------
        X : array-like of shape (n_samples, n_features)
            Rows to predict, with the columns of those it was fitted to.
        coverage : float, default=0.9
            The probability that the interval holds the new y, between 0 and 1.

        Returns
        -------
        interval : ndarray of shape (n_samples, 2)
            Lower and upper end for each row.
        """
        if not 0 < coverage < 1:
            raise ValueError(f"coverage must be a number between 0 and 1; got {coverage!r}.")
        X = self._rows(X)
        self._require_one_output("predict_interval")
        errors, floor = self._errors["sorted"], self._errors["floor"]
        if not len(errors):
            return self._quantiles(X, np.array([0.5 - coverage / 2, 0.5 + coverage / 2]))
        n = len(errors)
        outside = (1 - coverage) / 2 * (n + 1)  # ranks of n errors and the new one
        low = errors[max(int(np.floor(outside)) - 1, 0)]
        high = errors[min(int(np.ceil(n + 1 - outside)) - 1, n - 1)]
        middle, reach = self._mean(X), np.maximum(self._deviation(X), floor)
        return np.column_stack([middle + low * reach, middle + high * reach])

    def permutation_importances(self, X: Any, y: Any, random_state: Any = None) -> Bunch:
        """How much each tree's squared error rises, on the training rows it has not seen, when a column is shuffled.

        An honest measure of what columns are worth, without a validation set; needs `bootstrap`. Of two columns that
        say the same, both look less important than they are together.

        Parameters
        ----------
        X : array-like of shape (n_samples, n_features)
            The rows it was fitted to, in the same order.
        y : array-like of shape (n_samples,) or (n_samples, n_outputs)
            Their targets.
        random_state : int, RandomState, Generator or None, default=None
            Shuffles the columns. Pass an integer for the same result every time.

        Returns
        -------
        result : Bunch
            `importances` of shape (n_features, n_estimators), `importances_mean` and `importances_std`, each over the
            trees.
        """
        X, y, sampling = training_rows(self, X, y)
        targets = target_columns(y, X, type(self).__name__).astype(np.float64)

        def score(rows: np.ndarray, values: np.ndarray) -> float:
            return -float(((targets[rows] - values) ** 2).mean())

        return importance_bunch(
            permutation_importances(self.grove_, self.seeds_, sampling, X, score, random_state, self.n_jobs)
        )

    def _require_one_output(self, what: str) -> None:
        if self.n_outputs_ > 1:
            raise ValueError(f"{what} of {type(self).__name__} is for one output; y had {self.n_outputs_} columns.")


class _Wide:
    """Targets are kept in float64 whatever the precision of X."""

    dtype = np.dtype(np.float64)

    def __init__(self, X: Any) -> None:
        self.shape = X.shape
