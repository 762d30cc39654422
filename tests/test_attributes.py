"""Every fitted attribute and method of scikit-learn's estimators is there under its name."""

import importlib
import inspect
import warnings
from functools import cache

import numpy as np
import pytest
from sklearn.experimental import enable_iterative_imputer  # noqa: F401
from sklearn.utils.discovery import all_estimators

RNG = np.random.default_rng(0)
X = np.abs(RNG.normal(size=(40, 4)))
TARGETS = {
    "classes": (X[:, 0] > np.median(X[:, 0])).astype(int),
    "numbers": X @ np.arange(1.0, 5.0) + 0.1,
    "two targets": np.c_[X @ np.arange(1.0, 5.0), X @ np.ones(4) + 0.1 * RNG.normal(size=40)],
}

# Coefficients of a line are few, and stay an array; no random numbers are kept; progress is told by the fits that take
# time; what `fit` is passed besides rows, targets and weights are arrays, no metadata.
NOT_OURS = {
    **{name: {"sparsify", "densify"} for name in ("SGDRegressor", "SGDOneClassSVM", "PassiveAggressiveRegressor")},
    "NeighborhoodComponentsAnalysis": {"random_state_"},
    "StandardScaler": {"set_callbacks"},
    "LogisticRegressionCV": {"set_callbacks", "set_score_request"},
    **{name: {"set_fit_request"} for name in ("LarsCV", "LassoLarsCV")},
}


@cache
def pairs():
    """scikit-learn's class and ours, by name."""
    found = {}
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        everything = all_estimators()
    for name, theirs in everything:
        room = theirs.__module__.split(".")[1]
        ours = getattr(importlib.import_module(f"learnt.{room}"), name, None) if in_learnt(room) else None
        if ours is not None and ours is not theirs:
            found[name] = theirs, ours
    return found


def in_learnt(room):
    return importlib.util.find_spec(f"learnt.{room}") is not None


def made(cls):
    """With what it cannot do without."""
    room = importlib.import_module(f"{cls.__module__.split('.')[0]}.naive_bayes")
    lines = importlib.import_module(f"{cls.__module__.split('.')[0]}.linear_model")
    member = lines.Ridge() if cls.__name__.endswith("Regressor") else room.GaussianNB()
    asked = {
        "estimators": [("member", member)],
        "estimator": member,
        "dictionary": np.eye(4),
        "n_components": 2,
    }
    needed = inspect.signature(cls).parameters
    give = {name for name, parameter in needed.items() if parameter.default is inspect.Parameter.empty}
    if cls.__name__ == "SelfTrainingClassifier":
        give.add("estimator")
    if cls.__name__.endswith("RandomProjection"):  # for 40 rows it would take more columns than there are
        give.add("n_components")
    return cls(**{name: asked[name] for name in give if name in asked})


def fitted(cls, y):
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        return made(cls).fit(X[:, :1] if cls.__name__ == "IsotonicRegression" else X, y)


def names(model, settings):
    """What a user can read of a model or call, without its settings."""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        found = {n for n in dir(model) if not n.startswith("_") and hasattr(model, n)} - settings
        return {n for n in found if n.endswith("_") or callable(getattr(model, n))}


@pytest.mark.long
@pytest.mark.parametrize("name", pairs())
def test_names_of_a_fitted_model(name):
    theirs, ours = pairs()[name]
    settings = set(inspect.signature(theirs).parameters)
    compared = 0
    for y in TARGETS.values():
        try:
            peer = fitted(theirs, y)
        except (TypeError, ValueError, NotImplementedError):  # no target of this kind
            continue
        missing = names(peer, settings) - names(fitted(ours, y), settings)
        assert missing <= NOT_OURS.get(name, set())
        compared += 1
    assert compared
