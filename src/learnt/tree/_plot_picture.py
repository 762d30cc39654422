"""The drawing of a tree: where its boxes stand, and what is in them."""

from __future__ import annotations

from dataclasses import dataclass
from typing import NamedTuple

import numpy as np

from learnt.drawing.svg import GRID, INK, PAPER, SOFT, Chart, hint, number, picture, tag, text
from learnt.tree._plot_words import Branch, Wording, in_lines, shorten, words

_CLASS_COLOURS = (
    "#2f7f9e",
    "#c2622f",
    "#5f9440",
    "#8c62ad",
    "#c09a2b",
    "#5577d4",
    "#b8487a",
    "#7a8494",
    "#7b4a2d",
    "#3fb5a3",
    "#e29ac0",
    "#2f3f7a",
)
_BOX, _ROW, _GAP, _MORE = 42.0, 52.0, 54.0, 16.0  # the last: how much higher a box of two lines is
_LABEL = 18  # letters at the line of a multiway branch
_LETTER, _SMALL_LETTER = 7.2, 5.5  # the width of a letter of a box's first and second line, about


@dataclass(frozen=True)
class TreeDrawing(Chart):
    """A drawn tree: shown by notebooks, printed by ``str``, written by ``save``.

    `plot_tree` returns it; one need not make it oneself.

    Parameters
    ----------
    svg : str
        The picture as SVG text.
    title : str, default=""
        What a screen reader says of the picture.
    width : float, default=0.0
        Natural width of the picture in pixels.

    See Also
    --------
    plot_tree : Draws a fitted tree.
    learnt.plots.Chart : Any other chart.

    Examples
    --------
    >>> from learnt.tree import DecisionTreeClassifier, plot_tree
    >>> drawing = plot_tree(DecisionTreeClassifier().fit([[0.0], [1.0]], ["low", "high"]))
    >>> drawing.title, str(drawing)[:4]
    ('A tree of 2 leaves, depth 1', '<svg')
    """

    width: float = 0.0

    def _repr_html_(self) -> str:
        """At its natural size, with a bar to scroll where the page is narrower."""
        size = f"min-width:{self.width:.0f}px;max-width:{1.3 * self.width:.0f}px"
        svg = self._standalone().replace("<svg ", f'<svg style="{size}" ', 1)
        return f'<div class="lt-tree" style="overflow-x:auto">{svg}</div>'


class Placed(NamedTuple):
    """A node on the paper."""

    node: int
    depth: int
    y: float
    parent: int
    branch: Branch | None
    hidden: int  # leaves that hang below and are not drawn


def place(wording: Wording, max_depth: int | None) -> list[Placed]:
    """Leaves one below the other; every other node in the middle of its children."""
    tree = wording.tree
    count = tree.node_count
    leaves = np.zeros(count, dtype=np.int64)
    ways = [wording.branches(node) for node in range(count)]
    for node in range(count - 1, -1, -1):
        leaves[node] = sum(leaves[branch.child] for branch in ways[node]) or 1
    placed: list[Placed] = []
    stack: list[tuple[int, int, int, Branch | None]] = [(0, 0, -1, None)]
    while stack:
        node, depth, parent, branch = stack.pop()
        cut = max_depth is not None and depth >= max_depth and bool(ways[node])
        placed.append(Placed(node, depth, 0.0, parent, branch, int(leaves[node]) if cut else 0))
        if not cut:
            stack.extend((way.child, depth + 1, node, way) for way in reversed(ways[node]))
    inner = {item.parent for item in placed}
    heights: dict[int, float] = {}
    ends: dict[int, list[float]] = {}
    at = 0.0
    for item in placed:  # depth first: leaves come in order
        if item.node not in inner:
            heights[item.node] = at
            at += 1.0
    for item in reversed(placed):
        if item.node in inner:
            heights[item.node] = (ends[item.node][0] + ends[item.node][-1]) / 2
        ends.setdefault(item.parent, []).insert(0, heights[item.node])
    return [item._replace(y=heights[item.node]) for item in placed]


