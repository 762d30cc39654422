"""A fitted model that no `fit` changes: scikit-learn's container, as it is."""

from sklearn.frozen import FrozenEstimator

__all__ = ["FrozenEstimator"]
