"""The interface of a network for the training loop, and an adapter for any PyTorch module."""

from __future__ import annotations

from typing import Any, Protocol

from learnt.neural_network._torch import torch_for
from learnt.neural_network.training._outputs import Output
from learnt.neural_network.training._parameters import Parameters


class Network(Protocol):
    """The interface, described in the package's docstring."""

    parameters: Parameters
    generator: Any

    def loss_and_gradients(self, X: Any, y: Any, w: Any = None) -> Any: ...

    def predict(self, X: Any) -> Any: ...

    def buffers(self) -> dict[str, Any]: ...

    def layers(self) -> list[tuple[str, str]]: ...

    def active_units(self, X: Any) -> dict[str, Any]: ...


class ModuleNetwork:
    """A `torch.nn.Module` whose gradients come from automatic differentiation.

    Parameters
    ----------
    module : torch.nn.Module
        Maps a batch to raw outputs z, (n, outputs). Its parameters become views into one vector.
    output : Output
        What z costs.
    alpha : float, default=0
        alpha/2 · ‖weights‖² / Σw is added to the loss of a batch. Weights are parameters of two and more dimensions.
    layers : list of (layer, parameter) or None
        The name to call a layer by in warnings and that of its weights; by default every parameter of two and more
        dimensions is a layer of its own name, in order.
    watched : dict of str to module, or None
        Layers whose outputs are 0 where a unit is not active (after ReLU), for `active_units`.
    generator : torch.Generator or None
        Where the module draws from (dropout): kept in checkpoints.
    """

    def __init__(
        self,
        module: Any,
        output: Output,
        *,
        alpha: float = 0.0,
        layers: list[tuple[str, str]] | None = None,
        watched: dict[str, Any] | None = None,
        generator: Any = None,
        device: Any = "cpu",
        dtype: Any = None,
    ) -> None:
        self.module, self.output, self.alpha, self.generator = module.to(device), output, alpha, generator
        if dtype is not None:
            module.to(dtype)
        named = list(module.named_parameters())
        self.parameters = Parameters([(n, p.detach(), p.dim() > 1) for n, p in named], device, dtype)
        for name, parameter in named:
            parameter.data = self.parameters.views[name]
            parameter.grad = self.parameters.gradient_views[name]
        self._layers = layers or [(name, name) for name, p in named if p.dim() > 1]
        self._watched = watched or {}

    def loss_and_gradients(self, X: Any, y: Any, w: Any = None) -> Any:
        torch = torch_for("a network")
        self.module.train()
        self.parameters.gradients.zero_()  # parameters' .grad are its views: backward adds to them in place
        with torch.enable_grad():
            z = self.module(X)
        value, delta = self.output.value_and_delta(z.detach(), y, w)
        z.backward(delta)
        if self.alpha:
            value = self.parameters.add_penalty(self.alpha / (len(y) if w is None else float(w.sum())), value)
        return value

    def predict(self, X: Any) -> Any:
        torch = torch_for("a network")
        self.module.eval()
        with torch.no_grad():
            return self.module(X)

    def buffers(self) -> dict[str, Any]:
        return dict(self.module.named_buffers())

    def layers(self) -> list[tuple[str, str]]:
        return list(self._layers)

    def active_units(self, X: Any) -> dict[str, Any]:
        found: dict[str, Any] = {}

        def look(name: str) -> Any:
            def hook(module: Any, inputs: Any, out: Any) -> None:
                alive = out != 0  # (n, units) or (n, channels, height, width)
                found[name] = alive.movedim(1, -1).reshape(-1, alive.shape[1]).any(dim=0)

            return hook

        handles = [module.register_forward_hook(look(name)) for name, module in self._watched.items()]
        try:
            self.predict(X)
        finally:
            for handle in handles:
                handle.remove()
        return found
