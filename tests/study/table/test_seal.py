"""The seal: nothing of the test set is seen before, duplicates and groups stay together, every opening is counted."""

import hashlib
import json
from datetime import timedelta
from pathlib import Path

import numpy as np
import polars as pl
import pytest

from learnt.study import StudyError
from learnt.study.table._problem import pose
from learnt.study.table._seal import (
    LARGEST_SET,
    MOST_COPIES,
    _units,
    record_opening,
    repeated,
    rows_hash,
    seal,
)

N = 300


def problem(seed=0, **options):
    rng = np.random.default_rng(seed)
    x = rng.integers(0, 40, N).astype(float)  # few different rows: many duplicates
    frame = pl.DataFrame(
        {
            "x": x,
            "z": rng.integers(0, 3, N).astype(str),
            "who": rng.integers(0, 25, N),
            "step": rng.permutation(N),
            "y": np.where(x + rng.normal(scale=15, size=N) > 25, "yes", "no"),
        }
    )
    options = {"drop": ("who", "step"), **options}
    return pose(frame, "y", **options)


def check_partition(sealed, n=N):
    assert sorted(np.concatenate([sealed.development, sealed.test]).tolist()) == list(range(n))
    for train, valid in sealed.folds:
        assert not set(train) & set(valid)
        assert max(*train, *valid) < len(sealed.development)


def test_shuffled_rows_keep_duplicates_together_and_classes_in_proportion():
    p = problem()
    sealed = seal(p, seed=3)
    check_partition(sealed)
    rows = p.X.rows()
    assert not {rows[k] for k in sealed.test} & {rows[k] for k in sealed.development}
    for train, valid in sealed.folds:
        inside, outside = sealed.development[train], sealed.development[valid]
        assert not {rows[k] for k in inside} & {rows[k] for k in outside}
    assert abs(np.mean(p.y[sealed.test] == "yes") - np.mean(p.y == "yes")) < 0.15
    assert 0.1 < len(sealed.test) / N < 0.3


def units_in_plain_words(rows, y):
    """What `_units` promises, row by row."""
    sets: dict = {}
    for k, row in enumerate(rows):
        sets.setdefault(row, []).append(k)
    apart = {
        row
        for row, members in sets.items()
        if len(members) > MOST_COPIES and (len({y[k] for k in members}) > 1 or len(members) > LARGEST_SET * len(rows))
    }
    units, seen = [], {}
    for k, row in enumerate(rows):
        units.append(seen.setdefault((row, k) if row in apart else row, len(seen)))
    return units


@pytest.mark.parametrize("levels", [2, 9, 60, 10**9])
def test_sets_of_identical_rows_are_what_their_definition_says(levels):
    for seed in range(6):
        rng = np.random.default_rng(seed)
        rows = rng.integers(0, levels, 400)
        y = (rows + (rng.random(400) < 0.02 * seed)) % 3
        hashes = rows.astype(np.uint64) * np.uint64(0x9E3779B97F4A7C15)
        units, firsts = _units(hashes, repeated(hashes), y)
        assert units.tolist() == units_in_plain_words(rows.tolist(), y.tolist())
        assert firsts.tolist() == [units.tolist().index(k) for k in range(units.max() + 1)]


@pytest.mark.parametrize("levels", [3, 400, 40_000, 10**12])
def test_repeated_numbers_are_found_by_either_way(levels):
    rng = np.random.default_rng(levels)
    for n in (0, 1, 2, 5000):
        numbers = rng.integers(0, levels, n).astype(np.uint64) * np.uint64(0x9E3779B97F4A7C15)
        counts = dict(zip(*np.unique(numbers, return_counts=True)))
        assert repeated(numbers).tolist() == [counts[v] > 1 for v in numbers]


def test_the_same_rows_are_sealed_as_by_every_version_since_the_first():
    """A study that was begun with another version goes on with the same test set."""
    known = json.loads((Path(__file__).parent / "sealed.json").read_text())
    for name, want in known.items():
        sealed = seal(KEPT[name](), seed=0)
        parts = [sealed.development, sealed.test, *(rows for fold in sealed.folds for rows in fold)]
        digest = hashlib.sha256(b"".join(np.asarray(part, dtype="<i8").tobytes() for part in parts))
        assert (digest.hexdigest()[:16], sealed.hash[:16]) == tuple(want), name


def kept(n=700, **columns):
    """A table without random numbers, which may be drawn otherwise some day."""
    k = np.arange(n)
    return {"x": k * 7919 % 997, "town": [f"t{v}" for v in k * 31 % 17], **{name: f(k) for name, f in columns.items()}}


