"""Epochs: batches in a random order, a step for each, until nothing improves."""

from __future__ import annotations

import math
import warnings
from collections.abc import Callable
from dataclasses import dataclass, field
from typing import Any

import numpy as np

from learnt.engine.interrupts import check_stopped
from learnt.neural_network._torch import torch_for
from learnt.neural_network.training._checkpoint import Checkpoint
from learnt.neural_network.training._data import Data
from learnt.neural_network.training._group import shared
from learnt.neural_network.training._health import (
    NetworkHealthWarning,
    refuse_nonfinite,
    warn_of_divergence,
    warn_of_gradients,
)
from learnt.neural_network.training._optimisers import Optimiser
from learnt.neural_network.training._rates import Rate
from learnt.neural_network.training._recorded import RecordedSteps, recorded

Judge = Callable[[Any], tuple[float, float]]  # of a network: a score, more is better, and a loss, on rows held out


@dataclass(frozen=True)
class Plan:
    """Number of epochs and batch size: stop when nothing improved by `tol` for more than `patience` epochs."""

    batch_size: int = 200
    max_iter: int = 200
    shuffle: bool = True
    tol: float = 1e-4
    patience: float = 10
    rate: Rate = field(default_factory=Rate)
    name: str = "the network"  # in warnings and errors


@dataclass
class History:
    """The state of training."""

    n_iter: int = 0
    t: int = 0  # rows seen
    loss: float = math.inf
    loss_curve: list[float] = field(default_factory=list)
    validation_scores: list[float] = field(default_factory=list)
    validation_losses: list[float] = field(default_factory=list)
    best_loss: float = math.inf
    best_score: float = -math.inf
    best_epoch: int = 0
    no_improvement: int = 0
    converged: bool = False

    _NUMBERS = ("n_iter", "t", "loss", "best_loss", "best_score", "best_epoch", "no_improvement")
    _CURVES = ("loss_curve", "validation_scores", "validation_losses")


def train(
    network: Any,
    data: Data,
    optimiser: Optimiser,
    plan: Plan,
    rng: np.random.RandomState,
    *,
    judge: Judge | None = None,
    history: History | None = None,
    report: Callable[..., bool] | None = None,
    checkpoint: Checkpoint | None = None,
) -> History:
    """Train until nothing improves; the network is left with its last weights or, with a judge, its best ones.

    Parameters
    ----------
    rng : RandomState
        Draws the order of the rows, epoch by epoch.
    judge : callable or None
        (score, loss) of the network on rows held out: the score decides when to stop and which weights are best.
    history : History or None
        Go on from here (`partial_fit`).
    report : callable or None
        `report(note)` once an epoch; True stops here.

    One of several workers (`_group`) takes its part of every batch.
    """
    history = history if history is not None else History()
    order = np.arange(data.n)
    best = _Best()
    if checkpoint is not None and (kept := checkpoint.read()) is not None:
        order = _restore(kept, network, optimiser, history, rng, best)
    elif judge is not None and history.validation_scores:
        best.take(network)  # where the last training ended
    network, data, plan, judge, checkpoint = shared(network, data, optimiser, plan, judge, checkpoint)
    steps = recorded(network, data, optimiser, plan.batch_size, plan.max_iter - history.n_iter)
    while history.n_iter < plan.max_iter and not history.converged:
        if plan.shuffle:
            drawn = np.arange(data.n)
            rng.shuffle(drawn)
            order = order[drawn]
        data.begin_epoch(order if plan.shuffle else None)
        history.loss = _epoch(network, data, optimiser, plan.batch_size, steps)
        history.n_iter += 1
        history.t += data.n
        history.loss_curve.append(history.loss)
        try:
            refuse_nonfinite(network, history.n_iter, history.loss, plan.name)
        except ValueError as error:
            if not best.kept:
                raise
            history.validation_scores.append(math.nan)
            history.validation_losses.append(math.nan)
            warnings.warn(f"{error} It stopped with its best weights.", NetworkHealthWarning, stacklevel=3)
            break
        if len(history.loss_curve) == 1:
            warn_of_gradients(network, data.some(256), plan.name)
        _compare(network, plan.tol, history, judge, best)
        optimiser.rate = plan.rate.after(optimiser.rate, history.n_iter, history.t)
        if history.no_improvement > plan.patience:
            rate = plan.rate.when_flat(optimiser.rate)
            history.converged = rate is None
            if rate is not None:
                history.no_improvement, optimiser.rate = 0, rate
        if checkpoint is not None and not history.converged and checkpoint.due(history.n_iter):
            _keep(checkpoint, network, optimiser, history, rng, best, order)
        if report is not None and report(f"loss {history.loss:.4g}"):
            break
        check_stopped()
    if judge is not None:
        best.put_back(network)
    elif history.n_iter > 1:
        warn_of_divergence(history.loss_curve, plan.name)
    if checkpoint is not None:
        checkpoint.remove()
    return history


