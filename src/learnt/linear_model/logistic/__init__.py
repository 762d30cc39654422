"""Logistic regression. `_strategy` chooses the method by the shape of the data; all of them reach the same minimum.

_curvature                 What a step is measured with: the second derivative of the objective, exact or nearly so
_cv_folds                  Paths of logistic regressions over penalties, one a fold
_kernels                   Log loss and its gradient over rows, compiled: what `_loss` defines
_l1                        Logistic regression with absolute values in its penalty, by proximal Newton on a working set
_l1_design                 Columns for proximal Newton: slopes of all, curvature and one quadratic step over a few
_l1_joint                  A step of proximal Newton in the coefficients of all classes at once
_l1_loss                   The log loss as proximal Newton sees it: residuals u = ω(1[y = k] − p), curvatures
_loss                      Log loss, its gradient and its curvature as sums over rows: statistics for `engine.rows`
_margins                   The log loss of many margins at once, in NumPy
_named_solvers             Logistic regression by the solvers of `learnt.erm.solvers`: Adagrad, IRLS, SGD, …
_newton_cg                 Two classes over a sparse table of very many columns: Newton's method
_newton_cg_classes         Many classes over a dense table: Newton's method in the table's principal axes
_newton_cg_classes_kernels What Newton's method for many classes computes from scores, compiled
_newton_cg_kernels         What Newton's method by conjugate gradients computes from CSR rows, compiled
_newton_dense              Newton's method for two classes over a small dense table, written out
_problem                   The logistic-regression objective over rows, in variables of like size
_regression                Logistic regression
_regression_cv             Logistic regression that chooses its penalty by cross-validation
_row_multipliers           Two classes over fewer rows than columns: Newton's method in the multipliers of the rows
_row_space                 Fewer rows than columns: the coefficients are combinations of rows
_start                     Where a fit starts from: units for the columns, and a sample of the rows
_strategy                  Which method finds the minimum: chosen by the shape of the data
"""
