"""Missing cells filled in.

    KNNImputer           by the mean of the nearest rows that have the cell
    IterativeImputer     by a regression on the other columns, one column after the other, round after round
    SimpleImputer        by one value a column            } scikit-learn's, as they are
    MissingIndicator     columns that say where they were }

_cells       tables in which missing cells are NaN, and what becomes of them
_nearest     distances over the cells that two rows both have, and the nearest rows that have a cell; compiled
_knn         KNNImputer
_rounds      the order of the columns, their neighbours and limits      _iterative    IterativeImputer
"""

from sklearn.impute import MissingIndicator, SimpleImputer

from learnt.impute._iterative import IterativeImputer
from learnt.impute._knn import KNNImputer
from learnt.impute._rounds import ImputerTriplet as ImputerTriplet

__all__ = ["IterativeImputer", "KNNImputer", "MissingIndicator", "SimpleImputer"]
