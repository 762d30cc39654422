"""Charts made of rows: where a model stands, the race, importances, parts of an error, a confusion matrix."""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from dataclasses import dataclass

import numpy as np

from learnt.drawing.frame import WIDTH
from learnt.drawing.svg import (
    ACCENT,
    GRID,
    INK,
    MUTED,
    PAPER,
    SECOND,
    SOFT,
    Chart,
    hint,
    number,
    percent,
    picture,
    tag,
    text,
    tick_labels,
    ticks,
)

MANY_CLASSES = 20  # more of them are cells without numbers
LINE = 14.0  # pixels that a line of text needs


@dataclass(frozen=True)
class Row:
    """One line of a race, of a list of importances, of groups or of reasons.

    Parameters
    ----------
    label : str
        What is written above the line.
    value : float
        Where its dot or the end of its bar is.
    low : float, default=nan
        Lower end of its interval; NaN draws none.
    high : float, default=nan
        Upper end of its interval; NaN draws none.
    strong : bool, default=False
        Whether the line is highlighted.

    See Also
    --------
    race : Draws models.
    importances : Draws columns.
    groups : Draws groups.

    Examples
    --------
    >>> row = Row("ridge", 1.2, 1.1, 1.3, strong=True)
    >>> row.label, row.value
    ('ridge', 1.2)
    """

    label: str
    value: float
    low: float = math.nan
    high: float = math.nan
    strong: bool = False


def ruler(
    value: float,
    interval: tuple[float, float],
    *,
    constant: float,
    bracket: tuple[float, float] | None = None,
    name: str = "this model",
    form: Callable[[float], str] = percent,
) -> Chart:
    """Where a model's error stands between no error at all, the best possible, and the best constant.

    Parameters
    ----------
    value : float
        Error of the model.
    interval : tuple of float
        Lower and upper end of the interval for this error.
    constant : float
        Error of the best constant prediction.
    bracket : tuple of float or None, default=None
        Between which two numbers the best possible error lies; None draws nothing.
    name : str, default="this model"
        What the model is called.
    form : callable, default=percent
        How values are written, as `number` or `percent` do it.

    Returns
    -------
    chart : Chart
        The picture, which notebooks show, `str` prints and `save` writes.

    See Also
    --------
    race : Several models, one line each.
    decomposition : What the error is made of.

    Examples
    --------
    >>> ruler(0.16, (0.13, 0.19), constant=0.31, bracket=(0.10, 0.15)).title
    'Where the model stands'
    """
    high = max(constant, interval[1], bracket[1] if bracket else 0.0) * 1.08 or 1.0
    left, right, axis = 12.0, WIDTH - 12.0, 66.0

    def x(v: float) -> float:
        return left + (right - left) * min(max(v / high, 0.0), 1.0)

    marks = [tag("rect", x=left, y=axis - 3, width=right - left, height=6.0, rx=3, fill=GRID)]
    if bracket is not None and math.isfinite(bracket[0]) and math.isfinite(bracket[1]):
        lo, hi = x(bracket[0]), x(bracket[1])
        said = hint(f"best possible: between {form(bracket[0])} and {form(bracket[1])}")
        marks.append(tag("rect", said, x=lo, y=axis - 9, width=max(hi - lo, 3.0), height=18.0, rx=4, fill=SOFT))
        marks.append(_word(axis + 30, "best possible", (lo + hi) / 2, left, right))
    cx = x(constant)
    marks.append(tag("path", d=f"M{cx:.1f} {axis - 12:.1f}V{axis + 12:.1f}", stroke=MUTED, stroke_width=2))
    marks.append(_word(axis + 30, f"constant {form(constant)}", cx, left, right))
    lo, hi, mid = x(interval[0]), x(interval[1]), x(value)
    marks.append(tag("path", d=f"M{lo:.1f} {axis:.1f}H{hi:.1f}", stroke=ACCENT, stroke_width=5, stroke_linecap="round"))
    said = hint(f"{name}: {form(value)}, {form(interval[0])} to {form(interval[1])}")
    marks.append(tag("circle", said, cx=mid, cy=axis, r=8, fill=ACCENT, stroke=PAPER, stroke_width=2))
    marks.append(_word(axis - 22, f"{name} {form(value)}", mid, left, right, fill=INK, font_weight=600))
    marks += [
        text(left, axis + 50, "← no error at all", font_size=11),
        text(right, axis + 50, "more error →", font_size=11, text_anchor="end"),
    ]
    said_all = f"{name} {form(value)}, {form(interval[0])} to {form(interval[1])}; constant {form(constant)}"
    return picture(WIDTH, axis + 58, marks, "Where the model stands", said_all)


