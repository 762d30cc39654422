"""One parameter of a kernel that can be learnt: its name, its bounds, and whether it stays as it is."""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np


class _Fields(NamedTuple):
    name: str
    value_type: str
    bounds: Any
    n_elements: int
    fixed: bool


class Hyperparameter(_Fields):
    """A parameter that can be learnt: a number above 0, or several, searched on a logarithmic scale.

    Kernels make their own (`kernel.hyperparameters`); make one yourself in a kernel of your own.

    Parameters
    ----------
    name : str
        The name of the parameter in the kernel's constructor.
    value_type : str
        What kind of value it is: "numeric".
    bounds : pair of numbers, array of shape (n_elements, 2) or "fixed"
        Between which the search keeps; a pair holds for every element. "fixed" keeps the value as it is.
    n_elements : int, default=1
        How many numbers it holds; more than 1 for one length scale a feature, say.
    fixed : bool or None, default=None
        Whether the value stays as it is; None: where `bounds` is "fixed".

    Attributes
    ----------
    name : str
        The name of the parameter.
    value_type : str
        What kind of value it is: "numeric".
    bounds : ndarray of shape (n_elements, 2) or "fixed"
        The least and the greatest value of each element.
    n_elements : int
        How many numbers it holds.
    fixed : bool
        Whether the value stays as it is.

    See Also
    --------
    Kernel : What has such parameters.

    Examples
    --------
    >>> Hyperparameter("length_scale", "numeric", (0.1, 10.0), 2).bounds
    array([[ 0.1, 10. ],
           [ 0.1, 10. ]])
    >>> Hyperparameter("length_scale", "numeric", "fixed").fixed
    True
    """

    __slots__ = ()

    def __new__(cls, name: str, value_type: str, bounds: Any, n_elements: int = 1, fixed: Any = None) -> Hyperparameter:
        if not (isinstance(bounds, str) and bounds == "fixed"):
            bounds = np.atleast_2d(np.asarray(bounds, dtype=np.float64))
            if bounds.shape[0] not in (1, n_elements):
                raise ValueError(
                    f"Bounds on {name} should have either 1 or {n_elements} dimensions. Given are {bounds.shape[0]}"
                )
            bounds = np.repeat(bounds, n_elements // len(bounds), axis=0)
        is_fixed = isinstance(bounds, str) if fixed is None else fixed
        return super().__new__(cls, name, value_type, bounds, n_elements, is_fixed)

    def __eq__(self, other: Any) -> bool:
        return (
            self.name == other.name
            and self.value_type == other.value_type
            and np.array_equal(self.bounds, other.bounds)
            and self.n_elements == other.n_elements
            and self.fixed == other.fixed
        )

    __hash__ = None  # type: ignore[assignment]
