"""Folds, searches and curves that are scikit-learn's own."""

from sklearn.experimental import enable_halving_search_cv as _allowed  # noqa: F401
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
