"""Trees as arrays: how one is grown, kept, walked, pruned and explained. No estimators here.

    Tree    one grown tree, a struct of arrays under scikit-learn's attribute names

Rule at a node, everywhere: left if x ≤ threshold; a missing value by `missing_go_to_left`; categories by a table.
"""

from learnt.forestry._tree import Tree

__all__ = ["Tree"]
