"""One file is enough: an estimator that nobody else names is checked, saved, loaded, warmed up and listed.

The estimator is the worked example of CONTRIBUTING.md, as a room of its own.
"""

import importlib.util
import re
import runpy
import sys
from importlib import import_module
from pathlib import Path

import numpy as np
import pytest

from learnt.engine.estimator import NUMBERS_ALONE, Estimator, Takes, Trial, Warm, target_of, warmup_of
from learnt.engine.schema import CLASSES, Schema, real
from learnt.engine.validation import check_fit, check_predict
from learnt.persistence import LearntFileError, _registry
from learnt.persistence._files import load_bytes, to_bytes

ROOT = Path(__file__).resolve().parent.parent
ROOM = "nearest_mean_room"
COVERAGE = runpy.run_path(str(ROOT / "docs/make_coverage.py"))


@pytest.fixture
def room(tmp_path, monkeypatch):
    """The example's code as a room that `learnt` knows."""
    code = re.findall(r"```python\n(.*?)```", (ROOT / "CONTRIBUTING.md").read_text(), flags=re.S)
    (tmp_path / f"{ROOM}.py").write_text("\n".join(code) + '\n__all__ = ["NearestMean", "nearest"]\n')
    monkeypatch.syspath_prepend(tmp_path)
    monkeypatch.setattr(_registry, "ROOMS", _registry.ROOMS | {ROOM})
    for cached in (_registry.resolve, _registry.name_of):
        cached.cache_clear()
    yield import_module(ROOM)
    sys.modules.pop(ROOM)
    for cached in (_registry.resolve, _registry.name_of):
        cached.cache_clear()


@pytest.fixture
def checks(room):
    """The laws of tests/test_estimators.py, collected anew with the example among the estimators."""
    spec = importlib.util.spec_from_file_location("checks", Path(__file__).parent / "test_estimators.py")
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


def test_it_is_under_every_law(checks, tmp_path):
    name = "NearestMean"
    assert {name} <= checks.ESTIMATORS.keys()
    assert all(name in names for names in (checks.TENSORS, checks.LAZY, checks.ORDERLESS))
    assert name not in checks.STOCHASTIC
    checks.test_scikit_learns_checks(name)
    checks.test_no_thread_count_changes_a_bit(name)
    checks.test_row_order_does_not_matter(name)
    checks.test_float32_is_close(name)
    checks.test_data_frames_of_every_library(name)
    checks.test_a_cluster_gives_the_same(name, 130)
    checks.test_a_tensor_gives_the_same(name)
    checks.test_save_and_load(name, tmp_path)
    checks.test_a_weight_is_a_number_of_rows(name)
    checks.test_bad_input_gets_one_sentence(name)


def test_it_is_saved_and_its_forged_file_is_refused(room):
    rng = np.random.default_rng(0)
    X, y = rng.normal(size=(30, 3)), np.repeat(["a", "b", "c"], 10)
    model = room.NearestMean().fit(X, y)
    data = to_bytes(model)
    again = load_bytes(data)
    assert type(again) is room.NearestMean
    assert to_bytes(again) == data
    np.testing.assert_array_equal(again.predict(X), model.predict(X))
    for wrong, words in (
        (np.full((3, 3), np.nan), "centroids_ holds numbers that are not finite"),
        (np.zeros((3, 4)), r"centroids_ has the shape \(3, 4\) instead of \(3, 3\)"),
        (np.zeros((2, 3)), r"centroids_ has the shape \(2, 3\) instead of \(3, 3\)"),
        ("text", "centroids_ is not an array"),
    ):
        forged = room.NearestMean().fit(X, y)
        forged.centroids_ = wrong
        with pytest.raises(LearntFileError, match=words):
            load_bytes(written_unchecked(forged))
    forged = room.NearestMean().fit(X, y)
    forged.other_ = 1.0
    with pytest.raises(LearntFileError, match="the attribute 'other_', which it cannot have"):
        load_bytes(written_unchecked(forged))


def written_unchecked(model):
    """The file of a model, without the look that `save` takes at it."""
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr("learnt.persistence._decode.check_model", lambda *given: None)
        return to_bytes(model)


@pytest.mark.parametrize("name", ["class_sums", "np", "nearest", "Estimator", "as_rows", "__name__"])
def test_what_is_not_public_or_has_no_schema_is_refused(room, name):
    with pytest.raises(_registry.Refused, match="not one that learnt loads"):
        _registry.resolve(f"{ROOM}.{name}")
    room.NearestMean.__learnt_schema__ = None
    with pytest.raises(_registry.Refused, match="not one that learnt loads"):
        _registry.resolve(f"{ROOM}.NearestMean")


