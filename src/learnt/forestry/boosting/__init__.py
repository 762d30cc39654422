"""Trees of boosted models, grown from histograms of gradients by a team of threads.

_grower     A tree for gradients: leaf by leaf, or level by level, from histograms
_histogram  Sums of gradients, hessians and counts by bin, in integers
_kernel     Growing one tree: take the open leaf with the largest gain, split it, and so on
_rows       Passes over all rows of a table around the growth of a tree: gradients, rounding, sums of leaves
_search     The best split of a node by a threshold, from its histogram
_sets       The best split of a node by a set of categories, from its histogram
_share      What one thread of a team does of a step in growing a tree: pass over rows, partition, sum histograms
_state      What the kernels share, by name: the table, the memory of a growing tree, how sums are written
_stages     What comes before and after the growth of a tree: the leader's stages that pass over all rows
_team       A team of threads inside one compiled call: the leader posts steps
_trees      The trees of a boosted model: packed for prediction, with what explaining and keeping them needs
"""
