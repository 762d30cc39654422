"""What both classical gradient boosting estimators share."""

from __future__ import annotations

import warnings
from collections.abc import Callable, Iterator
from typing import Any

import numpy as np
from scipy import sparse
from sklearn.model_selection import train_test_split
from sklearn.utils.validation import check_is_fitted

from learnt.engine.documentation import Documented
from learnt.engine.matrices import dense_parts
from learnt.engine.mixins import BaseEstimator, clone
from learnt.engine.params import ParameterError, check_choice, check_flag, check_number, check_verbose
from learnt.engine.progress import CallbackSupportMixin, fit_loop
from learnt.engine.random import entropy, random_state_of
from learnt.engine.single import require_float32
from learnt.engine.validation import check_fit, check_predict, check_same_columns
from learnt.engine.verbose import tell
from learnt.ensemble.gradient_boosting._losses import HuberError, leaf_updates
from learnt.ensemble.gradient_boosting._rows import rows_in_bag
from learnt.ensemble.hist_boosting._losses import BinaryLog, BoostingLoss, SquaredError
from learnt.forestry import (
    BoostedTrees,
    Columns,
    Growth,
    HistogramGrower,
    Tree,
    bin_in_single,
    from_grown,
    from_tree,
    grow_in_scale,
    prune_by_cost,
)
from learnt.tree import DecisionTreeRegressor

_BINNED_ROWS = 20_000  # rows from which bins of equal weight save much time at no measurable loss
_HUGE = float(np.finfo(np.float64).max)
_BLOCK = 1 << 14
_OF_TREES = (
    "max_depth", "min_samples_split", "min_samples_leaf", "min_weight_fraction_leaf", "min_impurity_decrease",
    "max_leaf_nodes", "max_features", "ccp_alpha", "learning_rate",
)  # fmt: skip

_MOST_COUNTED = 2.0**24  # rows; of weights that count none, as many digits are kept as of these


