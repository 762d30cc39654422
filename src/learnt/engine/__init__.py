"""The machine room: what every other floor stands on.

    kernel        the one decorator for compiled code
    kernel_cache  machine code on disk
    kernel_digest what decides machine code, as text to be hashed
    read_only     read-only arrays run the machine code of writable ones
    private_files files that nobody else could have written
    threads       the one pool and its one setting
    interrupts    Ctrl-C stops compiled work on all threads
    forks         what a fork waits for
    cached        properties computed once
    arrays        which namespace and device an array belongs to
    matrices      questions about a matrix of any kind: cells, products, rows by number, code path
    rows          the summation form over memory, files and clusters
    seen_rows     rows seen through a function of their blocks
    posterior     from log p(x, c) to labels and probabilities, on every kind of data
    class_labels  labels as positions among the classes, on every kind of data
    intrinsics    machine instructions that Numba has no Python for
    linear_classifier
                  from scores to labels and probabilities, on every kind of data
    random        a seed becomes independent streams
    validation    validation of data, once
    progress      bars, logs and scikit-learn's callbacks

Each module stands alone; import the one you need.
"""
