"""Reading: every format gives the same table, and a broken file gets one sentence with its line and a remedy."""

import gzip

import polars as pl
import pytest

from learnt.study import StudyError, read_table

TABLE = pl.DataFrame({"town": ["Zürich", "Oslo", None], "price": [1.5, 2.0, 3.25], "n": [1, 2, 3]})


@pytest.mark.parametrize("ending", ["csv", "parquet", "arrow", "feather", "jsonl"])
def test_formats(tmp_path, ending):
    path = tmp_path / f"t.{ending}"
    write = {"csv": TABLE.write_csv, "parquet": TABLE.write_parquet, "jsonl": TABLE.write_ndjson}
    write.get(ending, TABLE.write_ipc)(path)
    assert read_table(path).equals(TABLE)


@pytest.mark.parametrize("delimiter", [",", ";", "\t", "|"])
@pytest.mark.parametrize("encoding", ["utf-8", "utf-8-sig", "utf-16", "cp1252"])
def test_delimiters_and_encodings(tmp_path, delimiter, encoding):
    path = tmp_path / "t.csv"
    path.write_bytes(TABLE.write_csv(separator=delimiter).encode(encoding))
    assert read_table(path).equals(TABLE)


def test_gzip_windows_lines_and_quotes(tmp_path):
    path = tmp_path / "t.csv.gz"
    path.write_bytes(gzip.compress(b'a,b\r\n1,"x, ""y""\nz"\r\n2,w\r\n'))
    assert read_table(path).rows() == [(1, 'x, "y"\nz'), (2, "w")]


@pytest.mark.parametrize(
    ("text", "said"),
    [
        ("a,b\n1,2\n3,4,5\n", "Line 3 of .* has 3 fields, more than the 2 of the header; quote the cell"),
        ("a,b\n1,2\n3\n4,5\n", "Line 3 of .* has 1 fields, fewer than the 2"),
        ('a,b\n1,2\n3,"x\n4,5\n', "Line 3 of .* opens a quote that is never closed"),
        ('a,b\n1,"x\ny"\n3\n', "Line 4 of .* has 1 fields"),
        ("1,2\n3,4\n", "holds numbers where column names should be"),
        ("a,a\n1,2\n", 'two columns named "a"'),
        ("a,b\n", "no rows"),
        ("", "is empty"),
        ("\n\n", "is empty"),
    ],
)
def test_a_broken_csv_is_one_sentence_with_a_line(tmp_path, text, said):
    path = tmp_path / "t.csv"
    path.write_text(text)
    with pytest.raises(StudyError, match=said) as caught:
        read_table(path)
    assert "\n" not in str(caught.value)
    assert str(caught.value).endswith(".")


@pytest.mark.parametrize(
    ("name", "data", "said"),
    [
        ("t.csv", b"a,b\n1,\x00\n", "zero byte"),
        ("t.xlsx", b"PK\x03\x04rest", "spreadsheet"),
        ("t.parquet", b"PAR1 not really", "could not be read as parquet"),
        ("t.bin", b"\x00\x01\x02\x03", "not a text table"),
        ("t.jsonl", b'{"a": 1}\n{"a":\n', "could not be read as ndjson"),
    ],
)
def test_what_is_no_table_is_said(tmp_path, name, data, said):
    path = tmp_path / name
    path.write_bytes(data)
    with pytest.raises(StudyError, match=said) as caught:
        read_table(path)
    assert "\n" not in str(caught.value)


def test_a_missing_file_gets_a_hint(tmp_path):
    (tmp_path / "titanic.csv").write_text("a\n1\n")
    with pytest.raises(StudyError, match=r'did you mean "titanic.csv"\?'):
        read_table(tmp_path / "titanc.csv")
    with pytest.raises(StudyError, match="is a folder"):
        read_table(tmp_path)


def test_names_keep_their_quotes_and_delimiters(tmp_path):
    frame = pl.DataFrame({'say "hi"': [1, 2], "a, b": [3, 4], "": [5, 6], "line\nbreak": [7, 8]})
    frame.write_csv(tmp_path / "t.csv")
    assert read_table(tmp_path / "t.csv").equals(frame)


def test_a_long_file_is_checked_too(tmp_path):
    lines = ["a,b,c", *(f"{k},{k / 2},x{k}" for k in range(400_000))]
    path = tmp_path / "long.csv"
    path.write_text("\n".join(lines) + "\n")
    assert path.stat().st_size > 5_000_000
    assert read_table(path).shape == (400_000, 3)
    lines[300_001] = "1,2"
    path.write_text("\n".join(lines) + "\n")
    with pytest.raises(StudyError, match=r"Line 300002 of .* has 2 fields"):
        read_table(path)


def test_a_late_surprise_changes_the_type_and_loses_nothing(tmp_path):
    path = tmp_path / "t.csv"
    path.write_text("a,b\n" + "1,2\n" * 12_000 + "1.5,NA\n")
    table = read_table(path)
    assert table["a"][-1] == 1.5
    assert table["b"][-1] == "NA"
