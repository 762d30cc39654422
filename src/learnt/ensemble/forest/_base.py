"""What all forests share: validation, the samples, the trees on the pool, and the methods that read the trees."""

from __future__ import annotations

import sys
import threading
import warnings
from functools import partial
from typing import Any, Self

import numpy as np
from scipy import sparse
from sklearn.exceptions import DataConversionWarning, NotFittedError

from learnt.engine.arrays import is_lazy
from learnt.engine.columns import require_same_columns
from learnt.engine.documentation import Documented
from learnt.engine.estimator import takes_of
from learnt.engine.finite import rows_as_given
from learnt.engine.matrices import dense, dense_parts, join
from learnt.engine.mixins import BaseEstimator, MultiOutputMixin
from learnt.engine.params import ParameterError, check_choice, check_flag, check_number
from learnt.engine.progress import CallbackSupportMixin, fit_loop, with_callbacks
from learnt.engine.random import random_state_of
from learnt.engine.single import refuse_sparse_missing, require_float32
from learnt.engine.targets import require_same_length
from learnt.engine.threads import run_tasks, thread_count
from learnt.engine.validation import NOT_FITTED, check_fit, check_predict, check_same_columns, refuse_elsewhere
from learnt.engine.weights import RowIndex, absent_rows, scatter_rows, take_rows, without_absent
from learnt.ensemble._common import names_categories, row_count
from learnt.ensemble.forest._growth import Grower, max_features_of
from learnt.ensemble.forest._lazy import loaded, table_of
from learnt.ensemble.forest._members import empty_tree, tree_estimator
from learnt.ensemble.forest._sampling import Sampling, sample_size
from learnt.forestry import Categories, ChosenRows, Grove, Tree

MAX_SEED = np.iinfo(np.int32).max
SPARSE_CELLS = 1 << 22  # of a sparse table made dense at a time


