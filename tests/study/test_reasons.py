"""Reasons beside the predictions of a saved model: in words for a table, as figures for a program."""

import json

import numpy as np
import polars as pl
import pytest

from learnt.cli._run import run
from learnt.ensemble import RandomForestClassifier, RandomForestRegressor
from learnt.persistence import save
from learnt.pipeline import make_pipeline
from learnt.preprocessing import TableEncoder
from learnt.study import StudyError, _reasons, open_service, predict_table
from learnt.study._model import SavedModel
from learnt.study._predict import ModelNotes
from learnt.study._reasons import reason_records, row_reasons
from learnt.study.serving._service import CSV, JSON, MOST_EXPLAINED, Request


def rows(n=80):
    rng = np.random.default_rng(0)
    return pl.DataFrame(
        {"queue": rng.integers(0, 30, n), "town": rng.choice(["Oslo", "Rome"], n), "noise": rng.normal(size=n)}
    )


def saved(folder, classes):
    """A model of two or three classes, or of an amount; the likelier class is not always the decision."""
    table = rows()
    score = table["queue"].to_numpy() + 5.0 * (table["town"] == "Oslo").to_numpy()
    kind = RandomForestRegressor if classes is None else RandomForestClassifier
    y = score if classes is None else np.array(["fast", "late", "never"])[np.digitize(score, [12, 24][: classes - 1])]
    save(make_pipeline(TableEncoder(), kind(8, max_depth=4, random_state=0)).fit(table, y), folder / "model.learnt")
    threshold, task = (0.2 if classes == 2 else 0.5), "regress" if classes is None else "classify"
    notes = ModelNotes("y", task, threshold=threshold, half_width=None, positive="late" if classes == 2 else None)
    notes.write(folder / "model.learnt")
    return folder / "model.learnt"


@pytest.mark.parametrize("classes", [2, 3, None])
def test_reasons_are_those_of_the_prediction_that_stands_beside_them(tmp_path, classes):
    path, table = saved(tmp_path, classes), rows()
    found = predict_table(path, table, explain=True)
    assert found.columns[-3:] == ["reason 1", "reason 2", "reason 3"]
    assert found.drop("reason 1", "reason 2", "reason 3").equals(predict_table(path, table))
    model = SavedModel.open(path)
    records = reason_records(row_reasons(model, model.columns_of(table), found))
    for row, record, cells in zip(found.to_dicts(), records, table.to_dicts(), strict=True):
        told = row["prediction"] if classes is None else row[f"p({row['prediction']})"]
        assert record["baseline"] + sum(record["adds"].values()) == pytest.approx(told)
        first, amount = next(iter(record["adds"].items()))
        assert amount == max(record["adds"].values(), key=abs)
        assert row["reason 1"].startswith(f"{first} = {cells[first]:.6g}: " if first == "noise" else f"{first} = ")
        assert np.sign(float(row["reason 1"].rpartition(": ")[2].replace(",", ""))) == np.sign(amount)


def test_the_command_writes_them_beside_the_table(tmp_path, capsys):
    path = saved(tmp_path, 2)
    rows().write_csv(tmp_path / "new.csv")
    assert run(["predict", str(path), str(tmp_path / "new.csv"), "--explain", "--join"]) == 0
    found = pl.read_csv(capsys.readouterr().out.encode())
    assert found.columns[:3] == ["queue", "town", "noise"]
    assert found["reason 1"].str.contains(r"^(queue|town|noise) = .+: [+-][\d.,]+$").all()


def asked(service, body, kind=JSON, accept="", **query):
    return service.answer(Request("POST", "/predict", query, kind, accept, json.dumps(body).encode()))


def test_a_request_may_ask_for_reasons(tmp_path):
    service, sent = open_service(saved(tmp_path, 2)), rows(4).to_dicts()
    plain = json.loads(asked(service, sent).body)["predictions"]
    in_query = json.loads(asked(service, sent, explain="1").body)["predictions"]
    in_body = json.loads(asked(service, {"rows": sent, "explain": True}).body)["predictions"]
    assert in_query == in_body
    assert [{k: v for k, v in row.items() if k != "reasons"} for row in in_query] == plain
    for row in in_query:
        why = row["reasons"]
        assert why["of"] == row["prediction"]
        assert why["baseline"] + sum(why["adds"].values()) == pytest.approx(row["probabilities"][row["prediction"]])
    one = json.loads(asked(service, sent[0], explain="yes").body)
    assert one["reasons"]["adds"].keys() == {"queue", "town", "noise"}
    assert b"reason 1" in asked(service, sent, accept=CSV, explain="yes").body.splitlines()[0]


def test_what_a_request_for_reasons_may_not_be(tmp_path):
    service, sent = open_service(saved(tmp_path, None)), rows(4).to_dicts()
    for answer, said in (
        (asked(service, {"rows": sent, "explain": "please"}), "“explain” is text; send true or false."),
        (asked(service, sent, explain="perhaps"), "The option “explain” can be yes or no"),
        (asked(service, sent * MOST_EXPLAINED, explain="yes"), "Reasons are given for 1,000 rows at a time"),
    ):
        assert answer.status == 400
        assert said in json.loads(answer.body)["error"]
    assert asked(service, sent * MOST_EXPLAINED).status == 200


def test_what_cannot_be_explained_is_said_in_one_sentence(tmp_path):
    model = SavedModel.open(saved(tmp_path, 2))
    with pytest.raises(StudyError, match="X has no rows"):
        row_reasons(model, rows()[:0], pl.DataFrame({"prediction": []}))


def test_many_rows_are_explained_part_by_part(tmp_path, monkeypatch):
    path = saved(tmp_path, 3)
    whole = predict_table(path, rows(), explain=True)
    monkeypatch.setattr(_reasons, "_AT_ONCE", 30)
    assert predict_table(path, rows(), explain=True).equals(whole)


def test_pixels_are_no_reasons(tmp_path):
    X = np.random.default_rng(0).random((30, 225))
    save(RandomForestClassifier(2, random_state=0).fit(X, X[:, 0] > 0.5), tmp_path / "model.learnt")
    with pytest.raises(StudyError, match="learnt from images of 225 pixels"):
        predict_table(tmp_path / "model.learnt", pl.DataFrame(X), explain=True)
