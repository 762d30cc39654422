"""Trees with models in their leaves."""

from __future__ import annotations

from typing import Any

import numpy as np
from sklearn.utils.validation import check_is_fitted

from learnt.engine.estimator import Estimator, Trial, Warm
from learnt.engine.mixins import RegressorMixin, is_regressor
from learnt.engine.params import ParameterError, check_choice, check_number
from learnt.engine.rows.equal_rows import first_of_equal_rows
from learnt.engine.schema import FEATURES, Dims, Schema, estimator, integers, listof, real
from learnt.engine.validation import check_fit, check_predict
from learnt.forestry import Tree
from learnt.forestry.schema import tree_check
from learnt.tree._dyadic_models import fit_copy, fit_plane
from learnt.tree._model_tree_split import Half, best_cut, meeting_point


def _one_model_a_leaf(model: Any, state: dict[str, Any], dims: Dims) -> str | None:
    """The rule of its model files: one model for each leaf of the tree, in order."""
    if not np.array_equal(state["leaves_"], np.flatnonzero(state["tree_"].is_leaf)):
        return "has models for other nodes than its leaves"
    if state["coef_"].shape[1] not in (0, dims["d"]):
        return "has coefficients for other columns"
    if len(state["estimators_"]) not in (0, dims["m"]):
        return "has other models than leaves"
    widths = {getattr(member, "n_features_in_", dims["d"]) for member in state["estimators_"]}
    return None if widths <= {dims["d"]} else "has models of other columns"


