"""All parameters of a network side by side in one vector, and their gradients in another.

An optimiser's step, the mean of gradients over workers, a checkpoint and the best weights so far are then each one
operation, whatever the layers are. Weights, which `alpha` pulls towards 0, come first; biases and scales after them.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np

from learnt.neural_network._torch import torch_for


class Parameters:
    """Named tensors that are views into `values`; `gradients` has the same layout.

    Parameters
    ----------
    named : list of (name, tensor, penalised)
        Their values are copied. Those that are penalised are put first, in their order.
    """

    def __init__(self, named: Sequence[tuple[str, Any, bool]], device: Any = "cpu", dtype: Any = None) -> None:
        torch = torch_for("a network")
        ordered = [one for one in named if one[2]] + [one for one in named if not one[2]]
        tensors = [torch.as_tensor(tensor) for _, tensor, _ in ordered]
        dtype = dtype or (tensors[0].dtype if tensors else torch.float32)
        sizes = [tensor.numel() for tensor in tensors]
        self.names = [name for name, _, _ in ordered]
        self.values = torch.empty(sum(sizes), device=device, dtype=dtype)
        self.gradients = torch.zeros_like(self.values)
        self.views: dict[str, Any] = {}
        self.gradient_views: dict[str, Any] = {}
        start = 0
        for name, tensor, size in zip(self.names, tensors, sizes):
            self.views[name] = self.values[start : start + size].view(tensor.shape)
            self.gradient_views[name] = self.gradients[start : start + size].view(tensor.shape)
            self.views[name].copy_(tensor)
            start += size
        self.n_penalised = sum(tensor.numel() for tensor, one in zip(tensors, ordered) if one[2])
        self.strength = 0.0  # of the penalty in the gradients
        self.penalised = self.values[: self.n_penalised]
        self.penalised_gradients = self.gradients[: self.n_penalised]

    def numpy(self) -> dict[str, np.ndarray]:
        """A copy of every parameter, by name."""
        return {name: view.detach().cpu().numpy().copy() for name, view in self.views.items()}

    def add_penalty(self, strength: float, value: Any) -> Any:
        """Add strength/2 · ‖w‖² to a value, a tensor without axes, and its gradient to the gradients; in place."""
        self.strength = strength
        if strength == 0 or self.n_penalised == 0:
            return value
        self.penalised_gradients.add_(self.penalised, alpha=strength)
        return value.add_(self.penalised.dot(self.penalised), alpha=0.5 * strength)
