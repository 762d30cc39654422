"""What a data scientist looks for in the report, each a frozen dataclass and a pure function of arrays and columns.

_profiles      each column: how its cells are distributed, what is missing, how the target goes with it
_thresholds    the precision–recall curve, and every threshold with its confusion matrix and costs
_effects       partial dependence: how predictions change with one column
_rows          the rows that were predicted worst, and typical ones, with the reasons for their predictions
_groups        errors by group, so that noise is not taken for bias
_finishers     the race as time against loss
_reliability   calibration before and after
_drift         development and test rows compared, column by column

_values        columns as numbers or labels, and their cells in groups
_significance  tests of many groups or columns at once
"""
