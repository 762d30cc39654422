"""A density of one or two features as a picture."""

from __future__ import annotations

import math
from itertools import groupby
from typing import Any

import numpy as np
from sklearn.utils.validation import check_is_fitted

from learnt.drawing.frame import Frame, legend
from learnt.drawing.svg import ACCENT, SECOND, Chart, hint, number, tag
from learnt.engine.validation import NOT_FITTED

_POINTS, _CELLS, _LEVELS = 400, 64, 10
_INSIDE = 4  # points along each side of a cell of a map, whose densities are averaged
_SAMPLE = 4000  # rows sampled to find the region of high density


def picture_of(model: Any, title: str = "") -> Chart:
    """p(x) with the level below which rows are novelties (one feature); or levels of it on a map (two features)."""
    check_is_fitted(model, msg=NOT_FITTED)
    if model.n_features_in_ > 2:
        raise ValueError(
            f"A picture shows a density of one or two features and this one has {model.n_features_in_}; "
            "fit it to one or two of them."
        )
    limits = _limits(model.sample(_SAMPLE, random_state=0))
    names = [str(name) for name in getattr(model, "feature_names_in_", ("x", "y"))]
    title = title or f"{type(model).__name__}: density of {' and '.join(names[: model.n_features_in_])}"
    return _curve(model, limits[0], names[0], title) if len(limits) == 1 else _map(model, limits, names, title)


def _limits(rows: np.ndarray) -> list[tuple[float, float]]:
    """The range of nearly all rows of each feature, and a little more."""
    low, high = np.quantile(rows, [0.001, 0.999], axis=0)
    room = np.where(high > low, 0.1 * (high - low), 0.5)
    return list(zip((low - room).tolist(), (high + room).tolist(), strict=True))


def _density_at(model: Any, points: np.ndarray) -> np.ndarray:
    """p at points without column names; rows of a fitted data frame have some."""
    return np.exp(model._log_density(points))


def _curve(model: Any, limits: tuple[float, float], name: str, title: str) -> Chart:
    x = np.linspace(*limits, _POINTS)
    p = _density_at(model, x[:, None])
    level = math.exp(model.offset_)
    frame = Frame(limits, (0.0, 1.05 * max(float(p.max()), level)), top=26)
    frame.axes(name, "density")
    frame.band(x, np.zeros_like(x), p)
    frame.line(x, p, label="density")
    frame.line(limits, (level, level), color=SECOND, dash="4 3", label="novelty below this density")
    legend(frame, [("density", ACCENT), ("novelty below", SECOND)])
    about = f"highest {number(float(p.max()))} at {number(float(x[p.argmax()]))}; novelty below {number(level)}"
    return frame.close(title, about)


def _map(model: Any, limits: list[tuple[float, float]], names: list[str], title: str) -> Chart:
    edges = [np.linspace(*pair, _CELLS + 1) for pair in limits]
    p, highest = _mean_and_peak(model, limits)
    levels = np.where(highest >= math.exp(model.offset_), _levels(p), 0)
    frame = Frame(*limits, top=26, height=380)
    frame.axes(names[0], names[1])
    for row in range(_CELLS):
        # To tenths of a pixel, in which they are written: the end of a cell is the start of the next.
        bottom, top = (round(frame.y(edges[1][at]), 1) for at in (row, row + 1))
        for level, run in groupby(range(_CELLS), key=lambda column: levels[row, column]):
            cells = list(run)
            left, right = (round(frame.x(edges[0][at]), 1) for at in (cells[0], cells[-1] + 1))
            if level:
                frame.add(
                    tag(
                        "rect",
                        hint(f"density up to {number(float(highest[row, cells].max()))}"),
                        x=left,
                        y=top,
                        width=right - left,
                        height=bottom - top,
                        shape_rendering="crispEdges",
                        fill=ACCENT,
                        fill_opacity=f"{0.08 + 0.9 * level / _LEVELS:.2f}",
                    )
                )
    legend(frame, [("darker: more probable", ACCENT), ("blank: novelty", "none")])
    return frame.close(title, f"highest density {number(float(highest.max()))}; blank where a row would be a novelty")


def _mean_and_peak(model: Any, limits: list[tuple[float, float]]) -> tuple[np.ndarray, np.ndarray]:
    """The mean and the highest density in every cell of a map: those of trees change within a cell too."""
    edges = [np.linspace(*pair, _CELLS * _INSIDE + 1) for pair in limits]
    x, y = ((edge[:-1] + edge[1:]) / 2 for edge in edges)
    grid = np.stack([part.ravel() for part in np.meshgrid(x, y)], axis=1)
    p = _density_at(model, grid).reshape(_CELLS, _INSIDE, _CELLS, _INSIDE)
    return p.mean(axis=(1, 3)), p.max(axis=(1, 3))


def _levels(p: np.ndarray) -> np.ndarray:
    """1…_LEVELS by equal steps of √p, in which peaks do not hide all else."""
    top = math.sqrt(float(p.max())) or 1.0
    return np.clip(np.ceil(_LEVELS * np.sqrt(p) / top).astype(int), 1, _LEVELS)
