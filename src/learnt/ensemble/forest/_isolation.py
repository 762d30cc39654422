"""Isolation forests: outliers are the rows that few random cuts part from the others."""

from __future__ import annotations

import warnings
from functools import partial
from numbers import Integral
from typing import Any

import numpy as np
from sklearn.utils.validation import check_is_fitted

from learnt.engine.estimator import Estimator, Takes, Trial, Warm
from learnt.engine.matrices import dense_parts, join, take_rows
from learnt.engine.mixins import OutlierMixin
from learnt.engine.params import check_flag, check_number, check_verbose
from learnt.engine.progress import task
from learnt.engine.random import borrowed, first_seed, random_state_of
from learnt.engine.schema import FEATURES, Schema, count, integers, number
from learnt.engine.single import refuse_sparse_missing, require_float32
from learnt.engine.threads import run_tasks, thread_count
from learnt.engine.validation import check_fit, check_predict, check_same_columns
from learnt.engine.weights import RowIndex, present_rows, rows_given, scatter_rows
from learnt.ensemble._common import Members
from learnt.ensemble.forest._base import MAX_SEED, SPARSE_CELLS
from learnt.ensemble.forest._path_lengths import depth_limit, isolation_score, isolation_tree, over_columns
from learnt.ensemble.forest._sampling import draw_apart, draw_weighted
from learnt.ensemble.forest._schema import grove_check, sample_check
from learnt.forestry import Grove, Tree

_AUTO_SAMPLES = 256
_AUTO_OFFSET = -0.5  # the score of a row whose path has the expected length


def _rule(model: Any, state: dict[str, Any], dims: dict[str, int]) -> str | None:
    classes = state["grove_"].n_classes
    if len(classes) != 1 or classes[0] != 1:
        return "has trees of something else than path lengths"
    if state["_columns_each"] > dims["d"]:
        return "draws more columns than there are"
    if not state["_sample"]["size"] == state["max_samples_"] <= state["_sample"]["n"]:
        return "draws other numbers of rows than it says"
    return None


