"""Many models that decide together: bagging, forests, boosting, voting, stacking.

    VotingClassifier, VotingRegressor                    different models vote, or their mean is taken
    StackingClassifier, StackingRegressor                a model learns how to use the answers of others
    BaggingClassifier, BaggingRegressor                  one estimator on many random samples of the rows
    RandomForest…, ExtraTrees…                           trees on random rows and columns
    RandomTreesEmbedding                                 a row described by its leaves in random trees
    IsolationForest                                      outliers: rows that few random cuts part from the others
    AdaBoostClassifier, AdaBoostRegressor                each learner on the rows that were hard so far
    GradientBoosting…, HistGradientBoosting…             trees that follow the slope of a loss
    FunctionalGradientBoosting                           the same with any learner and any loss
    RecalibratedClassifier, recalibrate                  probabilities bent by a given map

Folders: `forest`, `hist_boosting`, `gradient_boosting`, `adaboost`, `bagging`, `stacking` (and voting); `_common` has
the fits and seeds of members, which all of them share.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from learnt.engine.late_import import names_when_used

if TYPE_CHECKING:
    from learnt.ensemble.adaboost._classifier import AdaBoostClassifier as AdaBoostClassifier
    from learnt.ensemble.adaboost._regressor import AdaBoostRegressor as AdaBoostRegressor
    from learnt.ensemble.bagging._classifier import BaggingClassifier as BaggingClassifier
    from learnt.ensemble.bagging._regressor import BaggingRegressor as BaggingRegressor
    from learnt.ensemble.forest._embedding import RandomTreesEmbedding as RandomTreesEmbedding
    from learnt.ensemble.forest._extra import ExtraTreesClassifier as ExtraTreesClassifier
    from learnt.ensemble.forest._extra import ExtraTreesRegressor as ExtraTreesRegressor
    from learnt.ensemble.forest._isolation import IsolationForest as IsolationForest
    from learnt.ensemble.forest._random import RandomForestClassifier as RandomForestClassifier
    from learnt.ensemble.forest._random import RandomForestRegressor as RandomForestRegressor
    from learnt.ensemble.gradient_boosting._classifier import GradientBoostingClassifier as GradientBoostingClassifier
    from learnt.ensemble.gradient_boosting._functional import FunctionalGradientBoosting as FunctionalGradientBoosting
    from learnt.ensemble.gradient_boosting._regressor import GradientBoostingRegressor as GradientBoostingRegressor
    from learnt.ensemble.hist_boosting._classifier import (
        HistGradientBoostingClassifier as HistGradientBoostingClassifier,
    )
    from learnt.ensemble.hist_boosting._regressor import HistGradientBoostingRegressor as HistGradientBoostingRegressor
    from learnt.ensemble.stacking._probability_map import recalibrate as recalibrate
    from learnt.ensemble.stacking._recalibrated import RecalibratedClassifier as RecalibratedClassifier
    from learnt.ensemble.stacking._stacking import StackingClassifier as StackingClassifier
    from learnt.ensemble.stacking._stacking import StackingRegressor as StackingRegressor
    from learnt.ensemble.stacking._voting import VotingClassifier as VotingClassifier
    from learnt.ensemble.stacking._voting import VotingRegressor as VotingRegressor

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
    "IsolationForest",
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

# Imported when first used: a forest need not import stacking, nor a probability map trees.
_FILES = {
    "AdaBoostClassifier": "adaboost._classifier",
    "AdaBoostRegressor": "adaboost._regressor",
    "BaggingClassifier": "bagging._classifier",
    "BaggingRegressor": "bagging._regressor",
    "ExtraTreesClassifier": "forest._extra",
    "ExtraTreesRegressor": "forest._extra",
    "FunctionalGradientBoosting": "gradient_boosting._functional",
    "GradientBoostingClassifier": "gradient_boosting._classifier",
    "GradientBoostingRegressor": "gradient_boosting._regressor",
    "HistGradientBoostingClassifier": "hist_boosting._classifier",
    "HistGradientBoostingRegressor": "hist_boosting._regressor",
    "IsolationForest": "forest._isolation",
    "RandomForestClassifier": "forest._random",
    "RandomForestRegressor": "forest._random",
    "RandomTreesEmbedding": "forest._embedding",
    "RecalibratedClassifier": "stacking._recalibrated",
    "StackingClassifier": "stacking._stacking",
    "StackingRegressor": "stacking._stacking",
    "VotingClassifier": "stacking._voting",
    "VotingRegressor": "stacking._voting",
    "recalibrate": "stacking._probability_map",
}

__getattr__, __dir__ = names_when_used("learnt.ensemble", _FILES)
