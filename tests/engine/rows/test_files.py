"""What `learnt.scan` opens, and that a fit is of the file that was opened."""

import os
import pickle
import shutil

import numpy as np
import polars as pl
import pytest

import learnt
from learnt.engine.rows import files, tables
from learnt.linear_model import LinearRegression
from learnt.preprocessing import StandardScaler

FRAME = pl.DataFrame({"a": np.arange(1000.0), "y": np.sin(np.arange(1000.0))})
WRITERS = {"parquet": pl.DataFrame.write_parquet, "arrow": pl.DataFrame.write_ipc}


@pytest.mark.parametrize("kind", WRITERS)
@pytest.mark.parametrize("name", ["rows.PARQUET", "rows.pq", "rows.feather", "rows"])
def test_a_file_is_known_by_its_content(tmp_path, kind, name):
    WRITERS[kind](FRAME, tmp_path / name)
    for path in (tmp_path / name, str(tmp_path / name)):
        table = learnt.scan(path)
        assert table.columns == ["a", "y"]
        np.testing.assert_array_equal(table["y"].to_numpy(), FRAME["y"].to_numpy())


@pytest.mark.parametrize(
    ("path", "kind", "message"),
    [
        ("s3://bucket/rows.parquet", ValueError, "is an address; fetch the file"),
        ("https://learnt.example/rows.parquet", ValueError, "is an address; fetch the file"),
        (["a.parquet", "b.parquet"], TypeError, "takes the path of one file and got a list"),
        (FRAME.lazy(), TypeError, "takes the path of one file and got a LazyFrame"),
        (None, TypeError, "takes the path of one file and got a NoneType"),
        ("missing.parquet", FileNotFoundError, "There is no file 'missing.parquet'"),
        ("", FileNotFoundError, "There is no file ''"),
        (".", IsADirectoryError, "'.' is a folder"),
        ("/dev/null", ValueError, "'/dev/null' is a pipe or a device"),
    ],
)
def test_what_is_no_file_gets_one_sentence(path, kind, message):
    with pytest.raises(kind, match=message) as caught:
        learnt.scan(path)
    assert "\n" not in str(caught.value)


@pytest.mark.parametrize(
    "content",
    [
        b"",
        b"PAR",
        b"a,b\n1,2\n",
        b"ARROW",
        b"\x89HDF\r\n",
        pytest.param(FRAME.write_ipc_stream(None).getvalue(), id="stream"),
    ],
)
def test_what_is_no_table_of_blocks_gets_one_sentence(tmp_path, content):
    (tmp_path / "rows.parquet").write_bytes(content)
    with pytest.raises(ValueError, match=r"rows\.parquet is neither Parquet nor Arrow"):
        learnt.scan(tmp_path / "rows.parquet")


@pytest.mark.parametrize("kind", WRITERS)
def test_a_file_that_ends_early_gets_one_sentence(tmp_path, kind):
    WRITERS[kind](FRAME, tmp_path / "rows")
    whole = (tmp_path / "rows").read_bytes()
    for size in (8, 100, len(whole) - 3):
        (tmp_path / "rows").write_bytes(whole[:size])
        with pytest.raises(ValueError, match="rows cannot be read as a table"):
            learnt.scan(tmp_path / "rows")


CHANGES = {
    "fewer rows": FRAME[:400],
    "more rows": pl.concat([FRAME, FRAME]),
    "other values": FRAME.with_columns(y=-pl.col("y")),
    "other columns": FRAME.rename({"a": "b"}),
    "no rows": FRAME[:0],
}


@pytest.mark.parametrize("kind", WRITERS)
@pytest.mark.parametrize("change", CHANGES)
def test_a_file_that_has_changed_is_refused(tmp_path, kind, change):
    path = tmp_path / "rows"
    WRITERS[kind](FRAME, path)
    table = learnt.scan(path)
    scaled = StandardScaler().fit(table[["a"]]).transform(table[["a"]])
    model = LinearRegression().fit(table[["a"]], table["y"])
    # At another time, however coarse the clock of the file system is.
    WRITERS[kind](CHANGES[change], path)
    os.utime(path, (0, 0))
    for use in (
        lambda: LinearRegression().fit(table[["a"]], table["y"]),
        lambda: LinearRegression().fit(scaled, np.zeros(1000)),
        lambda: model.predict(table[["a"]]),
        lambda: table["y"].labels(),
        lambda: table.to_numpy(),
        lambda: pickle.loads(pickle.dumps(table)).to_numpy(),
    ):
        with pytest.raises(ValueError, match=r"rows has changed since learnt\.scan opened it.*; call learnt.scan"):
            use()


def test_other_row_groups_at_the_same_time_are_seen(tmp_path):
    path = tmp_path / "rows.parquet"
    FRAME.write_parquet(path, compression="uncompressed")
    was, table = path.stat(), learnt.scan(path)
    FRAME.with_columns(y=-pl.col("y") - 1.0).write_parquet(path, compression="uncompressed")
    os.utime(path, ns=(was.st_atime_ns, was.st_mtime_ns))
    assert path.stat().st_mtime_ns == was.st_mtime_ns
    with pytest.raises(ValueError, match="has changed since"):
        LinearRegression().fit(table[["a"]], table["y"])


def test_a_change_in_the_middle_of_a_fit_is_seen(tmp_path, monkeypatch):
    path, read = tmp_path / "rows.parquet", tables.Table.read
    FRAME.write_parquet(path)
    monkeypatch.setattr(tables.Table, "read_rows", 256)
    table = learnt.scan(path)

    def read_and_write(table, lo, hi):
        block = read(table, lo, hi)
        if lo == 512:
            FRAME[::-1].write_parquet(path)
            os.utime(path, (0, 0))
        return block

    monkeypatch.setattr(tables.Table, "read", read_and_write)
    with pytest.raises(ValueError, match="has changed since"):
        LinearRegression().fit(table[["a"]], table["y"])


@pytest.mark.parametrize("folder", [False, True])
def test_a_file_that_is_gone_is_missed(tmp_path, folder):
    FRAME.write_parquet(tmp_path / "rows.parquet")
    table = learnt.scan(tmp_path / "rows.parquet")
    shutil.move(tmp_path / "rows.parquet", tmp_path / "elsewhere.parquet")
    if folder:
        (tmp_path / "rows.parquet").mkdir()
    with pytest.raises(FileNotFoundError, match=r"There is no file .* any more"):
        LinearRegression().fit(table[["a"]], table["y"])


def test_a_few_rows_of_a_file_take_no_more_reads_than_all(tmp_path, monkeypatch):
    reads, read = [], files.DataFile.read
    monkeypatch.setattr(files.DataFile, "read", lambda file, *span: reads.append(span) or read(file, *span))
    monkeypatch.setattr(tables, "_READ_BYTES", 8 * 2 * 300)
    FRAME.write_parquet(tmp_path / "rows.parquet")
    table = learnt.scan(tmp_path / "rows.parquet")
    numbers = np.array([3, 4, 299, 300, 650, 998])
    whole = table.to_numpy()
    n_reads = len(reads)
    np.testing.assert_array_equal(table.only(numbers).to_numpy(), whole[numbers])
    assert len(reads) <= 2 * n_reads == 8
    assert table.only(numbers[:0]).to_numpy().shape == (0, 2)
    some = table.only(numbers).only(np.array([1, 2, 5]))
    np.testing.assert_array_equal(some["y"].to_numpy(), whole[[4, 299, 998], 1])
    np.testing.assert_array_equal(some.read(0, 3)["a"].to_numpy(), [4.0, 299.0, 998.0])
