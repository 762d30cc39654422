"""Layers as plain values: the description of a network.

    [Conv(32, 3, padding="same"), MaxPool(2), Flatten(), Dense(64), Dropout(0.5)]

A layer is validated when it is made, independently of the data; `_shapes` checks whether layers fit an image.
"""

from __future__ import annotations

from dataclasses import dataclass
from numbers import Integral, Real
from typing import Any

from learnt.neural_network.training._activations import NAMES

Pair = tuple[int, int]


def pair(value: Any) -> Pair:
    """One number for both directions, or (rows, columns).

    >>> pair(3), pair((1, 5))
    ((3, 3), (1, 5))
    """
    return (int(value), int(value)) if isinstance(value, Integral) else (int(value[0]), int(value[1]))


def _is_count(value: Any, low: int) -> bool:
    return isinstance(value, Integral) and not isinstance(value, bool) and int(value) >= low


def _require(good: bool, layer: Any, name: str, wanted: str) -> None:
    if not good:
        raise ValueError(f"The {name!r} of {type(layer).__name__} must be {wanted}; got {getattr(layer, name)!r}.")


def _require_count(layer: Any, name: str) -> None:
    _require(_is_count(getattr(layer, name), 1), layer, name, "a whole number of at least 1")


def _require_pair(layer: Any, name: str, low: int = 1, also: tuple[Any, ...] = ()) -> None:
    value = getattr(layer, name)
    if any(value is other or (isinstance(value, str) and value == other) for other in also):
        return
    two = isinstance(value, tuple | list) and len(value) == 2 and all(_is_count(part, low) for part in value)
    wanted = f"a whole number of at least {low}, or a pair of them (rows, columns)"
    _require(two or _is_count(value, low), layer, name, " or ".join([wanted, *map(repr, also)]))


def _require_activation(layer: Any) -> None:
    good = layer.activation is None or (isinstance(layer.activation, str) and layer.activation in NAMES)
    _require(good, layer, "activation", f"None or one of {', '.join(NAMES)}")


def _require_number(layer: Any, name: str, low: float, below: float, *, open_low: bool = False) -> None:
    value = getattr(layer, name)
    good = isinstance(value, Real) and not isinstance(value, bool) and low <= float(value) < below
    good = good and not (open_low and value == low)
    _require(good, layer, name, f"a number {'above' if open_low else 'of at least'} {low:g} and below {below:g}")


@dataclass(frozen=True)
class Conv:
    """Convolution:  s(i, j) = Σₘ Σₙ I(i+m, j+n) K(m, n)  summed over the image's channels, for each of its kernels K.

    Parameters
    ----------
    channels : int
        How many kernels, and so channels of what comes out.
    kernel : int or tuple (rows, columns), default=3
        The size K of a kernel.
    padding : int, tuple (rows, columns), "same" or "valid", default=0
        The border P of zeros around the image. "same" pads so that stride 1 keeps the size; "valid" is 0.
    stride : int or tuple (rows, columns), default=1
        The step S. What comes out has the size (W − K + 2P)/S + 1.
    activation : {"relu", "leaky_relu", "tanh", "logistic", "sigmoid", "identity"} or None, default="relu"
        The function of what comes out; None for none.
    bias : bool, default=True
        Whether each kernel has a constant of its own; not needed before `BatchNorm`.

    See Also
    --------
    ConvNetClassifier : Takes a list of layers.
    MaxPool : Makes images smaller behind it.
    conv_output_size : The size of what comes out.

    Examples
    --------
    >>> Conv(32, 3, padding="same")
    Conv(channels=32, kernel=3, padding='same', stride=1, activation='relu', bias=True)
    """

    channels: int
    kernel: int | Pair = 3
    padding: int | Pair | str = 0
    stride: int | Pair = 1
    activation: str | None = "relu"
    bias: bool = True

    def __post_init__(self) -> None:
        _require_count(self, "channels")
        _require_pair(self, "kernel")
        _require_pair(self, "padding", 0, ("same", "valid"))
        _require_pair(self, "stride")
        _require_activation(self)
        _require(isinstance(self.bias, bool), self, "bias", "True or False")
        if not isinstance(self.padding, str):
            seen = [p <= k for p, k in zip(pair(self.padding), pair(self.kernel))]
            _require(all(seen), self, "padding", f"at most the size of the kernel ({self.kernel})")


@dataclass(frozen=True)
class _Pool:
    size: int | Pair = 2
    stride: int | Pair | None = None
    padding: int | Pair | str = 0

    def __post_init__(self) -> None:
        _require_pair(self, "size")
        _require_pair(self, "stride", 1, (None,))
        _require_pair(self, "padding", 0, ("same", "valid"))
        if not isinstance(self.padding, str):
            half = [2 * p <= k for p, k in zip(pair(self.padding), pair(self.size))]
            _require(all(half), self, "padding", f"at most half the size of the window ({self.size})")


