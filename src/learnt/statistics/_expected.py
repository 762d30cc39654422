"""Moments of groups that rows have shares in, together with other sums of the same pass: what an EM step needs."""

from __future__ import annotations

from typing import Any

import numpy as np

from learnt.engine.rows import Rows, Statistic
from learnt.statistics._groups import Groups
from learnt.statistics._moments import PASSES, Plan, about_means, far_columns
from learnt.statistics._record import Moments


def expected_moments(
    rows: Rows, statistic: Statistic, *state: Any, groups: int, scatter: str, about: Any, values: int
) -> tuple[tuple, Moments, Any]:
    """Sums of values, moments of the groups, and the point they were taken about at last.

    `statistic(block, point, *state)` gives `values` numbers of a block, then Σr, Σrz and the second sums of
    z = x − point (`share_sums`). `about` is one point for all groups (d,), or one for each (K, d); where a group's mean
    turns out to be far from it in the group's own units, the sums are computed again about the means just found.
    """
    plan = Plan(scatter, Groups(groups, statistic))
    with np.errstate(all="ignore"):  # what is not finite shows in the moments
        for _ in range(PASSES):
            parts = rows.sum(statistic, about, *state)
            found, off = about_means(parts[values:], about, plan)
            if far_columns(found, off, False) is None:
                break
            about = found.mean
    return parts[:values], found, about
