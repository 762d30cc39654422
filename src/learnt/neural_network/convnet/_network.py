"""A network of layers in training: a batch is cut into pieces that threads work on at once.

torch's own threads add up gradients in an order that depends on their number, and wait for each other in every
operation. Here the batch is cut into pieces that depend on the layers only, each is done by one thread from the first
layer to the last and back, and gradients are added in the order of the pieces: the same bits on any number of threads.
"""

from __future__ import annotations

from collections.abc import Sequence
from functools import partial
from itertools import pairwise
from typing import Any

from learnt.engine.random import task_seed
from learnt.engine.threads import run_tasks
from learnt.neural_network._torch import torch_for
from learnt.neural_network.layers import Step
from learnt.neural_network.layers._specs import BatchNorm, Conv, Dense, Dropout
from learnt.neural_network.training import ModuleNetwork, Output

_PRODUCTS = 1 << 25  # of a piece: some milliseconds
_LEAST_ROWS, _MOST_PIECES = 16, 16
_PREDICTED = 256  # rows at once


class LayersNetwork(ModuleNetwork):
    """Layers in their places as a network of the training loop; images are (n, rows, columns, channels)."""

    def __init__(
        self, steps: Sequence[Step], output: Output, seed: int, *, alpha: float, device: Any = "cpu", dtype: Any = None
    ) -> None:
        from learnt.neural_network.layers._module import build

        torch = torch_for("a network")
        learning = [step for step in steps if isinstance(step.layer, Conv | Dense)]
        module = build(steps, seed)
        super().__init__(
            module,
            output,
            alpha=alpha,
            layers=[(step.name, f"{step.name}.weight") for step in learning],
            watched={s.name: getattr(module, s.name) for s in learning if s.layer.activation == "relu"},  # type: ignore[union-attr]
            generator=torch.Generator(device).manual_seed(task_seed(seed, len(steps))),
            device=device,
            dtype=dtype,
        )
        self.dtype = dtype or torch.float32
        self.steps = list(steps)
        self.worker: int | None = None  # index among workers that share a batch: each has its own random numbers
        self._drops = any(isinstance(step.layer, Dropout) for step in steps)
        rows = max(_LEAST_ROWS, _PRODUCTS // max(1, sum(step.n_products for step in steps)))
        # Batch normalisation needs the whole batch; a device has its own threads.
        whole = any(isinstance(step.layer, BatchNorm) for step in steps) or str(device) != "cpu"
        self._piece = None if whole else rows

    def pieces(self, n: int) -> list[tuple[int, int]]:
        """From and to which row of a batch of n each piece goes."""
        if self._piece is None or n <= self._piece:
            return [(0, n)]
        k = min(_MOST_PIECES, -(-n // self._piece))
        ends = [n * i // k for i in range(k + 1)]
        return list(pairwise(ends))

    def loss_and_gradients(self, X: Any, y: Any, w: Any = None) -> Any:
        from learnt.neural_network.layers._module import draws

        torch = torch_for("a network")
        self.module.train()
        seed = None
        if self._drops and self.worker is None and self.generator.device.type != "cpu":
            draws.generator = self.generator  # one piece, one worker: no hand-over between threads
        elif self._drops:  # one draw a batch, whatever the pieces and workers
            drawn = torch.randint(2**62, (1,), generator=self.generator, device=self.generator.device)
            seed = task_seed(int(drawn), self.worker or 0)
        pieces = self.pieces(len(y))
        total = len(y) if w is None else w.sum()
        tasks = [
            partial(self._piece_of, X[a:b], y[a:b], None if w is None else w[a:b], seed, place, total)
            for place, (a, b) in enumerate(pieces)
        ]
        found = [tasks[0]()] if len(tasks) == 1 else run_tasks(tasks)
        views = [self.parameters.gradient_views[name] for name, _ in self.module.named_parameters()]
        value = found[0][0]
        torch._foreach_copy_(views, found[0][1])
        for more, gradients in found[1:]:
            value = value + more
            torch._foreach_add_(views, gradients)
        if self.alpha:
            value = self.parameters.add_penalty(self.alpha / (total if w is None else float(total)), value)
        return value

    def _piece_of(self, X: Any, y: Any, w: Any, seed: int | None, place: int, total: Any) -> tuple[Any, list[Any]]:
        """The share of some rows in the loss of a batch whose rows weigh `total`, and its gradients."""
        from learnt.neural_network.layers._module import draws

        torch = torch_for("a network")
        if torch.get_num_threads() != 1 and X.device.type == "cpu":  # a setting of each thread
            torch.set_num_threads(1)
        if seed is not None:
            draws.generator = torch.Generator(X.device).manual_seed(task_seed(seed, place))
        with torch.enable_grad():
            z = self.module(X.movedim(-1, 1))
        with torch.no_grad():
            share = (len(y) if w is None else w.sum()) / total
            value, delta = self.output.value_and_delta(z.detach(), y, w)
            value, delta = value * share, delta.mul_(share)
        return value, list(torch.autograd.grad(z, list(self.module.parameters()), delta))

    def predict(self, X: Any) -> Any:
        torch = torch_for("a network")
        self.module.eval()
        rows = _PREDICTED if self._on_cpu(X) else 64 * _PREDICTED
        tasks = [partial(self._forward, X[a : a + rows]) for a in range(0, len(X), rows)]
        parts = [tasks[0]()] if len(tasks) == 1 else run_tasks(tasks) if self._on_cpu(X) else [task() for task in tasks]
        return parts[0] if len(parts) == 1 else torch.cat(parts)

    def _on_cpu(self, X: Any) -> bool:
        return X.device.type == "cpu"

    def _forward(self, X: Any) -> Any:
        torch = torch_for("a network")
        if self._on_cpu(X) and torch.get_num_threads() != 1:
            torch.set_num_threads(1)
        with torch.no_grad():
            return self.module(X.movedim(-1, 1))
