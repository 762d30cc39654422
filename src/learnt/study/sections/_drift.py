"""Development and test rows compared column by column: whether the rows that judge are like those that were learnt."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

import numpy as np
import polars as pl

from learnt.study.facts._sections import ColumnDrift, Drift
from learnt.study.sections._significance import LEVEL, counts_differ, distance_of, distance_p, holm, share_differs
from learnt.study.sections._values import Values, read_values

MOST_COLUMNS = 100
MOST_ROWS = 20_000  # of either part; of more, evenly spaced ones
MANY_LABELS = 200


def drift(
    development: pl.DataFrame,
    test: pl.DataFrame,
    *,
    columns: Sequence[str] | None = None,
    kinds: dict[str, str] | None = None,
    independent: tuple[float, float] | None = None,
    level: float = LEVEL,
) -> Drift:
    """Which columns are distributed otherwise in the test rows than in the development rows.

    Numbers and dates are compared by Kolmogorov and Smirnov's test, labels by chi-square, missing cells exactly; all
    are corrected for their number (Holm).

    Parameters
    ----------
    development, test : DataFrame
        The raw cells.
    columns : names, optional
        All by default; at most a hundred are compared.
    kinds : dict, optional
        What `learnt.preprocessing.profile` says that a column holds.
    independent : (float, float), optional
        How many independent rows there are in each, where rows hang together: the numbers of their groups.
    level : float, default=0.05
        The chance that any column is flagged where none has changed.

    Returns
    -------
    Drift

    Examples
    --------
    >>> before, after = pl.DataFrame({"x": np.arange(200.0)}), pl.DataFrame({"x": np.arange(100.0) + 100})
    >>> found = drift(before, after)
    >>> found.flagged[0].column, round(found.flagged[0].shift, 2)
    ('x', 0.5)
    """
    sizes = len(development), len(test)
    development, test = (_thinned(part) for part in (development, test))
    ratios = (1.0, 1.0)
    if independent is not None:
        ratios = (min(independent[0] / max(sizes[0], 1), 1.0), min(independent[1] / max(sizes[1], 1), 1.0))
    both = pl.concat([development, test], how="vertical_relaxed")
    cut = len(development)
    found: list[ColumnDrift] = []
    p_values: list[float] = []
    for name in list(columns if columns is not None else development.columns)[:MOST_COLUMNS]:
        values = read_values(both, name, (kinds or {}).get(name))
        if values is None or not cut or cut == len(both):
            continue
        shift, p = _compare(values, cut, ratios)
        gone = values.missing
        before, after = float(gone[:cut].mean()), float(gone[cut:].mean())
        if gone.any() and not gone.all():
            n, m = cut * ratios[0], (len(both) - cut) * ratios[1]
            hits, lost = round(after * m), round(before * n) + round(after * m)
            p = min(2 * min(p, share_differs(hits, round(m), lost, round(n) + round(m))), 1.0)
        found.append(ColumnDrift(name, shift, before, after, 1.0, False))
        p_values.append(p)
    corrected = holm(np.array(p_values)) if found else np.empty(0)
    done = [replace(c, p_value=float(p), flagged=bool(p < level)) for c, p in zip(found, corrected)]
    done.sort(key=lambda c: (c.p_value, -c.shift))
    return Drift(*sizes, level, tuple(done))


def _thinned(part: pl.DataFrame) -> pl.DataFrame:
    if len(part) <= MOST_ROWS:
        return part
    return part[np.linspace(0, len(part) - 1, MOST_ROWS).astype(np.int64)]


def _compare(values: Values, cut: int, ratios: tuple[float, float]) -> tuple[float, float]:
    """How far the two parts of a column are apart, and the chance of that in one distribution."""
    there = ~values.missing
    first, second = there[:cut], there[cut:]
    n, m = first.sum() * ratios[0], second.sum() * ratios[1]
    if min(n, m) < 1:
        return 0.0, 1.0
    if values.numbers is not None:
        shift = distance_of(values.numbers[:cut][first], values.numbers[cut:][second])
        return shift, distance_p(shift, n, m)
    assert values.codes is not None
    codes = np.minimum(values.codes, MANY_LABELS)  # rarer ones together
    a, b = (np.bincount(part, minlength=MANY_LABELS + 1) for part in (codes[:cut][first], codes[cut:][second]))
    shift = 0.5 * float(np.abs(a / a.sum() - b / b.sum()).sum())
    return shift, counts_differ(a * ratios[0], b * ratios[1])
