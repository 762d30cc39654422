"""Gradients against finite differences, for every activation and loss."""

from itertools import pairwise

import numpy as np
import pytest
import torch
from scipy import sparse

from learnt.erm import losses
from learnt.neural_network.training import (
    DenseNetwork,
    LogisticOutput,
    LossOutput,
    ModuleNetwork,
    SoftmaxOutput,
    SquaredOutput,
)

rng = np.random.default_rng(0)
N, D, K = 7, 5, 3
X = rng.normal(size=(N, D))
W = rng.uniform(0.5, 2.0, size=N)
NUMBERS = rng.normal(size=(N, K))
ACTIVATIONS = ("identity", "logistic", "sigmoid", "tanh", "relu", "leaky_relu")
OUTPUTS = {
    "squared": (SquaredOutput(), NUMBERS),
    "logistic": (LogisticOutput(), (NUMBERS > 0).astype(float)),
    "softmax": (SoftmaxOutput(), NUMBERS.argmax(axis=1)),
    "poisson": (LossOutput(losses.Poisson()), rng.poisson(2.0, size=(N, K)).astype(float)),
    "gamma": (LossOutput(losses.Gamma()), np.exp(NUMBERS)),
    "tweedie": (LossOutput(losses.Tweedie(1.5)), np.exp(NUMBERS)),
    "huber": (LossOutput(losses.Huber(0.3)), NUMBERS),
    "log_cosh": (LossOutput(losses.LogCosh()), NUMBERS),
    "absolute": (LossOutput(losses.Absolute()), NUMBERS),
    "quantile": (LossOutput(losses.Quantile(0.2)), NUMBERS),
    "insensitive": (LossOutput(losses.EpsilonInsensitive(0.05)), NUMBERS),
    "squared insensitive": (LossOutput(losses.SquaredEpsilonInsensitive(0.05)), NUMBERS),
    "erm squared": (LossOutput(losses.Squared()), NUMBERS),
}


def dense(activation, output, sizes=(D, 4, 4, K), **options):
    draw = np.random.default_rng(1)
    coefs = [draw.normal(scale=0.7, size=pair) for pair in pairwise(sizes)]
    intercepts = [draw.normal(scale=0.3, size=size) for size in sizes[1:]]
    return DenseNetwork(coefs, intercepts, activation, output, **options)


def errors(network, X, y, w):
    """The gradient written out, less central differences of the loss, over the largest entry.

    A step of 10⁻⁶ leaves some 10⁻¹² from the third derivative and 10⁻¹⁶/10⁻⁶ from rounding; kinks of ReLU and of the
    absolute losses are nowhere within the step for these draws, which the smooth parts of the bound would show.
    """
    network.loss_and_gradients(X, y, w)
    gradient = network.parameters.gradients.clone()
    values, numeric = network.parameters.values, torch.empty_like(gradient)
    for i in range(len(values)):
        kept, ends = float(values[i]), []
        for sign in (1, -1):
            values[i] = kept + sign * 1e-6
            ends.append(float(network.loss_and_gradients(X, y, w)))
        values[i] = kept
        numeric[i] = (ends[0] - ends[1]) / 2e-6
    return float((gradient - numeric).abs().max() / gradient.abs().max())


@pytest.mark.parametrize("weights", [False, True])
@pytest.mark.parametrize("activation", ACTIVATIONS)
def test_every_activation(activation, weights):
    output, y = OUTPUTS["softmax"]
    network = dense(activation, output, alpha=0.1)
    w = torch.from_numpy(W) if weights else None
    assert errors(network, torch.from_numpy(X), torch.from_numpy(y), w) < 1e-7


@pytest.mark.parametrize("weights", [False, True])
@pytest.mark.parametrize("name", OUTPUTS)
def test_every_loss(name, weights):
    output, y = OUTPUTS[name]
    w = torch.from_numpy(W) if weights else None
    assert errors(dense("tanh", output, alpha=0.1), torch.from_numpy(X), torch.from_numpy(y), w) < 1e-7


def test_sparse_rows_give_the_gradient_of_dense_ones():
    table = np.where(X > 0.3, X, 0.0)
    thin = sparse.csr_matrix(table)
    one, other = dense("relu", SquaredOutput()), dense("relu", SquaredOutput())
    y = torch.from_numpy(NUMBERS)
    losses = [float(one.loss_and_gradients(thin, y)), float(other.loss_and_gradients(torch.from_numpy(table), y))]
    assert losses[0] == pytest.approx(losses[1], rel=1e-13)
    torch.testing.assert_close(one.parameters.gradients, other.parameters.gradients, rtol=1e-12, atol=1e-13)


@pytest.mark.parametrize("activation", ACTIVATIONS)
def test_dropout_has_the_gradient_of_its_own_draw(activation):
    class Again:
        """The same mask at every call."""

        def __init__(self, network):
            self.network, self.parameters = network, network.parameters

        def loss_and_gradients(self, *batch):
            self.network.generator.manual_seed(5)
            return self.network.loss_and_gradients(*batch)

    network = dense(activation, SquaredOutput(), dropout=0.4, generator=torch.Generator())
    assert errors(Again(network), torch.from_numpy(X), torch.from_numpy(NUMBERS), None) < 1e-7


def test_the_written_gradient_is_that_of_automatic_differentiation():
    torch.manual_seed(0)
    module = torch.nn.Sequential(torch.nn.Linear(D, 6), torch.nn.Tanh(), torch.nn.Linear(6, K)).double()
    by_hand = DenseNetwork(
        [module[0].weight.detach().t().numpy(), module[2].weight.detach().t().numpy()],
        [module[0].bias.detach().numpy(), module[2].bias.detach().numpy()],
        "tanh",
        SoftmaxOutput(),
        alpha=0.3,
    )
    network = ModuleNetwork(module, SoftmaxOutput(), alpha=0.3)
    batch = torch.from_numpy(X), torch.from_numpy(NUMBERS.argmax(axis=1)), torch.from_numpy(W)
    values = [float(one.loss_and_gradients(*batch)) for one in (by_hand, network)]
    assert values[0] == pytest.approx(values[1], rel=1e-13)
    for i, name in ((0, "0"), (1, "2")):
        found = network.parameters.gradient_views[f"{name}.weight"].t()
        torch.testing.assert_close(found, by_hand.parameters.gradient_views[f"coefs_[{i}]"], rtol=1e-12, atol=1e-14)
        found = network.parameters.gradient_views[f"{name}.bias"]
        torch.testing.assert_close(
            found, by_hand.parameters.gradient_views[f"intercepts_[{i}]"], rtol=1e-12, atol=1e-14
        )
    torch.testing.assert_close(network.predict(batch[0]), by_hand.predict(batch[0]), rtol=1e-12, atol=1e-14)
