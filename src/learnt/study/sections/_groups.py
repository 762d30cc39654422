"""Errors by group: rows with one value of a column, or in one quarter of its range, against all other rows."""

from __future__ import annotations

import math
from collections.abc import Sequence

import numpy as np
import polars as pl

from learnt.diagnosis import bootstrap_interval, wilson_interval
from learnt.study.facts._sections import GroupError, GroupErrors
from learnt.study.sections._significance import LEVEL, clusters_differ, holm, rank_differs, share_differs
from learnt.study.sections._values import in_groups, read_values

LEAST_ROWS = 10  # of a group that is shown
MOST_COLUMNS = 20
MOST_ROWS = 20_000  # of more, evenly spaced ones
RESAMPLES = 200


def errors_by_group(
    table: pl.DataFrame,
    errors: np.ndarray,
    *,
    classify: bool,
    columns: Sequence[str] | None = None,
    kinds: dict[str, str] | None = None,
    clusters: np.ndarray | None = None,
    level: float = LEVEL,
    least_rows: int = LEAST_ROWS,
) -> GroupErrors:
    """The error in each group of rows with its interval, and whether it differs from that of all other rows.

    Errors of classes are tested exactly (Fisher), those of amounts by their ranks (Wilcoxon), rows that come in
    clusters by the sums of their clusters; all are corrected for the number of groups (Holm).

    Parameters
    ----------
    table : DataFrame
        The raw cells of the rows that were predicted.
    errors : array of shape (n_rows,)
        True where a class was wrong, or the absolute error of an amount.
    classify : bool
        Whether errors are of classes.
    columns : names, optional
        The columns to look at, the most important first; all by default. At most twenty are.
    kinds : dict, optional
        What `learnt.preprocessing.profile` says that a column holds.
    clusters : array of shape (n_rows,), optional
        Rows with equal values hang together.
    level : float, default=0.05
        The chance that any group is flagged where none differs.
    least_rows : int, default=10
        Smaller groups are left out.

    Returns
    -------
    GroupErrors
        The groups with error, 95% interval, corrected p-value and flag.

    Examples
    --------
    >>> table = pl.DataFrame({"city": ["Oslo"] * 50 + ["Rome"] * 50})
    >>> found = errors_by_group(table, np.arange(100) < 20, classify=True)
    >>> [(g.group, g.error, g.flagged) for g in found.groups]
    [('Oslo', 0.4, True), ('Rome', 0.0, True)]
    """
    errors = np.asarray(errors, dtype=np.float64)
    if len(errors) > MOST_ROWS:
        kept = np.linspace(0, len(errors) - 1, MOST_ROWS).astype(np.int64)
        table, errors = table[kept], errors[kept]
        clusters = None if clusters is None else clusters[kept]
    ranks = None if classify or not len(errors) else _ranks(errors)
    found: list[tuple[str, str, np.ndarray]] = []
    for name in list(columns if columns is not None else table.columns)[:MOST_COLUMNS]:
        values = read_values(table, name, (kinds or {}).get(name))
        cells = None if values is None else in_groups(values)
        if cells is not None:
            members = ((name, said, cells.codes == code) for code, said in enumerate(cells.names))
            found += [m for m in members if least_rows <= m[2].sum() < len(errors)]
    p_values = [_p_value(errors, ranks, inside, clusters) for _, _, inside in found]
    corrected = holm(np.array(p_values)) if found else np.empty(0)
    groups = []
    for (name, said, inside), p in zip(found, corrected):
        estimate, low, high = _interval(errors, inside, clusters, classify)
        elsewhere = float(errors[~inside].mean())
        # A rank test may see a difference that is not one of the means that are shown
        same_way = ranks is None or (ranks[inside].mean() > ranks.mean()) == (estimate > elsewhere)
        groups.append(
            GroupError(
                name, said, int(inside.sum()), estimate, low, high, elsewhere, float(p), bool(p < level and same_way)
            )
        )
    measure = "error rate" if classify else "mean absolute error"
    overall = float(errors.mean()) if len(errors) else math.nan
    return GroupErrors(measure, len(errors), overall, level, tuple(groups))


def _ranks(values: np.ndarray) -> np.ndarray:
    """From 1 on; equal values share the mean of theirs."""
    ordered = np.sort(values)
    first, last = np.searchsorted(ordered, values, side="left"), np.searchsorted(ordered, values, side="right")
    return (first + 1 + last) / 2


def _p_value(errors: np.ndarray, ranks: np.ndarray | None, inside: np.ndarray, clusters: np.ndarray | None) -> float:
    if clusters is not None:
        return clusters_differ(errors if ranks is None else ranks, inside, clusters)
    if ranks is not None:
        return rank_differs(ranks, inside)
    return share_differs(int(errors[inside].sum()), int(inside.sum()), int(errors.sum()), len(errors))


def _interval(
    errors: np.ndarray, inside: np.ndarray, clusters: np.ndarray | None, classify: bool
) -> tuple[float, float, float]:
    own = errors[inside]
    if classify and clusters is None:
        found = wilson_interval(float(own.sum()), len(own))
    else:
        hang = None if clusters is None else clusters[inside]
        found = bootstrap_interval(own, groups=hang, n_resamples=RESAMPLES)
    return found.estimate, found.low, found.high
