"""Activations of hidden layers, in place, and their derivatives by what they gave.

identity   a                     relu         max(0, a)
tanh       tanh a                leaky_relu   a where a ≥ 0, a/100 elsewhere
logistic   1/(1 + e^−a), also called sigmoid
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from learnt.neural_network._torch import torch_for

SLOPE = 0.01  # of leaky ReLU below 0
NAMES = ("identity", "logistic", "sigmoid", "tanh", "relu", "leaky_relu")


def forward(name: str) -> Callable[[Any], Any]:
    """What changes a tensor in place."""
    torch = torch_for("a network")
    return {
        "identity": lambda a: a,
        "logistic": torch.sigmoid_,
        "tanh": torch.tanh_,
        "relu": torch.relu_,
        "leaky_relu": lambda a: torch.nn.functional.leaky_relu_(a, SLOPE),
    }[canonical(name)]


def backward(name: str) -> Callable[[Any, Any], Any]:
    """What multiplies delta in place by the derivative, given the activation's results h."""
    ops = torch_for("a network").ops.aten
    return {
        "identity": lambda delta, h: delta,
        "logistic": lambda delta, h: ops.sigmoid_backward.grad_input(delta, h, grad_input=delta),
        "tanh": lambda delta, h: ops.tanh_backward.grad_input(delta, h, grad_input=delta),
        "relu": lambda delta, h: ops.threshold_backward.grad_input(delta, h, 0, grad_input=delta),
        "leaky_relu": lambda delta, h: ops.leaky_relu_backward.grad_input(delta, h, SLOPE, True, grad_input=delta),
    }[canonical(name)]


def canonical(name: str) -> str:
    """One name for each activation."""
    return "logistic" if name == "sigmoid" else name
