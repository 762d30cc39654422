"""AnscombeTransformer: the variance it promises, and its inverses."""

import numpy as np
import pytest
from scipy import stats
from sklearn.compose import TransformedTargetRegressor

from learnt.linear_model import LinearRegression
from learnt.preprocessing import AnscombeTransformer
from learnt.preprocessing._anscombe import mean_of_root, unbiased_inverse


@pytest.mark.parametrize("mean", [5.0, 20.0, 300.0])
@pytest.mark.parametrize(("gain", "offset"), [(1.0, 0.0), (2.5, 100.0), (-3.0, 7.0)])
def test_poisson_variance_becomes_one(mean, gain, offset):
    """By the distribution itself, not by a sample."""
    k = np.arange(0, 1000)
    chance = stats.poisson(mean).pmf(k)
    z = AnscombeTransformer(gain, offset).fit_transform((gain * k + offset)[:, None])[:, 0]
    centre = chance @ z
    assert chance @ (z - centre) ** 2 == pytest.approx(1.0, abs=0.02 if mean > 10 else 0.05)
    assert centre == pytest.approx(2 * np.sqrt(mean + 0.375) - 1 / (4 * np.sqrt(mean)), abs=2e-2)


def test_an_amplified_count_without_gain_and_offset_is_not_stabilised():
    x = 10.0 * np.random.default_rng(0).poisson(20.0, size=(5000, 1)) + 50.0
    assert AnscombeTransformer().fit_transform(x).var() > 5
    assert AnscombeTransformer(10.0, 50.0).fit_transform(x).var() == pytest.approx(1.0, abs=0.06)


def test_inverses():
    X = np.array([[0.0, 3.0], [17.0, 1e5]])
    assert AnscombeTransformer(inverse="algebraic").fit(X).inverse_transform(
        AnscombeTransformer().fit_transform(X)
    ) == pytest.approx(X)
    mean = np.array([0.0, 0.01, 0.7, 4.0, 33.3, 2499.0, 2600.0, 1e5])
    z = mean_of_root(mean)
    np.testing.assert_allclose(unbiased_inverse(z), mean, rtol=2e-7, atol=1e-7)
    both = AnscombeTransformer(2.0, 9.0).fit(z[:, None])
    np.testing.assert_allclose(both.inverse_transform(z[:, None])[:, 0], 2.0 * mean + 9.0, rtol=1e-6)
    large = AnscombeTransformer(inverse="asymptotic").fit(z[:, None]).inverse_transform(z[-1:, None])
    np.testing.assert_allclose(large, 1e5, rtol=1e-7)
    assert unbiased_inverse(np.array([0.0, 1.0]))[1] == 0.0


def test_the_exact_inverse_of_a_mean_is_unbiased():
    counts = np.random.default_rng(0).poisson(2.0, size=(200_000, 1)).astype(float)
    exact, algebraic = AnscombeTransformer(), AnscombeTransformer(inverse="algebraic")
    mean = exact.fit_transform(counts).mean(keepdims=True).reshape(1, 1)
    assert exact.inverse_transform(mean)[0, 0] == pytest.approx(2.0, abs=0.01)
    assert algebraic.fit(counts).inverse_transform(mean)[0, 0] < 1.9


def test_as_the_transform_of_a_target():
    rng = np.random.default_rng(0)
    X = rng.uniform(2.0, 10.0, size=(3000, 1))
    y = rng.poisson((X[:, 0] + 1) ** 2 / 4)
    model = TransformedTargetRegressor(LinearRegression(), transformer=AnscombeTransformer(), check_inverse=False).fit(
        X, y
    )
    np.testing.assert_allclose(model.predict([[3.0], [7.0]]), [4.0, 16.0], rtol=0.03)


def test_columns_of_their_own_and_values_below_zero():
    X = np.array([[10.0, -50.0], [12.0, 60.0]])
    z = AnscombeTransformer(gain=[1.0, 2.0], offset=[10.0, 0.0]).fit_transform(X)
    np.testing.assert_allclose(z, [[2 * np.sqrt(0.375), 0.0], [2 * np.sqrt(2.375), 2 * np.sqrt(30.375)]])
    assert AnscombeTransformer().fit_transform(X.astype(np.float32)).dtype == np.float32


@pytest.mark.parametrize(
    "params", [{"gain": 0}, {"gain": [1.0, 2.0, 3.0]}, {"offset": np.nan}, {"gain": "x"}, {"inverse": "other"}]
)
def test_bad_parameters(params):
    with pytest.raises(ValueError, match=f"The '{next(iter(params))}' parameter of AnscombeTransformer"):
        AnscombeTransformer(**params).fit(np.ones((3, 2)))
