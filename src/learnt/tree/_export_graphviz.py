"""A tree in the language of Graphviz."""

from __future__ import annotations

import colorsys
from typing import Any

import numpy as np

from learnt.engine.params import ParameterError
from learnt.tree._plot_words import Branch, Wording, listed

_PLAIN = {"id": "#", "open": "[", "close": "]", "<=": "<=", ">": ">", "break": "\\n", "begin": '"', "end": '"'}
_HTML = {
    "id": "&#35;",
    "open": "<SUB>",
    "close": "</SUB>",
    "<=": "&le;",
    ">": "&gt;",
    "break": "<br/>",
    "begin": "<",
    "end": ">",
}


def export_graphviz(
    decision_tree: Any,
    out_file: Any = None,
    *,
    max_depth: int | None = None,
    feature_names: Any = None,
    class_names: Any = None,
    label: str = "all",
    filled: bool = False,
    leaves_parallel: bool = False,
    impurity: bool = True,
    node_ids: bool = False,
    proportion: bool = False,
    rotate: bool = False,
    rounded: bool = False,
    special_characters: bool = False,
    precision: int = 3,
    fontname: str = "helvetica",
) -> str | None:
    """The tree as text for Graphviz (`dot -Tsvg`).

    Parameters
    ----------
    decision_tree : estimator
        A fitted tree of this room, such as `DecisionTreeClassifier`.
    out_file : str, file object or None, default=None
        Where the text goes: a path, an open file, or None to return it.
    max_depth : int or None, default=None
        Nodes below this depth are drawn as (...); None draws all.
    feature_names : list of str or None, default=None
        Names of the columns; None for those seen during `fit`, or x[0], x[1], ….
    class_names : list of str, bool or None, default=None
        Names of the classes, in the order of `classes_`; True shows y[0], y[1], …; None shows no class.
    label : {"all", "root", "none"}, default="all"
        At which nodes the numbers are labelled with what they are.
    filled : bool, default=False
        Whether nodes are coloured by their class, or by their value in regression; paler where the tree is less sure.
    leaves_parallel : bool, default=False
        Whether all leaves stand at the bottom, however deep they are.
    impurity : bool, default=True
        Whether to show the impurity of each node.
    node_ids : bool, default=False
        Whether to show the number of each node.
    proportion : bool, default=False
        Whether to show shares of the rows instead of counts.
    rotate : bool, default=False
        Whether the tree grows from left to right instead of downwards.
    rounded : bool, default=False
        Whether boxes have round corners.
    special_characters : bool, default=False
        Whether to write ≤ and subscripts, as HTML labels.
    precision : int, default=3
        Digits behind the point.
    fontname : str, default="helvetica"
        The font of all text.

    Returns
    -------
    text : str or None
        The tree in the DOT language; None where `out_file` was given.

    See Also
    --------
    plot_tree : Draws a tree without Graphviz.
    export_text : The tree as indented lines.

    Examples
    --------
    >>> from learnt.tree import DecisionTreeRegressor
    >>> model = DecisionTreeRegressor().fit([[0.0], [1.0]], [2.0, 3.0])
    >>> export_graphviz(model, impurity=False).splitlines()[3]
    '0 [label="x[0] <= 0.5\\\\nsamples = 2\\\\nvalue = 2.5"] ;'
    """
    if label not in ("all", "root", "none"):
        raise ParameterError(
            f"The 'label' parameter of export_graphviz must be one of 'all', 'root', 'none'. Got {label!r} instead."
        )
    for name, value in (("max_depth", max_depth), ("precision", precision)):
        if not (value is None and name == "max_depth") and not (isinstance(value, int | np.integer) and value >= 0):
            raise ParameterError(
                f"The {name!r} parameter of export_graphviz must be a whole number of at least 0. Got {value!r} "
                "instead."
            )
    signs = _HTML if special_characters else _PLAIN
    wording = Wording(decision_tree, feature_names, class_names, "x" + signs["open"] + "{}" + signs["close"])
    labels = Labels(wording, class_names, label, impurity, node_ids, proportion, precision, signs)
    lines = _head(filled, rounded, leaves_parallel, rotate, fontname)
    ranks: dict[str, list[str]] = {"leaves": []}
    colours = Colours(wording) if filled else None
    ways = len(wording.branches(0))
    stack: list[tuple[int, int | None, int, int]] = [(0, None, 0, 0)]  # node, parent, depth, position among siblings
    while stack:
        node, parent, depth, position = stack.pop()
        branches = wording.branches(node)
        hidden = max_depth is not None and depth > max_depth
        ranks.setdefault("leaves" if hidden or not branches else str(depth), []).append(str(node))
        shown = '"(...)"' if hidden else signs["begin"] + labels.of(node) + signs["end"]
        fill = "#C0C0C0" if hidden else colours.of(node) if colours is not None else ""
        lines.append(f"{node} [label={shown}" + (f', fillcolor="{fill}"' if colours is not None else "") + "] ;")
        if parent is not None:
            lines.append(f"{parent} -> {node}{_head_label(parent, position, ways, rotate, hidden)} ;")
        if not hidden:
            stack.extend((branches[k].child, node, depth + 1, k) for k in range(len(branches) - 1, -1, -1))
    if leaves_parallel:
        lines += [f"{{rank=same ; {'; '.join(ranks[rank])}}} ;" for rank in sorted(ranks)]
    text = "\n".join([*lines, "}"])
    if out_file is None:
        return text
    if isinstance(out_file, str):
        with open(out_file, "w", encoding="utf-8") as file:
            file.write(text)
    else:
        out_file.write(text)
    return None


