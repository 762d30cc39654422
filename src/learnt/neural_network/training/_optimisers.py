"""One step of an optimiser on the vector of all parameters w, by the gradient g and the learning rate α.

Descent    v ← βv − αg;  w ← w + v                  momentum; β = 0 is plain gradient descent
Descent    v ← βv − αg;  w ← w + βv − αg            Nesterov, in the look-ahead point w − βv of the textbook rule
Adagrad    S ← S + g²;   w ← w − αg/√(S + ε)
Adam       m ← β₁m + (1 − β₁)g;  v ← β₂v + (1 − β₂)g²;  w ← w − α √(1 − β₂ᵗ)/(1 − β₁ᵗ) · m/(√v + ε)
"""

from __future__ import annotations

import math
from typing import Any

import numpy as np

from learnt.neural_network._torch import torch_for
from learnt.neural_network.training._parameters import Parameters


class Optimiser:
    """`step()` moves `parameters.values` by `parameters.gradients`; `state()` is all that the next step needs."""

    def __init__(self, parameters: Parameters, rate: float) -> None:
        self.parameters, self.rate, self.t = parameters, rate, 0

    def step(self) -> None:
        raise NotImplementedError

    def next_rates(self, steps: int) -> np.ndarray:
        """What `move` takes in each of the next steps, at today's learning rate."""
        return np.full(steps, self.rate)

    def move(self, rate: Any) -> None:
        """`step` by a rate that is a tensor of one number on the device; `t` is for the caller to count."""
        raise NotImplementedError

    def state(self) -> dict[str, Any]:
        """Its tensors, by name; `rate` and `t` are plain numbers besides them."""
        return {}

    def restore(self, state: dict[str, Any], rate: float, t: int) -> None:
        """Restore the state of another optimiser."""
        for name, tensor in self.state().items():
            tensor.copy_(torch_for("a network").as_tensor(state[name]))
        self.rate, self.t = rate, t


class Descent(Optimiser):
    """Gradient descent, with momentum or Nesterov's."""

    def __init__(self, parameters: Parameters, rate: float, momentum: float = 0.0, nesterov: bool = False) -> None:
        super().__init__(parameters, rate)
        self.momentum, self.nesterov = momentum, nesterov
        self.velocity = torch_for("a network").zeros_like(parameters.values)

    def step(self) -> None:
        self.t += 1
        w, g, v = self.parameters.values, self.parameters.gradients, self.velocity
        if self.momentum == 0:
            w.add_(g, alpha=-self.rate)
            return
        v.mul_(self.momentum).add_(g, alpha=-self.rate)
        if self.nesterov:
            w.add_(v, alpha=self.momentum).add_(g, alpha=-self.rate)
        else:
            w.add_(v)

    def move(self, rate: Any) -> None:
        w, g, v = self.parameters.values, self.parameters.gradients, self.velocity
        pull = g * rate
        if self.momentum == 0:
            w.sub_(pull)
            return
        v.mul_(self.momentum).sub_(pull)
        if self.nesterov:
            w.add_(v, alpha=self.momentum).sub_(pull)
        else:
            w.add_(v)

    def state(self) -> dict[str, Any]:
        return {"velocity": self.velocity}


class Adagrad(Optimiser):
    """A rate for every parameter, smaller where gradients were large."""

    def __init__(self, parameters: Parameters, rate: float, epsilon: float = 1e-8) -> None:
        super().__init__(parameters, rate)
        self.epsilon = epsilon
        self.squares = torch_for("a network").zeros_like(parameters.values)

    def step(self) -> None:
        self.t += 1
        g = self.parameters.gradients
        self.squares.addcmul_(g, g)
        self.parameters.values.addcdiv_(g, (self.squares + self.epsilon).sqrt_(), value=-self.rate)

    def move(self, rate: Any) -> None:
        g = self.parameters.gradients
        self.squares.addcmul_(g, g)
        self.parameters.values.addcdiv_(g * rate, (self.squares + self.epsilon).sqrt_(), value=-1)

    def state(self) -> dict[str, Any]:
        return {"squares": self.squares}


class Adam(Optimiser):
    """Running means of the gradient and of its square."""

    def __init__(
        self, parameters: Parameters, rate: float, beta_1: float = 0.9, beta_2: float = 0.999, epsilon: float = 1e-8
    ) -> None:
        super().__init__(parameters, rate)
        self.beta_1, self.beta_2, self.epsilon = beta_1, beta_2, epsilon
        torch = torch_for("a network")
        self.means, self.squares = torch.zeros_like(parameters.values), torch.zeros_like(parameters.values)
        self._count = torch.zeros((), dtype=torch.float32, device=parameters.values.device)
        self._room = torch.empty_like(parameters.values)
        # One pass over memory where the installed PyTorch has it; the name is not part of its public API.
        self._one_pass = getattr(torch, "_fused_adam_", None) if parameters.values.device.type != "mps" else None

    def step(self) -> None:
        self.t += 1
        w, g = self.parameters.values, self.parameters.gradients
        short_1, short_2 = 1 - self.beta_1**self.t, 1 - self.beta_2**self.t
        if self._one_pass is not None:
            self._count.fill_(self.t)
            # its denominator is √v/√(1 − β₂ᵗ) + ε, so ε is divided by the same
            self._one_pass(
                [w], [g], [self.means], [self.squares], [], [self._count], lr=self.rate, beta1=self.beta_1,
                beta2=self.beta_2, weight_decay=0.0, eps=self.epsilon / math.sqrt(short_2), amsgrad=False,
                maximize=False,
            )  # fmt: skip
            return
        self.means.lerp_(g, 1 - self.beta_1)
        self.squares.mul_(self.beta_2).addcmul_(g, g, value=1 - self.beta_2)
        torch_for("a network").sqrt(self.squares, out=self._room).add_(self.epsilon)
        w.addcdiv_(self.means, self._room, value=-self.rate * math.sqrt(short_2) / short_1)

    def next_rates(self, steps: int) -> np.ndarray:
        t = np.arange(self.t + 1, self.t + steps + 1)
        return self.rate * np.sqrt(1 - self.beta_2**t) / (1 - self.beta_1**t)

    def move(self, rate: Any) -> None:
        g = self.parameters.gradients
        self.means.lerp_(g, 1 - self.beta_1)
        self.squares.mul_(self.beta_2).addcmul_(g, g, value=1 - self.beta_2)
        torch_for("a network").sqrt(self.squares, out=self._room).add_(self.epsilon)
        self.parameters.values.addcdiv_(self.means * rate, self._room, value=-1)

    def state(self) -> dict[str, Any]:
        return {"means": self.means, "squares": self.squares}


def optimiser_for(
    solver: str,
    parameters: Parameters,
    rate: float,
    *,
    momentum: float,
    look_ahead: bool = False,
    betas: tuple[float, float] = (0.9, 0.999),
    epsilon: float = 1e-8,
) -> Optimiser:
    """The optimiser of a solver's name; `momentum` and `look_ahead` are those of gradient descent."""
    if solver == "adam":
        return Adam(parameters, rate, *betas, epsilon)
    if solver == "adagrad":
        return Adagrad(parameters, rate, epsilon)
    return Descent(parameters, rate, momentum, look_ahead)
