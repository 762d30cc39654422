"""Points rounded for fast matrix products, cached from query to query, and an error bound of the products."""

from __future__ import annotations

from collections.abc import Iterator
from typing import NamedTuple

import numpy as np

from learnt.distances._rounding import round_rows
from learnt.engine.threads import for_blocks

TILE = 512  # points scored at once; chunks and tasks hold whole tiles
_CHUNK_BYTES = 1 << 25  # rounded points held at once, and cached between queries


class Rounding(NamedTuple):
    """Rows become (x − origin) · scale in `dtype`; scale is a power of two.

    A score ‖t‖² − 2 q·t then has an error of at most  product_error ‖q‖ ‖t‖ + norm_error (‖q‖² + ‖t‖²).
    """

    origin: np.ndarray
    scale: float
    dtype: type
    product_error: float
    norm_error: float

    def rows(self, X: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
        """Rounded rows, and their squared norms in float64."""
        out: np.ndarray = np.empty(X.shape, dtype=self.dtype)
        norms = np.empty(X.shape[0])
        round_rows(X, self.origin, self.scale, out, norms)
        return out, norms

    def slack(self, a2: np.ndarray, b2: np.ndarray) -> np.ndarray:
        """The bound, for squared norms a2 and b2."""
        return self.product_error * np.sqrt(a2 * b2) + self.norm_error * (a2 + b2)


class Chunk(NamedTuple):
    """Rounded points from number `first` on, filled up to a multiple of eight; a filling row has norm ∞."""

    first: int
    rows: np.ndarray
    norms: np.ndarray
    longest: float  # the largest squared norm


class RoundedPoints:
    """Points, and what matrix products need of them; made at the first query that needs it, and kept.

    Integers so small that their products are exact are left as they are: ties among them, which are frequent, are then
    decided by the products alone. Other points are centred and scaled by their spread.
    """

    def __init__(self, T: np.ndarray) -> None:
        self.T = T
        self._integers: dict[type, bool] = {}
        self._about: tuple[np.ndarray, float] | None = None
        self._cached: tuple[bool, Chunk] | None = None

    def rounding(self, Q: np.ndarray, dtype: type) -> Rounding:
        """How the points are rounded where these are the queries."""
        unit = float(np.finfo(dtype).eps) / 2
        if dtype not in self._integers:
            self._integers[dtype] = _all_integers(self.T, unit)
        d = self.T.shape[1]
        if self._integers[dtype] and _all_integers(Q, unit):
            return Rounding(np.zeros(d), 1.0, dtype, 0.0, 0.0)
        if self._about is None:
            self._about = _middle_and_scale(self.T)
        return Rounding(*self._about, dtype, unit * (2 * d + 12), 4 * unit)

    def chunks(self, how: Rounding, n_jobs: int | None) -> Iterator[Chunk]:
        """All points, some MiB at a time; single-precision points that are one chunk are kept for the next queries."""
        n, d = self.T.shape
        cached = self.cached(how)
        if cached is not None:
            yield cached
            return
        size = max(TILE, _CHUNK_BYTES // (np.dtype(how.dtype).itemsize * d) // TILE * TILE)
        for first in range(0, n, size):
            chunk = self._chunk(how, first, min(first + size, n), n_jobs)
            if size >= n and how.dtype is np.float32:
                self._cached = how.product_error == 0.0, chunk
            yield chunk

    def cached(self, how: Rounding) -> Chunk | None:
        """All points, if an earlier query has rounded them in this way."""
        cached = self._cached
        return (
            None
            if cached is None or how.dtype is not np.float32 or cached[0] != (how.product_error == 0.0)
            else cached[1]
        )

    def tiles(self, how: Rounding, lo: int, hi: int) -> Iterator[Chunk]:
        """Points lo…hi−1, a tile at a time; `lo` is a multiple of eight."""
        cached = self.cached(how)
        for first in range(lo, hi, TILE):
            last = min(first + TILE, hi)
            if cached is None:
                yield self._chunk(how, first, last, 1)
            else:
                padded = first + -(-(last - first) // 8) * 8
                yield Chunk(first, cached.rows[first:padded], cached.norms[first:padded], cached.longest)

    def _chunk(self, how: Rounding, first: int, last: int, n_jobs: int | None) -> Chunk:
        d = self.T.shape[1]
        padded = -(-(last - first) // 8) * 8
        rows: np.ndarray = np.empty((padded, d), dtype=how.dtype)
        extra: np.ndarray = np.full(padded, np.inf, dtype=how.dtype)
        rows[last - first :] = 0

        def fill(lo: int, hi: int) -> float:
            norms = np.empty(hi - lo)
            round_rows(self.T[first + lo : first + hi], how.origin, how.scale, rows[lo:hi], norms)
            with np.errstate(over="ignore"):
                extra[lo:hi] = norms
            return float(norms.max())

        if last - first <= TILE:
            return Chunk(first, rows, extra, fill(0, last - first))
        longest = max(for_blocks(fill, last - first, grain=max(8, (1 << 17) // d), n_jobs=n_jobs))
        return Chunk(first, rows, extra, longest)


def _middle_and_scale(T: np.ndarray) -> tuple[np.ndarray, float]:
    """The mean of some rows, and the power of two that makes their spread about 1."""
    some = T[:: -(-T.shape[0] // 1024)].astype(np.float64)
    middle = some.mean(axis=0)
    spread = float(np.sqrt(np.square(some - middle).mean()))
    return middle, 2.0 ** -int(np.clip(np.rint(np.log2(spread)), -500, 500)) if spread > 0 else 1.0


def _integers(X: np.ndarray, unit: float) -> bool:
    most = np.sqrt(1.0 / (8.0 * unit * X.shape[1]))
    return bool(np.abs(X).max(initial=0) <= most and (np.rint(X) == X).all())


def _all_integers(X: np.ndarray, unit: float) -> bool:
    if not _integers(X[:64], unit):
        return False
    grain = max(1, (1 << 18) // X.shape[1])
    return all(for_blocks(lambda lo, hi: _integers(X[lo:hi], unit), X.shape[0], grain=grain))
