"""Which names are replaced, and that scikit-learn's parameters are learnt's."""

import importlib
import inspect
import re
from abc import ABCMeta
from pathlib import Path

import numpy as np
import pytest

import learnt
from learnt.accel._pairs import OTHER_DEFAULTS, Pair, is_estimator, pair_of, pairs_of, refusal, same

ROOMS = [room for room in learnt._ESTIMATORS if importlib.util.find_spec(f"sklearn.{room}")]
NAMES = [(room, name) for room in ROOMS for name in importlib.import_module(f"learnt.{room}").__all__]
BOTH = [pair for pair in (pair_of(room, name) for room, name in NAMES) if pair is not None]


@pytest.mark.parametrize("pair", BOTH, ids=lambda pair: pair.name)
def test_the_parameters_of_scikit_learn_are_ours_with_its_defaults(pair):
    assert refusal(pair) is None


def test_the_rooms_give_what_both_have():
    found = {pair.name for room in ROOMS for pair in pairs_of(room)}
    assert len(found) == len(BOTH) > 110
    assert {"Ridge", "SVC", "KMeans", "RandomForestClassifier", "GaussianNB", "k_means", "export_text"} <= found
    assert not found & {"ERMClassifier", "MinMaxScaler", "KDTree", "kernels"}  # not in both, or no estimator


def test_the_page_says_how_many():
    """One of them, IterativeImputer, is scikit-learn's only where a script has switched it on."""
    page = (Path(__file__).parents[2] / "docs/accel.md").read_text()
    said = re.search(r"(?m)^(\d+) names of scikit-learn are learnt's", page)
    assert int(said[1]) == len({pair.name for pair in BOTH} | {"IterativeImputer"})


def test_defaults_that_differ_are_listed():
    for name, parameter in OTHER_DEFAULTS:
        pair = next(pair for pair in BOTH if pair.name == name)
        ours, theirs = (inspect.signature(cls).parameters[parameter].default for cls in (pair.ours, pair.original))
        assert ours != theirs


def test_a_class_that_is_one_of_anothers_is_so_in_scikit_learn():
    """Ours count as scikit-learn's: what derives from one of ours counts as what it is not there, in two cases."""
    pairs = [pair for pair in BOTH if is_estimator(pair) and isinstance(pair.original, ABCMeta)]
    other = {
        (pair.name, base.name)
        for pair in pairs
        for base in pairs
        if issubclass(pair.ours, base.ours) and not issubclass(pair.original, base.original)
    }
    assert other == {("BisectingKMeans", "KMeans"), ("MiniBatchKMeans", "KMeans")}


DEFAULTS = [
    (pair, name)
    for pair in BOTH
    for name, theirs in (inspect.signature(pair.original).parameters.items() if is_estimator(pair) else ())
    if theirs.default is not inspect.Parameter.empty
    and not same(theirs.default, inspect.signature(pair.ours).parameters[name].default)
]


@pytest.mark.filterwarnings("error")
@pytest.mark.parametrize(("pair", "name"), DEFAULTS, ids=lambda value: getattr(value, "name", value))
def test_the_values_of_scikit_learns_defaults_are_taken_in_silence(pair, name):
    """`Model(**theirs.get_params())` and a grid that names the default: also where it only announces a change."""
    X = np.random.default_rng(0).normal(size=(40, 3))
    default = inspect.signature(pair.original).parameters[name].default
    pair.ours(**{name: default}).fit(X, np.arange(40) % 2)


def ours(a, b=1, *, c=None):
    """Parameters to compare with."""


def missing(a, b=1, *, c=None, d=None):
    """One more."""


def other_place(b=1, a=2, *, c=None):
    """Another order."""


def other_default(a, b=2, *, c=None):
    """Another default."""


def announced(a, b="deprecated", *, c=None):
    """A default that says that a parameter is about to go."""


def test_the_law_of_parameters_bites():
    reasons = [refusal(Pair("room", "name", ours, theirs)) for theirs in (missing, other_place, other_default)]
    assert reasons == [
        "learnt's has no parameter 'd'",
        "parameters by place are others",
        "the default of 'b' is 1, scikit-learn's 2",
    ]
    assert refusal(Pair("room", "name", ours, announced)) is None


@pytest.mark.filterwarnings("ignore:Class PassiveAggressive:FutureWarning")  # scikit-learn's will go
def test_every_estimator_can_become_scikit_learns():
    """The two classes allow an object to change from one to the other, and its parameters are carried over."""
    from learnt.accel._classes import become_original, standing_class

    tried = 0
    for pair in filter(is_estimator, BOTH):
        needed = {name: [] for name, p in inspect.signature(pair.original).parameters.items() if p.default is p.empty}
        model = standing_class(pair)(**needed)
        become_original(pair, model)
        assert type(model) is pair.original
        assert model.get_params(deep=False) == pair.original(**needed).get_params(deep=False)
        tried += 1
    assert tried > 90