def race(
    rows: Sequence[Row],
    *,
    x_label: str,
    reference: float | None = None,
    form: Callable[[float], str] = number,
) -> Chart:
    """One line a model: its mean loss and the interval around it, best on top.

    Parameters
    ----------
    rows : sequence of Row
        A line each, best first: the model, its mean loss and the interval; `strong` ones are highlighted.
    x_label : str
        Name of the loss.
    reference : float or None, default=None
        A loss to compare with, drawn as a dashed line.
    form : callable, default=number
        How values are written, as `number` or `percent` do it.

    Returns
    -------
    chart : Chart
        The picture, which notebooks show, `str` prints and `save` writes.

    See Also
    --------
    time_to_loss : The same models against time.
    ruler : A single model between the best possible and a constant.

    Examples
    --------
    >>> race([Row("ridge", 1.2, 1.1, 1.3, strong=True), Row("constant", 2.0, 1.9, 2.1)], x_label="loss").title
    'The race'
    """
    return _intervals(rows, "The race", x_label, form, reference=reference, start_at_zero=False)


def importances(rows: Sequence[Row], *, x_label: str, form: Callable[[float], str] = number) -> Chart:
    """How much worse the model gets when a column is shuffled, one bar a column.

    Parameters
    ----------
    rows : sequence of Row
        A bar each, most important first: the column, the loss added by shuffling it, and the interval.
    x_label : str
        Name of the loss that is added.
    form : callable, default=number
        How values are written, as `number` or `percent` do it.

    Returns
    -------
    chart : Chart
        The picture, which notebooks show, `str` prints and `save` writes.

    See Also
    --------
    reasons : What columns do to the prediction of a single row.
    learnt.inspection.permutation_importance : Computes the importances.

    Examples
    --------
    >>> importances([Row("age", 0.04, 0.03, 0.05), Row("city", 0.0, -0.01, 0.01)], x_label="loss added").title
    'What the model uses'
    """
    return _intervals(rows, "What the model uses", x_label, form, bars=True, start_at_zero=True)


def _intervals(rows, title, x_label, form, *, reference=None, start_at_zero=False, bars=False) -> Chart:
    # The label is above its line: names are long, phones are narrow, and the scale gets the whole width.
    step, left, right, top = 38.0, 14.0, 14.0, 6.0
    ends = [v for r in rows for v in (r.value, r.low, r.high) if math.isfinite(v)]
    ends += [reference] if reference is not None else []
    low, high = (min(ends), max(ends)) if ends else (0.0, 1.0)
    low = min(low, 0.0) if start_at_zero else low
    pad = 0.06 * (high - low) or 0.05 * abs(high) or 0.5
    low, high = (low - pad if low < 0 or not start_at_zero else 0.0), high + pad
    if not start_at_zero and low < 0 <= min(ends, default=0.0):
        low = 0.0

    def x(v: float) -> float:
        return left + (WIDTH - left - right) * min(max((v - low) / (high - low), 0.0), 1.0)

    bottom = top + step * len(rows)

    def vertical_line(at: float) -> str:
        """A vertical line that leaves out the labels."""
        return "".join(f"M{at:.1f} {top + step * k + 18:.1f}v18" for k in range(len(rows)))

    marks: list[str] = []
    found = ticks(low, high, 4)
    for value, label in zip(found, tick_labels(found, form), strict=True):
        marks.append(tag("path", d=vertical_line(x(value)), stroke=GRID))
        marks.append(text(x(value), bottom + 15, label, text_anchor="middle", font_size=11))
    if reference is not None:
        marks.append(tag("path", d=vertical_line(x(reference)), stroke=MUTED, stroke_dasharray="4 4"))
    for k, row in enumerate(rows):
        middle = top + step * k + 27
        color = ACCENT if row.strong or bars else MUTED
        tooltip: str = hint(f"{row.label}: {form(row.value)}, {form(row.low)} to {form(row.high)}")
        weight = 600 if row.strong else None
        label = text(left, middle - 13, _short(row.label, 44), fill=INK, font_weight=weight)
        shown = text(WIDTH - right, middle - 13, form(row.value), text_anchor="end", font_weight=weight)
        inside: list[str] = [tooltip, label, shown]
        if bars:
            a, b = sorted((x(0.0), x(row.value)))
            inside.append(tag("rect", x=a, y=middle - 5, width=max(b - a, 1.0), height=10.0, rx=2, fill=SOFT))
        if math.isfinite(row.low) and math.isfinite(row.high):
            d = f"M{x(row.low):.1f} {middle:.1f}H{x(row.high):.1f}"
            inside.append(tag("path", d=d, stroke=color, stroke_width=2.5, stroke_linecap="round"))
        inside.append(tag("circle", cx=x(row.value), cy=middle, r=5 if row.strong else 4, fill=color))
        marks.append(tag("g", *inside))
    marks.append(text(left + (WIDTH - left - right) / 2, bottom + 34, x_label, text_anchor="middle"))
    said = "; ".join(f"{r.label} {form(r.value)}" for r in rows[:8])
    return picture(WIDTH, bottom + 42, marks, title, said)