class BaseForest(MultiOutputMixin, CallbackSupportMixin, Documented, BaseEstimator):
    """A forest: trees grown on samples of the rows, each split looking at some of the columns."""

    _random_splits = False
    _keeps_targets = False  # those of the rows in each leaf
    n_estimators: int
    n_features_in_: int
    n_outputs_: int
    grove_: Grove
    seeds_: np.ndarray
    _importance_sum: np.ndarray
    _sample: dict[str, Any]
    _categories: Categories | None

    @with_callbacks
    def fit(self, X: Any, y: Any, sample_weight: Any = None) -> Self:
        """Grow the forest on X of shape (n, d) and y of shape (n,) or (n, n_outputs).

        Parameters
        ----------
        y : array-like of shape (n_samples,) or (n_samples, n_outputs)
            The target of each row, one column for each output; labels of any kind for classifiers, numbers for
            regressors.
        sample_weight : array-like of shape (n_samples,), default=None
            What each row counts. Rows are drawn in proportion to it, or, without `bootstrap`, weighted by it; None
            counts every row once.
        """
        self._check_parameters()
        if self.warm_start and hasattr(self, "grove_"):
            check_same_columns(self, X)
        if is_lazy(X) and takes_of(self).lazy:
            X, y, sample_weight = loaded(self, X, y, sample_weight)
        given, X, y, w, present = self._table(X, y, sample_weight)
        with rows_as_given(present):
            targets = self._targets(y, X)
        weights = self._weights(targets, w)
        known = self._known_trees()
        sampling = self._sampling(X.shape[0], weights)
        seeds = random_state_of(self.random_state).randint(MAX_SEED, size=self.n_estimators)[known:]
        if len(seeds):
            self._grow(X, y, targets, sampling, seeds, known)
        else:
            warnings.warn("Warm-start fitting without increasing n_estimators does not fit new trees.", stacklevel=2)
        self._remember_sample(sampling, given, present)
        if self.oob_score and (len(seeds) or not hasattr(self, "oob_score_")):
            self._score_left_out(X, targets, sampling, partial(self._with_absent, given, present))
        self._finish(X, targets, sampling)
        return self

    # --- the steps of fit

    def _check_parameters(self) -> None:
        check_number(self, "n_estimators", 1, integer=True)
        check_choice(self, "criterion", self._criteria)
        check_number(self, "max_depth", 1, integer=True, also=(None,))
        check_number(self, "max_leaf_nodes", 2, integer=True, also=(None,))
        check_number(self, "min_weight_fraction_leaf", 0, 0.5)
        check_number(self, "min_impurity_decrease", 0)
        check_number(self, "ccp_alpha", 0)
        _check_count(self, "min_samples_split", 2)
        _check_count(self, "min_samples_leaf", 1)
        _check_max_features(self)
        check_flag(self, "bootstrap", "warm_start")
        if not callable(self.oob_score) or isinstance(self.oob_score, type):
            check_flag(self, "oob_score")
        thread_count(self.n_jobs)
        check_number(self, "verbose", 0)
        if isinstance(self.max_samples, float | np.floating):
            check_number(self, "max_samples", 0, sys.float_info.max, open_low=True)
        else:
            check_number(self, "max_samples", 1, integer=True, also=(None,))
        check_choice(self, "splitter", ("auto", "exact", "binned"))
        if not self.bootstrap and self.max_samples is not None:
            raise ValueError(
                "`max_samples` cannot be set if `bootstrap=False`: set `bootstrap=True` or `max_samples=None`."
            )
        if not self.bootstrap and self.oob_score:
            raise ValueError(
                "Out of bag estimation only available if bootstrap=True, where every tree leaves rows out."
            )

    def _table(self, X: Any, y: Any, sample_weight: Any) -> tuple[Any, Any, Any, Any, RowIndex]:
        """The table as it was given; X, y and weights of the rows of weight above 0, and the numbers of these."""
        if is_lazy(X) and takes_of(self).lazy:
            codes, given, w, present = table_of(self, X, sample_weight)
            if y is not None and len(y) != given.shape[0]:
                require_same_length(given, np.asarray(y))
            return given, codes, y if present is None else take_rows(y, present), w, present
        given = X
        X, y, sample_weight, present = without_absent(X, y, sample_weight)
        with rows_as_given(present):
            X, _, w = check_fit(
                self, self._learn_categories(X), y, sample_weight, accept_sparse=True, allow_nan=True, any_cells=False
            )
            return given, self._single(X), y, w, present

    def _learn_categories(self, X: Any) -> Any:
        """X with codes in place of categories."""
        refuse_elsewhere(X, type(self).__name__)
        self._categories = None
        if self.categorical_features is not None:
            if sparse.issparse(X) and names_categories(self):
                raise ValueError(
                    f"categorical_features of {type(self).__name__} needs a dense table or a data frame, and X is "
                    "sparse; use X.toarray()."
                )
            self._categories = Categories.learn(self.categorical_features, X, type(self).__name__)
        return X if self._categories is None else self._categories.encode(X)

    def _single(self, X: Any) -> Any:
        """X in float32, in which trees compare; infinities and what it cannot hold are refused."""
        require_float32(X, type(self).__name__)
        refuse_sparse_missing(X, type(self).__name__)
        return X.astype(np.float32, copy=False)

    def _known_trees(self) -> int:
        if not self.warm_start or not hasattr(self, "grove_"):
            for name in ("oob_score_", "oob_prediction_", "oob_decision_function_"):
                self.__dict__.pop(name, None)
            return 0
        if self.n_estimators < self.grove_.n_trees:
            raise ValueError(
                f"n_estimators={self.n_estimators} must be larger or equal to len(estimators_)={self.grove_.n_trees} "
                "when warm_start==True; trees are only ever added."
            )
        return self.grove_.n_trees

    def _sampling(self, n: int, weights: np.ndarray | None) -> Sampling:
        if weights is not None and not weights.sum() > 0:
            raise ValueError(
                "sample_weight is 0 in every row, so there is nothing to learn from; give some rows weight."
            )
        size = sample_size(self.max_samples, n, weights, stacklevel=5) if self.bootstrap else None
        return Sampling(n, size, weights)

    def _grow_trees(self, X: Any, y: Any, targets: np.ndarray, sampling: Sampling, seeds: np.ndarray) -> list[Any]:
        """What was grown from each seed; the table that all trees share is gone when this returns."""
        grower = Grower(self, X, targets, sampling)
        lock = threading.Lock()
        stopped = threading.Event()
        with fit_loop(self, len(seeds), X, y) as loop:

            def task(seed: int) -> Any:
                if stopped.is_set():
                    return None
                grown = grower.grow(seed)
                with lock:
                    if loop.step():
                        stopped.set()
                return grown

            return run_tasks([partial(task, int(seed)) for seed in seeds], n_jobs=self.n_jobs)

    def _grow(self, X: Any, y: Any, targets: np.ndarray, sampling: Sampling, seeds: np.ndarray, known: int) -> None:
        results = self._grow_trees(X, y, targets, sampling, seeds)
        grown = [result for result in results if result is not None]  # a callback may have stopped the fit
        groves = run_tasks([result.grove for result in grown], n_jobs=self.n_jobs)
        if known:
            groves.insert(0, self.grove_)
        self._keep_grown([result.samples for result in grown], groves, known)
        self.grove_ = Grove.join(groves, self.n_jobs)
        old_seeds = self.seeds_ if known else np.empty(0, np.int64)
        kept = [seed for seed, result in zip(seeds, results, strict=True) if result is not None]
        self.seeds_ = np.concatenate([old_seeds, np.asarray(kept, dtype=np.int64)])
        self._add_importances([result.importances for result in grown], known)

    def _add_importances(self, new: list[np.ndarray | None], known: int) -> None:
        split = [part for part in new if part is not None]  # trees of one leaf say nothing
        old = self._importance_sum if known else np.zeros(self.n_features_in_)
        self._importance_sum = old + np.sum(split, axis=0) if split else old

    def _category_counts(self, d: int) -> np.ndarray | None:
        """How many categories each column has; None without any."""
        return None if self._categories is None else self._categories.counts(d)

    def _keep_grown(self, samples: list[Any], groves: list[Grove], known: int) -> None:
        """What a kind of forest keeps beside the trees."""

    def _finish(self, X: Any, targets: np.ndarray, sampling: Sampling) -> None:
        """What is left to do once the trees are there."""

    def _remember_sample(self, sampling: Sampling, given: Any, present: RowIndex) -> None:
        """Which rows of the table that was given the trees have seen."""
        n, weights = sampling.n, sampling.weights
        if weights is not None and present is not None:
            n = row_count(given, type(self).__name__)
            weights = scatter_rows(weights, present, n, 0.0)
        self._sample = {"n": n, "size": sampling.size, "weights": weights}

    def _with_absent(self, given: Any, present: RowIndex, unseen: np.ndarray) -> np.ndarray:
        """What unseeing trees say, of every row that was given: of rows of weight 0 all trees."""
        if present is None:
            return unseen
        n = self._sample["n"]
        if isinstance(given, ChosenRows):
            absent = given.rows.take(np.flatnonzero(absent_rows(present, n))).astype(np.float32)
        else:
            absent = self._rows(take_rows(given, absent_rows(present, n)))
        return scatter_rows(unseen, present, n, self._sum_of_trees(absent) / self.grove_.n_trees)

    # --- methods that read the trees

    def _max_features(self, d: int) -> int:
        return max_features_of(self, d)

    def __sklearn_is_fitted__(self) -> bool:
        return hasattr(self, "grove_")

    def _require_fit(self) -> None:
        if "grove_" not in vars(self):
            raise NotFittedError(NOT_FITTED % {"name": type(self).__name__})

    @property
    def feature_importances_(self) -> np.ndarray:
        """Each column's share in the decrease of impurity, averaged over trees; 0 everywhere without a split."""
        self._require_fit()
        total = self._importance_sum.sum()
        return self._importance_sum / total if total > 0 else np.zeros(self.n_features_in_)

    def _rows(self, X: Any) -> Any:
        self._require_fit()
        if self._categories is not None:
            refuse_elsewhere(X, type(self).__name__)
            require_same_columns(self, X)
            X = self._categories.encode(X)
        return self._single(check_predict(self, X, accept_sparse=True, lazy=False, allow_nan=True, any_cells=False))

    def _sum_of_trees(self, X: Any, first: int = 0, last: int | None = None) -> np.ndarray:
        """Σ over trees of the values of the leaves, (n, n_outputs · n_classes)."""
        return join([self.grove_.sum(part, first, last) for part in dense_parts(X, SPARSE_CELLS)])

    def apply(self, X: Any) -> np.ndarray:
        """The number of the leaf of every row in every tree, (n, n_estimators).

        Returns
        -------
        leaves : ndarray of shape (n_samples, n_estimators)
            The number of the leaf that each row ends in, tree by tree.
        """
        X = self._rows(X)
        return join([self.grove_.apply(part) for part in dense_parts(X, SPARSE_CELLS)])

    def decision_path(self, X: Any) -> tuple[sparse.csr_matrix, np.ndarray]:
        """Which nodes every row passes: a sparse indicator matrix, and where the columns of each tree begin in it.

        Returns
        -------
        path : csr_matrix of shape (n_samples, n_nodes)
            1 where the row passes the node; the nodes of all trees side by side.
        starts : ndarray of shape (n_estimators + 1,)
            The columns `starts[t]` to `starts[t + 1]` belong to tree t.
        """
        X = self._rows(X)
        X = dense(X)
        paths = [tree.decision_path(X) for tree in self._trees()]
        starts = np.concatenate([[0], np.cumsum([path.shape[1] for path in paths])])
        return sparse.hstack(paths).tocsr(), starts

    @property
    def estimators_(self) -> list[Any]:
        """The trees as estimators; they predict codes of classes, as in scikit-learn."""
        if not hasattr(self, "grove_"):
            raise AttributeError(f"{type(self).__name__} has no estimators_ before fit.")
        return self.grove_.views(self._tree_estimators)

    def _tree_estimators(self) -> list[Any]:
        return [tree_estimator(self, t) for t in range(self.grove_.n_trees)]

    @property
    def estimator(self) -> Any:
        """A tree with the parameters of the forest; it cannot be set."""
        return empty_tree(self)

    @property
    def estimator_(self) -> Any:
        """A tree with the parameters of the forest."""
        return empty_tree(self)

    def _trees(self) -> list[Tree]:
        return [self.grove_.tree(t) for t in range(self.grove_.n_trees)]

    @property
    def estimators_samples_(self) -> list[np.ndarray]:
        """The rows that each tree was grown on, as often as they were drawn."""
        sampling = Sampling(**self._sample)
        return [sampling.indices(int(seed)) for seed in self.seeds_]

    def __len__(self) -> int:
        return len(self.estimators_)

    def __iter__(self) -> Any:
        return iter(self.estimators_)

    def __getitem__(self, index: Any) -> Any:
        return self.estimators_[index]

    def __sklearn_tags__(self) -> Any:
        tags = super().__sklearn_tags__()
        tags.input_tags.sparse = True
        tags.input_tags.allow_nan = self.monotonic_cst is None
        return tags


