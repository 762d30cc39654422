"""warm_start on other columns, classes or targets: a law over every public estimator that has the parameter."""

import inspect
import warnings

import numpy as np
import pytest
from sklearn.base import is_classifier
from sklearn.exceptions import ConvergenceWarning

from learnt.engine.estimator import target_of, trial_of
from learnt.persistence._registry import estimators

ALL = {cls.__name__: cls for cls in estimators().values() if "warm_start" in inspect.signature(cls).parameters}
MULTI = {name for name, cls in ALL.items() if target_of(cls()) == "two amounts"}
CASES = ("fewer columns", "more columns", "more classes", "fewer classes", "other classes", "more targets")


def test_they_are_all_found():
    assert len(ALL) >= 23
    assert {"PoissonRegressor", "HuberRegressor", "BaggingClassifier", "RandomForestRegressor"} <= set(ALL)


MEMBERS = {name: trial_of(cls).members for name, cls in ALL.items() if trial_of(cls).members}


def as_array(table):
    return table.toarray() if hasattr(table, "toarray") else table


def posed(name, case):
    rng = np.random.default_rng(0)
    X = rng.normal(size=(60, 5))
    y = np.arange(60) % 3 if target_of(ALL[name]()) == "classes" else np.abs(X[:, 0]) + 1.0
    y = np.c_[y, 2 * y] if name in MULTI else y
    other = X, y
    if case.endswith("columns"):
        other = X[:, :3] if case == "fewer columns" else np.c_[X, X], y
    elif is_classifier(ALL[name]()):
        other = X, {"more classes": np.arange(60) % 4, "fewer classes": np.arange(60) % 2}.get(case, y + 7)
    elif name in MULTI:
        other = X, np.c_[y, y]
    return X, y, *other


@pytest.mark.parametrize("case", CASES)
@pytest.mark.parametrize(("name", "more"), [*((name, 0) for name in ALL), *((name, 2) for name in MEMBERS)])
def test_another_table_is_fitted_from_scratch_or_refused(name, more, case):
    """Either the model is one of the new table, or the error says what differs and the model is as it was.

    Models of members go on with `more` of them, or with as many as they have.
    """
    X, y, other, target = posed(name, case)
    size = {MEMBERS[name]: 3} if name in MEMBERS else {}
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", ConvergenceWarning)
        warnings.filterwarnings("ignore", message="Warm-start fitting without increasing n_estimators")
        model = ALL[name](warm_start=True, **size).fit(X, y)
        model.set_params(**{key: value + more for key, value in size.items()})
        apply = model.predict if hasattr(model, "predict") else lambda rows: as_array(model.transform(rows))
        before = apply(X)
        try:
            model.fit(other, target)
        except ValueError as error:
            assert "warm_start" in str(error) or "class" in str(error), error
            assert not any(word in str(error) for word in ("\n", "operand", "index", "np.int64"))
            np.testing.assert_array_equal(apply(X), before)
            return
    assert model.n_features_in_ == other.shape[1]
    predicted = apply(other)
    assert len(predicted) == len(other)
    if is_classifier(model):
        assert set(np.unique(target)) <= set(model.classes_)
        assert set(np.unique(predicted)) <= set(model.classes_)
    elif hasattr(model, "predict"):
        assert predicted.shape == np.shape(target)


@pytest.mark.parametrize("name", ["PoissonRegressor", "GammaRegressor", "TweedieRegressor", "HuberRegressor"])
def test_a_start_of_other_columns_is_no_start(name):
    X, y, other, _ = posed(name, "fewer columns")
    warm = ALL[name](warm_start=True).fit(X, y).fit(other, y)
    np.testing.assert_array_equal(warm.coef_, ALL[name]().fit(other, y).coef_)
