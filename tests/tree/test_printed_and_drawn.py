"""Trees printed, drawn and explained."""

import re
import xml.etree.ElementTree as ET
from io import StringIO

import numpy as np
import pandas as pd
import pytest
import sklearn.tree as peer

from learnt.forestry import Tree
from learnt.linear_model import LinearRegression
from learnt.tree import (
    DecisionTreeClassifier,
    DecisionTreeRegressor,
    explain,
    export_graphviz,
    export_text,
    plot_tree,
)

NAMES = ["height", "width", "a b & <c>"]


def models(depth=3):
    """Ours and scikit-learn's trees of classes and of numbers, fitted on tie-free data."""
    rng = np.random.default_rng(0)
    X = rng.normal(size=(120, 3))
    score = X[:, 0] + X[:, 1] * X[:, 2] + 0.3 * rng.normal(size=120)
    labels = np.array(["ant", "bee", "cat"])[np.digitize(score, [-0.4, 0.6])]
    return X, [
        (
            DecisionTreeClassifier(max_depth=depth, min_samples_leaf=9, random_state=0).fit(X, labels),
            peer.DecisionTreeClassifier(max_depth=depth, min_samples_leaf=9, random_state=0).fit(X, labels),
        ),
        (
            DecisionTreeRegressor(max_depth=depth, min_samples_leaf=9, random_state=0).fit(X, score),
            peer.DecisionTreeRegressor(max_depth=depth, min_samples_leaf=9, random_state=0).fit(X, score),
        ),
    ]


@pytest.mark.parametrize(
    "settings",
    [
        {},
        {"feature_names": NAMES},
        {"decimals": 4, "spacing": 1},
        {"max_depth": 1},
        {"max_depth": 0},
        {"show_weights": True},
    ],
    ids=str,
)
def test_the_text_is_scikit_learns(settings):
    for ours, theirs in models()[1]:
        assert export_text(ours, **settings) == peer.export_text(theirs, **settings)


@pytest.mark.parametrize(
    "settings",
    [
        {},
        {"feature_names": NAMES, "class_names": True, "label": "root"},
        {"filled": True, "rounded": True, "rotate": True, "node_ids": True},
        {"special_characters": True, "proportion": True, "precision": 2},
        {"max_depth": 1, "filled": True, "leaves_parallel": True, "impurity": False, "label": "none"},
    ],
    ids=str,
)
def test_the_graph_is_scikit_learns(settings):
    for ours, theirs in models()[1]:
        assert export_graphviz(ours, **settings) == peer.export_graphviz(theirs, **settings)


def test_the_graph_is_written_to_files(tmp_path):
    ours = models()[1][0][0]
    text = export_graphviz(ours)
    export_graphviz(ours, str(tmp_path / "tree.dot"))
    assert (tmp_path / "tree.dot").read_text(encoding="utf-8") == text
    file = StringIO()
    assert export_graphviz(ours, file) is None
    assert file.getvalue() == text


def boxes(drawing):
    root = ET.fromstring(str(drawing))
    return list(root.iter("{http://www.w3.org/2000/svg}g"))


def words_of(group):
    return [element.text for element in group.iter("{http://www.w3.org/2000/svg}text")]


def test_the_picture_shows_every_node_once(tmp_path):
    for ours, _ in models(4)[1]:
        drawing = plot_tree(ours, feature_names=NAMES)
        assert len(boxes(drawing)) == ours.tree_.node_count
        titles = [words_of(group)[0] for group in boxes(drawing)]
        assert sum(" ≤ " in title for title in titles) == ours.tree_.node_count - ours.tree_.n_leaves
        assert drawing.title == f"A tree of {ours.tree_.n_leaves} leaves, depth 4"
        path = drawing.save(tmp_path / "tree.svg")
        assert ET.parse(path).getroot().tag.endswith("svg")
        assert "overflow-x" in drawing._repr_html_()
        assert "prefers-color-scheme: dark" in drawing._repr_html_()


def test_no_two_boxes_of_the_picture_touch_and_no_text_leaves_its_box():
    for ours, _ in models(4)[1]:
        for names in (NAMES, ["a rather long name of a column of a table", "b", "c" * 60]):
            rectangles = []
            for group in boxes(plot_tree(ours, feature_names=names)):
                frame = group.find("{http://www.w3.org/2000/svg}rect").attrib
                x, y, w, h = (float(frame[key]) for key in ("x", "y", "width", "height"))
                rectangles.append((x, y, x + w, y + h))
                title = words_of(group)[0]
                assert 7.0 * len(title) <= w  # letters of 12.5 pixels are 7 wide, about
            for i, a in enumerate(rectangles):
                for b in rectangles[:i]:
                    assert a[2] < b[0] or b[2] < a[0] or a[3] < b[1] or b[3] < a[1]


def test_a_picture_cut_at_a_depth_counts_what_it_leaves_out():
    ours = models(5)[1][0][0]
    drawing = plot_tree(ours, max_depth=1)
    assert len(boxes(drawing)) == 3
    hidden = re.findall(r"(\d+) leaves not drawn", str(drawing))
    shown = sum("not drawn" not in "".join(words_of(group)) for group in boxes(drawing)) - 1
    assert sum(map(int, hidden)) // 2 + shown == ours.tree_.n_leaves  # said in the box and in its hint


def test_names_come_from_the_frame_and_are_escaped():
    X, ((ours, _), _) = models()
    frame = pd.DataFrame(X, columns=NAMES)
    model = DecisionTreeClassifier(max_depth=2).fit(frame, ours.predict(X))
    text = str(plot_tree(model))
    assert "height ≤" in text
    assert "<c>" not in text


