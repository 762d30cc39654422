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

Implementation: `_common` (the fits and seeds of members); `_named_members` (those of `_voting` and `_stacking*`);
`_bagging*`; `_adaboost*` and `_stumps` (columns sorted once); `_functional*`; `_forest*`; `_gradient_boosting*`;
`_hist_boosting*`.
"""

from learnt.ensemble._adaboost import AdaBoostClassifier
from learnt.ensemble._adaboost_regressor import AdaBoostRegressor
from learnt.ensemble._bagging_classifier import BaggingClassifier
from learnt.ensemble._bagging_regressor import BaggingRegressor
from learnt.ensemble._forest import RandomForestClassifier, RandomForestRegressor
from learnt.ensemble._forest_embedding import RandomTreesEmbedding
from learnt.ensemble._forest_extra import ExtraTreesClassifier, ExtraTreesRegressor
from learnt.ensemble._functional import FunctionalGradientBoosting
from learnt.ensemble._gradient_boosting_classifier import GradientBoostingClassifier
from learnt.ensemble._gradient_boosting_regressor import GradientBoostingRegressor
from learnt.ensemble._hist_boosting_classifier import HistGradientBoostingClassifier
from learnt.ensemble._hist_boosting_regressor import HistGradientBoostingRegressor
from learnt.ensemble._recalibrated import RecalibratedClassifier, recalibrate
from learnt.ensemble._stacking import StackingClassifier, StackingRegressor
from learnt.ensemble._voting import VotingClassifier, VotingRegressor

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
