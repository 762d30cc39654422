"""Isotonic regression: the monotonic function of one column that is nearest to y, without any other assumption.

    IsotonicRegression     fit, predict, transform; linear between its corners
    isotonic_regression    the monotonic sequence nearest to one of numbers
    check_increasing       whether y rises or falls with x, by Spearman's correlation of ranks

    _regression  the estimator        _functions  both functions

Pooling itself is `learnt.statistics.monotonic_corners`, which calibration uses too.
"""

from learnt.isotonic._functions import check_increasing, isotonic_regression
from learnt.isotonic._regression import IsotonicRegression

__all__ = ["IsotonicRegression", "check_increasing", "isotonic_regression"]
