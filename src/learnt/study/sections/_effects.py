"""Partial dependence: how a model's prediction changes when one column alone is changed, for raw rows as they are."""

from __future__ import annotations

import math
import time
from collections.abc import Callable, Sequence

import numpy as np
import polars as pl

from learnt.engine.random import stream
from learnt.study.facts._sections import Effect
from learnt.study.sections._values import Values, read_values

MOST_COLUMNS = 6
MOST_ROWS = 200
MOST_VALUES = 12
FLAT = 0.05  # of the predictions' standard deviation: a smaller range is called none
ONE_WAY = 0.9  # share of all changes that go the same way

Predict = Callable[[pl.DataFrame], np.ndarray]


def effects(
    predict: Predict,
    table: pl.DataFrame,
    columns: Sequence[str],
    *,
    classes: list | None = None,
    positive: int | None = None,
    kinds: dict[str, str] | None = None,
    seed: int = 0,
    most_rows: int = MOST_ROWS,
    deadline: float = math.inf,
    clock: Callable[[], float] = time.monotonic,
) -> tuple[Effect, ...]:
    """Partial dependence of the leading columns, as many as there is time for before the deadline.

    Parameters
    ----------
    predict : function
        From a raw table to amounts, or to probabilities with a column for each class.
    table : DataFrame
        Raw rows; at most two hundred are used.
    columns : names
        The most important first; at most six are looked at.
    classes : list, optional
        The classes; None for amounts.
    positive : int, optional
        The number of the class to speak of; of several, that whose probability moves most.
    kinds : dict, optional
        What `learnt.preprocessing.profile` says that a column holds.
    seed : int, default=0
        Of the draw of rows.
    most_rows : int, default=200
        Rows that are drawn.
    deadline : float
        No column is begun that would not be done before, by `clock`.

    Returns
    -------
    tuple of Effect

    Examples
    --------
    >>> table = pl.DataFrame({"x": np.arange(30.0), "z": np.ones(30)})
    >>> found = effects(lambda rows: 2 * rows["x"].to_numpy(), table, ["x"])
    >>> found[0].direction, found[0].range
    ('rises', 58.0)
    """
    if len(table) > most_rows:
        table = table[np.sort(stream(seed, 12).permutation(len(table))[:most_rows])]
    started = clock()
    usual = _columns_of(predict(table))
    took = clock() - started
    found: list[Effect] = []
    for name in list(columns)[:MOST_COLUMNS]:
        if clock() + took * (MOST_VALUES if not found else 1) > deadline:
            break
        values = read_values(table, name, (kinds or {}).get(name))
        rows, said, place = ([], [], None) if values is None else _grid(values)
        if len(rows) < 2:
            continue
        started = clock()
        curves = _curves(predict, table, name, rows)
        took = clock() - started
        which = positive if positive is not None else int(np.ptp(curves.mean(axis=1), axis=0).argmax())
        found.append(_effect(name, classes, which, curves[:, :, which], usual[:, which], said, place))
    return tuple(found)


def _columns_of(output: np.ndarray) -> np.ndarray:
    output = np.asarray(output, dtype=np.float64)
    return output[:, None] if output.ndim == 1 else output


def _grid(values: Values) -> tuple[list[int], list[str], list[float] | None]:
    """Rows whose cells are tried: at quantiles of numbers, or the commonest labels."""
    if values.numbers is None:
        assert values.codes is not None
        kept = [int(np.flatnonzero(values.codes == c)[0]) for c in range(min(len(values.labels), MOST_VALUES))]
        return kept, list(values.labels[: len(kept)]), None
    there = np.flatnonzero(~values.missing)
    if not len(there):
        return [], [], None
    order = there[np.argsort(values.numbers[there], kind="stable")]
    picked = order[np.linspace(0, len(order) - 1, MOST_VALUES).round().astype(int)]
    numbers, first = np.unique(values.numbers[picked], return_index=True)
    return [int(picked[k]) for k in first], [values.said(v) for v in numbers], numbers.tolist()


def _curves(predict: Predict, table: pl.DataFrame, name: str, rows: list[int]) -> np.ndarray:
    """(values, rows, outputs): every row's prediction with the cell of each of these rows in its place, in one call."""
    cells = table[name].gather(pl.Series(np.repeat(rows, len(table))))
    repeated = table[np.tile(np.arange(len(table)), len(rows))].with_columns(cells.alias(name))
    output = _columns_of(predict(repeated))
    return output.reshape(len(rows), len(table), output.shape[1])


def _effect(
    name: str,
    classes: list | None,
    which: int,
    curves: np.ndarray,
    usual: np.ndarray,
    said: list[str],
    place: list[float] | None,
) -> Effect:
    mean = curves.mean(axis=1)
    low, high = np.quantile(curves, [0.25, 0.75], axis=1)
    about = "" if classes is None else str(classes[which])
    direction = _direction(mean, float(usual.std()), said if place is None else None)
    return Effect(name, about, said, place, mean.tolist(), low.tolist(), high.tolist(), direction)


def _direction(mean: np.ndarray, usual: float, labels: list[str] | None) -> str:
    if np.ptp(mean) <= FLAT * usual:
        return "hardly changes"
    if labels is not None:
        return f"highest for {labels[int(mean.argmax())]}"
    steps = np.diff(mean)
    up, all_of_them = steps[steps > 0].sum(), np.abs(steps).sum()
    if up >= ONE_WAY * all_of_them:
        return "rises"
    return "falls" if up <= (1 - ONE_WAY) * all_of_them else "rises and falls"
