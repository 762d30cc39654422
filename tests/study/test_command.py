"""`learnt study`, and what it leaves, in the hands of the commands that follow."""

import csv
import json
import os

from tests.study.conftest import EVIL, class_table, with_fits_of

from learnt.cli._run import run


def test_a_study_ends_with_the_path_of_its_report_and_its_model_predicts(sealed, tmp_path, monkeypatch, capfd):
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("LEARNT_LEDGER", str(tmp_path / "ledger.jsonl"))
    class_table().write_csv("t.csv")
    with_fits_of(sealed, tmp_path / "learnt-study-t")
    assert run(["study", "t.csv", "--target", "outcome", "--budget", "10m"]) == 0
    out, err = capfd.readouterr()
    assert out.rstrip().split("\n")[-1] == os.path.join("learnt-study-t", "report.html")
    assert os.path.exists(out.rstrip().split("\n")[-1])
    assert "can be predicted" in out
    assert "Sealed" in err

    new = class_table(20)
    new.drop("outcome").write_parquet("new.parquet")
    assert run(["predict", "learnt-study-t/model.learnt", "new.parquet"]) == 0
    printed = list(csv.reader(capfd.readouterr().out.splitlines()))
    assert len(printed) == 21
    assert printed[0] == ["prediction", f"p(no {EVIL})", "p(yes)", "unlike"]
    assert run(["predict", "learnt-study-t", "new.parquet", "--out", "p.csv", "--join"]) == 0
    assert capfd.readouterr().out.strip() == "p.csv"
    with open("p.csv", encoding="utf-8", newline="") as file:
        joined = list(csv.DictReader(file))
    assert list(joined[0])[:5] == new.columns[:5]
    assert sum(row["prediction"] == true for row, true in zip(joined, new["outcome"])) > 12
    assert run(["predict", "learnt-study-t", "new.parquet", "--out", "p.xyz"]) == 2
    assert ".parquet" in capfd.readouterr().err

    assert run(["inspect", "learnt-study-t"]) == 0
    shown = capfd.readouterr().out
    assert "can be predicted" in shown
    assert "TableEncoder" in shown
    assert run(["inspect", "learnt-study-t/model.learnt", "--json"]) == 0
    kind = json.loads(capfd.readouterr().out)["model"]["cls"]
    assert kind in ("sklearn.pipeline.Pipeline", "learnt.ensemble.VotingClassifier")  # one model, or a mean of several
