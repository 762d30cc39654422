"""Many models that decide together: bagging, forests, boosting, voting, stacking.

    VotingClassifier, VotingRegressor                    different models vote, or their mean is taken
    StackingClassifier, StackingRegressor                a model learns how to use the answers of others
    BaggingClassifier, BaggingRegressor                  one estimator on many random samples of the rows
    RandomForest…, ExtraTrees…                           trees on random rows and columns
    RandomTreesEmbedding                                 a row described by its leaves in random trees
    AdaBoostClassifier, AdaBoostRegressor                each learner on the rows that were hard so far
    GradientBoosting…, HistGradientBoosting…             trees that follow the slope of a loss
    FunctionalGradientBoosting                           the same with any learner and any loss
    RecalibratedClassifier, recalibrate                  probabilities bent by a given map

Folders: `forest`, `hist_boosting`, `gradient_boosting`, `adaboost`, `bagging`, `stacking` (and voting); `_common` has
the fits and seeds of members, which all of them share.
"""

from learnt.ensemble.adaboost._classifier import AdaBoostClassifier
from learnt.ensemble.adaboost._regressor import AdaBoostRegressor
from learnt.ensemble.bagging._classifier import BaggingClassifier
from learnt.ensemble.bagging._regressor import BaggingRegressor
from learnt.ensemble.forest._embedding import RandomTreesEmbedding
from learnt.ensemble.forest._extra import ExtraTreesClassifier, ExtraTreesRegressor
from learnt.ensemble.forest._random import RandomForestClassifier, RandomForestRegressor
from learnt.ensemble.gradient_boosting._classifier import GradientBoostingClassifier
from learnt.ensemble.gradient_boosting._functional import FunctionalGradientBoosting
from learnt.ensemble.gradient_boosting._regressor import GradientBoostingRegressor
from learnt.ensemble.hist_boosting._classifier import HistGradientBoostingClassifier
from learnt.ensemble.hist_boosting._regressor import HistGradientBoostingRegressor
from learnt.ensemble.stacking._recalibrated import RecalibratedClassifier, recalibrate
from learnt.ensemble.stacking._stacking import StackingClassifier, StackingRegressor
from learnt.ensemble.stacking._voting import VotingClassifier, VotingRegressor

__all__ = [
    "AdaBoostClassifier",
    "AdaBoostRegressor",
    "BaggingClassifier",
    "BaggingRegressor",
    "ExtraTreesClassifier",
    "ExtraTreesRegressor",
    "FunctionalGradientBoosting",
    "GradientBoostingClassifier",
    "GradientBoostingRegressor",
    "HistGradientBoostingClassifier",
    "HistGradientBoostingRegressor",
    "RandomForestClassifier",
    "RandomForestRegressor",
    "RandomTreesEmbedding",
    "RecalibratedClassifier",
    "StackingClassifier",
    "StackingRegressor",
    "VotingClassifier",
    "VotingRegressor",
    "recalibrate",
]
