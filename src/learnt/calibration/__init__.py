"""Probabilities that mean what they say: of the rows that get 0.8, four in five are of the class.

    CalibratedClassifierCV   any classifier's scores turned into probabilities by a map fitted to rows it has not seen
    calibration_curve        how often rows are of the class, where a probability was predicted (`learnt.metrics`)
    CalibrationDisplay       scikit-learn's picture of it; `learnt.plots.calibration` draws one with intervals

Files: `_maps` has the three maps (sigmoid, isotonic, temperature) as functions of arrays, `_classifier` the estimator,
`_schema` what its model file may hold.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from learnt.engine.late_import import names_when_used

if TYPE_CHECKING:
    from sklearn.calibration import CalibrationDisplay as CalibrationDisplay

    from learnt.calibration._classifier import CalibratedClassifierCV as CalibratedClassifierCV
    from learnt.metrics import calibration_curve as calibration_curve

__all__ = ["CalibratedClassifierCV", "CalibrationDisplay", "calibration_curve"]

_FILES = {
    "CalibratedClassifierCV": "_classifier",
    "CalibrationDisplay": "_borrowed",
    "calibration_curve": "_borrowed",
}

__getattr__, __dir__ = names_when_used("learnt.calibration", _FILES)
