"""Partition estimators on dyadic cubes."""

from __future__ import annotations

from typing import Any

import numpy as np
from sklearn.utils.validation import check_is_fitted

from learnt.engine.estimator import Estimator, Trial
from learnt.engine.mixins import RegressorMixin, is_regressor
from learnt.engine.params import ParameterError, check_choice, check_number
from learnt.engine.random import random_state_of
from learnt.engine.schema import FEATURES, Dims, Schema, anyof, count, estimator, flags, integers, listof, number, real
from learnt.engine.validation import check_fit, check_predict
from learnt.tree._dyadic_cells import MOST_COLUMNS, Cells
from learnt.tree._dyadic_models import CellModels, fit_cells

_TAUS = 16  # thresholds that are tried, each half of the one before


def _cells_hang_together(model: Any, state: dict[str, Any], dims: Dims) -> str | None:
    """The rule of its files: keys are sorted, every cell hangs below one before it, there is a model for each."""
    d, cells = dims["d"], dims["m"]
    keys, level = state["cell_keys_"], state["cell_level_"]
    if d > 30 or cells < 1 or keys.dtype != np.int64 or len(keys) != cells - 1 or (np.diff(keys) <= 0).any():
        return "has cells that cannot be found"
    parent = keys >> d
    if level[0] != 0 or (parent > np.arange(len(keys))).any() or (level[1:] != level[parent] + 1).any():
        return "has cells that do not hang together"
    if state["cell_coef_"].shape[1] not in (0, d):
        return "has coefficients for other columns"
    if len(state["estimators_"]) not in (0, cells):
        return "has other models than cells"
    widths = {getattr(member, "n_features_in_", d) for member in state["estimators_"]}
    return None if widths <= {d} else "has models of other columns"


