"""Elements, scales and ticks: the few pieces of SVG that every chart is made of."""

from __future__ import annotations

import math
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass
from html import escape
from pathlib import Path

# Every colour is a CSS variable with a fallback, so that a page can theme the charts it holds.
INK = "var(--lt-ink, #1d2330)"
MUTED = "var(--lt-muted, #5c6575)"
GRID = "var(--lt-grid, #dfe3ea)"
ACCENT = "var(--lt-accent, #1f6f8b)"
SECOND = "var(--lt-second, #b4532a)"
SOFT = "var(--lt-soft, #cfe3ea)"
PAPER = "var(--lt-paper, #ffffff)"
FONT = "var(--lt-font, system-ui, -apple-system, 'Segoe UI', Roboto, sans-serif)"

_STANDALONE = (
    "<style>@media (prefers-color-scheme: dark){svg{--lt-ink:#e6e9ef;--lt-muted:#9aa5b5;--lt-grid:#333c4a;"
    "--lt-accent:#62b5d0;--lt-second:#e8935f;--lt-soft:#24424e;--lt-paper:#151a21}}</style>"
)


@dataclass(frozen=True)
class Chart:
    """One chart as SVG text: shown by notebooks, printed by ``str``, written by ``save``.

    Parameters
    ----------
    svg : str
        The picture as SVG text.
    title : str, default=""
        What a screen reader says of the picture.

    Examples
    --------
    >>> chart = Chart("<svg xmlns='http://www.w3.org/2000/svg'></svg>", title="nothing")
    >>> str(chart)[:4]
    '<svg'
    """

    svg: str
    title: str = ""

    def __str__(self) -> str:
        return self.svg

    def _repr_svg_(self) -> str:
        return self._standalone()

    def save(self, path: str | Path) -> Path:
        """Write a stand-alone SVG file that follows the reader's light or dark setting.

        Parameters
        ----------
        path : str or Path
            Where to write; a file that is there is replaced.

        Returns
        -------
        path : Path
            Where the file is.
        """
        path = Path(path)
        path.write_text(self._standalone(), encoding="utf-8")
        return path

    def _standalone(self) -> str:
        end_of_tag = self.svg.index(">") + 1
        return self.svg[:end_of_tag] + _STANDALONE + self.svg[end_of_tag:]


def tag(name: str, *children: str, **attributes: object) -> str:
    """One element; attribute names use ``_`` for ``-``, None leaves an attribute out, values are escaped."""
    text = "".join(
        f' {key.rstrip("_").replace("_", "-")}="{escape(_plain(value))}"'
        for key, value in attributes.items()
        if value is not None
    )
    return f"<{name}{text}>{''.join(children)}</{name}>" if children else f"<{name}{text}/>"


def text(x: float, y: float, content: str, **attributes: object) -> str:
    """A label; the content is escaped here and nowhere else."""
    attributes = {"fill": MUTED, "font_size": 12, **attributes}
    return tag("text", escape(content), x=x, y=y, **attributes)


def hint(content: str) -> str:
    """What a pointer or a screen reader finds on a mark."""
    return tag("title", escape(content))


def picture(width: float, height: float, body: Iterable[str], title: str, description: str = "") -> Chart:
    """Close the drawing: a viewBox so that it scales, a title and a description for screen readers."""
    head = tag("title", escape(title)) + (tag("desc", escape(description)) if description else "")
    svg = tag(
        "svg",
        head,
        *body,
        xmlns="http://www.w3.org/2000/svg",
        viewBox=f"0 0 {_plain(width)} {_plain(height)}",
        role="img",
        aria_label=f"{title}. {description}" if description else title,
        font_family=FONT,
        class_="lt-chart",
    )
    return Chart(svg, title)


def _plain(value: object) -> str:
    """Coordinates with one decimal: charts stay small, and the same numbers always give the same bytes."""
    if isinstance(value, float):
        return f"{value:.1f}".rstrip("0").rstrip(".") or "0"
    return str(value)


def ticks(low: float, high: float, count: int = 5) -> list[float]:
    """Round numbers (1, 2, 2.5 or 5 times a power of ten) between two limits.

    >>> ticks(0, 1, 5)
    [0.0, 0.2, 0.4, 0.6, 0.8, 1.0]
    >>> ticks(0, 43, 5)
    [0.0, 10.0, 20.0, 30.0, 40.0]
    """
    span = high - low
    if not (math.isfinite(span) and span > 0):
        return [low]
    power = 10.0 ** math.floor(math.log10(span / count))
    step = next((m * power for m in (1, 2, 2.5, 5, 10) if span / (m * power) <= count), 10 * power)
    first = math.ceil(low / step - 1e-9)
    last = math.floor(high / step + 1e-9)
    return [round(k * step, 12) + 0.0 for k in range(first, last + 1)]


def tick_labels(values: Sequence[float], form: Callable[[float], str] | None = None) -> list[str]:
    """Ticks as text: by `form`, or as short numbers with as many digits as they need to be told from each other.

    >>> tick_labels([-122.5, -120.0]), tick_labels([0.0, 0.5]), tick_labels([1002.5, 1005.0])
    (['-122.5', '-120'], ['0', '0.5'], ['1,002.5', '1,005'])
    """
    if form is not None and form is not number:
        return [form(value) for value in values]
    exact = [number(value, 12) for value in values]
    tries = ([number(value, digits) for value in values] for digits in range(3, 9))
    return next((labels for labels in tries if labels == exact), [number(value) for value in values])


def number(value: float, digits: int = 3) -> str:
    """A short number for an axis or a label, with three digits or more.

    Parameters
    ----------
    value : float
        The number; a dash stands for one that is not finite.
    digits : int, default=3
        Digits that are kept.

    Returns
    -------
    text : str
        The number, with k, M or G for thousands, millions and thousands of millions.

    Examples
    --------
    >>> [number(v) for v in (0, 0.125, 1234, 45200, 3.1e6, -2.50, 1e-7)]
    ['0', '0.125', '1,234', '45.2k', '3.1M', '-2.5', '1e-07']
    """
    if not math.isfinite(value):
        return "–"
    size = abs(value)
    if size >= 1e12 or 0 < size < 1e-4:
        return f"{value:.{digits - 1}g}"
    for unit, name in ((1e9, "G"), (1e6, "M"), (1e4, "k")):
        if size >= unit:
            return f"{value / (1e3 if name == 'k' else unit):.{digits}g}".replace("e+03", "000") + name
    if size >= 1000:
        whole, _, rest = f"{value:,.{max(digits - 4, 0)}f}".partition(".")
        return f"{whole}.{rest.rstrip('0')}".rstrip(".")
    return f"{value:.{digits}g}"


def percent(value: float) -> str:
    """A share as a percentage with the digits that matter.

    Parameters
    ----------
    value : float
        The share: 1 is 100%.

    Returns
    -------
    text : str
        The percentage.

    Examples
    --------
    >>> [percent(v) for v in (0, 0.5, 0.123, 0.012, 0.0004, 1)]
    ['0%', '50%', '12.3%', '1.2%', '0.04%', '100%']
    """
    if not math.isfinite(value):
        return "–"
    scaled = 100 * value
    digits = 1 if abs(scaled) >= 1 or scaled == 0 else 2
    shown = f"{scaled:.{digits}f}"
    return (shown.rstrip("0").rstrip(".") if "." in shown else shown) + "%"
