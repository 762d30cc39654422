"""Reading: every format gives the same table, and a broken file gets one sentence with its line and a remedy."""

import gzip

import polars as pl
import pytest

from learnt.study import StudyError, read_table
from learnt.study.table._read import open_table

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
        ("1,2\n3,4\n", "The first line of .* looks like data.*--no-header"),
        ("4,4,a\n1,2,b\n3,5,a\n", "The first line of .* looks like data"),  # never two columns named "4"
        ("a,a\n1,2\n", "two columns named “a”"),
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
        ("t.png", b"\x89PNG\r\n\x1a\nrest", "picture"),
        ("t.pdf", b"%PDF-1.4 rest", "document"),
        ("t.parquet", b"PAR1 not really", "could not be read as parquet"),
        ("t.bin", b"\x00\x01\x02\x03", "not a text table"),
        ("t.jsonl", b'{"a": 1}\n{"a":\n', "is broken at line 2, column 6"),
    ],
)
def test_what_is_no_table_is_refused(tmp_path, name, data, said):
    path = tmp_path / name
    path.write_bytes(data)
    with pytest.raises(StudyError, match=said) as caught:
        read_table(path)
    assert "\n" not in str(caught.value)


def test_a_missing_file_gets_a_hint(tmp_path):
    (tmp_path / "titanic.csv").write_text("a\n1\n")
    with pytest.raises(StudyError, match=r"did you mean “titanic.csv”\?"):
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
    for line, fields in (("1,2", 2), ("1,2,3,4", 4), ("10", 1)):
        lines[300_001] = line
        path.write_text("\n".join(lines) + "\n")
        with pytest.raises(StudyError, match=rf"Line 300002 of .* has {fields} fields"):
            read_table(path)
    lines[300_001] = "1,2,"  # a missing cell is no missing field
    path.write_text("\n".join(lines) + "\n")
    assert read_table(path)["c"].null_count() == 1


def test_a_late_cell_of_another_type_changes_the_type_and_loses_nothing(tmp_path):
    path = tmp_path / "t.csv"
    path.write_text("a,b\n" + "1,2\n" * 12_000 + "1.5,NA\n")
    table = read_table(path)
    assert table["a"][-1] == 1.5
    assert table["b"][-1] == "NA"


HEADERLESS = {
    "iris": "5.1,3.5,1.4,0.2,Iris-setosa\n4.9,3.0,1.4,0.2,Iris-setosa\n4.7,3.2,1.3,0.2,Iris-virginica\n",
    "missing in the first line": "3,?,alfa-romero,gas\n1,192,audi,gas\n2,164,audi,gas\n",
    "letters": "p,x,s,n\ne,x,s,y\ne,b,s,w\np,x,y,w\n",
    "dates": "2020-01-01,a\n2020-01-02,b\n",
    "money": "$12.50;a\n$13.00;b\n",
    "one column": "1.5\n2.5\n3.5\n",
}
HEADED = {
    "names": "width,kind\n5.1,setosa\n4.9,setosa\n",
    "counted": "0,1,2,3\n5.1,2.2,1.0,4\n4.9,3.1,2.0,7\n",
    "years": "country,2019,2020,2021\nNorway,1.5,2.5,3.5\nPeru,3,4,5\n",
    "all words": "town,kind\nOslo,a\nRome,b\nOslo,a\n",
    "one name is a value too": "kind,town\nkind,Oslo\na,Rome\nb,Oslo\n",
    "an index without a name": ",a,b\n0,1,2\n1,3,4\n",
    "one column of words": "word\nword\nother\n",
}


@pytest.mark.parametrize("kind", HEADERLESS)
def test_a_file_without_names_is_detected_and_read_with_the_option(tmp_path, kind):
    path = tmp_path / "t.csv"
    path.write_text(HEADERLESS[kind])
    with pytest.raises(StudyError, match=r"looks like data.*--no-header"):
        read_table(path)
    table = read_table(path, header=False)
    assert table.columns == [f"column_{k + 1}" for k in range(table.width)]
    assert table.height == HEADERLESS[kind].count("\n")
    if kind != "missing in the first line":  # on one's word it is a header
        assert read_table(path, header=True).height == table.height - 1


@pytest.mark.parametrize("kind", HEADED)
def test_a_line_of_names_is_taken_for_one(tmp_path, kind):
    path = tmp_path / "t.csv"
    path.write_text(HEADED[kind])
    assert read_table(path).columns == HEADED[kind].split("\n")[0].split(",")


def test_lines_of_a_file_without_names_are_checked_and_repeated_cells_do_not_matter(tmp_path):
    path = tmp_path / "t.csv"
    path.write_text("4,4\n1,2\n5\n")
    with pytest.raises(StudyError, match=r"Line 3 of .* fewer than the 2 of the first line"):
        read_table(path, header=False)
    path.write_text("4,4\n1,2\n")
    assert read_table(path, header=False).rows() == [(4, 4), (1, 2)]
    with pytest.raises(StudyError, match="two columns named “4”"):
        read_table(path, header=True)
    TABLE.write_parquet(tmp_path / "t.parquet")
    with pytest.raises(StudyError, match="leave --no-header out"):
        read_table(tmp_path / "t.parquet", header=False)


@pytest.mark.parametrize("name", ["*", "^x.*$"])
def test_names_that_are_patterns_are_refused_before_anything_else(tmp_path, name):
    frame = pl.DataFrame({"x": [1, 2], name: [3, 4]})
    frame.write_csv(tmp_path / "t.csv")
    for table in (tmp_path / "t.csv", frame):
        with pytest.raises(StudyError, match="stands for several columns; give it another name"):
            open_table(table)
    assert open_table(frame.rename({name: "^x"}))[0].columns == ["x", "^x"]
