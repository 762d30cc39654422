"""A whole study, end to end: files, numbers, reproducibility, resuming after a kill, noise, test-set uses."""

import json
import os
import signal
import subprocess
import sys
import time

import numpy as np
import polars as pl
import pytest

from learnt.study import StudyError, predict_table, read_table, study
from learnt.study.table._seal import record_opening


def numbers(folder):
    """What must not change from run to run in study.json: all but the clock, and what the ledger of a process holds."""
    facts = json.loads((folder / "study.json").read_text(encoding="utf-8"))
    del facts["run"], facts["test"]["use"], facts["test"]["opened"], facts["settings"]["budget"]
    for entry in facts["race"]["entries"]:
        entry.pop("timing", None)
    (facts["sections"] or {}).pop("finishers", None)  # when each model was finished
    return facts


def table(n=300, seed=0):
    rng = np.random.default_rng(seed)
    x = rng.normal(size=(n, 3))
    y = np.where(x[:, 0] + x[:, 1] + 0.5 * rng.normal(size=n) > 0, "yes", "no")
    return pl.DataFrame({"a": x[:, 0], "b": x[:, 1], "c": x[:, 2], "kind": rng.choice(["p", "q"], n), "y": y})


def test_every_file_is_there_and_nothing_else(classified):
    found, said = classified
    assert sorted(p.name for p in found.folder.iterdir()) == [
        "journal.jsonl",
        "judged.learnt",
        "model.learnt",
        "predictions.parquet",
        "report.html",
        "study.json",
        "train.py",
    ]
    assert found.beats_constant
    assert any("row_id" in s and "identifier" in s for s in said)
    assert all("\n" not in s for s in said)


def test_the_numbers_hang_together(classified):
    facts = json.loads((classified[0].folder / "study.json").read_text(encoding="utf-8"))
    test, chosen = facts["test"], facts["chosen"]
    assert test["error"]["low"] <= test["error"]["estimate"] <= test["error"]["high"]
    assert test["error"]["estimate"] < test["constant_error"]
    assert np.sum(test["confusion"]) == test["rows"] == facts["seal"]["test_rows"]
    assert facts["race"]["entries"][0]["loss"] <= facts["race"]["entries"][1]["loss"]
    assert chosen["id"] in {e["id"] for e in facts["race"]["entries"] if e["state"] == "chosen"}
    assert sum(p["value"] for p in facts["diagnosis"]["parts"].values()) == pytest.approx(facts["diagnosis"]["loss"])
    assert facts["bracket"]["lower"] <= facts["bracket"]["upper"]
    assert facts["threshold"]["threshold"] < 0.5  # a miss costs five false alarms
    assert facts["importances"][0]["column"] == '<script>alert("x")</script>'


def test_predictions_are_those_of_the_judged_model(classified):
    found, _ = classified
    rows = pl.read_parquet(found.folder / "predictions.parquet")
    raw = read_table(found.folder.parent / "orders.csv")
    test = rows.filter(pl.col("part") == "test")
    assert len(test) == found.facts["test"]["rows"]
    again = predict_table(found.folder / "judged.learnt", raw[test["row"].to_numpy()])
    assert again["prediction"].to_list() == test["prediction"].to_list()
    wrong = (test["prediction"] != test["outcome"]).mean()
    assert wrong == pytest.approx(found.facts["test"]["error_at_threshold"])
    assert rows.filter(pl.col("part") == "out of fold")["row"].n_unique() == found.facts["seal"]["development_rows"]


