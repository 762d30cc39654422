"""Rough models on problems whose truth is computed: what is wrong is the model, and not the columns, and conversely."""

import numpy as np
import pytest
from tests.diagnosis.known_regimes import BIAS, CEILING, NOTHING, VARIANCE
from tests.diagnosis.rough_problems import problems

from learnt.diagnosis import diagnose, is_average, probe
from learnt.dummy import DummyRegressor
from learnt.ensemble import BaggingRegressor, RandomForestRegressor, StackingRegressor, VotingRegressor
from learnt.linear_model import LinearRegression, Ridge
from learnt.neighbors import KNeighborsClassifier
from learnt.pipeline import make_pipeline
from learnt.preprocessing import StandardScaler
from learnt.tree import DecisionTreeClassifier, DecisionTreeRegressor


def wrong(regime, count, seed):
    """The problems of the regime that are called something else."""
    found = []
    for problem, rng in problems(regime, count, seed):
        X, y, _ = problem.draw(rng, problem.n)
        diagnosis = diagnose(problem.model, X, y)
        parts = (diagnosis.noise, diagnosis.bias, diagnosis.variance)
        assert sum(p.value for p in parts) == pytest.approx(diagnosis.loss, rel=1e-9)
        assert all(p.low <= p.value * (1 + 1e-9) and p.value <= p.high * (1 + 1e-9) for p in parts)
        if diagnosis.regime != regime:
            found.append((diagnosis.regime, str(problem.model), problem.n, problem.p))
    return found


@pytest.mark.parametrize("regime", [VARIANCE, BIAS, CEILING, NOTHING])
def test_a_few_problems_are_told_apart(regime):
    assert len(wrong(regime, 5, seed=0)) <= 1


@pytest.mark.long
@pytest.mark.parametrize("seed", [1000, 2000])
@pytest.mark.parametrize("regime", [VARIANCE, BIAS, CEILING, NOTHING])
def test_eighteen_problems_of_twenty_are_told_apart(regime, seed):
    failed = wrong(regime, 20, seed)
    assert len(failed) <= 2, failed


@pytest.mark.parametrize("model", [DecisionTreeClassifier(random_state=0), KNeighborsClassifier(1)])
def test_columns_are_not_blamed_for_a_rough_model(model):
    """Worse than a constant on 60 rows of 20 columns, two of which give the class but for noise."""
    regimes = []
    for seed in range(20):
        rng = np.random.default_rng(seed)
        X = rng.normal(size=(60, 20))
        y = np.sign(X[:, 0] + X[:, 1] + rng.normal(size=60))
        regimes.append(diagnose(model, X, y).regime)
    assert regimes.count(VARIANCE) >= 18


def test_no_signal_is_called_one_as_seldom_as_the_level_of_the_test_says():
    """Of 300 tests at 4 % more than 25 would be chance of one in ten thousand (binomial)."""
    found = 0
    for seed in range(300):
        rng = np.random.default_rng(10_000 + seed)
        X = np.exp(rng.normal(size=(40, 4)))
        found += probe(X, rng.exponential(size=(40, 1)), random_state=seed).signal
    assert found <= 25


def test_a_probe_has_the_losses_of_rows_that_were_left_out():
    """A line through a line: as much as least squares leave, refitted without each row."""
    rng = np.random.default_rng(0)
    X = rng.normal(size=(80, 3))
    y = X @ [2.0, -1.0, 0.5] + 0.5 * rng.normal(size=80)
    found = probe(X, y[:, None])
    H = np.column_stack([np.ones(80), X]) @ np.linalg.pinv(np.column_stack([np.ones(80), X]))
    left_out = ((y - H @ y) / (1 - np.diag(H))) ** 2
    assert found.signal
    assert found.losses.shape == (80, 1)
    assert found.losses.mean() == pytest.approx(left_out.mean(), rel=0.05)  # penalties are a factor of 10 apart


@pytest.mark.parametrize("X", [np.zeros((30, 3)), np.ones((3, 1)), np.full((30, 1), 7.0)])
def test_columns_without_a_difference_have_no_signal(X):
    found = probe(X, np.arange(float(len(X)))[:, None])
    assert not found.signal
    assert np.isfinite(found.losses).all()


def test_a_constant_target_has_no_signal():
    assert not probe(np.random.default_rng(0).normal(size=(30, 3)), np.ones((30, 1))).signal


AVERAGES = [
    RandomForestRegressor(5),
    BaggingRegressor(DecisionTreeRegressor(), n_estimators=5),
    VotingRegressor([("a", Ridge()), ("b", DecisionTreeRegressor())]),
    StackingRegressor([("a", Ridge()), ("b", DecisionTreeRegressor())]),
    make_pipeline(StandardScaler(), RandomForestRegressor(5)),
]


@pytest.mark.parametrize("model", AVERAGES, ids=lambda model: type(model).__name__)
def test_an_average_is_not_told_to_become_one(model):
    assert is_average(model)


@pytest.mark.parametrize(
    "model", [RandomForestRegressor(1), DecisionTreeRegressor(), LinearRegression(), DummyRegressor()], ids=str
)
def test_a_single_model_is_no_average(model):
    assert not is_average(model)


def test_a_forest_that_varies_is_told_to_regularise_its_trees():
    rng = np.random.default_rng(0)
    X = rng.normal(size=(80, 10))
    y = X[:, 0] + rng.normal(size=80)
    found = diagnose(RandomForestRegressor(5, random_state=0), X, y)
    assert found.regime == VARIANCE
    assert not any("bagging" in text for text in found.treatments)
    assert any("each of the models" in text for text in found.treatments)