def test_a_room_that_is_not_ours_is_not_imported(tmp_path, monkeypatch):
    (tmp_path / "other_room.py").write_text("raise SystemExit('imported')\n")
    monkeypatch.syspath_prepend(tmp_path)
    for name in ("other_room.Model", "learnt.study.Study", "learnt.engine.estimator.Estimator", "learnt.cli.main"):
        with pytest.raises(_registry.Refused, match="not one that learnt loads"):
            _registry.resolve(name)


def test_it_is_warmed_up(room):
    from learnt.cli import _warmup

    assert warmup_of(_registry.resolve(f"{ROOM}.NearestMean")) == (Warm("classes", {}),)
    assert f"{ROOM}.NearestMean" in _registry.estimators()
    assert _warmup.warm_one(f"{ROOM}.NearestMean") == []


def test_it_is_listed_in_the_coverage(room):
    assert f"| `{ROOM}.NearestMean` |  | yes | yes |  |  |\n" in COVERAGE["table"]()


def test_a_golden_file_is_made_of_it(room):
    golden = runpy.run_path(str(Path(__file__).parent / "persistence" / "make_golden.py"))
    others = {name.rpartition(".")[2] for name in _registry.estimators() if not name.startswith(ROOM)}
    case = golden["declared"](others)["NearestMean"]
    assert case.fitted().predict(case.data).shape == (len(case.data),)


def test_the_coverage_page_is_as_the_classes_declare():
    page = (ROOT / "docs/coverage.md").read_text()
    assert COVERAGE["with_table"](page) == page, "run `make declared`"


# --- the declarations themselves


class Tables(Estimator):
    """Takes what it is told to take."""

    __learnt_schema__ = Schema(state={**CLASSES, "theta_": real("c", "d")})

    def __init__(self, takes=NUMBERS_ALONE):
        self.takes = takes

    @property
    def __learnt_takes__(self):
        return self.takes

    def fit(self, X, y=None):
        check_fit(self, X)
        self.fitted_ = True
        return self


@pytest.mark.parametrize("kind", ["sparse", "tensors", "lazy", "categories", "missing"])
def test_check_fit_takes_what_is_declared_and_nothing_else(kind):
    import dask.array as da
    import pandas as pd
    import torch
    from scipy import sparse

    X = np.arange(12.0).reshape(4, 3)
    tables = {
        "sparse": sparse.csr_array(X),
        "tensors": torch.tensor(X),
        "lazy": da.from_array(X, chunks=(2, 3)),
        "categories": pd.DataFrame({"a": ["x", "y"], "b": [1.0, 2.0], "c": [0.0, 1.0]}),
        "missing": np.where(X == 5.0, np.nan, X),
    }
    for other, table in tables.items():
        model = Tables(Takes(**{kind: True}))
        if other == kind:
            check_predict(model.fit(table), table)
            continue
        with pytest.raises((TypeError, ValueError)):
            model.fit(table)
        with pytest.raises((TypeError, ValueError)):
            check_predict(model.fit(X), table)
    tags = Tables(Takes(**{kind: True})).__sklearn_tags__().input_tags
    assert (tags.sparse, tags.allow_nan) == (kind == "sparse", kind == "missing")


def test_arguments_of_a_call_override_the_declaration():
    X = np.array([[np.nan, 1.0]])
    check_fit(Tables(), X, allow_nan=True)
    with pytest.raises(ValueError, match="NaN"):
        check_fit(Tables(Takes(missing=True)), X, allow_nan=False)


def test_the_warm_up_is_made_of_the_quick_settings_unless_it_is_declared():
    from learnt.linear_model import LinearRegression, MultiTaskLasso, PoissonRegressor
    from learnt.naive_bayes import GaussianNB
    from learnt.preprocessing import StandardScaler

    kinds = {LinearRegression: "amount", MultiTaskLasso: "two amounts", PoissonRegressor: "positive"}
    kinds |= {GaussianNB: "classes", StandardScaler: "none"}
    for cls, kind in kinds.items():
        assert target_of(cls()) == kind

    class Quick(LinearRegression):
        __learnt_trial__ = Trial(quick=lambda: {"fit_intercept": False})

    class Chosen(Quick):
        __learnt_trial__ = Trial(warmup=(Warm("amount"), Warm("amount", sparse=True)))

    assert warmup_of(Quick) == (Warm("amount", {"fit_intercept": False}),)
    assert warmup_of(Chosen) == (Warm("amount"), Warm("amount", sparse=True))
