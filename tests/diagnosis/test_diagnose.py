"""Constructed problems of known regime: the verdict must be the right one, and the parts must add up."""

import numpy as np
import pytest
from sklearn.linear_model import LinearRegression, LogisticRegression
from sklearn.neighbors import KNeighborsClassifier, KNeighborsRegressor
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import PolynomialFeatures

from learnt.diagnosis import diagnose, read_curve


def problem(name, seed):
    rng = np.random.default_rng(seed)
    X, noise = rng.uniform(-1.5, 1.5, size=(1000, 2)), rng.normal(size=1000)
    bend = np.sin(3 * X[:, 0]) + X[:, 1] ** 2
    line = X @ [1.0, 2.0]

    def coin(score):
        return (rng.uniform(size=len(score)) < 1 / (1 + np.exp(-score))).astype(int)

    if name == "wide":
        W = rng.normal(size=(120, 40))
        return W, W[:, :3].sum(axis=1) + 0.7 * rng.normal(size=120)
    return X, {
        "bend": bend + 0.2 * noise,
        "product": X[:, 0] * X[:, 1] + X[:, 0] + 0.1 * noise,
        "line": line + noise,
        "noisy line": line + 2 * noise,
        "noise": noise,
        "wavy": bend + 0.7 * noise,
        "logit": coin(2 * X[:, 0]),
        "crossed logit": coin(6 * X[:, 0] * X[:, 1] - X[:, 0]),
        "coin": coin(np.full(1000, -1.0)),
    }[name]


CASES = [
    ("bend", LinearRegression(), "high bias"),
    ("product", LinearRegression(), "high bias"),
    ("crossed logit", LogisticRegression(), "high bias"),
    ("bend", KNeighborsRegressor(400), "high bias"),
    ("line", LinearRegression(), "near the ceiling"),
    ("noisy line", KNeighborsRegressor(30), "near the ceiling"),
    ("logit", LogisticRegression(), "near the ceiling"),
    ("line", KNeighborsRegressor(1), "high variance"),
    ("wavy", KNeighborsRegressor(2), "high variance"),
    ("wide", LinearRegression(), "high variance"),
    ("wavy", make_pipeline(PolynomialFeatures(12), LinearRegression()), "high variance"),
    ("logit", KNeighborsClassifier(1), "high variance"),
    ("noise", LinearRegression(), "no signal"),
    ("coin", LogisticRegression(), "no signal"),
]


@pytest.mark.parametrize(("name", "model", "regime"), CASES, ids=[f"{c[2]}: {c[0]}, {c[1]!r:.30}" for c in CASES])
def test_the_verdict_is_right(name, model, regime):
    X, y = problem(name, 0)
    if "PolynomialFeatures" in repr(model):
        X, y = X[:240], y[:240]
    found = diagnose(model, X, y, random_state=1)
    assert found.regime == regime
    assert found.noise.value + found.bias.value + found.variance.value == pytest.approx(found.loss, rel=1e-9)
    assert found.finding.endswith(".")
    assert len(found.treatments) >= 2
    assert "nan" not in found.finding + " ".join(found.evidence)


def test_noise_is_recovered_from_a_line():
    X, y = problem("line", 5)
    found = diagnose(LinearRegression(), X, y)
    assert found.noise.value == pytest.approx(1.0, rel=0.15)


def test_a_curve_of_one_size_still_gives_a_verdict():
    found = read_curve(
        np.array([100]), np.array([[0.02, 0.02]]), np.array([[0.3, 0.3]]), noise=(0.05, 0.06), constant=0.5
    )
    assert found.regime == "high variance"


def test_too_few_rows_is_said():
    with pytest.raises(ValueError, match="at least 10"):
        diagnose(LinearRegression(), np.zeros((6, 1)), np.zeros(6))
