"""Best constants: predictions without the features, and so the baseline of every model.

    ConstantClassifier    the most common label, or the shares of the labels
    ConstantRegressor     the mean (best for squared loss), the median (for absolute loss), a quantile, a given number

Implementation: `_validation` (rows are counted and never read), `_quantiles` (of weighted rows), one file a class.
"""

from learnt.baseline._classifier import ConstantClassifier
from learnt.baseline._regressor import ConstantNumber as ConstantNumber
from learnt.baseline._regressor import ConstantRegressor
from learnt.baseline._validation import row_count as row_count

__all__ = ["ConstantClassifier", "ConstantRegressor"]
