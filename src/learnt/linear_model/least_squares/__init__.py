"""Least squares and ridge regression: solvers on sums over rows, leave-one-out, inference.

_basis                A factor R of the centred data, RᵀR = ZᵀZ, from sums over rows
_centred              Few rows of many columns, centred without being copied
_inference            What least squares says about its own coefficients: noise, covariance σ²(XᵀWX)⁻¹
_inference_predictor  Predictions with intervals, and the summary, for least squares without a penalty
_irls                 Least squares with an unknown noise variance for every row
_leave_one_out        Leave-one-out residuals of ridge regression in closed form: n fits for the price of one
_leave_one_out_wide   Leave-one-out residuals of ridge regression where rows are fewer than columns
_mixed_precision      Ridge regression factorised in single precision and corrected to double
_operator             Least squares by products with X alone: X is a SciPy operator, a memory map
_ordinary             Ordinary least squares
_residuals            How far coefficients are from the solution, from the data themselves
_ridge                Ridge regression
_ridge_classifier     Classification by ridge regression of the labels −1 and 1
_ridge_cv             Ridge regression with its penalty chosen by leave-one-out
_solvers              Least squares with and without a ridge: min_b Σ w (y − ȳ − (x − x̄)ᵀb)² + α‖b‖²
_summary              The table that people know: estimate, standard error, t, p, interval
_total_least_squares  Total least squares: errors in X as well as in y
_triangle             The triangular factor of centred [X, y], block by block
"""
