"""Classical gradient boosting, for classes."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import replace
from typing import Any

import numpy as np

from learnt.engine.classification.labels import encode_labels
from learnt.engine.estimator import Takes, Warm
from learnt.engine.mixins import ClassifierMixin
from learnt.engine.params import check_choice
from learnt.engine.progress import with_callbacks
from learnt.ensemble._trial import GRADIENT_BOOSTING
from learnt.ensemble.gradient_boosting._base import GradientBoosting
from learnt.ensemble.gradient_boosting._losses import loss_of
from learnt.ensemble.gradient_boosting._schema import CLASSIFIER
from learnt.ensemble.hist_boosting._losses import BoostingLoss


class GradientBoostingClassifier(ClassifierMixin, GradientBoosting):
    """A sum of small trees for the log-odds of the classes:  s(x) = s₀ + η Σₜ treeₜ(x),  one for each of three or more.

    A tree is fitted to the gradient of the loss by least squares; its leaves then take a Newton step. Up to 20,000 rows
    every threshold is looked at, as scikit-learn does; above, the ends of 255 bins. `HistGradientBoostingClassifier`
    has more losses and categories, and is quicker for deep trees.

    Parameters
    ----------
    loss : {"log_loss", "exponential"}, default="log_loss"
        The loss that is minimised. "log_loss" gives log-odds and probabilities; "exponential", for two classes, is
        AdaBoost's and gives more weight to rows that are hard, and to wrong labels.
    learning_rate : float, default=0.1
        Learning rate: what every tree is multiplied by. Smaller values (shrinkage) need more trees (`n_estimators`) and
        overfit less; 0.03 to 0.3 is usual.
    n_estimators : int, default=100
        Number of iterations, each of one tree (or one for each of three or more classes). Too many overfit, though
        slowly; watch it with `n_iter_no_change` or `staged_predict`.
    subsample : float, default=1.0
        Share of the rows that each tree is grown on, drawn at random. Values below 1, such as 0.5 to 0.8, overfit less
        and are quicker; the rows left out then judge each iteration (`oob_improvement_`).
    criterion : {"deprecated", "squared_error", "friedman_mse"}, default="deprecated"
        Deprecated; kept for scikit-learn's signature: it has no effect, and naming one gives a warning. Trees are
        fitted to the gradient by least squares.
    min_samples_split : int or float, default=2
        Fewest rows that a node must have to be split; a float is a share of all rows, rounded up.
    min_samples_leaf : int or float, default=1
        Fewest rows on each side of a split; a float is a share of all rows, rounded up. Larger values overfit less,
        above all with deep trees.
    min_weight_fraction_leaf : float, default=0.0
        Smallest share of the total weight that a leaf may hold, from 0 to 0.5.
    max_depth : int or None, default=3
        Most splits between the root and a leaf, which is also how many columns may interact in a tree. 2 to 8 is usual;
        deeper trees need fewer iterations and overfit sooner. None sets no limit.
    min_impurity_decrease : float, default=0.0
        A split must lower the squared error of the gradients, times the share of the rows in the node, by at least
        this.
    init : estimator, "zero" or None, default=None
        Where the sum of trees starts: at the predictions of an estimator, which is fitted to the same rows, at 0, or at
        the best constant (None).
    random_state : int, RandomState, Generator or None, default=None
        Draws rows and columns, decides between equally good splits, and chooses which rows are held out. Pass an
        integer for the same model every time.
    max_features : int, float, {"sqrt", "log2"} or None, default=None
        How many columns each split looks at, drawn at random: a number, a share (float), the square root of their
        number, its binary logarithm, or all (None). Fewer make trees more different and growth quicker, which may help
        with many columns.
    verbose : int, default=0
        Where it is more than 0, a line is said of every iteration: to the log "learnt", or to stderr.
    max_leaf_nodes : int or None, default=None
        Grow trees best split first, up to this many leaves; None for no limit.
    warm_start : bool, default=False
        Whether the next `fit` goes on from the trees that are there, up to `n_estimators`, instead of starting afresh.
    validation_fraction : float, default=0.1
        Share of the rows held out for early stopping, between 0 and 1; only with `n_iter_no_change`.
    n_iter_no_change : int or None, default=None
        Early stopping: end when the loss of held-out rows is not lower, by `tol`, than any of the last so many. None
        does not stop early and holds out no rows.
    tol : float, default=1e-4
        Least fall of the loss that counts for early stopping.
    ccp_alpha : float, default=0.0
        Price of a leaf in minimal cost-complexity pruning of every tree. 0 does not prune.
    splitter : {"auto", "exact", "binned"}, default="auto"
        "exact" looks at every threshold, as scikit-learn does; "binned" at the ends of 255 bins a column, which is much
        quicker on large tables. "auto" takes bins from 20,000 rows on where the other parameters allow it.

    Attributes
    ----------
    classes_ : ndarray of shape (n_classes,)
        The class labels, sorted.
    n_classes_ : int
        Number of classes.
    n_estimators_ : int
        Number of iterations done; fewer than `n_estimators` where it stopped early.
    n_trees_per_iteration_ : int
        Number of trees in each iteration: 1, or one for each of three or more classes.
    train_score_ : ndarray of shape (n_estimators_,)
        Loss of the training rows after every iteration.
    oob_scores_ : ndarray of shape (n_estimators_,)
        Loss of the rows left out of each iteration; empty unless `subsample` is below 1.
    oob_improvement_ : ndarray of shape (n_estimators_,)
        By how much each iteration lowered the loss of the rows left out of it; empty unless `subsample` is below 1.
    oob_score_ : float
        The last of `oob_scores_`; only where `subsample` is below 1.
    feature_importances_ : ndarray of shape (n_features,)
        Share of each column in what all splits took off the squared error of the gradients.
    estimators_ : ndarray of DecisionTreeRegressor of shape (n_estimators_, n_trees_per_iteration_)
        The trees, made when asked for.
    init_ : estimator, "zero" or None
        Where the sum starts: the fitted `init`, or what it was.
    max_features_ : int
        Number of columns that each split looked at, worked out from `max_features`.

    See Also
    --------
    GradientBoostingRegressor : The same for numbers.
    HistGradientBoostingClassifier : Quicker on large tables, with categories and early stopping by default.
    RandomForestClassifier : Averages independent trees: hardly any tuning.
    AdaBoostClassifier : Boosting by weights of rows.
    FunctionalGradientBoosting : Any weak learner, any loss.

    Notes
    -----
    Growth takes about `n_estimators` · d · n steps for n rows and d columns, times the depth of the trees; predictions
    take one comparison for each tree and level. A row of weight 2 counts as two rows, one of weight 0 as none. The
    result does not depend on the number of threads.

    References
    ----------
    .. [1] J. Friedman, "Greedy function approximation: a gradient boosting machine", Annals of Statistics 29, 2001.
    .. [2] J. Friedman, "Stochastic gradient boosting", Computational Statistics & Data Analysis 38, 2002.
    .. [3] T. Hastie, R. Tibshirani and J. Friedman, "The Elements of Statistical Learning", Springer, 2009.

    Examples
    --------
    >>> import numpy as np
    >>> X = np.arange(20.0)[:, None]
    >>> GradientBoostingClassifier().fit(X, X[:, 0] > 9).predict([[3.0], [15.0]]).tolist()
    [False, True]
    """

    __learnt_schema__ = CLASSIFIER
    __learnt_takes__ = Takes(sparse=True, missing=True)
    __learnt_trial__ = replace(
        GRADIENT_BOOSTING,
        warmup=(Warm("classes", {"n_estimators": 2}),),
    )

    _target = "label"
    classes_: np.ndarray
    n_classes_: int

    def __init__(
        self,
        *,
        loss: str = "log_loss",
        learning_rate: float = 0.1,
        n_estimators: int = 100,
        subsample: float = 1.0,
        criterion: str = "deprecated",
        min_samples_split: Any = 2,
        min_samples_leaf: Any = 1,
        min_weight_fraction_leaf: float = 0.0,
        max_depth: int = 3,
        min_impurity_decrease: float = 0.0,
        init: Any = None,
        random_state: Any = None,
        max_features: Any = None,
        verbose: int = 0,
        max_leaf_nodes: int | None = None,
        warm_start: bool = False,
        validation_fraction: float = 0.1,
        n_iter_no_change: int | None = None,
        tol: float = 1e-4,
        ccp_alpha: float = 0.0,
        splitter: str = "auto",
    ) -> None:
        self.loss = loss
        self.learning_rate = learning_rate
        self.n_estimators = n_estimators
        self.subsample = subsample
        self.criterion = criterion
        self.min_samples_split = min_samples_split
        self.min_samples_leaf = min_samples_leaf
        self.min_weight_fraction_leaf = min_weight_fraction_leaf
        self.max_depth = max_depth
        self.min_impurity_decrease = min_impurity_decrease
        self.init = init
        self.random_state = random_state
        self.max_features = max_features
        self.verbose = verbose
        self.max_leaf_nodes = max_leaf_nodes
        self.warm_start = warm_start
        self.validation_fraction = validation_fraction
        self.n_iter_no_change = n_iter_no_change
        self.tol = tol
        self.ccp_alpha = ccp_alpha
        self.splitter = splitter

    @with_callbacks
    def fit(
        self, X: Any, y: Any, sample_weight: Any = None, monitor: Callable[..., Any] | None = None
    ) -> GradientBoostingClassifier:
        """Grow the trees, one iteration after the other.

        Parameters
        ----------
        monitor : callable or None, default=None
            Called after every iteration as `monitor(iteration, self, locals)`; the fit ends where it returns True.
        """
        check_choice(self, "loss", ("log_loss", "exponential"))
        return self._fit(X, y, sample_weight, monitor)

    def predict(self, X: Any) -> np.ndarray:
        """The class of every row."""
        return self._answers(self._scores(self._checked(X)))

    def predict_proba(self, X: Any) -> np.ndarray:
        """The probabilities of the classes: the inverse link of the scores."""
        scores = self._scores(self._checked(X))
        return self._loss_for(np.empty(0)).mean(scores)

    def predict_log_proba(self, X: Any) -> np.ndarray:
        """The logarithms of the probabilities of the classes."""
        with np.errstate(divide="ignore"):
            return np.log(self.predict_proba(X))

    def decision_function(self, X: Any) -> np.ndarray:
        """The scores: of the second of two classes (n,), or one a class (n, n_classes)."""
        scores = self._scores(self._checked(X))
        return scores[:, 0] if scores.shape[1] == 1 else scores

    def staged_predict(self, X: Any) -> Iterator[np.ndarray]:
        """The classes after every iteration."""
        for scores in self._staged_scores(X):
            yield self._answers(scores)

    def staged_predict_proba(self, X: Any) -> Iterator[np.ndarray]:
        """The probabilities after every iteration."""
        for scores in self._staged_scores(X):
            yield self._loss_for(np.empty(0)).mean(scores)

    def staged_decision_function(self, X: Any) -> Iterator[np.ndarray]:
        """The scores after every iteration."""
        for scores in self._staged_scores(X):
            yield scores[:, 0] if scores.shape[1] == 1 else scores

    def _answers(self, scores: np.ndarray) -> np.ndarray:
        best = (scores[:, 0] >= 0).astype(np.int64) if scores.shape[1] == 1 else scores.argmax(axis=1)
        return self.classes_[best]

    def _loss_for(self, y: np.ndarray) -> BoostingLoss:
        if self.loss == "exponential" and self.n_classes_ > 2:
            raise ValueError(
                f"loss='exponential' is only suitable for a binary classification problem, and y has n_classes="
                f"{self.n_classes_}; use loss='log_loss'."
            )
        return loss_of(self.loss, 0.0, self.n_classes_)

    def _encode_target(self, y: np.ndarray, fresh: bool) -> np.ndarray:
        if not fresh:
            known = np.isin(y, self.classes_)
            if not known.all():
                new = y[~known][:1].tolist()[0]
                raise ValueError(
                    f"y holds the class {new!r}, which was not there in the first fit (warm_start=True); give all "
                    "classes to the first fit."
                )
            return np.searchsorted(self.classes_, y).astype(np.float64)
        self.classes_, codes = encode_labels(y)
        self.n_classes_ = len(self.classes_)
        if self.n_classes_ < 2:
            raise ValueError(
                f"y contains {self.n_classes_} class after sample_weight trimmed classes with zero weights, while a "
                "minimum of 2 classes are required."
            )
        return codes.astype(np.float64)

    def _given_start(self, X: Any, init: Any) -> np.ndarray:
        if not hasattr(init, "predict_proba"):
            raise ValueError(
                f"The initial estimator {type(init).__name__} has no predict_proba; give an init that has, or None."
            )
        shares = np.clip(
            np.asarray(init.predict_proba(X), dtype=np.float64), np.finfo(np.float32).eps, 1 - np.finfo(np.float32).eps
        )
        logs = np.log(shares)
        if self.n_classes_ == 2:
            odds = logs[:, 1] - np.log1p(-shares[:, 1])
            return (0.5 * odds if self.loss == "exponential" else odds)[:, None]
        return logs - logs.mean(axis=1, keepdims=True)
