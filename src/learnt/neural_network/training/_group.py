"""Workers that train one network together: synchronous gradient descent.

Every worker has all rows and the same network, and takes its part of each batch. The gradients of the parts, weighted
by their rows, are summed over the workers before every step, so that k workers with batches of b rows take the steps of
one worker with batches of k·b rows, to rounding. `learnt.distributed` starts workers.
"""

from __future__ import annotations

import threading
from dataclasses import replace
from typing import Any

import numpy as np

from learnt.engine.random import task_seed
from learnt.neural_network._torch import torch_for


class _Joined(threading.local):
    """What this thread trains in."""

    group: Group | None = None


_joined = _Joined()


class Group:
    """This process as one of `size` workers, connected by `torch.distributed`."""

    def __init__(self, rank: int, size: int) -> None:
        self.rank, self.size = rank, size

    def part(self, start: int, stop: int) -> tuple[int, int, bool]:
        """This worker's rows of a batch; where there are none, the first row and False, so that it is ignored."""
        n = stop - start
        first, last = start + n * self.rank // self.size, start + n * (self.rank + 1) // self.size
        return (first, last, True) if first < last else (start, start + 1, False)

    def sum(self, tensor: Any) -> None:
        """Over all workers, in place; all get the same bits."""
        torch_for("a network").distributed.all_reduce(tensor)

    def from_first(self, tensor: Any) -> None:
        """What the first worker has, in place."""
        torch_for("a network").distributed.broadcast(tensor, 0)


def join(group: Group | None) -> None:
    """Set the group in which this thread trains networks; None: none."""
    _joined.group = group


def shared(network: Any, data: Any, optimiser: Any, plan: Any, judge: Any, checkpoint: Any) -> tuple[Any, ...]:
    """Network, data, plan, judge and checkpoint as this worker trains with them; unchanged where it is alone."""
    if (group := _joined.group) is None:
        return network, data, plan, judge, checkpoint
    group.from_first(network.parameters.values)
    ours = SharedNetwork(network, group)
    rows = SharedData(data, group, network, optimiser, ours)
    first = group.rank == 0
    plan = replace(plan, batch_size=plan.batch_size * group.size)
    judge = None if judge is None else _judge_of_first(judge, group, network)
    return ours, rows, plan, judge, checkpoint if first or checkpoint is None else _Silent()


class SharedNetwork:
    """A network whose gradients are those of the whole batch; all else is delegated to the network."""

    def __init__(self, network: Any, group: Group) -> None:
        self._network, self._group = network, group
        self.counts = True  # whether this worker has rows in the next batch
        if hasattr(network, "worker"):
            network.worker = group.rank
        values = network.parameters.values
        self._room = torch_for("a network").empty(len(values) + 2, dtype=values.dtype, device=values.device)

    def __getattr__(self, name: str) -> Any:
        return getattr(self._network, name)

    def loss_and_gradients(self, X: Any, y: Any, w: Any = None) -> Any:
        """The mean loss of the batch over all workers, and its gradients."""
        network, room = self._network, self._room
        gradients, alpha = network.parameters.gradients, network.alpha
        network.alpha = 0.0
        try:
            value = network.loss_and_gradients(X, y, w)
        finally:
            network.alpha = alpha
        weight = (float(len(y)) if w is None else float(w.sum())) if self.counts else 0.0
        room[:-2].copy_(gradients).mul_(weight)
        room[-2], room[-1] = float(value) * weight, weight
        self._group.sum(room)
        total = float(room[-1])
        gradients.copy_(room[:-2]).div_(total)
        value = room[-2] / total
        return network.parameters.add_penalty(alpha / total, value) if alpha else value


class SharedData:
    """Data of which each worker takes its part of every batch; all else is delegated to the data."""

    def __init__(self, data: Any, group: Group, network: Any, optimiser: Any, ours: SharedNetwork) -> None:
        self._data, self._group, self._network, self._optimiser, self._ours = data, group, network, optimiser, ours
        self._seed = None if network.generator is None else network.generator.initial_seed()

    def __getattr__(self, name: str) -> Any:
        return getattr(self._data, name)

    def begin_epoch(self, order: np.ndarray | None) -> None:
        self._data.begin_epoch(order)
        if self._seed is not None and not hasattr(self._network, "worker"):
            # Workers must not drop the same units; after a restart they draw as they would have.
            seed = task_seed(self._seed % 2**63, self._group.rank, self._optimiser.t)
            self._network.generator.manual_seed(seed)

    def batch(self, start: int, stop: int) -> tuple[Any, Any, Any]:
        first, last, self._ours.counts = self._group.part(start, stop)
        return self._data.batch(first, last, start, stop)


class _Silent:
    """The checkpoint of all workers but the first, which writes it."""

    def due(self, epoch: int) -> bool:
        return False

    def remove(self) -> None:
        pass


def _judge_of_first(judge: Any, group: Group, network: Any) -> Any:
    """The first worker evaluates, and all workers use its result."""

    def judged(_: Any) -> tuple[float, float]:
        found = judge(network) if group.rank == 0 else (0.0, 0.0)
        device = network.parameters.values.device
        pair = torch_for("a network").tensor(found, dtype=torch_for("a network").float32, device=device)
        group.from_first(pair)
        score, loss = pair.tolist()
        return score, loss

    return judged
