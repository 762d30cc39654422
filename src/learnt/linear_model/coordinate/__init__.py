"""Lasso, elastic net and their paths, by coordinate descent on a working set of columns.

_descent         The elastic net on a working set of columns, certified on all of them
_elastic_net     The elastic net and the lasso
_elastic_net_cv  The elastic net and the lasso with their penalty chosen by cross-validation
_folds           The squared error of every penalty on rows left out, fold by fold
_given           XᵀX given by the caller
_gram            A path of elastic nets with all inner products precomputed
_kernels         Coordinate descent on a quadratic with an L1 penalty, given its second derivatives
_lazy_folds      The squared error of every penalty on rows left out, of rows that are read in blocks
_lasso_path      `lasso_path` and `enet_path`: coefficients at every penalty of a grid
_multi_task      Elastic net and lasso for several targets that share their columns
_multi_task_cv   Elastic net and lasso for several targets, with their penalty chosen by cross-validation
_path            One penalty after another: the grid of penalties, the solutions along it
_problem         Least squares as inner products, for coordinate descent
_sparse          The elastic net over sparse columns: a coordinate costs its non-zeros, so the residual is kept
_tasks           The elastic net of several targets that share their columns:  ½‖Y − XW‖² + l1 Σⱼ‖Wⱼ‖ + ½ l2‖W‖²
"""