class GradientBoosting(CallbackSupportMixin, Documented, BaseEstimator):
    """Boosting of least-squares trees; what differs between numbers and classes is in the two subclasses."""

    n_features_in_: int
    _target: str
    _settings: dict[int, dict[str, Any]]

    def _loss_for(self, y: np.ndarray) -> BoostingLoss:
        raise NotImplementedError

    def _encode_target(self, y: np.ndarray, fresh: bool) -> np.ndarray:
        raise NotImplementedError

    def _given_start(self, X: Any, init: Any) -> np.ndarray:
        raise NotImplementedError

    def _check_params(self) -> None:
        check_number(self, "learning_rate", 0, _HUGE)
        check_number(self, "n_estimators", 1, integer=True)
        check_number(self, "subsample", 0, 1, open_low=True)
        check_number(self, "min_weight_fraction_leaf", 0, 0.5)
        check_number(self, "max_depth", 1, integer=True, also=(None,))
        check_number(self, "min_impurity_decrease", 0, _HUGE)
        check_number(self, "max_leaf_nodes", 2, integer=True, also=(None,))
        check_number(self, "n_iter_no_change", 1, integer=True, also=(None,))
        check_number(self, "validation_fraction", 0, np.nextafter(1, 0), open_low=True)
        check_number(self, "tol", 0, _HUGE)
        check_number(self, "ccp_alpha", 0, _HUGE)
        check_choice(self, "splitter", ("auto", "exact", "binned"))
        check_choice(self, "criterion", ("deprecated", "friedman_mse", "squared_error"))
        if self.criterion != "deprecated":
            warnings.warn(
                f"The 'criterion' parameter of {type(self).__name__} has no effect and is deprecated; leave it out.",
                FutureWarning,
                stacklevel=4,
            )
        check_flag(self, "warm_start")
        check_verbose(self)
        for name, least in (("min_samples_split", 2), ("min_samples_leaf", 1)):
            is_count = isinstance(getattr(self, name), int | np.integer)
            check_number(self, name, least if is_count else 0, None if is_count else 1, open_low=not is_count)
        init = self.init
        model = hasattr(init, "fit") and not isinstance(init, type)
        if not (init is None or (isinstance(init, str) and init == "zero") or model):
            answers = "predict_proba" if self._target == "label" else "predict"
            raise ParameterError(
                f"The 'init' parameter of {type(self).__name__} must be a str among {{'zero'}}, None or an object "
                f"implementing 'fit' and {answers!r}. Got {init!r} instead."
            )

    def _max_features(self, d: int) -> int:
        given = self.max_features
        if given is None:
            return d
        if isinstance(given, str) and given in ("sqrt", "log2"):
            return max(1, int(np.sqrt(d) if given == "sqrt" else np.log2(d)))
        if isinstance(given, int | np.integer) and not isinstance(given, bool) and given >= 1:
            return min(int(given), d)
        if isinstance(given, float | np.floating) and 0 < given <= 1:
            return max(1, int(given * d))
        raise ParameterError(
            f"The 'max_features' parameter of {type(self).__name__} must be None, 'sqrt', 'log2', a whole number of at "
            f"least 1 or a share above 0 and at most 1. Got {given!r} instead."
        )

    def _fit(self, X: Any, y: Any, sample_weight: Any, monitor: Callable[..., Any] | None) -> Any:
        self._check_params()
        going_on = bool(self.warm_start and hasattr(self, "_trees"))
        if going_on:
            check_same_columns(self, X)
        X, y, w = check_fit(self, X, y, sample_weight, target=self._target, accept_sparse=True, allow_nan=True)
        require_float32(X, type(self).__name__)
        w = None if w is None or (w == 1).all() else w
        codes = self._encode_target(y, not going_on)
        if not going_on:
            # A given RandomState is used for rows and trees only
            drawn = isinstance(self.random_state, np.random.RandomState)
            self._seed = 0 if drawn else entropy(self.random_state) % (1 << 63)
            self._random = random_state_of(self.random_state)
        elif "_random" not in vars(self):  # a model from a file of an earlier release
            self._random = random_state_of(self._seed % (1 << 32))
            self._settings = {0: {name: getattr(self, name) for name in _OF_TREES}}
        if going_on and self.n_estimators < self._n_iterations:
            raise ValueError(
                f"n_estimators={self.n_estimators} must be larger or equal to the {self._n_iterations} trees that are "
                "there already when warm_start is True."
            )
        held: Any = None
        if self.n_iter_no_change is not None:
            X, y, codes, w, held = self._split(X, y, codes, w)
        loss = self._loss_for(codes)
        self.max_features_ = self._max_features(X.shape[1])
        if not going_on:
            self._begin(X, y, codes, w, loss)
        self._run(X, codes, w, loss, held, monitor)
        return self

    def _split(self, X: Any, y: np.ndarray, codes: np.ndarray, w: Any) -> tuple[Any, ...]:
        """A part of the rows set aside to watch over the fit."""
        stratify = codes if self._target == "label" else None
        again = isinstance(self.random_state, int | np.integer | np.random.RandomState)
        train, kept = train_test_split(
            np.arange(X.shape[0]),
            test_size=self.validation_fraction,
            stratify=stratify,
            random_state=self.random_state if again else self._seed % (1 << 32),
        )
        if stratify is not None and len(np.unique(codes[train])) < len(np.unique(codes)):
            raise ValueError(
                "The training data after the early stopping split is missing some classes; pass more data, or set "
                "n_iter_no_change=None."
            )
        part = (_single(X[kept]), codes[kept], None if w is None else w[kept])
        return X[train], y[train], codes[train], None if w is None else w[train], part

    def _begin(self, X: Any, y: np.ndarray, codes: np.ndarray, w: Any, loss: BoostingLoss) -> None:
        self.n_trees_per_iteration_ = loss.n_outputs
        self._trees = BoostedTrees.empty(X.shape[1], loss.n_outputs)
        self._n_iterations = 0
        self._settings = {}  # from which iteration on trees were grown how
        self._baseline = np.zeros(loss.n_outputs) if self.init == "zero" else loss.start(codes, w)
        self.train_score_ = np.empty(0)
        self.oob_scores_ = self.oob_improvement_ = np.empty(0)
        self.init_ = self.init
        if self.init is not None and self.init != "zero":
            self.init_ = clone(self.init)
            try:
                self.init_.fit(X, y, **({} if w is None else {"sample_weight": w}))
            except (TypeError, ValueError) as error:
                if w is None or "sample_weight" not in str(error):
                    raise
                raise ValueError(
                    f"The initial estimator {type(self.init_).__name__} does not support sample weights; "
                    "pass no sample_weight, or another init."
                ) from error

    def _start(self, X: Any) -> np.ndarray:
        """The scores before the first tree: (n, n_outputs)."""
        if self.init_ is None or isinstance(self.init_, str):
            return np.repeat(self._baseline[None, :], X.shape[0], axis=0)
        return self._given_start(X, self.init_)

    def _run(self, X: Any, y: np.ndarray, w: Any, loss: BoostingLoss, held: Any, monitor: Any) -> None:
        n, binned = X.shape[0], self._binned(X)
        self._settings[self._n_iterations] = {name: getattr(self, name) for name in _OF_TREES}
        # Growing a binned tree also gives the leaf of every training row.
        table = None if binned and self.subsample == 1.0 else _single(X)
        scores = np.ascontiguousarray(self._scores(X if table is None else table).T)
        grow = self._bin_grower(X, w) if binned else self._exact_grower(table, w)
        factor = 2.0 if isinstance(loss, SquaredError | BinaryLog) else 1.0
        in_bag = max(1, int(self.subsample * n))
        history: list[float] = []
        held_scores = None if held is None else np.ascontiguousarray(self._scores(held[0]).T)
        new: list[BoostedTrees] = []
        trained, left_out = self.train_score_.tolist(), self.oob_scores_.tolist()
        improved = self.oob_improvement_.tolist()
        with fit_loop(self, self.n_estimators, X, y) as loop:
            for iteration in range(self._n_iterations, self.n_estimators):
                rows = None
                bag: Any = slice(None)
                if self.subsample < 1.0:
                    mask = rows_in_bag(self._random, n, in_bag)
                    rows, bag, out = np.flatnonzero(mask), mask, ~mask
                    known = len(left_out) == iteration and iteration > 0
                    before = left_out[-1] if known else factor * _mean_loss(loss, y, scores, w, out)
                    for record in (left_out, improved):  # iterations before a warm start had no out-of-bag rows
                        record += [0.0] * (iteration - len(record))
                if isinstance(loss, HuberError):
                    loss.look(y, scores, w)
                shared = loss.prepare(scores)
                for k in range(loss.n_outputs):
                    tree, leaves, values = self._tree(grow, loss, table, y, scores, shared, w, rows, k)
                    new.append(tree)
                    scores[k] += _sum_rows(tree, table)[:, k] if leaves is None else values[leaves]
                    del leaves
                    if held is not None:
                        held_scores[k] += _sum_rows(tree, held[0])[:, k]  # type: ignore[index]
                trained.append(factor * _mean_loss(loss, y, scores, w, bag))
                if rows is not None:
                    left_out.append(factor * _mean_loss(loss, y, scores, w, out))
                    improved.append(before - left_out[-1])
                self._n_iterations = iteration + 1
                if self.verbose:
                    tell("%s iteration %d: loss %.6g", type(self).__name__, iteration + 1, trained[-1])
                if monitor is not None:
                    self._record(new, trained, left_out, improved)
                    new = []
                    if monitor(iteration, self, {"scores": scores}):
                        break
                if held is not None:
                    now = factor * _mean_loss(loss, held[1], held_scores, held[2], slice(None))
                    recent = history[-self.n_iter_no_change :]
                    if len(recent) == self.n_iter_no_change and not any(now + self.tol < past for past in recent):
                        break
                    history.append(now)
                if loop.step():
                    break
        self._record(new, trained, left_out, improved)

    def _record(self, new: list[BoostedTrees], trained: list, left_out: list, improved: list) -> None:
        self._trees = self._trees.extended(new)
        self.n_estimators_ = self._n_iterations
        self.train_score_ = np.array(trained)
        self.oob_scores_, self.oob_improvement_ = np.array(left_out), np.array(improved)

    def _binned(self, X: Any) -> bool:
        """Whether trees are grown from bins, which serve where rows are many, not from exact values."""
        leaf, split = self._least_rows(X.shape[0])
        plain = not (
            sparse.issparse(X)
            or self.min_weight_fraction_leaf
            or self.min_impurity_decrease
            or self.ccp_alpha
            or split > 2 * leaf
        )
        if self.splitter == "binned" and not plain:
            raise ValueError(
                "splitter='binned' takes dense X and no min_weight_fraction_leaf, min_impurity_decrease, ccp_alpha or "
                "min_samples_split beyond twice min_samples_leaf; use splitter='exact'."
            )
        return bool(self.splitter == "binned" or (self.splitter == "auto" and plain and X.shape[0] >= _BINNED_ROWS))

    def _least_rows(self, n: int) -> tuple[int, int]:
        """Of a leaf, and of a node that is split."""
        return _rows_of(self.min_samples_leaf, n), max(2, _rows_of(self.min_samples_split, n))

    def _bin_grower(self, X: np.ndarray, w: Any) -> Callable[..., Any]:
        """How trees are grown from bins."""
        n, d = X.shape
        growth = Growth(
            max_leaf_nodes=self.max_leaf_nodes,
            max_depth=self.max_depth,
            min_samples_leaf=self._least_rows(n)[0],
            min_hessian=0.0,
            max_features=self.max_features_ / d,
        )
        bins, by_column, by_row = bin_in_single(X, w, self._seed)
        grower = HistogramGrower(by_row, by_column, bins, growth, constant_hessian=w is None)
        hessian = np.ones(n) if w is None else w

        def binned(g: np.ndarray, rows: Any, seed: int) -> Any:
            chosen = None if rows is None else rows.astype(np.int32)
            return grower.grow(g if w is None else g * w, hessian, chosen, seed), bins

        return binned

    def _exact_grower(self, X: Any, w: Any) -> Callable[..., Any]:
        """How trees are grown from exact values; the gradients given to it are written over."""
        n, d = X.shape
        leaf, split = self._least_rows(n)
        columns = Columns(X)
        total = float(n) if w is None else float(w.sum())
        # In how many rows of the least weight all weigh: the same in any unit of the weights.
        counts = float(n) if w is None else max(float(n), min(total / float(w.min()), _MOST_COUNTED))

        def exact(g: np.ndarray, rows: Any, seed: int) -> Any:
            weights = w
            if rows is not None:
                weights = np.zeros(n)
                weights[rows] = 1.0 if w is None else w[rows]
            tree = grow_in_scale(
                columns,
                _fixed_point(np.negative(g, out=g), counts),
                criterion="squared_error",
                weights=weights,
                max_features=None if self.max_features_ == d else self.max_features_,
                max_depth=self.max_depth,
                min_samples_split=split,
                min_samples_leaf=leaf,
                min_weight_leaf=self.min_weight_fraction_leaf * total,
                max_leaf_nodes=self.max_leaf_nodes,
                min_impurity_decrease=self.min_impurity_decrease,
                seed=seed,
            )
            return prune_by_cost(tree, self.ccp_alpha) if self.ccp_alpha > 0 else tree, None

        return exact

    def _tree(
        self, grow: Any, loss: BoostingLoss, X: Any, y: np.ndarray, scores: np.ndarray, shared: np.ndarray, w: Any,
        rows: Any, k: int,
    ) -> tuple[BoostedTrees, np.ndarray | None, np.ndarray]:  # fmt: skip
        """One tree for the gradient, its values lowering the loss most; the leaf of every row, if known; the values."""

        def derivatives() -> tuple[np.ndarray, np.ndarray]:
            g, h = np.empty(len(y)), np.empty(len(y))
            loss.gradients(k, y, scores, shared, None, g, h)
            return g, h

        # Growth takes more memory than all else. So it may write over the gradients, which are computed again.
        tree, bins = grow(derivatives()[0], rows, int(self._random.randint(0, 2**31 - 1, dtype=np.int64)))
        g, h = derivatives()
        used = slice(None) if rows is None else rows
        weights = None if w is None else w[used]
        leaves = _apply(tree, X) if bins is None else tree.leaf_of
        n_nodes = tree.node_count if bins is None else len(tree.left)
        values = leaf_updates(loss, leaves[used], n_nodes, y[used], scores[k, used], g[used], h[used], weights)
        values *= self.learning_rate
        if bins is None:
            return from_tree(tree, values, loss.n_outputs, k), leaves, values
        boosted = from_grown([tree], [values], bins, self.n_features_in_, loss.n_outputs, [k])
        return boosted, leaves if rows is None else None, values

    def _scores(self, X: Any) -> np.ndarray:
        """The scores of every row of a checked X: (n, n_outputs)."""
        if self._trees.n_trees == 0 and (self.init_ is None or isinstance(self.init_, str)):
            return self._start(X)
        X = _single(X)
        return _sum_rows(self._trees, X, self._start(X))

    def _checked(self, X: Any) -> Any:
        check_is_fitted(self, "_trees")
        return _single(check_predict(self, X, accept_sparse=True, allow_nan=True))

    def _staged_scores(self, X: Any) -> Iterator[np.ndarray]:
        X = self._checked(X)
        out = self._start(X)
        each = self.n_trees_per_iteration_
        for iteration in range(self.n_estimators_):
            _sum_rows(self._trees, X, out, iteration * each, (iteration + 1) * each)
            yield out.copy()

    def apply(self, X: Any) -> np.ndarray:
        """The leaf of every row in every tree.

        Returns
        -------
        leaves : ndarray of shape (n_samples, n_estimators_) or (n_samples, n_estimators_, n_trees_per_iteration_)
            Numbers of nodes, as floats; three axes for classifiers.
        """
        X = self._checked(X)
        leaves = np.vstack([self._trees.packed.apply(block) for block in _blocks(X)]).astype(np.float64)
        if self._target == "number":
            return leaves
        return leaves.reshape(X.shape[0], self.n_estimators_, self.n_trees_per_iteration_)

    def contributions(self, X: Any) -> np.ndarray:
        """What every column adds to the score of every row: exact Shapley values.

        Returns
        -------
        contributions : ndarray of shape (n_samples, n_features + 1) or (n_samples, n_classes, n_features + 1)
            What each column adds, for each class where there are three or more. A row adds up to the score
            (`decision_function`, or the prediction of a number). The last column is the expected score of the training
            rows; where `init` is an estimator, its prediction for the row is in there.
        """
        X = self._checked(X)
        out = np.concatenate([self._trees.contributions(block) for block in _blocks(X)])
        out[:, :, -1] += self._start(X)
        return out[:, 0] if out.shape[1] == 1 else out

    @property
    def feature_importances_(self) -> np.ndarray:
        """The share of each column in what all splits took off the squared error of the gradients."""
        check_is_fitted(self, "_trees")
        return self._trees.importances()

    @property
    def oob_score_(self) -> float:
        """The last loss of rows that were left out."""
        if not len(self.oob_scores_):
            raise AttributeError("oob_score_ needs subsample < 1: only then are rows left out.")
        return float(self.oob_scores_[-1])

    @property
    def estimators_(self) -> np.ndarray:
        """The trees as `DecisionTreeRegressor`: (n_estimators, n_trees_per_iteration)."""
        check_is_fitted(self, "_trees")
        ends = np.append(self._trees.roots[1:], len(self._trees.left))
        found = np.empty(self._trees.n_trees, dtype=object)
        # A file of an earlier release does not store how its trees were grown.
        grown = vars(self).get("_settings") or {0: {name: getattr(self, name) for name in _OF_TREES}}
        for k, (lo, hi) in enumerate(zip(self._trees.roots, ends, strict=True)):
            iteration = k // self.n_trees_per_iteration_
            settings = dict(grown[max(start for start in grown if start <= iteration)])
            found[k] = _as_regressor(self._trees, int(lo), int(hi), settings.pop("learning_rate") or 1.0)
            found[k].set_params(**settings)
        return found.reshape(self.n_estimators_, self.n_trees_per_iteration_)

    def __len__(self) -> int:
        return len(self.estimators_)

    def __getitem__(self, index: Any) -> np.ndarray:
        return self.estimators_[index]

    def __iter__(self) -> Iterator[np.ndarray]:
        return iter(self.estimators_)

    def __sklearn_tags__(self):
        tags = super().__sklearn_tags__()
        tags.input_tags.sparse = True
        tags.input_tags.allow_nan = True
        return tags


