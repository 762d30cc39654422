"""Missing cells filled with the mean of the nearest rows that have them."""

from __future__ import annotations

from typing import Any

import numpy as np

from learnt.engine.estimator import Trial
from learnt.engine.params import check_choice, check_flag, check_number
from learnt.engine.schema import Dims, Schema, anyof, choice, count, flag, flags, none, real, scalar
from learnt.engine.targets import is_missing
from learnt.engine.threads import for_blocks
from learnt.impute._cells import SPARE, Imputer, fits_indicator
from learnt.impute._nearest import Gaps, called_distances, donors_of, mean_squares, weighted_means

_CELLS = 1 << 17  # distances that are computed before the nearest are taken from them


def _columns_fit(model: Any, state: dict[str, Any], dims: Dims) -> str | None:
    there = ~np.isnan(state["_fit_X"]).all(axis=0)
    if not np.array_equal(there, state["_valid_mask"]):
        return "has other columns without a cell than it says"
    return fits_indicator(model, state, dims)


class KNNImputer(Imputer):
    """Each missing cell becomes the mean of that column in the nearest rows that have it (Troyanskaya et al., 2001).

    ‖x − z‖² d / d',  over the d' of d columns that both rows have

    Keeps relations between columns that the mean of a column loses. Scale the columns first where they have different
    units. Of rows equally far the first are taken. A cell without any row to learn from becomes the mean of its column.

    Parameters
    ----------
    missing_values : float, int, None or pandas.NA, default=np.nan
        What marks a missing cell.
    n_neighbors : int, default=5
        How many rows a cell is the mean of. Fewer follow the nearest rows closely, more smooth and are less moved by
        outliers.
    weights : {"uniform", "distance"}, callable or None, default="uniform"
        What each row counts in the mean: all alike ("uniform", None), by 1 / distance, or by a function of an array of
        distances (NaN where there are fewer rows).
    metric : {"nan_euclidean"} or callable, default="nan_euclidean"
        The distance above, or a function of two rows and of `missing_values`, called for each pair of rows.
    copy : bool, default=True
        False: `transform` may fill the cells of the given array.
    add_indicator : bool, default=False
        Whether columns that say where cells were missing are appended, for models that should know it.
    keep_empty_features : bool, default=False
        Whether columns without a cell become 0 instead of being left out.

    Attributes
    ----------
    indicator_ : MissingIndicator or None
        What makes the columns of `add_indicator`; None without it.

    See Also
    --------
    IterativeImputer : Predicts each column from the others by a regression.
    SimpleImputer : One value for each column; quick.
    learnt.neighbors.KNeighborsRegressor : Predicts one column by the nearest rows.

    Notes
    -----
    Only rows with missing cells are compared, each with all rows of `fit`: time m·n·d for m of them. A block of them is
    compared at a time, and distances are forgotten once the nearest rows are known.

    References
    ----------
    .. [1] O. Troyanskaya, M. Cantor, G. Sherlock, P. Brown, T. Hastie, R. Tibshirani, D. Botstein, R. B. Altman,
       "Missing value estimation methods for DNA microarrays", Bioinformatics 17, 2001.

    Examples
    --------
    >>> X = [[1.0, 2.0, np.nan], [3.0, 4.0, 3.0], [np.nan, 6.0, 5.0], [8.0, 8.0, 7.0]]
    >>> KNNImputer(n_neighbors=2).fit_transform(X)
    array([[1. , 2. , 4. ],
           [3. , 4. , 3. ],
           [5.5, 6. , 5. ],
           [8. , 8. , 7. ]])
    """

    __learnt_schema__ = Schema(
        params={
            "missing_values": anyof(none, scalar),
            "n_neighbors": count(1),
            "weights": anyof(none, choice("uniform", "distance")),
            "metric": choice("nan_euclidean"),
            "copy": flag,
            "add_indicator": flag,
            "keep_empty_features": flag,
        },
        state={**SPARE, "_fit_X": real("n", "d", finite=False), "_valid_mask": flags("d")},
        rule=_columns_fit,
    )
    __learnt_trial__ = Trial()

    def __init__(
        self,
        *,
        missing_values: Any = np.nan,
        n_neighbors: int = 5,
        weights: Any = "uniform",
        metric: Any = "nan_euclidean",
        copy: bool = True,
        add_indicator: bool = False,
        keep_empty_features: bool = False,
    ) -> None:
        self.missing_values = missing_values
        self.n_neighbors = n_neighbors
        self.weights = weights
        self.metric = metric
        self.copy = copy
        self.add_indicator = add_indicator
        self.keep_empty_features = keep_empty_features

    def fit(self, X: Any, y: Any = None) -> KNNImputer:
        """Keep the rows of X."""
        self._check_parameters()
        X = self._with_nan(X, reset=True)
        self._fit_X, self._valid_mask = np.asfortranarray(X), ~np.isnan(X).all(axis=0)
        self._fit_indicator(X)
        return self

    def _check_parameters(self) -> None:
        check_number(self, "n_neighbors", 1, integer=True)
        if not callable(self.weights):
            check_choice(self, "weights", ("uniform", "distance", None))
        if not callable(self.metric):
            check_choice(self, "metric", ("nan_euclidean",))
        check_flag(self, "copy")
        self._check_marks()

    def transform(self, X: Any) -> np.ndarray:
        """X with its missing cells filled, without the columns that had no cell in `fit`."""
        X = self._with_nan(X, reset=False, copy=self.copy)
        where = self._indicated(X)
        there = self._valid_mask
        missing = np.isnan(X) & there
        rows = np.flatnonzero(missing.any(axis=1))
        if rows.size:
            self._fill(X, missing, rows)
        if self.keep_empty_features:
            X[:, ~there] = 0.0
        elif not there.all():
            X = X[:, there]
        return self._with_indicator(X, where)

    def _fill(self, X: np.ndarray, missing: np.ndarray, rows: np.ndarray) -> None:
        columns = np.ascontiguousarray(self._fit_X.T, dtype=np.float64)
        whole = np.array(~np.isnan(columns).any(axis=1))
        mean = np.zeros(len(columns))
        mean[self._valid_mask] = np.nanmean(columns[self._valid_mask], axis=1)
        n = columns.shape[1]

        def fill(lo: int, hi: int) -> None:
            own = rows[lo:hi]
            query, column = np.nonzero(missing[own])
            gaps = Gaps(np.r_[0, np.cumsum(np.bincount(query, minlength=len(own)))], column)
            D = self._distances(X[own], columns, whole)
            found = donors_of(columns, D, gaps, min(self.n_neighbors, n))
            distance = found.distance
            if not callable(self.metric):
                distance = np.sqrt(distance * len(columns), out=distance)
            values = weighted_means(columns[column[:, None], found.row], distance, self.weights)
            X[own[query], column] = np.where(np.isnan(values), mean[column], values)

        for_blocks(fill, len(rows), grain=max(1, min(256, _CELLS // n)))

    def _distances(self, queries: np.ndarray, columns: np.ndarray, whole: np.ndarray) -> np.ndarray:
        if callable(self.metric):
            mark = np.nan if is_missing(self.missing_values) else self.missing_values
            queries, rows = (np.where(np.isnan(A), mark, A) for A in (queries, self._fit_X))
            return called_distances(self.metric, queries, rows, mark)
        D = np.empty((len(queries), columns.shape[1]))
        mean_squares(columns, whole, np.ascontiguousarray(queries, dtype=np.float64), D)
        return D

    def get_feature_names_out(self, input_features: Any = None) -> np.ndarray:
        """The names of the columns of `transform`: those of X, then those of the indicator."""
        return self._names_out(input_features)

    def _kept(self) -> np.ndarray:
        return np.full(self.n_features_in_, bool(self.keep_empty_features)) | self._valid_mask
