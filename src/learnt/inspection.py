"""What a fitted model depends on: reasons row by row; scikit-learn's permutations, partial dependence and pictures."""

from sklearn.inspection import (
    DecisionBoundaryDisplay,
    PartialDependenceDisplay,
    partial_dependence,
    permutation_importance,
)

from learnt.explanation._reasons import Reasons, contributions

__all__ = [
    "DecisionBoundaryDisplay",
    "PartialDependenceDisplay",
    "Reasons",
    "contributions",
    "partial_dependence",
    "permutation_importance",
]
