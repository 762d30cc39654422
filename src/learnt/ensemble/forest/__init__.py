"""Random forests and extremely randomised trees.

_base        What all forests share: validation, the samples, the trees on the pool
_classifier  Forests of classification trees: classes, shares of votes, scores on rows left out
_embedding   Rows described by the leaves they fall into, in trees that were cut at random
_extra       Extremely randomised trees: each split the best of a few random columns
_growth      One tree of a forest from its seed: sample, grow (exact or binned), prune, pack
_isolation   Isolation forests: outliers are the rows that few random cuts part from the others
_left_out    Rows that a tree has not seen: predictions, scores, importances by permutation
_members     The trees of a forest as estimators of their own, made when asked for
_path_lengths  How many random cuts part a row from all others: the trees that count them, and what that means
_quantiles   What the leaves of a regression forest know beside their mean: a few of the targets in them
_random      Random forests: trees on bootstrap samples, each split the best of a few random columns
_regressor   Forests of regression trees: means, spread, quantiles, prediction intervals
_sampling    Which rows each tree of a forest sees: a bootstrap sample
"""
