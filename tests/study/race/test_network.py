"""A neural network in the race: only where it is worth its time and PyTorch is there; its file needs no PyTorch."""

import subprocess
import sys

import numpy as np
import polars as pl
import pytest

from learnt.study.race import _candidates
from learnt.study.race._bench import Bench
from learnt.study.race._candidates import candidates_for
from learnt.study.race._layout import write_rows
from learnt.study.race._recipe import alone


def networks(rows, classes):
    return [c for c in candidates_for("classify", rows, classes) if c.family.name == "neural network"]


@pytest.fixture(autouse=True)
def _everybody(monkeypatch):
    monkeypatch.delenv("LEARNT_STUDY_BRIEF", raising=False)


def test_it_races_where_rows_and_classes_are_many_and_torch_is_installed(monkeypatch):
    assert len(networks(2000, 3)) == 2
    assert networks(1999, 3) == networks(2000, 2) == []
    entries = candidates_for("classify", 2000, 26)
    leaders = [c for c in entries if c.leads]
    assert leaders[-1].family.name == "neural network"  # after everybody who needs less time
    monkeypatch.setattr(_candidates, "find_spec", lambda name: None)
    assert networks(2000, 3) == []


def test_the_saved_model_predicts_without_torch(tmp_path):
    rng = np.random.default_rng(0)
    n, centers = 600, rng.normal(scale=3, size=(3, 4))
    y = rng.integers(0, 3, n)
    X = centers[y] + rng.normal(size=(n, 4))
    frame = pl.DataFrame({**{f"x{k}": X[:, k] for k in range(4)}, "town": rng.choice(["Oslo", "Rome"], n)})
    write_rows(tmp_path, frame, y, [(np.arange(400), np.arange(400, n))], ["a", "b", "c"], 0)
    bench = Bench(tmp_path)
    spec = networks(2000, 3)[0].spec()
    found = bench.evaluate(spec, 0, 400, 400)
    best = np.exp(-0.5 * ((X[400:, None] - centers) ** 2).sum(axis=2))  # the density the rows were drawn from
    bayes = -np.log(best[np.arange(n - 400), y[400:]] / best.sum(axis=1)).mean()
    assert found["curve"][0] < bayes + 0.3  # the constant has 1.1
    bench.fit(alone(spec), str(tmp_path / "model.learnt"))
    frame.write_parquet(tmp_path / "t.parquet")
    code = """
import sys

class Missing:
    def find_spec(self, name, path=None, target=None):
        if name.partition(".")[0] == "torch":
            raise ModuleNotFoundError("No module named 'torch'", name="torch")

sys.meta_path.insert(0, Missing())
import numpy as np, polars as pl, learnt
model = learnt.load(sys.argv[1])
predicted = model.predict_proba(pl.read_parquet(sys.argv[2]))
np.save(sys.argv[3], predicted)
assert "torch" not in sys.modules
"""
    paths = [str(tmp_path / name) for name in ("model.learnt", "t.parquet", "p.npy")]
    done = subprocess.run([sys.executable, "-c", code, *paths], capture_output=True, text=True, timeout=600)
    assert done.returncode == 0, done.stderr
    predicted = np.load(tmp_path / "p.npy")
    assert predicted.shape == (n, 3)
    assert np.mean(predicted.argmax(axis=1) == y) > 0.9
