"""A stack of dense layers, back-propagation written out.

    forward     z_l = h_{l−1} W_l + b_l,  h_l = φ(z_l), some of them dropped;   h_0 = X
    backward    δ_l = (δ_{l+1} W_{l+1}ᵀ) ∘ φ′(z_l);   ∂W_l = h_{l−1}ᵀ δ_l,  ∂b_l = Σ δ_l

The memory of a batch is taken once for each number of rows, gradients are written where the optimiser reads them.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np
from scipy import sparse

from learnt.neural_network._torch import torch_for
from learnt.neural_network.training import _activations
from learnt.neural_network.training._outputs import Output
from learnt.neural_network.training._parameters import Parameters


class DenseNetwork:
    """Dense layers with one activation, raw outputs at the end.

    Parameters
    ----------
    coefs, intercepts : lists of arrays, (fan_in, fan_out) and (fan_out,)
        Where to begin; they are copied.
    activation : str
        Of the hidden layers.
    output : Output
    alpha : float
        alpha/2 · Σ‖W‖² / Σw is added to the loss of a batch.
    dropout : float
        The share of hidden units that are 0 in each row of a batch; the others are divided by 1 − dropout.
    """

    def __init__(
        self,
        coefs: Sequence[np.ndarray],
        intercepts: Sequence[np.ndarray],
        activation: str,
        output: Output,
        *,
        alpha: float = 0.0,
        dropout: float = 0.0,
        generator: Any = None,
        device: Any = "cpu",
    ) -> None:
        torch = torch_for("a network")
        self.depth = len(coefs)
        named = [(f"coefs_[{i}]", torch.as_tensor(coef), True) for i, coef in enumerate(coefs)]
        named += [(f"intercepts_[{i}]", torch.as_tensor(b), False) for i, b in enumerate(intercepts)]
        self.parameters = parameters = Parameters(named, device)
        self.output, self.alpha, self.dropout, self.generator = output, alpha, dropout, generator
        self.activation = _activations.canonical(activation)
        self._forward, self._backward = _activations.forward(activation), _activations.backward(activation)
        self._W = [parameters.views[f"coefs_[{i}]"] for i in range(self.depth)]
        self._b = [parameters.views[f"intercepts_[{i}]"] for i in range(self.depth)]
        self._W_turned = [W.t() for W in self._W]
        self._gW = [parameters.gradient_views[f"coefs_[{i}]"] for i in range(self.depth)]
        self._gb = [parameters.gradient_views[f"intercepts_[{i}]"] for i in range(self.depth)]
        self._rooms: dict[int, tuple[list[Any], list[Any], list[Any]]] = {}

    def _room(self, n: int) -> tuple[list[Any], list[Any], list[Any]]:
        """Memory for n rows: what layers give, the same after dropout, and deltas of the hidden layers."""
        if n not in self._rooms:
            if len(self._rooms) > 4:
                self._rooms.clear()
            given = [W.new_empty((n, W.shape[1])) for W in self._W]
            kept = [one.clone() for one in given[:-1]] if self.dropout else given[:-1]
            self._rooms[n] = given, kept, [torch_for("a network").empty_like(one) for one in given[:-1]]
        return self._rooms[n]

    def loss_and_gradients(self, X: Any, y: Any, w: Any = None) -> Any:
        torch, last = torch_for("a network"), self.depth - 1
        given, kept, deltas = self._room(X.shape[0])
        thin = sparse.issparse(X)
        h, masks = X, []
        for i in range(self.depth):
            if i == 0 and thin:
                given[0].copy_(torch.from_numpy(X @ self._W[0].numpy())).add_(self._b[0])
            else:
                torch.addmm(self._b[i], h, self._W[i], out=given[i])
            if i < last:
                self._forward(given[i])
                if self.dropout:
                    mask = deltas[i].bernoulli_(1 - self.dropout, generator=self.generator).div(1 - self.dropout)
                    torch.mul(given[i], mask, out=kept[i])
                    masks.append(mask)
                h = kept[i]
        value, delta = self.output.value_and_delta(given[last], y, w)
        for i in range(last, -1, -1):
            if i == 0 and thin:
                self._gW[0].copy_(torch.from_numpy(X.T @ delta.numpy()))
            else:
                torch.mm((kept[i - 1] if i else X).t(), delta, out=self._gW[i])
            torch.sum(delta, 0, out=self._gb[i])
            if i:
                delta = torch.mm(delta, self._W_turned[i], out=deltas[i - 1])
                if self.dropout:
                    delta.mul_(masks[i - 1])
                self._backward(delta, given[i - 1])
        if self.alpha:
            total = X.shape[0] if w is None else float(w.sum())
            value = self.parameters.add_penalty(self.alpha / total, value)
        return value

    def _hidden(self, X: Any) -> list[Any]:
        """What every layer gives, without dropout."""
        torch = torch_for("a network")
        found, h = [], X
        for i in range(self.depth):
            if sparse.issparse(h):
                h = torch.from_numpy(h @ self._W[0].numpy()).add_(self._b[0])
            else:
                h = torch.addmm(self._b[i], h, self._W[i])
            if i < self.depth - 1:
                self._forward(h)
            found.append(h)
        return found

    def predict(self, X: Any) -> Any:
        return self._hidden(X)[-1]

    def buffers(self) -> dict[str, Any]:
        return {}

    def layers(self) -> list[tuple[str, str]]:
        names = [f"hidden layer {i + 1}" for i in range(self.depth - 1)] + ["the output layer"]
        return [(name, f"coefs_[{i}]") for i, name in enumerate(names)]

    def active_units(self, X: Any) -> dict[str, Any]:
        if self.activation != "relu":
            return {}
        hidden = self._hidden(X)[:-1]
        return {f"hidden layer {i + 1}": (h > 0).any(dim=0) for i, h in enumerate(hidden)}