class ModelTreeRegressor(RegressorMixin, Estimator):
    """A regression tree whose leaves hold models:  f(x) = g_A(x) for the leaf A that x falls into.

    The table is cut in two where least squares on both sides leaves the smallest error, the halves again, and so on;
    then a model is fitted in every leaf. A cut must be worth the coefficients it adds (Schwarz's criterion: n ln of the
    mean squared error falls by more than (d + 2) ln n). Where the planes of two leaves meet between the rows next to
    the cut, the cut is put there, so that continuous piecewise linear functions come back exactly.

    Parameters
    ----------
    leaf : {"linear", "constant"} or regressor, default="linear"
        What is fitted in a leaf: a plane by least squares, the mean, or a copy of an estimator, which may be
        regularised or robust to outliers.
    split : {"auto", "linear", "constant"}, default="auto"
        The model that cuts are judged by. "auto" is "constant" for constant leaves and "linear" for all others.
    max_depth : int or None, default=None
        Most cuts between the root and a leaf; 0 fits one model to all rows, None sets no limit. Lower it against
        overfitting.
    min_samples_leaf : int, default=1
        Fewest rows on either side of a cut. Raise it where leaves of linear models have too few rows for their
        coefficients.
    min_gain : float or "bic", default="bic"
        The least fall of the squared error, as a share of the node's, that a cut must bring; "bic" asks for as much as
        Schwarz's criterion does, which stops by itself. 0 splits wherever the error falls at all.

    Attributes
    ----------
    tree_ : Tree
        The tree as arrays. Its value at a node is the mean of y; `plot_tree` and `export_text` show it.
    leaves_ : ndarray of shape (n_leaves,)
        The number of each leaf's node in `tree_`.
    coef_ : ndarray of shape (n_leaves, n_features) or (n_leaves, 0)
        Slopes of the leaves' models where they are linear; no columns where they are constant.
    intercept_ : ndarray of shape (n_leaves,)
        Intercepts of the leaves' models, or their means.
    estimators_ : list
        The fitted estimators, one a leaf, where `leaf` is an estimator; else empty.

    See Also
    --------
    DecisionTreeRegressor : Means or medians in the leaves, with categories and missing values.
    DyadicPartitionRegressor : Models in the cubes of a regular partition.
    learnt.linear_model.LinearRegression : One plane for all rows.

    Notes
    -----
    A cut is looked for at up to 64 quantiles of each column, then at every place between the rows next to the best.
    With linear splits each place solves least squares in d columns, on both sides. Columns are scaled inside; they need
    no scaling beforehand. A row of weight 2 counts as two rows, one of weight 0 as none. The model is continuous across
    a cut only where the planes of its leaves meet there.

    References
    ----------
    .. [1] J. R. Quinlan, "Learning with continuous classes", Australian Joint Conference on Artificial Intelligence,
           1992.
    .. [2] G. Schwarz, "Estimating the dimension of a model", Annals of Statistics 6, 1978.

    Examples
    --------
    >>> import numpy as np
    >>> X = np.linspace(-1, 1, 40).reshape(-1, 1)
    >>> model = ModelTreeRegressor().fit(X, np.abs(X[:, 0] - 0.2))
    >>> model.tree_.n_leaves, model.predict([[0.2], [0.9]]).round(6)
    (2, array([0. , 0.7]))
    """

    __learnt_schema__ = Schema(
        state={
            **FEATURES,
            "tree_": tree_check(n_classes=False),
            "leaves_": integers("m"),
            "coef_": real("m", None),
            "intercept_": real("m"),
            "estimators_": listof(estimator("predict")),
        },
        rule=_one_model_a_leaf,
    )
    __learnt_trial__ = Trial(warmup=(Warm("amount", {"max_depth": 2}),), weight_unit_free=False)

    def __init__(
        self,
        leaf: Any = "linear",
        *,
        split: str = "auto",
        max_depth: int | None = None,
        min_samples_leaf: Any = 1,
        min_gain: Any = "bic",
    ) -> None:
        self.leaf = leaf
        self.split = split
        self.max_depth = max_depth
        self.min_samples_leaf = min_samples_leaf
        self.min_gain = min_gain

    def fit(self, X: Any, y: Any, sample_weight: Any = None) -> ModelTreeRegressor:
        """Grow the tree and fit its leaves; a row of weight 2 counts as two rows, one of weight 0 as none."""
        self._check_params()
        X, y, w = check_fit(self, X, y, sample_weight, target="number")
        X, y = X.astype(np.float64, copy=False), y.astype(np.float64, copy=False)
        weights = np.ones(len(y)) if w is None else w
        constant = self.leaf == "constant" if isinstance(self.leaf, str) else False
        linear = self.split == "linear" or (self.split == "auto" and not constant)
        nodes = self._grow(X, y, weights, linear)
        leaves = [k for k, node in enumerate(nodes) if node["left"] < 0]
        self.coef_ = np.zeros((len(leaves), 0 if constant else X.shape[1]))
        self.intercept_ = np.zeros(len(leaves))
        self.estimators_: list[Any] = []
        for k, leaf in enumerate(leaves):
            rows = nodes[leaf]["rows"]
            if not isinstance(self.leaf, str):
                self.estimators_.append(fit_copy(self.leaf, X[rows], y[rows], None if w is None else w[rows]))
            elif constant:
                self.intercept_[k] = np.average(y[rows], weights=weights[rows])
            else:
                self.coef_[k], self.intercept_[k] = fit_plane(X[rows], y[rows], weights[rows])
        self.leaves_ = np.array(leaves)
        if isinstance(self.leaf, str) and not constant:
            self._move_cuts(nodes, X)
        self.tree_ = _tree(nodes, X.shape[1])
        return self

    def _check_params(self) -> None:
        check_choice(self, "split", ("auto", "linear", "constant"))
        check_number(self, "max_depth", 0, integer=True, also=(None,))
        check_number(self, "min_samples_leaf", 1, integer=True)
        check_number(self, "min_gain", 0.0, also=("bic",))
        named = isinstance(self.leaf, str) and self.leaf in ("constant", "linear")
        if not named and not (hasattr(self.leaf, "fit") and is_regressor(self.leaf)):
            raise ParameterError(
                f"The 'leaf' parameter of {type(self).__name__} must be 'linear', 'constant' or a regressor. "
                f"Got {str(self.leaf)[:60]} instead."
            )

    def _grow(self, X: np.ndarray, y: np.ndarray, w: np.ndarray, linear: bool) -> list[dict[str, Any]]:
        n, least = len(y), self.min_samples_leaf
        centre, scale = X.mean(axis=0), np.maximum(X.std(axis=0), 1e-300)
        Z = (X - centre) / scale if linear else np.empty((n, 0))  # well scaled for the products below
        shift = np.average(y, weights=w)
        target = y - shift
        first = first_of_equal_rows(X)
        floor = 1e-22 * float(w @ target**2) / w.sum()
        nodes: list[dict[str, Any]] = [_node(np.arange(n), -1, 0)]
        stack = [0]
        while stack:
            k = stack.pop()
            node = nodes[k]
            rows = node["rows"]
            node["value"] = float(np.average(y[rows], weights=w[rows]))
            node["weight"] = float(w[rows].sum())
            unsplit = Half(Z[rows], target[rows], w[rows])
            node["error"] = unsplit.error / node["weight"]
            deep = self.max_depth is not None and node["depth"] >= self.max_depth
            if deep or len(rows) < 2 * least or node["error"] <= floor:
                continue
            cut = best_cut(X[rows], Z[rows], target[rows], w[rows], first[rows], least)
            if cut is None or not self._worth(unsplit.error, cut.error, node["weight"], floor, Z.shape[1]):
                continue
            left = X[rows, cut.feature] <= cut.threshold
            node.update(feature=cut.feature, threshold=cut.threshold, left=len(nodes), right=len(nodes) + 1)
            nodes += [_node(rows[left], k, node["depth"] + 1), _node(rows[~left], k, node["depth"] + 1)]
            stack += [node["right"], node["left"]]
        return nodes

    def _worth(self, before: float, after: float, weight: float, floor: float, d: int) -> bool:
        """Whether a cut pays."""
        if self.min_gain != "bic":
            return before - after > self.min_gain * before and before > after
        tiny = floor * weight + 1e-300
        return weight * np.log((before + tiny) / (max(after, 0.0) + tiny)) > (d + 2) * np.log(max(weight, 2.0))

    def _move_cuts(self, nodes: list[dict[str, Any]], X: np.ndarray) -> None:
        """Put a cut where the planes next to it meet, if that is between the rows next to it: no row changes sides."""
        leaf_of = np.empty(X.shape[0], dtype=np.int64)
        for k, leaf in enumerate(self.leaves_):
            leaf_of[nodes[leaf]["rows"]] = k
        for node in nodes:
            if node["left"] < 0:
                continue
            rows, feature = node["rows"], node["feature"]
            column = X[rows, feature]
            left = column <= node["threshold"]
            below, above = rows[left][column[left].argmax()], rows[~left][column[~left].argmin()]
            a, b = leaf_of[below], leaf_of[above]
            at = meeting_point(self.coef_[a], self.intercept_[a], self.coef_[b], self.intercept_[b], feature)
            if at is not None and X[below, feature] <= at < X[above, feature]:
                node["threshold"] = float(at)

    def apply(self, X: Any) -> np.ndarray:
        """The node of the leaf each row falls into.

        Returns
        -------
        leaves : ndarray of shape (n_samples,)
            Numbers of nodes in `tree_`, each one of `leaves_`.
        """
        check_is_fitted(self)
        return self.tree_.apply(check_predict(self, X))

    def explain(self, x: Any, *, feature_names: Any = None) -> str:
        """Which leaf answers for one row, and why: its path in words.

        Parameters
        ----------
        x : array-like of shape (n_features,) or (1, n_features), or data frame of one row
            The row to explain.
        feature_names : list of str or None, default=None
            Names of the columns; None for those seen during `fit`.

        Returns
        -------
        text : str
            A sentence: the answer, how many training rows stand behind it, and the bounds that led there.
        """
        from learnt.tree._explain import explain

        return explain(self, x, feature_names=feature_names)

    def predict(self, X: Any) -> np.ndarray:
        """The prediction of the model in each row's leaf."""
        check_is_fitted(self)
        X = check_predict(self, X)
        leaf = np.searchsorted(self.leaves_, self.tree_.apply(X))
        if self.estimators_:
            out = np.empty(X.shape[0])
            for k in np.unique(leaf):
                here = leaf == k
                found = self.estimators_[k].predict(X[here])
                if np.shape(found) != (np.count_nonzero(here),):
                    raise ValueError(
                        f"The model of leaf {k} answered {np.count_nonzero(here)} rows with an array of shape "
                        f"{np.shape(found)}; it must give one number a row."
                    )
                out[here] = found
            return out
        out = self.intercept_[leaf]
        return out + np.einsum("ij,ij->i", X, self.coef_[leaf]) if self.coef_.shape[1] else out


def _node(rows: np.ndarray, parent: int, depth: int) -> dict[str, Any]:
    return {"rows": rows, "parent": parent, "depth": depth, "left": -1, "right": -1, "feature": -2, "threshold": -2.0}


def _tree(nodes: list[dict[str, Any]], n_features: int) -> Tree:
    return Tree(
        n_features,
        [1],
        children_left=[node["left"] for node in nodes],
        children_right=[node["right"] for node in nodes],
        feature=[node["feature"] for node in nodes],
        threshold=[node["threshold"] for node in nodes],
        impurity=[node["error"] for node in nodes],
        n_node_samples=[len(node["rows"]) for node in nodes],
        weighted_n_node_samples=[node["weight"] for node in nodes],
        value=[[[node["value"]]] for node in nodes],
    )