def decomposition(
    parts: Sequence[tuple[str, float]],
    *,
    title: str = "What the error is made of",
    form: Callable[[float], str] | None = None,
) -> Chart:
    """The parts of an error, or of anything, as one stacked bar, each labelled with its share or as `form` writes it.

    A part without a name has no label, and one that `form` leaves empty has its name alone.

    Parameters
    ----------
    parts : sequence of (str, float)
        Name and size of each part; negative sizes count as 0.
    title : str, default="What the error is made of"
        Title of the chart, which screen readers say.
    form : callable or None, default=None
        How sizes are written; None writes shares in percent.

    Returns
    -------
    chart : Chart
        The picture, which notebooks show, `str` prints and `save` writes.

    See Also
    --------
    ruler : The error as a whole, between the best possible and a constant.

    Examples
    --------
    >>> decomposition([("noise", 0.7), ("bias", 0.2), ("variance", 0.1)]).title
    'What the error is made of'
    """
    colors = (GRID, SECOND, ACCENT)
    total = sum(max(v, 0.0) for _, v in parts) or 1.0
    left, width, y = 10.0, WIDTH - 20.0, 12.0
    marks, at = [], left
    for k, (name, value) in enumerate(parts):
        share = max(value, 0.0) / total
        color = colors[k % len(colors)]
        marks.append(
            tag(
                "rect",
                hint(f"{name}: {percent(share)}"),
                x=at,
                y=y,
                width=share * width,
                height=26.0,
                fill=color,
            )
        )
        at += share * width
    x = left
    for k, (name, value) in enumerate(parts):
        if not name:
            continue
        label = f"{name} {100 * max(value, 0.0) / total:.0f}%" if form is None else f"{name} {form(value)}".rstrip()
        marks.append(tag("rect", x=x, y=y + 38, width=11.0, height=11.0, rx=2, fill=colors[k % len(colors)]))
        marks.append(text(x + 16, y + 48, label, fill=INK))
        x += 40 + 6.6 * len(label)
    said = ", ".join(f"{name} {percent(max(v, 0.0) / total)}" for name, v in parts if name)
    return picture(WIDTH, y + 58, marks, title, said)


