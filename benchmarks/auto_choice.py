"""algorithm="auto" of neighbour search against brute force, the KD-tree and the ball tree, in processor time.

    python benchmarks/auto_choice.py [--rows 1000 100000] [--queries 1 100 10000] [--shapes 3x3 5x50]

One line for each cell of the grid (rows, intrinsic dimension, features, k, queries): milliseconds of fit and queries
together, what "auto" took, and its time over the best. The aim is 1.3 at most everywhere. Trees that would take longer
than `--seconds` answer as many of the queries as they can in that time, and the rest is taken to be like them.
"""

from __future__ import annotations

import argparse
import time
from collections.abc import Iterator

import numpy as np

from learnt.engine.threads import set_threads
from learnt.neighbors import NearestNeighbors

# Intrinsic dimension × features: the whole space, and surfaces bent through more features.
SHAPES = ["2x2", "3x3", "5x5", "8x8", "12x12", "20x20", "50x50", "200x200", "3x20", "2x50", "5x50", "10x50", "5x200"]
ALGORITHMS = ("brute", "kd_tree", "ball_tree", "auto")
_CELLS = 60_000_000  # of the largest table
_CHUNK = 200


def surface(n: int, dimension: int, features: int) -> np.ndarray:
    """Points spread in `dimension` dimensions, which lie bent among the features."""
    rng = np.random.default_rng(0)
    if features == dimension:
        return rng.normal(size=(n, dimension))
    Z = rng.random((n, dimension))
    A = rng.normal(size=(dimension, features))
    return Z @ A + 0.3 * np.sin(3.0 * Z @ rng.normal(size=(dimension, features)))


def seconds(algorithm: str, X: np.ndarray, Q: np.ndarray, k: int, limit: float) -> float:
    """Processor time of a fit and its queries."""
    start = time.process_time()
    model = NearestNeighbors(n_neighbors=k, algorithm=algorithm).fit(X)
    if "tree" not in algorithm:
        model.kneighbors(Q)
        return time.process_time() - start
    fit, done, start = time.process_time() - start, 0, time.process_time()
    while done < len(Q) and time.process_time() - start < limit:
        model.kneighbors(Q[done : done + _CHUNK])
        done = min(done + _CHUNK, len(Q))
    return fit + (time.process_time() - start) * len(Q) / done


def grid(asked: argparse.Namespace) -> Iterator[tuple[tuple[int, ...], dict[str, float]]]:
    """The times of all algorithms, cell by cell."""
    for n in asked.rows:
        for dimension, features in (map(int, shape.split("x")) for shape in asked.shapes):
            if n * features > _CELLS:
                continue
            X = surface(n + max(asked.queries), dimension, features)
            for k in asked.neighbors:
                for m in asked.queries:
                    repeats = range(3 if m * n < 1e8 else 1)
                    times = {
                        name: min(seconds(name, X[:n], X[n : n + m], k, asked.seconds) for _ in repeats)
                        for name in ALGORITHMS
                    }
                    yield (n, dimension, features, k, m), times


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--rows", type=int, nargs="+", default=[1_000, 10_000, 100_000])
    parser.add_argument("--queries", type=int, nargs="+", default=[1, 100, 10_000])
    parser.add_argument("--neighbors", type=int, nargs="+", default=[5])
    parser.add_argument("--shapes", nargs="+", default=SHAPES)
    parser.add_argument("--seconds", type=float, default=1.0)
    asked = parser.parse_args()
    set_threads(1)
    for name in ALGORITHMS:  # compiled once
        seconds(name, surface(3000, 3, 3), surface(300, 3, 3), 5, 1.0)
    ratios = []
    heads = " ".join(f"{name:>10}" for name in ALGORITHMS)
    print(f"{'rows':>8} {'dim':>4} {'features':>8} {'k':>3} {'queries':>8}  {heads}")
    for (n, dimension, features, k, m), times in grid(asked):
        ratios.append(times["auto"] / min(times[name] for name in ALGORITHMS[:3]))
        shown = " ".join(f"{1e3 * times[name]:10.1f}" for name in ALGORITHMS)
        print(f"{n:8} {dimension:4} {features:8} {k:3} {m:8}  {shown}  auto / best {ratios[-1]:.2f}", flush=True)
    print(f"{len(ratios)} cells, worst {max(ratios):.2f}, above 1.3: {sum(ratio > 1.3 for ratio in ratios)}")


if __name__ == "__main__":
    main()
