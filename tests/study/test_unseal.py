"""A test set that stays sealed until it is opened: once, written down, on the rows that were sealed and no others."""

import json
import shutil

import polars as pl
import pytest

from learnt.cli._run import run
from learnt.study import StudyError, evaluate_study, evaluate_table, read_table

N = 420


def copied(sealed, where):
    """The same study elsewhere, so that each test opens its own."""
    return shutil.copytree(sealed, where / "out")


def test_a_sealed_study_has_seen_nothing_of_its_test_rows(sealed):
    facts = json.loads((sealed / "study.json").read_text())
    assert facts["test"] is None
    assert facts["beats_constant"] is None
    assert facts["model"]["rows"] == facts["seal"]["development_rows"] == N - facts["seal"]["test_rows"]
    assert set(pl.read_parquet(sealed / "predictions.parquet")["part"]) == {"out of fold"}
    page = (sealed / "report.html").read_text()
    assert "learnt evaluate out" in page
    assert "test set still sealed" in page
    assert not (sealed / "judged.learnt").exists()


def test_its_report_is_sound(sealed, open_page):
    page = open_page(sealed / "report.html", 390, "dark")
    assert page.locator("#test pre").inner_text() == "learnt evaluate out"
    assert (page.trouble, page.low_contrast()) == ([], [])
    assert page.evaluate("document.documentElement.scrollWidth - window.innerWidth") == 0


def test_it_is_opened_once_with_the_figures_of_the_same_rows(sealed, orders, tmp_path, monkeypatch):
    monkeypatch.setenv("LEARNT_LEDGER", str(tmp_path / "ledger.jsonl"))
    folder = copied(sealed, tmp_path)
    facts, opened = evaluate_study(folder)
    assert opened
    written = pl.read_parquet(folder / "predictions.parquet")
    assert set(written["part"]) == {"out of fold", "test"}
    rows = read_table(orders)[written.filter(pl.col("part") == "test")["row"].to_numpy()]
    want = evaluate_table(folder, rows)["test"]
    found = {k: v for k, v in facts["test"].items() if k not in ("use", "opened")}
    assert json.dumps(found) == json.dumps(want)
    assert json.loads((folder / "study.json").read_text())["test"]["error"] == facts["test"]["error"]
    assert "learnt evaluate out" not in (folder / "report.html").read_text()
    sections = facts["sections"]
    assert {sections[part]["rows"] for part in ("precision_recall", "groups")} == {facts["test"]["rows"]}
    assert sections["drift"]["test_rows"] == facts["seal"]["test_rows"]
    assert sections["thresholds"]["rows"] <= facts["seal"]["development_rows"]  # still of rows that were never sealed

    before = {path.name: path.read_bytes() for path in folder.iterdir()}
    again, opened = evaluate_study(folder)
    assert not opened
    assert again["test"]["opened"] == facts["test"]["opened"]
    assert {path.name: path.read_bytes() for path in folder.iterdir()} == before
    lines = (tmp_path / "ledger.jsonl").read_text().splitlines()
    assert [json.loads(line)["when"] for line in lines] == [facts["test"]["opened"]]


def test_the_command_says_when_it_was_opened(sealed, tmp_path, monkeypatch, capfd):
    monkeypatch.setenv("LEARNT_LEDGER", str(tmp_path / "ledger.jsonl"))
    folder = copied(sealed, tmp_path)
    assert run(["evaluate", str(folder), "--json"]) == 0
    first = json.loads(capfd.readouterr().out)
    assert first["opened_now"]
    assert run(["evaluate", str(folder), "--json"]) == 0
    second = json.loads(capfd.readouterr().out)
    assert not second["opened_now"]
    assert (second["test"], second["opened"]) == (first["test"], first["opened"])
    assert run(["evaluate", str(folder)]) == 0
    assert f"It was opened on {first['opened']}; these are the figures of then." in capfd.readouterr().out


