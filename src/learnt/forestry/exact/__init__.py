"""Exact growth: every cut between two values is looked at.

_absolute      Splits by absolute error: the error around the median of everything left of a position
_categories    Splits of one column of categories: in two groups, or one branch for each
_criteria      How mixed the rows of a node are, and how good it is to part them
_data          The arrays that compiled growth works on, and the names of their places
_draws         Which columns a node draws: the generator of scikit-learn's trees
_four_columns  Four columns of a node side by side: read, ranged and summed in vectors of four
_general       Exact growth in full: sparse tables, categories, several outputs, absolute errors, surrogates
_grow          Growth of one tree in one compiled call: a frontier of nodes, depth first or best gain first
_growth        Exact growth of one tree: every cut between two values is looked at
_plain         Dense tables of numbers with one output, columns drawn at each node: what forests are grown on
_plain_grow    Growth of one tree on dense numbers with one output: what nearly all trees are
_plain_search  The best threshold of a node of numbers: columns sorted at the node
_plain_sort    Sorting the rows of a node by one column, for nodes of every size
_random        Extremely randomised trees: at each node one random threshold for each column drawn
_records       One row's entry in a column that is being sorted: the value, the row
_scale         Trees of numbers in a unit that suits them
_search        The best split of one node: columns drawn at random without replacement
_significance  Whether a split could be chance: the χ² test of branch against class
_sparse        Splits of sparse tables: what a node costs is the values its rows have
_surrogates    Surrogate splits: where a node's value is missing
_sweep         The best cut of one column: a sweep over its sorted records, left to right
"""
