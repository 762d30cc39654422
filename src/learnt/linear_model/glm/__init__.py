"""Generalised linear models: Poisson, gamma and Tweedie regression by Newton's method on sums over rows.

_family      What a generalised linear model assumes of y: its deviance, as a function of the linear score
_newton      Newton's method on sums over rows, for objectives  1/Σw Σᵢ wᵢ loss(yᵢ, xᵢᵀb + c) + α/2 ‖b‖²
_regressors  Generalised linear models: Poisson, gamma and Tweedie regression
"""
