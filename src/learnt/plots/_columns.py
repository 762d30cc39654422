"""Charts of columns and of what they do: distributions with the target, partial dependence, reasons, groups."""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence

import numpy as np

from learnt.drawing.frame import WIDTH, Frame, Numbers
from learnt.drawing.svg import (
    ACCENT,
    GRID,
    INK,
    MUTED,
    SECOND,
    Chart,
    hint,
    number,
    picture,
    tag,
    text,
    tick_labels,
    ticks,
)
from learnt.plots._rows import Row, _intervals, _short

LONGEST = 16  # characters of a label beside its bar


def distribution(
    labels: Sequence[str],
    counts: Numbers,
    target: Numbers,
    low: Numbers,
    high: Numbers,
    *,
    ordered: bool = True,
    overall: float | None = None,
    about: str = "target",
    title: str = "Distribution",
    form: Callable[[float], str] = number,
) -> Chart:
    """How many rows each part of a column has, as bars, and the target in each, as dots with intervals.

    Ranges of numbers stand side by side, other values below each other. The dashed line is the target of all rows.

    Parameters
    ----------
    labels : sequence of str
        Names of the parts of the column: ranges such as "0 to 1", or values.
    counts : array-like of float of shape (n_parts,)
        Number of rows in each part.
    target : array-like of float of shape (n_parts,)
        Mean of the target in each part; None or NaN draws no dot.
    low : array-like of float of shape (n_parts,)
        Lower end of its interval; None or NaN draws no interval.
    high : array-like of float of shape (n_parts,)
        Upper end of its interval; None or NaN draws no interval.
    ordered : bool, default=True
        Whether parts are ranges of numbers, side by side, instead of values, one below the other.
    overall : float or None, default=None
        Mean of the target over all rows, drawn as a dashed line.
    about : str, default="target"
        What the target is called.
    title : str, default="Distribution"
        What the column is called.
    form : callable, default=number
        How values are written, as `number` or `percent` do it.

    Returns
    -------
    chart : Chart
        The picture, which notebooks show, `str` prints and `save` writes.

    See Also
    --------
    partial_dependence : What a model makes of the column.
    histogram : Counts alone, as small as a word.

    Examples
    --------
    >>> distribution(["0 to 1", "1 to 2"], [5, 9], [0.1, 0.3], [0.0, 0.1], [0.4, 0.6], title="age").title
    'age'
    """
    counts = np.asarray(counts, dtype=float)
    target, low, high = (np.array([math.nan if v is None else v for v in part]) for part in (target, low, high))
    ends = np.concatenate([v[np.isfinite(v)] for v in (target, low, high)] + ([] if overall is None else [[overall]]))
    least, most = (float(ends.min()), float(ends.max())) if len(ends) else (0.0, 1.0)
    pad = 0.08 * (most - least) or 0.05 * abs(most) or 0.5
    limits = (0.0 if 0 <= least < 0.5 * most else least - pad, most + pad)
    said = [
        f"{label}: {number(count)} rows, {about} {form(value)}" for label, count, value in zip(labels, counts, target)
    ]
    draw = _side_by_side if ordered else _below_each_other
    values = (target, low, high, overall)
    return draw(list(labels), counts, values, limits, said, form, title, f"{about} by {title}; " + "; ".join(said[:6]))


def _side_by_side(labels, counts, values, limits, said, form, title, description) -> Chart:
    target, low, high, overall = values
    k = len(labels)
    frame = Frame((0, k), limits, height=190, bottom=26, left=54, right=12, top=10)
    most = max(float(counts.max()), 1.0)
    for i, count in enumerate(counts):
        tall = frame.height_in * 0.9 * count / most
        box = {"x": frame.x(i) + 1, "y": frame.top + frame.height_in - tall, "width": frame.width_in / k - 2}
        frame.add(tag("rect", hint(said[i]), **box, height=tall, fill=GRID))
    _value_axis(frame, form)
    if overall is not None:
        frame.line([0, k], [overall, overall], color=MUTED, width=1, dash="4 4", label=f"all rows: {form(overall)}")
    places = np.arange(k) + 0.5
    there = np.isfinite(target)
    sure = there & np.isfinite(low) & np.isfinite(high)
    frame.whiskers(places[sure], low[sure], high[sure])
    frame.dots(places[there], target[there], labels=[s for s, t in zip(said, there) if t])
    bottom = frame.top + frame.height_in + 16
    for at, label, anchor in _edge_labels(labels):
        frame.add(text(frame.x(at), bottom, label, text_anchor=anchor, font_size=11))
    return frame.close(title, description)