def _as_regressor(trees: BoostedTrees, lo: int, hi: int, rate: float) -> DecisionTreeRegressor:
    """Nodes lo…hi as a tree of its own, values without the learning rate."""
    part = {name: array[lo:hi] for name, array in trees.fields().items() if name not in ("roots", "outputs", "table")}
    leaf = part["feature"] == -1
    value = np.zeros(hi - lo)
    value[leaf] = part["threshold"][leaf] / rate
    cover = part["cover"]
    left = np.where(leaf, -1, part["left"] - lo)
    for node in np.flatnonzero(~leaf)[::-1]:
        a, b = left[node], left[node] + 1
        value[node] = (value[a] * cover[a] + value[b] * cover[b]) / cover[node]
    model = DecisionTreeRegressor()
    model.n_features_in_, model.n_outputs_, model.max_features_ = trees.n_features, 1, trees.n_features
    model._categories = None
    model.tree_ = Tree(
        trees.n_features,
        [1],
        value=value[:, None, None],
        children_left=left,
        children_right=np.where(leaf, -1, left + 1),
        feature=np.where(leaf, -2, part["feature"]),
        threshold=np.where(leaf, -2.0, part["threshold"]),
        missing_go_to_left=np.where(leaf, 0, part["missing_left"]),
        n_node_samples=cover,
        weighted_n_node_samples=cover,
    )
    return model


