"""How far neighbours in an embedding are neighbours in the data."""

from __future__ import annotations

from typing import Any

import numpy as np
from sklearn.utils import check_array

from learnt.distances import Search, check_metric, resolve_metric


def trustworthiness(X: Any, X_embedded: Any, *, n_neighbors: int = 5, metric: Any = "euclidean") -> float:
    """1 where the nearest rows of the embedding are the nearest of the data; less, the farther down they come.

    T(k) = 1 − 2 / (n k (2n − 3k − 1)) Σᵢ Σⱼ max(0, r(i, j) − k)

    over the k nearest j of each i in the embedding, where r is the place of j among the rows in order of their distance
    from i in the data [1]_. Use it to compare embeddings, and to choose their parameters.

    Parameters
    ----------
    X : {array-like, sparse matrix} of shape (n_samples, n_features) or (n_samples, n_samples)
        The rows, or their distances where the metric is "precomputed".
    X_embedded : array-like of shape (n_samples, n_components)
        The coordinates of the same rows in the embedding.
    n_neighbors : int, default=5
        How many neighbours count, k; less than half the rows.
    metric : str or callable, default="euclidean"
        The distance between rows of the data; distances in the embedding are Euclidean.

    Returns
    -------
    trustworthiness : float
        T(k), in [0, 1]; the higher, the better.

    See Also
    --------
    TSNE : A map in which neighbours stay neighbours.
    Isomap : Coordinates that keep distances along a surface.

    Notes
    -----
    Of equal distances the first row counts as nearer. All distances are ranked: O(n² d) time and more.

    References
    ----------
    .. [1] J. Venna and S. Kaski, "Neighborhood preservation in nonlinear projection methods: an experimental study",
       ICANN, 2001.

    Examples
    --------
    >>> X = np.random.default_rng(0).normal(size=(30, 2))
    >>> trustworthiness(X, 5 - 2 * X), trustworthiness(X, X[:, :1]) < 1
    (1.0, True)
    """
    X = check_array(X, accept_sparse="csr", dtype=(np.float64, np.float32), order="C")
    image = np.ascontiguousarray(check_array(X_embedded, dtype=(np.float64, np.float32)))
    n, k = X.shape[0], n_neighbors
    if image.shape[0] != n:
        raise ValueError(f"X has {n} rows and X_embedded {image.shape[0]}; give one row of each for every sample.")
    if k >= n / 2:
        raise ValueError(
            f"n_neighbors is {k}, and trustworthiness takes less than half of the {n} rows; ask for fewer neighbours."
        )
    check_metric("trustworthiness", metric, X)
    resolved, params = resolve_metric(metric, 2, None)
    if isinstance(resolved, str) and resolved == "precomputed" and X.shape[1] != n:
        raise ValueError(f"Distances must be square; X has shape {X.shape}, give the distances of all rows.")
    search = Search.build(image, algorithm="auto")
    near = search.nearest(None, k)[1]
    late = np.zeros(n, dtype=np.int64)

    def count(lo: int, hi: int, _: np.ndarray, index: np.ndarray) -> None:
        places = np.zeros((hi - lo, n), dtype=np.int64)
        np.put_along_axis(places, index, np.arange(1, n)[None], axis=1)
        late[lo:hi] = np.maximum(np.take_along_axis(places, near[lo:hi], axis=1) - k, 0).sum(axis=1)

    Search.build(X, resolved, params).nearest_blocks(None, n - 1, count)
    return float(1.0 - int(late.sum()) * (2.0 / (n * k * (2.0 * n - 3.0 * k - 1.0))))