def test_only_the_rows_that_were_sealed_are_opened(sealed, orders, tmp_path, monkeypatch):
    monkeypatch.setenv("LEARNT_LEDGER", str(tmp_path / "ledger.jsonl"))
    folder = copied(sealed, tmp_path)
    read_table(orders).head(N - 1).write_csv(tmp_path / "other.csv")
    with pytest.raises(StudyError, match="not the table that was studied"):
        evaluate_study(folder, tmp_path / "other.csv")
    model = (folder / "model.learnt").read_bytes()
    (folder / "model.learnt").write_bytes(model[:-1] + b"x")
    with pytest.raises(StudyError, match="not the model that the study chose"):
        evaluate_study(folder)
    (folder / "model.learnt").write_bytes(model)
    facts = json.loads((folder / "study.json").read_text())
    facts["seal"]["hash"] = "0" * 64
    (folder / "study.json").write_text(json.dumps(facts))
    with pytest.raises(StudyError, match="cannot tell which rows"):
        evaluate_study(folder)
    assert not (tmp_path / "ledger.jsonl").exists()  # nothing was opened
    (folder / "study.json").write_text("{}")
    with pytest.raises(StudyError, match="damaged"):
        evaluate_study(folder)


def test_a_table_that_was_moved_can_be_named(sealed, orders, tmp_path, monkeypatch):
    monkeypatch.setenv("LEARNT_LEDGER", str(tmp_path / "ledger.jsonl"))
    folder = copied(sealed, tmp_path)
    journal = folder / "journal.jsonl"
    journal.write_text("".join(s for s in journal.read_text().splitlines(True) if '"kind":"table"' not in s))
    with pytest.raises(StudyError, match="does not say where its table lies"):
        evaluate_study(folder)
    shutil.copyfile(orders, tmp_path / "moved.csv")
    assert evaluate_study(folder, tmp_path / "moved.csv")[1]


def test_sealed_and_better_cannot_both_be_asked_for(tmp_path, capfd):
    (tmp_path / "t.csv").write_text("x,y\n1,2\n")
    arguments = ["study", str(tmp_path / "t.csv"), "-t", "y", "--keep-sealed", "--require-better"]
    assert run([*arguments, "--out", str(tmp_path / "o")]) == 2
    assert "give --require-better to learnt evaluate" in capfd.readouterr().err


def test_where_nothing_was_tried_the_test_set_stays_sealed(orders, tmp_path, monkeypatch, capfd):
    monkeypatch.setenv("LEARNT_LEDGER", str(tmp_path / "ledger.jsonl"))
    folder = tmp_path / "out"
    assert run(["study", str(orders), "--target", "outcome", "--out", str(folder), "--budget", "0.01s"]) == 0
    assert "No model of “outcome” was finished" in capfd.readouterr().out
    facts = json.loads((folder / "study.json").read_text())
    assert (facts["test"], facts["beats_constant"], facts["settings"]["keep_sealed"]) == (None, None, False)
    assert not (tmp_path / "ledger.jsonl").exists()  # a longer study will be the first to open it
    assert "threshold" not in facts
    rows = facts["seal"]["test_rows"]
    assert f"{rows} test rows stay sealed" in facts["summary"]["lines"][0]["text"]
    page = (folder / "report.html").read_text()
    assert "stay sealed" in page
    assert "learnt evaluate" not in page
    assert not (folder / "judged.learnt").exists()
    assert run(["evaluate", str(folder)]) == 2
    assert "no model to judge" in capfd.readouterr().err
    assert run(["predict", str(folder), str(orders)]) == 0  # its model file holds the constant
    said = capfd.readouterr().out.splitlines()
    assert len(said) == N + 1
    assert len(set(said[1:])) == 1
    again = ["study", str(orders), "--target", "outcome", "--out", str(folder), "--budget", "0.01s"]
    assert run([*again, "--require-better"]) == 3
