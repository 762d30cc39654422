"""A request becomes an answer: rows in, the predictions of `learnt predict` out, or a sentence on what is wrong."""

import json
import re

import numpy as np
import polars as pl
import pytest
from sklearn.pipeline import make_pipeline

from learnt.linear_model import LogisticRegression, Ridge
from learnt.persistence import save
from learnt.preprocessing import StandardScaler, TableEncoder
from learnt.study import StudyError, open_service, predict_table, read_table
from learnt.study.serving._bodies import rows_from_csv, rows_from_json
from learnt.study.serving._schema import example_row
from learnt.study.serving._service import CSV, JSON, Request


@pytest.fixture(scope="module")
def service(classifier):
    return open_service(classifier)


def post(service, body, kind=JSON, accept="", **query):
    body = body if isinstance(body, bytes) else json.dumps(body).encode()
    return service.answer(Request("POST", "/predict", query, kind, accept, body))


def refused(answer, status=400):
    assert answer.status == status, answer.body
    assert answer.kind == JSON
    (sentence,) = json.loads(answer.body).values()
    assert "\n" not in sentence
    assert sentence.endswith((".", "?"))
    return sentence


def test_json_and_csv_give_what_the_command_gives_to_the_last_bit(service, classifier, new_rows, tmp_path):
    new_rows.write_csv(tmp_path / "new.csv")
    want = predict_table(classifier, read_table(tmp_path / "new.csv"))
    names = [c for c in want.columns if c not in ("prediction", "unlike")]
    objects = [
        {
            "prediction": row["prediction"],
            "probabilities": {name[2:-1]: row[name] for name in names},
            "unlike": row["unlike"],
        }
        for row in want.to_dicts()
    ]
    assert {row["unlike"] for row in objects} == {None, "town = Bern (never seen in learning)"}
    as_csv = (tmp_path / "new.csv").read_bytes()
    for body, kind in ((new_rows.to_dicts(), JSON), ({"rows": new_rows.to_dicts()}, JSON), (as_csv, CSV)):
        found = post(service, body, kind, JSON)
        assert (found.status, found.kind, found.rows) == (200, JSON, 40)
        assert json.loads(found.body) == {"predictions": objects}
        assert post(service, body, kind, CSV).body == want.write_csv().encode()
    assert post(service, as_csv, CSV).kind == CSV  # as it was asked
    assert {row["prediction"] == "yes" for row in objects} == {True, False}  # decided at the threshold of the file
    assert all((row["prediction"] == "yes") == (row["probabilities"]["yes"] >= 0.3) for row in objects)


def test_one_row_gets_what_the_command_gives_for_it_alone(service, classifier, new_rows):
    for k in (0, 3, 11):
        row = new_rows[k : k + 1]
        assert post(service, row.to_dicts(), accept=CSV).body == predict_table(classifier, row).write_csv().encode()


@pytest.mark.filterwarnings("ignore:TableEncoder could not read")  # a server says it in the answer
def test_one_object_gets_one_answer(service, new_rows):
    row = new_rows.to_dicts()[0] | {"town": "Atlantis"}
    (want,) = json.loads(post(service, [row]).body)["predictions"]
    assert want["unlike"] == "town = Atlantis (never seen in learning)"
    answer = post(service, row)
    assert (json.loads(answer.body), answer.rows) == (want, 1)
    noted = json.loads(post(service, row | {"age": "old"}, lenient="yes").body)
    assert "1 of “age”" in noted["notes"][0]
    assert post(service, row, accept=CSV).body == post(service, [row], accept=CSV).body


def test_amounts_come_with_their_interval(regressor, new_rows):
    found = json.loads(post(open_service(regressor), new_rows.to_dicts()).body)["predictions"]
    assert found == predict_table(regressor, new_rows).to_dicts()
    assert all(row["low"] < row["prediction"] < row["high"] for row in found)


def test_order_and_other_columns_do_not_matter(service, new_rows):
    want = post(service, new_rows.to_dicts()).body
    other = new_rows.select(reversed(new_rows.columns)).with_columns(more=pl.lit(1))
    assert post(service, other.to_dicts()).body == want
    assert post(service, other.write_csv().encode(), CSV, JSON).body == want


def test_a_cell_may_be_written_in_many_ways(service, new_rows):
    row = new_rows.to_dicts()[0]
    want = post(service, [row]).body
    for same in (
        {"age": str(row["age"])},
        {"age": float(row["age"])},
        {"price": float(row["price"][1:].replace(",", ""))},
        {"member": "true" if row["member"] else "false"},
        {"day": row["day"].replace(" ", "T")},
    ):
        assert post(service, [row | same]).body == want
    assert post(service, [row | {"age": 10**300}]).status == 200  # a number, if a large one
    mixed = post(service, [row, row | {"age": "n/a"}, row | {"town": 3}])
    assert mixed.status == 200
    assert json.loads(mixed.body)["predictions"][0] == json.loads(want)["predictions"][0]


