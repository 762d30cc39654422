"""Every usual kind of file gives the same table, whatever it is called, packed or not, from standard input too."""

import gzip
import hashlib
import io
import json
import sqlite3
import sys
import types
import zipfile
from pathlib import Path

import polars as pl
import pyarrow as pa
import pytest

from learnt.study import StudyError, read_table
from learnt.study.table._read import open_table
from learnt.study.table._source import name_of, place_of

TABLE = pl.DataFrame({"town": ["Zürich", "Oslo", None], "price": [1.5, 2.0, 3.25], "n": [1, 2, 3]})


def written(write, frame=TABLE, **options):
    out = io.BytesIO()
    getattr(frame, write)(out, **options)
    return out.getvalue()


def zipped(files):
    out = io.BytesIO()
    with zipfile.ZipFile(out, "w") as archive:
        for name, raw in files.items():
            archive.writestr(name, raw)
    return out.getvalue()


CSV = written("write_csv")
ROWS = TABLE.to_dicts()
RAW = {
    "t.csv": CSV,
    "t.tsv": written("write_csv", separator="\t"),
    "t.dat": written("write_csv", separator=";"),
    "t.txt": written("write_csv", separator="|"),
    "spaces.dat": b"town price n\nZ\xc3\xbcrich  1.5\t1  \n  Oslo 2.0 2\n''   3.25 3\n".replace(b"''", b'""'),
    "no ending": CSV,
    "t.csv.gz": gzip.compress(CSV, mtime=0),
    "wrong ending.csv": gzip.compress(CSV, mtime=0),
    "t.csv.zst": pa.compress(CSV, codec="zstd", asbytes=True),
    "t.zip": zipped({"t.csv": CSV, "__MACOSX/t.csv": b"?"}),
    "t.jsonl": written("write_ndjson"),
    "t.jsonl.gz": gzip.compress(written("write_ndjson"), mtime=0),
    "lines.json": written("write_ndjson"),
    "list.json": json.dumps(ROWS).encode(),
    "indented.json": json.dumps({"rows": ROWS, "about": "towns"}, indent=2).encode(),
    "columns.json": json.dumps(TABLE.to_dict(as_series=False)).encode(),
    "pandas.json": TABLE.to_pandas().to_json().encode(),
    "t.parquet": written("write_parquet"),
    "parquet.csv": written("write_parquet"),
    "t.parquet.gz": gzip.compress(written("write_parquet"), mtime=0),
    "t.arrow": written("write_ipc"),
    "stream.arrow": written("write_ipc_stream"),
}


@pytest.mark.parametrize("name", RAW)
def test_every_kind_of_file_gives_the_same_table(name, tmp_path):
    (tmp_path / name).write_bytes(RAW[name])
    assert read_table(tmp_path / name).equals(TABLE)


@pytest.mark.parametrize("name", [name for name in RAW if name != "spaces.dat"])
def test_standard_input_is_told_by_its_bytes(name, monkeypatch):
    monkeypatch.setattr(sys, "stdin", io.TextIOWrapper(io.BytesIO(RAW[name])))
    frame, called, digest, _ = open_table("-")
    assert frame.equals(TABLE)
    assert (called, len(digest)) == ("stdin", 64)


def test_the_fingerprint_of_a_file_is_that_of_its_bytes_wherever_it_comes_from(tmp_path, monkeypatch):
    (tmp_path / "t.csv").write_bytes(CSV)
    monkeypatch.setattr(sys, "stdin", io.TextIOWrapper(io.BytesIO(CSV)))
    known = hashlib.sha256(CSV).hexdigest()
    assert open_table(tmp_path / "t.csv")[2] == open_table("-")[2] == known
    (tmp_path / "t.csv.gz").write_bytes(gzip.compress(CSV, mtime=0))
    assert open_table(tmp_path / "t.csv.gz")[2] == hashlib.sha256((tmp_path / "t.csv.gz").read_bytes()).hexdigest()


def test_json_keeps_cells_of_several_types(tmp_path):
    """A number, much later a fraction and a word: nothing becomes missing without a word."""
    rows = [{"a": 1, "b": 2}] * 300 + [{"a": 1.5, "b": 3}, {"a": 2, "b": "cheese"}, {"c": True}]
    for raw in (json.dumps(rows), "\n".join(map(json.dumps, rows))):
        (tmp_path / "t.json").write_text(raw)
        table = read_table(tmp_path / "t.json")
        assert table["a"][-3:].to_list() == [1.5, 2.0, None]
        assert table["b"][-3:].to_list() == ["3", "cheese", None]
        assert table["c"].to_list() == [None] * 302 + [True]


# --- databases and spreadsheets


@pytest.fixture
def shop(tmp_path):
    path = tmp_path / "shop.db"
    with sqlite3.connect(path) as connection:
        TABLE.to_pandas().to_sql("orders", connection, index=False)
        connection.execute('CREATE TABLE "odd ""name" (a, b)')
        connection.executemany('INSERT INTO "odd ""name" VALUES (?, ?)', [(1, 2), ("cheese", 2.5), (None, b"x")])
    connection.close()
    return path


def test_a_table_of_a_database_and_a_query(shop):
    assert read_table(f"{shop}::orders").equals(TABLE)
    assert read_table(f"{shop}::Orders").equals(TABLE)
    assert read_table(f"{shop}::SELECT n, price FROM orders WHERE n > 1 ORDER BY n").rows() == [(2, 2.0), (3, 3.25)]
    odd = read_table(f'{shop}::odd "name')  # SQLite keeps a type for each cell
    assert odd.rows() == [("1", "2"), ("cheese", "2.5"), (None, "x")]
    assert open_table(f"{shop}::orders")[1] == name_of(f"{shop}::orders") == "orders"
    assert open_table(f"{shop}::orders")[2] != open_table(f"{shop}::SELECT n FROM orders")[2]
    assert place_of(f"{shop}::orders") == f"{shop.resolve()}::orders"


