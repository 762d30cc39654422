"""scikit-learn's picture of calibration, and the curve of `learnt.metrics`."""

from sklearn.calibration import CalibrationDisplay as CalibrationDisplay

from learnt.metrics import calibration_curve as calibration_curve
