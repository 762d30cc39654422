"""k-means as one call."""

from __future__ import annotations

from typing import Any

from learnt.cluster._kmeans import KMeans


def k_means(
    X: Any,
    n_clusters: int,
    *,
    sample_weight: Any = None,
    init: Any = "k-means++",
    n_init: Any = "auto",
    max_iter: int = 300,
    verbose: Any = 0,
    tol: float = 1e-4,
    random_state: Any = None,
    copy_x: bool = True,
    algorithm: str = "lloyd",
    return_n_iter: bool = False,
) -> tuple:
    """Clusters around k centres in one call; the parameters are those of `KMeans`.

    Returns
    -------
    centroid : array of shape (n_clusters, n_features)
    label : array of shape (n_samples,)
    inertia : float
    best_n_iter : int, where `return_n_iter`

    Examples
    --------
    >>> centers, labels, inertia = k_means([[1.0], [2.0], [9.0], [10.0]], 2, random_state=0)
    >>> sorted(centers.ravel().tolist()), inertia
    ([1.5, 9.5], 1.0)
    """
    model = KMeans(
        n_clusters, init=init, n_init=n_init, max_iter=max_iter, verbose=verbose, tol=tol, random_state=random_state,
        copy_x=copy_x, algorithm=algorithm,
    ).fit(X, sample_weight=sample_weight)  # fmt: skip
    found = model.cluster_centers_, model.labels_, model.inertia_
    return (*found, model.n_iter_) if return_n_iter else found
