"""GaussianMixture against scikit-learn's: as many iterations from the same start, the likelihood reached."""

from __future__ import annotations

import warnings

import numpy as np
from harness import Task


def data(n: int) -> dict:
    rng = np.random.default_rng(0)
    k, d = 10, 16
    means, roots = rng.normal(size=(k, d)), 0.3 * rng.normal(size=(k, d, d)) + np.eye(d)
    z = rng.integers(k, size=n)
    X = np.einsum("nd,nde->ne", rng.normal(size=(n, d)), roots[z]) + means[z]
    return {"X": X, "start": X[rng.choice(n, k, replace=False)].copy()}


def fit(package: str, kind: str):
    def work(data: dict):
        from importlib import import_module

        d = data["X"].shape[1]
        shape = {"full": np.stack([np.eye(d)] * 10), "diag": np.ones((10, d)), "tied": np.eye(d)}[kind]
        start = {"means_init": data["start"], "weights_init": np.full(10, 0.1), "precisions_init": shape}
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            cls = import_module(f"{package}.mixture").GaussianMixture
            return cls(10, covariance_type=kind, tol=0.0, max_iter=20, **start).fit(data["X"])

    return work


def likelihood(model, data: dict) -> float:
    return float(model.score(data["X"]))


def task(n: int, kind: str) -> Task:
    return Task(
        name=f"GaussianMixture {kind} {n // 1000}k×16, k=10, 20 iterations",
        family="mixture",
        make=data,
        rows=n,
        ours=fit("learnt", kind),
        peers={"sklearn": fit("sklearn", kind)},
        quality=likelihood,
        quality_name="log likelihood",
        required=3.0,
        better="higher",
        tolerance=1e-6,
        toy=400,
    )


TASKS = [task(50_000, kind) for kind in ("full", "diag", "tied")]
