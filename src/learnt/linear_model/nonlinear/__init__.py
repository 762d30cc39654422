"""Non-linear least squares: any model y = f(x; b), by steps within a trust region.

_autodiff    Derivatives of a user's model by torch or JAX
_estimator   Non-linear least squares
_inference   Inference for the parameters: covariance σ²(JᵀWJ)⁻¹, standard errors
_parameters  The constructor parameters of `NonlinearLeastSquares`, as arrays
_problem     A user's model on one set of rows: its residuals, and its Jacobian in five ways
_solver      min over b of ‖r(b)‖²,  r = √w (y − f(X, b)),  by steps within a trusted region
_tangent     The tangent problem  min over δ of ‖r − Jδ‖² + τ‖Dδ‖²,  factorised so that every τ is cheap
"""
