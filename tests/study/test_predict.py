"""Using a model of a study: text where numbers belong is refused with its place, or counted; tables without names."""

import numpy as np
import polars as pl
import pytest
from sklearn.pipeline import make_pipeline

from learnt.cli._run import run
from learnt.ensemble import RandomForestRegressor, VotingRegressor
from learnt.linear_model import Ridge
from learnt.persistence import save
from learnt.preprocessing import TableEncoder
from learnt.study import StudyError, predict_table
from learnt.study._predict import ModelNotes

RNG = np.random.default_rng(0)
LEARNT = pl.DataFrame(
    {
        "age": RNG.integers(20, 70, 50),
        "day": [f"2020-01-{1 + k % 28:02d}" for k in range(50)],
        "odd": ["unknown" if k == 3 else str(k) for k in range(50)],  # one cell could not be read in fit either
        "town": RNG.choice(["Oslo", "Rome"], 50),
    }
)
TARGET = RNG.normal(size=50)


@pytest.fixture(params=["pipeline", "blend"])
def model(request, tmp_path):
    def one():
        return make_pipeline(TableEncoder(), Ridge())

    fitted = one() if request.param == "pipeline" else VotingRegressor([("a", one()), ("b", one())])
    save(fitted.fit(LEARNT, TARGET), tmp_path / "model.learnt")
    return tmp_path / "model.learnt"


def new(**columns):
    return LEARNT.head(4).with_columns(**{name: pl.Series(cells) for name, cells in columns.items()})


def test_what_can_be_read_is_predicted_whatever_its_type(model):
    want = predict_table(model, LEARNT.head(4))["prediction"].to_list()
    for age in (LEARNT["age"][:4].cast(pl.String), LEARNT["age"][:4].cast(pl.Float32)):
        assert predict_table(model, new(age=age))["prediction"].to_list() == pytest.approx(want)
    predict_table(model, new(age=[None, "31", "NA", ""], town=["Bern", None, "", "?"], odd=["unknown", "x", "2", "3"]))


@pytest.mark.parametrize(
    ("columns", "said"),
    [
        (
            {"age": ["31", "32", "thirty", "old"]},
            "Row 3 of the column “age” holds “thirty” where the model knows numbers",
        ),
        (
            {"day": ["2020-01-01", "soon", None, "NA"]},
            "Row 2 of the column “day” holds “soon” where the model knows dates",
        ),
        ({"age": [[1], [2], [3], [4]]}, "column “age” holds “List"),
        ({"age": ["x" * 99, "1", "2", "3"]}, "xxx…"),
    ],
)
def test_text_among_numbers_is_refused_with_its_place_and_counted_when_lenient(model, columns, said):
    table = new(**columns)
    with pytest.raises(StudyError) as error:
        predict_table(model, table)
    assert said in str(error.value)
    assert "--lenient" in str(error.value)
    told = []
    if "List" not in said:
        found = predict_table(model, table, lenient=True, say=told.append)
        assert np.isfinite(found["prediction"].to_numpy()).all()
        assert told[0].startswith("Cells that could not be read count as missing:")


def test_the_command(tmp_path, capfd, monkeypatch):
    monkeypatch.chdir(tmp_path)
    save(make_pipeline(TableEncoder(), Ridge()).fit(LEARNT, TARGET), "model.learnt")
    new(age=["31", "x", "y", "32"]).write_csv("new.csv")
    assert run(["predict", "model.learnt", "new.csv"]) == 2
    out, err = capfd.readouterr()
    assert out == ""
    assert "Row 2 of the column “age” holds “x”" in err
    assert "1 other cell" in err
    assert run(["predict", "model.learnt", "new.csv", "--lenient"]) == 0
    out, err = capfd.readouterr()
    assert out.count("\n") == 5
    assert "2 of “age”" in err


