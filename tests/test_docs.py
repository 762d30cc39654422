"""What the documents say is true: their snippets run, and their lists are complete."""

import importlib
import os
import re
import subprocess
import sys
from functools import cache
from pathlib import Path

import pytest

import learnt

ROOT = Path(__file__).resolve().parent.parent


def snippets(name):
    return re.findall(r"```python\n(.*?)```", (ROOT / name).read_text(), flags=re.S)


@pytest.mark.parametrize(("name", "fewest"), [("README.md", 4), ("CONTRIBUTING.md", 1)])
def test_snippets_run_one_after_the_other(name, fewest, tmp_path):
    code = snippets(name)
    assert len(code) >= fewest
    done = subprocess.run(
        [sys.executable, "-c", "\n".join(code)], cwd=tmp_path, capture_output=True, text=True, timeout=1200
    )
    assert done.returncode == 0, done.stderr


PLACES = ["numpy", "torch", "strict", "parquet", "dask"]


def rows_in(place, X, y, w, folder):
    if place == "torch":
        import torch

        return torch.asarray(X), torch.asarray(y), torch.asarray(w)
    if place == "strict":
        import array_api_strict as xp

        return tuple(xp.asarray(part, device=xp.Device("device1")) for part in (X, y, w))
    if place == "parquet":
        import polars as pl

        pl.DataFrame(X, schema=["a", "b", "c"]).with_columns(y=pl.Series(y), w=pl.Series(w)).write_parquet(
            folder / "t.parquet"
        )
        table = learnt.scan(folder / "t.parquet")
        return table.drop("y", "w"), table["y"], table["w"]
    if place == "dask":
        import dask.array as da

        return da.from_array(X, chunks=(40, 3)), da.from_array(y, chunks=40), da.from_array(w, chunks=40)
    return X, y, w


@pytest.mark.parametrize("place", PLACES)
def test_the_worked_example_of_contributing_runs_wherever_the_rows_are_stored(place, tmp_path, monkeypatch):
    """The snippets of CONTRIBUTING.md as a module, so that Dask can send its functions about."""
    import numpy as np
    from sklearn.neighbors import NearestCentroid as Oracle

    (tmp_path / "nearest_mean_example.py").write_text("\n".join(snippets("CONTRIBUTING.md")))
    monkeypatch.syspath_prepend(tmp_path)
    monkeypatch.delitem(sys.modules, "nearest_mean_example", raising=False)
    from nearest_mean_example import NearestMean

    from learnt.engine.arrays import to_numpy

    rng = np.random.default_rng(0)
    X, y = rng.normal(size=(120, 3)), np.repeat([0, 1, 2, 7], 30)
    X += y[:, None]
    w = np.where(y == 2, 0.0, rng.uniform(0.5, 2, 120))
    data, labels, weights = rows_in(place, X, y, w, tmp_path)

    oracle = Oracle().fit(X, y)
    model = NearestMean().fit(data, labels)
    np.testing.assert_allclose(model.centroids_, oracle.centroids_)
    predicted = model.predict(data)
    predicted = predicted.compute() if place == "dask" else to_numpy(predicted)
    np.testing.assert_array_equal(predicted, oracle.predict(X))
    assert model.score(data, labels) == pytest.approx(oracle.score(X, y))

    weighted = NearestMean().fit(data, labels, weights)  # a class without weight is not there
    assert weighted.classes_.tolist() == [0, 1, 7]
    expected = [np.average(X[y == label], axis=0, weights=w[y == label]) for label in (0, 1, 7)]
    np.testing.assert_allclose(weighted.centroids_, expected)


def prose(name):
    """A document without its snippets and without the rows of a table that say what is not done."""
    text = re.sub(r"```.*?```", "", (ROOT / name).read_text(), flags=re.S)
    if name == "docs/coverage.md":
        return "\n".join(line for line in text.splitlines() if line.startswith("|") and "| done |" in line)
    return text


# What the documents name and is not ours: shell, places to fill in, other libraries, what a page asks to be written.
ELSEWHERE = {"sudo", "chromium", "ulimit", "FAMILY", "MODEL", "TABLE", "FILE", "Y", "w", "plt", "prange"}
ELSEWHERE |= {"01_problem.py", "docs/course/NN_name.py", "examples/*.py", "docs/*.md", "api/learnt.cluster.KMeans.html"}
ELSEWHERE |= {
    "docs/_build/html",
    "train.py",
    "docs/_build/html/index.html",
    "dd.get_dummies",
    "torch.cuda.synchronize()",
    "nls",
    "nproc",
}
ELSEWHERE |= {"check_estimator", "OneVsRestClassifier", "NearestMean", "tests/neighbors/test_nearest_mean.py"}


def is_there(name, words):
    """Whether a name in backticks stands for something: a file, or words of the code."""
    in_a_folder = name.startswith((".ci/", "tests/", "src/", "docs/", "examples/", "benchmarks/"))
    if in_a_folder or re.fullmatch(r"[\w/]+\.(py|md)", name):
        folders = [ROOT, ROOT / "src/learnt", *(ROOT / "src/learnt").glob("*/")]
        return any((folder / name).exists() for folder in folders)
    if name.endswith("*"):
        return any(word.startswith(name[:-1]) for word in words)
    return all(word in words for word in re.findall(r"[A-Za-z_]\w*", re.sub(r"\(.*\)|\"[^\"]*\"|=.*", "", name)))


PAGES = [
    path for folder in (".", "start", "guide", "develop") for path in sorted((ROOT / "docs" / folder).glob("*.md"))
]
DOCUMENTS = ["README.md", "CONTRIBUTING.md", *(path.relative_to(ROOT).as_posix() for path in PAGES)]
SCRIPTS = sorted([*(ROOT / "examples").glob("*.py"), *(ROOT / "docs/course").glob("*.py")])


