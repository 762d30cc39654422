"""Step 2, sealing the test set: cut once, before anything is learnt; folds of the rest; a ledger of every opening."""

from __future__ import annotations

import hashlib
import json
import os
from contextlib import suppress
from dataclasses import dataclass
from datetime import UTC, datetime
from pathlib import Path

import numpy as np
import polars as pl

from learnt.engine.random import generator
from learnt.model_selection import SealedTestSet, train_test_split
from learnt.study._counting import counted
from learnt.study._errors import StudyError, TooFewRows
from learnt.study.table._columns import text_of, unreadable
from learnt.study.table._folds import shuffled_folds, stratified_folds
from learnt.study.table._problem import Problem

TEST_SHARE = 0.2
MOST_TEST = 50_000
FOLDS = 5
PARTS = FOLDS  # folds that make up one partition of the rows
REPEATS = ((500, 3), (1500, 2))  # (development rows up to, partitions): losses on few rows vary much
SPARE = "test-sets.jsonl"  # the ledger in the folder of a study, where the user's cannot be written
LONG, LONG_FOLDS = 10_000, 3  # with more development rows than LONG, only the first LONG_FOLDS folds are used
MOST_COPIES = 10  # identical rows, of which more with different targets are no copies
LARGEST_SET = 0.05  # share of the rows; nor are more than that, whatever their targets

Hashes = tuple[np.ndarray, np.ndarray]  # of the features of each row, and whether another row has the same


@dataclass
class Sealed:
    """Development rows with their folds, and the test rows behind a seal."""

    development: np.ndarray
    test: np.ndarray
    folds: list[tuple[np.ndarray, np.ndarray]]  # positions within `development`
    box: SealedTestSet
    how: str
    hash: str


def seal(problem: Problem, seed: int) -> Sealed:
    """Cut the test set by time, by group, or by shuffled (stratified) rows with duplicates kept together."""
    n = len(problem.y)
    share = min(TEST_SHARE, MOST_TEST / n)
    hashes = None if problem.when is not None or problem.groups is not None else _hashes(problem)
    if problem.when is not None:
        development, test, how = _by_time(problem, share)
    elif problem.groups is not None:
        development, test, how = _by_group(problem.groups, share, seed)
    else:
        assert hashes is not None
        development, test, how = _shuffled(problem, hashes, share, seed)
    _check(problem, development, test)
    return Sealed(
        development,
        test,
        _folds(problem, hashes, development, seed),
        SealedTestSet(problem.X[test], problem.y[test]),
        how,
        rows_hash(problem.table[test]),
    )


def _by_time(problem: Problem, share: float) -> tuple[np.ndarray, np.ndarray, str]:
    when = _when(problem)
    moments = np.sort(when)
    first = moments[int(np.ceil(len(when) * (1 - share)))]  # rows of one moment stay on one side
    development, test = np.flatnonzero(when < first), np.flatnonzero(when >= first)
    return development, test, f"the most recent {counted(len(test), 'row')} by “{problem.time}”"


def _when(problem: Problem) -> np.ndarray:
    when = np.asarray(problem.when, dtype=np.float64)
    return np.where(np.isnan(when), -np.inf, when)  # an unknown moment counts as past


def _by_group(groups: np.ndarray, share: float, seed: int) -> tuple[np.ndarray, np.ndarray, str]:
    names, codes, counts = np.unique(groups, return_inverse=True, return_counts=True)
    if len(names) < FOLDS + 1:
        there = counted(len(names), "group is there", "groups are there")
        raise StudyError(f"{there}; at least {FOLDS + 1} are needed to hold whole groups out: leave --group out.")
    order = generator(seed).permutation(len(names))
    taken = np.cumsum(counts[order]) <= max(share * len(groups), counts[order[0]])
    chosen = np.isin(codes, order[taken])
    how = f"{counted(int(chosen.sum()), 'row')} of {counted(int(taken.sum()), 'group')} drawn at random"
    return np.flatnonzero(~chosen), np.flatnonzero(chosen), how


