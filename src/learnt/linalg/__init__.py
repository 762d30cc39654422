"""Linear algebra that several packages share: products, positive definite systems, pursuits, L1-penalised quadratics.

any_array         Cholesky factors and triangular systems in every array library, for torch in place
decompositions    Eigenvalues and singular values by NumPy, interruptible by Ctrl-C
exponential       The exponential function for loops over rows: plain arithmetic
gram              Products of large matrices on all threads
laplacian         The first eigenvectors of a graph's Laplacian, which embed and cluster its nodes
log_loss          The log loss of a margin, its slope and its curvature, for compiled loops
positive          Linear equations with a matrix that is positive definite up to rounding
pursuit           Orthogonal matching pursuit of many signals: what `linear_model` and `decomposition` share of it
pursuit_alone     Orthogonal matching pursuit of one signal by matrix products, without compiled code
pursuit_kernels   The inner loops of orthogonal matching pursuit, on rows of the Gram matrix G = XᵀX
sparse_quadratic  The minimum of a quadratic with an L1 penalty: the Newton subproblem
tiles             Cholesky factors and inverses of large matrices on all threads, tile by tile
weighted_columns  Columns in the layout that coordinate descent reads: the entries of a sparse table
"""

__all__: list[str] = []  # used by other packages, not by users
