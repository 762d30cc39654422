"""The metrics that each algorithm takes, by name."""

from __future__ import annotations

from learnt.distances import KD_TREE_METRICS, METRIC_NAMES, SAME_METRICS, SPARSE_METRIC_NAMES

VALID_METRICS: dict[str, list[str]] = {
    # Balls where the metric has triangles; all pairs where it has none, as with algorithm="brute".
    "ball_tree": [name for name in METRIC_NAMES if name != "precomputed"],
    "kd_tree": [name for name in METRIC_NAMES if SAME_METRICS.get(name, name) in KD_TREE_METRICS],
    "brute": list(METRIC_NAMES),
}
# Of sparse rows.
VALID_METRICS_SPARSE: dict[str, set[str]] = {"ball_tree": set(), "kd_tree": set(), "brute": set(SPARSE_METRIC_NAMES)}
