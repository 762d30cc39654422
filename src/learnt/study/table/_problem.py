"""Step 1, the learning problem: which column is predicted, from which others, and which must be excluded."""

from __future__ import annotations

import re
from dataclasses import dataclass, field
from typing import Any

import numpy as np
import polars as pl

from learnt.engine.classification.labels import encode_labels
from learnt.engine.random import generator
from learnt.preprocessing import TableEncoder, profile
from learnt.study._counting import counted
from learnt.study._errors import StudyError, TooFewRows, did_you_mean
from learnt.study.table._columns import as_text, moments, seconds, set_unreadable_aside, type_notes
from learnt.study.table._images import Grid, besides_pixels, grid_of
from learnt.study.table._labels import MISSING
from learnt.study.table._misread import Misread, misread_cells, misread_target, sentences

FEW_CLASSES = 10  # integers with more different values than this are amounts, not labels
MANY_CLASSES = 100
LEAST_ROWS = 30
LEAST_PER_CLASS = 5
_POSITIVE = ("1", "true", "yes", "y", "t", "positive", "pos", "on")
_NOT_WHEN = re.compile(r"birth|dob|born", re.IGNORECASE)
_PROFILED = 30_000  # rows: of a longer table a sample is profiled
_PROFILED_CELLS = 5_000_000  # and of a wide one a smaller
_UNUSABLE = ("identifier", "constant", "empty", "duplicate", "nested", "drop")


@dataclass
class Problem:
    """A prepared table: rows with a target, features that may be used, and all findings."""

    name: str
    table: pl.DataFrame
    rows: np.ndarray  # where each row was in the file, from 0
    target: str
    task: str  # "classify" or "regress"
    y: np.ndarray
    codes: np.ndarray  # the number of each row's class; of amounts themselves
    features: list[str]
    columns: list[dict[str, Any]]  # what `profile` found
    findings: list[dict[str, Any]]
    set_aside: list[dict[str, str]]
    classes: list[Any] | None = None
    positive: int | None = None  # which class a threshold is about, where there are two
    time: str | None = None
    when: np.ndarray | None = None
    group: str | None = None
    groups: np.ndarray | None = None
    notes: list[str] = field(default_factory=list)
    grid: Grid | None = None  # of a table of images
    misread: list[Misread] = field(default_factory=list)  # cells that were read otherwise than they are written

    @property
    def classify(self) -> bool:
        return self.task == "classify"

    @property
    def image(self) -> Grid | None:
        """The images, where there is nothing else to learn from."""
        return self.grid if self.grid is not None and self.features == self.grid.names else None

    @property
    def X(self) -> pl.DataFrame:
        return self.table.select(self.features)


