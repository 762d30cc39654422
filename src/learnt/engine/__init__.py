"""What every other package is built on.

in folders, each with a list of its files
    kernel          compiled code: the one decorator, its compiler, its cache on disk
    rows            the summation form over memory, files and clusters
    classification  labels as integers; from scores or log p(x, c) to labels and probabilities
    documentation   what many docstrings share, written once
threads and processes
    threads         the one thread pool and its one setting
    cores           each thread of a parallel region on a core of its own
    interrupts      Ctrl-C stops compiled work on all threads
    forks, memory, late_import, cached
                    what a fork waits for, memory left, packages loaded at first use, properties computed once
    random          a seed becomes independent streams
arrays
    arrays          which namespace and device an array belongs to
    matrices        functions of a matrix of any kind: cells, products, rows by index, code path
what comes in
    validation      validation of data, once
    cells, targets, lazy_targets, lazy_weights
                    cells as numbers; targets and weights in memory, and in a first pass over what is read in blocks
    params, columns, weights, finite, single, bounds
                    checks of parameters, column names, rows of weight 0, finite and float32 numbers, indices
what estimators share
    estimator, schema, mixins
                    what a class declares about itself, what its model files may hold, scikit-learn's bases with types
    scoring         R² and accuracy as sums over rows
    progress, verbose
                    bars, logs and scikit-learn's callbacks, what `verbose` says

Each module stands alone; import the one you need.
"""