def _head(filled: bool, rounded: bool, parallel: bool, rotate: bool, font: str) -> list[str]:
    style = [word for word, wanted in (("filled", filled), ("rounded", rounded)) if wanted]
    look = f', style="{", ".join(style)}", color="black"' if style else ""
    lines = ["digraph Tree {", f'node [shape=box{look}, fontname="{font}"] ;']
    if parallel:
        lines.append("graph [ranksep=equally, splines=polyline] ;")
    lines.append(f'edge [fontname="{font}"] ;')
    if rotate:
        lines.append("rankdir=LR ;")
    return lines


def _head_label(parent: int, position: int, siblings: int, rotate: bool, hidden: bool) -> str:
    """True and False at the root's two branches."""
    if parent != 0 or siblings != 2 or hidden:
        return ""
    angle = 45 if (position == 0) != rotate else -45
    return f' [labeldistance=2.5, labelangle={angle}, headlabel="{position == 0}"]'


class Labels:
    """What stands in a node."""

    def __init__(
        self,
        wording: Wording,
        class_names: Any,
        label: str,
        impurity: bool,
        node_ids: bool,
        proportion: bool,
        precision: int,
        signs: dict[str, str],
    ) -> None:
        self._wording, self._class_names, self._label = wording, class_names, label
        self._impurity, self._node_ids, self._proportion = impurity, node_ids, proportion
        self._precision, self._signs = precision, signs
        criterion = getattr(wording.model, "criterion", "impurity")
        self._criterion = criterion if isinstance(criterion, str) else "impurity"

    def of(self, node: int) -> str:
        """The lines of a node's label."""
        tree, signs = self._wording.tree, self._signs
        named = self._label == "all" or (self._label == "root" and node == 0)

        def line(name: str, value: Any) -> str:
            return f"{name} = {value}" if named else str(value)

        lines = []
        if self._node_ids:
            lines.append(("node " if named else "") + signs["id"] + str(node))
        branches = self._wording.branches(node)
        if branches:
            lines.append(self._question(branches))
        if self._impurity:
            lines.append(line(self._criterion, round(float(tree.impurity[node]), self._precision)))
        count = tree.n_node_samples[node]
        share = f"{round(100.0 * float(count) / float(tree.n_node_samples[0]), 1)}%"
        lines.append(line("samples", share if self._proportion else count))
        lines.append(line("value", self._value(node)))
        nameless = self._class_names is None or self._class_names is False
        if not nameless and tree.n_classes[0] != 1 and tree.n_outputs == 1:
            best = int(np.argmax(tree.value[node][0]))
            plain = f"y{signs['open']}{best}{signs['close']}"
            given = plain if self._class_names is True else self._escape(str(self._class_names[best]))
            lines.append(line("class", given))
        return signs["break"].join(lines)

    def _question(self, branches: list[Branch]) -> str:
        first = branches[0]
        name = self._escape(first.feature) if self._wording.feature_names is not None else first.feature
        if first.relation == "<=":
            return f"{name} {self._signs['<=']} {round(first.value, self._precision)}"
        if first.relation == "in" and len(branches) == 2:
            return f"{name} in {self._escape(listed(first.value, 8))}"
        if first.relation in ("known", "missing") and len(branches) == 2:
            return f"{name} is {first.relation}"
        return f"{name} ?"

    def _value(self, node: int) -> str:
        tree = self._wording.tree
        value = tree.value[node]
        numbers = tree.n_classes[0] == 1
        if not numbers and not self._proportion:
            value = np.around(value * tree.weighted_n_node_samples[node], 10)  # counts that are whole, whole
        if not numbers and not self._proportion and np.all(value == np.rint(value)):
            rows = value.astype(np.int64).tolist()
        else:
            rows = np.around(value, self._precision).tolist()
        if numbers and tree.n_outputs == 1:
            return str(rows[0][0])
        texts = [f"[{', '.join(map(str, row))}]" for row in rows]
        return texts[0] if tree.n_outputs == 1 else f"[{self._signs['break'].join(texts)}]"

    def _escape(self, text: str) -> str:
        return text.replace('"', r"\"")


class Colours:
    """A colour a class, paler where the class is less sure; one colour for numbers, paler where they are small."""

    def __init__(self, wording: Wording) -> None:
        self._tree = tree = wording.tree
        n_classes = int(tree.n_classes[0])
        hues = np.arange(25, 385, 360.0 / n_classes).astype(int)
        self._rgb = [[int(255 * c) for c in colorsys.hsv_to_rgb(hue % 360 / 360, 0.75, 0.9)] for hue in hues]
        self._bounds: tuple[float, float] | None = None
        if tree.n_outputs != 1:
            self._bounds = (-float(tree.impurity.max()), -float(tree.impurity.min()))
        elif n_classes == 1 and len(np.unique(tree.value)) > 1:
            self._bounds = (float(tree.value.min()), float(tree.value.max()))

    def of(self, node: int) -> str:
        """#rrggbb."""
        tree = self._tree
        if self._bounds is None:
            shares = tree.value[node][0]
            colour = self._rgb[int(np.argmax(shares))]
            top = sorted(shares, reverse=True)
            strength = 0.0 if len(top) == 1 else (top[0] - top[1]) / (1 - top[1])
        else:
            low, high = self._bounds
            colour = self._rgb[0]
            at = -tree.impurity[node] if tree.n_outputs != 1 else tree.value[node][0, 0]
            strength = (at - low) / (high - low) if high > low else 0.0
        mixed = [round(strength * c + (1 - strength) * 255) for c in colour]
        return "#" + "".join(f"{c:02x}" for c in mixed)
