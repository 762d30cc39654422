"""k-means++ on its own."""

from __future__ import annotations

from typing import Any

import numpy as np

from learnt.cluster._device_seeding import lottery_of, seeds_of
from learnt.cluster._seeding import plus_plus
from learnt.engine.documentation import documented
from learnt.engine.mixins import BaseEstimator
from learnt.engine.params import check_number
from learnt.engine.random import random_state_of
from learnt.engine.validation import check_fit
from learnt.engine.weights import present_rows, rows_given, take_params


class _PlusPlus(BaseEstimator):
    """Carries parameters and columns to the checks, and the function's name to their messages."""

    def __init__(self, n_clusters: int, n_local_trials: int | None) -> None:
        self.n_clusters, self.n_local_trials = n_clusters, n_local_trials


_PlusPlus.__name__ = "kmeans_plusplus"


@documented
def kmeans_plusplus(
    X: Any,
    n_clusters: int,
    *,
    sample_weight: Any = None,
    x_squared_norms: Any = None,
    random_state: Any = None,
    n_local_trials: int | None = None,
) -> tuple[np.ndarray, np.ndarray]:
    """Rows of X to start k-means from, drawn far apart, and their numbers.

    Parameters
    ----------
    X : {array-like, sparse matrix} of shape (n_samples, n_features)
        The rows to draw from.
    n_clusters : int
        How many rows.
    sample_weight : array-like of shape (n_samples,), default=None
        A row of weight 2 is drawn as if it were there twice. None counts every row once.
    x_squared_norms : array-like of shape (n_samples,), default=None
        Kept for scikit-learn's signature: the norms are not needed.
    n_local_trials : int or None, default=None
        Rows drawn for each seed, of which the best is taken; None is 2 + ⌊ln k⌋, and 1 the plain k-means++.

    Returns
    -------
    centers : ndarray of shape (n_clusters, n_features)
        The rows that were drawn.
    indices : ndarray of shape (n_clusters,)
        Their numbers in X.

    See Also
    --------
    KMeans : Takes these starts by itself.
    k_means : Clusters in one call.

    Notes
    -----
    Each row is drawn with a chance in proportion to its squared distance from the nearest drawn so far. Time n·d for
    each draw.

    References
    ----------
    .. [1] D. Arthur, S. Vassilvitskii, "k-means++: The Advantages of Careful Seeding", SODA, 2007.

    Examples
    --------
    >>> X = np.array([[1.0, 2.0], [1.0, 2.1], [10.0, 2.0], [10.1, 2.0]])
    >>> centers, index = kmeans_plusplus(X, 2, random_state=0)
    >>> sorted(int(i) // 2 for i in index)
    [0, 1]
    """
    checks = _PlusPlus(n_clusters, n_local_trials)
    check_number(checks, "n_clusters", 1, integer=True)
    check_number(checks, "n_local_trials", 1, integer=True, also=(None,))
    present = present_rows(sample_weight, X)
    X, _, w = check_fit(checks, X, None, sample_weight, accept_sparse=True, order="C")
    if X.shape[0] < n_clusters:
        raise ValueError(f"n_samples={X.shape[0]} should be >= n_clusters={n_clusters}; ask for fewer clusters.")
    if present is not None and x_squared_norms is not None:
        x_squared_norms = take_params({"norms": x_squared_norms}, present, rows_given(sample_weight))["norms"]
    if x_squared_norms is not None and len(x_squared_norms) != X.shape[0]:
        raise ValueError(
            f"The length of x_squared_norms {len(x_squared_norms)} should be equal to the length of n_samples "
            f"{X.shape[0]}; leave it out."
        )
    index = plus_plus(
        seeds_of(X, w, None, None), lottery_of(X), n_clusters, random_state_of(random_state), n_local_trials
    )
    centers = X[index]
    return (centers.toarray() if hasattr(centers, "toarray") else centers), (
        index if present is None else present[index]
    )
