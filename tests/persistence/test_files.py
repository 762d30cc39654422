"""`save`, `load` and `inspect` on a disk: whole files or none, and a description without loading."""

import json
import os
import stat
import sys

import numpy as np
import pandas as pd
import pytest
from sklearn.compose import ColumnTransformer
from sklearn.impute import SimpleImputer
from sklearn.pipeline import Pipeline, make_pipeline
from sklearn.preprocessing import OneHotEncoder, StandardScaler

import learnt
from learnt.persistence import FileSummary, LearntFileError, _files, inspect, load, save

X = np.random.default_rng(0).normal(size=(20, 3))


@pytest.fixture
def model():
    return StandardScaler().fit(X)


def test_a_path_is_all_it_takes(model, tmp_path):
    for path in (tmp_path / "a.learnt", str(tmp_path / "b"), str(tmp_path / "with space and é.learnt")):
        assert save(model, path) is None
        np.testing.assert_array_equal(load(path).transform(X), model.transform(X))
    assert learnt.save is save
    assert learnt.load is load


def test_only_the_file_is_left(model, tmp_path):
    save(model, tmp_path / "m")
    save(model, tmp_path / "m")
    assert os.listdir(tmp_path) == ["m"]


def test_a_failed_save_leaves_the_old_file_and_nothing_else(model, tmp_path, monkeypatch):
    path = tmp_path / "m"
    save(model, path)
    before = path.read_bytes()
    with pytest.raises(LearntFileError, match="steps"):
        save(Pipeline([("f", StandardScaler()), ("g", _Unknown())]), path)

    def full(*_):
        raise OSError(28, "No space left on device")

    for name in ("fsync", "replace"):
        with monkeypatch.context() as patch:
            patch.setattr(os, name, full)
            with pytest.raises(LearntFileError, match=r"No space left on device\.$"):
                save(StandardScaler().fit(X[:5]), path)
        assert os.listdir(tmp_path) == ["m"]
        assert path.read_bytes() == before


def test_an_interrupted_save_cleans_up(model, tmp_path, monkeypatch):
    def interrupted(*_):
        raise KeyboardInterrupt

    monkeypatch.setattr(os, "replace", interrupted)
    with pytest.raises(KeyboardInterrupt):
        save(model, tmp_path / "m")
    assert os.listdir(tmp_path) == []


class _Unknown(StandardScaler):
    pass


def test_permissions_are_those_of_any_new_file_and_are_kept(model, tmp_path):
    old = os.umask(0o027)
    try:
        save(model, tmp_path / "m")
    finally:
        os.umask(old)
    assert stat.S_IMODE(os.stat(tmp_path / "m").st_mode) == 0o640
    os.chmod(tmp_path / "m", 0o604)
    save(model, tmp_path / "m")
    assert stat.S_IMODE(os.stat(tmp_path / "m").st_mode) == 0o604


def test_a_link_keeps_pointing(model, tmp_path):
    (tmp_path / "real").mkdir()
    os.symlink(tmp_path / "real" / "m", tmp_path / "link")
    save(model, tmp_path / "link")
    assert (tmp_path / "link").is_symlink()
    assert load(tmp_path / "real" / "m").n_features_in_ == 3


@pytest.mark.parametrize("read", [load, inspect])
def test_what_is_no_file_is_refused(read, tmp_path):
    os.mkfifo(tmp_path / "pipe")
    for path, words in [
        (tmp_path, "it is a folder, not a file."),
        (tmp_path / "missing", "there is no such file."),
        (tmp_path / "pipe", "it is not a regular file."),
        ("/dev/zero", "it is not a regular file."),
        ("a\0b", "zero character"),
        (tmp_path / ("x" * 300), "name too long"),
    ]:
        with pytest.raises(LearntFileError) as caught:
            read(path)
        assert words in str(caught.value)
        assert "\n" not in str(caught.value)
    for path in (3, None, b"model", io_like()):
        with pytest.raises(TypeError, match="path is needed"):
            read(path)


def io_like():
    import io

    return io.BytesIO()


def test_what_cannot_be_written_is_refused(model, tmp_path):
    with pytest.raises(LearntFileError, match="create it first"):
        save(model, tmp_path / "no" / "m")
    with pytest.raises(LearntFileError, match="folder of that name"):
        save(model, tmp_path)
    for thing in (3, [model], {"a": 1}, None, StandardScaler, np.zeros(3)):
        with pytest.raises(LearntFileError, match=r"not an estimator|the class"):
            save(thing, tmp_path / "m")
    assert os.listdir(tmp_path) == []


def test_a_file_that_shrinks_while_it_is_read_is_refused(model, tmp_path, monkeypatch):
    save(model, tmp_path / "m")
    monkeypatch.setattr(_files.os, "fstat", lambda fd: os.stat_result((0o100644, 0, 0, 0, 0, 0, 10**6, 0, 0, 0)))
    with pytest.raises(LearntFileError, match="became shorter"):
        load(tmp_path / "m")


def test_no_code_runs_and_no_pickle_is_imported(model, tmp_path):
    """A fresh process loads a file with the pickle machinery taken away."""
    import subprocess

    save(make_pipeline(StandardScaler(), SimpleImputer()).fit(X), tmp_path / "m")
    script = f"""
import pickle
import numpy, sklearn.pipeline, sklearn.preprocessing, sklearn.impute, scipy.sparse
import learnt.persistence  # named tuples are made with eval
def never(*a, **k): raise SystemExit("pickle was used")
pickle.load = pickle.loads = pickle.Unpickler = never
import _pickle; _pickle.load = _pickle.loads = _pickle.Unpickler = never
import builtins; builtins.eval = never
import learnt
assert learnt.load({str(tmp_path / "m")!r}).n_features_in_ == 3
"""
    subprocess.run([sys.executable, "-c", script], check=True, timeout=60)


