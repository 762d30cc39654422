"""Pictures of trees of depth 4 can be read: boxes apart, large letters, long names in two lines, names of the frame."""

import re

import matplotlib
import numpy as np
import pandas as pd
import pytest

from learnt.tree import DecisionTreeClassifier, DecisionTreeRegressor, export_graphviz, export_text, plot_tree

matplotlib.use("Agg")
plt = pytest.importorskip("matplotlib.pyplot")

TRADES = ["farming, forestry and fishing", "machine operators and inspectors", "armed forces", "sales", "transport"]


def _full(kind):
    rng = np.random.default_rng(0)
    X = pd.DataFrame(rng.normal(size=(2000, 4)), columns=["age", "income of the year", "size", "weight"])
    y = np.cos(3 * X).sum(axis=1) * 1000
    return kind(max_depth=4, random_state=0).fit(X, y if kind is DecisionTreeRegressor else y > 0)


@pytest.mark.parametrize("kind", [DecisionTreeClassifier, DecisionTreeRegressor])
def test_sixteen_leaves_are_readable_in_an_ordinary_figure(kind):
    model = _full(kind)
    assert model.get_n_leaves() == 16
    figure = plt.figure(figsize=(16, 9), dpi=80)
    notes = plot_tree(model, filled=True, rounded=True)
    figure.canvas.draw()
    boxes = [note.get_bbox_patch().get_window_extent() for note in notes if note.get_bbox_patch() is not None]
    plt.close(figure)
    assert len(boxes) == model.tree_.node_count
    assert min(note.get_fontsize() for note in notes) >= 7.5
    for k, box in enumerate(boxes):
        assert min(box.x0, box.y0, 1280 - box.x1, 720 - box.y1) >= 0
        for other in boxes[k + 1 :]:
            assert box.x1 <= other.x0 or other.x1 <= box.x0 or box.y1 <= other.y0 or other.y1 <= box.y0


def test_given_axes_keep_their_position():
    model = _full(DecisionTreeClassifier)
    figure, (left, right) = plt.subplots(1, 2)
    before = left.get_position().bounds
    plot_tree(model, ax=left)
    assert left.get_position().bounds == before
    assert not right.texts
    plt.close(figure)


def test_a_long_question_has_two_lines_and_the_others_one():
    rng = np.random.default_rng(0)
    X = pd.DataFrame({"occupation of the head of the household": rng.choice(TRADES, 400), "age": rng.normal(size=400)})
    trade = X.iloc[:, 0].isin(TRADES[:3])
    model = DecisionTreeClassifier(max_depth=2, random_state=0).fit(X, trade ^ (X["age"] > 1))
    drawn = str(plot_tree(model))
    lines = re.findall(r'font-size="12.5"[^>]*>([^<]*)<', drawn)
    assert lines[0].startswith("occupation of")
    assert lines[0].endswith("household")
    assert lines[1] == "is sales or transport"
    heights = sorted({float(h) for h in re.findall(r'height="([\d.]+)" rx="6"', drawn)})
    assert heights == [42.0, 58.0]


def test_names_of_the_frame_are_used_everywhere():
    model = _full(DecisionTreeRegressor)
    first = model.feature_names_in_[model.tree_.feature[0]]
    assert export_text(model).startswith(f"|--- {first} <= ")
    assert f'label="{first} <= ' in export_graphviz(model)
    figure = plt.figure()
    assert plot_tree(model)[0].get_text().startswith(f"{first} <= ")
    plt.close(figure)
    assert export_text(model, feature_names=list("abcd")).startswith(f"|--- {'abcd'[model.tree_.feature[0]]} <= ")


def test_a_name_with_a_comma_is_one_name():
    X = pd.DataFrame({"trade": TRADES * 4})
    model = DecisionTreeClassifier().fit(X, ~X["trade"].isin(TRADES[:1]))
    assert "trade in [“farming, forestry and fishing”]" in export_text(model)
    assert "trade is “farming, forestry and fishing”" in model.explain([TRADES[0]])


def test_integer_counts_stay_integers():
    X = np.arange(147.0)[:, None]
    model = DecisionTreeClassifier(max_depth=1).fit(X, np.arange(147) % 49 < 17)
    shown = re.findall(r"value = \[([^\]]*)\]", export_graphviz(model))
    assert len(shown) == 3
    assert not any("." in counts for counts in shown)