def _epoch(network: Any, data: Data, optimiser: Optimiser, batch_size: int, steps: RecordedSteps | None) -> float:
    """One step for each batch, those of full size from a recording where there is one; the mean of their losses."""
    torch, device = torch_for("a network"), network.parameters.values.device
    total = torch.zeros((), device=device, dtype=torch.float32 if device.type == "mps" else torch.float64)
    with torch.no_grad():
        before, first = (0.0, 0) if steps is None else steps.epoch()
        for start in range(first, data.n, batch_size):
            stop = min(start + batch_size, data.n)
            value = network.loss_and_gradients(*data.batch(start, stop))
            total.add_(value, alpha=stop - start)
            optimiser.step()
    return (before + float(total)) / data.n


def _compare(network: Any, tol: float, history: History, judge: Judge | None, best: _Best) -> None:
    """Count the epochs without improvement: of the held-out score where there is a judge, else of the loss."""
    if judge is None:
        better = history.loss <= history.best_loss - tol
        history.best_loss = min(history.best_loss, history.loss)
    else:
        score, loss = judge(network)
        history.validation_scores.append(score)
        history.validation_losses.append(loss)
        better = score >= history.best_score + tol
        if score > history.best_score:
            history.best_score, history.best_epoch = score, history.n_iter
            best.take(network)
    history.no_improvement = 0 if better else history.no_improvement + 1


class _Best:
    """The weights and buffers of the best epoch so far."""

    def __init__(self) -> None:
        self.kept: dict[str, Any] = {}

    def take(self, network: Any) -> None:
        current = {"values": network.parameters.values, **network.buffers()}
        self.kept = {name: tensor.detach().clone() for name, tensor in current.items()}

    def put_back(self, network: Any) -> None:
        for name, tensor in {"values": network.parameters.values, **network.buffers()}.items():
            if name in self.kept:
                tensor.copy_(self.kept[name])


def _keep(
    checkpoint: Checkpoint,
    network: Any,
    optimiser: Optimiser,
    history: History,
    rng: np.random.RandomState,
    best: _Best,
    order: np.ndarray,
) -> None:
    keys = rng.get_state(legacy=False)
    arrays = {
        "order": order,
        "draws": keys["state"]["key"],
        "values": _numpy(network.parameters.values),
        **{f"optimiser/{name}": _numpy(tensor) for name, tensor in optimiser.state().items()},
        **{f"buffers/{name}": _numpy(tensor) for name, tensor in network.buffers().items()},
        **{f"best/{name}": _numpy(tensor) for name, tensor in best.kept.items()},
        **{name: np.asarray(getattr(history, name), dtype=np.float64) for name in History._CURVES},
    }
    if network.generator is not None:
        arrays["generator"] = _numpy(network.generator.get_state())
    numbers = {name: getattr(history, name) for name in History._NUMBERS}
    numbers |= {"rate": optimiser.rate, "steps": optimiser.t, "place": int(keys["state"]["pos"])}
    checkpoint.write(arrays, numbers)


def _restore(kept: Any, network: Any, optimiser: Optimiser, history: History, rng: Any, best: _Best) -> np.ndarray:
    torch = torch_for("a network")
    arrays, numbers = kept

    def tensors(part: str) -> dict[str, Any]:
        return {
            name.removeprefix(part): torch.from_numpy(array) for name, array in arrays.items() if name.startswith(part)
        }

    network.parameters.values.copy_(torch.from_numpy(arrays["values"]))
    optimiser.restore(tensors("optimiser/"), numbers["rate"], numbers["steps"])
    for name, tensor in network.buffers().items():
        tensor.copy_(tensors("buffers/")[name])
    best.kept = tensors("best/")
    for name in History._CURVES:
        setattr(history, name, arrays[name].tolist())
    for name in History._NUMBERS:
        setattr(history, name, numbers[name])
    state = rng.get_state(legacy=False)
    state["state"] = {"key": arrays["draws"], "pos": numbers["place"]}
    rng.set_state(state)
    if network.generator is not None:
        network.generator.set_state(torch.from_numpy(arrays["generator"]))
    return arrays["order"]


def _numpy(tensor: Any) -> np.ndarray:
    return tensor.detach().cpu().numpy()
