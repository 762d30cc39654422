"""Models that do not look at X, with scikit-learn's draws and weighted quantiles.

    DummyClassifier    the most common label, a given one, or labels drawn by their shares or uniformly
    DummyRegressor     the mean, the median, a quantile or a given number

What is common with the best constants is `learnt.baseline`; `_classifier` and `_regressor` add what differs.
"""

from learnt.dummy._classifier import DummyClassifier
from learnt.dummy._regressor import DummyRegressor

__all__ = ["DummyClassifier", "DummyRegressor"]
