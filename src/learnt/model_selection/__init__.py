"""Splitting, searching and comparing.

    _split      train_test_split (scikit-learn's rows, any container, by time), train_validation_test_split
    _sealed     SealedTestSet: the test set is used once
    _compare    corrected intervals for cross-validated scores, ties between models
    _validate   cross_val_score and its kin for arrays on a device too
    _rows, _take    which rows go where; rows of anything

Folds, searches and curves are scikit-learn's own: they hold estimators and do no learning, they are right, and our
estimators work in them. They stand here under the same names, so that changing the import is the whole migration.
"""

from sklearn.model_selection import (
    GridSearchCV,
    GroupKFold,
    GroupShuffleSplit,
    KFold,
    LeaveOneGroupOut,
    LeaveOneOut,
    LeavePGroupsOut,
    LeavePOut,
    ParameterGrid,
    ParameterSampler,
    PredefinedSplit,
    RandomizedSearchCV,
    RepeatedKFold,
    RepeatedStratifiedKFold,
    ShuffleSplit,
    StratifiedGroupKFold,
    StratifiedKFold,
    StratifiedShuffleSplit,
    TimeSeriesSplit,
    check_cv,
)

from learnt.model_selection._compare import (
    Comparison,
    ScoreInterval,
    compare_scores,
    corrected_interval,
    tied_with_best,
)
from learnt.model_selection._sealed import SealedTestSet, TestSetReopenedWarning
from learnt.model_selection._split import train_test_split, train_validation_test_split
from learnt.model_selection._validate import (
    cross_val_predict,
    cross_val_score,
    cross_validate,
    learning_curve,
    permutation_test_score,
    validation_curve,
)

__all__ = [
    "Comparison",
    "GridSearchCV",
    "GroupKFold",
    "GroupShuffleSplit",
    "KFold",
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
    "TestSetReopenedWarning",
    "TimeSeriesSplit",
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
