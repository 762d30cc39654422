"""Regression that is robust to outliers: Huber's loss, quantiles, medians of many small fits, and random samples.

_huber            Huber regression, robust to a few outliers
_huber_scale      Huber's objective for one σ after the other: where σ goes to 0
_quantile         Linear regression of a quantile
_quantile_solver  The linear programme of quantile regression, solved in its dual by an interior-point method
_ransac           The model of a few random rows that most other rows agree with
_spatial_median   The point with the smallest sum of distances to others
_theil_sen        The median of the planes through few rows each
"""
