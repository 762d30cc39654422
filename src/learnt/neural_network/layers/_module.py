"""A torch module from planned layers (`_shapes.plan`). Imported only where PyTorch is installed."""

from __future__ import annotations

import math
import threading
from collections.abc import Sequence
from itertools import pairwise
from typing import Any

import torch
from torch import Tensor
from torch.nn import functional as F

from learnt.engine.random import stream
from learnt.neural_network.layers._shapes import Step
from learnt.neural_network.layers._specs import AvgPool, BatchNorm, Conv, Dense, Dropout, Flatten, MaxPool, pair
from learnt.neural_network.training._activations import forward

_HE = ("relu", "leaky_relu")
_RISING = ("relu", "leaky_relu", "identity")  # do not change which pixel of a window is largest


class _Draws(threading.local):
    """Where dropout draws from in this thread."""

    generator: torch.Generator | None = None


draws = _Draws()


class Block(torch.nn.Module):
    """One planned layer. Its parameters are named `weight` and `bias`."""

    def __init__(self, step: Step) -> None:
        super().__init__()
        self.layer: Any = step.layer
        self.activation = forward(getattr(step.layer, "activation", None) or "identity")
        self.weight: Any = None
        self.bias: Any = None
        for name, shape in step.weights:
            setattr(self, name, torch.nn.Parameter(torch.zeros(shape)))

    def activated(self, z: Tensor) -> Tensor:
        """The activation, in place: z is not used elsewhere."""
        return self.activation(z)


class ConvBlock(Block):
    """Its `weight` is (kernels, rows, columns, channels): channels side by side, which is torch's fast layout.

    In training, the largest pixels of windows behind it are taken first, and bias and activation are for them alone.
    """

    def __init__(self, step: Step) -> None:
        super().__init__(step)
        self.stride = pair(self.layer.stride)
        self.around, self.border = _split_border(step)
        self.pooled = False  # whether a `MaxPool` behind it adds the bias, in training

    def forward(self, z: Tensor) -> Tensor:
        z = F.pad(z, self.border) if self.border else z
        late = self.pooled and self.training
        z = F.conv2d(z, self.weight.movedim(3, 1), None if late else self.bias, self.stride, self.around)
        return z if late else self.activated(z)

    def finish(self, z: Tensor) -> Tensor:
        """Bias and activation of what was pooled."""
        return self.activated(z if self.bias is None else z + self.bias[:, None, None])


class PoolBlock(Block):
    def __init__(self, step: Step) -> None:
        super().__init__(step)
        layer = self.layer
        self.size = pair(layer.size)
        self.stride = self.size if layer.stride is None else pair(layer.stride)
        self.around, self.border = _split_border(step)
        self.most = isinstance(layer, MaxPool)
        self.before: tuple[ConvBlock, ...] = ()  # the convolution that it finishes; in a tuple, torch does not own it

    def forward(self, z: Tensor) -> Tensor:
        if self.most:
            z = F.pad(z, self.border, value=-math.inf) if self.border else z
            z = F.max_pool2d(z, self.size, self.stride, self.around)
            return self.before[0].finish(z) if self.before and self.training else z
        if not self.border:
            return F.avg_pool2d(z, self.size, self.stride, self.around, count_include_pad=False)
        inside = F.pad(torch.ones_like(z[:1, :1]), self.border)  # a border does not count in the mean
        share = F.avg_pool2d(inside, self.size, self.stride)
        return F.avg_pool2d(F.pad(z, self.border), self.size, self.stride) / share


class DenseBlock(Block):
    def forward(self, z: Tensor) -> Tensor:
        return self.activated(F.linear(z, self.weight, self.bias))


class FlattenBlock(Block):
    def forward(self, z: Tensor) -> Tensor:
        return z.movedim(1, -1).flatten(1)


class DropoutBlock(Block):
    """Its draws come from the generator that the thread has set in `draws`, never from torch's global one."""

    def __init__(self, step: Step) -> None:
        super().__init__(step)
        self.keep = 1.0 - self.layer.rate

    def forward(self, z: Tensor) -> Tensor:
        if not self.training or self.keep == 1.0:
            return z
        mask = torch.empty_like(z, memory_format=torch.contiguous_format)
        return z * mask.bernoulli_(self.keep, generator=draws.generator).div_(self.keep)


class BatchNormBlock(Block):
    def __init__(self, step: Step) -> None:
        super().__init__(step)
        self.mean: Any
        self.variance: Any
        torch.nn.init.ones_(self.weight)
        self.register_buffer("mean", torch.zeros(step.before[0]))
        self.register_buffer("variance", torch.ones(step.before[0]))

    def forward(self, z: Tensor) -> Tensor:
        layer = self.layer
        one = z.shape[0] == 1 and math.prod(z.shape[2:]) == 1  # has no variance
        learns = self.training and not one
        z = F.batch_norm(z, self.mean, self.variance, self.weight, self.bias, learns, layer.momentum, layer.eps)
        return self.activated(z)


_BLOCKS: dict[type, type[Block]] = {
    Conv: ConvBlock,
    MaxPool: PoolBlock,
    AvgPool: PoolBlock,
    Flatten: FlattenBlock,
    Dense: DenseBlock,
    Dropout: DropoutBlock,
    BatchNorm: BatchNormBlock,
}


def _split_border(step: Step) -> tuple[tuple[int, int], tuple[int, int, int, int] | None]:
    """A border that is the same on both sides, for torch to add, or else one that is added first."""
    rows, columns = step.borders
    if rows[0] == rows[1] and columns[0] == columns[1]:
        return (rows[0], columns[0]), None
    return (0, 0), (*columns, *rows)


def build(steps: Sequence[Step], seed: int) -> torch.nn.Sequential:
    """The network, with weights drawn from `seed`: layer by layer from streams of their own.

    Uniform in ±√(6/fan in) before ReLU (He), in ±√(6/(fan in + fan out)) before all else (Glorot); biases are 0.
    """
    network = torch.nn.Sequential()
    for place, step in enumerate(steps):
        block = _BLOCKS[type(step.layer)](step)
        if isinstance(step.layer, Conv | Dense):
            weight = dict(step.weights)["weight"]
            drawn = stream(seed, place).uniform(-1.0, 1.0, size=weight) * _bound(step)
            with torch.no_grad():
                block.weight.copy_(torch.from_numpy(drawn))
        network.add_module(step.name, block)
    for before, behind in pairwise(network):
        if not (isinstance(before, ConvBlock) and isinstance(behind, PoolBlock) and behind.most):
            continue
        if (before.layer.activation or "identity") in _RISING:
            before.pooled, behind.before = True, (before,)
    return network


def _bound(step: Step) -> float:
    shape = dict(step.weights)["weight"]
    fan_in, fan_out = math.prod(shape[1:]), math.prod(shape[:-1])
    he = getattr(step.layer, "activation", None) in _HE
    return math.sqrt(6.0 / fan_in) if he else math.sqrt(6.0 / (fan_in + fan_out))
