"""Names that scripts import to switch on what scikit-learn calls experimental. Here all of it is there without them."""

enable_halving_search_cv = None
enable_hist_gradient_boosting = None
enable_iterative_imputer = None

__all__ = ["enable_halving_search_cv", "enable_hist_gradient_boosting", "enable_iterative_imputer"]