def pose(
    table: pl.DataFrame,
    target: str,
    *,
    name: str = "table",
    task: str = "auto",
    time: str | None = None,
    group: str | None = None,
    keep: tuple[str, ...] = (),
    drop: tuple[str, ...] = (),
) -> Problem:
    """Turn a table and the name of its target into a problem, or say in one sentence why that cannot be done."""
    named = [(c, "a column to drop") for c in drop] + [(c, "a column to keep") for c in keep]
    for column, what in ((target, "the target"), (group, "the group"), *named):
        if column is not None and column not in table.columns:
            raise StudyError(
                f"There is no column “{column}” ({what}); {did_you_mean(column, besides_pixels(table.columns))}"
            )
    if time not in (None, "none") and time not in table.columns:
        raise StudyError(f"There is no column “{time}” (the time); {did_you_mean(str(time), table.columns)}")
    if len({target, time, group} - {None}) < 3 - [target, time, group].count(None):
        raise StudyError("The target, the time and the group must be three different columns.")
    roles = {target: "the target", time: "the time", group: "the group"}
    table, unreadable = set_unreadable_aside(table, {c: role for c, role in roles.items() if c is not None})
    drop = tuple(c for c in drop if c in table.columns)
    notes: list[str] = []
    misread: list[Misread] = []
    y, kind, kept = _read_target(table, target, task, notes, misread)
    table, rows = _kept(table, kept), np.flatnonzero(kept)
    _check_enough(y)
    classes = codes = None
    if kind == "classify":
        y, codes, classes, kept = _labels(y, notes, target)
        table, rows = _kept(table, kept), rows[kept]
        _check_enough(y)
    candidates = [c for c in table.columns if c not in {group, *drop}]
    if candidates == [target]:
        raise StudyError(f"The table has no column beside “{target}”; there is nothing to predict from.")
    found = _profile(table.select(candidates), target, y)
    grid = grid_of(candidates)
    pixels = set() if grid is None else set(grid.names)
    # Findings about single pixels are meaningless
    found["findings"] = [f for f in found["findings"] if f["column"] not in pixels]
    set_aside = unreadable + _set_aside(found, set(keep) | pixels)
    unused = {entry["column"] for entry in set_aside}
    features = [c["name"] for c in found["columns"] if c["name"] not in unused | pixels]
    features = ([] if grid is None else grid.names) + features
    if not features:
        first = set_aside[0]
        why = f"“{first['column']}”: {first['reason'].rstrip('.')}"
        raise StudyError(f"Every column was set aside ({why}); add columns or --keep one.")
    found_time, when = _read_time(table, time, found["findings"], notes)
    set_aside += [{"column": c, "reason": "left out on your word (--drop)"} for c in drop]
    if group is not None:
        set_aside.append({"column": group, "reason": "names the groups, which are kept whole in every split"})
    skip = {"time", "leak", "identifier", "target missing", "empty", "constant", "duplicate", "nested"}
    skip |= {"imbalance"} if classes is None else {"capped", "skewed"}  # the profile guesses the task by itself
    notes += [f["message"] for f in found["findings"] if f["what"] not in skip]
    notes += type_notes(table.select(features))
    kinds = {c["name"]: c["kind"] for c in found["columns"] if c["name"] in features or c["kind"] == "identifier"}
    misread += misread_cells(table, {c: kind for c, kind in kinds.items() if c not in pixels}, rows)
    notes += sentences(misread)
    return Problem(
        name=name,
        table=table,
        rows=rows,
        target=target,
        task=kind,
        y=y,
        codes=y if codes is None else codes,
        features=features,
        columns=_described(found["columns"], features, grid),
        findings=found["findings"],
        set_aside=set_aside,
        classes=classes,
        positive=_positive(classes, codes) if classes is not None and len(classes) == 2 else None,
        time=found_time,
        when=when,
        group=group,
        groups=None if group is None else as_text(table[group]).fill_null("(missing)").to_numpy(),
        notes=notes,
        grid=grid,
        misread=misread,
    )


def labelled_rows(table: pl.DataFrame, target: str, task: str = "auto") -> tuple[pl.DataFrame, np.ndarray]:
    """The rows of a table that have a target, and the target as a study learns it.

    Parameters
    ----------
    table : polars.DataFrame
        The table, as `read_table` reads it.
    target : str
        The column to predict.
    task : {"auto", "classify", "regress"}, default="auto"
        Classes or amounts; "auto" sees it from the target.

    Returns
    -------
    table : polars.DataFrame
        The rows with a target; without those of classes that are too rare to be learnt.
    y : ndarray of shape (n_rows,)
        Labels or amounts, whether they were written as numbers or as text.

    See Also
    --------
    read_table : Reads a table.
    study : Goes on to a judged model.

    Examples
    --------
    >>> rows, y = labelled_rows(pl.DataFrame({"a": [1, 2, 3], "b": ["$1,200", None, "$950"]}), "b", "regress")
    >>> rows["a"].to_list(), y.tolist()
    ([1, 3], [1200.0, 950.0])
    """
    y, kind, kept = _read_target(table, target, task, [], [])
    table = _kept(table, kept)
    if kind == "classify":
        y, _, _, kept = _labels(y, [], target)
        table = _kept(table, kept)
    return table, np.asarray(y)


def _kept(table: pl.DataFrame, kept: np.ndarray) -> pl.DataFrame:
    """The rows that are kept, which mostly are all."""
    return table if kept.all() else table.filter(pl.Series(kept))


def _check_enough(y: np.ndarray | pl.Series) -> None:
    if len(y) < LEAST_ROWS:
        some = counted(len(y), "row has", "rows have")
        raise TooFewRows(f"{some} a target; a study needs at least {LEAST_ROWS}: collect more.")


# --- the target ----------------------------------------------------------------------------------------------


