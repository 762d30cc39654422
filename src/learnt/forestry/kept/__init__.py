"""Grown trees: how they are stored, walked, pruned and explained.

_grove         Many trees of one forest, kept small: 16 bytes a node for prediction
_grove_layout  How the trees of a grove lie: orders of nodes, records that are walked
_packed        Many trees laid out for prediction, siblings side by side: 16 bytes a node
_pruning       Cutting a grown tree back: by cost and complexity, or by its errors on rows that it has not seen
_shapley       Exact Shapley values of trees: how much of one prediction is due to each column
_short         Trees whose nodes are one word each, for predictions of many rows
_short_words   How the nodes of `_walk` become the words of `_short`, some trees at a time on each thread
_small_tree    One grown tree in as few bytes as hold it, to wait in until its forest is put together
_tree          One grown tree as arrays, under the attribute names scikit-learn's users inspect
_walk          From the root to a leaf: the one compiled walk that single trees, forests and boosting share
_walk_many     Many rows through many trees, eight rows at a time: a handful of instructions a step
"""
