"""Least angle regression: the columns most correlated with the residual move together, in equal steps.

_functions  The path as functions of arrays: of X and y, or of their products
_kernels    From one bend of the path to the next
_lars       Least angle regression and the lasso at one penalty
_lars_cv    The penalty chosen by cross-validation
_lars_ic    The penalty chosen by an information criterion
_path       The bends of one target's path, from rows of the Gram matrix
"""
