"""Single trees: the table cut into boxes by questions about one column at a time.

    DecisionTreeClassifier, DecisionTreeRegressor    exact growth; numbers, categories, missing values, several outputs
    ExtraTreeClassifier, ExtraTreeRegressor          random thresholds, for ensembles
    prune                                            reduced-error pruning of a fitted tree
    DyadicPartitionRegressor                         cubes cut in halves

Implementation: `_base` (checks, growth, what can be asked), `_classifier`, `_regressor`, `_extra`; the trees themselves
are grown and kept by `learnt.forestry`.
"""

from learnt.tree._classifier import DecisionTreeClassifier
from learnt.tree._dyadic import DyadicPartitionRegressor
from learnt.tree._extra import ExtraTreeClassifier, ExtraTreeRegressor
from learnt.tree._prune import prune
from learnt.tree._regressor import DecisionTreeRegressor

__all__ = [
    "DecisionTreeClassifier",
    "DecisionTreeRegressor",
    "DyadicPartitionRegressor",
    "ExtraTreeClassifier",
    "ExtraTreeRegressor",
    "prune",
]
