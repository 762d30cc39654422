"""What the documents say is true: their snippets run, and their lists are complete."""

import re
import subprocess
import sys
from pathlib import Path

import pytest

import learnt

ROOT = Path(__file__).resolve().parent.parent


def snippets(name):
    return re.findall(r"```python\n(.*?)```", (ROOT / name).read_text(), flags=re.S)


@pytest.mark.parametrize(("name", "fewest"), [("README.md", 5), ("CONTRIBUTING.md", 2)])
def test_snippets_run_one_after_the_other(name, fewest, tmp_path):
    code = snippets(name)
    assert len(code) >= fewest
    done = subprocess.run(
        [sys.executable, "-c", "\n".join(code)], cwd=tmp_path, capture_output=True, text=True, timeout=300
    )
    assert done.returncode == 0, done.stderr


def test_the_worked_example_of_contributing_is_a_good_estimator():
    import numpy as np
    from sklearn.neighbors import NearestCentroid as Oracle

    scope = {}
    for code in snippets("CONTRIBUTING.md"):
        exec(code, scope)
    rng = np.random.default_rng(0)
    X, y = rng.normal(size=(90, 3)), np.repeat([0, 1, 2], 30)
    X += y[:, None]
    model = scope["NearestCentroid"]().fit(X, y)
    oracle = Oracle().fit(X, y)
    np.testing.assert_allclose(model.centroids_, oracle.centroids_)
    np.testing.assert_array_equal(model.predict(X), oracle.predict(X))


@pytest.mark.parametrize("path", sorted((ROOT / "examples").glob("*.py")), ids=lambda p: p.name)
def test_examples_run(path, tmp_path):
    done = subprocess.run([sys.executable, str(path)], cwd=tmp_path, capture_output=True, text=True, timeout=300)
    assert done.returncode == 0, done.stderr
    assert done.stdout.strip()


def test_importing_learnt_imports_no_room():
    code = (
        "import sys, learnt; print(sorted(m for m in sys.modules if m.split('.')[0] in ('learnt', 'numpy', 'sklearn')))"
    )
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert done.stdout.strip() == "['learnt', 'learnt._version']"


@pytest.mark.parametrize(
    "room",
    ["linear_model", "naive_bayes", "neighbors", "cluster", "decomposition", "preprocessing", "baseline", "inverse"],
)
def test_a_room_imports_no_other_estimators(room):
    code = f"import sys, learnt.{room}; print(*sys.modules)"
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    modules = done.stdout.split()
    rooms = {m.split(".")[1] for m in modules if m.startswith("learnt.")}
    assert rooms <= {"_version", "engine", "erm", "metrics", room}
    # scikit-learn itself may import pandas; these are ours to leave alone until they are needed
    assert {"numba", "polars", "dask", "torch", "jinja2", "typer"}.isdisjoint(modules)


def test_every_public_name_exists():
    for name in learnt.__all__:
        assert getattr(learnt, name) is not None
    with pytest.raises(AttributeError, match="no attribute 'nonsense'"):
        learnt.nonsense  # noqa: B018