class DyadicPartitionRegressor(RegressorMixin, Estimator):
    """A function that is constant, linear, or any model in each cube of a dyadic partition.

    The box around the data is halved along every side, the cubes again, and so on; level q has 2^(qd) cubes of side
    2^−q. Uniform: all cubes of one level q, chosen by cross-validation. Adaptive: a cube A is halved while its own
    error L_A = (1/n_A) Σ_{x ∈ A} (y − f_A(x))² is above τ. Where a cube has no training rows the next coarser one
    answers.

    Parameters
    ----------
    partition : {"uniform", "adaptive"}, default="uniform"
        "uniform": all cubes have the same size, chosen by `depth`. "adaptive": cubes are halved where the error is
        large, as `tau` says; better where the function is rough in some places and smooth in others.
    depth : int or "cv", default="cv"
        The level q of the uniform partition: the higher, the finer, and the more it overfits. "cv" chooses it by
        cross-validation.
    tau : float or "cv", default="cv"
        The mean squared error above which the adaptive partition halves a cube: the lower, the finer. "cv" chooses it
        by cross-validation.
    leaf : {"constant", "linear"} or regressor, default="constant"
        What is fitted in a cube: a mean, a plane by least squares, or a copy of an estimator.
    max_depth : int, default=8
        The finest level that is looked at, at most 40. A limit on time and memory rather than on overfitting where the
        partition is chosen by cross-validation.
    min_samples_split : int, default=2
        Cubes with fewer rows are not halved by the adaptive partition.
    cv : int, splitter or iterable, default=5
        The folds that choose `depth` or `tau`; an integer is the number of folds of shuffled rows.
    random_state : int, RandomState, Generator or None, default=0
        Shuffles the rows before they are cut into folds. Nothing else is random.

    Attributes
    ----------
    depth_ : int
        The level chosen, or the level of the finest cube of the adaptive partition.
    tau_ : float
        The threshold chosen; only of the adaptive partition.
    n_cells_ : int
        Number of cubes with rows that make up the partition.
    cv_values_ : ndarray of shape (n_values,)
        The levels or thresholds that were tried; only where cross-validation chose.
    cv_errors_ : ndarray of shape (n_values,)
        Their mean squared errors on left-out rows; only where cross-validation chose.
    lower_ : ndarray of shape (n_features,)
        The least value of each column: a corner of the box that is halved.
    upper_ : ndarray of shape (n_features,)
        The largest value of each column: the opposite corner.
    cell_level_ : ndarray of shape (n_cells,)
        The level of each cube, coarse ones before fine ones, 0 for the whole box.
    cell_keys_ : ndarray of shape (n_cells - 1,)
        Where each cube but the first lies within its parent, as the key by which it is found; sorted.
    cell_refined_ : ndarray of bool of shape (n_cells,)
        Whether the partition halves the cube.
    cell_count_ : ndarray of shape (n_cells,)
        Number of training rows in each cube.
    cell_coef_ : ndarray of shape (n_cells, n_features) or (n_cells, 0)
        Slopes of the planes in the cubes; no columns where cubes are not linear.
    cell_intercept_ : ndarray of shape (n_cells,)
        Means, or intercepts of the planes, in the cubes.
    estimators_ : list
        The models of the cubes where `leaf` is an estimator; else empty.

    See Also
    --------
    DecisionTreeRegressor : Cuts one column at a time, for any number of columns.
    ModelTreeRegressor : A tree with a model in each leaf.
    learnt.neighbors.KNeighborsRegressor : Local means without cells.

    Notes
    -----
    In each fold the cubes of all levels are fitted once; to try a level or threshold then costs a prediction of the
    left-out rows. The number of cubes grows as 2^d with the columns, so that this is a method for few columns. A row of
    weight 2 counts as two rows, one of weight 0 as none.

    References
    ----------
    .. [1] P. Binev, A. Cohen, W. Dahmen, R. DeVore and V. Temlyakov, "Universal algorithms for learning theory. Part I:
           piecewise constant functions", JMLR 6, 2005.

    Examples
    --------
    >>> import numpy as np
    >>> X = np.linspace(0, 1, 64).reshape(-1, 1)
    >>> y = np.where(X[:, 0] < 0.25, 0.0, np.where(X[:, 0] < 0.5, 2.0, 1.0))
    >>> model = DyadicPartitionRegressor(partition="adaptive", tau=0.0).fit(X, y)
    >>> model.predict([[0.1], [0.3], [0.9]]), model.n_cells_
    (array([0., 2., 1.]), 3)
    """

    __learnt_schema__ = Schema(
        state={
            **FEATURES,
            "lower_": real("d"),
            "upper_": real("d"),
            "cell_level_": integers("m", below=64),
            "cell_keys_": integers(None),
            "cell_refined_": flags("m"),
            "cell_coef_": real("m", None),
            "cell_intercept_": real("m"),
            "cell_count_": integers("m"),
            "estimators_": listof(estimator("predict")),
            "depth_": count(),
            "n_cells_": count(1),
        },
        extra={
            "tau_": number(0),
            "cv_values_": anyof(real(None, low=0), integers(None)),
            "cv_errors_": real(None, low=0),
        },
        rule=_cells_hang_together,
    )
    __learnt_trial__ = Trial(quick={"depth": 2})

    def __init__(
        self,
        partition: str = "uniform",
        *,
        depth: int | str = "cv",
        tau: float | str = "cv",
        leaf: Any = "constant",
        max_depth: int = 8,
        min_samples_split: Any = 2,
        cv: Any = 5,
        random_state: Any = 0,
    ) -> None:
        self.partition = partition
        self.depth = depth
        self.tau = tau
        self.leaf = leaf
        self.max_depth = max_depth
        self.min_samples_split = min_samples_split
        self.cv = cv
        self.random_state = random_state

    def fit(self, X: Any, y: Any, sample_weight: Any = None) -> DyadicPartitionRegressor:
        """Choose the partition and fit its cells; a row of weight 2 counts as two, one of weight 0 as none."""
        self._check_params()
        X, y, w = check_fit(self, X, y, sample_weight, target="number")
        if X.shape[1] > MOST_COLUMNS:
            raise ValueError(
                f"X has {X.shape[1]} columns and cubes are kept in up to {MOST_COLUMNS} dimensions; use a "
                "DecisionTreeRegressor, which cuts one column at a time."
            )
        X, y = X.astype(np.float64, copy=False), y.astype(np.float64, copy=False)
        uniform = self.partition == "uniform"
        chosen = self.depth if uniform else self.tau
        self.__dict__.pop("cv_values_", None)
        self.__dict__.pop("cv_errors_", None)
        if isinstance(chosen, str):
            chosen = self._choose(X, y, w)
        finest = int(chosen) if uniform else self.max_depth
        cells, models = self._grow(X, y, w, finest)
        refine = self._refine(cells, models, chosen)
        self._record(X, cells, models, refine)
        if not uniform:
            self.tau_ = float(chosen)
        return self

    def _check_params(self) -> None:
        check_choice(self, "partition", ("uniform", "adaptive"))
        check_number(self, "depth", 0, 40, integer=True, also=("cv",))
        check_number(self, "tau", 0.0, also=("cv",))
        check_number(self, "max_depth", 0, 40, integer=True)
        check_number(self, "min_samples_split", 2, integer=True)
        if isinstance(self.cv, int | np.integer):
            check_number(self, "cv", 2, integer=True)
        named = isinstance(self.leaf, str) and self.leaf in ("constant", "linear")
        if not named and not (hasattr(self.leaf, "fit") and is_regressor(self.leaf)):
            raise ParameterError(
                f"The 'leaf' parameter of {type(self).__name__} must be 'constant', 'linear' or a regressor. "
                f"Got {str(self.leaf)[:60]} instead."
            )

    def _grow(self, X: np.ndarray, y: np.ndarray, w: Any, finest: int) -> tuple[Cells, CellModels]:
        cells, path = Cells.around(X, finest)
        return cells, fit_cells(cells, path, X, y, w, self.leaf)

    def _refine(self, cells: Cells, models: CellModels, chosen: Any) -> np.ndarray:
        """Which cells the partition halves."""
        if self.partition == "uniform":
            return cells.level < chosen
        return (models.error > chosen) & (models.count >= self.min_samples_split)

    def _choose(self, X: np.ndarray, y: np.ndarray, w: Any) -> Any:
        """The level or threshold of least error on left-out rows; the coarser of equals."""
        from sklearn.model_selection import KFold, check_cv  # longer to load than all of our trees

        folds = self.cv
        if isinstance(folds, int | np.integer):
            most = min(int(folds), len(y))
            if most < 2:
                raise ValueError("One row cannot be cut into folds; give depth or tau as a number.")
            folds = KFold(most, shuffle=True, random_state=random_state_of(self.random_state))
        weights = np.ones(len(y)) if w is None else w
        spread = float(np.average((y - np.average(y, weights=weights)) ** 2, weights=weights))
        uniform = self.partition == "uniform"
        options = np.arange(self.max_depth + 1) if uniform else spread * 2.0 ** -np.arange(_TAUS)
        errors = np.zeros(len(options))
        for train, test in check_cv(folds).split(X, y):
            cells, models = self._grow(X[train], y[train], None if w is None else w[train], self.max_depth)
            for k, option in enumerate(options):
                cell = cells.find(X[test], self._refine(cells, models, option))
                errors[k] += weights[test] @ (y[test] - models.predict(X[test], cell)) ** 2
        self.cv_values_, self.cv_errors_ = options, errors / weights.sum()
        best = int(np.flatnonzero(errors <= errors.min() * (1 + 1e-12) + 1e-300)[0])
        return int(options[best]) if uniform else float(options[best])

    def _record(self, X: np.ndarray, cells: Cells, models: CellModels, refine: np.ndarray) -> None:
        used = np.unique(cells.find(X, refine))
        self.depth_, self.n_cells_ = int(cells.level[used].max()), len(used)
        self.lower_, self.upper_, self.cell_keys_, self.cell_level_ = cells.lower, cells.upper, cells.keys, cells.level
        self.cell_refined_ = refine
        self.cell_coef_, self.cell_intercept_, self.cell_count_ = models.coef, models.intercept, models.count
        self.estimators_ = models.estimators

    def _cells(self) -> Cells:
        return Cells(self.lower_, self.upper_, self.cell_keys_, self.cell_level_)

    def apply(self, X: Any) -> np.ndarray:
        """The number of the cell that answers for each row.

        Returns
        -------
        cells : ndarray of shape (n_samples,)
            Numbers of cells, which are rows of what `cell_bounds` returns.
        """
        check_is_fitted(self)
        return self._cells().find(check_predict(self, X), self.cell_refined_)

    def predict(self, X: Any) -> np.ndarray:
        """The prediction of the model in the cell of each row."""
        check_is_fitted(self)
        X = check_predict(self, X)
        cell = self._cells().find(X, self.cell_refined_)
        models = CellModels(self.cell_coef_, self.cell_intercept_, self.estimators_, np.empty(0), np.empty(0, np.int64))
        return models.predict(X, cell)

    def cell_bounds(self) -> tuple[np.ndarray, np.ndarray]:
        """The lower and upper corners of all cells, by the numbers that `apply` gives.

        Returns
        -------
        lower : ndarray of shape (n_cells, n_features)
            The lower corner of every cell.
        upper : ndarray of shape (n_cells, n_features)
            The upper corner of every cell.
        """
        check_is_fitted(self)
        return self._cells().boxes()
