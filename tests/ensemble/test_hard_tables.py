"""Tables that ensembles of any estimators must survive, or refuse in one sentence."""

import re
from pathlib import Path

import numpy as np
import pytest

from learnt.ensemble import (
    AdaBoostClassifier,
    AdaBoostRegressor,
    BaggingClassifier,
    BaggingRegressor,
    FunctionalGradientBoosting,
    StackingClassifier,
    StackingRegressor,
    VotingClassifier,
    VotingRegressor,
)
from learnt.naive_bayes import GaussianNB
from learnt.tree import DecisionTreeClassifier, DecisionTreeRegressor, DyadicPartitionRegressor, ModelTreeRegressor

CLASSIFIERS = {
    "AdaBoost": AdaBoostClassifier(n_estimators=5),
    "Bagging": BaggingClassifier(n_estimators=5, random_state=0),
    "Functional": FunctionalGradientBoosting(loss="log", n_estimators=5),
    "Stacking": StackingClassifier([("tree", DecisionTreeClassifier()), ("bayes", GaussianNB())], GaussianNB(), cv=2),
    "Voting": VotingClassifier([("tree", DecisionTreeClassifier()), ("bayes", GaussianNB())]),
}
REGRESSORS = {
    "AdaBoost": AdaBoostRegressor(n_estimators=5, random_state=0),
    "Bagging": BaggingRegressor(n_estimators=5, random_state=0),
    "Dyadic": DyadicPartitionRegressor(depth=2),
    "Functional": FunctionalGradientBoosting(n_estimators=5),
    "ModelTree": ModelTreeRegressor(),
    "Stacking": StackingRegressor([("tree", DecisionTreeRegressor())], DecisionTreeRegressor(), cv=2),
    "Voting": VotingRegressor([("tree", DecisionTreeRegressor())]),
}
MISSING = ("AdaBoost", "Dyadic", "ModelTree", "Stacking", "Voting")  # or one of their members takes none


def outcome(model, X, y, at, **fit):
    """Finite answers, or one sentence."""
    try:
        found = model.fit(X, y, **fit).predict(at)
    except (ValueError, TypeError) as error:
        assert "\n" not in str(error), error
        assert 10 < len(str(error)) < 300
        return None
    assert len(found) == len(at)
    if found.dtype.kind == "f":
        assert np.isfinite(found).all()
    return found


@pytest.mark.parametrize("name", CLASSIFIERS)
def test_classes(name):
    model = CLASSIFIERS[name]
    rng = np.random.default_rng(0)
    X, y = rng.normal(size=(40, 3)), np.array(["a", "b"])[np.arange(40) % 2]
    y_easy = np.where(X[:, 0] > 0, "a", "b")
    constant = np.c_[np.ones(40), X[:, 0]]
    assert (outcome(model, constant, y_easy, constant) == y_easy).mean() > 0.9  # one column says nothing
    outcome(model, np.ones((40, 2)), y, np.ones((3, 2)))
    one_class = outcome(model, X, np.full(40, "a"), X)
    assert one_class is None or set(one_class) == {"a"}
    twins = np.repeat(X[:20], 2, axis=0)  # equal rows with different labels
    outcome(model, twins, y, twins)
    outcome(model, X[:1], y[:1], X)
    with pytest.raises(ValueError, match="NaN") as caught:
        model.fit(X, np.array([None, *y[1:]], dtype=object))
    assert "\n" not in str(caught.value)
    holes = X.copy()
    holes[:, 1] = np.nan  # a column that is missing everywhere
    found = outcome(model, holes, y_easy, holes)
    assert (found is None) == (name in MISSING)


@pytest.mark.parametrize("name", REGRESSORS)
def test_numbers(name):
    model = REGRESSORS[name]
    X = np.random.default_rng(0).normal(size=(40, 3))
    constant = np.c_[np.ones(40), X[:, 0]]
    assert np.corrcoef(outcome(model, constant, X[:, 0], constant), X[:, 0])[0, 1] > 0.8
    np.testing.assert_allclose(outcome(model, np.ones((40, 2)), X[:, 0] * 0 + 3, np.ones((3, 2))), 3.0)
    twins = np.repeat(X[:20], 2, axis=0)
    outcome(model, twins, X[:, 1], twins)
    assert outcome(model, X[:1], X[:1, 0], X) is None or name != "Stacking"
    with pytest.raises(ValueError, match="NaN"):
        model.fit(X, np.r_[np.nan, X[1:, 0]])
    holes = X.copy()
    holes[:, 1] = np.nan
    found = outcome(model, holes, X[:, 0], holes)
    if name in ("AdaBoost", "Dyadic", "ModelTree"):
        assert found is None


@pytest.mark.parametrize("name", ["AdaBoost", "Functional"])
def test_a_weight_of_zero_is_no_row(name):
    rng = np.random.default_rng(0)
    X = rng.normal(size=(60, 3))
    y = (X[:, 0] + 0.5 * rng.normal(size=60) > 0).astype(int)
    w = rng.integers(0, 2, size=60)
    model = CLASSIFIERS[name]
    with_zeros = model.fit(X, y, sample_weight=w).predict_proba(X)
    without = model.fit(X[w > 0], y[w > 0]).predict_proba(X)
    np.testing.assert_allclose(with_zeros, without, rtol=1e-9)
    with pytest.raises(ValueError, match="non-zero"):
        model.fit(X, y, sample_weight=np.zeros(60))


def test_depth_zero():
    """A tree of depth 0 is refused by trees and is one leaf of a model tree."""
    with pytest.raises(ValueError, match="max_depth"):
        BaggingClassifier(DecisionTreeClassifier(max_depth=0)).fit([[0.0], [1.0]], [0, 1])
    flat = ModelTreeRegressor("constant", max_depth=0).fit([[0.0], [1.0]], [0.0, 1.0])
    assert flat.predict([[5.0]]).tolist() == [0.5]


def test_the_snippets_of_the_guide_run(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    text = (Path(__file__).parents[2] / "docs" / "ensembles.md").read_text(encoding="utf-8")
    code = re.findall(r"```python\n(.*?)```", text, flags=re.S)
    assert len(code) >= 6
    exec("\n".join(code), {})
    assert (tmp_path / "tree.svg").exists()
