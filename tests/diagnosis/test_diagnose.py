"""Constructed problems of known regime: the verdict must be the right one, and the parts must add up."""

import numpy as np
import pytest
from sklearn.linear_model import LinearRegression
from tests.diagnosis.known_regimes import BIAS, CEILING, FIRST, NOTHING, OTHER, VARIANCE, parts

from learnt.diagnosis import diagnose, read_curve

# What a regime means, for the parts that the truth gives: clear cases only, with a margin around every border.
MEANS = {
    BIAS: lambda noise, bias, variance, constant: bias >= max(0.3 * (noise + bias + variance), 3 * variance),
    VARIANCE: lambda noise, bias, variance, constant: variance >= max(0.2 * (noise + bias + variance), 3 * bias),
    CEILING: lambda noise, bias, variance, constant: (
        noise >= 0.95 * (noise + bias + variance) and noise <= 0.9 * constant
    ),
    NOTHING: lambda noise, bias, variance, constant: noise >= 0.999 * constant,
}


PROBLEMS = [pytest.param(problem, id=name) for name, problem in FIRST.items()]
PROBLEMS += [pytest.param(problem, id=name, marks=pytest.mark.long) for name, problem in OTHER.items()]


@pytest.mark.parametrize("problem", PROBLEMS)
def test_the_verdict_is_right(problem):
    X, y, _ = problem.draw(np.random.default_rng(100), problem.n)
    found = diagnose(problem.model, X, y, random_state=1)
    assert found.regime == problem.regime
    assert found.noise.value + found.bias.value + found.variance.value == pytest.approx(found.loss, rel=1e-9)
    assert found.finding.endswith(".")
    assert len(found.treatments) >= 2
    assert "nan" not in found.finding + " ".join(found.evidence)
    assert "about 0%" not in found.finding


@pytest.mark.parametrize("problem", PROBLEMS)
def test_the_regime_of_a_simulated_problem_is_its_true_one(problem):
    assert MEANS[problem.regime](*parts(problem, sets=8))


def test_noise_is_recovered_from_a_line():
    X, y, _ = FIRST["a line through a line"].draw(np.random.default_rng(5), 1000)
    found = diagnose(LinearRegression(), X, y)
    assert found.noise.value == pytest.approx(1.0, rel=0.15)


def test_a_curve_of_one_size_still_gives_a_verdict():
    found = read_curve(
        np.array([100]), np.array([[0.02, 0.02]]), np.array([[0.3, 0.3]]), noise=(0.05, 0.06), constant=0.5
    )
    assert found.regime == "high variance"


def test_too_few_rows_is_refused():
    with pytest.raises(ValueError, match="at least 10"):
        diagnose(LinearRegression(), np.zeros((6, 1)), np.zeros(6))