def _value_axis(frame: Frame, form: Callable[[float], str]) -> None:
    """Lines and labels of the target alone: the bars have none."""
    low, high = frame.y_limits
    found = ticks(low, high, 4)
    for value, label in zip(found, tick_labels(found, form)):
        y = frame.y(value)
        frame.add(tag("path", d=f"M{frame.left:.1f} {y:.1f}h{frame.width_in:.1f}", stroke=GRID))
        frame.add(text(frame.left - 6, y + 4, label, text_anchor="end", font_size=11))


def _edge_labels(labels: list[str]) -> list[tuple[float, str, str]]:
    """Where the first, a middle and the last range begin or end; single values below their bars."""
    ranges = [label for label in labels if " to " in label]
    if not ranges:
        step = max(math.ceil(sum(len(s) + 2 for s in labels) / 52), 1)
        return [(k + 0.5, _short(s, 10), "middle") for k, s in enumerate(labels) if k % step == 0]
    half = len(ranges) // 2
    found = [(0.0, ranges[0].split(" to ")[0], "start")]
    if len(ranges) > 3:
        found.append((float(half), ranges[half].split(" to ")[0], "middle"))
    with_missing = len(labels) > len(ranges)
    found.append((len(ranges) - (0.6 if with_missing else 0.0), ranges[-1].split(" to ")[-1], "end"))
    if with_missing:
        found.append((float(len(labels)), "missing", "end"))
    return found


def _below_each_other(labels, counts, values, limits, said, form, title, description) -> Chart:
    target, low, high, overall = values
    step, top, left, right = 22.0, 6.0, 128.0, 14.0
    width, bottom = WIDTH - left - right, top + step * len(labels)
    most = max(float(counts.max()), 1.0)

    def x(value: float) -> float:
        return left + width * min(max((value - limits[0]) / (limits[1] - limits[0]), 0.0), 1.0)

    marks: list[str] = []
    found = ticks(limits[0], limits[1], 4)
    bars = [
        tag("rect", hint(said[k]), x=left, y=top + step * k + 3, width=width * count / most, height=16.0, fill=GRID)
        for k, count in enumerate(counts)
    ]
    for value, label in zip(found, tick_labels(found, form)):
        marks.append(tag("path", d=f"M{x(value):.1f} {top:.1f}V{bottom:.1f}", stroke=GRID))
        marks.append(text(x(value), bottom + 14, label, text_anchor="middle", font_size=11))
    marks += bars
    if overall is not None:
        d = f"M{x(overall):.1f} {top:.1f}V{bottom:.1f}"
        marks.append(tag("path", hint(f"all rows: {form(overall)}"), d=d, stroke=MUTED, stroke_dasharray="4 4"))
    for k, label in enumerate(labels):
        middle = top + step * k + 11
        marks.append(text(left - 8, middle + 4, _short(label, LONGEST), text_anchor="end", fill=INK))
        if math.isfinite(low[k]) and math.isfinite(high[k]):
            d = f"M{x(low[k]):.1f} {middle:.1f}H{x(high[k]):.1f}"
            marks.append(tag("path", d=d, stroke=ACCENT, stroke_width=1.5))
        if math.isfinite(target[k]):
            marks.append(tag("circle", hint(said[k]), cx=x(target[k]), cy=middle, r=3.5, fill=ACCENT))
    return picture(WIDTH, bottom + 22, marks, title, description)


