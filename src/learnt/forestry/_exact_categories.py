"""Splits of one column of categories."""

from __future__ import annotations

from learnt.engine.kernel import kernel


@kernel
def sweep_categories(
    feature, categories, a, f, lo, hi, weight, y, weights, rules, limits, sums, subsets, groups, best, chosen
):
    """Look for a better split of the categories; False where all rows of the node have the same one."""
    return False
