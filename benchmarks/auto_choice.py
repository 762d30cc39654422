"""algorithm="auto" of neighbour search against brute force, the KD-tree and the ball tree, in processor time.

    python benchmarks/auto_choice.py [--rows 2000 20000] [--queries N]

One line for each cell of the grid (rows, intrinsic dimension, features, k): milliseconds of fit and query for the three
exact algorithms, what "auto" took, and its time over the best. The aim is 1.3 at most everywhere.
"""

from __future__ import annotations

import argparse
import time
from collections.abc import Iterator

import numpy as np

from learnt.neighbors import NearestNeighbors

# (intrinsic dimension, features): the whole space, and surfaces bent through more features.
SHAPES = [(2, 2), (3, 3), (5, 5), (8, 8), (12, 12), (20, 20), (2, 50), (5, 50), (10, 50), (2, 200), (5, 200)]
ALGORITHMS = ("brute", "kd_tree", "ball_tree", "auto")


def surface(n: int, dimension: int, features: int) -> np.ndarray:
    """Points spread in `dimension` dimensions, which lie bent among the features."""
    rng = np.random.default_rng(0)
    Z = rng.random((n, dimension))
    if features == dimension:
        return Z
    A = rng.normal(size=(dimension, features))
    return Z @ A + 0.3 * np.sin(3.0 * Z @ rng.normal(size=(dimension, features)))


def seconds(algorithm: str, X: np.ndarray, Q: np.ndarray, k: int, repeats: int) -> float:
    """The least processor time of a fit and its queries."""
    best = np.inf
    for _ in range(repeats):
        start = time.process_time()
        NearestNeighbors(n_neighbors=k, algorithm=algorithm).fit(X).kneighbors(Q)
        best = min(best, time.process_time() - start)
    return best


def grid(rows: list[int], queries: int, repeats: int) -> Iterator[tuple[tuple[int, int, int, int], dict[str, float]]]:
    """The times of all algorithms, cell by cell."""
    for n in rows:
        for dimension, features in SHAPES:
            X = surface(n + (queries or n // 4), dimension, features)
            for k in (1, 10, 50):
                times = {name: seconds(name, X[:n], X[n:], k, repeats) for name in ALGORITHMS}
                yield (n, dimension, features, k), times


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--rows", type=int, nargs="+", default=[2_000, 20_000])
    parser.add_argument("--queries", type=int, default=0, help="by default a quarter of the rows")
    parser.add_argument("--repeats", type=int, default=2)
    asked = parser.parse_args()
    worst = 0.0
    print(f"{'rows':>8} {'dim':>4} {'features':>8} {'k':>3}  " + " ".join(f"{name:>10}" for name in ALGORITHMS))
    for (n, dimension, features, k), times in grid(asked.rows, asked.queries, asked.repeats):
        ratio = times["auto"] / min(times[name] for name in ALGORITHMS[:3])
        worst = max(worst, ratio)
        shown = " ".join(f"{1e3 * times[name]:10.1f}" for name in ALGORITHMS)
        print(f"{n:8} {dimension:4} {features:8} {k:3}  {shown}  auto / best {ratio:.2f}", flush=True)
    print(f"worst: {worst:.2f}")


if __name__ == "__main__":
    main()