BAD_JSON = [
    (b"", "no JSON.*line 1, column 1"),
    (b"[{", "no JSON"),
    (b'[{"x": NaN}]', "NaN, which JSON does not have.*null"),
    (b'[{"x": ' + b"9" * 5000 + b"}]", "too many digits"),
    (b"[" * 100_000, "nested too deeply|no JSON"),
    (b"\xff\xfe[", "Byte 1 of the body is no UTF-8"),
    (b"3", "The body is a number"),
    (b'"x"', "The body is text"),
    (b"null", "The body is null"),
    (b'{"age": 1}', "Row 1 lacks the column"),
    (b'{"rows": 3}', "Row 1 lacks the column"),
    (b"{}", "Row 1 lacks the column"),
    (b"[]", "no rows"),
    (b'{"rows": []}', "no rows"),
    (b"[[1, 2]]", "Row 1 is a list"),
    (b"[null]", "Row 1 is null"),
]


@pytest.mark.parametrize(("body", "said"), BAD_JSON, ids=[f"bad{k}" for k in range(len(BAD_JSON))])
def test_a_body_that_is_no_rows_gets_a_sentence(service, body, said):
    assert re.search(said, refused(post(service, body)))


@pytest.mark.parametrize("number", ["1e400", "-1e400", "1" + "0" * 400, "NaN", "Infinity", "-Infinity"])
def test_what_no_double_holds_is_refused_and_never_missing(service, new_rows, number):
    row = new_rows.to_dicts()[0] | {"age": 0.125}
    body = json.dumps([new_rows.to_dicts()[0], row]).replace("0.125", number).encode()
    assert re.search(
        "Row 2 of the column “age”.* beyond 1.8e308|which JSON does not have", refused(post(service, body))
    )
    line = new_rows[:1].with_columns(age=pl.lit(0.125)).write_csv().replace("0.125", number).encode()
    if number != "NaN":  # in a text table that is a missing cell
        assert re.search("Row 1 of the column “age” holds|could not be read", refused(post(service, line, CSV)))


@pytest.mark.parametrize(
    "where", [{"\ud800": 1}, {"town": "\udc00 x"}, {"member": ["\ud83d"]}, {"town": "\ud83d\ud83d\ude00"}]
)
def test_half_a_character_gets_a_sentence(service, new_rows, where):
    assert re.search("which is half of a character", refused(post(service, [new_rows.to_dicts()[0] | where])))
    whole = post(service, [new_rows.to_dicts()[0] | {"town": "\U0001f600"}])
    assert whole.status == 200


@pytest.mark.filterwarnings("ignore:TableEncoder could not read")  # a server says it in the answer
def test_a_row_that_does_not_fit_gets_its_place(service, new_rows):
    row = new_rows.to_dicts()[0]
    lacking = {k: v for k, v in row.items() if k != "town"}
    assert "Row 2 lacks the column “town”" in refused(post(service, [row, lacking]))
    assert "did you mean “Town”" in refused(post(service, [lacking | {"Town": "Oslo"}]))
    assert "Row 2 of the column “age” holds a list" in refused(post(service, [row, row | {"age": [1]}]))
    assert "Row 1 of the column “age” holds an object" in refused(post(service, [row | {"age": {"a": 1}}]))
    text = refused(post(service, [row, row | {"age": "old"}]))
    assert "Row 2 of the column “age” holds “old” where the model knows numbers" in text
    assert "add ?lenient=yes" in text
    found = json.loads(post(service, [row, row | {"age": "old"}], lenient="yes").body)
    assert len(found["predictions"]) == 2
    assert "1 of “age”" in found["notes"][0]


def test_a_table_that_does_not_fit_gets_its_place(service, new_rows):
    text = new_rows.write_csv()
    head, first, *others = text.split("\n")
    for body, said in (
        ("", "The body is empty"),
        (head + "\n", "no rows"),
        (f"{head}\n{first},1\n", "Line 2 of the body has 7 fields"),
        ("\n".join([first, *others]), r"looks like data.*\?header=no"),
        (new_rows.drop("town").write_csv(), "The table lacks the column “town”"),
        ("a\0b", "zero byte"),
    ):
        sentence = refused(post(service, body.encode(), CSV))
        assert re.search(said, sentence), sentence
    assert "learnt from a table with names" in refused(post(service, text.encode(), CSV, header="no"))


