"""The output shape and the number of parameters of every layer, computed before training.

(channels, rows, columns)   an image          (units,)   a row of numbers
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from math import prod
from typing import Any

from learnt.engine.documentation import documented
from learnt.neural_network.layers._specs import (
    LAYERS,
    AvgPool,
    BatchNorm,
    Conv,
    Dense,
    Flatten,
    Layer,
    MaxPool,
    pair,
)

Shape = tuple[int, ...]
Border = tuple[int, int]  # before and behind


@documented
def conv_output_size(
    W: int, K: int, P: int = 0, S: int = 1, *, padding: int | None = None, stride: int | None = None
) -> int:
    """How many places a kernel of size K has on W pixels with borders of P and steps of S:  (W − K + 2P)/S + 1.

    Where the division leaves a remainder, the last windows would cross the edge and are left out: ⌊·⌋.

    Parameters
    ----------
    W : int
        Pixels of the image along one axis.
    K : int
        The size of the kernel.
    P : int, default=0
        The border on each side.
    S : int, default=1
        The step from place to place.
    padding : int or None, default=None
        Another name of P, as `Conv` calls it.
    stride : int or None, default=None
        Another name of S, as `Conv` calls it.

    Returns
    -------
    size : int
        The number of places, which is the size of what comes out.

    Raises
    ------
    ValueError
        If the kernel is larger than the image with its borders.

    See Also
    --------
    Conv : The layer whose output has this size.
    summary : The sizes of all layers of a network.

    Examples
    --------
    >>> conv_output_size(4, 3), conv_output_size(8, 3, P=1), conv_output_size(7, 2, stride=2)
    (2, 8, 3)
    """
    P, S = (P if padding is None else padding), (S if stride is None else stride)
    for name, value, low in (("W", W, 1), ("K", K, 1), ("P", P, 0), ("S", S, 1)):
        if isinstance(value, bool) or not hasattr(value, "__index__") or value < low:
            raise ValueError(f"{name} must be a whole number of at least {low} in conv_output_size; got {value!r}.")
    return _places(W, K, 2 * P, S)


def _places(size: int, kernel: int, border: int, stride: int) -> int:
    """The formula, with the border of both sides together."""
    if size + border < kernel:
        raise ValueError(
            f"A window of {kernel} does not fit on {size} pixels with a border of {border} in all: "
            f"({size} - {kernel} + {border})/{stride} + 1 is less than 1; take a smaller window or more padding."
        )
    return (size - kernel + border) // stride + 1


def borders(padding: Any, size: int, kernel: int, stride: int, axis: int) -> Border:
    """The border before and behind the pixels of one axis; "same" has one more behind where it is odd.

    >>> borders("same", 8, 3, 1, 0), borders("same", 8, 2, 1, 0), borders("same", 8, 3, 2, 0)
    ((1, 1), (0, 1), (0, 1))
    """
    if isinstance(padding, str):
        wanted = -(-size // stride)
        whole = max((wanted - 1) * stride + kernel - size, 0) if padding == "same" else 0
        return whole // 2, whole - whole // 2
    return pair(padding)[axis], pair(padding)[axis]


@dataclass(frozen=True)
class Step:
    """One planned layer: its name, input and output shapes, and the shapes of its parameters."""

    name: str
    layer: Layer
    before: Shape
    after: Shape
    weights: tuple[tuple[str, Shape], ...] = ()  # what is learnt, by name
    borders: tuple[Border, Border] = ((0, 0), (0, 0))  # of Conv, MaxPool and AvgPool: rows, columns
    left_over: tuple[int, int] = (0, 0)  # rows and columns at the end that no window reaches

    @property
    def n_parameters(self) -> int:
        """How many numbers it learns."""
        return sum(prod(shape) for _, shape in self.weights)

    @property
    def n_products(self) -> int:
        """Multiplications for one input."""
        places = prod(self.after[1:]) if isinstance(self.layer, Conv) else 1
        return places * prod(dict(self.weights).get("weight", (0,)))

    @property
    def kept(self) -> dict[str, Shape]:
        """Name and shape of what a trained network keeps of it: what it learns, and a batch norm's averages."""
        found = {f"{self.name}.{name}": shape for name, shape in self.weights}
        if isinstance(self.layer, BatchNorm):
            found |= {f"{self.name}.{name}": self.before[:1] for name in ("mean", "variance")}
        return found


