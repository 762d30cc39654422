"""Estimates with conjugate priors: the course's numbers, and every formula against numerical integration."""

import numpy as np
import pytest
from scipy import integrate, stats

from learnt.bayes import BetaBernoulli, BetaBinomial, DirichletMultinomial, GaussianEstimate


def test_the_coin_of_the_course():
    """4 heads in 10: 0.4; +1 smoothing 5/12, as the MAP of Beta(2, 2) and as the mean under a flat prior."""
    assert BetaBinomial is BetaBernoulli
    coin = BetaBernoulli().fit([1, 1, 1, 1, 0, 0, 0, 0, 0, 0])
    assert coin.mle == coin.map == pytest.approx(0.4)
    assert coin.mean == coin.predictive() == pytest.approx(5 / 12)
    assert BetaBernoulli.smoothing(1).observe(heads=4, tails=6).map == pytest.approx(5 / 12)
    assert BetaBernoulli(3, 5).observe(4, 6).map == pytest.approx((4 + 3 - 1) / (10 + 3 + 5 - 2))


def test_map_goes_to_maximum_likelihood():
    for n in (10, 1000, 10**6):
        coin = BetaBernoulli(5, 2).observe(0.3 * n, 0.7 * n)
        assert abs(coin.map - coin.mle) <= 6 / n


@pytest.mark.parametrize(("a", "b", "heads", "tails"), [(1, 1, 4, 6), (2.5, 0.7, 0, 3), (1, 1, 0, 0)])
def test_coin_by_integration(a, b, heads, tails):
    coin = BetaBernoulli(a, b).observe(heads, tails)

    def unnormalised(t):
        return t ** (heads + a - 1) * (1 - t) ** (tails + b - 1)

    total = integrate.quad(unnormalised, 0, 1)[0]
    assert coin.mean == pytest.approx(integrate.quad(lambda t: t * unnormalised(t), 0, 1)[0] / total, rel=1e-6)
    assert coin.posterior.pdf(0.3) == pytest.approx(unnormalised(0.3) / total, rel=1e-6)
    low, high = coin.credible_interval(0.8)
    assert integrate.quad(unnormalised, low, high)[0] / total == pytest.approx(0.8, abs=1e-6)
    two = integrate.quad(lambda t: 3 * t * t * (1 - t) * unnormalised(t), 0, 1)[0] / total
    assert coin.predictive(2, n=3) == pytest.approx(two, rel=1e-6)


def test_estimates_do_not_change_and_add_up():
    coin = BetaBernoulli(2, 3)
    once = coin.fit([1, 0, 1], sample_weight=[2, 1, 1])
    assert (coin.heads, coin.tails) == (0, 0)
    assert (once.heads, once.tails) == (3, 1)
    assert once.fit([0]).tails == 2
    assert np.isnan(coin.mle)
    assert eval(repr(once), {"BetaBernoulli": BetaBernoulli}).mean == once.mean


def test_a_die():
    die = DirichletMultinomial([1, 1, 1]).fit([0, 0, 2, 0])
    np.testing.assert_allclose(die.mle, [0.75, 0, 0.25])
    np.testing.assert_allclose(die.map, die.mle)
    np.testing.assert_allclose(die.mean, [4 / 7, 1 / 7, 2 / 7])
    np.testing.assert_allclose(DirichletMultinomial.smoothing(3, 1).observe([3, 0, 1]).map, die.mean)
    np.testing.assert_allclose(die.posterior.mean(), die.mean)
    np.testing.assert_allclose(die.predictive(), die.mean)
    assert die.predictive([0, 1, 0]) == pytest.approx(1 / 7)
    assert sum(die.predictive([i, j, 2 - i - j]) for i in range(3) for j in range(3 - i)) == pytest.approx(1.0)
    low, high = die.credible_interval(0.9)[1]
    draws = stats.beta(1, 6)
    assert draws.cdf(high) - draws.cdf(low) == pytest.approx(0.9)


def test_a_die_with_two_sides_is_a_coin():
    die, coin = DirichletMultinomial([2.0, 3.0]).observe([6, 4]), BetaBernoulli(3, 2).observe(4, 6)
    assert die.map[1] == pytest.approx(coin.map)
    np.testing.assert_allclose(die.credible_interval()[1], coin.credible_interval())


