"""Every loss, found by walking the room: derivatives by differences and by autodiff, compiled = definition, laws."""

import inspect

import array_api_strict as xps
import numpy as np
import pytest
import sklearn.metrics
import torch

from learnt.erm import losses
from learnt.erm.losses import (
    Absolute,
    EpsilonInsensitive,
    Exponential,
    Gamma,
    Hinge,
    Huber,
    Log,
    LogCosh,
    ModifiedHuber,
    Poisson,
    Quantile,
    Softmax,
    Squared,
    SquaredEpsilonInsensitive,
    SquaredHinge,
    Tweedie,
    ZeroOne,
)

ALL = [
    Squared(), Absolute(), Huber(0.7), LogCosh(), Quantile(0.3), EpsilonInsensitive(0.2),
    SquaredEpsilonInsensitive(0.2), Poisson(), Gamma(), Tweedie(1.4), Log(), Hinge(), Hinge(0.0), SquaredHinge(),
    Exponential(), ModifiedHuber(),
]  # fmt: skip
each = pytest.mark.parametrize("loss", ALL, ids=repr)


def data(loss, n=60, seed=0):
    """Targets of the loss's kind and scores away from its corners."""
    rng = np.random.default_rng(seed)
    score = rng.normal(size=n)
    if loss.target == "sign":
        return rng.choice([-1.0, 1.0], size=n), score
    return (rng.gamma(2.0, size=n) if loss.lowest[0] == 0 else rng.normal(size=n)), score


def check_derivatives(loss):
    y, s = data(loss)
    h = 1e-5
    slope = (loss.value(y, s + h) - loss.value(y, s - h)) / (2 * h)
    np.testing.assert_allclose(loss.gradient(y, s), slope, atol=1e-6, rtol=1e-6)
    bend = (loss.gradient(y, s + h) - loss.gradient(y, s - h)) / (2 * h)
    np.testing.assert_allclose(loss.curvature(y, s), bend, atol=1e-6, rtol=1e-6)


def test_the_list_is_complete():
    classes = {
        thing
        for name, thing in vars(losses).items()
        if inspect.isclass(thing) and issubclass(thing, losses.Loss) and thing is not losses.Loss
    }
    assert classes == {type(loss) for loss in ALL} | {ZeroOne, Softmax}
    assert classes == set(losses.NAMES.values())
    assert len({loss.code for loss in ALL}) == 15


@each
def test_derivatives_by_differences(loss):
    check_derivatives(loss)


def test_the_law_bites():
    class Wrong(Squared):
        def gradient(self, y, score):
            return score - y

    with pytest.raises(AssertionError):
        check_derivatives(Wrong())


@each
def test_derivatives_by_autodiff(loss):
    y, s = data(loss, seed=1)
    score = torch.tensor(s, requires_grad=True)
    target = torch.tensor(y)
    (slope,) = torch.autograd.grad(loss.value(target, score).sum(), score, create_graph=True)
    np.testing.assert_allclose(loss.gradient(y, s), slope.detach().numpy(), rtol=1e-9, atol=1e-12)
    np.testing.assert_allclose(loss.gradient(target, score.detach()).numpy(), loss.gradient(y, s), rtol=1e-12)
    if slope.requires_grad:
        (bend,) = torch.autograd.grad(slope.sum(), score, allow_unused=True)
        if bend is not None:
            np.testing.assert_allclose(loss.curvature(y, s), bend.numpy(force=True), rtol=1e-8, atol=1e-10)


@each
def test_any_namespace_and_plain_numbers(loss):
    y, s = data(loss, n=5)
    for method in ("value", "gradient", "curvature"):
        found = getattr(loss, method)(xps.asarray(y), xps.asarray(s))
        expected = getattr(loss, method)(y, s)
        np.testing.assert_allclose(np.asarray(found), expected)
        assert np.isclose(float(getattr(loss, method)(float(y[0]), float(s[0]))), expected[0])
        assert getattr(loss, method)(y.astype(np.float32), s.astype(np.float32)).dtype == np.float32


@each
def test_compiled_equals_definition(loss):
    y, s = data(loss, n=400, seed=2)
    s[:20] = y[:20]  # corners too
    out = np.empty_like(s)
    losses.loss_values(loss.code, loss.parameter, y, s, out)
    np.testing.assert_allclose(out, loss.value(y, s), rtol=1e-12, atol=1e-12)
    losses.loss_gradients(loss.code, loss.parameter, y, s, out)
    np.testing.assert_allclose(out, loss.gradient(y, s), rtol=1e-12, atol=1e-12)
    losses.loss_curvatures(loss.code, loss.parameter, y, s, out)
    np.testing.assert_allclose(out, loss.curvature(y, s), rtol=1e-11, atol=1e-12)


@each
def test_convex_nonnegative_and_with_the_declared_slope(loss):
    y, s = data(loss, n=500, seed=3)
    t = np.random.default_rng(4).normal(size=500)
    assert (loss.value(y, (s + t) / 2) <= (loss.value(y, s) + loss.value(y, t)) / 2 + 1e-12).all()
    assert (loss.value(y, s) >= -1e-12).all()
    if loss.steepest is not None:
        assert loss.curvature(y, 3 * s).max() <= loss.steepest + 1e-12
        assert np.isclose(loss.curvature(y, 0 * s + y).max(), loss.steepest) or loss.target == "sign" or loss.code == 6


