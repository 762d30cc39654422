"""Density forests: the mean density of many trees."""

from __future__ import annotations

import math
from functools import partial
from typing import Any

import numpy as np

from learnt.density._base import Density, check_sample
from learnt.density._tree import DensityTree, box_around, cell_rules, check_tree_params, pruned
from learnt.engine.estimator import Trial, Warm
from learnt.engine.params import check_flag, check_number
from learnt.engine.random import entropy, random_state_of, stream, task_seed
from learnt.engine.schema import FEATURES, Dims, Schema, estimator, listof, number
from learnt.engine.threads import run_tasks
from learnt.engine.validation import check_fit
from learnt.forestry import Box, grow_density

_SEEDS = 2**63 - 1
_FROM_FOREST = ("criterion", "splitter", "leaf", "max_leaf_nodes", "max_depth", "min_samples_leaf", "max_features")


class DensityForest(Density):
    """The mean of many density trees, smoother than one:  p(x) = (1/T) Σ_t p_t(x).

    Every tree chooses its cells on rows drawn with replacement, is pruned by the likelihood of the rows that were
    not drawn, and then counts all rows in its leaves. For densities of any shape in a few columns of any units.

    Parameters
    ----------
    n_estimators : int, default=30
        The number of trees T. More of them are smoother, never worse by overfitting, and cost time.
    criterion : {"entropy", "squared_error", "non_uniformity", "gaussian_entropy", "diagonal_entropy"}, \
default="entropy"
        What a split gains: the likelihood of the rows, the integrated squared error of the density, or how far the
        shares of rows on its sides are from those of the volume (times the share of all rows that the cell has). Of
        Gaussians: H − s H_left − (1 − s) H_right with H = ½ log det(2πe Σ), s the share of the rows on the left and Σ
        their covariance, or its diagonal; these are for Gaussian leaves, and the diagonal suits them best where there
        are many rows.
    splitter : {"best", "random"}, default="best"
        Look at every cut between two rows, or at one random cut of each feature: quicker, and more different trees in a
        forest.
    leaf : {"constant", "gaussian"}, default="constant"
        The density within a leaf: even, or a Gaussian with independent features, normalised in the leaf's cell, and
        one row beside those of the leaf that is spread evenly over it.
    max_leaf_nodes : int, default=None
        Most leaves before pruning; fewer give a coarser density and less overfitting. A usual number is τ ∛N. None: no
        limit.
    max_depth : int, default=None
        Most splits from the root to a leaf; None: no limit.
    min_samples_leaf : int, default=5
        Fewest rows in a leaf; more of them smooth more, against overfitting.
    max_features : int, float or None, default=None
        How many features a split looks at, drawn anew at each: a number, a share, or all.
    prune : bool, default=True
        Whether the rows that were not drawn cut the trees back, against overfitting.
    contamination : float, default=0.1
        The share of the training rows that `predict` is to call novelties (−1), from 0 to 0.5: what precision and
        recall of novelties are traded by. The density does not depend on it.
    n_jobs : int or None, default=None
        Threads; None is as many as there are. The result does not depend on it.
    random_state : int, RandomState, Generator or None, default=None
        Which rows and cuts are drawn. Pass an integer to get the same forest every time.

    Attributes
    ----------
    estimators_ : list of DensityTree
        The fitted trees.
    offset_ : float
        The log density below which a row is a novelty.

    See Also
    --------
    DensityTree : One of its trees: quicker, and easier to explain.
    learnt.neighbors.KernelDensity : A bell on every row, smooth, for columns of one unit.
    learnt.mixture.GaussianMixture : A smooth density of few parameters.
    learnt.ensemble.IsolationForest : Trees that look for outliers alone, for many columns.

    References
    ----------
    .. [1] Parikshit Ram and Alexander G. Gray, "Density Estimation Trees", KDD, 2011.

    Examples
    --------
    >>> import numpy as np
    >>> from learnt.density import DensityForest
    >>> X = np.random.default_rng(0).normal(size=(400, 1))
    >>> model = DensityForest(n_estimators=5, random_state=0).fit(X)
    >>> bool(model.score_samples([[0.0]])[0] > model.score_samples([[2.0]])[0])
    True
    >>> model.predict([[0.0], [9.0]])  # the second row is a novelty
    array([ 1, -1])
    """

    __learnt_schema__ = Schema(
        state={**FEATURES, "estimators_": listof(estimator("score_samples", "sample")), "offset_": number()},
        rule=lambda model, state, dims: _disproved(state, dims),
    )
    __learnt_trial__ = Trial(
        quick={"n_estimators": 4, "random_state": 0, "min_samples_leaf": 3},
        warmup=(Warm("none", {"n_estimators": 2, "random_state": 0}),),
        any_order=False,
        weight_repeats=False,
    )

    def __init__(
        self,
        n_estimators: int = 30,
        *,
        criterion: str = "entropy",
        splitter: str = "best",
        leaf: str = "constant",
        max_leaf_nodes: int | None = None,
        max_depth: int | None = None,
        min_samples_leaf: int = 5,
        max_features: Any = None,
        prune: bool = True,
        contamination: float = 0.1,
        n_jobs: int | None = None,
        random_state: Any = None,
    ) -> None:
        self.n_estimators = n_estimators
        self.criterion = criterion
        self.splitter = splitter
        self.leaf = leaf
        self.max_leaf_nodes = max_leaf_nodes
        self.max_depth = max_depth
        self.min_samples_leaf = min_samples_leaf
        self.max_features = max_features
        self.prune = prune
        self.contamination = contamination
        self.n_jobs = n_jobs
        self.random_state = random_state

    def fit(self, X: Any, y: Any = None, sample_weight: Any = None) -> DensityForest:
        """Grow the trees; a row of weight 2 counts twice in the leaves, 0 not at all."""
        check_number(self, "n_estimators", 1, integer=True)
        check_flag(self, "prune")
        check_tree_params(self)
        X, _, w = check_fit(self, X, None, sample_weight)
        X = np.asarray(X, dtype=np.float64)
        box = box_around(X)
        seed = entropy(self.random_state) % _SEEDS
        tasks = [partial(self._tree, X, w, box, task_seed(seed, t)) for t in range(self.n_estimators)]
        self.estimators_ = run_tasks(tasks, n_jobs=self.n_jobs)
        self._set_offset(X, w)
        return self

    def _tree(self, X: np.ndarray, w: Any, box: Box, seed: int) -> DensityTree:
        """One tree: cells from the rows drawn, pruned by the others, with the counts of all."""
        n = len(X)
        times = np.bincount(stream(seed).integers(0, n, n), minlength=n).astype(np.float64)
        times = times if w is None else times * w
        drawn = times > 0
        model = DensityTree(**{name: getattr(self, name) for name in _FROM_FOREST})
        model.set_params(validation_fraction=None, contamination=self.contamination)
        model.n_features_in_ = X.shape[1]
        tree = grow_density(X[drawn], times[drawn], box, cell_rules(model), seed)
        if self.prune and not drawn.all():
            left_out = None if w is None else w[~drawn]
            tree = pruned(tree, box, self.leaf, X[drawn], times[drawn], X[~drawn], left_out)
        model._record(tree, box, X, w)
        model.offset_ = 0.0
        return model

    def _log_density(self, X: Any) -> Any:
        total = run_tasks([partial(tree._log_density, X) for tree in self.estimators_], n_jobs=self.n_jobs)
        top = np.max(total, axis=0)
        top = np.where(np.isfinite(top), top, 0.0)
        with np.errstate(divide="ignore"):
            return top + np.log(sum(np.exp(part - top) for part in total)) - math.log(len(total))

    def sample(self, n_samples: int = 1, random_state: Any = None) -> np.ndarray:
        """Return rows drawn from the density, (n_samples, n_features): a tree, a leaf of it, then a row in its cell.

        Parameters
        ----------
        n_samples : int, default=1
            How many rows to draw.

        Returns
        -------
        X : ndarray of shape (n_samples, n_features)
            The rows.
        """
        check_sample(self, n_samples)
        random = random_state_of(random_state)
        tree = random.randint(len(self.estimators_), size=n_samples)
        rows = np.empty((n_samples, self.n_features_in_))
        for t in np.unique(tree):
            of_tree = tree == t
            rows[of_tree] = self.estimators_[t].sample(int(of_tree.sum()), random)
        return rows


def _disproved(state: dict[str, Any], dims: Dims) -> str | None:
    """What is wrong with a model from a file: trees of another box or number of features."""
    trees = state["estimators_"]
    if not trees or any(type(tree) is not DensityTree for tree in trees):
        return "has estimators that are no density trees"
    if any(getattr(tree, "n_features_in_", None) != dims["d"] for tree in trees):
        return "has trees of another number of features"
    return None