@pytest.mark.parametrize(
    ("query", "said"),
    [({"lenien": "yes"}, "no option “lenien”; did you mean “lenient”"), ({"lenient": "maybe"}, "yes or no")],
)
def test_options_are_understood_or_refused(service, new_rows, query, said):
    assert said in refused(post(service, new_rows.to_dicts(), **query))


def test_what_is_not_there_or_not_meant(service):
    assert "There is no /nowhere here; there is GET /" in refused(service.answer(Request("GET", "/nowhere", {})), 404)
    answer = service.answer(Request("GET", "/predict", {}))
    assert refused(answer, 405) == "/predict takes POST, not GET."
    assert answer.allow == "POST"
    assert service.answer(Request("DELETE", "/schema", {})).allow == "GET, HEAD"
    assert "it is “text/plain”" in refused(post(service, b"x", "text/plain"), 415)
    assert "it is not given" in refused(post(service, b"x", ""), 415)


def test_the_schema_has_an_example_that_is_predicted(service, regressor):
    for each in (service, open_service(regressor)):
        schema = json.loads(each.answer(Request("GET", "/schema", {})).body)
        kinds = {column["name"]: column["kind"] for column in schema["columns"]}
        assert [kinds[name] for name in ("age", "day", "price", "town", "member")] == [
            "number",
            "date",
            "number",
            "category",
            "boolean",
        ]
        assert post(each, [example_row(schema["columns"])]).status == 200
    assert schema["interval"] == {"half_width": 1.5, "coverage": 0.9}
    assert service.schema["positive"] == "yes"
    assert service.schema["target"] == "late"
    assert sorted(next(c for c in schema["columns"] if c["name"] == "town")["levels"]) == ["Oslo", "Rome", "Åre & co"]
    health = json.loads(service.answer(Request("GET", "/health", {})).body)
    assert (health["status"], health["model"]) == ("ok", "model.learnt")


def test_text_and_columns_without_a_level_have_an_example_too(tmp_path):
    rng = np.random.default_rng(0)
    words = np.array(["blue", "green", "small", "large", "round", "flat", "old", "new"])
    notes = [f"{' '.join(rng.choice(words, 5))} {k}" for k in range(200)]
    table = pl.DataFrame({"note": notes, "size": rng.normal(size=200), "empty": [None] * 199 + ["one"]})
    model = make_pipeline(TableEncoder(), LogisticRegression()).fit(table, table["size"].to_numpy() > 0)
    save(model, tmp_path / "model.learnt")
    service = open_service(tmp_path / "model.learnt")
    note = service.schema["columns"][0]
    assert note["kind"] == "text"
    assert set(note["example"].split()) <= set(words)
    assert post(service, [example_row(service.schema["columns"])]).status == 200


def test_a_model_of_arrays_takes_numbered_columns(tmp_path):
    X = np.random.default_rng(0).normal(size=(60, 3))
    model = make_pipeline(StandardScaler(), LogisticRegression()).fit(X, X[:, 0] > 0)
    save(model, tmp_path / "m.learnt")
    service = open_service(tmp_path / "m.learnt")
    assert [c["name"] for c in service.schema["columns"]] == ["column_1", "column_2", "column_3"]
    found = json.loads(post(service, [{"column_1": 1.0, "column_2": 0, "column_3": -1}]).body)["predictions"][0]
    assert found["prediction"] is True
    assert found["probabilities"]["True"] == model.predict_proba([[1.0, 0.0, -1.0]])[0, 1]
    assert "lacks the column “column_3”" in refused(post(service, [{"column_1": 1, "column_2": 2}]))


def test_what_does_not_predict_is_refused(tmp_path):
    save(TableEncoder().fit({"a": [1, 2, 3]}), tmp_path / "encoder.learnt")
    with pytest.raises(StudyError, match="does not predict"):
        open_service(tmp_path / "encoder.learnt")


def test_types_are_those_of_a_file():
    first, second = (
        {"i": 1, "f": 1, "b": True, "t": "x", "n": None},
        {"i": 2, "f": 0.5, "b": None, "t": None, "n": None},
    )
    made = rows_from_json(json.dumps([first, second]).encode(), list("ifbtn")).table
    read = rows_from_csv(b"i,f,b,t,n\n1,1,true,x,\n2,0.5,,,\n", None)
    assert made.schema == read.schema
    assert made.equals(read)


def test_a_warm_service_has_predicted(regressor, caplog):
    service = open_service(regressor)
    with caplog.at_level("DEBUG", logger="learnt"):
        service.warm()
    assert not caplog.records
    assert isinstance(service.model.fitted[-1], Ridge)