def plan(layers: Sequence[Layer], shape: Shape, n_outputs: int | None = None) -> list[Step]:
    """The plan of all layers for inputs of this shape; with `n_outputs` a last `Dense` without activation.

    An image is flattened before a `Dense` layer.

    >>> [step.after for step in plan([Conv(4, 3), MaxPool(2)], (1, 8, 8), n_outputs=10)]
    [(4, 6, 6), (4, 3, 3), (36,), (10,)]
    """
    steps: list[Step] = []
    counts: dict[str, int] = {}

    def add(layer: Layer, name: str | None = None) -> None:
        kind = type(layer).__name__.lower()
        counts[kind] = counts.get(kind, 0) + 1
        before = steps[-1].after if steps else tuple(shape)
        steps.append(_step(layer, name or f"{kind}{counts[kind]}", before))

    wanted = list(_checked(layers))
    for layer in wanted:
        if isinstance(layer, Dense) and len(steps[-1].after if steps else shape) == 3:
            add(Flatten())
        add(layer)
    if n_outputs is not None:
        if len(steps[-1].after if steps else shape) == 3:
            add(Flatten())
        add(Dense(n_outputs, activation=None), "output")
    return steps


def _checked(layers: Any) -> Sequence[Layer]:
    if isinstance(layers, LAYERS) or not isinstance(layers, list | tuple):
        raise ValueError(f"layers must be a list such as [Conv(32, 3), MaxPool(2), Dense(64)]; got {layers!r}.")
    if not layers:
        raise ValueError("The list of layers is empty; give at least one, such as Dense(64), or None for the default.")
    for i, layer in enumerate(layers):
        if type(layer) not in LAYERS:
            names = ", ".join(kind.__name__ for kind in LAYERS)
            raise ValueError(f"Layer {i} is {layer!r}, and a layer is one of {names}; write it as in Conv(32, 3).")
    return layers


def _step(layer: Layer, name: str, before: Shape) -> Step:
    if isinstance(layer, Conv):
        _require_image(name, before)
        after, around, left = _windows(name, before, layer.kernel, layer.stride, layer.padding)
        weights: list[tuple[str, Shape]] = [("weight", (layer.channels, *pair(layer.kernel), before[0]))]
        if layer.bias:
            weights.append(("bias", (layer.channels,)))
        return Step(name, layer, before, (layer.channels, *after), tuple(weights), around, left)
    if isinstance(layer, MaxPool | AvgPool):
        _require_image(name, before)
        stride = layer.size if layer.stride is None else layer.stride
        after, around, left = _windows(name, before, layer.size, stride, layer.padding)
        return Step(name, layer, before, (before[0], *after), (), around, left)
    if isinstance(layer, Dense):
        weights = [("weight", (layer.units, before[0]))] + ([("bias", (layer.units,))] if layer.bias else [])
        return Step(name, layer, before, (layer.units,), tuple(weights))
    if isinstance(layer, BatchNorm):
        return Step(name, layer, before, before, (("weight", before[:1]), ("bias", before[:1])))
    return Step(name, layer, before, (prod(before),) if isinstance(layer, Flatten) else before)


def _require_image(name: str, shape: Shape) -> None:
    if len(shape) != 3:
        raise ValueError(
            f"Layer {name} needs an image and gets a row of {shape[0]} numbers; put it before Flatten and Dense."
        )


def _windows(
    name: str, before: Shape, kernel: Any, stride: Any, padding: Any
) -> tuple[tuple[int, int], tuple[Border, Border], tuple[int, int]]:
    """Positions of windows on the rows and columns of an image, the borders, and what no window reaches."""
    after, around, left = [], [], []
    for axis, (size, K, S) in enumerate(zip(before[1:], pair(kernel), pair(stride))):
        border = borders(padding, size, K, S, axis)
        try:
            after.append(_places(size, K, sum(border), S))
        except ValueError as error:
            where = ("rows", "columns")[axis]
            raise ValueError(f"Layer {name} does not fit its image of {_shown(before)} ({where}): {error}") from None
        around.append(border)
        left.append(max(0, size + sum(border) - ((after[-1] - 1) * S + K) - border[1]))
    return (after[0], after[1]), (around[0], around[1]), (left[0], left[1])


def _shown(shape: Shape) -> str:
    """An image as rows × columns × channels, a row as its length.

    >>> _shown((3, 28, 20)), _shown((64,))
    ('28×20×3', '64')
    """
    return "×".join(map(str, (*shape[1:], shape[0]))) if len(shape) == 3 else str(shape[0])
