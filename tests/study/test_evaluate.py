"""A model judged on other rows: on the study's test rows the study's own figures, and nothing claimed too much."""

import json

import numpy as np
import polars as pl
import pytest
from sklearn.pipeline import make_pipeline

from learnt.cli._run import run
from learnt.linear_model import LogisticRegression, Ridge
from learnt.metrics import accuracy_score, root_mean_squared_error
from learnt.persistence import save
from learnt.preprocessing import TableEncoder
from learnt.study import StudyError, evaluate_table, predict_table, read_table


def sealed_rows(found, table):
    """The rows of a table that a study sealed."""
    predicted = pl.read_parquet(found.folder / "predictions.parquet")
    return read_table(table)[predicted.filter(pl.col("part") == "test")["row"].to_numpy()]


def test_the_sealed_rows_of_a_study_get_its_own_figures(classified, orders):
    found, _ = classified
    rows = sealed_rows(found, orders)
    judged = evaluate_table(found.folder / "judged.learnt", rows)
    want = {k: v for k, v in found.facts["test"].items() if k not in ("use", "opened")}
    assert found.facts["test"]["use"] == 1
    assert json.dumps(judged["test"]) == json.dumps(want)
    assert judged["beats_constant"] == found.beats_constant
    assert judged["same_table"] is False
    shuffled = rows.select(reversed(rows.columns)).with_columns(more=pl.lit(1))
    assert evaluate_table(found.folder / "judged.learnt", shuffled)["test"] == judged["test"]


def test_and_so_do_amounts(regressed):
    rows = sealed_rows(regressed, regressed.folder.parent / "prices.parquet")
    judged = evaluate_table(regressed.folder / "judged.learnt", rows)
    want = {k: v for k, v in regressed.facts["test"].items() if k not in ("use", "opened")}
    assert json.dumps(judged["test"]) == json.dumps(want)
    assert judged["summary"]["headline"].startswith(f"On {len(rows)} rows of table: typical error (RMSE)")


def test_the_table_a_model_was_learnt_from_is_known(classified, orders, tmp_path):
    found, _ = classified
    assert evaluate_table(found.folder, orders)["same_table"] is True
    assert "it has seen these rows" in evaluate_table(found.folder, orders)["summary"]["lines"][-1]["text"]
    read_table(orders).head(100).write_csv(tmp_path / "part.csv")
    part = evaluate_table(found.folder, tmp_path / "part.csv")
    assert part["same_table"] is False  # nobody can tell of a part, and nobody does
    assert "does not tell which rows" in part["summary"]["lines"][-1]["text"]


# --- models that no study made -------------------------------------------------------------------------------


def table(n=80, seed=0):
    rng = np.random.default_rng(seed)
    x = rng.normal(size=n)
    y = np.where(x + rng.normal(size=n) > 0, "yes", "no")
    return pl.DataFrame({"x": x, "town": rng.choice(["Oslo", "Rome"], n), "y": y, "amount": 3 * x + rng.normal(size=n)})


@pytest.fixture
def models(tmp_path):
    rows = table()
    X = rows.select("x", "town")
    save(make_pipeline(TableEncoder(), LogisticRegression()).fit(X, rows["y"]), tmp_path / "classes.learnt")
    save(make_pipeline(TableEncoder(), Ridge()).fit(X, rows["amount"]), tmp_path / "amounts.learnt")
    save(Ridge().fit(rows.select("x").to_numpy(), rows["amount"]), tmp_path / "array.learnt")
    return tmp_path


def test_a_model_without_a_study_is_judged_beside_the_constant_of_these_rows(models):
    rows = table(seed=1)
    found = evaluate_table(models / "classes.learnt", rows, target="y")
    predicted = predict_table(models / "classes.learnt", rows)["prediction"]
    assert 1 - found["test"]["error"]["estimate"] == pytest.approx(accuracy_score(rows["y"], predicted))
    most = rows["y"].value_counts()["count"].max() / len(rows)
    assert found["test"]["constant_error"] == pytest.approx(1 - most)
    assert (found["constant_from"], found["same_table"]) == ("these rows", None)
    assert "chosen on these very rows" in found["summary"]["lines"][1]["text"]
    amounts = evaluate_table(models / "amounts.learnt", rows, target="amount")["test"]
    predicted = predict_table(models / "amounts.learnt", rows)["prediction"]
    assert amounts["rmse"]["estimate"] == pytest.approx(root_mean_squared_error(rows["amount"], predicted))
    assert amounts["constant_rmse"] == pytest.approx(np.std(rows["amount"].to_numpy()))
    assert "interval" not in amounts
    array = evaluate_table(models / "array.learnt", rows.select("amount", "x"), target="amount")["test"]
    assert 0 < array["rmse"]["estimate"] < 2


