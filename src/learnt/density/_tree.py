"""Density trees: bins that follow the rows."""

from __future__ import annotations

import math
import warnings
from numbers import Integral, Real
from typing import Any

import numpy as np
from sklearn.utils.validation import check_is_fitted

from learnt.density._base import Density, check_sample, mapped
from learnt.density._leaves import (
    Gaussians,
    draw_gaussians,
    draw_in_cells,
    even_shares,
    gaussian_worth,
    leaf_gaussians,
    log_in_cell,
)
from learnt.engine.estimator import Trial, Warm
from learnt.engine.params import ParameterError, check_choice, check_number
from learnt.engine.random import entropy, random_state_of, task_seed, uniforms
from learnt.engine.rows.blocks import Block
from learnt.engine.schema import FEATURES, Dims, Schema, anyof, choice, none, number, real
from learnt.engine.validation import NOT_FITTED, check_fit, check_predict
from learnt.forestry import (
    CELL_SCORES,
    Box,
    CellRules,
    Tree,
    cell_bounds,
    constant_worth,
    grow_density,
    log_volumes,
    prune_by_likelihood,
    weigh,
)
from learnt.forestry.schema import tree_check

_LEAVES = ("constant", "gaussian")
_SPLITTERS = ("best", "random")
_SEEDS = 2**63 - 1


