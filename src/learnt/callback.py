"""Callbacks that estimators tell of their progress: scikit-learn's, as they are (from its release 1.9 on)."""

from sklearn.callback import (
    AutoPropagatedCallback,
    CallbackContext,
    CallbackSupportMixin,
    FitCallback,
    ProgressBar,
    ScoringMonitor,
    ScoringMonitorLog,
    with_callbacks,
)

__all__ = [
    "AutoPropagatedCallback",
    "CallbackContext",
    "CallbackSupportMixin",
    "FitCallback",
    "ProgressBar",
    "ScoringMonitor",
    "ScoringMonitorLog",
    "with_callbacks",
]
