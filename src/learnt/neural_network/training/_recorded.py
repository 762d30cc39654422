"""Steps on a GPU, recorded once as a CUDA graph and replayed.

A step of a small network is some thirty kernels of a few microseconds; to start them from Python takes several times as
long as they run. What changes from step to step lies on the device: the rows of the whole epoch, the learning rates
of its steps, and the number of the step, which the recording itself counts up.
"""

from __future__ import annotations

from typing import Any

from learnt.neural_network._torch import torch_for
from learnt.neural_network.training._data import Data
from learnt.neural_network.training._optimisers import Optimiser

_WARM_UP = 3  # steps before recording: libraries choose their kernels and take their memory
_LEAST_STEPS = 50  # steps from which recording pays


class Steps:
    """The full batches of an epoch, each a call without arguments.

    Parameters
    ----------
    network, data, optimiser : as `train` takes them
    batch_size : int
    """

    def __init__(self, network: Any, data: Data, optimiser: Optimiser, batch_size: int) -> None:
        torch, device = torch_for("a network"), network.parameters.values.device
        self.network, self.data, self.optimiser, self.batch_size = network, data, optimiser, batch_size
        self.n_steps = data.n // batch_size
        self.places = torch.zeros((self.n_steps, batch_size), dtype=torch.int64, device=device)
        self.rates = torch.zeros(self.n_steps, dtype=network.parameters.values.dtype, device=device)
        self.number = torch.zeros(1, dtype=torch.int64, device=device)
        self.total = torch.zeros((), dtype=torch.float64, device=device)

    def begin_epoch(self) -> None:
        """Copy the order of the rows and the rates of all steps to the device."""
        torch, rows = torch_for("a network"), self.n_steps * self.batch_size
        order = self.data.places
        if order is None:
            order = torch.arange(rows, device=self.places.device)
        self.places.view(-1).copy_(order[:rows])
        self.rates.copy_(torch.as_tensor(self.optimiser.next_rates(self.n_steps)))
        self.number.zero_()
        self.total.zero_()

    def step(self) -> None:
        """The next batch: its gradients, one step of the optimiser, its loss added to `total`."""
        places = self.places.index_select(0, self.number).view(-1)
        rate = self.rates.index_select(0, self.number)
        value = self.network.loss_and_gradients(*self.data.take(places))
        self.total.add_(value, alpha=self.batch_size)
        self.optimiser.move(rate)
        self.number.add_(1)


class RecordedSteps(Steps):
    """Steps as a CUDA graph. What the warm-up changed is put back."""

    def __init__(self, network: Any, data: Data, optimiser: Optimiser, batch_size: int) -> None:
        super().__init__(network, data, optimiser, batch_size)
        torch = torch_for("a network")
        changed = {"values": network.parameters.values, **optimiser.state(), **network.buffers()}
        before = {name: tensor.clone() for name, tensor in changed.items()}
        draws = network.generator
        drawn = None if draws is None else draws.get_state()
        aside = torch.cuda.Stream()
        aside.wait_stream(torch.cuda.current_stream())
        with torch.cuda.stream(aside):
            for _ in range(_WARM_UP):
                self.number.zero_()
                self.step()
        torch.cuda.current_stream().wait_stream(aside)
        self.number.zero_()
        self.graph = torch.cuda.CUDAGraph()
        if draws is not None:  # each replay draws new random numbers, as the step itself would
            self.graph.register_generator_state(draws)
        with torch.cuda.graph(self.graph):
            self.step()
        for name, tensor in changed.items():
            tensor.copy_(before[name])
        if draws is not None:
            draws.set_state(drawn)

    def epoch(self) -> tuple[float, int]:
        """All full batches; the sum of their rows' losses, and how many rows they were."""
        self.begin_epoch()
        for _ in range(self.n_steps):
            self.graph.replay()
        self.optimiser.t += self.n_steps
        return float(self.total), self.n_steps * self.batch_size


def recorded(network: Any, data: Any, optimiser: Any, batch_size: int, epochs: int) -> RecordedSteps | None:
    """Recorded steps where possible and worth while.

    None on a CPU, for one of several workers, and where a step looks at a result from Python: weighted rows.
    """
    if type(data) is not Data or not hasattr(data.X, "index_select"):
        return None
    if network.parameters.values.device.type != "cuda":
        return None
    if data.w is not None or data.n // batch_size * epochs < _LEAST_STEPS:
        return None
    return RecordedSteps(network, data, optimiser, batch_size) if data.n >= batch_size else None