def test_a_moved_model_predicts_raw_tables_with_missing_and_strange_cells(classified, tmp_path):
    found, _ = classified
    moved = tmp_path / "elsewhere.learnt"
    moved.write_bytes(found.model_path.read_bytes())
    raw = read_table(found.folder.parent / "orders.csv").drop("outcome", "row_id")
    strange = raw[:3].with_columns(town=pl.Series(["Atlantis", None, ""]), price=pl.Series(["a lot", "$1k", None]))
    with pytest.raises(StudyError, match="Row 1 of the column “price” holds “a lot”"):
        predict_table(moved, strange)
    predicted = predict_table(moved, strange, lenient=True)
    assert set(predicted["prediction"]) <= set(found.facts["classes"])
    np.testing.assert_allclose(predicted.select(pl.sum_horizontal(pl.selectors.starts_with("p("))).to_series(), 1.0)
    with pytest.raises(StudyError, match="lacks the column “town”"):
        predict_table(moved, raw.drop("town"))


def test_the_final_model_has_seen_every_row_and_the_judged_one_every_development_row(classified, regressed):
    for found in (classified[0], regressed):
        facts, folder = found.facts, found.folder
        assert facts["model"]["rows"] == facts["data"]["rows_used"] == 420
        assert facts["model"]["judged_rows"] == facts["seal"]["development_rows"] < 420
        assert facts["model"]["final"] == "all"
        assert not facts["race"]["halved"]
        assert (folder / "judged.learnt").read_bytes() != found.model_path.read_bytes()
        report = found.report.path.read_text(encoding="utf-8")
        assert "belong to <code>judged.learnt</code>" in report
        assert "refitted on all 420 labelled rows" in report


@pytest.mark.long
def test_final_judged_keeps_the_model_as_it_was_and_reuses_every_fit(regressed, tmp_path):
    out = tmp_path / "out"
    out.mkdir()
    (out / "journal.jsonl").write_bytes((regressed.folder / "journal.jsonl").read_bytes())
    kept = study(
        regressed.folder.parent / "prices.parquet", "price", out=out, budget=600, final="judged", prefer="simple"
    )
    assert not (out / "judged.learnt").exists()
    assert kept.facts["model"]["rows"] == kept.facts["model"]["judged_rows"] == kept.facts["seal"]["development_rows"]
    assert kept.facts["choice"]["prefer"] == "simple"
    assert kept.facts["chosen"]["id"] == regressed.facts["choice"]["simple"]["id"]
    fits = [line for line in (out / "journal.jsonl").read_bytes().splitlines() if b'"kind":"fit"' in line]
    assert len(fits) == len(set(fits))  # nothing was fitted again


def test_both_choices_and_the_cost_of_simplicity_are_reported(classified):
    choice, entries = classified[0].facts["choice"], classified[0].facts["race"]["entries"]
    finished = [e for e in entries if "loss" in e]
    assert choice["best"]["id"] == finished[0]["id"]
    simple = next(e for e in finished if e["id"] == choice["simple"]["id"])
    chosen = next(e for e in finished if e["state"] == "chosen")
    assert choice["simplicity_costs"] == pytest.approx(simple["loss"] / chosen["loss"] - 1)
    said = f"log loss {simple['loss']:.3f} against {chosen['loss']:.3f}"
    assert simple is chosen or said in classified[0].report.path.read_text(encoding="utf-8")
    assert classified[0].facts["race"]["loss_name"] == "log loss"


def test_amounts_come_with_intervals_that_cover(regressed):
    test = regressed.facts["test"]
    assert test["rmse"]["low"] < 1.2
    assert test["r2"]["estimate"] > 0.9
    assert test["interval"]["covered"]["low"] <= 0.9 <= test["interval"]["covered"]["high"]
    assert regressed.facts["bracket"]["lower"] <= 1.1  # the noise has standard deviation 1
    rows = pl.read_parquet(regressed.folder / "predictions.parquet")
    assert {"prediction", "low", "high"} <= set(rows.columns)


