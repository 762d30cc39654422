"""The lemma of Johnson and Lindenstrauss."""

from __future__ import annotations

from typing import Any

import numpy as np


def johnson_lindenstrauss_min_dim(n_samples: Any, *, eps: Any = 0.1) -> Any:
    """How many random features keep all square distances of so many rows within a factor of 1 ± eps.

    With probability above 1 − 1/n², k ≥ 4 ln(n) / (eps²/2 − eps³/3) will do [1]_, whatever the number of columns there
    were. The bound is careful: often far fewer are enough.

    Parameters
    ----------
    n_samples : int or array-like of int
        The number of rows.
    eps : float or array-like of float, default=0.1
        How far squared distances may be off, as a share, between 0 and 1. Two arrays have one shape.

    Returns
    -------
    n_components : int or ndarray of int
        The number of random features that is enough.

    See Also
    --------
    SparseRandomProjection : Projects rows, by default to so many features.
    GaussianRandomProjection : Projects rows with a dense matrix.

    References
    ----------
    .. [1] S. Dasgupta and A. Gupta, "An elementary proof of a theorem of Johnson and Lindenstrauss", Random Structures
       and Algorithms 22, 2003.

    Examples
    --------
    >>> int(johnson_lindenstrauss_min_dim(1_000_000, eps=0.5))
    663
    >>> johnson_lindenstrauss_min_dim([10_000, 100_000], eps=0.1).tolist()
    [7894, 9868]
    """
    eps, n_samples = np.asarray(eps), np.asarray(n_samples)
    if not ((eps > 0) & (eps < 1)).all():
        raise ValueError(f"The JL bound is defined for eps between 0 and 1, both excluded, got {eps.tolist()!r}.")
    if not (n_samples > 0).all():
        raise ValueError(
            f"The JL bound is defined for n_samples greater than zero, got {n_samples.tolist()!r}: give the number of "
            "rows."
        )
    return (4 * np.log(n_samples) / (eps**2 / 2 - eps**3 / 3)).astype(np.int64)
