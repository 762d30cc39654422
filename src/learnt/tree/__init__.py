"""Single trees: the table cut into boxes by questions about one column at a time.

    DecisionTreeClassifier, DecisionTreeRegressor    exact growth; numbers, categories, missing values, several outputs
    ExtraTreeClassifier, ExtraTreeRegressor          random thresholds, for ensembles
    prune                                            reduced-error pruning of a fitted tree
    DyadicPartitionRegressor, ModelTreeRegressor     partitions with any model in a cell
    plot_tree, export_text, export_graphviz          a tree drawn and printed
    explain                                          the path of one row in words

Implementation: `_base` (validation, growth, methods that read a tree), `_classifier`, `_regressor`, `_extra`; the trees
themselves are grown and kept by `learnt.forestry`.
"""

from learnt.tree._classifier import DecisionTreeClassifier
from learnt.tree._dyadic import DyadicPartitionRegressor
from learnt.tree._explain import explain
from learnt.tree._export_graphviz import export_graphviz
from learnt.tree._export_text import export_text
from learnt.tree._extra import ExtraTreeClassifier, ExtraTreeRegressor
from learnt.tree._model_tree import ModelTreeRegressor
from learnt.tree._plot import TreeDrawing, plot_tree
from learnt.tree._prune import prune
from learnt.tree._regressor import DecisionTreeRegressor

__all__ = [
    "DecisionTreeClassifier",
    "DecisionTreeRegressor",
    "DyadicPartitionRegressor",
    "ExtraTreeClassifier",
    "ExtraTreeRegressor",
    "ModelTreeRegressor",
    "TreeDrawing",
    "explain",
    "export_graphviz",
    "export_text",
    "plot_tree",
    "prune",
]
