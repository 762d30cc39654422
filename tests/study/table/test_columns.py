"""Columns of every type of Polars: used, or set aside with a sentence; as the target, the time and the group too."""

import datetime as dt
import decimal

import numpy as np
import polars as pl
import pytest

from learnt.study import StudyError
from learnt.study.race._bench import Bench
from learnt.study.race._layout import write_rows
from learnt.study.table._columns import fingerprint
from learnt.study.table._problem import pose
from learnt.study.table._read import open_table
from learnt.study.table._seal import rows_hash, seal

N = 80
RNG = np.random.default_rng(0)
K = RNG.integers(1, 20, N).tolist()
USED = {
    "duration": pl.Series([dt.timedelta(seconds=37 * k) for k in K]),
    "duration in ns": pl.Series([dt.timedelta(seconds=37 * k) for k in K]).cast(pl.Duration("ns")),
    "time": pl.Series([dt.time(k, k) for k in K]),
    "date": pl.Series([dt.date(2020, 1, k) for k in K]),
    "moment": pl.Series([dt.datetime(2020, 1, k, tzinfo=dt.UTC) for k in K]),
    "decimal": pl.Series([decimal.Decimal(k) / 4 for k in K]),
    "enum": pl.Series([str(k % 3) for k in K]).cast(pl.Enum(["0", "1", "2"])),
    "categorical": pl.Series([str(k % 3) for k in K]).cast(pl.Categorical),
    "128 bits": pl.Series(K).cast(pl.Int128),
    "boolean": pl.Series([k > 9 for k in K]),
    "8 bits": pl.Series(K).cast(pl.UInt8),
}
ASIDE = {
    "list": (pl.Series([[k] * (k % 3) for k in K]), "lists"),
    "array": (pl.Series([[1, k] for k in K], dtype=pl.Array(pl.Int64, 2)), "lists"),
    "struct": (pl.Series([{"a": k} for k in K]), "records"),
    "binary": (pl.Series([bytes([k]) for k in K]), "bytes"),
    "object": (pl.Series([object() for _ in K], dtype=pl.Object), "Python objects"),
    "list of structs": (pl.Series([[{"a": k}] for k in K]), "lists"),
    "null": (pl.Series([None] * N), "every cell is missing"),
}
Y = pl.Series(RNG.choice(["no", "yes"], N))


def with_gaps(series):
    return pl.Series([None, *series.to_list()[1:]], dtype=series.dtype)


@pytest.mark.parametrize("gaps", [False, True])
@pytest.mark.parametrize("kind", USED)
def test_a_usable_column_goes_all_the_way_to_numbers(tmp_path, kind, gaps):
    series = with_gaps(USED[kind]) if gaps else USED[kind]
    frame = pl.DataFrame({"x": RNG.normal(size=N), kind: series, "y": Y})
    problem = pose(frame, "y", time="none")
    assert problem.features == ["x", kind]
    assert fingerprint(frame) != fingerprint(frame.with_columns(frame[kind].reverse()))
    sealed = seal(problem, 0)
    write_rows(tmp_path, problem.X[sealed.development], np.zeros(len(sealed.development)), sealed.folds, None, 0)
    inside, *_ = Bench(tmp_path).prepared(0, "raw", 1000)
    assert np.isfinite(inside).all()
    assert np.ptp(inside[:, 1:], axis=0).max() > 0
    assert kind.startswith("duration") == any("read as a number of days" in n for n in problem.notes)


@pytest.mark.parametrize("kind", ASIDE)
def test_an_unusable_column_is_set_aside_with_a_sentence(kind):
    series, what = ASIDE[kind]
    frame = pl.DataFrame({"x": RNG.normal(size=N), kind: series, "y": Y})
    table, _, digest, _ = open_table(frame)
    assert len(digest) == 64
    problem = pose(table, "y", keep=() if kind == "null" else (kind,))
    assert problem.features == ["x"]
    assert [c["column"] for c in problem.set_aside] == [kind]
    assert what in problem.set_aside[0]["reason"]
    seal(problem, 0)
    assert rows_hash(frame) == rows_hash(frame.reverse())
    if kind != "null":
        for role in ("time", "group"):
            with pytest.raises(StudyError, match=f"“{kind}” holds .* so it cannot be the {role}; make numbers or text"):
                pose(frame, "y", **{role: kind})
    with pytest.raises(StudyError, match="missing" if kind == "null" else "cannot be the target"):
        pose(frame, kind)


def test_targets_of_every_type_are_predicted_or_refused_in_a_sentence():
    x = RNG.normal(size=N)
    found = pose(pl.DataFrame({"x": x, "t": USED["duration"]}), "t")
    assert found.task == "regress"
    assert found.y.tolist() == [37.0 * k for k in K]
    assert any("in seconds" in note for note in found.notes)
    assert pose(pl.DataFrame({"x": x, "t": USED["decimal"]}), "t").y.tolist() == [k / 4 for k in K]
    for kind in ("enum", "categorical"):
        assert pose(pl.DataFrame({"x": x, "t": USED[kind]}), "t").classes == ["0", "1", "2"]
    for kind in ("time", "date", "moment"):
        with pytest.raises(StudyError, match="holds dates or times"):
            pose(pl.DataFrame({"x": x, "t": USED[kind]}), "t")
    few = pl.Series([dt.date(2020, 1, 1 + k % 2) for k in K])
    assert pose(pl.DataFrame({"x": x, "t": few}), "t", task="classify").classes == ["2020-01-01", "2020-01-02"]


@pytest.mark.parametrize("kind", USED)
def test_time_and_group_of_every_type(kind):
    frame = pl.DataFrame({"x": RNG.normal(size=N), kind: USED[kind], "y": Y})
    groups = pose(frame, "y", group=kind).groups
    assert len(np.unique(groups)) == USED[kind].n_unique()
    if kind in ("time", "enum", "categorical", "boolean"):
        with pytest.raises(StudyError, match="neither dates nor numbers"):
            pose(frame, "y", time=kind)
    else:
        when = pose(frame, "y", time=kind).when
        assert (np.argsort(when, kind="stable") == np.argsort(K, kind="stable")).all()


def test_a_time_of_day_does_not_put_rows_in_order_by_itself():
    frame = pl.DataFrame({"x": RNG.normal(size=N), "time": USED["time"].sort(), "y": Y})
    assert pose(frame, "y").time is None
