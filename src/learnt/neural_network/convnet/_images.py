"""Images of any layout as rows of numbers: row by row, pixel by pixel, the channels of a pixel side by side (NHWC).

NHW     (n, rows, columns)                 grey
NHWC    (n, rows, columns, channels)       as read from files
NCHW    (n, channels, rows, columns)       as PyTorch has them
flat    (n, rows · columns · channels)     with `image_shape`
"""

from __future__ import annotations

from math import isqrt, prod
from typing import Any, NamedTuple

import numpy as np

LAYOUTS = ("auto", "NHW", "NHWC", "NCHW")
_CHANNELS = (1, 2, 3, 4)  # grey, with opacity, colours, with opacity


class Images(NamedTuple):
    """Images as rows, what an image is (rows, columns, channels), and the layout they came in."""

    rows: Any
    shape: tuple[int, int, int] | None
    layout: str


def as_images(X: Any, name: str, image_shape: Any = None, layout: str = "auto") -> Images:
    """Rows of images; of a table (n, d) `image_shape` says what its rows are, by default a square or a line."""
    X = _array(np.asarray(X) if isinstance(X, np.ndarray) else X, name)  # a memory map is an array
    if type(X) is np.ndarray and X.dtype == np.uint8:
        X = np.divide(X, 255, dtype=np.float32)
    if type(X) is not np.ndarray or X.ndim not in (3, 4):
        d = X.shape[1] if hasattr(X, "shape") and len(X.shape) == 2 else 0
        if not d:
            return Images(X, None, "flat")  # refused where tables are checked
        shape, order = flat_shape(d, image_shape, layout, name)
        if order == "NCHW" and shape[2] > 1:
            grid = np.asarray(X).reshape(-1, shape[2], shape[0], shape[1])
            return Images(np.moveaxis(grid, 1, 3).reshape(len(grid), d), shape, "NCHW")
        return Images(X, shape, "flat")
    found = _layout_of(X.shape, layout, name)
    if found == "NCHW":
        X = np.moveaxis(X, 1, 3)
    shape = (X.shape[1], X.shape[2], X.shape[3] if X.ndim == 4 else 1)
    if image_shape is not None and _triple(image_shape, layout if found == "NCHW" else found, name) != shape:
        raise ValueError(f"The images of X are {shown(shape)} and image_shape={image_shape!r}; make them agree.")
    return Images(X.reshape(len(X), prod(shape)), shape, found)


def _array(X: Any, name: str) -> Any:
    """A list of images as an array; those of two sizes are refused."""
    if isinstance(X, list | tuple):
        try:
            return np.asarray(X)
        except ValueError:
            X = np.fromiter(X, dtype=object, count=len(X))
    if type(X) is np.ndarray and X.dtype == object and X.ndim == 1:
        sizes = [_size(image, place, name) for place, image in enumerate(X)]
        other = next((i for i, size in enumerate(sizes) if size != sizes[0]), None)
        if other is not None and len(sizes[0]) > 1:
            raise ValueError(
                f"The images of X have two sizes, {shown(sizes[0])} at 0 and {shown(sizes[other])} at {other}; "
                f"{name} needs one size: cut or resize them first."
            )
        if sizes and len(sizes[0]) > 1:
            return np.stack(list(X))
    return X


def _size(image: Any, place: int, name: str) -> tuple[int, ...]:
    try:
        return np.shape(image)
    except ValueError:
        raise ValueError(
            f"Image {place} of X has lines of unequal length, and {name} needs rectangles; fill them up or cut them."
        ) from None


def _layout_of(shape: tuple[int, ...], layout: str, name: str) -> str:
    """The layout of an array of three or four axes; a small last axis is channels, else a small second one."""
    wanted = {3: ("auto", "NHW"), 4: ("auto", "NHWC", "NCHW")}[len(shape)]
    if layout not in wanted:
        raise ValueError(f"X has the shape {shape}, which is not of layout={layout!r}; use {wanted[-1]!r} or 'auto'.")
    if layout != "auto":
        return layout
    if len(shape) == 3:
        return "NHW"
    if shape[3] in _CHANNELS:
        return "NHWC"
    if shape[1] in _CHANNELS:
        return "NCHW"
    raise ValueError(
        f"X has the shape {shape}, and {name} cannot tell which axis is the channels; say layout='NHWC' or 'NCHW'."
    )


def flat_shape(d: int, image_shape: Any, layout: str, name: str) -> tuple[tuple[int, int, int], str]:
    """What a row of d numbers is: as `image_shape` says, else a square where d is one, else a line.

    >>> flat_shape(64, None, "auto", ""), flat_shape(5, None, "auto", "")
    (((8, 8, 1), 'flat'), ((1, 5, 1), 'flat'))
    """
    if image_shape is None:
        side = isqrt(d)
        return ((side, side, 1) if side * side == d else (1, d, 1)), "flat"
    shape = _triple(image_shape, layout, name)
    if prod(shape) != d:
        raise ValueError(
            f"image_shape={image_shape!r} is {prod(shape)} numbers, and a row of X has {d} features; make them agree."
        )
    first = len(image_shape) == 3 and shape != tuple(image_shape)
    return shape, "NCHW" if first else "flat"


def _triple(image_shape: Any, layout: str, name: str) -> tuple[int, int, int]:
    """(rows, columns) or (rows, columns, channels) or, where the layout says so, (channels, rows, columns)."""
    sizes = tuple(image_shape) if isinstance(image_shape, tuple | list) else ()
    good = all(isinstance(n, int | np.integer) and not isinstance(n, bool) and n > 0 for n in sizes)
    if len(sizes) not in (2, 3) or not good:
        raise ValueError(
            f"image_shape of {name} must be (rows, columns) or (rows, columns, channels); got {image_shape!r}."
        )
    sizes = tuple(int(n) for n in sizes)
    if len(sizes) == 2:
        return (*sizes, 1)
    first = layout == "NCHW" or (layout == "auto" and sizes[0] in _CHANNELS and sizes[2] not in _CHANNELS)
    return (sizes[1], sizes[2], sizes[0]) if first else (sizes[0], sizes[1], sizes[2])


def shown(shape: tuple[int, ...]) -> str:
    """A size in a sentence.

    >>> shown((28, 20, 1)), shown((28, 20, 3))
    ('28×20', '28×20×3')
    """
    return "×".join(map(str, shape[:-1] if len(shape) == 3 and shape[-1] == 1 else shape))
