"""What a study loads before its first fit: nothing that takes long and is not needed by then."""

import json
import os
import subprocess
import sys

import numpy as np
import polars as pl
import pytest

HEAVY = (
    "IPython",
    "jinja2",
    "learnt.cluster",
    "learnt.decomposition",
    "learnt.ensemble._common",
    "learnt.erm",
    "learnt.forestry",
    "learnt.kernels",
    "learnt.linear_model",
    "learnt.neighbors",
    "learnt.neural_network",
    "learnt.svm",
    "learnt.tree",
    "matplotlib",
    "numba",
    "numpy.f2py.f2py2e",
    "pandas.core",
    "pyarrow",
    "pydantic",
    "scipy.integrate._quadpack_py",
    "scipy.interpolate._bsplines",
    "scipy.optimize._optimize",
    "scipy.stats._stats_py",
    "sklearn.ensemble",
    "sklearn.linear_model",
    "sklearn.metrics._classification",
    "sklearn.model_selection._split",
    "sklearn.neighbors",
    "torch",
)
STUDY = """
import json, sys
import learnt.cli
from learnt.cli._run import run
from learnt.engine.late_import import import_late_in_our_processes
import_late_in_our_processes()
from learnt.study import _run

def instead(*arguments, **options):
    with open(sys.argv[2], "w") as file:
        json.dump(sorted(sys.modules), file)
    raise SystemExit(9)

_run.BackgroundCall.start = lambda self: None  # what runs beside the race need not be loaded before it
_run.compile_ahead = lambda *arguments: 0.0
_run.run_race = instead
sys.exit(run(["study", sys.argv[1], "--target", "y", "--out", sys.argv[3], "--quiet"]))
"""
WORKER = """
import json, sys
import learnt.study.race._worker as worker
from pathlib import Path

def instead(self, **order):
    with open(sys.argv[2], "w") as file:
        json.dump(sorted(sys.modules), file)
    raise SystemExit(9)

from learnt.engine.late_import import import_late_in_our_processes
import_late_in_our_processes()
import numpy as np, polars as pl
from learnt.engine.kernel import compiler as kernel_compiler
from learnt.study.race._bench import Bench
from learnt.study.race._layout import write_rows
from learnt.study.race._candidates import candidates_for
frame = pl.read_csv(sys.argv[1])
folds = [(np.arange(100), np.arange(100, 200))]
write_rows(Path(sys.argv[3]), frame.drop("y"), (frame["y"] == "a").to_numpy().astype(int), folds, ["a", "b"], 0)
bayes = next(c for c in candidates_for("classify") if c.family.name == "naive Bayes")  # compiles nothing
result = Bench(Path(sys.argv[3])).evaluate(bayes.spec(), 0, 100, 100)
assert result["rows"] == 100
instead(None)
"""


ONLY_LATER = (
    "learnt.metrics",
    "learnt.persistence",
    "learnt.statistics",
    "learnt.study.race._bench",
    "asyncio.base_events",
    "psutil._common",
    "scipy.linalg._basic",
    "scipy.sparse.linalg._interface",
    "scipy.spatial",
    "scipy.special._ufuncs",
)  # in the process of the study itself


@pytest.mark.parametrize("process", ["study", "worker"])
def test_nothing_heavy_is_loaded_before_the_first_fit(tmp_path, process):
    rng = np.random.default_rng(0)
    frame = pl.DataFrame({"x": rng.normal(size=200), "town": rng.choice(["Oslo", "Rome"], 200), "y": ["a", "b"] * 100})
    frame.write_csv(tmp_path / "t.csv")
    code = STUDY if process == "study" else WORKER
    paths = [str(tmp_path / name) for name in ("t.csv", "modules.json", "out")]
    environment = {**os.environ, "LEARNT_LEDGER": str(tmp_path / "ledger.jsonl")}
    done = subprocess.run(
        [sys.executable, "-c", code, *paths], capture_output=True, text=True, timeout=600, env=environment
    )
    assert done.returncode == 9, done.stderr
    loaded = json.loads((tmp_path / "modules.json").read_text())
    assert "polars" in loaded  # it is the list of that process
    parts = HEAVY + ONLY_LATER if process == "study" else HEAVY
    heavy = {name for name in loaded for part in parts if name == part or name.startswith(f"{part}.")}
    assert not heavy, f"loaded before the first fit: {sorted(heavy)[:20]}"