@dataclass(frozen=True)
class MaxPool(_Pool):
    """The largest value of each window, channel by channel.

    Parameters
    ----------
    size : int or tuple (rows, columns), default=2
        The size of a window.
    stride : int, tuple (rows, columns) or None, default=None
        The step from window to window; None is the size, so that windows do not overlap.
    padding : int, tuple (rows, columns), "same" or "valid", default=0
        A border around the image, at most half a window: it never is the largest. "same" pads so that stride 1 keeps
        the size.

    See Also
    --------
    AvgPool : The mean of each window instead.
    Conv : Stands before it.

    Examples
    --------
    >>> MaxPool(2)
    MaxPool(size=2, stride=None, padding=0)
    """


@dataclass(frozen=True)
class AvgPool(_Pool):
    """The mean of each window, channel by channel. A border counts for nothing.

    Parameters
    ----------
    size : int or tuple (rows, columns), default=2
        The size of a window.
    stride : int, tuple (rows, columns) or None, default=None
        The step from window to window; None is the size, so that windows do not overlap.
    padding : int, tuple (rows, columns), "same" or "valid", default=0
        A border around the image, at most half a window: it counts for nothing in the mean. "same" pads so that stride
        1 keeps the size.

    See Also
    --------
    MaxPool : The largest value of each window instead.
    Conv : Stands before it.

    Examples
    --------
    >>> AvgPool(2)
    AvgPool(size=2, stride=None, padding=0)
    """


@dataclass(frozen=True)
class Flatten:
    """An image becomes one row of numbers: row by row, pixel by pixel, the channels of a pixel side by side.

    A `Dense` layer behind an image flattens it by itself, so that it need not be written.

    See Also
    --------
    Dense : Takes a row of numbers.
    Conv : Takes an image.

    Examples
    --------
    >>> Flatten()
    Flatten()
    """


@dataclass(frozen=True)
class Dense:
    """a = σ(Wz + b): every unit sees every number of the layer below.

    Parameters
    ----------
    units : int
        How many numbers come out.
    activation : {"relu", "leaky_relu", "tanh", "logistic", "sigmoid", "identity"} or None, default="relu"
        The function σ of what comes out; None for none.
    bias : bool, default=True
        Whether each unit has a constant b.

    See Also
    --------
    Dropout : Against overfitting, behind it.
    ConvNetClassifier : Takes a list of layers.

    Examples
    --------
    >>> Dense(64)
    Dense(units=64, activation='relu', bias=True)
    """

    units: int
    activation: str | None = "relu"
    bias: bool = True

    def __post_init__(self) -> None:
        _require_count(self, "units")
        _require_activation(self)
        _require(isinstance(self.bias, bool), self, "bias", "True or False")


@dataclass(frozen=True)
class Dropout:
    """Training sets each number to 0 with probability `rate` and divides the rest by 1 − rate; prediction does not.

    A remedy for overfitting.

    Parameters
    ----------
    rate : float, default=0.5
        The share of numbers that are dropped, from 0 to less than 1.

    See Also
    --------
    Dense : Stands before it.
    BatchNorm : Makes training steadier.

    References
    ----------
    .. [1] N. Srivastava, G. Hinton, A. Krizhevsky, I. Sutskever, R. Salakhutdinov, "Dropout: A Simple Way to Prevent
       Neural Networks from Overfitting", Journal of Machine Learning Research 15, 2014.

    Examples
    --------
    >>> Dropout(0.25)
    Dropout(rate=0.25)
    """

    rate: float = 0.5

    def __post_init__(self) -> None:
        _require_number(self, "rate", 0, 1)


@dataclass(frozen=True)
class BatchNorm:
    """γ (z − mean)/√(variance + eps) + β: each channel (or unit) has mean β and scale γ over a batch.

    Prediction takes running averages of the means and variances of the batches, to which a batch adds a share of
    `momentum`. `Conv(32, 3, activation=None, bias=False), BatchNorm(activation="relu")` is how it mostly stands.

    Parameters
    ----------
    momentum : float, default=0.1
        The share of a batch in the running averages, above 0 and below 1.
    eps : float, default=1e-5
        Added to the variance, so that constant channels do not divide by 0.
    activation : {"relu", "leaky_relu", "tanh", "logistic", "sigmoid", "identity"} or None, default=None
        The function of what comes out; None for none.

    See Also
    --------
    Conv : Stands before it.
    Dropout : Against overfitting.

    References
    ----------
    .. [1] S. Ioffe, C. Szegedy, "Batch Normalization: Accelerating Deep Network Training by Reducing Internal Covariate
       Shift", ICML, 2015.

    Examples
    --------
    >>> BatchNorm(activation="relu")
    BatchNorm(momentum=0.1, eps=1e-05, activation='relu')
    """

    momentum: float = 0.1
    eps: float = 1e-5
    activation: str | None = None

    def __post_init__(self) -> None:
        _require_number(self, "momentum", 0, 1, open_low=True)
        _require_number(self, "eps", 0, 1, open_low=True)
        _require_activation(self)


Layer = Conv | MaxPool | AvgPool | Flatten | Dense | Dropout | BatchNorm
LAYERS = (Conv, MaxPool, AvgPool, Flatten, Dense, Dropout, BatchNorm)
