"""Trees with random thresholds: the members of extremely randomised forests."""

from __future__ import annotations

from learnt.engine.estimator import Trial, Warm
from learnt.tree._classifier import DecisionTreeClassifier
from learnt.tree._regressor import DecisionTreeRegressor


class ExtraTreeClassifier(DecisionTreeClassifier):
    """A classification tree that draws, at each node, some columns and one threshold for each, and takes the best.

    Meant for ensembles: alone it is worse than `DecisionTreeClassifier`, which has the same parameters and attributes.

    Examples
    --------
    >>> X, y = [[0.0], [1.0], [2.0], [3.0]], [0, 0, 1, 1]
    >>> ExtraTreeClassifier(random_state=0).fit(X, y).predict([[0.2], [2.9]])
    array([0, 1])
    """

    __learnt_trial__ = Trial(quick={"max_depth": 5, "max_features": None, "random_state": 0}, warmup=(Warm("classes"),))

    def __init__(
        self,
        *,
        criterion="gini",
        splitter="random",
        max_depth=None,
        min_samples_split=2,
        min_samples_leaf=1,
        min_weight_fraction_leaf=0.0,
        max_features="sqrt",
        random_state=None,
        max_leaf_nodes=None,
        min_impurity_decrease=0.0,
        class_weight=None,
        ccp_alpha=0.0,
        monotonic_cst=None,
        categorical_features="from_dtype",
        categorical_split="subset",
        min_significance=None,
        missing="direction",
    ):
        super().__init__(
            criterion=criterion,
            splitter=splitter,
            max_depth=max_depth,
            min_samples_split=min_samples_split,
            min_samples_leaf=min_samples_leaf,
            min_weight_fraction_leaf=min_weight_fraction_leaf,
            max_features=max_features,
            random_state=random_state,
            max_leaf_nodes=max_leaf_nodes,
            min_impurity_decrease=min_impurity_decrease,
            class_weight=class_weight,
            ccp_alpha=ccp_alpha,
            monotonic_cst=monotonic_cst,
            categorical_features=categorical_features,
            categorical_split=categorical_split,
            min_significance=min_significance,
            missing=missing,
        )


class ExtraTreeRegressor(DecisionTreeRegressor):
    """A regression tree that draws, at each node, some columns and one threshold for each, and takes the best.

    Meant for ensembles: alone it is worse than `DecisionTreeRegressor`, which has the same parameters and attributes.

    Examples
    --------
    >>> X, y = [[0.0], [1.0], [2.0], [3.0]], [0.0, 1.0, 2.0, 3.0]
    >>> ExtraTreeRegressor(random_state=0).fit(X, y).predict([[0.0], [3.0]])
    array([0., 3.])
    """

    __learnt_trial__ = Trial(quick={"max_depth": 5, "max_features": None, "random_state": 0}, warmup=(Warm("amount"),))

    def __init__(
        self,
        *,
        criterion="squared_error",
        splitter="random",
        max_depth=None,
        min_samples_split=2,
        min_samples_leaf=1,
        min_weight_fraction_leaf=0.0,
        max_features=1.0,
        random_state=None,
        max_leaf_nodes=None,
        min_impurity_decrease=0.0,
        ccp_alpha=0.0,
        monotonic_cst=None,
        categorical_features="from_dtype",
        categorical_split="subset",
        min_significance=None,
        missing="direction",
    ):
        super().__init__(
            criterion=criterion,
            splitter=splitter,
            max_depth=max_depth,
            min_samples_split=min_samples_split,
            min_samples_leaf=min_samples_leaf,
            min_weight_fraction_leaf=min_weight_fraction_leaf,
            max_features=max_features,
            random_state=random_state,
            max_leaf_nodes=max_leaf_nodes,
            min_impurity_decrease=min_impurity_decrease,
            ccp_alpha=ccp_alpha,
            monotonic_cst=monotonic_cst,
            categorical_features=categorical_features,
            categorical_split=categorical_split,
            min_significance=min_significance,
            missing=missing,
        )
