"""Trees of numbers in a unit that suits them.

Growth squares targets and takes a spread below 2e-16 for none, as scikit-learn's does: targets in a large unit
(metres for what is measured in nanometres) would make one leaf, and squares of very large ones overflow. Such targets
are multiplied by a power of two, which changes no digit, and the values of the tree by its inverse.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from learnt.forestry.exact._growth import Columns, grow_exact
from learnt.forestry.kept._tree import Tree

_LEAST, _MOST = 2.0**-13, 2.0**200  # ranges of targets between these are grown on as they are


def grow_in_scale(columns: Columns, y: np.ndarray, *, min_impurity_decrease: float = 0.0, **options: Any) -> Tree:
    """`grow_exact`, in a unit in which squares of the targets are neither lost nor infinite.

    >>> columns = Columns(np.array([[0.0], [1.0], [2.0]]))
    >>> grow_in_scale(columns, np.array([0.0, 0.0, 3e-12]), criterion="squared_error").value.ravel()
    array([1.e-12, 0.e+00, 3.e-12])
    """
    drawn = options.get("drawn")
    power = 0 if options.get("n_classes") is not None else power_of(y if drawn is None else y[drawn])
    if power == 0:
        return grow_exact(columns, y, min_impurity_decrease=min_impurity_decrease, **options)
    order = 2 * power if options["criterion"] in ("squared_error", "friedman_mse") else power
    with np.errstate(over="ignore", under="ignore"):
        least = float(np.ldexp(min_impurity_decrease, -order))
        tree = grow_exact(columns, np.ldexp(y, -power), min_impurity_decrease=least, **options)
        tree.value = np.ldexp(tree.value, power)
    tree.impurity = impurity_in_scale(tree.impurity, order, len(y if drawn is None else drawn))
    return tree


def impurity_in_scale(impurity: np.ndarray, order: int, n: int) -> np.ndarray:
    """Impurities of n rows times 2 to the power of `order`, at most what n of them can be added up of."""
    with np.errstate(over="ignore", under="ignore"):
        return np.minimum(np.ldexp(impurity, order), np.finfo(np.float64).max / (4.0 * n))


def power_of(y: np.ndarray) -> int:
    """The power of two to divide targets by; 0 where they are well as they are.

    >>> power_of(np.array([1.0, 2.0])), power_of(np.array([0.0, 2.0**-30])), power_of(np.array([5.0, 5.0]))
    (0, -30, 0)
    """
    # Halves: the difference of the ends may be more than the largest number.
    spread = float((y.max(axis=0) * 0.5 - y.min(axis=0) * 0.5).max())
    if spread == 0 or _LEAST <= spread <= _MOST:
        return 0
    return int(np.frexp(spread)[1])