def confusion(matrix: Sequence[Sequence[float]], labels: Sequence[str]) -> Chart:
    """Counts of true class (rows) by predicted class (columns), shaded by the share of the row.

    Parameters
    ----------
    matrix : array-like of float of shape (n_classes, n_classes)
        Counts of rows, true classes down and predicted classes across.
    labels : sequence of str
        Names of the classes; more than 20 are drawn as a square of small cells without numbers.

    Returns
    -------
    chart : Chart
        The picture, which notebooks show, `str` prints and `save` writes.

    See Also
    --------
    learnt.metrics.confusion_matrix : Computes the counts.
    roc : All thresholds instead of one.

    Examples
    --------
    >>> confusion([[50, 3], [8, 20]], ["no", "yes"]).title
    'Confusion matrix'
    """
    counts = np.asarray(matrix, dtype=float)
    k = len(labels)
    if k > MANY_CLASSES:
        return _confusion_of_many(counts, labels)
    left, top = 96.0, 46.0
    cell = min((WIDTH - left - 8) / k, 110.0)
    tall = max(min(cell, 64.0), 20.0)
    shares = counts / np.maximum(counts.sum(axis=1, keepdims=True), 1.0)
    marks = [text(left + cell * k / 2, 16, "predicted", text_anchor="middle")]
    marks.append(
        text(
            12,
            top + tall * k / 2,
            "true",
            text_anchor="middle",
            transform=f"rotate(-90 12 {top + tall * k / 2:.1f})",
        )
    )
    for j, name in enumerate(labels):
        fits = max(int(cell / 7), 3)
        marks.append(text(left + cell * (j + 0.5), 36, _short(name, fits), text_anchor="middle", fill=INK))
        marks.append(text(left - 8, top + tall * (j + 0.5) + 4, _short(name, 10), text_anchor="end", fill=INK))
    for i in range(k):
        for j in range(k):
            x, y = left + cell * j, top + tall * i
            color = ACCENT if i == j else SECOND
            said = hint(f"{counts[i, j]:.0f} rows of {labels[i]} were called {labels[j]} ({percent(shares[i, j])})")
            shade = round(0.06 + 0.5 * shares[i, j], 2)
            box = {"x": x + 1, "y": y + 1, "width": cell - 2, "height": tall - 2, "rx": 3}
            marks.append(tag("rect", said, fill=color, fill_opacity=str(shade), **box))
            if cell >= 26:
                both = k <= 4
                place = y + tall / 2 + (0 if both else 4)
                size = 14 if both else (12 if cell >= 40 else 10)
                marks.append(
                    text(
                        x + cell / 2,
                        place,
                        number(counts[i, j]),
                        text_anchor="middle",
                        fill=INK,
                        font_size=size,
                    )
                )
                if both:
                    marks.append(
                        text(
                            x + cell / 2,
                            y + tall / 2 + 16,
                            percent(shares[i, j]),
                            text_anchor="middle",
                            font_size=11,
                            fill=INK,
                        )
                    )
    right_share = float(np.trace(counts) / max(counts.sum(), 1.0))
    return picture(WIDTH, top + tall * k + 8, marks, "Confusion matrix", f"{percent(right_share)} on the diagonal")


def _confusion_of_many(counts: np.ndarray, labels: Sequence[str]) -> Chart:
    """A square of small cells, empty ones not drawn; with as many class names as can be read."""
    k = len(labels)
    left, top = 96.0, 26.0
    cell = (WIDTH - left - 8) / k
    step = math.ceil(LINE / cell)
    shares = counts / np.maximum(counts.sum(axis=1, keepdims=True), 1.0)
    side = cell * k
    marks = [text(left + side / 2, 16, "predicted, in the same order", text_anchor="middle")]
    marks.append(tag("rect", x=left, y=top, width=side, height=side, fill="none", stroke=GRID))
    marks += [
        text(left - 8, top + cell * (i + 0.5) + 4, _short(labels[i], 12), text_anchor="end", fill=INK)
        for i in range(0, k, step)
    ]
    for i, j in np.argwhere(counts > 0):
        said = hint(f"{counts[i, j]:.0f} rows of {labels[i]} were called {labels[j]} ({percent(shares[i, j])})")
        shade = str(round(0.25 + 0.75 * shares[i, j], 2))
        box = {"x": left + cell * j, "y": top + cell * i, "width": cell, "height": cell}
        marks.append(tag("rect", said, fill=ACCENT if i == j else SECOND, fill_opacity=shade, **box))
    right_share = float(np.trace(counts) / max(counts.sum(), 1.0))
    return picture(WIDTH, top + side + 8, marks, "Confusion matrix", f"{percent(right_share)} on the diagonal")


def _word(y: float, content: str, center: float, left: float, right: float, **style: object) -> str:
    """A label centred at a place, pushed inside the picture."""
    half = 3.3 * len(content)
    at = min(max(center, left + half), right - half)
    return text(at, y, content, text_anchor="middle", **style)


def _short(label: str, most: int) -> str:
    return label if len(label) <= most else label[: most - 1] + "…"
