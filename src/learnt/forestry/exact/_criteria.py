"""How mixed the rows of a node are, and how good it is to part them.

    gini            Σ p_c (1 − p_c)              entropy   −Σ p_c log₂ p_c         error   1 − max p_c
    squared_error   mean (y − ȳ)²                poisson   mean y log(y / ȳ)       absolute_error   mean |y − median|

The impurity of several outputs is the mean of theirs. A split is chosen by the sum of its sides' `purity`, which is the
weighted impurity less what no split changes. It is written so that a split and its mirror image have the same sum to
the last bit: ties are then broken by the order in which columns are looked at, and by nothing else.
"""

from __future__ import annotations

import numpy as np

from learnt.engine.kernel import kernel

GINI, ENTROPY, ERROR, SQUARED, POISSON, ABSOLUTE = range(6)
CLASS_CRITERIA = {"gini": GINI, "entropy": ENTROPY, "log_loss": ENTROPY, "error": ERROR}
NUMBER_CRITERIA = {"squared_error": SQUARED, "absolute_error": ABSOLUTE, "poisson": POISSON, "friedman_mse": SQUARED}
LOG2 = float(np.log(2.0))
EPSILON = float(np.finfo(np.float64).eps)  # an impurity below this is none
LOG_ERROR = 2.2e-6  # of `about_log2`


@kernel(allocates=False)
def class_impurity(criterion, sums, rows, less, weight):
    """The impurity of rows whose classes weigh sums[rows] − sums[less] (outputs × classes), and `weight` in all."""
    total = 0.0
    for o in range(sums.shape[1]):
        if criterion == GINI:
            squares = 0.0
            for c in range(sums.shape[2]):
                count = sums[rows, o, c] - sums[less, o, c]
                squares += count * count
            total += 1.0 - squares / (weight * weight)
        elif criterion == ENTROPY:
            for c in range(sums.shape[2]):
                share = (sums[rows, o, c] - sums[less, o, c]) / weight
                if share > 0.0:
                    total -= share * (np.log(share) / LOG2)
        else:
            most = 0.0
            for c in range(sums.shape[2]):
                most = max(most, sums[rows, o, c] - sums[less, o, c])
            total += 1.0 - most / weight
    return total / sums.shape[1]


@kernel(allocates=False)
def class_purity(criterion, sums, rows, less, weight):
    """How pure such rows are: minus their impurity times their weight."""
    # The maximum changes nothing, and keeps compilers from fusing this product with the sum that follows it, which
    # would round a split and its mirror image differently.
    return max(-weight * class_impurity(criterion, sums, rows, less, weight), -np.inf)


@kernel(allocates=False)
def number_purity(criterion, sums, rows, less, weight):
    """The same of numbers whose sums are sums[rows] − sums[less]; −inf where a Poisson mean would be 0."""
    purity = 0.0
    for o in range(sums.shape[1]):
        total = sums[rows, o, 0] - sums[less, o, 0]
        if criterion == SQUARED:
            purity += total * total
        elif total > EPSILON:
            purity += total * np.log(total / weight)
        else:
            purity = -np.inf
    return purity / weight if criterion == SQUARED else max(purity, -np.inf)


@kernel(allocates=False)
def about_log2(x):
    """The logarithm to base 2 within `LOG_ERROR`, for comparisons that throw out; a finite number where x is 0.

    The exponent, and a polynomial of the mantissa m: the best of its degree on the Chebyshev nodes of 1…2.
    """
    bits = np.float64(x).view(np.int64)
    t = np.int64((bits & 0x000FFFFFFFFFFFFF) | 0x3FF0000000000000).view(np.float64) - 1.5
    low = 0.5849627653299241 + t * (0.9618212283041839 + t * (-0.32063233270425706 + t * 0.1417181588769757))
    high = -0.07058967567460374 + t * (0.043928627847974654 + t * -0.025123203285956516)
    return np.float64((bits >> 52) - 1023) + (low + (t * t) * (t * t) * high)


@kernel(allocates=False)
def deviation(criterion, y, mean):
    """What one number adds to the impurity of a node with this mean."""
    if criterion == SQUARED:
        return (y - mean) * (y - mean)
    if y <= 0.0:
        return 0.0
    return y * np.log(y / mean)