def _read_target(
    table: pl.DataFrame, target: str, task: str, notes: list[str], misread: list[Misread]
) -> tuple[Any, str, np.ndarray]:
    """The values of the target (text as a series), the task they call for, and which rows have one."""
    series = table[target]
    if series.dtype.is_float():
        series = series.fill_nan(None)
    if series.null_count() == len(series):
        raise StudyError(f"Every cell of “{target}” is missing; there is nothing to learn from.")
    numbers: np.ndarray | None
    labels: Any  # a series of strings, or None where the cells are numbers
    if series.dtype.is_temporal() and series.dtype != pl.Duration and task != "classify":
        raise StudyError(
            f"“{target}” holds dates or times, which are not predicted as they are; make a number of it first, such as "
            "the days until then (--task classify takes every one of them for a class)."
        )
    if series.dtype.is_numeric():
        numbers, labels = series.cast(pl.Float64).to_numpy(), None
    elif series.dtype == pl.Duration:
        numbers, labels = seconds(series), None
        notes.append(f"“{target}” is a duration; it is predicted in seconds.")
    else:
        numbers, labels = _read_written(table, target, series)
    if numbers is not None:
        readable = np.isfinite(numbers)
    else:
        readable = np.asarray(labels.is_not_null())
    kind = task if task != "auto" else _task(numbers[readable] if numbers is not None else None)
    lost = int((~readable).sum())
    if lost:
        none = counted(lost, f"of {len(series):,} rows has", f"of {len(series):,} rows have")
        notes.append(f"{none} no “{target}”: left out.")
    if kind == "regress":
        if numbers is None:
            raise StudyError(f"“{target}” does not hold numbers, so it cannot be regressed on; use --task classify.")
        if (entry := misread_target(series, numbers, labels)) is not None:
            misread.append(entry)
        values = numbers[readable]
        if np.ptp(values) == 0:
            raise StudyError(f"Every cell of “{target}” is {values[0]:g}; there is nothing to predict.")
        return values, kind, readable
    if labels is None and numbers is not None:
        values = numbers[readable]
        whole = bool(np.all(values == np.floor(values)))
        return values.astype(np.int64) if whole else values.astype(str), kind, readable
    return labels.filter(pl.Series(readable)), kind, readable


def _read_written(table: pl.DataFrame, target: str, series: pl.Series) -> tuple[np.ndarray | None, pl.Series]:
    """A target that is not typed as numbers: as numbers where the strings are numbers, and as labels."""
    labels = series.cast(pl.String)
    written = labels.unique()
    if (written != written.str.strip_chars()).any() or written.is_in(MISSING).any():
        labels = labels.str.strip_chars().replace(dict.fromkeys(MISSING))
    if not written.str.contains("[0-9]").any():
        return None, labels  # words, which no reading makes numbers of
    try:
        kind = TableEncoder().fit(table.select(target)).columns_[0]["kind"]
    except ValueError:  # an identifier or a single value: reported below
        kind = "category"
    if kind != "number":
        return None, labels
    encoded = TableEncoder(kinds={target: "number"}).fit_transform(table.select(target))
    numbers = np.asarray(encoded[:, 0], dtype=np.float64).copy()
    if encoded.shape[1] > 1:
        numbers[encoded[:, 1] > 0] = np.nan
    return numbers, labels


def _task(numbers: np.ndarray | None) -> str:
    if numbers is None:
        return "classify"
    if len(np.unique(numbers[:10_000])) > FEW_CLASSES:  # all the others can only be more
        return "regress"
    distinct = np.unique(numbers)
    whole = bool(np.all(distinct == np.floor(distinct)))
    return "classify" if len(distinct) == 2 or (whole and len(distinct) <= FEW_CLASSES) else "regress"


def _labels(
    y: np.ndarray | pl.Series, notes: list[str], target: str
) -> tuple[np.ndarray, np.ndarray, list[Any], np.ndarray]:
    """Labels, the number of each one's class, sorted classes, and the rows whose class is common enough.

    It must be learnt and tested.
    """
    classes, codes = _distinct(y)
    counts = np.bincount(codes, minlength=len(classes))
    if len(classes) == 1:
        raise StudyError(f"Every cell of “{target}” is {classes[0]!s}; there is nothing to predict.")
    rare = counts < LEAST_PER_CLASS
    if len(classes) <= FEW_CLASSES and (~rare).sum() < 2:
        most = counts[rare].max()
        raise StudyError(
            f"“{target}” has {counted(int((~rare).sum()), 'class', 'classes')} of {LEAST_PER_CLASS} rows or more, and "
            f"another of {most}: too few to learn from; collect more, or use --task regress if they are amounts."
        )
    if len(classes) > MANY_CLASSES or (~rare).sum() < 2:
        raise StudyError(
            f"“{target}” has {len(classes)} different values in {len(y)} rows, too many or too rare to be classes; "
            "choose another target, or --task regress if they are amounts."
        )
    kept = ~rare[codes]
    if rare.any():
        named = ", ".join(f"“{c}”" for c in classes[rare][:5])
        notes.append(
            f"{counted(int((~kept).sum()), 'row')} of classes with fewer than {LEAST_PER_CLASS} rows left out: {named}."
        )
    codes, classes = (np.cumsum(~rare) - 1)[codes[kept]].astype(np.int16), classes[~rare]
    return classes[codes], codes, classes.tolist(), kept