def test_a_table_without_names_is_taken_in_order_with_its_target_or_without(tmp_path):
    rows = pl.DataFrame({f"column_{k}": RNG.normal(size=40) for k in (1, 2, 3)})
    fitted = make_pipeline(TableEncoder(), Ridge()).fit(rows.select("column_2", "column_3"), rows["column_1"])
    save(fitted, tmp_path / "model.learnt")
    with pytest.raises(StudyError, match="learnt from a table with names"):
        predict_table(tmp_path / "model.learnt", rows, header=False)
    notes = ModelNotes("column_1", "regress", threshold=0.5, half_width=1.0, width=3)
    notes.write(tmp_path / "model.learnt")
    want = fitted.predict(rows.select("column_2", "column_3"))
    bare = rows.select("column_2", "column_3").rename({"column_2": "column_1", "column_3": "column_2"})
    for table in (rows, bare):
        found = predict_table(tmp_path / "model.learnt", table, header=False)
        assert found["prediction"].to_numpy() == pytest.approx(want)
    with pytest.raises(StudyError, match=r"has 1 columns; .* 3 or 2 \(without column_1\)"):
        predict_table(tmp_path / "model.learnt", rows.select("column_1"), header=False)


def test_text_that_a_spreadsheet_would_run_is_counted_and_written_as_it_is(tmp_path, capfd, monkeypatch):
    monkeypatch.chdir(tmp_path)
    save(make_pipeline(TableEncoder(), Ridge()).fit(LEARNT, TARGET), "model.learnt")
    towns = ["=HYPERLINK(A1)", "-5.5", "Rome", "@SUM(A1)"]
    new(town=towns).write_csv("new.csv")
    for where in ([], ["--out", "found.csv"]):
        assert run(["predict", "model.learnt", "new.csv", "--join", *where]) == 0
        out, err = capfd.readouterr()
        unlike, formulas = err.splitlines()
        assert unlike.startswith("learnt: Of 4 rows 3 are unlike all that the model was learnt from; the first, row 1")
        assert formulas.startswith("learnt: 2 cells begin as a formula does, the first in the column “town”")
        written = pl.read_csv("found.csv" if where else out.encode())
        assert written["town"].to_list() == towns
    assert run(["predict", "model.learnt", "new.csv", "--join", "--out", "found.parquet"]) == 0
    assert run(["predict", "model.learnt", "new.csv"]) == 0  # numbers, and sentences that begin with a name
    assert "formula" not in capfd.readouterr().err
    (tmp_path / "folder.csv").mkdir()
    assert run(["predict", "model.learnt", "new.csv", "--out", "folder.csv"]) == 2
    assert capfd.readouterr().err.splitlines()[-1].startswith("learnt: folder.csv cannot be written: ")


def test_what_the_model_refuses_is_said_in_its_own_sentence(tmp_path, capfd, monkeypatch):
    monkeypatch.chdir(tmp_path)
    X = RNG.normal(size=(20, 4))
    save(Ridge().fit(X, X[:, 0]), "of_numbers.learnt")
    save(Ridge(), "unfitted.learnt")
    forest = RandomForestRegressor(3, random_state=0).fit(X[:, :1], X[:, 0])
    save(forest, "single.learnt")
    LEARNT.write_csv("words.csv")
    pl.DataFrame({"x": [1e308, 1.0]}).write_csv("large.csv")
    (tmp_path / "loop.csv").symlink_to("loop.csv")
    capfd.readouterr()  # the progress of the fits
    for model, table, said in (
        ("of_numbers", "words.csv", "could not convert string to float: column 'day'"),
        ("unfitted", "words.csv", "is not fitted yet"),
        ("single", "large.csv", "1e+308 at row 0, column 0"),
        ("single", "loop.csv", "loop.csv"),
    ):
        for command in (["predict"], ["evaluate", "--target", "town" if table == "words.csv" else "x"]):
            assert run([*command, f"{model}.learnt", table]) == 2
            err = capfd.readouterr().err
            assert "unforeseen" not in err
            assert err.count("\n") == 1
            if command == ["predict"]:
                assert said in err
