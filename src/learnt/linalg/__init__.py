"""Linear algebra that several rooms share: products on all threads, positive systems, pursuits, quadratics with an L1
penalty.

    any_array         Cholesky factors and triangular systems in every array library, of torch in their place
    decompositions    Eigenvalues and singular values by NumPy, which Ctrl-C can leave
    exponential       The exponential function for loops over rows: plain arithmetic
    gram              Products of large matrices on all threads
    log_loss          The log loss of a margin, its slope and its curvature, for compiled loops
    positive          Linear equations with a symmetric matrix that is positive, but for rounding
    pursuit           Orthogonal matching pursuit of many signals: what `linear_model` and `decomposition` share of it
    pursuit_alone     Orthogonal matching pursuit of one signal by matrix products: nothing to compile
    pursuit_kernels   The inner loops of orthogonal matching pursuit, on rows of the Gram matrix G = XᵀX
    sparse_quadratic  A quadratic with absolute values in its penalty
    tiles             Cholesky factors and inverses of large matrices on all threads, tile by tile
    weighted_columns  Columns as sweeps of coordinate descent read them: of a sparse table by their entries
"""

__all__: list[str] = []  # used by other rooms, not by users
