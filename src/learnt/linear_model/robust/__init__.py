"""Regression that wild values do not bend: Huber's loss, and quantiles.

_huber            Regression that a few wild values do not bend
_huber_scale      Huber's objective scale by scale: where σ falls to nothing
_quantile         Linear regression of a quantile
_quantile_solver  The linear programme of quantile regression, solved in its dual by an interior-point method
"""
