"""The table of a network: layers, shapes, and how many numbers each learns."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from html import escape
from math import prod
from typing import Any

from learnt.engine.documentation import documented
from learnt.neural_network.layers._shapes import Shape, Step, _shown, plan
from learnt.neural_network.layers._specs import BatchNorm, Conv, Dense, Layer

_HEAD = ("layer", "", "output", "parameters")


@dataclass(frozen=True)
class NetworkSummary:
    """What `summary` answers: printed it is a table.

    Attributes
    ----------
    input_shape : tuple of int
        The shape of what goes in.
    steps : list of Step
        The layers in their places, with shapes.
    n_weights : int
        How many weights the network has.
    n_biases : int
        How many constants; those of a batch norm count as well.
    n_parameters : int
        Both together.
    """

    input_shape: Shape
    steps: list[Step]

    @property
    def n_weights(self) -> int:
        """How many weights the network has."""
        return self._count("weight")

    @property
    def n_biases(self) -> int:
        """How many constants the network has, those of batch norms among them."""
        return self._count("bias")

    @property
    def n_parameters(self) -> int:
        """How many numbers the network learns: weights and constants."""
        return self.n_weights + self.n_biases

    def _count(self, kind: str) -> int:
        return sum(prod(shape) for step in self.steps for name, shape in step.weights if name == kind)

    def rows(self) -> list[tuple[str, str, str, str]]:
        """The table's cells: name, what it is, output shape, parameters."""
        found = [("input", "", _shown(self.input_shape), "0")]
        return found + [
            (step.name, _described(step), _shown(step.after), f"{step.n_parameters:,}") for step in self.steps
        ]

    @property
    def total(self) -> str:
        """The last line.

        >>> summary([Dense(3), Dense(3)], (2,), n_outputs=1).total
        '18 weights + 7 biases = 25 parameters'
        """
        return f"{self.n_weights:,} weights + {self.n_biases:,} biases = {self.n_parameters:,} parameters"

    def __str__(self) -> str:
        cells = [_HEAD, *self.rows()]
        width = [max(len(row[i]) for row in cells) for i in range(4)]
        lines = [
            f"{row[0]:<{width[0]}}  {row[1]:<{width[1]}}  {row[2]:>{width[2]}}  {row[3]:>{width[3]}}".rstrip()
            for row in cells
        ]
        return "\n".join([lines[0], "-" * max(map(len, lines)), *lines[1:], self.total])

    __repr__ = __str__

    def _repr_html_(self) -> str:
        def line(cells: Sequence[str], tag: str) -> str:
            return f"<tr>{''.join(f'<{tag}>{escape(cell)}</{tag}>' for cell in cells)}</tr>"

        body = "".join(line(row, "td") for row in self.rows())
        return f"<table>{line(_HEAD, 'th')}{body}<caption>{escape(self.total)}</caption></table>"


@documented
def summary(layers: Sequence[Layer], input_shape: Sequence[int], n_outputs: int | None = None) -> NetworkSummary:
    """Shapes and numbers of parameters of a network, before it is trained; an error says what does not fit.

    Parameters
    ----------
    layers : list of layers
        Such as [Conv(32, 3), MaxPool(2), Dense(64)].
    input_shape : tuple (rows, columns), (channels, rows, columns) or (units,)
        The size of what goes in.
    n_outputs : int or None, default=None
        The units of the last layer, which an estimator adds by itself; None: the list is the whole network.

    Returns
    -------
    summary : NetworkSummary
        Printed it is a table; `steps`, `n_weights`, `n_biases` and `n_parameters` have the numbers.

    See Also
    --------
    conv_output_size : The size of what one convolution gives.
    ConvNetClassifier : Has it as a method.

    Examples
    --------
    >>> print(summary([Dense(3), Dense(3)], (2,), n_outputs=1))
    layer         output  parameters
    --------------------------------
    input              2           0
    dense1  relu       3           9
    dense2  relu       3          12
    output             1           4
    18 weights + 7 biases = 25 parameters
    """
    shape = tuple(int(size) for size in input_shape)
    shape = (1, *shape) if len(shape) == 2 else shape
    if len(shape) not in (1, 3) or min(shape) < 1:
        raise ValueError(
            f"input_shape must be (rows, columns), (channels, rows, columns) or (units,); got {tuple(input_shape)}."
        )
    return NetworkSummary(shape, plan(layers, shape, n_outputs))


def _described(step: Step) -> str:
    """Notes on a layer besides its shapes."""
    layer: Any = step.layer
    said = []
    if isinstance(layer, Conv):
        said.append(
            f"{_size(layer.kernel)}" + (f" step {_size(layer.stride)}" if layer.stride not in (1, (1, 1)) else "")
        )
        said.append(f"padding {layer.padding}" if layer.padding not in (0, "valid") else "")
    elif hasattr(layer, "size"):
        said.append(_size(layer.size))
    elif hasattr(layer, "rate"):
        said.append(f"{layer.rate:g}")
    if isinstance(layer, Conv | Dense | BatchNorm):
        said.append(layer.activation or "")
    if any(step.left_over):
        said.append(f"({step.left_over[0]} rows, {step.left_over[1]} columns left over)")
    return " ".join(filter(None, said))


def _size(size: Any) -> str:
    return "×".join(map(str, size)) if isinstance(size, tuple | list) else f"{size}×{size}"
