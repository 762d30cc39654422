"""k-means as one call."""

from __future__ import annotations

from typing import Any

from learnt.cluster._kmeans import KMeans
from learnt.engine.documentation import documented


@documented
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
    """Clusters around k centres in one call: `KMeans` as a function.

    Parameters
    ----------
    X : {array-like, sparse matrix} of shape (n_samples, n_features)
        The rows to cluster.
    n_clusters : int
        The number of clusters k.
    init : {"k-means++", "farthest-first", "random"}, callable or array of shape (k, n_features), default="k-means++"
        Where to start.

        - "k-means++": rows drawn far apart, the best of a few draws each time (greedy k-means++).
        - "farthest-first": each row the farthest from those before; outliers are taken first.
        - "random": any rows; give more starts (`n_init`).
        - callable: a function of (X, n_clusters, random_state) that returns centres.
        - array: the centres themselves.
    n_init : "auto" or int, default="auto"
        How many starts; the one with the lowest inertia is kept. "auto" is 10 for "random" and a callable, else 1.
    max_iter : int, default=300
        The most iterations of one start.
    tol : float, default=1e-4
        Convergence: stop when the squared movements of the centres sum to less than this times the mean variance of the
        features.
    copy_x : bool, default=True
        Kept for scikit-learn's signature: X is never changed.
    algorithm : {"lloyd", "elkan", "hamerly", "auto"}, default="lloyd"
        Kept for scikit-learn's signature: names of ways to the same result, of which the fastest is always taken.

    Returns
    -------
    centroid : ndarray of shape (n_clusters, n_features)
        The centres.
    label : ndarray of shape (n_samples,)
        The cluster of each row.
    inertia : float
        The sum of squared distances of the rows to their centres, by weight.
    best_n_iter : int
        Iterations of the start that was kept; only with `return_n_iter=True`.

    See Also
    --------
    KMeans : The same as a class, which predicts the clusters of new rows.
    kmeans_plusplus : Rows to start from.

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