def _shuffled(problem: Problem, hashes: Hashes, share: float, seed: int) -> tuple[np.ndarray, np.ndarray, str]:
    units, firsts = _units(*hashes, problem.codes)
    strata = problem.codes[firsts] if problem.classify else None
    if strata is not None:
        counts = np.bincount(strata)
        counts = counts[counts > 0]
        if counts.min() < 2 or share * len(firsts) < len(counts):  # too few different rows for one of each class
            strata = None
    _, held = train_test_split(np.arange(len(firsts)), test_size=share, random_state=seed, stratify=strata)
    chosen = _members(units, held)
    how = f"{counted(int(chosen.sum()), 'row')} drawn at random"
    how += ", each class in proportion" if strata is not None else ""
    if len(firsts) < len(units):
        how += ", identical rows kept together"
    return np.flatnonzero(~chosen), np.flatnonzero(chosen), how


def _units(hashes: np.ndarray, alike: np.ndarray, y: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """A number for each set of rows with identical features, in order of appearance, and the first row of each set.

    Copies of a row would be known from training. Where many rows are alike because few values are possible, they are no
    copies, and whole sets would make the test set too large and of a kind: such rows are sets of one. `alike` says
    which rows may have a copy: in most tables hardly any.
    """
    n, alike = len(hashes), np.flatnonzero(alike)
    _, firsts, sets = np.unique(hashes[alike], return_index=True, return_inverse=True)
    first = np.arange(n)
    first[alike] = alike[firsts][sets]
    sizes, mixed = np.bincount(sets), np.zeros(len(firsts), dtype=bool)
    mixed[sets[y[alike] != y[first[alike]]]] = True
    usual = (sizes > MOST_COPIES) & (mixed | (sizes > LARGEST_SET * n))
    loose = alike[usual[sets]]
    first[loose] = loose
    starts = first == np.arange(n)
    return (np.cumsum(starts) - 1)[first], np.flatnonzero(starts)


def _members(units: np.ndarray, held: np.ndarray) -> np.ndarray:
    """Which rows belong to one of these units."""
    chosen = np.zeros(int(units.max(initial=-1)) + 1, dtype=bool)
    chosen[held] = True
    return chosen[units]


def _hashes(problem: Problem) -> Hashes:
    """A number for the features of each row (nothing depends on which), and whether another row has the same."""
    hashes = problem.X.hash_rows(seed=0).to_numpy()
    return hashes, repeated(hashes)


def repeated(numbers: np.ndarray) -> np.ndarray:
    """Which of many numbers are there more than once; quick where hardly any are.

    >>> repeated(np.array([5, 3, 5, 7])).tolist()
    [True, False, True, False]
    """
    rising = np.sort(numbers)
    found = rising[1:][rising[1:] == rising[:-1]]
    if len(found) > len(numbers) // 100:
        return pl.Series(numbers).is_duplicated().to_numpy()
    if not len(found):
        return np.zeros(len(numbers), dtype=bool)
    return found[np.minimum(np.searchsorted(found, numbers), len(found) - 1)] == numbers


def _folds(
    problem: Problem, hashes: Hashes | None, development: np.ndarray, seed: int
) -> list[tuple[np.ndarray, np.ndarray]]:
    if problem.when is not None:
        order = np.argsort(_when(problem)[development], kind="stable")
        # Each fold is a tenth that comes after all it is trained on; half of the rows are always there to train on.
        from learnt.model_selection import TimeSeriesSplit  # takes long to load

        splitter = TimeSeriesSplit(FOLDS, test_size=max(len(order) // (2 * FOLDS), 1))
        return [(order[a], order[b]) for a, b in splitter.split(order)]
    if problem.groups is not None:
        from learnt.model_selection import GroupKFold

        groups = problem.groups[development]
        count = min(FOLDS, len(np.unique(groups)))
        return list(GroupKFold(count).split(development, groups=groups))
    assert hashes is not None
    codes = problem.codes[development]
    units, firsts = _units(hashes[0][development], hashes[1][development], codes)
    y = codes[firsts]
    repeats = next((count for rows, count in REPEATS if len(development) <= rows), 1)
    folds = []
    for repeat in range(repeats):
        draw = seed + repeat
        cut = stratified_folds(y, FOLDS, draw) if problem.classify else shuffled_folds(len(y), FOLDS, draw)
        for held in cut:
            inside = _members(units, held)
            folds.append((np.flatnonzero(~inside), np.flatnonzero(inside)))
    return folds[:LONG_FOLDS] if len(development) > LONG else folds


def _check(problem: Problem, development: np.ndarray, test: np.ndarray) -> None:
    if len(test) < 5 or len(development) < 4 * FOLDS:
        raise TooFewRows(
            f"{len(test)} test and {len(development)} other rows are left after the split; too few to judge."
        )
    if problem.classify and np.ptp(problem.codes[development]) == 0:
        raise StudyError("All rows before the test set are of one class; use --time none to shuffle, or more rows.")


def rows_hash(rows: pl.DataFrame) -> str:
    """A fingerprint of a set of rows that depends on their content alone, not on their order.

    >>> a = pl.DataFrame({"x": [1, 2], "y": ["a", None]})
    >>> rows_hash(a) == rows_hash(a.reverse()), rows_hash(a) == rows_hash(a.with_columns(x=pl.col("x") + 1))
    (True, False)
    """
    readable = [rows[c] for c in sorted(rows.columns) if unreadable(rows[c]) is None]
    # One expression for all columns: of thousands, each by itself takes seconds.
    cells = [text_of(str(k), column.dtype).fill_null("\x00") for k, column in enumerate(readable)]
    table = pl.DataFrame({str(k): column for k, column in enumerate(readable)})
    lines = table.select(pl.concat_str(cells, separator="\x1f")).to_series().sort()
    return hashlib.sha256("".join(f"{line}\x1e" for line in lines).encode()).hexdigest()


# --- the ledger ----------------------------------------------------------------------------------------------


def ledger_path() -> Path:
    """Where openings are written down for this user: $LEARNT_LEDGER, or the state folder of the system."""
    if given := os.environ.get("LEARNT_LEDGER"):
        return Path(given)
    base = os.environ.get("XDG_STATE_HOME") or os.environ.get("LOCALAPPDATA") or str(Path.home() / ".local" / "state")
    return Path(base) / "learnt" / "test-sets.jsonl"


def record_opening(test_hash: str, opening: str, table: str, spare: Path) -> tuple[int, str]:
    """Record that a test set is opened; return which use of it this is, counting from 1, and when it was recorded.

    `opening` is a hash of the study, model and costs; the same one again is not a new use. Where the user's ledger
    cannot be written, the file `spare` in the output folder is used.
    """
    moment = datetime.now(UTC).isoformat(timespec="seconds")
    for path in (ledger_path(), spare):
        try:
            known = openings(path, test_hash)
            if opening in known:
                return list(known).index(opening) + 1, known[opening]
            path.parent.mkdir(parents=True, exist_ok=True)
            record = {"test": test_hash, "opening": opening, "table": table, "when": moment}
            with path.open("ab") as file:
                file.write(json.dumps(record).encode() + b"\n")
                file.flush()
                os.fsync(file.fileno())
            return len(known) + 1, moment
        except OSError:
            continue
    return 1, moment


def earlier_openings(test_hash: str, spare: Path) -> list[str]:
    """When a test set was opened so far, whatever for."""
    found: list[str] = []
    for path in (ledger_path(), spare):
        with suppress(OSError):
            found += openings(path, test_hash).values()
    return sorted(found)


def openings(path: Path, test_hash: str) -> dict[str, str]:
    """The openings of a test set in a ledger, in their order, each with its moment."""
    found: dict[str, str] = {}
    if not path.exists():
        return found
    for line in path.read_bytes().split(b"\n"):
        try:
            record = json.loads(line)
            if record["test"] == test_hash and record["opening"] not in found:
                found[record["opening"]] = str(record.get("when", "?"))
        except (ValueError, KeyError, TypeError):
            continue
    return found
