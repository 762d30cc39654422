"""Every estimator comes back the same: parameters, fitted attributes, predictions to the bit, file to the byte."""

import pkgutil
import runpy
from importlib import import_module
from pathlib import Path

import numpy as np
import pytest
from sklearn.base import BaseEstimator, clone
from sklearn.model_selection import GridSearchCV
from sklearn.pipeline import Pipeline, make_pipeline
from sklearn.preprocessing import FunctionTransformer
from sklearn.svm import SVC

import learnt
from learnt.engine.estimator import target_of
from learnt.linear_model import LinearRegression, Ridge, RidgeCV
from learnt.naive_bayes import GaussianNB
from learnt.persistence import LearntFileError, _registry
from learnt.persistence._files import load_bytes, to_bytes
from learnt.preprocessing import StandardScaler
from learnt.study import StudyRegressor

GOLDEN = runpy.run_path(str(Path(__file__).parent / "make_golden.py"))
NAMES = sorted({path.stem for path in (Path(__file__).parent / "golden").glob("*/*.learnt")})
X, y = GOLDEN["X"], GOLDEN["y"]


def public_estimators():
    """The names of all public estimators, found by walking the package, whether they can be saved or not."""
    found = set()
    for module in pkgutil.iter_modules(learnt.__path__):
        if (
            module.ispkg and not module.name.startswith("_") and module.name != "study"
        ):  # which save their study's model
            room = import_module(f"learnt.{module.name}")
            for name in getattr(room, "__all__", ()):
                thing = getattr(room, name)
                if (
                    isinstance(thing, type)
                    and issubclass(thing, BaseEstimator)
                    and not issubclass(thing, GridSearchCV)  # what is saved is its best_estimator_
                    and thing.__module__.startswith("learnt.")
                ):
                    found.add(f"learnt.{module.name}.{name}")
    return found


def test_the_registry_is_the_set_of_public_estimators():
    """Added an estimator? Give its class a `__learnt_schema__`; added a room? Name it in `learnt._ESTIMATORS`."""
    assert public_estimators() == _registry.estimators().keys()


def test_the_metrics_are_those_of_the_neighbours():
    from learnt.distances import METRIC_NAMES
    from learnt.neighbors import _schema

    assert set(_schema.METRICS) == set(METRIC_NAMES)


def test_every_class_of_the_registry_has_a_schema():
    for name in _registry.classes():
        cls = _registry.resolve(name)
        assert _registry.schema_of(cls, name) or name in _registry.RECORDS, name
        assert _registry.name_of(cls) == name


def test_the_golden_files_are_those_of_the_models(models):
    assert sorted(models) == NAMES, "run `make declared`"


@pytest.mark.parametrize("name", NAMES)
@pytest.mark.sweep(40)
def test_round_trip(name, models, tmp_path):
    model, data = models[name]
    path = tmp_path / "model.learnt"
    learnt.save(model, path)
    again = learnt.load(path)
    assert type(again) is type(model)
    assert repr(again) == repr(model)
    assert to_bytes(again) == path.read_bytes()
    expected = GOLDEN["answers"](model, data)
    for method, result in GOLDEN["answers"](again, data).items():
        assert result.dtype == expected[method].dtype
        assert result.tobytes() == expected[method].tobytes() or result.tolist() == expected[method].tolist()


@pytest.mark.parametrize("name", NAMES)
@pytest.mark.sweep(40)
def test_a_loaded_model_is_as_good_as_new(name, models):
    model, data = models[name]
    again = load_bytes(to_bytes(model))
    assert repr(clone(again)) == repr(clone(model))
    if data is None or name == "labels":
        return
    target = GOLDEN["TARGETS"][target_of(model)]
    if name in ("constant-labels", "neighbors-two-outputs"):
        target = np.c_[target, target]
    if target is None or name == "target":
        target = np.abs(y)
    assert type(again.fit(data, target)) is type(model)


def test_the_file_does_not_depend_on_threads():
    sizes = []
    for threads in (1, 2):
        learnt.set_threads(threads)
        sizes.append(to_bytes(Ridge().fit(X, y)))
    learnt.set_threads(None)
    assert sizes[0] == sizes[1]


def test_fitted_on_tensors_loads_as_numpy():
    import torch

    classes = torch.tensor((y > 3).astype(np.int64))
    for model, target in ((LinearRegression(), torch.tensor(y)), (Ridge(), torch.tensor(y)), (GaussianNB(), classes)):
        fitted = model.fit(torch.tensor(X), target)
        again = load_bytes(to_bytes(fitted))
        expected = fitted.predict(torch.tensor(X)).numpy()
        np.testing.assert_allclose(again.predict(X), expected, rtol=1e-12)


# --- what is not saved, and why


class MyRidge(Ridge):
    pass


def few_rows():
    """A study's estimator that was fitted without a study."""
    model = StudyRegressor()
    model.study_, model.model_ = None, Ridge()
    return model


@pytest.mark.parametrize(
    ("model", "words"),
    [
        (MyRidge(), "a subclass that learnt cannot rebuild; use Ridge itself"),
        (SVC(), "not one of the classes that learnt saves"),
        (make_pipeline(StandardScaler(), SVC()), "model.steps[1][1] is a sklearn.svm"),
        (FunctionTransformer(lambda x: x), "model.func is the function '<lambda>'"),
        (Pipeline([("a", StandardScaler())], memory="cache"), "memory"),
        (GridSearchCV(Ridge(), {"alpha": [1, 2]}, cv=2).fit(X, y), "save its best_estimator_ instead"),
        (few_rows(), "save its model_ instead"),
        (RidgeCV(scoring=lambda *a: 0.0), "model.scoring is the function"),
    ],
)
def test_refusals(model, words):
    with pytest.raises(LearntFileError) as caught:
        to_bytes(model)
    assert words in str(caught.value)
    assert "\n" not in str(caught.value)
    assert caught.value.__cause__ is None


def test_a_broken_model_is_not_written():
    model = Ridge().fit(X, y)
    model.coef_[0] = np.nan
    with pytest.raises(LearntFileError, match=r"coef_ holds numbers that are not finite"):
        to_bytes(model)
    model.coef_ = np.zeros(5)
    with pytest.raises(LearntFileError, match=r"coef_ has the shape"):
        to_bytes(model)
    del model.coef_
    with pytest.raises(LearntFileError, match=r"without coef_"):
        to_bytes(model)