KEPT = {
    "words": lambda: pose(pl.DataFrame(kept(y=lambda k: np.where(k * 613 % 101 < 30, "late", "on time"))), "y"),
    "copies": lambda: pose(pl.DataFrame(kept(x=lambda k: k // 2 % 300, y=lambda k: k // 2 * 13 % 3)), "y"),
    "amounts": lambda: pose(pl.DataFrame(kept(y=lambda k: k * 101 % 499 / 8)), "y"),
    "groups": lambda: pose(pl.DataFrame(kept(g=lambda k: k % 40, y=lambda k: k * 613 % 101 < 30)), "y", group="g"),
    "time": lambda: pose(pl.DataFrame(kept(t=lambda k: k * 389 % 701, y=lambda k: k * 613 % 101 % 4)), "y", time="t"),
}


def test_the_same_seed_seals_the_same_rows():
    a, b, c = (seal(problem(), seed=s) for s in (1, 1, 2))
    assert a.hash == b.hash != c.hash
    assert np.array_equal(a.test, b.test)
    assert all(np.array_equal(x[1], y[1]) for x, y in zip(a.folds, b.folds))


def test_no_row_of_the_past_is_in_the_future():
    p = problem(time="step", drop=("who",))
    sealed = seal(p, seed=0)
    check_partition(sealed)
    assert p.when[sealed.development].max() < p.when[sealed.test].min()
    for train, valid in sealed.folds:
        when = p.when[sealed.development]
        assert when[train].max() < when[valid].min()
        assert len(train) >= len(sealed.development) // 2


def test_groups_are_never_split():
    p = problem(group="who", drop=("step",))
    sealed = seal(p, seed=0)
    check_partition(sealed)
    assert not set(p.groups[sealed.test]) & set(p.groups[sealed.development])
    inside = p.groups[sealed.development]
    assert all(not set(inside[train]) & set(inside[valid]) for train, valid in sealed.folds)
    assert "who" not in p.features


def test_too_few_groups_is_refused():
    frame = pl.DataFrame({"x": np.arange(60.0) % 13, "g": np.arange(60) % 3, "y": np.arange(60) % 2})
    with pytest.raises(StudyError, match="3 groups"):
        seal(pose(frame, "y", group="g"), seed=0)


def test_the_box_is_opened_once():
    sealed = seal(problem(), seed=0)
    X, y = sealed.box.open(reason="the test")
    assert len(X) == len(y) == len(sealed.test)
    assert len(sealed.box.log) == 1
    with pytest.warns(UserWarning, match="2nd time"):
        sealed.box.open(reason="again")


def test_the_fingerprint_depends_on_content_and_not_on_order():
    frame = pl.DataFrame({"a": [1, 2, 3], "b": ["x", None, "z"]})
    assert rows_hash(frame) == rows_hash(frame.reverse()) == rows_hash(frame.select("b", "a"))
    assert rows_hash(frame) != rows_hash(frame[:2])
    assert rows_hash(frame) != rows_hash(frame.with_columns(b=pl.Series(["x", "", "z"])))
    odd = frame.rename({"a": "^.*$", "b": "*"})  # patterns to Polars, names to us
    assert rows_hash(odd) == rows_hash(odd.reverse()) != rows_hash(odd.with_columns(pl.Series("*", ["x", "", "z"])))


def test_the_hash_of_rows_is_the_one_that_ledgers_hold():
    """A test set that was opened is recognised by every later version."""
    cells = {"x": [1.5, None], "b": [True, None], "d": [timedelta(1), None], "l": [[1], [2]], "s": ["a", "b"]}
    frame = pl.DataFrame(cells)  # in order of b, d, s, x: the list is unreadable
    lines = sorted(["true\x1f86400000000000\x1fa\x1f1.5", "\x00\x1f\x00\x1fb\x1f\x00"])
    assert rows_hash(frame) == hashlib.sha256("".join(line + "\x1e" for line in lines).encode()).hexdigest()


def test_the_ledger_counts_uses_but_not_repetitions(tmp_path, monkeypatch):
    monkeypatch.setenv("LEARNT_LEDGER", str(tmp_path / "state" / "ledger.jsonl"))
    spare = tmp_path / "spare.jsonl"
    assert [record_opening("T", name, "t", spare)[0] for name in ("a", "b", "a", "c")] == [1, 2, 1, 3]
    assert record_opening("other", "a", "t", spare)[0] == 1
    assert not spare.exists()


def test_a_ledger_that_cannot_be_written_is_replaced(tmp_path, monkeypatch):
    (tmp_path / "file").write_text("")
    monkeypatch.setenv("LEARNT_LEDGER", str(tmp_path / "file" / "ledger.jsonl"))  # a file where a folder should be
    spare = tmp_path / "spare.jsonl"
    assert [record_opening("T", name, "t", spare)[0] for name in ("a", "b")] == [1, 2]
    assert spare.exists()


def alike(y):
    """Half of the rows are the same; the others differ."""
    x = np.where(np.arange(N) % 2 == 0, 0.0, np.arange(N))
    return seal(pose(pl.DataFrame({"x": x, "z": x, "y": y}), "y", keep=("x", "z")), 0)


@pytest.mark.parametrize("kind", ["amounts", "classes", "one class"])
def test_rows_that_are_alike_because_few_values_are_possible_are_no_copies(kind):
    rng = np.random.default_rng(0)
    y = rng.normal(size=N) if kind == "amounts" else rng.choice(["a", "b"], N)
    if kind == "one class":
        y[::2] = "a"
    sealed = alike(y)
    assert 0.15 * N < len(sealed.test) < 0.25 * N
    assert 0.2 < np.mean(sealed.test % 2 == 0) < 0.8  # some of them on either side
    for train, valid in sealed.folds:
        assert len(valid) < 0.3 * len(train)


def test_copies_with_one_target_stay_together():
    rng = np.random.default_rng(0)
    once = pl.DataFrame({"x": rng.normal(size=40), "z": rng.normal(size=40), "y": rng.choice(["a", "b"], 40)})
    table = pl.concat([once] * 12)  # each row twelve times, as oversampling does
    sealed = seal(pose(table, "y", keep=("x", "z")), 0)
    assert "identical rows kept together" in sealed.how
    assert not set(sealed.test % 40) & set(sealed.development % 40)


def test_fewer_different_rows_than_classes_in_the_test_set_are_drawn_without_classes():
    x = np.repeat(np.arange(10), 6)
    frame = pl.DataFrame({"x": x * 1.5, "w": (x * 7) % 10 + 0.5, "y": np.array(["a", "b", "c"])[x % 3]})
    posed = pose(frame, "y", keep=("x", "w"))
    sealed = seal(posed, 0)
    check_partition(sealed, 60)
    assert "each class" not in sealed.how
    assert not set(x[sealed.test]) & set(x[sealed.development])
