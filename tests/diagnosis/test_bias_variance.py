"""Noise, bias and variance: closed forms for neighbours and ridge, the identities, labels by Domingos' definitions."""

import xml.etree.ElementTree as ElementTree

import numpy as np
import pytest

from learnt.diagnosis import bias_variance
from learnt.diagnosis._bias_variance import label_parts, number_parts
from learnt.linear_model import Ridge
from learnt.neighbors import KNeighborsClassifier, KNeighborsRegressor
from learnt.preprocessing import StandardScaler

GRID = np.linspace(0, 1, 200)[:, None]
WAVE = np.sin(6 * GRID[:, 0])


def new_noise(scale):
    """Training sets on a fixed grid: the wave with new noise."""
    return lambda rng: (GRID, WAVE + rng.normal(scale=scale, size=WAVE.size))


def test_neighbors_have_the_variance_of_a_mean_of_k():
    """σ²/k, and the bias of averaging k neighbours.

    About 200/k groups of neighbours in 200 sets: the relative standard deviation of the variance is √(2k/40000), 2.2 %
    for k = 10; the bounds are five of them. The bias² has an error of mean 0 that is smaller than variance/sets.
    """
    sigma, ks = 0.3, [1, 4, 10]
    y = WAVE + np.random.default_rng(1).normal(scale=sigma, size=WAVE.size)
    found = bias_variance(
        KNeighborsRegressor(), GRID, y, vary={"n_neighbors": ks}, truth=WAVE, draw=new_noise(sigma), n_sets=200
    )
    np.testing.assert_allclose(found.variance, sigma**2 / np.array(ks), rtol=0.11)
    for k, bias in zip(ks, found.bias, strict=True):
        mean = KNeighborsRegressor(k).fit(GRID, WAVE).predict(GRID)
        assert abs(bias - np.mean((mean - WAVE) ** 2)) < sigma**2 / k / 200 * 5
    np.testing.assert_allclose(found.noise, sigma**2, rtol=0.55)  # 200 rows: five times √(2/200), and y times the bias
    np.testing.assert_allclose(found.noise + found.bias + found.variance, found.error, rtol=1e-12)


def test_ridge_has_its_closed_form():
    """H = X(XᵀX + αI)⁻¹Xᵀ: bias² ‖(H − I)f‖²/n, variance σ² tr(HHᵀ)/n; 300 sets of 3 directions, five deviations."""
    rng = np.random.default_rng(0)
    X, sigma, alpha = rng.normal(size=(80, 3)), 0.5, 20.0
    f = X @ np.array([1.0, -2.0, 0.5])
    H = X @ np.linalg.solve(X.T @ X + alpha * np.eye(3), X.T)
    found = bias_variance(
        Ridge(alpha=alpha, fit_intercept=False),
        X,
        f,
        truth=f,
        draw=lambda rng: (X, f + rng.normal(scale=sigma, size=80)),
        n_sets=300,
    )
    variance = sigma**2 * np.trace(H @ H.T) / 80
    assert found.variance[0] == pytest.approx(variance, rel=5 * np.sqrt(2 / 900))
    bias = np.mean((H @ f - f) ** 2)
    assert abs(found.bias[0] - bias) < 5 * 2 * np.sqrt(bias * variance / 300) + variance / 300 * 5
    assert found.noise[0] == pytest.approx(0.0, abs=1e-12)


def test_the_bias_is_free_of_the_number_of_sets():
    """Pure noise about a right mean: squared means of few sets would say variance / sets."""
    draws = np.random.default_rng(0).normal(size=(3, 100_000))
    parts = number_parts(draws, np.zeros(100_000), np.zeros(100_000), None)
    assert abs(parts[4]) < 5 * np.sqrt(2) / np.sqrt(100_000)
    assert parts[5] == pytest.approx(1.0, abs=0.02)


