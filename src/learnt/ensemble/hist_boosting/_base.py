"""What both histogram boosting estimators share: checks, the fit around the loop, scores of rows."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import numpy as np
from sklearn.metrics import check_scoring, get_scorer_names
from sklearn.model_selection import train_test_split

from learnt.engine.arrays import is_lazy
from learnt.engine.cells import is_frame
from learnt.engine.columns import require_same_columns
from learnt.engine.documentation import Documented
from learnt.engine.finite import rows_as_given
from learnt.engine.mixins import BaseEstimator
from learnt.engine.params import ParameterError, check_choice, check_flag, check_number, check_verbose
from learnt.engine.progress import CallbackSupportMixin, fit_loop
from learnt.engine.random import first_seed, stream
from learnt.engine.rows import Block
from learnt.engine.threads import single_blas
from learnt.engine.validation import (
    check_fit,
    check_predict,
    check_same_columns,
    check_target,
    check_weights,
    refuse_elsewhere,
)
from learnt.engine.verbose import tell
from learnt.engine.weights import without_absent
from learnt.ensemble._common import names_categories
from learnt.ensemble._lazy import rows_of_model
from learnt.ensemble.hist_boosting._columns import (
    interaction_groups,
    is_cells,
    monotone_signs,
    with_cells,
    with_coded_cells,
)
from learnt.ensemble.hist_boosting._fit import Binned, Booster, should_stop, sums_before
from learnt.ensemble.hist_boosting._lazy import bin_lazy, validate_lazy, validation_codes, validation_rows
from learnt.ensemble.hist_boosting._losses import BoostingLoss
from learnt.forestry import (
    BoostedTrees,
    CodedRows,
    Growth,
    category_codes,
    category_mask,
    find_bins,
    learn_categories,
    sum_of_trees,
    with_codes,
)

_SCORED_ROWS = 10_000  # training rows that a scorer evaluates in every iteration
_TREES_AT_ONCE = 64  # brought into the form that is kept; the sets of categories of more would fill memory
_HUGE = float(np.finfo(np.float64).max)


class HistogramBoosting(CallbackSupportMixin, Documented, BaseEstimator):
    """Boosting of trees on binned columns; what differs between numbers and classes is in the two subclasses."""

    n_features_in_: int
    n_iter_: int
    _target: str
    _trees: BoostedTrees
    _baseline: np.ndarray

    def _loss_for(self, y: np.ndarray) -> BoostingLoss:
        raise NotImplementedError

    def _encode_target(self, y: np.ndarray, fresh: bool) -> np.ndarray:
        raise NotImplementedError

    def _extra_weights(self, y: np.ndarray, w: np.ndarray | None) -> np.ndarray | None:
        return w

    def _check_params(self) -> None:
        check_number(self, "learning_rate", 0, _HUGE, open_low=True)
        check_number(self, "max_iter", 1, integer=True)
        check_number(self, "max_leaf_nodes", 2, integer=True, also=(None,))
        check_number(self, "max_depth", 1, integer=True, also=(None,))
        check_number(self, "min_samples_leaf", 1, integer=True)
        check_number(self, "l2_regularization", 0, _HUGE)
        check_number(self, "l1_regularization", 0, _HUGE)
        check_number(self, "min_hessian", 0, _HUGE)
        check_number(self, "max_features", 0, 1, open_low=True)
        check_number(self, "subsample", 0, 1, open_low=True)
        check_number(self, "max_bins", 2, 255, integer=True)
        check_number(self, "n_iter_no_change", 1, integer=True)
        if isinstance(self.validation_fraction, float):
            check_number(self, "validation_fraction", 0, float(np.nextafter(1.0, 0.0)), open_low=True)
        check_number(self, "validation_fraction", 0, open_low=True, also=(None,))
        check_number(self, "tol", 0, _HUGE)
        check_choice(self, "growth", ("leaf", "depth"))
        check_flag(self, "warm_start")
        if not (isinstance(self.early_stopping, str) and self.early_stopping == "auto"):
            check_flag(self, "early_stopping")
        check_verbose(self)
        scorers = ("loss", *get_scorer_names())
        if not (
            self.scoring is None
            or callable(self.scoring)
            or (isinstance(self.scoring, str) and self.scoring in scorers)
        ):
            raise ParameterError(
                f"The 'scoring' parameter of {type(self).__name__} must be 'loss', None, a function or the name of a "
                f"scorer (sklearn.metrics.get_scorer_names()). Got {self.scoring!r} instead."
            )

    def _fit(self, X: Any, y: Any, sample_weight: Any, X_val: Any, y_val: Any, sample_weight_val: Any) -> Any:
        self._check_params()
        going_on = bool(self.warm_start and hasattr(self, "_trees"))
        if going_on and self.max_iter < self.n_iter_:
            raise ValueError(
                f"max_iter={self.max_iter} must be larger than or equal to n_iter_={self.n_iter_} when "
                "warm_start==True: trees are only ever added."
            )
        if going_on:
            check_same_columns(self, X)
        X, y, sample_weight, present = without_absent(X, y, sample_weight)
        X = with_cells(X, names_categories(self))
        in_blocks = is_lazy(X)
        as_codes = in_blocks or is_frame(X) or is_cells(X)
        with rows_as_given(present):
            if in_blocks:
                X, y, w = validate_lazy(self, X, y, sample_weight, going_on)
            else:
                X, y, w = self._validate(X, y, sample_weight, going_on)
        w = None if w is None or (w == 1).all() else w
        codes = self._encode_target(y, not going_on)
        loss = self._loss_for(codes)
        loss.check(codes, type(self).__name__)
        validation = self._given_validation(X_val, y_val, sample_weight_val)
        self.do_early_stopping_ = bool(
            (X.shape[0] > 10_000 or validation is not None) if self.early_stopping == "auto" else self.early_stopping
        )
        if not going_on:
            self._random_seed = first_seed(self.random_state, 2**32 - 1)  # scikit-learn's: the same rows are held out
        weights = self._extra_weights(codes, w)
        if self.do_early_stopping_ and validation is None and self.validation_fraction is not None:
            X, codes, weights, validation = self._split(X, codes, weights)
            if not as_codes:
                validation = with_codes(validation[0], self._categories, non_negative=True), *validation[1:]
        if weights is not None and not (weights > 0).all():
            weighted = weights > 0
            X, codes, weights = X[weighted], codes[weighted], weights[weighted]
        power = loss.power(codes)
        if power:
            codes = np.ldexp(codes, -power)
            validation = validation and (validation[0], np.ldexp(validation[1], -power), validation[2])
        if not going_on:
            self.__dict__.pop("_trees", None)
        self._change_unit(-power, loss)
        try:
            if in_blocks:
                binned, validation = bin_lazy(self, X, weights, validation, going_on)
            else:
                binned = self._bin(X, None if as_codes else category_codes(X, self._categories), weights, going_on)
            validation = validation_codes(self, validation, binned.bins, going_on)
            self._boost(binned, codes, weights, loss, validation, going_on, power)
        finally:
            self._change_unit(power, loss)
        return self

    def _change_unit(self, power: int, loss: BoostingLoss) -> None:
        """What the model has learnt so far, if anything, times 2 to the power."""
        if power == 0 or not hasattr(self, "_trees"):
            return
        trees, most = self._trees, np.finfo(np.float64).max
        leaf = trees.feature == -1
        with np.errstate(over="ignore", under="ignore"):
            self._baseline = np.ldexp(self._baseline, power)
            values = np.where(leaf, np.ldexp(trees.threshold, np.where(leaf, power, 0)), trees.threshold)
            self._trees = BoostedTrees(trees.n_features, trees.n_outputs, **{**trees.fields(), "threshold": values})
            for name in ("train_score_", "validation_score_"):
                if isinstance(self.scoring, str) and self.scoring == "loss":
                    setattr(self, name, np.maximum(np.ldexp(getattr(self, name), (loss.degree or 0) * power), -most))

    def _validate(self, X: Any, y: Any, sample_weight: Any, going_on: bool) -> tuple[np.ndarray, np.ndarray, Any]:
        """The data as a matrix, categories of a frame as codes; remembers what the categories were."""
        name = type(self).__name__
        if is_frame(X) or is_cells(X):
            if not going_on:
                self.is_categorical_ = category_mask(self.categorical_features, X, name)
                self._categories = learn_categories(X, self.is_categorical_, non_negative=True)
            elif self._categories:
                require_same_columns(self, X)
            X = with_coded_cells(X, self._categories)
            return check_fit(self, X, y, sample_weight, target=self._target, allow_nan=True, any_cells=False)
        X, y, w = check_fit(self, X, y, sample_weight, target=self._target, allow_nan=True, any_cells=False)
        if not going_on:
            self.is_categorical_ = category_mask(self.categorical_features, X, name)
            self._categories = learn_categories(X, self.is_categorical_, non_negative=True)
        return X, y, w

    def _given_validation(self, X_val: Any, y_val: Any, sample_weight_val: Any) -> Any:
        if X_val is None:
            if y_val is not None or sample_weight_val is not None:
                name = "y_val" if y_val is not None else "sample_weight_val"
                raise ValueError(f"{name} is provided, but X_val was not provided.")
            return None
        if y_val is None:
            raise ValueError("X_val is provided, but y_val was not provided.")
        if self.early_stopping is False or (self.early_stopping != "auto" and not self.early_stopping):
            raise ValueError("X_val and y_val are passed to fit while at the same time early_stopping is False.")
        X_val, y_val, sample_weight_val, _ = without_absent(X_val, y_val, sample_weight_val)
        if is_lazy(X_val):
            X_val, y_val, w = validation_rows(self, X_val, y_val, sample_weight_val)
        else:
            if self._categories:
                require_same_columns(self, X_val)
            X_val = with_coded_cells(with_cells(X_val, bool(self._categories)), self._categories)
            X_val = check_predict(self, X_val, allow_nan=True, any_cells=False)
            y_val = check_target(y_val, self._target, X_val, type(self).__name__)
            w = check_weights(sample_weight_val, X_val)
        codes = self._encode_target(y_val, False)
        return X_val, codes, self._extra_weights(codes, w)

    def _split(self, X: np.ndarray, y: np.ndarray, w: np.ndarray | None) -> tuple[Any, ...]:
        """A part of the rows set aside to watch over the fit."""
        rows = np.arange(X.shape[0])
        train, held = train_test_split(
            rows,
            test_size=self.validation_fraction,
            stratify=y if self._target == "label" else None,
            random_state=self._random_seed % (1 << 32),
        )
        return X[train], y[train], None if w is None else w[train], (X[held], y[held], None if w is None else w[held])

    def _bin(self, X: np.ndarray, coded: Any, w: Any, going_on: bool) -> Binned:
        """The codes of a table in memory."""
        sizes = {j: len(values) for j, values in self._categories.items()}
        bins = find_bins(
            X, max_bins=self.max_bins, weights=w, categories=sizes, coded=coded, random_state=self._random_seed
        )
        if not going_on:
            self._tables = bins.tables
        codes = bins.encode(X, rows=True, coded=coded)
        table = X
        if self._tables and (going_on or self.subsample < 1.0):  # trees will read X, and not only its codes
            table = self._for_trees(X, coded)
        return Binned(bins, codes, X, table)

    def _boost(
        self, binned: Binned, y: np.ndarray, w: Any, loss: BoostingLoss, validation: Any, going_on: bool, power: int
    ) -> None:
        n_features = binned.X.shape[1]
        if not going_on:
            self._baseline = loss.start(y, w)
            self._trees = BoostedTrees.empty(n_features, loss.n_outputs)
            self.n_trees_per_iteration_ = loss.n_outputs
            self.n_iter_ = 0
            self.train_score_ = self.validation_score_ = np.empty(0)
        names = getattr(self, "feature_names_in_", None)
        monotone = monotone_signs(self.monotonic_cst, n_features, names, type(self).__name__)
        if monotone is not None and self.is_categorical_ is not None and (monotone[self.is_categorical_] != 0).any():
            raise ValueError("Categorical features cannot have monotonic constraints; set theirs to 0.")
        if monotone is not None and loss.n_outputs > 1:
            raise ValueError("monotonic constraints are not supported for multiclass classification.")
        scores = np.repeat(self._baseline[:, None], len(y), axis=1)
        if going_on:
            scores += sums_before(self._trees, binned.table, np.zeros((len(y), loss.n_outputs))).T
        booster = Booster(
            binned.table,
            y,
            w,
            _whole_counts(w),
            binned.bins,
            binned.codes,
            loss,
            self._growth(power if loss.degree == 2 else 0),
            float(self.learning_rate),
            float(self.subsample),
            monotone,
            interaction_groups(self.interaction_cst, n_features),
            int(self._random_seed),
            scores,
        )
        self._run(booster, binned.X, validation)

    def _growth(self, power: int) -> Growth:
        """What limits a tree, for gradients that are divided by 2 to the power."""
        return Growth(
            max_leaf_nodes=self.max_leaf_nodes,
            max_depth=self.max_depth,
            min_samples_leaf=self.min_samples_leaf,
            min_hessian=float(self.min_hessian),
            l1=float(np.ldexp(float(self.l1_regularization), -power)),
            l2=float(self.l2_regularization),
            max_features=float(self.max_features),
            by_level=self.growth == "depth",
        )

    def _run(self, booster: Booster, X: np.ndarray, validation: Any) -> None:
        """Iterate until enough, until a callback says so, or until the watched score gets no better."""
        watch = _Watch(self, booster, X, validation) if self.do_early_stopping_ else None
        train, held = self.train_score_.tolist(), self.validation_score_.tolist()
        new: list[BoostedTrees] = []
        grown: list[Any] = []  # not yet in the form that is kept
        if watch is not None and not train:
            watch.look(None, train, held)
        with single_blas(), fit_loop(self, self.max_iter, X, booster.y) as loop:
            for iteration in range(self.n_iter_, self.max_iter):
                grown += booster.iterate(iteration)
                self.n_iter_ = iteration + 1
                if watch is not None or len(grown) >= _TREES_AT_ONCE:
                    new.append(booster.packed(grown))
                    grown = []
                if watch is not None:
                    watch.look(new[-1], train, held)
                if self.verbose:
                    tell("%s iteration %d of %d", type(self).__name__, iteration + 1, self.max_iter)
                # Tested after a tree, and not before: a warm start from a fit that had stopped adds at least one.
                if loop.step() or (watch and should_stop(held or train, self.n_iter_no_change, self.tol)):
                    break
        self._trees = self._trees.extended([*new, booster.packed(grown)] if grown else new)
        self.train_score_, self.validation_score_ = np.array(train), np.array(held)

    def _for_trees(self, X: np.ndarray, coded: dict[int, np.ndarray] | None = None) -> np.ndarray:
        """X with bins of categories in place of their codes: rare ones share one, unseen ones are −1.

        The codes are in X, or in `coded`, where −1 says that a value is missing.
        """
        if not self._tables:
            return X
        X = np.array(X, dtype=X.dtype if X.dtype.kind == "f" else np.float64)
        for j, table in self._tables.items():
            column = coded[j] if coded else X[:, j]
            known = (column >= 0) & (column < len(table))
            bins = np.where(known, table[np.where(known, column, 0).astype(np.int64)] if len(table) else -1, -1)
            X[:, j] = np.where(column < 0 if coded else np.isnan(column), np.nan, bins)
        return X

    def _of_rows(self, X: Any, answer: str) -> Any:
        """What `answer`, the name of a method that takes scores, says of rows wherever they are stored."""
        if is_lazy(X):
            return rows_of_model(self, X, "_categories").map(_answers_of_block, self, answer)
        return getattr(self, answer)(self._scores(X))

    def _matrix(self, X: Any) -> np.ndarray:
        """Rows in memory as trees read them."""
        if not vars(self).get("_categories"):
            return check_predict(self, X, lazy=False, allow_nan=True, any_cells=False)
        refuse_elsewhere(X, type(self).__name__)
        require_same_columns(self, X)
        X = with_cells(X, True)
        if not (is_frame(X) or is_cells(X)):
            X = check_predict(self, X, allow_nan=True, any_cells=False)
        X = with_coded_cells(X, self._categories)
        return self._for_trees(check_predict(self, X, allow_nan=True, any_cells=False))

    def _scores(self, X: Any) -> np.ndarray:
        """The scores of every row: (n, n_outputs)."""
        X = self._matrix(X)
        out = np.repeat(self._baseline[None, :], X.shape[0], axis=0)
        return self._trees.packed.sum(X, out=out)

    def _staged_scores(self, X: Any) -> Iterator[np.ndarray]:
        """The scores after every iteration."""
        X = self._matrix(X)
        out = np.repeat(self._baseline[None, :], X.shape[0], axis=0)
        each = self.n_trees_per_iteration_
        for iteration in range(self.n_iter_):
            self._trees.packed.sum(X, out=out, first=iteration * each, last=(iteration + 1) * each)
            yield out.copy()

    def contributions(self, X: Any) -> np.ndarray:
        """What every column adds to the score of every row: exact Shapley values.

        A column whose value is not known goes both ways at its splits, in proportion to the training rows.

        Returns
        -------
        contributions : ndarray of shape (n_samples, n_features + 1) or (n_samples, n_classes, n_features + 1)
            What each column adds, for each class where there are three or more. A row adds up to the score
            (`decision_function`, or the prediction before the loss's link). The last column is the expected score of
            the training rows.
        """
        X = self._matrix(X)
        out = self._trees.contributions(X)
        out[:, :, -1] += self._baseline
        return out[:, 0] if out.shape[1] == 1 else out

    @property
    def feature_importances_(self) -> np.ndarray:
        """The share of each column in what all splits gained; sums to 1 unless there was no split."""
        from sklearn.utils.validation import check_is_fitted

        check_is_fitted(self, "_trees")
        return self._trees.importances()

    def __learnt_check__(self) -> None:
        """The rule for a model from a file: its loss takes as many scores as the model has."""
        if self._loss_for(np.empty(0)).n_outputs != len(self._baseline):
            raise ValueError("its loss takes another number of scores than its trees give")

    def __sklearn_tags__(self):
        tags = super().__sklearn_tags__()
        tags.input_tags.allow_nan = True
        return tags


class _Watch:
    """Scores of training and held-out rows after every iteration, for early stopping."""

    def __init__(self, model: HistogramBoosting, booster: Booster, X: np.ndarray, validation: Any) -> None:
        self.model, self.booster, self.validation = model, booster, validation
        self.by_loss = isinstance(model.scoring, str) and model.scoring == "loss"
        if validation is not None:
            X_val, self.y_val, self.w_val = validation
            self.table = X_val if isinstance(X_val, CodedRows) else model._for_trees(X_val)
            scores = np.repeat(model._baseline[None, :], X_val.shape[0], axis=0)
            self.scores = sums_before(model._trees, self.table, scores)
        if not self.by_loss:
            self.scorer = check_scoring(model, scoring=model.scoring)
            rows = np.arange(len(booster.y))
            if len(rows) > _SCORED_ROWS:
                rng = stream(int(model._random_seed), 1)
                rows = np.sort(rng.choice(rows, _SCORED_ROWS, replace=False))
            self.rows = rows
            self.seen = _readable(X if len(rows) == len(X) else X[rows])  # for a custom scorer that reads the rows

    def look(self, trees: BoostedTrees | None, train: list[float], held: list[float]) -> None:
        """Append the scores after these trees were added."""
        booster = self.booster
        if self.validation is not None and trees is not None:
            sum_of_trees(trees.packed, self.table, out=self.scores)
        if self.by_loss:
            train.append(-booster.loss.mean_loss(booster.y, booster.scores, booster.w))
            if self.validation is not None:
                held.append(-booster.loss.mean_loss(self.y_val, np.ascontiguousarray(self.scores.T), self.w_val))
            return
        rows = self.rows
        weights = None if booster.w is None else booster.w[rows]
        train.append(self._score(self.seen, booster.scores[:, rows].T, booster.y[rows], weights))
        if self.validation is not None:
            held.append(self._score(_readable(self.validation[0]), self.scores, self.y_val, self.w_val))

    def _score(self, X: np.ndarray, scores: np.ndarray, y: np.ndarray, w: np.ndarray | None) -> float:
        judged = _Judged(self.model, scores, self.booster.loss)
        target = self.model.classes_[y.astype(np.int64)] if hasattr(self.model, "classes_") else y
        if w is None:
            return float(self.scorer(judged, X, target))
        return float(self.scorer(judged, X, target, sample_weight=w))


class _Judged(BaseEstimator):
    """An estimator that hands known scores to a scorer."""

    def __init__(self, model: Any, scores: np.ndarray, loss: BoostingLoss) -> None:
        self._model, self._known, self._loss = model, scores, loss
        if hasattr(model, "classes_"):
            self.classes_ = model.classes_
        for method in ("predict_proba", "decision_function"):
            if hasattr(model, method):
                setattr(self, method, getattr(self, "_" + method))

    def __sklearn_tags__(self):
        return self._model.__sklearn_tags__()

    def __sklearn_is_fitted__(self) -> bool:
        return True

    def predict(self, X: Any) -> np.ndarray:
        return self._model._answers(self._known, self._loss)

    def _predict_proba(self, X: Any) -> np.ndarray:
        return self._loss.mean(self._known)

    def _decision_function(self, X: Any) -> np.ndarray:
        return self._known[:, 0] if self._known.shape[1] == 1 else self._known

    def score(self, X: Any, y: Any, sample_weight: Any = None) -> float:
        from sklearn.metrics import accuracy_score, r2_score

        measure = accuracy_score if hasattr(self, "classes_") else r2_score
        return float(measure(y, self.predict(X), sample_weight=sample_weight))


def _answers_of_block(block: Block, model: HistogramBoosting, answer: str) -> np.ndarray:
    """What a model says of a block in which categories are codes."""
    out = np.repeat(model._baseline[None, :], block.X.shape[0], axis=0)
    return getattr(model, answer)(model._trees.packed.sum(model._for_trees(block.X), out=out))


def _readable(X: Any) -> np.ndarray:
    """The rows for a scorer: cells that are not in memory are NaN."""
    return X if isinstance(X, np.ndarray) else np.broadcast_to(np.nan, X.shape)


def _whole_counts(w: np.ndarray | None) -> np.ndarray | None:
    """Weights that are integers count a row so often; others count it once."""
    if w is None or (w == 1).all() or not (w == np.rint(w)).all() or w.sum() >= 2**31:
        return None
    return w.astype(np.int64)