def test_rows_that_cannot_be_judged_are_left_out_and_said(models):
    rows = table(40, seed=2)
    cells = ["maybe"] * 3 + [None, "NA"] + rows["y"].to_list()[5:]
    found = evaluate_table(models / "classes.learnt", rows.with_columns(y=pl.Series(cells)), target="y")
    assert found["left_out"] == {"missing": 2, "unknown": 3, "classes": ["maybe"]}
    assert found["test"]["rows"] == 35
    errors = found["test"]["error"]["estimate"] * 35
    said = [line["text"] for line in found["summary"]["lines"] if line["title"] == "Left out"]
    assert f"{100 * (errors + 3) / 38:.1f}%" in said[0]
    assert said[1] == "2 rows without a target."


@pytest.mark.parametrize(
    ("model", "columns", "target", "said"),
    [
        ("classes", {}, None, "does not say what it predicts; name the column with --target"),
        ("classes", {}, "z", "has no column “z”"),
        ("classes", {"y": ["a"] * 40}, "y", "No cell of “y” is a class the model knows .*the first is “a”"),
        ("classes", {"y": ["yes"] * 4 + [None] * 36}, "y", "4 rows have .* at least 5"),
        ("classes", {"y": [[1]] * 40}, "y", "holds lists, so it cannot be the target"),
        ("classes", {"x": ["old"] * 40}, "y", "Row 1 of the column “x” holds “old”.*--lenient"),
        ("amounts", {"amount": ["1", "much"] * 20}, "amount", "Row 2 of the target “amount” holds “much”"),
        ("array", {}, "amount", "The table has 3 columns; the model was learnt from 1"),
    ],
)
def test_what_cannot_be_judged_gets_a_sentence(models, model, columns, target, said):
    rows = table(40).with_columns(**{name: pl.Series(cells) for name, cells in columns.items()})
    with pytest.raises(StudyError, match=said):
        evaluate_table(models / f"{model}.learnt", rows, target=target)


def test_the_command(models, capfd, monkeypatch):
    monkeypatch.chdir(models)
    table(60, seed=3).write_csv("new.csv")
    table(60, seed=3).with_columns(x=pl.Series(["1", "odd"] * 30)).write_csv("odd.csv")
    assert run(["evaluate", "classes.learnt", "new.csv", "--target", "y"]) == 0
    out, err = capfd.readouterr()
    assert out.startswith("On 60 rows of new.csv: ")
    assert "95% interval" in out
    assert err == ""
    assert run(["evaluate", "classes.learnt", "new.csv", "--target", "y", "--json"]) == 0
    assert json.loads(capfd.readouterr().out)["test"]["rows"] == 60
    assert run(["evaluate", "classes.learnt", "odd.csv", "-t", "y"]) == 2
    assert run(["evaluate", "classes.learnt", "odd.csv", "-t", "y", "--lenient"]) == 0
    assert "30 of “x”" in capfd.readouterr().err
    noise = table(60).with_columns(y=table(60)["y"].reverse())
    noise.write_csv("noise.csv")
    assert run(["evaluate", "classes.learnt", "noise.csv", "-t", "y", "--require-better"]) == 3
    capfd.readouterr()
    for arguments, said in (
        (["classes.learnt"], "no folder of a study; name a table"),
        (["nowhere"], "There is no folder nowhere"),
        (["."], "no finished study"),
        (["new.csv", "new.csv"], "cannot be loaded"),
        (["classes.learnt", "none.csv"], "no file none.csv"),
    ):
        assert run(["evaluate", *arguments]) == 2
        out, err = capfd.readouterr()
        assert (out, err.count("\n")) == ("", 1)
        assert said in err
