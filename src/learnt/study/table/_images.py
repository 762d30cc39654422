"""Images as tables: a column for each pixel, so that a study of images is a study.

An .npz file holds images, (n, rows, columns) or (n, rows, columns, channels), and beside them what is known of each
(its class, say) as arrays of n values; an .npy file holds images alone. Columns are called pixel_0_0, pixel_0_1, …, by
row and column, of several channels pixel_0_0_0, …; wherever all pixels of a grid are there, the table is of images.
"""

from __future__ import annotations

import re
from pathlib import Path
from typing import NamedTuple

import numpy as np
import polars as pl

from learnt.study._errors import StudyError

MOST_PIXELS = 16_384  # numbers of an image; each is a column
MOST_CHANNELS = 4
_PIXEL = re.compile(r"pixel_(\d+)_(\d+)(?:_(\d+))?")


class Grid(NamedTuple):
    """Rows, columns and channels of the images of a table."""

    rows: int
    columns: int
    channels: int

    @property
    def names(self) -> list[str]:
        """Its columns, in the order of (rows, columns, channels)."""
        inside = range(self.channels) if self.channels > 1 else [None]
        return [
            f"pixel_{i}_{j}" + ("" if k is None else f"_{k}")
            for i in range(self.rows)
            for j in range(self.columns)
            for k in inside
        ]

    @property
    def words(self) -> str:
        return f"{self.rows}×{self.columns}" + (f" in {self.channels} channels" if self.channels > 1 else "")


def grid_of(columns: list[str]) -> Grid | None:
    """The images that a table holds; None where a pixel is missing, or there are none.

    >>> grid_of(["pixel_0_0", "pixel_0_1", "label"])
    Grid(rows=1, columns=2, channels=1)
    """
    places = [tuple(int(part or 0) for part in found.groups()) for name in columns if (found := _PIXEL.fullmatch(name))]
    if not places:
        return None
    grid = Grid(*(max(place[axis] for place in places) + 1 for axis in range(3)))
    whole = grid.rows * grid.columns * grid.channels
    return grid if whole <= MOST_PIXELS and whole == len(places) and set(grid.names) <= set(columns) else None


def besides_pixels(columns: list[str]) -> list[str]:
    """The columns that a person would name: of a table of images, those that are no pixels.

    >>> besides_pixels(["pixel_0_0", "label"]), besides_pixels(["a", "b"])
    (['label'], ['a', 'b'])
    """
    grid = grid_of(columns)
    pixels = set() if grid is None else set(grid.names)
    return [name for name in columns if name not in pixels] or columns


def read_images(path: Path) -> pl.DataFrame:
    """The table of an .npz or .npy file."""
    held = np.load(path, allow_pickle=False)
    if isinstance(held, np.ndarray):
        arrays = {"images": held}
    else:
        with held:
            arrays = {name: held[name] for name in held.files}
    images = [name for name, array in arrays.items() if array.ndim >= 3]
    if len(images) != 1:
        shapes = ", ".join(f"{name} {array.shape}" for name, array in arrays.items()) or "nothing"
        raise StudyError(
            f"{path} must hold one array of images, (n, rows, columns) or (n, rows, columns, channels), and it holds "
            f"{shapes}; save it again with numpy.savez(path, X=images, y=classes)."
        )
    pixels = arrays.pop(images[0])
    grid, flat = _flat(pixels, f"{images[0]} of {path}")
    strange = [name for name, array in arrays.items() if array.shape != (len(pixels),)]
    if strange:
        raise StudyError(
            f"{strange[0]} of {path} has the shape {arrays[strange[0]].shape}, and there are {len(pixels)} images; "
            "give one value an image."
        )
    table = pl.DataFrame(flat, schema=grid.names, orient="row")
    return table.with_columns(pl.Series(name, array) for name, array in arrays.items())


def _flat(pixels: np.ndarray, name: str) -> tuple[Grid, np.ndarray]:
    if pixels.ndim > 4 or pixels.dtype.kind not in "biuf" or 0 in pixels.shape:
        raise StudyError(
            f"{name} has the shape {pixels.shape} and holds {pixels.dtype}; images are numbers, (n, rows, columns) or "
            "(n, rows, columns, channels)."
        )
    if pixels.ndim == 3:
        pixels = pixels[..., None]
    elif pixels.shape[3] > MOST_CHANNELS >= pixels.shape[1]:
        pixels = pixels.transpose(0, 2, 3, 1)  # channels came before rows
    grid = Grid(*pixels.shape[1:])
    if grid.rows * grid.columns * grid.channels > MOST_PIXELS or grid.channels > MOST_CHANNELS:
        raise StudyError(
            f"{name} are images of {grid.words}, and a study takes at most {MOST_PIXELS:,} numbers an image in "
            f"{MOST_CHANNELS} channels; make them smaller."
        )
    flat = pixels.reshape(len(pixels), -1)
    if flat.dtype.kind == "f" and not np.isfinite(flat).all():
        row = int(np.flatnonzero(~np.isfinite(flat).all(axis=1))[0])
        raise StudyError(f"Image {row + 1} of {name} holds a pixel that is no number; leave it out.")
    return grid, flat.astype(np.uint8) if flat.dtype == bool else flat
