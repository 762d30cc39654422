"""What trees are said to ask: missing values, categories that can be there, long names, several outputs."""

import re

import numpy as np
import pandas as pd
import pytest

from learnt.forestry import Tree
from learnt.tree import (
    DecisionTreeClassifier,
    DecisionTreeRegressor,
    TreeDrawing,
    explain,
    export_graphviz,
    export_text,
    plot_tree,
)

TOWNS = np.array(["Bern", "Lima", "Oslo", "Rome", "Zug"])


def town_tree(**settings):
    """Prices that depend on the town, and on whether the age is known."""
    rng = np.random.default_rng(0)
    codes = rng.integers(0, 5, 600)
    age = np.where(rng.random(600) < 0.2, np.nan, rng.integers(20, 80, 600))
    frame = pd.DataFrame({"town": pd.Categorical(TOWNS[codes]), "age": age})
    y = 100.0 * codes + 1000.0 * np.isnan(age)
    model = DecisionTreeRegressor(categorical_features="from_dtype", random_state=0, **settings).fit(frame, y)
    return frame, y, model


def test_a_split_by_missing_values_is_described():
    frame, _, model = town_tree(max_depth=1)
    text = export_text(model, feature_names=["town", "age"])
    assert "age is known" in text
    assert "age is missing" in text
    assert "inf" not in text + str(plot_tree(model)) + export_graphviz(model)
    assert "age is known (it is " in model.explain(frame[frame["age"].notna()].iloc[[0]])
    assert "age is missing" in model.explain(frame[frame["age"].isna()].iloc[[0]])


def test_an_explanation_names_the_category_of_the_row():
    frame, y, model = town_tree()
    for i in range(20):
        said = model.explain(frame.iloc[[i]])
        assert said.startswith(f"{y[i]:.4g} ")
        assert f"town is {frame['town'].iloc[i]}" in said
    assert "town is none of the categories of training" in model.explain(["Paris", 30.0])


def test_questions_list_only_categories_that_can_be_there():
    """Along every path the groups of a column are parts of the group before."""
    _, _, model = town_tree()
    lines = export_text(model, feature_names=["town", "age"]).splitlines()
    possible = {0: set(TOWNS)}
    for line in lines:
        depth = line.count("|")
        asked = re.search(r"town (in|not in) \[(.*)\]", line)
        if asked is None:
            possible[depth] = possible[depth - 1]
            continue
        group = set(asked.group(2).split(", "))
        assert group <= possible[depth - 1]
        possible[depth] = group if asked.group(1) == "in" else possible[depth - 1] - group
        assert possible[depth]


def test_long_lists_of_categories_are_cut():
    X = np.arange(3000.0)[:, None]
    model = DecisionTreeRegressor(categorical_features=[0], max_depth=1).fit(X, np.repeat([0.0, 1.0], 1500))
    for shown in (export_text(model), export_graphviz(model), model.explain([5.0]), str(plot_tree(model))):
        assert "more" in shown
        assert len(shown) < 4000


def test_several_outputs_are_shown_by_their_names():
    X = np.arange(8.0)[:, None]
    y = np.array([["red", "far"]] * 4 + [["blue", "near"]] * 4)
    model = DecisionTreeClassifier().fit(X, y)
    assert "class: red, far" in export_text(model)
    assert "red, far" in str(plot_tree(model))
    assert model.explain([1.0]).startswith("red, far (4 rows)")


def test_a_long_name_leaves_its_question_readable():
    X = np.arange(8.0)[:, None]
    model = DecisionTreeClassifier().fit(X, X[:, 0] > 3)
    name = "the age of the customer on the day of the order"
    boxes = re.findall(r'font-size="12.5"[^>]*>([^<]*)<', str(plot_tree(model, feature_names=[name])))
    assert boxes[0].startswith("the age of the")
    assert boxes[0].endswith("of the order")
    assert boxes[1] == "≤ 3.5"


def test_twenty_classes_have_twenty_colours():
    X = np.arange(20.0)[:, None]
    drawn = str(plot_tree(DecisionTreeClassifier().fit(X, X[:, 0])))
    colours = dict(re.findall(r"var\(--lt-class-(\d+), ([^)]*)\)?", drawn))
    assert len(colours) == len(set(colours.values())) == 20


def test_an_open_empty_figure_is_drawn_into():
    pyplot = pytest.importorskip("matplotlib.pyplot")
    model = DecisionTreeClassifier().fit([[0.0], [1.0]], [0, 1])
    pyplot.close("all")
    try:
        assert isinstance(plot_tree(model), TreeDrawing)
        figure = pyplot.figure()
        notes = plot_tree(model)
        assert notes[0].get_text().split("\n")[0] == "x[0] <= 0.5"
        assert figure.axes[0].texts
        assert isinstance(plot_tree(model), TreeDrawing)  # there is something in the figure now
        pyplot.close("all")
        notes = plot_tree(model, filled=True)  # which only Matplotlib's picture has
        assert len(notes) == 5
        assert pyplot.gcf().axes[0].texts
    finally:
        pyplot.close("all")


@pytest.mark.long
def test_short_nodes_of_a_chain_take_linear_time():
    """A chain of 50,000 levels is printed and explained; the walk over its words must not be quadratic."""
    n = 50_000
    nodes, inner = 2 * n + 1, 2 * np.arange(n)
    left, right = np.full(nodes, -1), np.full(nodes, -1)
    left[inner], right[inner] = inner + 1, inner + 2
    feature, threshold = np.full(nodes, -2), np.full(nodes, -2.0)
    feature[inner], threshold[inner] = 0, np.arange(n)
    model = DecisionTreeRegressor().fit([[0.0], [1.0]], [0.0, 1.0])
    model.tree_ = Tree(
        1, [1], children_left=left, children_right=right, feature=feature, threshold=threshold,
        value=np.zeros((nodes, 1, 1)), n_node_samples=np.ones(nodes), weighted_n_node_samples=np.ones(nodes),
    )  # fmt: skip
    assert explain(model, [n + 1.0], feature_names=["x"]).endswith("because x > 5e+04 (it is 5e+04).")
    assert f"truncated branch of depth {n - 2}" in export_text(model, max_depth=2)
    assert len(export_graphviz(model).splitlines()) == 2 * nodes + 3
