"""Where EM starts: the moments of components that rows are assigned to, by the nearest centre or at random."""

from __future__ import annotations

import warnings
from typing import Any

import numpy as np
from sklearn.exceptions import ConvergenceWarning

from learnt.cluster import KMeans
from learnt.engine.arrays import like, namespace, to_numpy
from learnt.engine.matrices import double, take_rows, to_device_of_as_double
from learnt.engine.random import uniforms
from learnt.engine.rows import Rows
from learnt.engine.rows.blocks import Block, widen
from learnt.statistics import Groups, Moments, moments

STARTS = ("kmeans", "k-means++", "random", "random_from_data")


def first_moments(
    X: Any, w: Any, rows: Rows, k: int, how: str, scatter: str, random_state: np.random.RandomState
) -> Moments:
    """The moments of k components to start from."""
    if how == "random":
        by = Groups(k, _random_shares, (k, int(random_state.randint(2**31 - 1))))
    else:
        centers = _centers(X, w, rows, k, how, random_state)
        by = Groups(k, _nearest, (like(centers, rows.reference, namespace(rows.reference).float64),))
    return moments(rows, by, scatter=scatter).to_numpy()


def _centers(X: Any, w: Any, rows: Rows, k: int, how: str, random_state: np.random.RandomState) -> np.ndarray:
    if how == "random_from_data":
        return rows.reduce(_lowest_keys, _merged(k), k, int(random_state.randint(2**31 - 1)))[1]
    model = KMeans(k, n_init=1, random_state=random_state)
    if how == "k-means++":
        model.set_params(max_iter=1)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", ConvergenceWarning)  # fewer distinct rows than components: EM tells
        return to_numpy(model.fit(X, sample_weight=w).cluster_centers_)


def _nearest(block: Block, centers: Any) -> Any:
    """The nearest centre of each row: distances but for ‖x‖², about a point among the centres."""
    xp = namespace(block.X)
    origin = xp.mean(centers, axis=0)
    C = centers - origin
    distances = xp.sum(C * C, axis=1)[None, :] - 2.0 * ((widen(block.X) - origin) @ C.T)
    return xp.argmin(distances, axis=1)


def _numbers(block: Block) -> np.ndarray:
    return np.arange(block.start, block.start + block.X.shape[0])


def _random_shares(block: Block, k: int, seed: int) -> Any:
    shares = uniforms(_numbers(block)[:, None] * k + np.arange(k)[None, :], seed)
    shares /= shares.sum(axis=1, keepdims=True)
    return to_device_of_as_double(shares, block.X)


def _lowest_keys(block: Block, k: int, seed: int) -> tuple[np.ndarray, np.ndarray]:
    """The k rows of a block with the lowest random keys, which are a random choice by weight (Efraimidis, Spirakis)."""
    keys = -np.log1p(-uniforms(_numbers(block), seed))
    if block.w is not None:
        keys /= to_numpy(block.w)
    order = np.argsort(keys, kind="stable")[:k]
    return keys[order], double(to_numpy(take_rows(block.X, order)))


class _merged:
    """The k lowest keys of two lots; an object, so that it can travel."""

    def __init__(self, k: int) -> None:
        self.k = k

    def __call__(self, total: Any, part: Any) -> Any:
        if total is None or part is None:
            return part if total is None else total
        keys, rows = np.concatenate([total[0], part[0]]), np.concatenate([total[1], part[1]])
        order = np.argsort(keys, kind="stable")[: self.k]
        return keys[order], rows[order]