class IsolationForest(OutlierMixin, Members, Estimator):
    """Outliers are parted from the other rows by few random cuts (Liu, Ting and Zhou, 2008).

        score(x) = 2^(−E[h(x)] / c(n)),    c(n) = 2 H(n − 1) − 2 (n − 1)/n

    Each tree cuts n rows drawn at random, again and again: a random column, a random place between the least and the
    largest value there, down to ⌈log₂ n⌉ cuts. h(x) is the number of cuts above the leaf of x, plus c(rows of the leaf)
    for those that were not made; c(n) is its expectation. No distances are computed, so that columns need no scaling.

    Parameters
    ----------
    n_estimators : int, default=100
        Number of trees. Scores settle at about 100.
    max_samples : "auto", int or float, default="auto"
        How many rows are drawn for each tree: a number, a share of all (float), or at most 256 ("auto"). Small samples
        find outliers best, since clusters of them are thinned out; more are needed only where the usual rows have much
        structure.
    contamination : "auto" or float, default="auto"
        The share of outliers among the training rows, more than 0 and at most 0.5; it moves the threshold of `predict`
        and changes no score. "auto": a row is an outlier where its path is shorter than expected of random rows.
    max_features : int or float, default=1.0
        How many columns each tree is given, drawn at random: a number, or a share (float). Fewer help where many
        columns say nothing.
    bootstrap : bool, default=False
        Whether rows are drawn with replacement.
    n_jobs : int or None, default=None
        Number of threads; None or -1 takes all that this process may use. The forest is the same whatever their number.
    random_state : int, RandomState, Generator or None, default=None
        Draws the rows, columns and cuts; an integer gives scikit-learn's. Pass one for the same forest every time.
    verbose : int, default=0
        Has no effect; kept for scikit-learn's signature. `learnt.engine.progress.show` shows progress.
    warm_start : bool, default=False
        Whether the next `fit` keeps the trees that are there and adds what is missing to `n_estimators`, instead of
        starting afresh.

    Attributes
    ----------
    offset_ : float
        Rows whose `score_samples` is below it are outliers: -0.5, or what `contamination` gives.
    max_samples_ : int
        Number of rows drawn for each tree.
    estimators_ : list of ExtraTreeRegressor
        The trees; each predicts the length of a row's path, from the columns that it was given.
    estimators_features_ : list of ndarray
        The columns of each tree.
    estimators_samples_ : list of ndarray
        The rows of each tree, drawn again from its seed when asked for.
    estimator_ : ExtraTreeRegressor
        A tree, not fitted, with the settings of the forest's.
    grove_ : Grove
        All trees in one set of arrays.
    seeds_ : ndarray of shape (n_estimators,)
        The seed of each tree.

    See Also
    --------
    learnt.neighbors.LocalOutlierFactor : Finds rows that are sparse beside their neighbours.
    learnt.svm.OneClassSVM : Draws a boundary around the usual rows.
    learnt.covariance.EllipticEnvelope : For rows that are about normally distributed.

    Notes
    -----
    Growth takes about `n_estimators` · `max_samples` · log(`max_samples`) steps, whatever the number of rows; to score
    a row takes one comparison for each tree and level. Rows are drawn in proportion to `sample_weight`. No outliers are
    needed among the training rows.

    References
    ----------
    .. [1] F. T. Liu, K. M. Ting and Z.-H. Zhou, "Isolation forest", ICDM, 2008.

    Examples
    --------
    >>> X = [[-1.1], [0.3], [0.5], [100.0]]
    >>> model = IsolationForest(random_state=0).fit(X)
    >>> model.predict([[0.1], [0.0], [90.0]])
    array([ 1,  1, -1])
    """

    __learnt_schema__ = Schema(
        state={
            **FEATURES,
            "grove_": grove_check,
            "seeds_": integers("t", below=2**32),
            "max_samples_": count(1, 2**31 - 1),
            "offset_": number(-1, 0),
            "_sample": sample_check,
            "_columns_each": count(1),
        },
        rule=_rule,
    )
    __learnt_takes__ = Takes(sparse=True, missing=True)
    __learnt_trial__ = Trial(
        quick={"n_estimators": 10, "random_state": 0},
        warmup=(Warm("none", {"n_estimators": 2}), Warm("none", {"n_estimators": 2, "bootstrap": True})),
        members="n_estimators",
        weighted=({"bootstrap": True}, {"contamination": 0.1}),
        any_order=False,  # rows are drawn by their numbers
        weight_repeats=False,
    )

    grove_: Grove
    seeds_: np.ndarray
    _sample: dict[str, Any]

    def __init__(
        self,
        *,
        n_estimators: int = 100,
        max_samples: Any = "auto",
        contamination: Any = "auto",
        max_features: int | float = 1.0,
        bootstrap: bool = False,
        n_jobs: int | None = None,
        random_state: Any = None,
        verbose: int = 0,
        warm_start: bool = False,
    ) -> None:
        self.n_estimators = n_estimators
        self.max_samples = max_samples
        self.contamination = contamination
        self.max_features = max_features
        self.bootstrap = bootstrap
        self.n_jobs = n_jobs
        self.random_state = random_state
        self.verbose = verbose
        self.warm_start = warm_start

    def fit(self, X: Any, y: Any = None, sample_weight: Any = None) -> IsolationForest:
        """Grow the trees on X of shape (n, d).

        Parameters
        ----------
        sample_weight : array-like of shape (n_samples,), default=None
            Rows are drawn in proportion to it; None draws all alike.
        """
        self._check_params()
        known = self.grove_.n_trees if self.warm_start and hasattr(self, "grove_") else 0
        if known:
            check_same_columns(self, X)
        present = present_rows(sample_weight, X)
        X, _, w = check_fit(self, X, None, sample_weight)
        _require_comparable(X, type(self).__name__)
        self._plan(X.shape, w, present, rows_given(sample_weight))
        seeds = self._new_seeds(known)
        if len(seeds):
            self._grow(X, present, seeds, known)
        self.offset_ = _AUTO_OFFSET
        if not isinstance(self.contamination, str):
            self.offset_ = float(np.percentile(self._scores(X), 100.0 * self.contamination))
        return self

    # --- the steps of fit

    def _check_params(self) -> None:
        check_number(self, "n_estimators", 1, integer=True)
        check_number(self, "contamination", 0, 0.5, open_low=True, also=("auto",))
        for name, also in (("max_samples", ("auto",)), ("max_features", ())):
            value = getattr(self, name)
            if isinstance(value, Integral) and not isinstance(value, bool):
                check_number(self, name, 1, integer=True)
            else:
                check_number(self, name, 0.0, 1.0, open_low=True, also=also)
        check_flag(self, "bootstrap", "warm_start")
        check_verbose(self)
        thread_count(self.n_jobs)

    def _plan(self, shape: tuple[int, int], w: np.ndarray | None, present: RowIndex, n_given: int) -> None:
        """How many rows and columns each tree gets; rows are drawn by their numbers in the table that was given."""
        n, d = shape
        size: Any = self.max_samples
        if isinstance(size, str):
            size = min(_AUTO_SAMPLES, n)
        elif isinstance(size, Integral):
            size = int(size)
            if size > n:
                warnings.warn(
                    f"max_samples ({size}) is greater than the total number of samples ({n}). max_samples will be set "
                    "to n_samples for estimation: each tree is grown on all rows.",
                    stacklevel=3,
                )
            size = min(size, n)
        else:
            size = max(1, int(size * n))
        share = int(self.max_features if isinstance(self.max_features, Integral) else self.max_features * d)
        if share > d:
            raise ValueError(
                f"max_features must be <= n_features; it is {share} and X has {d}: lower it, or pass a share."
            )
        self._columns_each = max(1, share)
        self.max_samples_ = int(size)
        n_rows = n if present is None else n_given
        weights = None if w is None else scatter_rows(np.asarray(w, dtype=np.float64), present, n_rows, 0.0)
        self._sample = {"n": n_rows, "size": self.max_samples_, "weights": weights}

    def _new_seeds(self, known: int) -> np.ndarray:
        if self.n_estimators < known:
            raise ValueError(
                f"n_estimators={self.n_estimators} must be larger or equal to len(estimators_)={known} when "
                "warm_start==True; trees are only ever added."
            )
        if self.n_estimators == known:
            warnings.warn(
                "Warm-start fitting without increasing n_estimators does not fit new estimators; raise n_estimators.",
                stacklevel=3,
            )
        return random_state_of(self.random_state).randint(MAX_SEED, size=self.n_estimators)[known:]

    def _grow(self, X: Any, present: RowIndex, seeds: np.ndarray, known: int) -> None:
        d = X.shape[1]
        depth = depth_limit(self.max_samples_)
        with task(f"{type(self).__name__} fit", len(seeds)) as bar:

            def grow(seed: int) -> Tree:
                columns, drawn = self._draw(seed)
                rows, counts = np.unique(drawn, return_counts=True)
                part = take_rows(X, rows if present is None else np.searchsorted(present, rows))
                part = part if len(columns) == d else part[:, columns]
                weights = counts.astype(np.float64) if len(rows) < len(drawn) else None
                tree = isolation_tree(part, weights, depth, _growth_seed(seed))
                bar.advance()
                return tree if len(columns) == d else over_columns(tree, columns, d)

            trees = run_tasks([partial(grow, int(seed)) for seed in seeds], n_jobs=self.n_jobs)
        new = Grove.of(trees, "squared_error")
        self.grove_ = Grove.join([self.grove_, new], self.n_jobs) if known else new
        self.seeds_ = np.concatenate([self.seeds_[:known], seeds]) if known else seeds.astype(np.int64)

    def _draw(self, seed: int) -> tuple[np.ndarray, np.ndarray]:
        """The columns and rows of the tree with this seed; scikit-learn's for the same seed."""
        random = borrowed(seed)
        columns = draw_apart(random, self.n_features_in_, self._columns_each)
        n, size, weights = self._sample["n"], self._sample["size"], self._sample["weights"]
        if weights is not None:
            return columns, draw_weighted(random, weights, size, replace=self.bootstrap)
        if self.bootstrap:
            return columns, random.randint(0, n, size)
        return columns, draw_apart(random, n, size)

    # --- answers

    def _scores(self, X: Any) -> np.ndarray:
        """−score of checked rows."""
        X = X.astype(np.float32, copy=False)
        length = join([self.grove_.sum(part) for part in dense_parts(X, SPARSE_CELLS)])
        return -isolation_score(length[:, 0] / self.grove_.n_trees, self.max_samples_)

    def score_samples(self, X: Any) -> np.ndarray:
        """−score of each row: near −1 for outliers, −0.5 where the path has the expected length, above for others.

        Returns
        -------
        scores : ndarray of shape (n_samples,)
            From -1 to 0; the lower, the more unusual the row.
        """
        check_is_fitted(self)
        X = check_predict(self, X)
        _require_comparable(X, type(self).__name__)
        return self._scores(X)

    def decision_function(self, X: Any) -> np.ndarray:
        """`score_samples` less `offset_`: negative for outliers.

        Returns
        -------
        scores : ndarray of shape (n_samples,)
            `score_samples` less `offset_`: below 0 for outliers.
        """
        return self.score_samples(X) - self.offset_

    def predict(self, X: Any) -> np.ndarray:
        """−1 for outliers, 1 for the other rows."""
        return np.where(self.decision_function(X) < 0, -1, 1)

    # --- the trees

    def __sklearn_is_fitted__(self) -> bool:
        return hasattr(self, "grove_")

    @property
    def estimators_(self) -> list[Any]:  # type: ignore[override]
        """The trees as estimators that predict path lengths."""
        if not hasattr(self, "grove_"):
            raise AttributeError(f"{type(self).__name__} has no estimators_ before fit.")
        return self.grove_.views(self._tree_estimators)

    @property
    def estimators_features_(self) -> list[np.ndarray]:
        """The columns that each tree was given."""
        check_is_fitted(self)
        return [self._draw(int(seed))[0] for seed in self.seeds_] if self._parts_columns() else self._all_columns()

    @property
    def estimators_samples_(self) -> list[np.ndarray]:
        """The rows that each tree was grown on, drawn again from its seed."""
        check_is_fitted(self)
        return [self._draw(int(seed))[1] for seed in self.seeds_]

    @property
    def estimator_(self) -> Any:
        """A tree with the settings of the forest's."""
        check_is_fitted(self)
        return self._empty_tree(None)

    def _parts_columns(self) -> bool:
        return self._columns_each < self.n_features_in_

    def _all_columns(self) -> list[np.ndarray]:
        return [np.arange(self.n_features_in_)] * self.grove_.n_trees

    def _empty_tree(self, random_state: Any) -> Any:
        from learnt.tree import ExtraTreeRegressor

        depth = depth_limit(self.max_samples_)
        return ExtraTreeRegressor(max_features=1, splitter="random", max_depth=depth, random_state=random_state)

    def _tree_estimators(self) -> list[Any]:
        columns = self.estimators_features_
        return [self._tree_estimator(t, columns[t]) for t in range(self.grove_.n_trees)]

    def _tree_estimator(self, t: int, columns: np.ndarray) -> Any:
        model = self._empty_tree(first_seed(int(self.seeds_[t])))
        tree = self.grove_.tree(t)
        if self._parts_columns():
            places = np.zeros(self.n_features_in_, dtype=np.int64)
            places[columns] = np.arange(len(columns))
            tree = over_columns(tree, places, len(columns))
        model.tree_ = tree
        model._categories = None
        model.n_features_in_ = len(columns)
        model.n_outputs_ = 1
        model.max_features_ = 1
        return model


def _growth_seed(seed: int) -> int:
    """The seed of a tree's cuts: its estimator draws it from a `random_state` that the forest draws from `seed`."""
    return first_seed(first_seed(seed))


def _require_comparable(X: Any, name: str) -> None:
    """Trees compare in single precision, and take missing values in dense tables."""
    require_float32(X, name)
    refuse_sparse_missing(X, name)