@cache
def words_of_the_code():
    code = [*(ROOT / "src").rglob("*.py"), ROOT / "pyproject.toml", ROOT / "Makefile"]
    return frozenset(re.findall(r"\w+", "\n".join(path.read_text() for path in code))) | ELSEWHERE


@pytest.mark.parametrize("document", DOCUMENTS)
def test_what_is_named_is_there(document):
    words = words_of_the_code()
    names = set(re.findall(r"`([^`\n]+)`", prose(document))) - ELSEWHERE
    assert sorted(name for name in names if not is_there(name, words | ELSEWHERE)) == []


@pytest.mark.parametrize("room", sorted(path.parent.name for path in (ROOT / "src/learnt").glob("*/__init__.py")))
def test_what_a_room_lists_is_in_it(room):
    """Lines `name, name    what it is` of a room's own page name its modules and public names."""
    module = importlib.import_module(f"learnt.{room}")
    folder = ROOT / "src/learnt" / room
    listed = re.findall(r"(?m)^\s*([\w, ]+?),?\s{2,}\S", "\n".join((module.__doc__ or "").splitlines()[1:]))
    names = {name for line in listed for name in re.split(r",\s*", line.strip()) if name.isidentifier()}
    assert sorted(name for name in names if not (hasattr(module, name) or list(folder.glob(f"{name}*")))) == []


GIVEN = """
import numpy as np

X = np.random.default_rng(0).normal(size=(200, 3))
y = (X[:, 0] > 0).astype(int)
frame, frame_val, y_val, X_new = X, X[:50], y[:50], X[:5]
"""


@pytest.fixture
def run_here(tmp_path, monkeypatch, capsys):
    """Run a script in this process, which has imported what all of them import; what it prints."""
    import matplotlib

    matplotlib.use("Agg")
    from matplotlib import pyplot as plt

    monkeypatch.chdir(tmp_path)
    monkeypatch.syspath_prepend(str(ROOT / "examples"))  # a script finds what is beside it
    monkeypatch.setenv("LEARNT_LEDGER", str(tmp_path / "ledger.jsonl"))
    monkeypatch.setenv("LEARNT_PROGRESS", "off")
    monkeypatch.setattr(plt, "show", lambda: plt.close("all"))

    def run(code, name):
        exec(compile(code, str(name), "exec"), {"__name__": "__main__", "__file__": str(name)})
        return capsys.readouterr().out

    yield run
    plt.close("all")


# These start processes, which read the script again: they need one of their own.
WITH_PROCESSES = {"16_convolutions_and_distributed.py", "digits_by_a_cnn.py", "docs/guide/clusters.md"}


def run_apart(path, tmp_path):
    settings = {**os.environ, "MPLBACKEND": "Agg", "LEARNT_LEDGER": str(tmp_path / "ledger.jsonl")}
    done = subprocess.run(
        [sys.executable, str(path)], cwd=tmp_path, env=settings, capture_output=True, text=True, timeout=1200
    )
    assert done.returncode == 0, done.stderr
    return done.stdout


@pytest.mark.long
@pytest.mark.parametrize("document", [name for name in DOCUMENTS if name.startswith("docs/") and snippets(name)])
def test_snippets_of_the_docs_run(document, tmp_path, run_here):
    """After some data, which short ones take as given."""
    code = "\n".join([GIVEN, *snippets(document)])
    if document in WITH_PROCESSES:
        path = tmp_path / "snippets.py"
        path.write_text(code)
        run_apart(path, tmp_path)
    else:
        run_here(code, document)


@pytest.mark.long
@pytest.mark.parametrize("path", SCRIPTS, ids=lambda p: p.name)
def test_examples_and_chapters_run(path, tmp_path, run_here):
    if path.name in WITH_PROCESSES:
        said = run_apart(path, tmp_path)
    else:
        said = run_here(path.read_text(), path)
    assert said.strip()


def test_importing_learnt_imports_no_room():
    code = (
        "import sys, learnt; print(sorted(m for m in sys.modules if m.split('.')[0] in ('learnt', 'numpy', 'sklearn')))"
    )
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert done.stdout.strip() == "['learnt', 'learnt._version']"


@pytest.mark.long
@pytest.mark.parametrize(
    "room",
    ["linear_model", "naive_bayes", "neighbors", "cluster", "decomposition", "preprocessing", "baseline", "inverse"],
)
def test_a_room_imports_no_other_estimators(room):
    code = f"import sys, learnt.{room}; print(*sys.modules)"
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    modules = done.stdout.split()
    rooms = {m.split(".")[1] for m in modules if m.startswith("learnt.")}
    beneath = {"_version", "engine", "linalg", "statistics", "distances", "drawing", "kernels", "erm", "metrics"}
    beneath.add("explanation")  # knows models by their attributes, and imports none
    assert rooms <= {*beneath, room}
    # scikit-learn itself may import pandas; these are ours to leave alone until they are needed
    assert {"numba", "polars", "dask", "torch", "jinja2", "typer"}.isdisjoint(modules)


def test_every_public_name_exists():
    for name in learnt.__all__:
        assert getattr(learnt, name) is not None
    with pytest.raises(AttributeError, match="no attribute 'nonsense'"):
        learnt.nonsense  # noqa: B018


def test_the_count_of_the_coverage_page_is_that_of_its_rows():
    page = (ROOT / "docs/coverage.md").read_text()
    states = re.findall(r"(?m)^\| \d+\.\d+ \|.*\| (done|partly|not yet) \|", page)
    expected = ", ".join(f"{states.count(state)} {state}" for state in ("done", "partly", "not yet"))
    assert expected in page
