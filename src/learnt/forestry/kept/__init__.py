"""Grown trees: how they are stored, traversed, pruned and explained.

_grove         Many trees of one forest, kept small: 16 bytes a node for prediction
_grove_layout  The memory layout of a grove: orders of nodes, records for traversal
_packed        Many trees laid out for prediction, siblings side by side: 16 bytes a node
_pruning       Pruning: by cost and complexity, or by errors on validation rows
_shapley       Exact Shapley values of trees: how much of one prediction is due to each column
_short         Trees whose nodes are one word each, for predictions of many rows
_short_words   How the nodes of `_traverse` become the words of `_short`, some trees at a time on each thread
_small_tree    One grown tree in as few bytes as possible, until its forest is assembled
_tree          One grown tree as arrays, under the attribute names scikit-learn's users inspect
_traverse      From the root to a leaf: the one compiled traversal that single trees, forests and boosting share
_traverse_many Many rows through many trees, eight rows at a time: a handful of instructions a step
"""
