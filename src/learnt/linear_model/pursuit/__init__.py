"""Few columns, chosen greedily one after the other.

_gram           Sources of rows of the Gram matrix for pursuits: all at once
_kernels        The inner loops of matching pursuit and forward stagewise regression
_matching       Matching pursuit, the plain one
_orthogonal     Orthogonal matching pursuit
_orthogonal_cv  Orthogonal matching pursuit with the number of columns chosen by cross-validation
_solve          Orthogonal matching pursuit as functions of arrays: of X and y, or of their products
_stagewise      Forward stagewise regression
"""
