"""What editors and type checkers know of the public names: `tests/typing`."""

import importlib
import json
import subprocess
import sys
from pathlib import Path

import pytest
from sklearn.base import BaseEstimator

import learnt
from learnt.engine.documentation.sections import entries, names_of, split

ROOT = Path(__file__).resolve().parent.parent
SCRIPT = Path(__file__).parent / "typing" / "user_script.py"
METHODS = ("fit", "predict", "predict_proba", "transform", "fit_transform", "fit_predict", "score", "set_params")


def pyright(folder, path, **options):
    """The errors of basedpyright on a file, as (line, rule, message)."""
    settings = {"include": [str(path)], "extraPaths": [str(ROOT / "src")], **options}
    (folder / "pyrightconfig.json").write_text(json.dumps(settings))
    command = [sys.executable, "-m", "basedpyright", "--outputjson", "--pythonpath", sys.executable, "-p", str(folder)]
    done = subprocess.run(command, capture_output=True, text=True, timeout=1200)
    found = json.loads(done.stdout)
    assert found["summary"]["filesAnalyzed"] >= 1, done.stderr
    return [
        (each["range"]["start"]["line"], each.get("rule"), each["message"])
        for each in found["generalDiagnostics"]
        if each["severity"] == "error"
    ]


def test_the_script_of_a_first_day_runs():
    done = subprocess.run([sys.executable, str(SCRIPT)], capture_output=True, text=True, timeout=1200)
    assert done.returncode == 0, done.stderr
    assert len(done.stdout.splitlines()) >= 10


@pytest.mark.long
def test_it_is_clean_in_strict_pyright(tmp_path):
    assert pyright(tmp_path, SCRIPT, typeCheckingMode="strict") == []


@pytest.mark.long
def test_it_is_clean_in_strict_mypy(tmp_path):
    command = [sys.executable, "-m", "mypy", "--strict", "--ignore-missing-imports", "--cache-dir", str(tmp_path)]
    done = subprocess.run([*command, str(SCRIPT)], capture_output=True, text=True, cwd=tmp_path, timeout=1200)
    assert done.returncode == 0, done.stdout


@pytest.mark.long
def test_editors_complete_every_documented_attribute_and_method(tmp_path):
    lines = ["from typing import Any"]
    for room in learnt._ESTIMATORS:
        module = importlib.import_module(f"learnt.{room}")
        for name in module.__all__:
            cls = getattr(module, name)
            if isinstance(cls, type) and issubclass(cls, BaseEstimator) and cls.__module__.startswith("learnt."):
                lines.append(f"from learnt.{room} import {name}")
                listed = entries(split(cls.__doc__).sections["Attributes"])
                known = [
                    a for entry in listed for a in names_of(entry) if a not in ("n_features_in_", "feature_names_in_")
                ]
                known += [method for method in METHODS if hasattr(cls, method)]
                lines += [f"def {name}_{k}(model: {name}) -> Any: return model.{a}" for k, a in enumerate(known)]
    path = tmp_path / "completed.py"
    path.write_text("\n".join(lines))
    assert len(lines) > 1500
    found = pyright(tmp_path, path, typeCheckingMode="basic")
    assert [(lines[line], message) for line, rule, message in found] == []