@pytest.mark.parametrize(
    ("part", "said"),
    [
        ("", r"holds 2 tables; the tables are .*orders.* – name one as .*shop\.db::orders"),
        ("::order", r"has no table “order”; did you mean “orders”"),
        ("::SELECT x FROM orders", "no such column: x"),
        ("::SELECT n, n FROM orders", "two columns named “n”"),
        ("::SELECT n FROM orders WHERE n > 9", "has no rows"),
        ("::DELETE FROM orders", "has no table “DELETE FROM orders”"),
        ("::WITH t AS (SELECT 1) DELETE FROM orders", "readonly database"),
    ],
)
def test_what_a_database_does_not_have_is_a_sentence(shop, part, said):
    with pytest.raises(StudyError, match=said) as caught:
        read_table(f"{shop}{part}")
    assert "\n" not in str(caught.value)
    assert read_table(f"{shop}::orders").height == 3


def test_the_only_table_need_not_be_named(tmp_path):
    with sqlite3.connect(tmp_path / "one.sqlite") as connection:
        TABLE.to_pandas().to_sql("orders", connection, index=False)
    connection.close()
    assert read_table(tmp_path / "one.sqlite").equals(TABLE)


def test_a_file_of_an_archive(tmp_path):
    path = tmp_path / "all.zip"
    path.write_bytes(zipped({"train.csv": CSV, "test.csv": CSV.replace(b"Oslo", b"Rome")}))
    assert read_table(f"{path}::train.csv").equals(TABLE)
    hashes = {open_table(f"{path}::{name}.csv")[2] for name in ("train", "test")}
    assert len(hashes) == 2
    with pytest.raises(StudyError, match=r"archive of train\.csv, test\.csv; name one of them: .*all\.zip::train\.csv"):
        read_table(path)


def test_a_spreadsheet_takes_a_package_and_then_a_sheet(tmp_path, monkeypatch):
    path = tmp_path / "book.xlsx"
    path.write_bytes(zipped({"[Content_Types].xml": b"<Types/>"}))
    monkeypatch.setitem(sys.modules, "fastexcel", None)
    with pytest.raises(StudyError, match=r'pip install "learnt\[excel\]"'):
        read_table(path)
    sheets = {"orders": TABLE, "towns": TABLE.select(pl.col("town").fill_null("Rome"))}
    asked = []

    def load_sheet(name, schema_sample_rows):
        asked.append(schema_sample_rows)
        return types.SimpleNamespace(to_polars=lambda: pl.concat([sheets[name], sheets[name].clear(2)]))

    book = types.SimpleNamespace(sheet_names=list(sheets), load_sheet=load_sheet)
    monkeypatch.setitem(sys.modules, "fastexcel", types.SimpleNamespace(read_excel=lambda raw: book))
    assert read_table(f"{path}::towns").equals(sheets["towns"])
    for part, said in (("", "holds 2 sheets"), ("::town", "has no sheet “town”; did you mean")):
        with pytest.raises(StudyError, match=f"{said}.*name one as .*book.xlsx::orders"):
            read_table(f"{path}{part}")
    book.sheet_names.pop()
    assert read_table(path).equals(TABLE)
    assert asked == [None, None]  # types from every cell, not from the first thousand


# --- what is no table


@pytest.mark.parametrize("address", ["https://example.com/a.csv", "s3://bucket/a.parquet", "http://host:80/t?x=1"])
def test_an_address_is_refused_with_all_its_slashes(address, tmp_path):
    for given in (address, Path(address)):
        with pytest.raises(StudyError, match="is an address, and only files of this machine are read") as caught:
            read_table(given)
        assert str(caught.value).startswith(f"{address} ")
    (tmp_path / "a b.csv").write_bytes(CSV)
    assert read_table((tmp_path / "a b.csv").as_uri()).equals(TABLE)


@pytest.mark.parametrize(
    ("name", "raw", "said"),
    [
        ("cut.csv.gz", gzip.compress(CSV, mtime=0)[:-9], "damaged or cut-off gzip"),
        ("t.csv.zst", pa.compress(CSV, codec="zstd", asbytes=True)[:-9], "packed by Zstandard, of which only text"),
        ("cut.zip", zipped({"t.csv": CSV})[:-30], "damaged or locked"),
        ("old.feather", b"FEA1rest", "first version"),
        ("t.json", b"[1, 2]", "could not be read as JSON"),
        ("t.json", b"3", "holds no rows"),
        ("t.json", b'{"a": [1, 2], "b": [3]}', "columns of different lengths"),
        ("t.jsonl", b'{"a": 1}\n[2]\n', "Line 2 of .* is no object"),
        ("t.db", b"SQLite format 3\x00" + b"x" * 200, "could not be read by its tables"),
    ],
)
def test_what_is_broken_is_one_sentence(name, raw, said, tmp_path):
    (tmp_path / name).write_bytes(raw)
    with pytest.raises(StudyError, match=said) as caught:
        read_table(tmp_path / name)
    assert "\n" not in str(caught.value)


def test_an_empty_standard_input(monkeypatch):
    monkeypatch.setattr(sys, "stdin", io.TextIOWrapper(io.BytesIO(b"")))
    with pytest.raises(StudyError, match=r"Standard input is empty; send a table into it"):
        read_table("-")