def test_labels_by_hand():
    """Row 0: right most often, wrong once in three. Row 1: wrong most often, right once in three. Row 2: y is noise."""
    predictions = np.array([[0, 1, 0], [0, 1, 0], [1, 0, 0]])
    error, noise, _, _, bias, variance = label_parts(predictions, np.array([0, 0, 1]), np.array([0, 0, 0]), None)
    assert error == pytest.approx((1 / 3 + 2 / 3 + 1) / 3)
    assert (bias, variance, noise) == (pytest.approx(1 / 3), pytest.approx((1 / 3 - 1 / 3) / 3), pytest.approx(1 / 3))
    assert error == pytest.approx(noise + bias + variance)


def test_variance_of_labels_falls_with_k_and_bias_grows():
    def drawn(rng, n=300):
        X = rng.uniform(size=(n, 2))
        best = side(X)
        return X, np.where(rng.random(n) < 0.2, 1 - best, best)

    def side(X):
        return (X[:, 0] > 0.4).astype(int)

    X, y = drawn(np.random.default_rng(0))
    found = bias_variance(
        KNeighborsClassifier(), X, y, vary={"n_neighbors": [1, 15, 299]}, truth=side, draw=drawn, n_sets=30
    )
    assert found.variance[0] > 0.1 > found.variance[1]
    assert found.bias[2] > 0.3 > found.bias[1]
    assert found.best == 15
    assert found.loss == "zero_one"
    np.testing.assert_allclose(found.noise + found.bias + found.variance, found.error, rtol=1e-12)


def test_without_the_truth_noise_is_estimated_with_its_ends():
    rng = np.random.default_rng(0)
    X = rng.uniform(size=(1500, 1))
    y = np.sin(4 * X[:, 0]) + rng.normal(scale=0.5, size=1500)
    found = bias_variance(KNeighborsRegressor(30), X, y, n_sets=20)
    assert found.noise_low[0] <= found.noise[0] <= found.noise_high[0]
    assert found.noise_low[0] - 0.03 < 0.25 < found.noise_high[0] + 0.03
    np.testing.assert_allclose(found.noise + found.bias + found.variance, found.error, rtol=1e-12)
    labels = bias_variance(KNeighborsClassifier(5), X, y > 0, n_sets=10)
    np.testing.assert_allclose(labels.noise + labels.bias + labels.variance, labels.error, rtol=1e-12)


def test_the_picture_has_a_column_for_each_value():
    found = bias_variance(KNeighborsRegressor(), GRID, WAVE, vary={"n_neighbors": [1, 5]}, n_sets=3)
    drawing = ElementTree.fromstring(str(found.plot()))
    names = [element.tag.split("}")[-1] for element in drawing.iter()]
    assert names.count("circle") == 2
    assert names.count("rect") == 6
    assert "n_neighbors" in "".join(drawing.itertext())


@pytest.mark.parametrize(
    ("arguments", "sentence"),
    [
        ({"n_sets": 1}, "at least 2 training sets"),
        ({"test_share": 0.0}, "leaves no rows"),
        ({"vary": {}}, "one parameter"),
        ({"truth": np.zeros(3)}, "one true value for each row"),
        ({"truth": np.full(len(WAVE), np.nan)}, "not finite numbers"),
        ({"truth": np.full(len(WAVE), "a")}, "not finite numbers"),
        ({"n_sets": 2.5}, "at least 2 training sets"),
        ({"test_share": np.nan}, "test_share must be a number"),
        ({"test_share": "half"}, "test_share must be a number"),
        ({"draw": 5}, "draw must be a function"),
        ({"draw": lambda rng: None}, "draw must give a training set as X and y; it gave NoneType"),
    ],
)
def test_bad_arguments_are_refused_in_a_sentence(arguments, sentence):
    with pytest.raises((ValueError, TypeError), match=sentence):
        bias_variance(KNeighborsRegressor(), GRID, WAVE, **arguments)


def test_a_model_that_does_not_predict_is_refused():
    with pytest.raises(TypeError, match=r"needs a model that predicts; got StandardScaler\(\)"):
        bias_variance(StandardScaler(), GRID, WAVE)
