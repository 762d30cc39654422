"""Warnings and errors of scikit-learn, which our estimators raise too."""

from sklearn.exceptions import (
    ConvergenceWarning,
    DataConversionWarning,
    DataDimensionalityWarning,
    EfficiencyWarning,
    EstimatorCheckFailedWarning,
    FitFailedWarning,
    NotFittedError,
    PositiveSpectrumWarning,
    SkipTestWarning,
    UndefinedMetricWarning,
    UnsetMetadataPassedError,
)

__all__ = [
    "ConvergenceWarning",
    "DataConversionWarning",
    "DataDimensionalityWarning",
    "EfficiencyWarning",
    "EstimatorCheckFailedWarning",
    "FitFailedWarning",
    "NotFittedError",
    "PositiveSpectrumWarning",
    "SkipTestWarning",
    "UndefinedMetricWarning",
    "UnsetMetadataPassedError",
]
