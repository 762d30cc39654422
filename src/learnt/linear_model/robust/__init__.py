"""Regression that is robust to outliers: Huber's loss, and quantiles.

_huber            Huber regression, robust to a few outliers
_huber_scale      Huber's objective for one σ after the other: where σ goes to 0
_quantile         Linear regression of a quantile
_quantile_solver  The linear programme of quantile regression, solved in its dual by an interior-point method
"""