# --- inspect


@pytest.fixture
def pipeline():
    table = pd.DataFrame({"height": [1.0, 2.0, np.nan, 4.0], "town": ["Rome", "Oslo", "Rome", "Bern"]})
    columns = ColumnTransformer([("numbers", SimpleImputer(), ["height"]), ("towns", OneHotEncoder(), ["town"])])
    return make_pipeline(columns, StandardScaler(with_mean=False)).fit(table)


def test_inspect_describes_without_loading(pipeline, tmp_path, monkeypatch):
    import hashlib

    path = tmp_path / "m.learnt"
    save(pipeline, path)
    monkeypatch.setattr(_files, "Decoder", None)  # nothing is built
    summary = inspect(path)
    assert isinstance(summary, FileSummary)
    assert summary.model.cls == "sklearn.pipeline.Pipeline"
    first, second = summary.model.parts
    assert (first.name, first.cls) == ("columntransformer", "sklearn.compose.ColumnTransformer")
    assert [part.name for part in first.parts] == ["numbers", "towns"]
    assert second.params["with_mean"] == "False"
    assert second.attributes["scale_"] == "array(float64, (4,))"
    assert summary.feature_names == ["height", "town"]
    assert summary.n_features == 2
    assert summary.file_size == path.stat().st_size
    assert summary.sha256 == hashlib.sha256(path.read_bytes()).hexdigest()
    assert summary.versions["learnt"] == learnt.__version__
    assert {a.name: (a.dtype, a.shape, a.bytes) for a in summary.arrays}["steps[1][1].scale_"] == ("float64", (4,), 32)
    text = str(summary)
    for word in ("Pipeline", "OneHotEncoder", "height, town", summary.sha256, "numpy"):
        assert word in text
    assert json.loads(json.dumps(summary.as_dict()))["model"]["parts"][0]["name"] == "columntransformer"


def test_inspect_reads_many_feature_names(tmp_path):
    names = [f"column {i}" for i in range(3000)]
    save(StandardScaler().fit(pd.DataFrame(np.eye(3, 3000), columns=names)), tmp_path / "m")
    summary = inspect(tmp_path / "m")
    assert summary.feature_names == names
    assert "and 2,980 more" in str(summary)
    assert load(tmp_path / "m").feature_names_in_.tolist() == names


def test_inspect_refuses_what_load_refuses(pipeline, tmp_path):
    path = tmp_path / "m"
    save(pipeline, path)
    data = bytearray(path.read_bytes())
    for i in (9, 100, len(data) // 2, len(data) - 1):
        changed = bytes(data[:i]) + bytes([data[i] ^ 1]) + bytes(data[i + 1 :])
        path.write_bytes(changed)
        for read in (load, inspect):
            with pytest.raises(LearntFileError) as caught:
                read(path)
            assert "\n" not in str(caught.value)


def test_names_in_a_summary_are_one_line_each(tmp_path):
    save(StandardScaler().fit(pd.DataFrame(np.eye(2), columns=["two\nlines", "esc\x1b[31m"])), tmp_path / "m")
    text = str(inspect(tmp_path / "m"))
    assert "two?lines" in text
    assert "\x1b" not in text


def test_notes_written_into_a_file_give_the_bytes_of_a_model_saved_with_them(tmp_path):
    from learnt.linear_model import Ridge

    for fitted in (make_pipeline(StandardScaler(), Ridge()).fit(X, X[:, 0]), StandardScaler()):  # unfitted: no tensors
        save(fitted, tmp_path / "a.learnt", notes={"threshold": 0.5})
        save(fitted, tmp_path / "b.learnt")
        save(fitted, tmp_path / "wanted.learnt", notes={"names": ["a", "ü"]})
        for name in "ab":
            _files.write_notes(tmp_path / f"{name}.learnt", {"names": ["a", "ü"]})
            assert (tmp_path / f"{name}.learnt").read_bytes() == (tmp_path / "wanted.learnt").read_bytes()
    damaged = bytearray((tmp_path / "a.learnt").read_bytes())
    damaged[-9] ^= 1
    (tmp_path / "a.learnt").write_bytes(damaged)
    with pytest.raises(LearntFileError, match="damaged"):
        _files.write_notes(tmp_path / "a.learnt", {})
    assert (tmp_path / "a.learnt").read_bytes() == damaged
    with pytest.raises(LearntFileError, match="notes"):
        _files.write_notes(tmp_path / "b.learnt", {"x": float("nan")})


def test_notes_are_saved_with_the_model(tmp_path):
    from learnt.linear_model import Ridge

    model = Ridge().fit([[0.0], [1.0], [2.0]], [0.0, 1.0, 2.0])
    save(model, tmp_path / "with.learnt", notes={"threshold": 0.25, "names": ["a", "ü"], "none": None})
    save(model, tmp_path / "without.learnt")
    assert inspect(tmp_path / "with.learnt").notes == {"threshold": 0.25, "names": ["a", "ü"], "none": None}
    assert "threshold: 0.25" in str(inspect(tmp_path / "with.learnt"))
    assert inspect(tmp_path / "without.learnt").notes == {}
    assert load(tmp_path / "with.learnt").coef_ == load(tmp_path / "without.learnt").coef_
    for wrong in ({"x": float("nan")}, {"x": object()}, ["x"], {1: 2}):
        with pytest.raises(LearntFileError, match="notes"):
            save(model, tmp_path / "wrong.learnt", notes=wrong)
    assert not (tmp_path / "wrong.learnt").exists()
