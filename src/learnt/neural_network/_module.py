"""Multilayer perceptrons with batch normalisation or embeddings, as a PyTorch module."""

from __future__ import annotations

from functools import cache
from typing import Any

import numpy as np

from learnt.neural_network._torch import torch_for
from learnt.neural_network.training import ModuleNetwork, Output

EPSILON = 1e-5  # added to the variance in batch normalisation
MOMENTUM = 0.1  # of its running moments


@cache
def _module_class() -> Any:
    torch = torch_for("a network")
    base: Any = torch.nn.Module

    class Perceptron(base):
        """Embeddings beside numbers, then dense layers: z = hW + b, normalised, activated, some units dropped."""

        def __init__(
            self,
            coefs: Any,
            intercepts: Any,
            norms: Any,
            embeddings: Any,
            activation: str,
            dropout: float,
            generator: Any,
        ) -> None:
            super().__init__()
            one, many = torch.nn.Parameter, torch.nn.ParameterList
            self.coefs = many([one(torch.tensor(W)) for W in coefs])
            self.intercepts = many([one(torch.tensor(b)) for b in intercepts])
            self.embeddings = many([one(torch.tensor(E)) for E in embeddings])
            self.scales = many([one(torch.tensor(norm[0])) for norm in norms])
            self.shifts = many([one(torch.tensor(norm[1])) for norm in norms])
            for i, norm in enumerate(norms):
                self.register_buffer(f"mean{i}", torch.tensor(norm[2]))
                self.register_buffer(f"variance{i}", torch.tensor(norm[3]))
            self.hidden = torch.nn.ModuleList([torch.nn.Identity() for _ in coefs[:-1]])  # for forward hooks
            self.dropout, self.generator = dropout, generator
            self.activate = {
                "identity": lambda a: a,
                "logistic": torch.sigmoid,
                "sigmoid": torch.sigmoid,
                "tanh": torch.tanh,
                "relu": torch.relu,
                "leaky_relu": lambda a: torch.nn.functional.leaky_relu(a, 0.01),
            }[activation]

        def forward(self, X: Any) -> Any:
            if not hasattr(X, "dim"):  # rows of a sparse table
                X = torch.as_tensor(X.toarray(), device=self.coefs[0].device)
            h = X
            if len(self.embeddings):
                q = X.shape[1] - len(self.embeddings)
                rows = X[:, q:].long()
                h = torch.cat([X[:, :q], *(E[rows[:, k]] for k, E in enumerate(self.embeddings))], dim=1)
            last = len(self.coefs) - 1
            for i, (W, b) in enumerate(zip(self.coefs, self.intercepts)):
                h = torch.addmm(b, h, W)
                if i == last:
                    return h
                if len(self.scales):
                    moments = getattr(self, f"mean{i}"), getattr(self, f"variance{i}")
                    learn = self.training and len(h) > 1
                    h = torch.nn.functional.batch_norm(
                        h, *moments, self.scales[i], self.shifts[i], learn, MOMENTUM, EPSILON
                    )
                h = self.hidden[i](self.activate(h))
                if self.dropout and self.training:
                    kept = torch.empty_like(h).bernoulli_(1 - self.dropout, generator=self.generator)
                    h = h * kept.div_(1 - self.dropout)
            return h

    return Perceptron


def module_network(
    weights: dict[str, list[np.ndarray]],
    activation: str,
    output: Output,
    *,
    alpha: float,
    dropout: float,
    generator: Any,
    device: Any,
) -> ModuleNetwork:
    """A network of `weights`: coefs, intercepts, norms (γ, β, μ, σ² of each hidden layer) and embeddings."""
    module = _module_class()(
        weights["coefs"],
        weights["intercepts"],
        weights["norms"],
        weights["embeddings"],
        activation,
        dropout,
        generator,
    )
    depth = len(weights["coefs"])
    names = [f"hidden layer {i + 1}" for i in range(depth - 1)] + ["the output layer"]
    watched = {f"hidden layer {i + 1}": module.hidden[i] for i in range(depth - 1)} if activation == "relu" else None
    return ModuleNetwork(
        module,
        output,
        alpha=alpha,
        layers=[(name, f"coefs.{i}") for i, name in enumerate(names)],
        watched=watched,
        generator=generator,
        device=device,
    )


def weights_of(network: ModuleNetwork) -> dict[str, list[np.ndarray]]:
    """The weights of a trained network, as `module_network` takes them."""
    module: Any = network.module

    def arrays(tensors: Any) -> list[np.ndarray]:
        return [tensor.detach().cpu().numpy().copy() for tensor in tensors]

    moments = [
        arrays((getattr(module, f"mean{i}"), getattr(module, f"variance{i}"))) for i in range(len(module.scales))
    ]
    norms = [np.stack([g, b, *m]) for g, b, m in zip(arrays(module.scales), arrays(module.shifts), moments)]
    return {
        "coefs": arrays(module.coefs),
        "intercepts": arrays(module.intercepts),
        "norms": norms,
        "embeddings": arrays(module.embeddings),
    }
