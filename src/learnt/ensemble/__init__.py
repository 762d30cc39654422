"""Many models that decide together: bagging, forests, boosting, voting, stacking."""

from learnt.ensemble._stacking import StackingClassifier, StackingRegressor
from learnt.ensemble._voting import VotingClassifier, VotingRegressor

__all__ = [
    "StackingClassifier",
    "StackingRegressor",
    "VotingClassifier",
    "VotingRegressor",
]
