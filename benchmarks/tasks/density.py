"""DensityTree against mlpack's density estimation tree: mean log density of rows that were held out.

mlpack's pruning by ten folds takes minutes from 30,000 rows on, so that the larger table is grown without it. Without
mlpack there is nothing to compare with, and no task.
"""

from __future__ import annotations

from importlib.util import find_spec

import numpy as np
from harness import Task


def clouds(n: int) -> dict:
    """Six clouds in five dimensions, and held-out rows that lie within the range of the others."""
    centres = 3.0 * np.random.default_rng(7).normal(size=(6, 5))
    rng = np.random.default_rng(0)
    X = centres[rng.integers(6, size=n + 5000)] + rng.normal(size=(n + 5000, 5)) * [1.0, 0.5, 2.0, 1.0, 0.7]
    X, held = X[:n], X[n:]
    return {"X": X, "held": held[((held > X.min(axis=0)) & (held < X.max(axis=0))).all(axis=1)]}


def ours(data: dict) -> np.ndarray:
    from learnt.density import DensityTree

    return DensityTree(random_state=0).fit(data["X"]).score_samples(data["held"])


def mlpack(**params):
    def work(data: dict) -> np.ndarray:
        import mlpack as peer

        found = peer.det(training=data["X"].copy(), test=data["held"].copy(), **params)
        return np.log(found["test_set_estimates"].ravel())

    return work


def task(n: int, **params) -> Task:
    return Task(
        name=f"DensityTree {n // 1000}k×5{', mlpack without pruning' if params else ''}",
        family="density",
        make=clouds,
        rows=n,
        ours=ours,
        peers={"mlpack": mlpack(**params)},
        quality=lambda scores, data: float(scores.mean()),
        quality_name="held-out log density",
        required=3.0,
        better="higher",
        toy=500,
    )


TASKS = [task(10_000), task(100_000, skip_pruning=True)] if find_spec("mlpack") else []
