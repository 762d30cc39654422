"""The machine room: what every other floor stands on.

in folders, each with a map of its own
    kernel          compiled code: the one decorator, its compiler, its cache on disk
    rows            the summation form over memory, files and clusters
    classification  labels as integers; from scores or log p(x, c) to labels and probabilities
threads and processes
    threads         the one pool and its one setting
    interrupts      Ctrl-C stops compiled work on all threads
    forks, memory, late_import, cached
                    what a fork waits for, memory left, packages loaded at first use, properties computed once
    random          a seed becomes independent streams
arrays
    arrays          which namespace and device an array belongs to
    matrices        questions about a matrix of any kind: cells, products, rows by number, code path
what comes in
    validation      validation of data, once
    params, columns, weights, finite, single, bounds
                    parameters, names of columns, rows of weight 0, numbers that are finite, fit float32, are places
what estimators share
    estimator, schema
                    what a class declares about itself, and what its model files may hold
    scoring         R² and accuracy as sums over rows
    progress, verbose
                    bars, logs and scikit-learn's callbacks, what `verbose` says

Each module stands alone; import the one you need.
"""
