"""A tree drawn into Matplotlib axes, from the top down, as scikit-learn draws it."""

from __future__ import annotations

import textwrap
from typing import Any

import numpy as np

from learnt.tree._export_graphviz import Colours, Labels
from learnt.tree._plot_picture import Placed, place
from learnt.tree._plot_words import Wording

_WIDEST = 32  # letters of a line
_CLOSE, _STEP = 1.75, 0.2  # boxes nearer than so many leaves are moved up and down by a share of a level
_MARGIN, _TRIALS = 0.96, 8  # a font that does not fit is made so much smaller, so many times
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
    lowered = _zigzag(shown)
    where = {
        item.node: ((item.y + 1) / (columns + 1), (levels - item.depth - 0.5 + lowered[item.node]) / levels)
        for item in shown
    }
    ax.clear()
    ax.set_axis_off()
    ink = {"edgecolor": _text_colour(), "arrowstyle": "<-"}
    for item in shown:
        # Boxes stand on the lines that lead further down.
        order = 100 - 10 * item.depth + (5 if lowered[item.node] > 0 else 0)
        common: dict[str, Any] = {"xycoords": "axes fraction", "zorder": order}
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
        _fit(ax, notes, np.array([where[item.node] for item in shown]))
    return notes


def _wrapped(label: str) -> str:
    """Long names and lists on lines of their own: one wide box would make the letters of all others small."""
    lines = label.split("\n")
    return "\n".join(line if len(line) <= _WIDEST else textwrap.fill(line, _WIDEST) for line in lines)


def _zigzag(shown: list[Placed]) -> dict[int, float]:
    """How far each box is moved up, in levels: neighbours close by stand at two heights, and may be wider for that."""
    moved: dict[int, float] = {}
    last: dict[int, Placed] = {}
    for item in sorted(shown, key=lambda item: item.y):
        near = last.get(item.depth)
        moved[item.node] = 0.0
        if near is not None and item.y - near.y < _CLOSE:
            moved[near.node] = moved[near.node] or _STEP
            moved[item.node] = -moved[near.node]
        last[item.depth] = item
    return moved


def _fit(ax: Any, notes: list[Any], where: np.ndarray) -> None:
    """The largest font with which no box covers another or leaves the axes."""
    scale = _MARGIN * _scale(ax, notes, where)
    for _ in range(_TRIALS):
        for note in notes:
            note.set_fontsize(note.get_fontsize() * scale)
        scale = _scale(ax, notes, where)
        if scale >= 1:
            return
        scale = min(scale, _MARGIN)  # letters are whole points wide: a font a little smaller may be as wide


def _scale(ax: Any, notes: list[Any], where: np.ndarray) -> float:
    """How much larger the boxes around these points may be."""
    renderer = ax.figure.canvas.get_renderer()
    for note in notes:
        note.update_bbox_position_size(renderer)
    boxes = [note.get_bbox_patch().get_window_extent() for note in notes if note.get_bbox_patch() is not None]
    frame = ax.get_window_extent().size
    middle, size = where * frame, np.array([[box.width, box.height] for box in boxes])
    found = float((2 * np.minimum(middle, frame - middle) / size).min())
    for k in range(len(boxes) - 1):
        # Two boxes part where they do so sideways or upwards.
        apart = 2 * np.abs(middle[k + 1 :] - middle[k]) / (size[k + 1 :] + size[k])
        found = min(found, float(apart.max(axis=1).min()))
    return found


def _text_colour() -> Any:
    from matplotlib import rcParams

    return rcParams["text.color"]