class Picture:
    """Boxes, lines and a legend."""

    def __init__(
        self, wording: Wording, max_depth: int | None, impurity: bool, ids: bool, proportion: bool, precision: int
    ) -> None:
        self.wording, self.tree = wording, wording.tree
        self.impurity, self.ids, self.proportion, self.precision = impurity, ids, proportion, precision
        self.placed = place(wording, max_depth)
        self.classes = self._classes()
        branches = [item.branch for item in self.placed if item.branch is not None]
        many = [str(branch.value) for branch in branches if branch.relation == "="]  # what stands at a multiway line
        self.gap = max(_GAP, 6.2 * min(max(map(len, many), default=0), _LABEL) + 26)
        first = max(len(self._title(item)) for item in self.placed)
        second = max(len(self._facts(item)) for item in self.placed)
        self.width = min(max(_LETTER * first + 20, _SMALL_LETTER * second + 20, 100.0), 250.0)
        self.below = 0.0

    def _classes(self) -> list[str]:
        if not self.wording.classifies or self.tree.n_outputs != 1:
            return []
        given = self.wording.class_names
        if given is None or given is True:
            given = getattr(self.wording.model, "classes_", range(int(self.tree.n_classes[0])))
        return [str(name) for name in given]

    def _title(self, item: Placed) -> str:
        """A box's question or answer."""
        branches = self.wording.branches(item.node)
        if not branches or item.hidden:
            return self._answer(item.node)
        return f"{branches[0].feature} ?" if len(branches) > 2 else words(branches[0], self.precision + 1)

    def _lines(self, item: Placed) -> list[str]:
        """The same in the one or two lines that the box has room for."""
        room = int((self.width - 16) / _LETTER)
        branches = self.wording.branches(item.node)
        if len(branches) == 2 and not item.hidden:
            return in_lines(branches[0], self.precision + 1, room)
        return [shorten(self._title(item), room)]

    def _answer(self, node: int) -> str:
        values = self.tree.value[node]
        if self.classes:
            return self.classes[int(values[0].argmax())]
        if self.wording.classifies:
            return ", ".join(self.wording.labels(node))
        return ", ".join(f"{value:.{self.precision + 1}g}" for value in values[:, 0])

    def _facts(self, item: Placed) -> str:
        """A box's second line."""
        rows = int(self.tree.n_node_samples[item.node])
        share = f"{100 * rows / self.tree.n_node_samples[0]:.3g}% of rows"
        facts = [share if self.proportion else f"{rows:,} row{'' if rows == 1 else 's'}"]
        if self.impurity:
            criterion = getattr(self.wording.model, "criterion", "impurity")
            name = {"squared_error": "variance", "friedman_mse": "variance", "absolute_error": "deviation"}
            word = name.get(criterion, criterion) if isinstance(criterion, str) else "impurity"
            facts.append(f"{word} {number(round(float(self.tree.impurity[item.node]), self.precision))}")
        if item.hidden:
            facts = [facts[0], f"{item.hidden} leaves not drawn"]
        if self.ids:
            facts.insert(0, f"#{item.node}")
        return " · ".join(facts)

    def close(self) -> TreeDrawing:
        depth = max(item.depth for item in self.placed)
        rows = max(item.y for item in self.placed)
        width = (depth + 1) * self.width + depth * self.gap + 24
        legend, lines = self._legend(width)
        self.below = 12.0 + 20.0 * lines
        height = self.below + rows * _ROW + _BOX + 14
        where = {item.node: item for item in self.placed}
        drawn = [self._line(item, where[item.parent]) for item in self.placed if item.parent >= 0]
        body = [line for line, _ in drawn] + [word for _, word in drawn]  # words stand on top of all lines
        body += [self._box(item) for item in self.placed]
        leaves = self.tree.n_leaves if hasattr(self.tree, "n_leaves") else int((self.tree.children_left < 0).sum())
        title = f"A tree of {leaves} {'leaf' if leaves == 1 else 'leaves'}, depth {int(self.tree.max_depth)}"
        paper = tag("rect", width=width, height=height, rx=8, fill=PAPER)  # so that it can be read on any page
        chart = picture(
            width, height, [paper, *legend, *body], title, "Read from left to right; upper branches mean yes."
        )
        return TreeDrawing(chart.svg, title, width)

    def _legend(self, width: float) -> tuple[list[str], int]:
        marks, x, line = [], 14.0, 1
        for k, name in enumerate(self.classes[:24]):
            shown = shorten(name, 24)
            step = 30 + 6.4 * len(shown)
            if x + step > width and x > 14:
                x, line = 14.0, line + 1
            marks.append(tag("circle", cx=x, cy=line * 20 - 6, r=5, fill=_colour(k)))
            marks.append(text(x + 10, line * 20 - 2, shown, fill=INK))
            x += step
        return marks, line if marks else 0

    def _x(self, item: Placed) -> float:
        return 12 + item.depth * (self.width + self.gap)

    def _y(self, item: Placed) -> float:
        return self.below + item.y * _ROW

    def _line(self, item: Placed, parent: Placed) -> tuple[str, str]:
        """The curve from a node's parent, and the word at its end."""
        x1, y1 = self._x(parent) + self.width, self._y(parent) + _BOX / 2
        x2, y2 = self._x(item), self._y(item) + _BOX / 2
        middle = (x1 + x2) / 2
        share = float(self.tree.n_node_samples[item.node]) / float(self.tree.n_node_samples[0])
        thick = 1.6 + 6.4 * share
        branch = item.branch
        assert branch is not None
        siblings = self.wording.branches(parent.node)
        if len(siblings) == 2:
            word = "yes" if siblings[0].child == item.node else "no"
        else:
            word = shorten(words(branch._replace(feature="")).removeprefix(" is "), _LABEL)
        curve = f"M{x1:.1f} {y1:.1f}C{middle:.1f} {y1:.1f} {middle:.1f} {y2:.1f} {x2:.1f} {y2:.1f}"
        drawn = tag("path", hint(words(branch)), d=curve, fill="none", stroke=SOFT, stroke_width=thick)
        up = y2 <= y1  # the word stands on the outer side of the curve
        said = text(
            x2 - 5,
            y2 - thick / 2 - 4 if up else y2 + thick / 2 + 11,
            word,
            text_anchor="end",
            font_size=11,
            stroke=PAPER,  # a halo, where another line passes behind
            stroke_width=3,
            paint_order="stroke",
        )
        return drawn, said

    def _box(self, item: Placed) -> str:
        x, y = self._x(item), self._y(item)
        leaf = not self.wording.branches(item.node)
        lines = self._lines(item)
        more = _MORE * (len(lines) - 1)
        y -= more / 2  # a question stands between two rows at least, which leaves it the room
        frame = tag(
            "rect",
            x=x,
            y=y,
            width=self.width,
            height=_BOX + more,
            rx=6,
            fill=PAPER,
            stroke=GRID,
            stroke_width=1.2,
            stroke_dasharray="4 3" if item.hidden else None,
        )
        weight = 700 if leaf or item.hidden else 500
        title = [
            text(x + 9, y + 16 + _MORE * k, line, fill=INK, font_size=12.5, font_weight=weight)
            for k, line in enumerate(lines)
        ]
        y += more
        facts = text(x + 9, y + 30, shorten(self._facts(item), int((self.width - 16) / _SMALL_LETTER)), font_size=10)
        return tag("g", hint(self._hint(item)), frame, *title, facts, *self._bar(item, x + 9, y + 35, self.width - 18))

    def _bar(self, item: Placed, x: float, y: float, width: float) -> list[str]:
        """The shares of the classes, or where the value lies between the smallest and the largest."""
        values = self.tree.value[item.node]
        if self.classes:
            marks, at = [], x
            for k, share in enumerate(values[0]):
                if share > 0:
                    marks.append(tag("rect", x=at, y=y, width=float(share) * width, height=3.5, fill=_colour(k)))
                    at += float(share) * width
            return marks
        if self.tree.n_outputs != 1 or self.wording.classifies:
            return []
        low, high = float(self.tree.value.min()), float(self.tree.value.max())
        at = (float(values[0, 0]) - low) / (high - low) if high > low else 0.5
        track = tag("rect", x=x, y=y + 1, width=width, height=1.5, fill=GRID)
        return [track, tag("rect", x=x, y=y, width=max(at * width, 2.0), height=3.5, fill=_colour(0))]

    def _hint(self, item: Placed) -> str:
        """All that is known of the node, for a pointer that rests on it."""
        facts = [self._title(item), self._facts(item)]
        if self.classes:
            shares = self.tree.value[item.node][0]
            facts += [f"{name}: {100 * share:.3g}%" for name, share in zip(self.classes, shares)]
        elif not self.wording.classifies:
            facts.append(f"value {self._answer(item.node)}")
        return "\n".join(facts)


def _colour(k: int) -> str:
    turned = f"hsl({int(137.5 * k) % 360}, 45%, {40 + 10 * (k % 3)}%)"  # more classes than a palette has
    return f"var(--lt-class-{k}, {_CLASS_COLOURS[k] if k < len(_CLASS_COLOURS) else turned})"