def test_matplotlib_axes_get_scikit_learns_boxes():
    import matplotlib

    matplotlib.use("Agg")
    import matplotlib.pyplot as plt

    for ours, theirs in models()[1]:
        figure, (left, right) = plt.subplots(1, 2)
        mine = plot_tree(ours, ax=left, feature_names=NAMES, filled=True)
        other = peer.plot_tree(theirs, ax=right, feature_names=NAMES, filled=True)
        assert [note.get_text() for note in mine] == [note.get_text() for note in other]
        plt.close(figure)


def test_an_explanation_names_each_column_once_and_is_true():
    X, pairs = models(5)
    for ours, _ in pairs:
        for i in range(25):
            text = explain(ours, X[i], feature_names=NAMES)
            said = ours.predict(X[i : i + 1])[0]
            assert text.startswith(said if isinstance(said, str) else f"{said:.4g}")
            for name, value in zip(NAMES, X[i], strict=True):
                assert text.count(f"{name} ") <= 1
                for low in re.findall(rf"{re.escape(name)} > (-?[\d.e-]+)", text):
                    assert value > float(low) - 1e-3
                for high in re.findall(rf"{re.escape(name)} ≤ (-?[\d.e-]+)", text):
                    assert value <= float(high) + 1e-3
            assert text.endswith(".")


def test_a_method_of_the_tree_explains_too():
    X, ((ours, _), _) = models()
    assert ours.explain(X[0]) == explain(ours, X[0])


def test_categories_are_shown_by_name():
    rng = np.random.default_rng(0)
    towns = np.array(["Bern", "Oslo", "Rome", "Wien"])[rng.integers(0, 4, size=120)]
    table = pd.DataFrame({"town": towns, "size": rng.random(120)})
    y = np.isin(towns, ["Bern", "Rome"]) ^ (table["size"] > 0.7)
    for split in ("subset", "multiway"):
        model = DecisionTreeClassifier(max_depth=2, categorical_features=["town"], categorical_split=split).fit(
            table, y
        )
        text = export_text(model, feature_names=["town", "size"])
        assert "Bern" in text
        assert "town in [Bern, Rome]" in text or "town in [Oslo, Wien]" in text or "town = Bern" in text
        assert "Rome" in str(plot_tree(model)) or "Oslo" in str(plot_tree(model))
        assert "town" in export_graphviz(model, feature_names=["town", "size"])
        for i in range(6):
            said = explain(model, table.iloc[[i]])
            assert said.startswith(str(model.predict(table.iloc[[i]])[0]))
            assert re.search(r"town is (not )?\w+", said), said
    assert "town is" in model.explain(["Oslo", 0.5], feature_names=["town", "size"])


def test_missing_values_and_single_leaves_are_explained():
    X = np.array([[0.0], [1.0], [np.nan], [np.nan]])
    model = DecisionTreeClassifier().fit(X, ["low", "high", "none", "none"])
    assert explain(model, [np.nan]).startswith("none (2 of 2 rows): because column 0 is missing")
    leaf = DecisionTreeRegressor().fit([[1.0], [2.0]], [3.0, 3.0])
    assert explain(leaf, [1.5]) == "3 (the mean of 2 rows): whatever the row, since the tree is a single leaf."
    assert export_text(leaf) == "|--- value: [3.00]\n"
    assert plot_tree(leaf).title == "A tree of 1 leaf, depth 0"


def test_a_tree_of_any_depth_is_shown_without_recursion():
    n = 1500  # a chain: every left child is a leaf
    children_left, children_right = np.full(2 * n + 1, -1), np.full(2 * n + 1, -1)
    children_left[0 : 2 * n : 2], children_right[0 : 2 * n : 2] = 1 + 2 * np.arange(n), 2 + 2 * np.arange(n)
    tree = Tree(
        1,
        [1],
        children_left=children_left,
        children_right=children_right,
        feature=np.where(children_left < 0, -2, 0),
        threshold=np.where(children_left < 0, -2.0, np.arange(2 * n + 1)),
        n_node_samples=np.ones(2 * n + 1),
        weighted_n_node_samples=np.ones(2 * n + 1),
        value=np.zeros((2 * n + 1, 1, 1)),
    )
    tree.validate()
    model = DecisionTreeRegressor().fit([[0.0], [1.0]], [0.0, 1.0])
    model.tree_ = tree
    assert export_text(model, max_depth=5000).count("\n") == 3 * n + 1
    assert export_graphviz(model).count("->") == 2 * n
    assert len(boxes(plot_tree(model, max_depth=10))) == 21


def test_what_is_no_tree_is_refused_in_one_sentence():
    X = np.arange(6.0).reshape(-1, 1)
    line = LinearRegression().fit(X, X[:, 0])
    for show in (export_text, export_graphviz, plot_tree):
        with pytest.raises(TypeError, match="has no tree") as caught:
            show(line)
        assert "\n" not in str(caught.value)
    tree = DecisionTreeClassifier().fit(X, [0, 0, 0, 1, 1, 1])
    for call, words in [
        (lambda: export_text(tree, feature_names=["a", "b"]), "feature_names must contain 1 elements"),
        (lambda: export_text(tree, class_names=["a"]), "as many items"),
        (lambda: export_text(tree, max_depth=-1), "'max_depth' parameter"),
        (lambda: export_graphviz(tree, label="some"), "'label' parameter"),
        (lambda: explain(tree, X), "one row"),
    ]:
        with pytest.raises(ValueError, match=words) as caught:
            call()
        assert "\n" not in str(caught.value)
