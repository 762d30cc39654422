"""train.py: run in a fresh process it makes the model of the study again."""

import subprocess
import sys

import numpy as np
import polars as pl
import pytest

import learnt
from learnt.study import example_path, labelled_rows, read_table, study
from learnt.study.race._script import train_script


def trained(s, table, path):
    """The model that the script of a study makes of a table."""
    done = subprocess.run(
        [sys.executable, s.folder / "train.py", str(table), str(path)], capture_output=True, text=True, timeout=500
    )
    assert done.returncode == 0, done.stderr
    return learnt.load(path)


@pytest.mark.parametrize("which", ["classified", "regressed"])
def test_the_script_makes_the_same_predictions(which, request, tmp_path):
    found = request.getfixturevalue(which)
    s = found[0] if which == "classified" else found
    table = s.folder.parent / ("orders.csv" if which == "classified" else "prices.parquet")
    again, X = trained(s, table, tmp_path / "m.learnt"), read_table(table)
    ask = "predict_proba" if which == "classified" else "predict"
    assert np.array_equal(getattr(again, ask)(X), getattr(s.model, ask)(X))
    assert (s.folder / "train.py").read_text(encoding="utf-8") == s.code()
    assert len(s.code().splitlines()) < 60


@pytest.mark.long
def test_the_script_of_the_shipped_example_makes_the_same_predictions(tmp_path):
    s = study(budget="10m", out=tmp_path / "out")
    again, X = trained(s, example_path(), tmp_path / "m.learnt"), read_table(example_path())
    assert np.array_equal(again.predict_proba(X), s.model.predict_proba(X))


def facts(members, features=("a", "b"), classify=True, calibration=None):
    return {
        "chosen": {"label": "blend", "members": members, "calibration": calibration},
        "task": "classify" if classify else "regress",
        "settings": {"seed": 3, "header": None, "task": "auto"},
        "data": {"features": list(features)},
        "model": {"final": "all", "rows": 10},
        "decision": {"threshold": 0.3},
        "positive": 'a "quoted" one',
        "table": 't"""\\',
        "target": 'y "really"',
    }


BENT = {"exponent": 1.2345678901234567, "floor": 0.001, "offsets": [0.1234567890123456] * 20, "doubt": 0.01}


def member(k):
    params = {f"a_long_parameter_{j}": 0.1234567890123 for j in range(8)}
    how = {"encoding": "squash" if k % 2 else "raw", "scale": k % 3 == 0, "products": k == 4, "scale_target": False}
    return {"model": "learnt.svm.SVC", "params": params, **how, "weight": 1 / 6, "calibration": BENT}


@pytest.mark.parametrize("columns", [2, 40, 3000])
def test_the_largest_blend_takes_less_than_sixty_lines_of_python(columns):
    names = [f'a column "{k}" \\' for k in range(columns)]
    code = train_script(facts([member(k) for k in range(6)], names, calibration=BENT))
    assert len(code.splitlines()) < 60
    compile(code, "train.py", "exec")
    space = {}
    exec("columns = " + code.split("columns = ")[1].split("\ntable, y")[0], space)
    assert space["columns"] == names


def test_a_model_without_intercept_is_fitted_to_scaled_amounts():
    scaled = {**member(0), "scale_target": True, "calibration": None, "params": {"alpha": 1.0}}
    code = train_script(facts([scaled], classify=False))
    assert "TransformedTargetRegressor(model_1, transformer=StandardScaler(), check_inverse=False)" in code


def test_rows_with_a_target_are_those_of_the_study(classified, orders):
    rows, y = labelled_rows(read_table(orders), "outcome")
    assert len(rows) == len(y) == classified[0].facts["data"]["rows_used"]
    assert sorted(set(y.tolist())) == classified[0].facts["classes"]
    with_rare = pl.concat([read_table(orders), read_table(orders).head(2).with_columns(outcome=pl.lit("rare"))])
    assert len(labelled_rows(with_rare, "outcome")[1]) == len(y)
