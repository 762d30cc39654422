"""Splitting, searching and comparing.

    _split      train_test_split (scikit-learn's rows, any container, by time), train_validation_test_split
    _sealed     SealedTestSet: the test set is used once
    _compare    corrected intervals for cross-validated scores, ties between models
    _telescopic TelescopicSearchCV: a grid searched from coarse to fine
    _validate   cross_val_score and its kin for arrays on a device too
    _rows, _take    which rows go where; rows of anything
    _borrowed   scikit-learn's names

Folds, other searches and curves are scikit-learn's own: they hold estimators and do no learning, they are right, and
our estimators work in them. They stand here under the same names, so that changing the import is the whole migration.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from learnt.engine.late_import import names_when_used

if TYPE_CHECKING:
    from sklearn.model_selection import BaseCrossValidator as BaseCrossValidator
    from sklearn.model_selection import BaseShuffleSplit as BaseShuffleSplit
    from sklearn.model_selection import FixedThresholdClassifier as FixedThresholdClassifier
    from sklearn.model_selection import GridSearchCV as GridSearchCV
    from sklearn.model_selection import GroupKFold as GroupKFold
    from sklearn.model_selection import GroupShuffleSplit as GroupShuffleSplit
    from sklearn.model_selection import HalvingGridSearchCV as HalvingGridSearchCV
    from sklearn.model_selection import HalvingRandomSearchCV as HalvingRandomSearchCV
    from sklearn.model_selection import KFold as KFold
    from sklearn.model_selection import LearningCurveDisplay as LearningCurveDisplay
    from sklearn.model_selection import LeaveOneGroupOut as LeaveOneGroupOut
    from sklearn.model_selection import LeaveOneOut as LeaveOneOut
    from sklearn.model_selection import LeavePGroupsOut as LeavePGroupsOut
    from sklearn.model_selection import LeavePOut as LeavePOut
    from sklearn.model_selection import ParameterGrid as ParameterGrid
    from sklearn.model_selection import ParameterSampler as ParameterSampler
    from sklearn.model_selection import PredefinedSplit as PredefinedSplit
    from sklearn.model_selection import RandomizedSearchCV as RandomizedSearchCV
    from sklearn.model_selection import RepeatedKFold as RepeatedKFold
    from sklearn.model_selection import RepeatedStratifiedKFold as RepeatedStratifiedKFold
    from sklearn.model_selection import ShuffleSplit as ShuffleSplit
    from sklearn.model_selection import StratifiedGroupKFold as StratifiedGroupKFold
    from sklearn.model_selection import StratifiedKFold as StratifiedKFold
    from sklearn.model_selection import StratifiedShuffleSplit as StratifiedShuffleSplit
    from sklearn.model_selection import TimeSeriesSplit as TimeSeriesSplit
    from sklearn.model_selection import TunedThresholdClassifierCV as TunedThresholdClassifierCV
    from sklearn.model_selection import ValidationCurveDisplay as ValidationCurveDisplay
    from sklearn.model_selection import check_cv as check_cv

    from learnt.model_selection._compare import Comparison as Comparison
    from learnt.model_selection._compare import ScoreInterval as ScoreInterval
    from learnt.model_selection._compare import compare_scores as compare_scores
    from learnt.model_selection._compare import corrected_interval as corrected_interval
    from learnt.model_selection._compare import tied_with_best as tied_with_best
    from learnt.model_selection._sealed import SealedTestSet as SealedTestSet
    from learnt.model_selection._sealed import TestSetReopenedWarning as TestSetReopenedWarning
    from learnt.model_selection._split import train_test_split as train_test_split
    from learnt.model_selection._split import train_validation_test_split as train_validation_test_split
    from learnt.model_selection._telescopic import TelescopicSearchCV as TelescopicSearchCV
    from learnt.model_selection._validate import cross_val_predict as cross_val_predict
    from learnt.model_selection._validate import cross_val_score as cross_val_score
    from learnt.model_selection._validate import cross_validate as cross_validate
    from learnt.model_selection._validate import learning_curve as learning_curve
    from learnt.model_selection._validate import permutation_test_score as permutation_test_score
    from learnt.model_selection._validate import validation_curve as validation_curve

__all__ = [
    "BaseCrossValidator",
    "BaseShuffleSplit",
    "Comparison",
    "FixedThresholdClassifier",
    "GridSearchCV",
    "GroupKFold",
    "GroupShuffleSplit",
    "HalvingGridSearchCV",
    "HalvingRandomSearchCV",
    "KFold",
    "LearningCurveDisplay",
    "LeaveOneGroupOut",
    "LeaveOneOut",
    "LeavePGroupsOut",
    "LeavePOut",
    "ParameterGrid",
    "ParameterSampler",
    "PredefinedSplit",
    "RandomizedSearchCV",
    "RepeatedKFold",
    "RepeatedStratifiedKFold",
    "ScoreInterval",
    "SealedTestSet",
    "ShuffleSplit",
    "StratifiedGroupKFold",
    "StratifiedKFold",
    "StratifiedShuffleSplit",
    "TelescopicSearchCV",
    "TestSetReopenedWarning",
    "TimeSeriesSplit",
    "TunedThresholdClassifierCV",
    "ValidationCurveDisplay",
    "check_cv",
    "compare_scores",
    "corrected_interval",
    "cross_val_predict",
    "cross_val_score",
    "cross_validate",
    "learning_curve",
    "permutation_test_score",
    "tied_with_best",
    "train_test_split",
    "train_validation_test_split",
    "validation_curve",
]

# Imported when first named: scikit-learn's takes longer to load than all that a study needs before its first fit.
_FILES = dict.fromkeys(__all__, "_borrowed") | {
    "Comparison": "_compare",
    "ScoreInterval": "_compare",
    "SealedTestSet": "_sealed",
    "TelescopicSearchCV": "_telescopic",
    "TestSetReopenedWarning": "_sealed",
    "compare_scores": "_compare",
    "corrected_interval": "_compare",
    "cross_val_predict": "_validate",
    "cross_val_score": "_validate",
    "cross_validate": "_validate",
    "learning_curve": "_validate",
    "permutation_test_score": "_validate",
    "tied_with_best": "_compare",
    "train_test_split": "_split",
    "train_validation_test_split": "_split",
    "validation_curve": "_validate",
}

__getattr__, __dir__ = names_when_used("learnt.model_selection", _FILES)
