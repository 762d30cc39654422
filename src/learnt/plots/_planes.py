"""Charts of a function of one or two features: a band about a mean, a field of decisions, rows as points."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np

from learnt.drawing.frame import Frame, Numbers, legend
from learnt.drawing.svg import ACCENT, INK, MUTED, PAPER, SECOND, Chart, tag

_COLORS = (SECOND, ACCENT, MUTED, INK)
_MOST = 150  # points of a class that are drawn; evenly spaced ones of more


def band(
    x: Numbers,
    mean: Numbers,
    spread: Numbers,
    *,
    rows: tuple[Numbers, Numbers] | None = None,
    truth: Numbers | None = None,
    samples: Sequence[Numbers] = (),
    x_label: str = "x",
    y_label: str = "y",
    title: str = "Mean and spread",
) -> Chart:
    """A mean as a line, two standard deviations about it as a band; rows as dots, the truth dashed, samples thin.

    Parameters
    ----------
    x : array-like of float of shape (n_points,)
        Horizontal places, rising.
    mean : array-like of float of shape (n_points,)
        The mean at each place.
    spread : array-like of float of shape (n_points,)
        The standard deviation at each place; the band is twice as wide to either side.
    rows : tuple of two array-like, or None, default=None
        Horizontal and vertical places of training rows, drawn as dots.
    truth : array-like of float of shape (n_points,) or None, default=None
        The true function at each place, drawn as a dashed line.
    samples : sequence of array-like, default=()
        Functions drawn from a posterior, each of shape (n_points,), drawn as thin lines.
    x_label : str, default="x"
        Name of the horizontal axis.
    y_label : str, default="y"
        Name of the vertical axis.
    title : str, default="Mean and spread"
        Title of the chart, which screen readers say.

    Returns
    -------
    chart : Chart
        The picture, which notebooks show, `str` prints and `save` writes.

    See Also
    --------
    density : Any number of points as shaded cells.
    learnt.gaussian_process.GaussianProcessRegressor : Predicts means and standard deviations.

    Examples
    --------
    >>> band([0, 1, 2], [0, 1, 0], [0.1, 0.3, 0.1], rows=([0, 2], [0, 0])).title
    'Mean and spread'
    """
    x, mean, spread = (np.asarray(part, dtype=float) for part in (x, mean, spread))
    low, high = mean - 2 * spread, mean + 2 * spread
    heights = [low, high, *(np.asarray(s, dtype=float) for s in samples)]
    heights += [] if rows is None else [np.asarray(rows[1], dtype=float)]
    heights += [] if truth is None else [np.asarray(truth, dtype=float)]
    bottom, top = min(float(h.min()) for h in heights), max(float(h.max()) for h in heights)
    pad = 0.05 * (top - bottom)
    frame = Frame((float(x.min()), float(x.max())), (bottom - pad, top + pad), top=30, height=290)
    frame.axes(x_label, y_label)
    frame.band(x, low, high)
    for sample in samples:
        frame.line(x, sample, color=MUTED, width=0.8)
    if truth is not None:
        frame.line(x, truth, color=INK, width=1.2, dash="4 4", label="truth")
    frame.line(x, mean, label="mean")
    entries = [("mean ± 2 standard deviations", ACCENT)]
    if rows is not None:
        chosen = _some(len(rows[0]))
        frame.dots(np.asarray(rows[0])[chosen], np.asarray(rows[1])[chosen], color=SECOND, radius=3)
        entries.append(("rows", SECOND))
    legend(frame, entries)
    return frame.close(title, f"{y_label} against {x_label}")


def boundary(
    X: Any,
    side: Any,
    grid: tuple[Numbers, Numbers],
    scores: Any,
    *,
    support: Any = None,
    levels: Sequence[float] = (-1.0, 0.0, 1.0),
    names: tuple[str, str] = ("first class", "second class"),
    labels: tuple[str, str] = ("x₁", "x₂"),
    title: str = "Decision boundary",
) -> Chart:
    """Rows of two classes on the field of a decision function: its zero line, and its margins as thin lines.

    `side` is 0 or 1 for each row of X (two columns); `grid` are the places along both axes and `scores` the function
    there, one row for each place of the second; `support` are the indices of rows to ring.

    Parameters
    ----------
    X : array-like of float of shape (n_samples, 2)
        The rows.
    side : array-like of int of shape (n_samples,)
        0 or 1: the class of each row.
    grid : tuple of two array-like
        The places along the first and the second axis.
    scores : array-like of float of shape (n_second, n_first)
        The decision function on the grid, one row for each place of the second axis.
    support : array-like of int or None, default=None
        Indices of the rows to ring, such as support vectors.
    levels : sequence of float, default=(-1.0, 0.0, 1.0)
        Values of the function whose lines are drawn; that of 0 is thick.
    names : tuple of str, default=("first class", "second class")
        Names of class 0 and class 1.
    labels : tuple of str, default=("x₁", "x₂")
        Names of the two axes.
    title : str, default="Decision boundary"
        Title of the chart, which screen readers say.

    Returns
    -------
    chart : Chart
        The picture, which notebooks show, `str` prints and `save` writes.

    See Also
    --------
    scatter : Rows without a decision function.
    learnt.inspection.DecisionBoundaryDisplay : Draws the boundary of a fitted model with Matplotlib.

    Examples
    --------
    >>> import numpy as np
    >>> x = np.linspace(-1, 1, 5)
    >>> boundary([[-1.0, 0.0], [1.0, 0.0]], [0, 1], (x, x), np.tile(2 * x, (5, 1)), support=[0, 1]).title
    'Decision boundary'
    """
    X, side, scores = np.asarray(X, dtype=float), np.asarray(side, dtype=int), np.asarray(scores, dtype=float)
    xs, ys = (np.asarray(places, dtype=float) for places in grid)
    frame = Frame((xs[0], xs[-1]), (ys[0], ys[-1]), top=30, height=390)
    frame.axes(*labels)
    _shade(frame, xs, ys, scores)
    for level in levels:
        segments = contour(xs, ys, scores, level)
        path = "".join(
            f"M{frame.x(a):.1f} {frame.y(b):.1f}L{frame.x(c):.1f} {frame.y(d):.1f}" for a, b, c, d in segments
        )
        if path:
            frame.add(tag("path", d=path, stroke=INK, stroke_width=1.8 if level == 0 else 0.8))
    _points(frame, X, side, names)
    if support is not None:
        for a, b in X[np.asarray(support, dtype=int)][_some(len(support))]:
            ring = {"fill": "none", "stroke": INK, "stroke_width": 1.2}
            frame.add(tag("circle", cx=frame.x(a), cy=frame.y(b), r=6, **ring))
    found = "" if support is None else f", {len(support)} support vectors ringed"
    return frame.close(title, f"{names[0]} and {names[1]} on the field of the decision function{found}")


def scatter(
    X: Any,
    group: Any,
    *,
    names: Sequence[str] | None = None,
    labels: tuple[str, str] = ("x₁", "x₂"),
    title: str = "Rows",
) -> Chart:
    """Rows of two columns as points, coloured by group: integers from 0 to 3.

    Parameters
    ----------
    X : array-like of float of shape (n_samples, 2)
        The rows.
    group : array-like of int of shape (n_samples,)
        The group of each row, from 0 to 3.
    names : sequence of str or None, default=None
        Names of the groups; None calls them "group 0", "group 1", ….
    labels : tuple of str, default=("x₁", "x₂")
        Names of the two axes.
    title : str, default="Rows"
        Title of the chart, which screen readers say.

    Returns
    -------
    chart : Chart
        The picture, which notebooks show, `str` prints and `save` writes.

    See Also
    --------
    density : Any number of points as shaded cells.
    boundary : Two classes on the field of a decision function.

    Examples
    --------
    >>> scatter([[0.0, 1.0], [1.0, 0.0]], [0, 1]).title
    'Rows'
    """
    X, group = np.asarray(X, dtype=float), np.asarray(group, dtype=int)
    pad = 0.05 * np.maximum(np.ptp(X, axis=0), 1e-12)
    low, high = X.min(axis=0) - pad, X.max(axis=0) + pad
    frame = Frame((low[0], high[0]), (low[1], high[1]), top=30, height=390)
    frame.axes(*labels)
    _points(frame, X, group, names or [f"group {k}" for k in range(int(group.max()) + 1)])
    return frame.close(title, f"{labels[1]} against {labels[0]}")


def contour(xs: np.ndarray, ys: np.ndarray, values: np.ndarray, level: float) -> list[tuple[float, ...]]:
    """Segments (x, y, x, y) along which a field on a grid has this value, linear between grid points.

    >>> contour(np.array([0.0, 1.0]), np.array([0.0, 1.0]), np.array([[0.0, 1.0], [0.0, 1.0]]), 0.5)
    [(0.5, 0.0, 0.5, 1.0)]
    """
    above = values > level
    mixed = above[:-1, :-1].astype(int) + above[1:, :-1] + above[:-1, 1:] + above[1:, 1:]
    found: list[tuple[float, ...]] = []
    for i, j in zip(*np.nonzero((mixed > 0) & (mixed < 4)), strict=True):
        corners = [(i, j), (i, j + 1), (i + 1, j + 1), (i + 1, j)]
        crossed = []
        for a, b in zip(corners, corners[1:] + corners[:1], strict=True):
            if above[a] != above[b]:
                share = (level - values[a]) / (values[b] - values[a])
                crossed.append(
                    (
                        float(xs[a[1]] + share * (xs[b[1]] - xs[a[1]])),
                        float(ys[a[0]] + share * (ys[b[0]] - ys[a[0]])),
                    )
                )
        found += [(*crossed[k], *crossed[k + 1]) for k in range(0, len(crossed) - 1, 2)]
    return found


def _shade(frame: Frame, xs: np.ndarray, ys: np.ndarray, scores: np.ndarray, cells: int = 40) -> None:
    """Rectangles in the colour of the class, the stronger the surer; at most 40 × 40."""
    columns, rows = (np.unique(np.linspace(0, len(p) - 1, min(cells, len(p))).astype(int)) for p in (xs, ys))
    wide, tall = frame.width_in / len(columns), frame.height_in / len(rows)
    sharp = {"shape_rendering": "crispEdges"}
    for r, i in enumerate(rows):
        shades = np.round(np.clip(scores[i, columns], -1.0, 1.0) * 6).astype(int)  # six of each colour
        ends = np.append(np.flatnonzero(np.diff(shades)) + 1, len(shades))
        first = 0
        for last in ends:  # a rectangle for each run of one shade
            if shades[first]:
                box = {"x": frame.left + first * wide, "y": frame.top + frame.height_in - (r + 1) * tall}
                color, strength = (ACCENT if shades[first] > 0 else SECOND), round(0.05 * abs(int(shades[first])), 2)
                size = {"width": (last - first) * wide, "height": tall}
                frame.add(tag("rect", **box, **size, fill=color, fill_opacity=strength, **sharp))
            first = int(last)


def _points(frame: Frame, X: np.ndarray, group: np.ndarray, names: Sequence[str]) -> None:
    for k in range(len(names)):
        own = X[group == k]
        for a, b in own[_some(len(own))]:
            style = {"fill": _COLORS[k % 4], "stroke": PAPER, "stroke_width": 0.8}
            frame.add(tag("circle", cx=frame.x(a), cy=frame.y(b), r=3.5, **style))
    legend(frame, [(name, _COLORS[k % 4]) for k, name in enumerate(names)])


def _some(n: int) -> np.ndarray:
    """Indices of the points that are drawn."""
    return np.arange(n) if n <= _MOST else np.linspace(0, n - 1, _MOST).astype(int)
