"""A plotting area with two linear (or logarithmic) axes, and the marks that are drawn in it."""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence

import numpy as np

from learnt.drawing.svg import ACCENT, GRID, MUTED, Chart, hint, number, picture, tag, text, tick_labels, ticks

Numbers = Sequence[float] | np.ndarray
WIDTH = 400  # drawn for a phone; pages put two side by side on a desk


class Frame:
    """Collects marks in data coordinates and closes them into a `Chart`."""

    def __init__(
        self,
        x: tuple[float, float],
        y: tuple[float, float],
        *,
        height: float = 260,
        left: float = 52,
        right: float = 20,
        top: float = 12,
        bottom: float = 44,
        log_x: bool = False,
    ) -> None:
        self.x_limits, self.y_limits = _open(x), _open(y)
        self.height, self.left, self.top = height, left, top
        self.width_in, self.height_in = WIDTH - left - right, height - top - bottom
        self.log_x = log_x
        self.marks: list[str] = []

    def x(self, value: float) -> float:
        low, high = self.x_limits
        if self.log_x:
            low, high, value = math.log(low), math.log(high), math.log(value)
        return self.left + self.width_in * _clip((value - low) / (high - low))

    def y(self, value: float) -> float:
        low, high = self.y_limits
        return self.top + self.height_in * (1 - _clip((value - low) / (high - low)))

    def axes(
        self,
        x_label: str,
        y_label: str,
        *,
        x_format: Callable[[float], str] = number,
        y_format: Callable[[float], str] = number,
        x_ticks: Sequence[float] | None = None,
        y_ticks: Sequence[float] | None = None,
    ) -> None:
        bottom = self.top + self.height_in
        y_ticks, y_labels = _labelled(self.y_limits, y_ticks, y_format)
        for value, label in zip(y_ticks, y_labels, strict=True):
            y = self.y(value)
            self.marks.append(tag("path", d=_path([(self.left, y), (self.left + self.width_in, y)]), stroke=GRID))
            self.marks.append(text(self.left - 6, y + 4, label, text_anchor="end", font_size=11))
        x_ticks, x_labels = _labelled(self.x_limits, x_ticks, x_format)
        for value, label in zip(x_ticks, x_labels, strict=True):
            self.marks.append(text(self.x(value), bottom + 16, label, text_anchor="middle", font_size=11))
        self.marks.append(text(self.left + self.width_in / 2, bottom + 35, x_label, text_anchor="middle", font_size=12))
        if y_label:
            middle = self.top + self.height_in / 2
            self.marks.append(text(12, middle, y_label, text_anchor="middle", transform=f"rotate(-90 12 {middle:.1f})"))

    def line(
        self,
        xs: Numbers,
        ys: Numbers,
        *,
        color: str = ACCENT,
        width: float = 2,
        dash: str | None = None,
        label: str = "",
    ) -> None:
        points = [(self.x(a), self.y(b)) for a, b in zip(xs, ys) if math.isfinite(a) and math.isfinite(b)]
        if len(points) < 2:
            return
        extra = (hint(label),) if label else ()
        self.marks.append(
            tag(
                "path",
                *extra,
                d=_path(points),
                fill="none",
                stroke=color,
                stroke_width=width,
                stroke_linejoin="round",
                stroke_dasharray=dash,
            )
        )

    def band(self, xs: Numbers, low: Numbers, high: Numbers, *, color: str = ACCENT) -> None:
        upper_edge = [(self.x(a), self.y(b)) for a, b in zip(xs, high)]
        back = [(self.x(a), self.y(b)) for a, b in zip(xs, low)][::-1]
        self.marks.append(tag("path", d=_path(upper_edge + back) + "Z", fill=color, fill_opacity=0.16))

    def dots(
        self,
        xs: Numbers,
        ys: Numbers,
        *,
        color: str = ACCENT,
        radius: float = 3.5,
        labels: Sequence[str] | None = None,
    ) -> None:
        for k, (a, b) in enumerate(zip(xs, ys)):
            extra = (hint(labels[k]),) if labels else ()
            self.marks.append(tag("circle", *extra, cx=self.x(a), cy=self.y(b), r=radius, fill=color))

    def whiskers(self, xs: Numbers, low: Numbers, high: Numbers, *, color: str = ACCENT) -> None:
        for a, b, c in zip(xs, low, high):
            x = self.x(a)
            self.marks.append(tag("path", d=_path([(x, self.y(b)), (x, self.y(c))]), stroke=color, stroke_width=1.5))

    def note(self, x: float, y: float, content: str, *, color: str = MUTED, anchor: str = "start") -> None:
        """A word beside a line, in data coordinates."""
        self.marks.append(text(self.x(x), self.y(y), content, fill=color, text_anchor=anchor, font_size=11))

    def add(self, mark: str) -> None:
        self.marks.append(mark)

    def close(self, title: str, description: str = "") -> Chart:
        return picture(WIDTH, self.height, self.marks, title, description)


def _labelled(
    limits: tuple[float, float], given: Sequence[float] | None, form: Callable[[float], str]
) -> tuple[Sequence[float], list[str]]:
    """The ticks of an axis and their text: round numbers in full, or those given, in short."""
    if given is not None:
        return given, [form(value) for value in given]
    found = ticks(*limits, 5)
    return found, tick_labels(found, form)


def _path(points: Sequence[tuple[float, float]]) -> str:
    return "M" + "L".join(f"{x:.1f} {y:.1f}" for x, y in points)


def _clip(share: float) -> float:
    return min(max(share, 0.0), 1.0)


def _open(limits: tuple[float, float]) -> tuple[float, float]:
    """Limits widened to positive length."""
    low, high = float(limits[0]), float(limits[1])
    if not (math.isfinite(low) and math.isfinite(high)):
        return 0.0, 1.0
    if high <= low:
        pad = abs(low) * 0.05 or 0.5
        return low - pad, high + pad
    return low, high


def legend(frame: Frame, entries: Sequence[tuple[str, str]], y: float = 14) -> None:
    """Coloured words in a row above the plot."""
    x = frame.left + 4
    for label, color in entries:
        frame.add(tag("circle", cx=x, cy=y - 4, r=4, fill=color))
        frame.add(text(x + 9, y, label, font_size=11))
        x += 28 + 5.8 * len(label)