@pytest.mark.parametrize("loss", [loss for loss in ALL if hasattr(loss, "prox")], ids=repr)
def test_prox_by_brute_force(loss):
    y, s = data(loss, n=30, seed=5)
    grid = np.linspace(-6, 6, 24001)
    for yi, si in zip(y, s):
        best = grid[np.argmin(loss.value(yi, grid) + (grid - si) ** 2 / (2 * 0.4))]
        assert abs(float(loss.prox(yi, si, 0.4)) - best) < 1e-3


@pytest.mark.parametrize("loss", [Squared(), Log()], ids=repr)
def test_conjugate_by_brute_force(loss):
    y, s = data(loss, n=10, seed=6)
    u = 0.9 * loss.gradient(y, s)
    grid = np.linspace(-30, 30, 120001)
    best = [np.max(ui * grid - loss.value(yi, grid)) for ui, yi in zip(u, y)]
    np.testing.assert_allclose(loss.conjugate(y, u), best, atol=1e-6)


def test_the_mean_of_a_loss_is_the_metric_of_that_name():
    y, s = data(Gamma(), seed=7)
    m = sklearn.metrics
    assert np.isclose(Squared().value(y, s).mean(), m.mean_squared_error(y, s))
    assert np.isclose(Absolute().value(y, s).mean(), m.mean_absolute_error(y, s))
    assert np.isclose(Quantile(0.3).value(y, s).mean(), m.mean_pinball_loss(y, s, alpha=0.3))
    assert np.isclose(Poisson().value(y, s).mean(), m.mean_poisson_deviance(y, np.exp(s)))
    assert np.isclose(Gamma().value(y, s).mean(), m.mean_gamma_deviance(y, np.exp(s)))
    assert np.isclose(Tweedie(1.4).value(y, s).mean(), m.mean_tweedie_deviance(y, np.exp(s), power=1.4))
    y, s = data(Log(), seed=8)
    assert np.isclose(Log().value(y, s).mean(), m.log_loss(y, Log().mean(s)))
    assert np.isclose(Hinge().value(y, s).mean(), m.hinge_loss(y, s))
    assert np.isclose(ZeroOne().value(y, s).mean(), m.zero_one_loss(y, np.sign(s)))


def test_zero_one_has_a_value_only_and_the_others_bound_it():
    y, s = data(Log(), n=1000, seed=9)
    wrong = ZeroOne().value(y, s)
    assert not hasattr(ZeroOne(), "gradient")
    assert ZeroOne().value(1.0, 0.0) == 1.0
    for loss in (Hinge(), SquaredHinge(), Exponential()):
        assert (loss.value(y, s) >= wrong).all()
    assert (Log().value(y, s) / np.log(2) >= wrong).all()  # to base 2 only
    assert not (Log().value(y, s) >= wrong).all()


def test_softmax_by_autodiff_and_its_hessian_blocks():
    rng = np.random.default_rng(0)
    y, s = rng.integers(0, 4, size=12), rng.normal(size=(12, 4))
    score = torch.tensor(s, requires_grad=True)
    oracle = torch.nn.functional.cross_entropy(score, torch.tensor(y), reduction="sum")
    (slope,) = torch.autograd.grad(oracle, score)
    loss = Softmax()
    np.testing.assert_allclose(loss.value(y, s).sum(), float(oracle.detach()))
    np.testing.assert_allclose(loss.gradient(y, s), slope.numpy(), atol=1e-12)
    for i in range(12):
        block = torch.autograd.functional.hessian(
            lambda row, i=i: torch.nn.functional.cross_entropy(row[None], torch.tensor(y[i : i + 1])),
            torch.tensor(s[i]),
        )
        np.testing.assert_allclose(loss.curvature(y, s)[i], block.numpy(), atol=1e-12)
    assert np.linalg.eigvalsh(loss.curvature(y, s)).max() <= loss.steepest + 1e-12
    for wrap in (torch.tensor, xps.asarray):
        for method in ("value", "gradient", "curvature"):
            found = getattr(loss, method)(wrap(y), wrap(s))
            np.testing.assert_allclose(np.asarray(found), getattr(loss, method)(y, s), atol=1e-12)


def test_huge_scores_stay_finite():
    s = np.array([-1e4, 1e4])
    for y in (-1.0, 1.0):
        for method in ("value", "gradient", "curvature"):
            assert np.isfinite(getattr(Log(), method)(y, s)).all()
    assert np.isfinite(LogCosh().value(0.0, s)).all()
    assert np.isfinite(Softmax().value(np.array([0]), s[None])).all()


def test_a_power_outside_gets_one_sentence():
    with pytest.raises(ValueError, match="between 1 and 2 and got 3; for 1 use Poisson"):
        Tweedie(3)


@each
def test_both_at_once_are_the_same(loss):
    y, s = data(loss, n=50, seed=10)
    both = np.array([losses.loss_both(loss.code, loss.parameter, *pair) for pair in zip(y, s)])
    np.testing.assert_allclose(both.T, [loss.value(y, s), loss.gradient(y, s)], rtol=1e-12, atol=1e-12)