def _distinct(y: np.ndarray | pl.Series) -> tuple[np.ndarray, np.ndarray]:
    """The sorted distinct labels, and the place of each row's among them."""
    if not isinstance(y, pl.Series):
        return encode_labels(y)
    classes = y.unique().sort()
    return np.array(classes.to_list(), dtype=str), y.cast(pl.Enum(classes)).to_physical().cast(pl.Int64).to_numpy()


def _positive(classes: list[Any], codes: np.ndarray | None) -> int:
    """The class that is usually called positive: yes, true, 1; else the rarer one."""
    for k, label in enumerate(classes):
        if str(label).strip().lower() in _POSITIVE:
            return k
    return int(np.mean(codes == 1) <= 0.5)


# --- the columns ---------------------------------------------------------------------------------------------


def _profile(table: pl.DataFrame, target: str, y: np.ndarray) -> dict[str, Any]:
    """What `learnt.preprocessing.profile` says about the features, on a sample of a long table."""
    rows = max(min(_PROFILED, _PROFILED_CELLS // table.width), LEAST_ROWS)
    if len(table) > rows:
        drawn = np.sort(generator(0).permutation(len(table))[:rows])
        table, y = table[drawn], y[drawn]
    table = table.with_columns(pl.Series(target, y))
    found = profile(table, target)
    for column in found["columns"]:
        if column["kind"] == "category":  # the share of fresh rows with a level never seen is about as large
            values = table[column["name"]]
            column["once"] = float((values.is_unique() & values.is_not_null()).mean() or 0.0)
    return found


def _described(columns: list[dict[str, Any]], features: list[str], grid: Grid | None) -> list[dict[str, Any]]:
    """What each column holds, and whether it is used; the pixels of images in one line."""
    pixels = set() if grid is None else set(grid.names)
    found = [{**c, "used": c["name"] in features} for c in columns if c["name"] not in pixels]
    if grid is not None:
        held = [c for c in columns if c["name"] in pixels]
        low, high = (end(c.get(k) or 0.0 for c in held) for end, k in ((min, "min"), (max, "max")))
        missing = float(np.mean([c["missing"] for c in held]))
        about = {"name": "pixels", "kind": "image", "reason": f"images of {grid.words}", "missing": missing}
        found.insert(0, {**about, "unique": len(held), "min": low, "max": high, "used": True})
    return found


def _set_aside(found: dict[str, Any], keep: set[str]) -> list[dict[str, str]]:
    """Columns that must not be learnt from, each with its reason."""
    reasons = {c["name"]: f"{c['kind']}: {c['reason']}" for c in found["columns"] if c["kind"] in _UNUSABLE}
    for finding in found["findings"]:
        if finding["what"] == "empty":
            reasons[finding["column"]] = "empty: every cell is missing"
        elif finding["what"] == "constant":
            reasons[finding["column"]] = "constant: the same value in every row"
        elif finding["what"] == "leak":
            told = finding["message"].removeprefix(f"{finding['column']!r} ")
            reasons[finding["column"]] = f"leak: {told}"
    return [{"column": name, "reason": reason} for name, reason in reasons.items() if name not in keep]


# --- time ----------------------------------------------------------------------------------------------------


def _read_time(
    table: pl.DataFrame, wanted: str | None, findings: list[dict[str, Any]], notes: list[str]
) -> tuple[str | None, np.ndarray | None]:
    """The column that orders the rows in time: the one asked for, or the only one that plainly says when."""
    if wanted == "none":
        return None, None
    if wanted is not None:
        when = moments(table, wanted)
        if when is None:
            raise StudyError(f"“{wanted}” holds neither dates nor numbers, so rows cannot be put in time order by it.")
        return wanted, when
    times = [f for f in findings if f["what"] == "time" and not _NOT_WHEN.search(f["column"])]
    times = [f for f in times if table.schema[f["column"]] not in (pl.Time, pl.Duration)]  # no day in them
    ordered = [f for f in times if f["ordered"]]
    chosen = ordered if len(ordered) == 1 else times
    if len(chosen) > 1:
        names = " and ".join(f"“{f['column']}”" for f in times)
        notes.append(f"{names} say when; none was taken as the order of time: name one with --time.")
    if len(chosen) != 1:
        return None, None
    column = chosen[0]["column"]
    when = moments(table, column)
    if when is None or np.isnan(when).mean() > 0.05 or len(np.unique(when)) < 10:
        return None, None
    notes.append(f"“{column}” says when, so the test set is the most recent part (--time none to shuffle instead).")
    return column, when
