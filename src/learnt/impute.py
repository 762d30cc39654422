"""Missing cells filled by one value a column: scikit-learn's transformers, as they are."""

from sklearn.impute import (
    MissingIndicator,
    SimpleImputer,
)

__all__ = [
    "MissingIndicator",
    "SimpleImputer",
]
