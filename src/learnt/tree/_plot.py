"""A tree drawn from left to right: questions, how many rows go which way, and what each leaf says."""

from __future__ import annotations

import sys
from typing import Any

from learnt.tree._plot_picture import Picture, TreeDrawing
from learnt.tree._plot_words import Wording

__all__ = ["TreeDrawing", "plot_tree"]

_WHOLE = (0.01, 0.01, 0.98, 0.92)  # of a figure with nothing else in it; a title has room above


def plot_tree(
    decision_tree: Any,
    *,
    max_depth: int | None = None,
    feature_names: Any = None,
    class_names: Any = None,
    label: str = "all",
    filled: bool = False,
    impurity: bool = True,
    node_ids: bool = False,
    proportion: bool = False,
    rounded: bool = False,
    precision: int = 3,
    ax: Any = None,
    fontsize: int | None = None,
) -> Any:
    """Draw a fitted tree, as a picture of its own or into Matplotlib axes.

    The picture runs from left to right. A box holds its question or its answer, its rows, and a bar of its classes, or
    where its value lies between the smallest and the largest; a line is as thick as the share of rows that take it.

    Parameters
    ----------
    decision_tree : estimator
        A fitted tree of this room, such as `DecisionTreeClassifier`.
    max_depth : int or None, default=None
        What lies deeper is counted, not drawn; None draws all.
    feature_names : list of str or None, default=None
        Names of the columns; None for those seen during `fit`, or their numbers.
    class_names : list of str, bool or None, default=None
        Names of the classes, in the order of `classes_`; None for the labels, or for none in Matplotlib.
    label : {"all", "root", "none"}, default="all"
        At which nodes of a Matplotlib picture the numbers are labelled with what they are. Anything but "all" draws
        with Matplotlib.
    filled : bool, default=False
        Whether nodes of a Matplotlib picture are coloured by class or value. True draws with Matplotlib.
    impurity : bool, default=True
        Whether to show the impurity of each node.
    node_ids : bool, default=False
        Whether to show the number of each node.
    proportion : bool, default=False
        Whether to show shares of the rows instead of counts.
    rounded : bool, default=False
        Whether boxes of a Matplotlib picture have round corners. True draws with Matplotlib.
    precision : int, default=3
        Digits that numbers are shown with.
    ax : matplotlib Axes or None, default=None
        Where to draw with Matplotlib, as scikit-learn does. None makes a picture of its own, unless a parameter asks
        for Matplotlib or pyplot has an empty figure open, as after `plt.figure()`.
    fontsize : int or None, default=None
        Size of the text in Matplotlib, where a number is given; None fits it to the boxes.

    Returns
    -------
    drawing : TreeDrawing or list of matplotlib Annotation
        A picture, which notebooks show and `save(path)` writes as SVG; the annotations where it was drawn with
        Matplotlib.

    See Also
    --------
    export_text : The tree as indented lines.
    export_graphviz : The tree as text for Graphviz.
    explain : The path of a single row in words.

    Examples
    --------
    >>> from learnt.tree import DecisionTreeClassifier
    >>> model = DecisionTreeClassifier().fit([[0.0], [1.0], [2.0], [3.0]], ["low", "low", "high", "high"])
    >>> plot_tree(model, feature_names=["size"]).title
    'A tree of 2 leaves, depth 1'
    """
    if ax is None:
        ax = _waiting_axes(filled or rounded or fontsize is not None or label != "all")
        if ax is not None and ax.figure.axes == [ax]:
            ax.set_position(_WHOLE)
    if ax is not None:
        from learnt.tree._plot_matplotlib import draw

        return draw(
            decision_tree,
            ax,
            max_depth=max_depth,
            feature_names=feature_names,
            class_names=class_names,
            label=label,
            filled=filled,
            impurity=impurity,
            node_ids=node_ids,
            proportion=proportion,
            rounded=rounded,
            precision=precision,
            fontsize=fontsize,
        )
    wording = Wording(decision_tree, feature_names, class_names, "column {}")
    return Picture(wording, max_depth, impurity, node_ids, proportion, precision).close()


def _waiting_axes(wanted: bool) -> Any:
    """The axes that a script of scikit-learn's users means: those of an open figure with nothing in it yet.

    `wanted`: something was asked for that only Matplotlib's picture has, so that a figure is opened if need be.
    """
    if wanted:
        try:
            import matplotlib.pyplot as plt
        except ImportError:
            return None
        return plt.gca()
    pyplot = sys.modules.get("matplotlib.pyplot")
    if pyplot is None or not pyplot.get_fignums():
        return None
    figure = pyplot.gcf()
    axes = figure.gca() if not figure.axes else figure.axes[0] if len(figure.axes) == 1 else None
    return None if axes is None or axes.has_data() or axes.texts else axes
