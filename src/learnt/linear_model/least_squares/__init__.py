"""Least squares and ridge regression: solvers on sums over rows, leave-one-out, inference.

_basis                A factor R of the centred data, RᵀR = ZᵀZ, from sums over rows
_centred              Few rows of many columns, centred without being copied
_inference            Inference for least squares: noise, covariance σ²(XᵀWX)⁻¹
_inference_predictor  Predictions with intervals, and the summary, for least squares without a penalty
_irls                 Least squares with an unknown noise variance for every row
_leave_one_out        Leave-one-out residuals of ridge regression in closed form: n fits for the cost of one
_leave_one_out_wide   Leave-one-out residuals of ridge regression where rows are fewer than columns
_mixed_precision      Ridge regression factorised in single precision and corrected to double
_operator             Least squares by products with X only: X is a SciPy operator, a memory map
_ordinary             Ordinary least squares
_residuals            The gradient of least squares, computed from the data themselves
_ridge                Ridge regression
_ridge_classifier     Classification by ridge regression of the labels −1 and 1
_ridge_cv             Ridge regression with its penalty chosen by leave-one-out
_ridge_function       Ridge regression as a function of arrays
_solvers              Least squares with and without a ridge: min_b Σ w (y − ȳ − (x − x̄)ᵀb)² + α‖b‖²
_summary              The usual table: estimate, standard error, t, p, interval
_total_least_squares  Total least squares: errors in X as well as in y
_triangle             The triangular factor of centred [X, y], block by block
"""
