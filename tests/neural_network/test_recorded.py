"""Steps whose rows, rates and number lie on the device, as they are recorded on a GPU; here without a recording."""

from itertools import pairwise

import numpy as np
import pytest
import torch

from learnt.neural_network.training import Adam, Data, DenseNetwork, ModuleNetwork, SoftmaxOutput
from learnt.neural_network.training._loop import _epoch
from learnt.neural_network.training._recorded import Steps, recorded

rng = np.random.default_rng(0)
X, y = torch.from_numpy(rng.normal(size=(103, 5))), torch.from_numpy(rng.integers(3, size=103))
SIZES = (5, 7, 3)
COEFS = [rng.normal(size=shape) / 2 for shape in pairwise(SIZES)]
BIASES = [rng.normal(size=size) / 10 for size in SIZES[1:]]


def dense():
    return DenseNetwork(COEFS, BIASES, "tanh", SoftmaxOutput(), alpha=0.1)


def dropping():
    draws = torch.Generator().manual_seed(0)
    return DenseNetwork(COEFS, BIASES, "tanh", SoftmaxOutput(), alpha=0.1, dropout=0.3, generator=draws)


def normed():
    torch.manual_seed(0)
    # No bias before a batch norm: its gradient is rounding alone, which Adam would make large.
    parts = torch.nn.Linear(5, 7, bias=False), torch.nn.BatchNorm1d(7), torch.nn.Linear(7, 3)
    module = torch.nn.Sequential(*parts).double()
    return ModuleNetwork(module, SoftmaxOutput(), alpha=0.1)


class Repeated(Steps):
    """What a recording does, by calling the step again."""

    def epoch(self):
        self.begin_epoch()
        for _ in range(self.n_steps):
            self.step()
        self.optimiser.t += self.n_steps
        return float(self.total), self.n_steps * self.batch_size


@pytest.mark.parametrize("make", [dense, normed, dropping])
@pytest.mark.parametrize("shuffled", [True, False])
def test_three_epochs_are_those_of_the_loop(make, shuffled):
    """Fifteen steps whose sums differ in the last bits; 10⁻¹⁰ is a million of them."""
    found = []
    for kind in (None, Repeated):
        network, data = make(), Data(X, y)
        optimiser = Adam(network.parameters, 0.01)
        steps = None if kind is None else kind(network, data, optimiser, 20)
        losses = []
        for epoch in range(3):
            data.begin_epoch(np.random.default_rng(epoch).permutation(103) if shuffled else None)
            losses.append(_epoch(network, data, optimiser, 20, steps))
        assert optimiser.t == 18
        found.append((losses, network.parameters.values.numpy(), *(b.numpy() for b in network.buffers().values())))
    for ours, expected in zip(*found):
        np.testing.assert_allclose(ours, expected, rtol=1e-10)


def test_a_cpu_records_nothing():
    network, data = dense(), Data(X, y)
    assert recorded(network, data, Adam(network.parameters, 0.01), 20, 100) is None
