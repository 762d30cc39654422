"""`contributions` as a method of estimators that have no way of their own to compute it."""

from __future__ import annotations

from typing import Any

import numpy as np


class Explained:
    """An estimator whose predictions are explained by `learnt.inspection.contributions`."""

    def contributions(self, X: Any, background: Any = None) -> np.ndarray:
        """What every column adds to the prediction of every row: Shapley values.

        A number, the log-odds of a classifier where their values are exact, else its probability is explained; of two
        classes that of the second. `learnt.inspection.contributions` says which, how exact the values are, and gives
        them for whole pipelines in the columns of the table.

        Parameters
        ----------
        X : data frame or array of shape (n, n_features)
            The rows whose predictions are explained.
        background : data frame or array, default=None
            Rows that stand for cells that are not known; without it up to 100 rows of X. Linear models take its means.

        Returns
        -------
        values : ndarray of shape (n, n_features + 1), or (n, n_classes, n_features + 1) for three classes or more
            A row adds up to what is explained. The last column is its expectation where no column is known.
        """
        from learnt.explanation._reasons import contributions

        found = contributions(self, X, background)
        if found.values.ndim == 2:
            return np.concatenate([found.values, found.baseline[:, None]], axis=1)
        return np.concatenate([found.values.transpose(0, 2, 1), found.baseline[:, :, None]], axis=2)
