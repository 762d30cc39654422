"""Trees as arrays: growing, storing, traversing, pruning and explaining them. No estimators here.

    Tree           one grown tree, a struct of arrays under scikit-learn's attribute names
    grow_exact     one tree, every cut evaluated; Columns is the table it is grown on, which trees may share
    grow_in_scale  the same in a unit that suits the targets, for numbers very small or very large
    Categories     columns of categories as codes; prune_by_cost, prune_by_errors cut a tree back
    PackedTrees    many trees laid out for prediction
    BoostedTrees   the trees of a boosted model; HistogramGrower grows them
    bin_columns    columns as codes of one byte; Bins defines the codes
    bin_chosen     the same of rows that are read in blocks, from files and Dask collections
    grow_binned    one tree on binned columns, for forests; bin_table makes the table
    grow_density   a tree of cells that follow the rows, without a target; prune_by_likelihood cuts it back
    Grove          the trees of a forest, stored compactly; a SmallTree is one of them, smaller still, while others grow

Rule at a node, everywhere: left if x ≤ threshold; a missing value by `missing_go_to_left`; categories by a table.
"""

from learnt.forestry.binned._forest import BinnedTable as BinnedTable
from learnt.forestry.binned._forest import bin_table as bin_table
from learnt.forestry.binned._forest import grow_binned as grow_binned
from learnt.forestry.binned._forest import grow_binned_small as grow_binned_small
from learnt.forestry.binned._lazy import CodedTable as CodedTable
from learnt.forestry.binned._lazy import bin_rows as bin_rows
from learnt.forestry.bins._bins import Bins as Bins
from learnt.forestry.bins._bins import bin_columns as bin_columns
from learnt.forestry.bins._bins import find_bins as find_bins
from learnt.forestry.bins._categories import Categories as Categories
from learnt.forestry.bins._categories import category_codes as category_codes
from learnt.forestry.bins._categories import category_mask as category_mask
from learnt.forestry.bins._categories import learn_categories as learn_categories
from learnt.forestry.bins._categories import with_codes as with_codes
from learnt.forestry.bins._chosen import ChosenRows as ChosenRows
from learnt.forestry.bins._chosen import CodedRows as CodedRows
from learnt.forestry.bins._chosen import bin_chosen as bin_chosen
from learnt.forestry.bins._chosen import code_chosen as code_chosen
from learnt.forestry.bins._chosen import parts_of_rows as parts_of_rows
from learnt.forestry.bins._chosen import sum_of_trees as sum_of_trees
from learnt.forestry.bins._pieces import category_columns as category_columns
from learnt.forestry.bins._pieces import piece_cells as piece_cells
from learnt.forestry.bins._pieces import seen_values as seen_values
from learnt.forestry.bins._single import bin_in_single as bin_in_single
from learnt.forestry.boosting._grower import GrownTree as GrownTree
from learnt.forestry.boosting._grower import Growth as Growth
from learnt.forestry.boosting._grower import HistogramGrower as HistogramGrower
from learnt.forestry.boosting._grower import Target as Target
from learnt.forestry.boosting._rows import GIVEN as GIVEN
from learnt.forestry.boosting._rows import LOG as LOG
from learnt.forestry.boosting._rows import SOFTMAX as SOFTMAX
from learnt.forestry.boosting._rows import SQUARED as SQUARED
from learnt.forestry.boosting._rows import loss_rows as loss_rows
from learnt.forestry.boosting._trees import BoostedTrees as BoostedTrees
from learnt.forestry.boosting._trees import from_grown as from_grown
from learnt.forestry.boosting._trees import from_tree as from_tree
from learnt.forestry.density._cells import CELL_SCORES as CELL_SCORES
from learnt.forestry.density._cells import Box as Box
from learnt.forestry.density._cells import CellRules as CellRules
from learnt.forestry.density._cells import best_leaves as best_leaves
from learnt.forestry.density._cells import cell_bounds as cell_bounds
from learnt.forestry.density._cells import constant_worth as constant_worth
from learnt.forestry.density._cells import grow_density as grow_density
from learnt.forestry.density._cells import log_volumes as log_volumes
from learnt.forestry.density._cells import prune_by_likelihood as prune_by_likelihood
from learnt.forestry.density._cells import weigh as weigh
from learnt.forestry.exact._growth import Columns as Columns
from learnt.forestry.exact._growth import grow_exact as grow_exact
from learnt.forestry.exact._scale import grow_in_scale as grow_in_scale
from learnt.forestry.exact._scale import power_of as power_of
from learnt.forestry.exact._surrogates import Surrogates as Surrogates
from learnt.forestry.kept._grove import Grove as Grove
from learnt.forestry.kept._packed import PackedTrees as PackedTrees
from learnt.forestry.kept._pruning import keep_nodes as keep_nodes
from learnt.forestry.kept._pruning import prune_by_cost as prune_by_cost
from learnt.forestry.kept._pruning import prune_by_errors as prune_by_errors
from learnt.forestry.kept._pruning import pruning_path as pruning_path
from learnt.forestry.kept._small_tree import SmallTree as SmallTree
from learnt.forestry.kept._tree import Tree

__all__ = [
    "CELL_SCORES",
    "GIVEN",
    "LOG",
    "SOFTMAX",
    "SQUARED",
    "BinnedTable",
    "Bins",
    "BoostedTrees",
    "Box",
    "Categories",
    "CellRules",
    "ChosenRows",
    "CodedRows",
    "CodedTable",
    "Columns",
    "Grove",
    "GrownTree",
    "Growth",
    "HistogramGrower",
    "PackedTrees",
    "SmallTree",
    "Surrogates",
    "Target",
    "Tree",
    "best_leaves",
    "bin_chosen",
    "bin_columns",
    "bin_in_single",
    "bin_rows",
    "bin_table",
    "category_codes",
    "category_columns",
    "category_mask",
    "cell_bounds",
    "code_chosen",
    "constant_worth",
    "find_bins",
    "from_grown",
    "from_tree",
    "grow_binned",
    "grow_binned_small",
    "grow_density",
    "grow_exact",
    "grow_in_scale",
    "keep_nodes",
    "learn_categories",
    "log_volumes",
    "loss_rows",
    "parts_of_rows",
    "piece_cells",
    "power_of",
    "prune_by_cost",
    "prune_by_errors",
    "prune_by_likelihood",
    "pruning_path",
    "seen_values",
    "sum_of_trees",
    "weigh",
    "with_codes",
]
