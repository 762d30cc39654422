"""Many models that decide together: bagging, forests, boosting, voting, stacking."""

from learnt.ensemble._hist_boosting_classifier import HistGradientBoostingClassifier
from learnt.ensemble._hist_boosting_regressor import HistGradientBoostingRegressor
from learnt.ensemble._stacking import StackingClassifier, StackingRegressor
from learnt.ensemble._voting import VotingClassifier, VotingRegressor

__all__ = [
    "HistGradientBoostingClassifier",
    "HistGradientBoostingRegressor",
    "StackingClassifier",
    "StackingRegressor",
    "VotingClassifier",
    "VotingRegressor",
]
