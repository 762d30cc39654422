"""Steps and learning rates against their formulas, written in NumPy."""

import math

import numpy as np
import pytest
import torch

from learnt.neural_network.training import Adagrad, Adam, Descent, Parameters, Rate

rng = np.random.default_rng(0)
START = rng.normal(size=40)
CURVES = rng.uniform(0.5, 3.0, size=40)
RATE, BETA, EPSILON = 0.05, 0.9, 1e-3
STEPS = 30


def gradient(w):
    """Of Σ cᵢ wᵢ²/2 + Σ cos wᵢ."""
    return CURVES * w - np.sin(w)


def run(make):
    parameters = Parameters([("w", torch.from_numpy(START), True)])
    optimiser = make(parameters)
    for _ in range(STEPS):
        parameters.gradients.copy_(torch.from_numpy(gradient(parameters.values.numpy())))
        optimiser.step()
    return parameters.values.numpy()


def plain():
    w = START.copy()
    for _ in range(STEPS):
        w = w - RATE * gradient(w)
    return w


def momentum():
    w, v = START.copy(), np.zeros(40)
    for _ in range(STEPS):
        v = BETA * v + RATE * gradient(w)
        w = w - v
    return w


def nesterov():
    """v ← βv + α∇L(w − βv), w ← w − v; training stores the point w − βv, where gradients are taken."""
    w, v = START.copy(), np.zeros(40)
    for _ in range(STEPS):
        v = BETA * v + RATE * gradient(w - BETA * v)
        w = w - v
    return w - BETA * v


def adagrad():
    w, s = START.copy(), np.zeros(40)
    for _ in range(STEPS):
        g = gradient(w)
        s = s + g**2
        w = w - RATE * g / np.sqrt(s + EPSILON)
    return w


def adam():
    w, m, v = START.copy(), np.zeros(40), np.zeros(40)
    for t in range(1, STEPS + 1):
        g = gradient(w)
        m, v = 0.9 * m + 0.1 * g, 0.999 * v + 0.001 * g**2
        w = w - RATE * math.sqrt(1 - 0.999**t) / (1 - 0.9**t) * m / (np.sqrt(v) + EPSILON)
    return w


def in_parts(parameters):
    optimiser = Adam(parameters, RATE, epsilon=EPSILON)
    optimiser._one_pass = None
    return optimiser


RULES = {
    "sgd": (lambda p: Descent(p, RATE), plain),
    "momentum": (lambda p: Descent(p, RATE, BETA), momentum),
    "nesterov": (lambda p: Descent(p, RATE, BETA, nesterov=True), nesterov),
    "adagrad": (lambda p: Adagrad(p, RATE, EPSILON), adagrad),
    "adam": (lambda p: Adam(p, RATE, epsilon=EPSILON), adam),
    "adam without PyTorch's one pass": (in_parts, adam),
}


@pytest.mark.parametrize("name", RULES)
def test_steps_are_those_of_the_formula(name):
    """Thirty steps of some ten roundings each, none of which a contraction makes larger: 10⁻¹² is a thousandfold."""
    make, formula = RULES[name]
    np.testing.assert_allclose(run(make), formula(), rtol=1e-12, atol=1e-12)


@pytest.mark.parametrize("name", RULES)
def test_steps_by_a_rate_on_the_device_are_those_of_the_formula(name):
    """The form in which steps are recorded on a GPU; the bound is that of `step`."""
    make, formula = RULES[name]
    parameters = Parameters([("w", torch.from_numpy(START), True)])
    optimiser = make(parameters)
    for rates in (optimiser.next_rates(7), None):  # in two parts: rates go on where the last part ended
        if rates is None:
            rates = optimiser.next_rates(STEPS - 7)
        for rate in torch.from_numpy(rates):
            parameters.gradients.copy_(torch.from_numpy(gradient(parameters.values.numpy())))
            optimiser.move(rate[None])
        optimiser.t += len(rates)
    np.testing.assert_allclose(parameters.values.numpy(), formula(), rtol=1e-12, atol=1e-12)


def test_an_optimiser_continues_from_anothers_state():
    def make(parameters):
        return Adam(parameters, RATE)

    whole = run(make)
    parameters = Parameters([("w", torch.from_numpy(START), True)])
    optimiser = make(parameters)
    for step in range(STEPS):
        if step == 11:
            state = {name: tensor.clone() for name, tensor in optimiser.state().items()}
            rate, t = optimiser.rate, optimiser.t
            optimiser = make(parameters)
            optimiser.restore(state, rate, t)
        parameters.gradients.copy_(torch.from_numpy(gradient(parameters.values.numpy())))
        optimiser.step()
    np.testing.assert_array_equal(parameters.values.numpy(), whole)


def test_learning_rates():
    assert Rate("constant", 0.1).after(0.1, 5, 500) == 0.1
    assert Rate("invscaling", 0.1, power_t=0.5).after(0.1, 5, 99) == pytest.approx(0.01)
    assert Rate("exponential", 0.1).after(0.1, 2, 99) == pytest.approx(0.1 * 0.95**2)
    assert Rate("cosine", 0.1, epochs=10).after(0.1, 5, 99) == pytest.approx(0.05)
    assert Rate("cosine", 0.1, epochs=10).after(0.1, 10, 99) == pytest.approx(0.0, abs=1e-17)
    assert Rate("adaptive", 0.1).when_flat(0.1) == pytest.approx(0.02)
    assert Rate("adaptive", 0.1).when_flat(1e-7) is None
    assert Rate("constant", 0.1).when_flat(0.1) is None
