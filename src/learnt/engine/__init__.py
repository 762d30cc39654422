"""The machine room: what every other floor stands on.

compiled code
    kernel        the one decorator for compiled code
    kernel_compiler, kernel_cache, kernel_digest
                  how Numba is asked to compile it, its machine code on disk, and what decides that code
    read_only     read-only arrays run the machine code of writable ones
    intrinsics    machine instructions that Numba has no Python for
    private_files files that nobody else could have written
threads and processes
    threads       the one pool and its one setting
    interrupts    Ctrl-C stops compiled work on all threads
    forks, memory, late_import, cached
                  what a fork waits for, how much memory is left, packages loaded at first use, properties computed once
    random        a seed becomes independent streams
arrays and rows
    arrays        which namespace and device an array belongs to
    matrices      questions about a matrix of any kind: cells, products, rows by number, code path
    rows          the summation form over memory (array_rows), files (table_rows, tables) and clusters (dask_rows)
    equal_rows    the first of equal rows
    blocks, seen_rows
                  a block of rows and how sums are put together, rows seen through a function of their blocks
what comes in
    validation    validation of data, once
    params, columns, weights, finite, single, bounds
                  parameters, names of columns, rows of weight 0, numbers that are finite, fit float32, are places
    labels, class_labels
                  labels as integers, in memory and on every kind of data
what estimators share
    estimator, schema
                  what a class declares about itself, and what its model files may hold
    linear_classifier, highest_plane, highest_sparse_plane, posterior, scoring
                  from scores or log p(x, c) to labels and probabilities, R² and accuracy, on every kind of data
    progress, verbose
                  bars, logs and scikit-learn's callbacks, what `verbose` says

Each module stands alone; import the one you need.
"""