def _fixed_point(target: np.ndarray, total: float) -> np.ndarray:
    """The target to about eleven digits, such that its sums over `total` rows are exact; written over what is given.

    Splits that part the rows alike then gain the same to the last bit, whichever column they are on and whether a row
    has weight 2 or occurs twice.
    """
    largest = max(-float(target.min()), float(target.max()))
    if largest > 0:
        power = 51 - int(np.frexp(largest)[1]) - int(np.frexp(max(total, 1.0))[1])
        np.ldexp(target, power, out=target)
        np.rint(target, out=target)
        np.ldexp(target, -power, out=target)
    return target


def _single(X: Any) -> Any:
    """X in single precision, in which exact trees compare."""
    return X.astype(np.float32) if X.dtype != np.float32 else X


def _rows_of(given: Any, n: int) -> int:
    """A number of rows, or a share of all."""
    return int(given) if isinstance(given, int | np.integer) else max(1, int(np.ceil(given * n)))


def _blocks(X: Any) -> list[np.ndarray]:
    """X as dense pieces of rows."""
    return dense_parts(X, _BLOCK * X.shape[1])


def _apply(tree: Tree, X: Any) -> np.ndarray:
    found = [tree.apply(block) for block in _blocks(X)]
    return np.concatenate(found) if len(found) > 1 else found[0]


def _sum_rows(trees: BoostedTrees, X: Any, out: Any = None, first: int = 0, last: int | None = None) -> np.ndarray:
    """The sum of trees for every row, added to `out`."""
    if out is None:
        out = np.zeros((X.shape[0], trees.n_outputs))
    at = 0
    for block in _blocks(X):
        trees.packed.sum(block, out=out[at : at + block.shape[0]], first=first, last=last)
        at += block.shape[0]
    return out


def _mean_loss(loss: BoostingLoss, y: np.ndarray, scores: Any, w: Any, rows: Any) -> float:
    if not isinstance(rows, slice) and not rows.any():
        return 0.0
    part = np.ascontiguousarray(scores[:, rows])
    return loss.mean_loss(y[rows], part, None if w is None else w[rows])
