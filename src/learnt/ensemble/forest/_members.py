"""The trees of a forest as estimators of their own, made when asked for."""

from __future__ import annotations

from typing import Any

import numpy as np

from learnt.engine.mixins import is_classifier

_SHARED = (
    "criterion",
    "max_depth",
    "min_samples_split",
    "min_samples_leaf",
    "min_weight_fraction_leaf",
    "max_features",
    "max_leaf_nodes",
    "min_impurity_decrease",
    "ccp_alpha",
    "monotonic_cst",
)


def empty_tree(forest: Any) -> Any:
    """A tree with the parameters of the forest."""
    from learnt import tree

    kind = "ExtraTree" if forest._random_splits else "DecisionTree"
    model = getattr(tree, kind + ("Classifier" if is_classifier(forest) else "Regressor"))
    return model(**{name: getattr(forest, name) for name in _SHARED})


def tree_estimator(forest: Any, t: int) -> Any:
    """Tree number t as a fitted estimator; its classes are codes, as in scikit-learn."""
    model = empty_tree(forest)
    model.random_state = int(forest.seeds_[t])
    model.tree_ = forest.grove_.tree(t)
    model._categories = None  # the forest hands its trees codes
    model.n_features_in_ = forest.n_features_in_
    model.n_outputs_ = forest.n_outputs_
    model.max_features_ = forest._max_features(forest.n_features_in_)
    if is_classifier(forest):
        codes = [np.arange(k, dtype=np.float64) for k in forest.grove_.n_classes]
        single = forest.n_outputs_ == 1
        model.classes_ = codes[0] if single else codes
        model.n_classes_ = len(codes[0]) if single else [len(c) for c in codes]
    return model
