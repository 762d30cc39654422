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
    decision_tree : fitted DecisionTreeClassifier or DecisionTreeRegressor
    max_depth : int, optional
        What lies deeper is counted, not drawn.
    feature_names, class_names : list of str, optional
        Names of columns and classes; otherwise those `fit` saw.
    impurity, node_ids, proportion : bool
        Show the impurity; the node's number; shares of rows instead of counts.
    precision : int, default=3
        Digits that numbers are shown with.
    label, filled, rounded, fontsize
        How nodes look in Matplotlib, as in scikit-learn: given one of these, the tree is drawn there.
    ax : matplotlib axes, optional
        Draw there, as scikit-learn does, and return the annotations. An empty figure that pyplot has open, as after
        `plt.figure()`, counts as given.

    Returns
    -------
    TreeDrawing, which notebooks show and `save(path)` writes as SVG; or a list of annotations where `ax` is given

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