def test_gaussian_without_a_prior_is_students():
    x = np.random.default_rng(0).normal(3, 2, 30)
    found = GaussianEstimate().fit(x)
    assert found.mle == pytest.approx((x.mean(), x.var()))
    expected = stats.t.interval(0.95, 29, x.mean(), stats.sem(x))
    np.testing.assert_allclose(found.credible_interval(), expected, rtol=1e-10)
    assert found.map[0] == pytest.approx(x.mean())
    wide = found.predictive()
    assert wide.std() > x.std()
    pieces = GaussianEstimate().fit(x[:10]).fit(x[10:])
    np.testing.assert_allclose(pieces.credible_interval(), expected, rtol=1e-10)


@pytest.mark.parametrize("n", [1, 4])
def test_gaussian_by_integration(n):
    """Prior, likelihood and posterior of μ and σ² on a grid of both."""
    x = np.array([1.0, 2.0, 4.0, 4.5])[:n]
    found = GaussianEstimate(mean=0.5, weight=2.0, variance=1.5, df=6.0).fit(x)
    mu, var = np.linspace(-8, 10, 901)[:, None], np.exp(np.linspace(-5, 6, 1101))[None, :]
    log_p = stats.invgamma.logpdf(var, 3.0, scale=6 * 1.5 / 2) + stats.norm.logpdf(mu, 0.5, np.sqrt(var / 2))
    log_p = log_p + sum(stats.norm.logpdf(v, mu, np.sqrt(var)) for v in x)
    i, j = np.unravel_index(log_p.argmax(), log_p.shape)
    assert found.map[0] == pytest.approx(mu[i, 0], abs=0.02)
    assert found.map[1] == pytest.approx(var[0, j], rel=0.02)
    p = np.exp(log_p - log_p.max()) * var  # the grid is even in the logarithm of the variance
    p /= p.sum()
    assert found.posterior.mean() == pytest.approx((p * mu).sum(), abs=1e-3)
    assert found.posterior.std() == pytest.approx(np.sqrt((p * mu**2).sum() - (p * mu).sum() ** 2), rel=5e-3)
    assert found.variance_posterior.mean() == pytest.approx((p * var).sum(), rel=5e-3)
    assert found.predictive().cdf(2.0) == pytest.approx((p * stats.norm.cdf(2.0, mu, np.sqrt(var))).sum(), abs=2e-3)


def test_gaussian_with_known_variance():
    found = GaussianEstimate(mean=1.0, weight=4.0, known_variance=2.0).fit([3.0, 5.0])
    assert found.map == (pytest.approx((4 * 1 + 2 * 4) / 6), 2.0)
    assert found.posterior.std() == pytest.approx(np.sqrt(2 / 6))
    assert found.predictive().std() == pytest.approx(np.sqrt(2 + 2 / 6))
    many = GaussianEstimate(mean=1.0, weight=4.0, known_variance=2.0).fit(np.full(10**6, 3.0))
    assert many.map[0] == pytest.approx(many.mle[0], abs=1e-4)


@pytest.mark.parametrize(
    ("call", "message"),
    [
        (lambda: BetaBernoulli(0, 1), "greater than 0"),
        (lambda: BetaBernoulli().fit([2]), "outcomes that are 0"),
        (lambda: BetaBernoulli().observe(-1), "at least 0"),
        (lambda: BetaBernoulli().credible_interval(1.5), "between 0 and 1"),
        (lambda: DirichletMultinomial([1.0]), "two or more numbers"),
        (lambda: DirichletMultinomial([1, 1]).fit([2]), "integers from 0 to 1"),
        (lambda: DirichletMultinomial([1, 1]).observe([1, -1]), "at least 0"),
        (lambda: GaussianEstimate(variance=-1), "greater than 0"),
        (lambda: GaussianEstimate(known_variance=0), "greater than 0"),
        (lambda: GaussianEstimate().fit([]), "at least one"),
        (lambda: GaussianEstimate().map, "Nothing is known of the mean yet"),
        (lambda: GaussianEstimate().fit([1.0]).posterior, "One number says nothing of the variance"),
    ],
)
def test_refusals_are_one_sentence(call, message):
    with pytest.raises(ValueError, match=message) as caught:
        call()
    assert "\n" not in str(caught.value)