class PredictingForest(BaseForest):
    """A forest of a target, whose predictions can be explained."""

    def contributions(self, X: Any) -> np.ndarray:
        """What every column adds to the prediction of every row: exact Shapley values.

        The probability of the second of two classes or of each class, or the predicted number, is explained. A column
        whose value is not known goes both ways at its splits, in proportion to the training rows.

        Returns
        -------
        contributions : ndarray of shape (n_samples, n_features + 1) or (n_samples, n_classes, n_features + 1)
            What each column adds, for each class where there are three or more. A row adds up to the prediction; the
            last column is the expected prediction of the training rows.
        """
        X = self._rows(X)
        if getattr(self, "n_outputs_", 1) > 1:
            raise ValueError(
                f"contributions of {type(self).__name__} are for one output; y had {self.n_outputs_} columns."
            )
        second = 1 if self.grove_.width == 2 else None
        out = join([self.grove_.contributions(part, second) for part in dense_parts(X, SPARSE_CELLS)])
        return out[:, 0] if out.shape[1] == 1 else out


def target_columns(y: Any, X: Any, name: str) -> np.ndarray:
    """y as (n, n_outputs), refused where it is not there, sparse or of another length."""
    if y is None:
        raise ValueError(f"This {name} estimator requires y to be passed, but the target y is None.")
    if sparse.issparse(y):
        raise ValueError(f"sparse multilabel-indicator for y is not supported by {name}; use y.toarray().")
    y = np.asarray(y)
    if y.ndim == 2 and y.shape[1] == 1:
        warnings.warn(
            "A column-vector y was passed when a 1d array was expected. Please change the shape of y to (n_samples,), "
            "for example using ravel().",
            DataConversionWarning,
            stacklevel=4,
        )
    if y.ndim not in (1, 2) or (y.ndim == 2 and y.shape[1] == 0):
        raise ValueError(f"y has the shape {y.shape}, and {name} needs (n,) or (n, n_outputs); reshape it.")
    require_same_length(X, y)
    return y.reshape(len(y), -1)


def _check_count(estimator: Any, name: str, low: int) -> None:
    """A number of rows, or a share of all rows."""
    value = getattr(estimator, name)
    if isinstance(value, float | np.floating):
        check_number(estimator, name, 0, 1, open_low=True)
        if low == 1 and value == 1.0:
            raise ParameterError(f"The {name!r} parameter of {type(estimator).__name__} must be less than 1. Got 1.0.")
    else:
        check_number(estimator, name, low, integer=True)


def _check_max_features(estimator: Any) -> None:
    value = estimator.max_features
    if isinstance(value, float | np.floating):
        check_number(estimator, "max_features", 0, 1, open_low=True)
    else:
        check_number(estimator, "max_features", 1, integer=True, also=("sqrt", "log2", None))
