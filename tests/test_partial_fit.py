"""`partial_fit`, of every estimator that has it: batches add up, and what does not fit the first is refused whole."""

import importlib.util
import inspect
from pathlib import Path

import numpy as np
import pytest
from sklearn.base import is_classifier

spec = importlib.util.spec_from_file_location("checks", Path(__file__).parent / "test_estimators.py")
checks = importlib.util.module_from_spec(spec)
spec.loader.exec_module(checks)

PARTIAL = [name for name, kind in checks.ESTIMATORS.items() if hasattr(kind, "partial_fit")]
# Statistics that add up, and rows that are all kept: two halves are the whole. The others take steps, or bins of the
# first batch.
SUMS = [
    *("BernoulliNB", "CategoricalNB", "ComplementNB", "GaussianNB", "MultinomialNB", "StandardScaler"),
    *("KNeighborsClassifier", "KNeighborsRegressor", "NearestNeighbors", "CondensedNearestNeighbor", "VoronoiEditing"),
    *("IncrementalPCA", "Birch"),
]
GROWING = ("CondensedNearestNeighbor", "KNeighborsClassifier", "VoronoiEditing")  # take new classes at any time


def begun(name, X, y):
    kind = checks.ESTIMATORS[name]
    known = {"classes": np.unique(y)} if "classes" in inspect.signature(kind.partial_fit).parameters else {}
    return checks.make(name).partial_fit(X, y, **known)


@pytest.mark.parametrize("name", SUMS)
def test_two_halves_are_the_whole(name):
    X, y = checks.problem(name, n=120)
    halves = checks.output(begun(name, X[:60], y[:60]).partial_fit(X[60:], y[60:]), X)
    # Sums of 120 terms in another order, and eigenvectors of well separated values.
    for whole in (begun(name, X, y), checks.fitted(name, X, y)):
        np.testing.assert_allclose(halves, checks.output(whole, X), rtol=1e-8, atol=1e-8)


@pytest.mark.filterwarnings("ignore")
@pytest.mark.parametrize("name", PARTIAL)
def test_what_does_not_fit_the_first_batch_is_refused_and_changes_nothing(name):
    X, y = checks.problem(name, n=60)
    model = begun(name, X, y)
    before = checks.output(model, X)
    fewer, more = X[:9, : X.shape[1] - 1], np.c_[X, X][:9]
    bad = [(fewer, y[:9]), (more, y[:9]), (X[:0], y[:0])]
    if name != "StandardScaler":  # leaves missing cells out
        bad.append((np.full((9, X.shape[1]), np.nan), y[:9]))
    if checks.target_of(model) != "none":
        bad.append((X[:9], y[:5]))
    if is_classifier(model) and name not in GROWING:
        bad.append((X[:9], np.repeat("dog", 9)))
    for rows, targets in bad:
        with pytest.raises(ValueError, match=r"\w") as caught:
            model.partial_fit(rows, targets)
        assert "\n" not in str(caught.value)
        np.testing.assert_array_equal(checks.output(model, X), before)


@pytest.mark.parametrize("name", [name for name in PARTIAL if name not in GROWING])
def test_classes_are_said_at_the_first_batch_and_stay(name):
    X, y = checks.problem(name, n=60)
    if not is_classifier(checks.make(name)):
        assert "classes" not in inspect.signature(checks.ESTIMATORS[name].partial_fit).parameters
        return
    with pytest.raises(ValueError, match="classes must be passed on the first call"):
        checks.make(name).partial_fit(X, y)
    model = begun(name, X, y)
    with pytest.raises(ValueError, match="classes"):
        model.partial_fit(X, y, classes=["ant", "bee", "dog"])
    with pytest.raises(ValueError, match="cat"):
        checks.make(name).partial_fit(X, y, classes=["ant", "bee"])