def partial_dependence(
    values: Sequence[str],
    mean: Numbers,
    low: Numbers,
    high: Numbers,
    *,
    place: Numbers | None = None,
    y_label: str = "prediction",
    title: str = "Partial dependence",
    form: Callable[[float], str] = number,
) -> Chart:
    """The mean prediction against a column's value, and a band that holds the middle half of the rows' predictions.

    Without `place`, the places of the values on the axis, they are labels: dots below each other.

    Parameters
    ----------
    values : sequence of str
        The values of the column, as they are written.
    mean : array-like of float of shape (n_values,)
        Mean prediction at each value.
    low : array-like of float of shape (n_values,)
        Lower quartile of the predictions at each value.
    high : array-like of float of shape (n_values,)
        Upper quartile of the predictions at each value.
    place : array-like of float of shape (n_values,) or None, default=None
        Where the values are on the axis, rising; None draws labels, with dots below each other.
    y_label : str, default="prediction"
        What is predicted.
    title : str, default="Partial dependence"
        What the column is called.
    form : callable, default=number
        How values are written, as `number` or `percent` do it.

    Returns
    -------
    chart : Chart
        The picture, which notebooks show, `str` prints and `save` writes.

    See Also
    --------
    distribution : The column itself, with the target in each part.
    learnt.inspection.partial_dependence : Computes the means.

    Examples
    --------
    >>> partial_dependence(["0", "1"], [0.1, 0.4], [0.1, 0.3], [0.2, 0.5], place=[0, 1], title="age").title
    'age'
    """
    mean, low, high = (np.asarray(v, dtype=float) for v in (mean, low, high))
    least, most = float(min(mean.min(), low.min())), float(max(mean.max(), high.max()))
    pad = 0.08 * (most - least) or 0.05 * abs(most) or 0.5
    said = [f"{value}: {form(m)}" for value, m in zip(values, mean)]
    description = f"{y_label} by {title}: " + "; ".join([said[0], said[len(said) // 2], said[-1]])
    if place is None:
        empty, limits = np.zeros(len(values)), (least - pad, most + pad)
        return _below_each_other(list(values), empty, (mean, low, high, None), limits, said, form, title, description)
    place = np.asarray(place, dtype=float)
    frame = Frame((place[0], place[-1]), (least - pad, most + pad), height=190, bottom=26, left=54, right=12, top=10)
    _value_axis(frame, form)
    frame.band(place, low, high)
    frame.line(place, mean)
    frame.dots(place, mean, radius=2.5, labels=said)
    bottom = frame.top + frame.height_in + 16
    shown = {0: "start", len(values) - 1: "end"}
    middle = int(np.abs(place - (place[0] + place[-1]) / 2).argmin())
    if 0.3 < (place[middle] - place[0]) / max(place[-1] - place[0], 1e-300) < 0.7:
        shown[middle] = "middle"
    for k, anchor in shown.items():
        frame.add(text(frame.x(place[k]), bottom, values[k], text_anchor=anchor, font_size=11))
    return frame.close(title, description)


def reasons(
    rows: Sequence[Row], *, x_label: str = "pushes the prediction", title: str = "Reasons", form=number
) -> Chart:
    """What moved the prediction of one row, one bar a column: up to the right, down to the left.

    Parameters
    ----------
    rows : sequence of Row
        A bar each, in this order: `label` is the column and its value, `value` what it adds to the prediction.
    x_label : str, default="pushes the prediction"
        What the bars do, written between the arrows.
    title : str, default="Reasons"
        Title of the chart, which screen readers say.
    form : callable, default=number
        How values are written, as `number` or `percent` do it.

    Returns
    -------
    chart : Chart
        The picture, which notebooks show, `str` prints and `save` writes.

    See Also
    --------
    importances : What columns are worth over all rows.
    learnt.inspection.contributions : Computes what each column adds.

    Examples
    --------
    >>> reasons([Row("age = 61", 0.2), Row("city = Oslo", -0.1)]).title
    'Reasons'
    """
    step, top, gap = 36.0, 4.0, 14.0
    largest = max((abs(r.value) for r in rows if math.isfinite(r.value)), default=0.0) or 1.0
    middle, half = WIDTH / 2, WIDTH / 2 - gap
    bottom = top + step * len(rows)
    marks = [tag("path", d=f"M{middle:.1f} {top:.1f}V{bottom:.1f}", stroke=MUTED)]
    for k, row in enumerate(rows):
        y = top + step * k + 20
        long = half * abs(row.value) / largest if math.isfinite(row.value) else 0.0
        color = ACCENT if row.value > 0 else SECOND
        shown = f"{'+' if row.value > 0 else '−'}{form(abs(row.value))}"
        at = middle if row.value > 0 else middle - long
        marks.append(
            tag("rect", hint(f"{row.label}: {shown}"), x=at, y=y, width=max(long, 1.0), height=9.0, fill=color)
        )
        marks.append(text(gap, y - 5, _short(row.label, 44), fill=INK))
        marks.append(text(WIDTH - gap, y - 5, shown, text_anchor="end", fill=INK))
    marks.append(text(middle, bottom + 14, f"← less · {x_label} · more →", text_anchor="middle", font_size=11))
    said = "; ".join(f"{r.label} {form(r.value)}" for r in rows[:6])
    return picture(WIDTH, bottom + 20, marks, title, said)


def groups(
    rows: Sequence[Row], *, overall: float, x_label: str = "error", form: Callable[[float], str] = number
) -> Chart:
    """The error of each group with its interval; the dashed line is the error of all rows, strong rows differ from it.

    Parameters
    ----------
    rows : sequence of Row
        A line each: the group, its error and the interval; `strong` ones differ from the rest.
    overall : float
        Error of all rows.
    x_label : str, default="error"
        Name of the error.
    form : callable, default=number
        How values are written, as `number` or `percent` do it.

    Returns
    -------
    chart : Chart
        The picture, which notebooks show, `str` prints and `save` writes.

    See Also
    --------
    race : Models instead of groups.
    importances : Columns instead of groups.

    Examples
    --------
    >>> groups([Row("city Oslo", 0.3, 0.2, 0.4, strong=True)], overall=0.1).title
    'Errors by group'
    """
    return _intervals(rows, "Errors by group", x_label, form, reference=overall, start_at_zero=False)
