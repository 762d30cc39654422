"""Warnings about problems inside a network, with the name of the layer.

A layer's step is ‖∂W‖/‖W‖. Where it is a hundred-thousandth of the output layer's, gradients vanish on their way
back; where it is a hundred thousand times that, they explode. A rectified unit that is 0 for every row is dead: it
has no gradient and never comes back. Where the loss ends at a hundred times that of the first epoch, training diverged.
"""

from __future__ import annotations

import warnings
from typing import Any

import numpy as np

from learnt.neural_network._torch import torch_for

_VANISHING = 1e-5
_EXPLODING = 1e5
_DEAD_SHARE = 0.5
_DIVERGED = 100
_ROWS = 4096  # rows that units are tested on


class NetworkHealthWarning(UserWarning):
    """Training went on, and something inside the network is wrong."""


def steps(network: Any) -> list[tuple[str, float]]:
    """‖∂W‖/‖W‖ of every layer, from the input to the output, by the gradients of the last batch.

    The penalty's own gradient, in proportion to W, is left out: it reaches every layer, and would hide what vanishes.
    """
    found, parameters = [], network.parameters
    for layer, name in network.layers():
        weights, gradients = parameters.views[name].detach(), parameters.gradient_views[name]
        size = float(weights.norm())
        of_loss = gradients.sub(weights, alpha=parameters.strength)
        found.append((layer, float(of_loss.norm()) / size if size > 0 else 0.0))
    return found


def warn_of_gradients(network: Any, X: Any, name: str, stacklevel: int = 3) -> None:
    """Name the layers where gradients vanish or explode; `X` is some rows."""
    sizes = steps(network)
    if len(sizes) < 3:
        return
    last = sizes[-1][1]
    if not (np.isfinite(last) and last > 0):
        return
    vanish = [layer for layer, size in sizes[:-1] if size < _VANISHING * last]
    explode = [layer for layer, size in sizes[:-1] if size > _EXPLODING * last]
    if vanish and any(not bool(alive.any()) for alive in network.active_units(X).values()):
        vanish = []  # a layer whose units are all dead: `warn_of_dead` reports it
    if vanish:
        least = min(size for layer, size in sizes if layer in vanish)
        warnings.warn(
            f"The gradients of {name} vanish in {listed(vanish)} (in proportion to the weights down to "
            f"{least / last:.0e} of the output layer's), which will hardly learn; use activation='relu', "
            "batch normalisation or fewer layers.",
            NetworkHealthWarning,
            stacklevel=stacklevel,
        )
    if explode:
        most = max(size for layer, size in sizes if layer in explode)
        warnings.warn(
            f"The gradients of {name} explode in {listed(explode)} (in proportion to the weights up to "
            f"{most / last:.0e} times the output layer's); lower the learning rate, scale the columns or use "
            "batch normalisation.",
            NetworkHealthWarning,
            stacklevel=stacklevel,
        )


def warn_of_divergence(losses: list[float], name: str, stacklevel: int = 3) -> None:
    """Say that the loss rose, where it did by far."""
    if 0 < losses[0] * _DIVERGED < losses[-1]:
        warnings.warn(
            f"The training of {name} diverged: its loss rose from {losses[0]:.3g} in the first epoch to "
            f"{losses[-1]:.3g} in the last; lower learning_rate_init, or scale the columns and y.",
            NetworkHealthWarning,
            stacklevel=stacklevel,
        )


def dead_units(network: Any, data: Any) -> dict[str, np.ndarray]:
    """Indices of the units that are 0 for every tested row, by layer; for rectified layers only."""
    active = network.active_units(data.some(_ROWS))
    return {layer: np.flatnonzero(~alive.cpu().numpy()) for layer, alive in active.items()}


def warn_of_dead(dead: dict[str, np.ndarray], widths: dict[str, int], name: str, stacklevel: int = 3) -> None:
    """Name the layers of which more than half the units are dead."""
    bad = [layer for layer, units in dead.items() if len(units) > _DEAD_SHARE * widths[layer]]
    if bad:
        counts = ", ".join(f"{len(dead[layer])} of {widths[layer]} units in {layer}" for layer in bad)
        warnings.warn(
            f"{name} has dead units, 0 for every row: {counts}; lower the learning rate, scale the columns or use "
            "activation='leaky_relu'.",
            NetworkHealthWarning,
            stacklevel=stacklevel,
        )


def refuse_nonfinite(network: Any, epoch: int, loss: float, name: str) -> None:
    """Raise one sentence where the loss or a weight is not a number any more."""
    torch = torch_for("a network")
    parameters = network.parameters
    if np.isfinite(loss) and bool(torch.isfinite(parameters.values).all()):
        return
    bad = [layer for layer, key in network.layers() if not bool(torch.isfinite(parameters.views[key]).all())]
    where = f" in {listed(bad)}" if bad else ""
    raise ValueError(
        "Solver produced non-finite parameter weights. The input data may contain large values and need to be "
        f"preprocessed: {name} stopped in epoch {epoch} with a loss of {loss:g}, not finite{where}; "
        "scale the columns, or lower learning_rate_init."
    )


def listed(layers: list[str]) -> str:
    """Names of layers in a sentence.

    >>> listed(["hidden layer 1", "hidden layer 2", "hidden layer 3"]), listed(["a"]), listed(["a", "b"])
    ('hidden layers 1 to 3', 'a', 'a and b')
    """
    numbers = [layer.rpartition(" ")[2] for layer in layers]
    heads = {layer.rpartition(" ")[0] for layer in layers}
    if len(layers) > 2 and len(heads) == 1 and all(n.isdigit() for n in numbers):
        places = [int(n) for n in numbers]
        if places == list(range(places[0], places[0] + len(places))):
            return f"{heads.pop()}s {places[0]} to {places[-1]}"
    return layers[0] if len(layers) == 1 else ", ".join(layers[:-1]) + " and " + layers[-1]
