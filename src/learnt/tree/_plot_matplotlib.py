"""A tree drawn into Matplotlib axes, from the top down, as scikit-learn draws it."""

from __future__ import annotations

import textwrap
from typing import Any

from learnt.tree._export_graphviz import Colours, Labels
from learnt.tree._plot_picture import place
from learnt.tree._plot_words import Wording

_WIDEST = 32  # letters of a line
_SIGNS = {"id": "#", "open": "[", "close": "]", "<=": "<=", ">": ">", "break": "\n", "begin": "", "end": ""}


def draw(
    decision_tree: Any,
    ax: Any,
    *,
    max_depth: int | None,
    feature_names: Any,
    class_names: Any,
    label: str,
    filled: bool,
    impurity: bool,
    node_ids: bool,
    proportion: bool,
    rounded: bool,
    precision: int,
    fontsize: float | None,
) -> list[Any]:
    """The annotations, parents before their children."""
    from matplotlib.text import Annotation

    wording = Wording(decision_tree, feature_names, class_names, "x[{}]")
    labels = Labels(wording, class_names, label, impurity, node_ids, proportion, precision, _SIGNS)
    colours = Colours(wording) if filled else None
    shown = place(wording, None if max_depth is None else max_depth + 1)
    columns = max(item.y for item in shown) + 1
    levels = max(item.depth for item in shown) + 1
    where = {item.node: ((item.y + 0.5) / columns, (levels - item.depth - 0.5) / levels) for item in shown}
    ax.clear()
    ax.set_axis_off()
    ink = {"edgecolor": _text_colour(), "arrowstyle": "<-"}
    for item in shown:
        common: dict[str, Any] = {"xycoords": "axes fraction", "zorder": 100 - 10 * item.depth}
        if fontsize is not None:
            common["fontsize"] = fontsize
        cut = max_depth is not None and item.depth > max_depth
        face = "grey" if cut else colours.of(item.node) if colours is not None else ax.get_facecolor()
        box = {"fc": face, **({"boxstyle": "round"} if rounded else {})}
        content = "\n  (...)  \n" if cut else _wrapped(labels.of(item.node))
        position = where[item.node]
        if item.parent < 0:
            ax.annotate(content, position, ha="center", va="center", bbox=box, **common)
            continue
        above = where[item.parent]
        ax.annotate(content, above, position, ha="center", va="center", bbox=box, arrowprops=dict(ink), **common)
        siblings = wording.branches(item.parent)
        if item.parent == 0 and not cut and len(siblings) == 2:
            first = siblings[0].child == item.node
            middle = ((above[0] + position[0]) / 2, (above[1] + position[1]) / 2)
            ax.annotate("True  " if first else "  False", middle, ha="right" if first else "left", **common)
    notes = [child for child in ax.get_children() if isinstance(child, Annotation)]
    if fontsize is None:
        _fit(ax, notes, columns, levels)
    return notes


def _wrapped(label: str) -> str:
    """Long names and lists on lines of their own: one wide box would make the letters of all others small."""
    lines = label.split("\n")
    return "\n".join(line if len(line) <= _WIDEST else textwrap.fill(line, _WIDEST) for line in lines)


def _fit(ax: Any, notes: list[Any], columns: float, levels: int) -> None:
    """The largest font with which no box is wider or higher than its place."""
    renderer = ax.figure.canvas.get_renderer()
    for note in notes:
        note.update_bbox_position_size(renderer)
    boxes = [note.get_bbox_patch().get_window_extent() for note in notes if note.get_bbox_patch() is not None]
    frame = ax.get_window_extent()
    scale = min(
        frame.width / columns / max(box.width for box in boxes),
        frame.height / levels / max(box.height for box in boxes),
    )
    size = notes[0].get_fontsize() * scale
    for note in notes:
        note.set_fontsize(size)


def _text_colour() -> Any:
    from matplotlib import rcParams

    return rcParams["text.color"]