class DensityTree(Density):
    """A histogram whose bins follow the rows: small cells where there are many, large ones where there are few.

    p(x) = N_l / (N V_l),    l the leaf of x, N_l the rows in it, V_l the volume of its cell

    The box around the rows is split again and again, always the cell whose split gains most. Then splits that gain less
    than a price are cut back, at the price under which rows that were held out are likeliest, and the counts that are
    kept are those of all rows. Outside the box the density is 0. It needs no scaling of columns, and tells of each row
    in which cell it is; `DensityForest` is smoother and nearer to the truth.

    Parameters
    ----------
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
    validation_fraction : float or None, default=0.2
        The share of the rows held out for pruning; None: all rows are grown on, and nothing is cut back.
    contamination : float, default=0.1
        The share of the training rows that `predict` is to call novelties (−1), from 0 to 0.5: what precision and
        recall of novelties are traded by. The density does not depend on it.
    random_state : int, RandomState, Generator or None, default=None
        Which rows are held out, and random cuts. Pass an integer to get the same tree every time.

    Attributes
    ----------
    tree_ : forestry.Tree
        The cells; `tree_.value` is the logarithm of the density N_l / (N V_l) in each.
    lower_ : ndarray of shape (n_features,)
        The lower ends of the box.
    upper_ : ndarray of shape (n_features,)
        The upper ends of the box.
    leaf_center_ : ndarray of shape (n_nodes, n_features) or None
        The centres of the Gaussians; None where leaves are constant.
    leaf_scale_ : ndarray of shape (n_nodes, n_features) or None
        The standard deviations of the Gaussians; None where leaves are constant.
    offset_ : float
        The log density below which a row is a novelty.

    See Also
    --------
    DensityForest : The mean of many trees, smoother than one.
    Histogram : Bins of equal width.
    learnt.ensemble.IsolationForest : Trees that look for outliers alone, for many columns.

    References
    ----------
    .. [1] Parikshit Ram and Alexander G. Gray, "Density Estimation Trees", KDD, 2011.

    Examples
    --------
    >>> import numpy as np
    >>> from learnt.density import DensityTree
    >>> X = np.array([[0.0], [0.1], [0.2], [0.3], [6.0], [10.0]])
    >>> model = DensityTree(max_leaf_nodes=2, min_samples_leaf=1, validation_fraction=None).fit(X)
    >>> float(model.tree_.threshold[0]), np.exp(model.score_samples([[0.15], [8.0]]))
    (0.25, array([2.   , 0.051]))
    """

    __learnt_schema__ = Schema(
        params={"leaf": choice(*_LEAVES)},
        state={
            **FEATURES,
            "tree_": tree_check(n_classes=False),
            "lower_": real("d"),
            "upper_": real("d"),
            "leaf_center_": anyof(none, real("n", "d")),
            "leaf_scale_": anyof(none, real("n", "d", above=0)),
            "offset_": number(),
        },
        rule=lambda model, state, dims: _disproved(model.leaf, state, dims),
    )
    # Validation rows are chosen by their index; leaf sizes count rows, not weights.
    __learnt_trial__ = Trial(
        quick={"random_state": 0, "min_samples_leaf": 3},
        warmup=(Warm("none", {"random_state": 0}),),
        any_order=False,
        weight_repeats=False,
    )

    def __init__(
        self,
        *,
        criterion: str = "entropy",
        splitter: str = "best",
        leaf: str = "constant",
        max_leaf_nodes: int | None = None,
        max_depth: int | None = None,
        min_samples_leaf: int = 5,
        max_features: Any = None,
        validation_fraction: float | None = 0.2,
        contamination: float = 0.1,
        random_state: Any = None,
    ) -> None:
        self.criterion = criterion
        self.splitter = splitter
        self.leaf = leaf
        self.max_leaf_nodes = max_leaf_nodes
        self.max_depth = max_depth
        self.min_samples_leaf = min_samples_leaf
        self.max_features = max_features
        self.validation_fraction = validation_fraction
        self.contamination = contamination
        self.random_state = random_state

    def fit(self, X: Any, y: Any = None, sample_weight: Any = None) -> DensityTree:
        """Grow the tree, prune it, and count all rows in its leaves; a row of weight 2 counts twice, 0 not at all."""
        check_tree_params(self)
        check_number(self, "validation_fraction", 0.0, 0.9, open_low=True, also=(None,))
        X, _, w = check_fit(self, X, None, sample_weight)
        X = np.asarray(X, dtype=np.float64)
        box = box_around(X)
        seed = entropy(self.random_state) % _SEEDS
        tree = grow_density(X, w, box, cell_rules(self), seed) if self.validation_fraction is None else None
        if tree is None:
            held = uniforms(np.arange(len(X)), task_seed(seed, 1)) < self.validation_fraction
            if held.all() or not held.any():
                held = np.arange(len(X)) == len(X) - 1  # few rows: hold out one of them
            grown = ~held if len(X) > 1 else held
            tree = grow_density(X[grown], _of(w, grown), box, cell_rules(self), seed)
            tree = pruned(tree, box, self.leaf, X[grown], _of(w, grown), X[held], _of(w, held))
        self._record(tree, box, X, w)
        self._set_offset(X, w)
        return self

    def _record(self, tree: Tree, box: Box, X: np.ndarray, w: Any) -> None:
        """The densities of all rows in the leaves of a tree."""
        leaf = tree.apply(X)
        weight = weigh(tree, leaf, w)
        with np.errstate(divide="ignore"):
            log_density = np.log(weight / weight[0]) - log_volumes(tree, box)
        # A cell without weight: a density less than any other, and not log density −∞, which files may not hold.
        lowest = log_density[np.isfinite(log_density)].min()
        tree.value[:, 0, 0] = np.where(np.isfinite(log_density), log_density, lowest - 700.0)
        tree.weighted_n_node_samples[:] = weight
        tree.n_node_samples[:] = weigh(tree, leaf, None)
        self.tree_, self.lower_, self.upper_ = tree, box.lower, box.upper
        self.leaf_center_ = self.leaf_scale_ = None
        if self.leaf == "gaussian":
            self.leaf_center_, self.leaf_scale_, _ = leaf_gaussians(X, w, leaf, *cell_bounds(tree, box))

    @property
    def _box(self) -> Box:
        return Box(self.lower_, self.upper_)

    @property
    def _gaussians(self) -> Gaussians | None:
        center, scale = self.leaf_center_, self.leaf_scale_
        if center is None or scale is None:
            return None
        return Gaussians(center, scale, even_shares(self.tree_.n_node_samples))

    def _log_density(self, X: Any) -> Any:
        lower, upper = cell_bounds(self.tree_, self._box) if self.leaf == "gaussian" else (None, None)
        return mapped(X, _log_density_of_block, self.tree_, self._box, self._gaussians, lower, upper)

    def sample(self, n_samples: int = 1, random_state: Any = None) -> np.ndarray:
        """Return rows drawn from the density, (n_samples, n_features): a leaf by its share, then a row in its cell.

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
        lower, upper = cell_bounds(self.tree_, self._box)
        leaves = np.flatnonzero(self.tree_.is_leaf)
        shares = np.cumsum(self._leaf_shares()[leaves])
        at = np.searchsorted(shares, random.random_sample(n_samples) * shares[-1], side="right")
        leaf = leaves[np.minimum(at, len(leaves) - 1)]
        u, of = random.random_sample((n_samples, len(self.lower_))), self._gaussians
        if of is None:
            return draw_in_cells(leaf, u, lower, upper)
        return draw_gaussians(leaf, u, random.random_sample(n_samples), of, lower, upper)

    def _leaf_shares(self) -> np.ndarray:
        """p V of every node."""
        log_share = self.tree_.value[:, 0, 0] + log_volumes(self.tree_, self._box)
        return np.exp(np.minimum(log_share, 0.0))

    def apply(self, X: Any) -> np.ndarray:
        """Return the leaf of each row.

        Returns
        -------
        leaves : ndarray of shape (n_samples,)
            The number of the node of `tree_` that each row ends in.
        """
        X = check_predict(self, X)
        return self.tree_.apply(X)

    def get_n_leaves(self) -> int:
        """Return how many leaves the tree has.

        Returns
        -------
        int
            The number of cells after pruning.
        """
        check_is_fitted(self, msg=NOT_FITTED)
        return self.tree_.n_leaves


def check_tree_params(model: Any) -> None:
    """What growth takes, checked."""
    check_choice(model, "criterion", tuple(CELL_SCORES))
    check_choice(model, "splitter", _SPLITTERS)
    check_choice(model, "leaf", _LEAVES)
    check_number(model, "max_leaf_nodes", 1, integer=True, also=(None,))
    check_number(model, "max_depth", 1, integer=True, also=(None,))
    check_number(model, "min_samples_leaf", 1, integer=True)
    model._check_contamination()
    given = model.max_features
    good = given is None or (isinstance(given, Real) and not isinstance(given, bool) and float(given) > 0)
    if not good or (not isinstance(given, Integral | None) and float(given) > 1):
        raise ParameterError(
            f"The 'max_features' parameter of {type(model).__name__} must be a whole number of at least 1, a share "
            f"above 0 and at most 1, or None. Got {given!r} instead."
        )


def cell_rules(model: Any) -> CellRules:
    """The parameters of growth as `forestry` takes them."""
    d, given = model.n_features_in_, model.max_features
    features = d if given is None else min(d, given if isinstance(given, Integral) else max(1, math.floor(given * d)))
    return CellRules(
        model.criterion,
        model.splitter == "random",
        model.max_leaf_nodes,
        model.min_samples_leaf,
        model.max_depth,
        int(features),
    )


def pruned(tree: Tree, box: Box, leaf: str, X: Any, w: Any, held: Any, held_w: Any) -> Tree:
    """The part of a tree grown on X under which rows that were held out are likeliest."""
    if leaf == "gaussian":
        worth, held_worth = (gaussian_worth(tree, box, X, w, *rows) for rows in ((X, w), (held, held_w)))
    else:
        weights = tree.weighted_n_node_samples, weigh(tree, tree.apply(held), held_w)
        worth, held_worth = constant_worth(tree, box, np.stack(weights))
    return prune_by_likelihood(tree, worth, held_worth)


def box_around(X: np.ndarray) -> Box:
    """The box of the rows; a constant feature has a width of 1 around its value, with a warning."""
    lower, upper = X.min(axis=0), X.max(axis=0)
    flat = ~(lower < upper)
    if flat.any():
        warnings.warn(
            f"Feature {int(np.argmax(flat))} is constant, so it has a width of 1 around its value; drop it, or expect "
            "densities in that unit.",
            UserWarning,
            stacklevel=3,
        )
    return Box(np.where(flat, lower - 0.5, lower), np.where(flat, upper + 0.5, upper))


def _of(w: Any, rows: np.ndarray) -> Any:
    return None if w is None else w[rows]


def _log_density_of_block(
    block: Block, tree: Tree, box: Box, of: Gaussians | None, lower: Any, upper: Any
) -> np.ndarray:
    X = block.X
    leaf = tree.apply(X)
    values = tree.value[leaf, 0, 0]
    if of is not None:
        inner = np.log(upper - lower).sum(axis=1)
        values = values + inner[leaf] + log_in_cell(X, leaf, of, lower, upper)
    return np.where(box.holds(X), values, -np.inf)


def _disproved(leaf: str, state: dict[str, Any], dims: Dims) -> str | None:
    """What is wrong with a model from a file."""
    tree, box = state["tree_"], Box(state["lower_"], state["upper_"])
    if tree.n_outputs != 1 or tree.surrogates is not None or len(tree.table):
        return "has a tree that is none of cells"
    if not (box.lower < box.upper).all():
        return "has a box without a volume"
    if (state["leaf_center_"] is None) == (leaf == "gaussian") or (state["leaf_scale_"] is None) == (
        leaf == "gaussian"
    ):
        return "has leaves of another kind"
    if leaf == "gaussian" and (len(state["leaf_center_"]) != tree.node_count or dims.get("n") != tree.node_count):
        return "has other numbers of Gaussians than of nodes"
    lower, upper = cell_bounds(tree, box)
    return None if (lower < upper).all() else "has a cell without a volume"
