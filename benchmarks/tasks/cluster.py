"""KMeans against scikit-learn's two algorithms, inertia reached from the same starting centres; batches; trees.

faiss and fastcluster are compared with where they are installed.
"""

from __future__ import annotations

import warnings
from importlib.util import find_spec
from types import SimpleNamespace

import numpy as np
from harness import Task
from scipy import sparse


def make(d: int, k: int, blobs: bool):
    def data(n: int) -> dict:
        rng = np.random.default_rng(0)
        X = rng.normal(size=(n, d))
        if blobs:
            X += 4.0 * rng.normal(size=(2 * k, d))[rng.integers(2 * k, size=n)]
        return {"X": X, "k": k, "start": X[rng.choice(n, k, replace=False)].copy()}

    return data


def sparse_rows(d: int, k: int, density: float):
    def data(n: int) -> dict:
        rng = np.random.default_rng(0)
        X = sparse.csr_matrix(sparse.random_array((n, d), density=density, rng=rng, format="csr"))
        return {"X": X, "k": k, "start": 0.5 * density * rng.random((k, d))}  # rows would be far from all others

    return data


def fit(package: str, **params):
    def work(data: dict):
        from importlib import import_module

        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            start = {"init": data["start"], "n_init": 1} if "random_state" not in params else {"n_init": 1}
            model = import_module(f"{package}.cluster").KMeans(n_clusters=data["k"], tol=0.0, **start, **params)
            return model.fit(data["X"])

    return work


def faiss_means(max_iter: int):
    """faiss computes in float32; labels, which the others give too, are one more search."""

    def work(data: dict):
        import faiss

        X = data["X"].astype(np.float32)
        n, d = X.shape
        rows = {"max_points_per_centroid": n, "min_points_per_centroid": 1}
        search = faiss.Kmeans(d, data["k"], niter=max_iter, seed=0, **rows)
        search.train(X, init_centroids=data["start"].astype(np.float32))
        return SimpleNamespace(
            cluster_centers_=search.centroids.astype(np.float64), labels_=search.index.search(X, 1)[1][:, 0]
        )

    return work


def inertia(model, data: dict) -> float:
    X, centres = data["X"], model.cluster_centers_[model.labels_]
    if not sparse.issparse(X):
        return float(np.square(X - centres).sum())
    return float(X.power(2).sum() - 2.0 * X.multiply(centres).sum() + np.square(centres).sum())


def task(n: int, d: int, k: int, blobs: bool, tolerance: float = 1e-6, **params) -> Task:
    kind = "blobs" if blobs else "one cloud"
    seeded = ", k-means++" if "random_state" in params else ""
    algorithms = {f"sklearn {a}": fit("sklearn", algorithm=a, **params) for a in ("lloyd", "elkan")}
    if find_spec("faiss") and not seeded:
        algorithms["faiss"] = faiss_means(params["max_iter"])
    return Task(
        name=f"KMeans {n // 1000}k×{d}, k={k}, {kind}{seeded}",
        family="cluster",
        make=make(d, k, blobs),
        rows=n,
        ours=fit("learnt", **params),
        peers=algorithms,
        quality=inertia,
        quality_name="inertia",
        required=1.5,
        tolerance=tolerance,
        toy=max(400, 3 * k),
    )


def sparse_task(n: int, d: int, k: int, density: float) -> Task:
    return Task(
        name=f"KMeans sparse {n // 1000}k×{d // 1000}k, density {density:g}, k={k}",
        family="cluster",
        make=sparse_rows(d, k, density),
        rows=n,
        ours=fit("learnt", max_iter=30),
        peers={"sklearn lloyd": fit("sklearn", algorithm="lloyd", max_iter=30)},
        quality=inertia,
        quality_name="inertia",
        required=1.3,
        tolerance=1e-6,
        toy=400,
    )


def mini_batch(package: str):
    def work(data: dict):
        from importlib import import_module

        # One pass: when the smoothed inertia stops falling is a matter of luck, after 12 batches or after 200.
        cls = import_module(f"{package}.cluster").MiniBatchKMeans
        options = {"n_init": 3, "max_iter": 1, "max_no_improvement": None}
        return [cls(data["k"], random_state=seed, **options).fit(data["X"]) for seed in range(5)]

    return work


def mean_inertia(models: list, data: dict) -> float:
    return float(np.mean([inertia(model, data) for model in models]))


def mini_batch_task(n: int, d: int, k: int) -> Task:
    return Task(
        name=f"MiniBatchKMeans {n // 1000}k×{d}, k={k}",
        family="cluster",
        make=make(d, k, True),
        rows=n,
        ours=mini_batch("learnt"),
        peers={"scikit-learn": mini_batch("sklearn")},
        quality=mean_inertia,
        quality_name="mean inertia of five seeds",
        required=2.0,
        tolerance=0.05,  # other batches, other starts
        toy=2000,
    )


def merged(package: str, linkage: str):
    def work(data: dict):
        from importlib import import_module

        cls = import_module(f"{package}.cluster").AgglomerativeClustering
        return cls(data["k"], linkage=linkage, compute_distances=True).fit(data["X"])

    return work


def fastcluster_tree(linkage: str):
    def work(data: dict):
        import fastcluster

        grow = fastcluster.linkage_vector if linkage in ("ward", "single") else fastcluster.linkage
        return SimpleNamespace(distances_=grow(data["X"], linkage)[:, 2])

    return work


def tree_task(n: int, d: int, linkage: str) -> Task:
    return Task(
        name=f"AgglomerativeClustering {n // 1000}k×{d}, {linkage}",
        family="cluster",
        make=make(d, 5, False),
        rows=n,
        ours=merged("learnt", linkage),
        peers={
            "scikit-learn": merged("sklearn", linkage),
            **({"fastcluster": fastcluster_tree(linkage)} if find_spec("fastcluster") else {}),
        },
        quality=lambda model, data: float(model.distances_.sum()),
        quality_name="sum of distances",
        required=1.0,
        better="same",
        toy=100,
    )


TASKS = [
    task(200_000, 32, 10, True, max_iter=20),
    task(200_000, 32, 100, True, max_iter=20),
    task(200_000, 32, 1000, True, max_iter=5),
    task(200_000, 32, 100, False, max_iter=20),
    task(100_000, 2, 8, True, max_iter=100),
    task(50_000, 50, 20, False, max_iter=50),
    task(100_000, 20, 50, True, tolerance=0.02, max_iter=30, random_state=0),
    sparse_task(5_000, 5_000, 20, 0.01),
    sparse_task(5_000, 5_000, 8, 0.1),
    sparse_task(20_000, 20_000, 20, 0.002),
    *(mini_batch_task(200_000, 32, k) for k in (10, 100, 1000)),
    *(tree_task(10_000, 10, linkage) for linkage in ("ward", "average", "complete", "single")),
]