@pytest.mark.long
def test_the_same_seed_gives_the_same_numbers_and_the_same_bytes_and_a_repetition_reuses_everything(
    regressed, tmp_path
):
    source = regressed.folder.parent / "prices.parquet"
    again = study(source, "price", out=tmp_path / "again", threads=1, budget=600)
    assert numbers(again.folder) == numbers(regressed.folder)
    assert again.model_path.read_bytes() == regressed.model_path.read_bytes()
    said = []
    third = study(source, "price", out=tmp_path / "again", say=said.append, budget=600)
    assert numbers(third.folder) == numbers(regressed.folder)
    assert third.facts["run"]["reused"] > 30
    assert said[0].startswith("Resuming")
    assert third.facts["test"]["use"] == regressed.facts["test"]["use"]  # the same question is not a new use


@pytest.mark.long
def test_killed_in_the_middle_it_continues_and_loses_nothing(tmp_path):
    table(n=900).write_csv(tmp_path / "t.csv")
    command = [sys.executable, "-m", "learnt.cli", "study", "t.csv", "--target", "y", "--out", "killed", "--quiet"]
    command += ["--budget", "10m"]  # the clock must not decide here, whatever else the machine does
    journal = tmp_path / "killed" / "journal.jsonl"
    process = subprocess.Popen(command, cwd=tmp_path, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
    deadline = time.monotonic() + 600
    while time.monotonic() < deadline and (not journal.exists() or journal.read_bytes().count(b"\n") < 4):
        time.sleep(0.005)
    process.kill()
    assert process.wait() == -signal.SIGKILL
    kept = journal.read_bytes()
    kept = kept[: kept.rfind(b"\n") + 1]
    assert kept.count(b"\n") >= 4
    assert not (tmp_path / "killed" / "study.json").exists()
    resumed = subprocess.run(command, cwd=tmp_path, capture_output=True, text=True, timeout=1200)
    assert resumed.returncode == 0, resumed.stderr
    assert resumed.stdout.strip().endswith(os.path.join("killed", "report.html"))
    after = journal.read_bytes()
    assert after.startswith(kept)
    names = [(json.loads(line)["kind"], json.loads(line)["name"]) for line in after.splitlines()]
    assert len(names) == len(set(names))  # nothing was worked out twice
    whole = study(tmp_path / "t.csv", "y", out=tmp_path / "whole", budget=600)
    assert numbers(tmp_path / "killed") == numbers(whole.folder)
    assert (tmp_path / "killed" / "model.learnt").read_bytes() == whole.model_path.read_bytes()


@pytest.mark.long
@pytest.mark.parametrize("step", ["ModelNotes.write", "write_facts", "write_report"])
def test_a_study_killed_while_writing_recognises_its_own_files(regressed, tmp_path, monkeypatch, step):
    from learnt.study import _conclude

    source, out = regressed.folder.parent / "prices.parquet", tmp_path / "out"
    out.mkdir()
    (out / "journal.jsonl").write_bytes((regressed.folder / "journal.jsonl").read_bytes())

    def killed(*arguments):
        raise KeyboardInterrupt

    with monkeypatch.context() as patch:
        patch.setattr(f"{_conclude.__name__}.{step}", killed)
        with pytest.raises(KeyboardInterrupt):
            study(source, "price", out=out, budget=600)
    assert (out / "study.json").exists() or not (out / "model.learnt").exists()
    again = study(source, "price", out=out, budget=600)
    assert numbers(out) == numbers(regressed.folder)
    assert again.model_path.read_bytes() == regressed.model_path.read_bytes()


def test_the_worker_dies_with_the_study(tmp_path):
    from learnt.study.race._layout import write_rows
    from learnt.study.race._remote import Worker

    frame = table(60)
    folds = [(np.arange(30), np.arange(30, 60))]
    write_rows(tmp_path, frame.drop("y"), (frame["y"] == "yes").to_numpy().astype(int), folds, ["no", "yes"], 0)
    with Worker(tmp_path) as worker:
        worker.start()
        process = worker._process
        assert process.poll() is None
        process.stdin.close()  # all that a killed study leaves behind
        assert process.wait(timeout=600) == 0


@pytest.mark.long
def test_the_third_use_of_a_test_set_is_reported_and_widens_the_interval(classified, tmp_path, monkeypatch):
    first = classified[0]
    monkeypatch.setenv("LEARNT_LEDGER", str(tmp_path / "ledger.jsonl"))  # other tests study this table too
    for question in ("the first one's question", "somebody else's question"):
        record_opening(first.facts["seal"]["hash"], question, "orders", tmp_path / "spare")
    said = []
    third = study(first.folder.parent / "orders.csv", "outcome", out=tmp_path / "third", say=said.append, budget=600)
    assert [first.facts["test"]["use"], third.facts["test"]["use"]] == [1, 3]
    assert third.facts["test"]["level"] == pytest.approx(1 - 0.05 / 3)
    assert any(s.startswith("3rd use of this test set") for s in said)
    assert "3rd use of this test set" in third.report.path.read_text(encoding="utf-8")
    width = [f.facts["test"]["auc"]["high"] - f.facts["test"]["auc"]["low"] for f in (first, third)]
    assert width[0] < width[1]


@pytest.mark.long
def test_a_budget_too_short_ends_in_time_and_reports_what_was_skipped(tmp_path):
    rng = np.random.default_rng(0)
    n = 60_000
    frame = pl.DataFrame({f"x{k}": rng.normal(size=n) for k in range(30)})
    frame = frame.with_columns(y=pl.Series(np.where(frame["x0"] + rng.normal(size=n) > 0, "yes", "no")))
    started, used = time.monotonic(), sum(os.times()[:4])
    found = study(frame, "y", out=tmp_path / "short", budget=8.0)
    # 8 s and the start of processes; on a busy machine by the processor's time
    assert min(time.monotonic() - started, sum(os.times()[:4]) - used) < 40
    assert found.report.path.exists()
    states = {e["state"] for e in found.facts["race"]["entries"]}
    assert states & {"skipped", "behind"}
    assert all(e["note"] for e in found.facts["race"]["entries"] if e["state"] == "skipped")


@pytest.mark.long
def test_groups_and_many_classes(tmp_path):
    rng = np.random.default_rng(2)
    x = rng.normal(size=(400, 2))
    y = np.digitize(x[:, 0] + 0.3 * rng.normal(size=400), [-0.6, 0.6])
    frame = pl.DataFrame({"a": x[:, 0], "b": x[:, 1], "who": np.arange(400) // 10, "y": y})
    found = study(frame, "y", out=tmp_path / "m", group="who")
    assert found.facts["classes"] == [0, 1, 2]
    assert found.beats_constant
    assert "groups" in found.facts["seal"]["how"]
    assert found.facts["test"]["auc"]["estimate"] > 0.8
    with pytest.raises(StudyError, match="two classes"):
        study(frame, "y", out=tmp_path / "n", cost=(1.0, 2.0))


def test_what_cannot_be_written_or_named_is_refused(tmp_path):
    (tmp_path / "file").write_text("")
    with pytest.raises(StudyError, match="cannot be written"):
        study(table(), "y", out=tmp_path / "file")
    with pytest.raises(StudyError, match="target=…"):
        study(table(), None, out=tmp_path / "x")
    with pytest.raises(StudyError, match="no column"):
        study(table(), "yy", out=tmp_path / "x")


def test_the_shipped_example_ends_in_a_report_that_knows_the_truth(tmp_path):
    found = study(out=tmp_path / "example")
    facts = found.facts
    assert found.beats_constant
    assert facts["example"]["bayes_error"] == pytest.approx(0.0956, abs=1e-3)
    assert (
        facts["ceiling"]["bayes_error"]["low"]
        <= facts["example"]["bayes_error"]
        <= facts["ceiling"]["bayes_error"]["high"]
    )
    assert {e["column"] for e in facts["data"]["set_aside"]} == {"delivery_id", "refund"}
    assert facts["data"]["time"] == "ordered_at"
    assert found.report.path.stat().st_size < 300_000
