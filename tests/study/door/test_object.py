"""The Study object: what it answers is what the files of the study say."""

import copy
import gc
import inspect
import json
import pickle

import numpy as np
import pandas as pd
import polars as pl
import pytest

import learnt
from learnt.study import StudyError, open_study, predict_table, read_table, study


@pytest.fixture(scope="module")
def opened(classified):
    return classified[0]


@pytest.fixture(scope="module")
def orders_read(orders):
    return read_table(orders)


def test_the_module_is_called_and_is_a_module():
    import learnt.study as module

    assert module is learnt.study
    assert inspect.ismodule(module)
    assert inspect.signature(module) == inspect.signature(study)
    assert list(inspect.signature(learnt.study).parameters)[:2] == ["table", "target"]
    with pytest.raises(StudyError, match="more than 0 seconds"):
        learnt.study(pl.DataFrame({"a": [1, 2], "b": [1, 2]}), target="b", budget="0s")


def test_a_study_of_a_data_frame_answers_in_its_library(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    rng = np.random.default_rng(0)
    x = rng.normal(size=240)
    frame = pd.DataFrame({"x": x, "kind": rng.choice(["p", "q"], 240), "late": x + 0.5 * rng.normal(size=240) > 0})
    s = learnt.study(frame, target="late", budget="4s", drop="kind")
    assert list(tmp_path.iterdir()) == []  # nothing is left where it was called
    rows = frame.iloc[5:9]
    predicted = s.predict(rows)
    assert isinstance(predicted, pd.Series)
    assert (predicted.name, predicted.dtype, predicted.index.tolist()) == ("late", bool, rows.index.tolist())
    proba = s.predict_proba(rows)
    assert proba.columns.tolist() == [False, True]
    np.testing.assert_allclose(proba.sum(axis=1), 1)
    assert isinstance(s.leaderboard, pd.DataFrame)
    assert len(repr(s).splitlines()) == 5
    more = learnt.study(frame, target="late", budget="5s", drop="kind")
    assert more.facts["run"]["reused"] > 0  # it went on, though the folder is another
    assert more.folder != s.folder
    folder, kept = s.folder, s.save_all(tmp_path / "kept")
    again = pickle.loads(pickle.dumps(s))
    assert again.folder != folder
    del s
    gc.collect()
    assert not folder.exists()
    for other in (open_study(kept), again, copy.deepcopy(again)):
        assert other.predict(rows).tolist() == predicted.tolist()
    with pytest.raises(StudyError, match="not empty"):
        again.save_all(kept)


def test_predictions_are_those_of_the_command(opened, orders_read):
    """With the threshold that the costs chose, in every library."""
    expected = predict_table(opened.folder, orders_read)
    assert opened.threshold == opened.facts["decision"]["threshold"] != 0.5
    assert opened.predict(orders_read).to_list() == expected["prediction"].to_list()
    likelier = opened.model.predict(orders_read)
    assert (likelier != expected["prediction"].to_numpy()).any()  # what its docstring says
    positive = opened.predict_proba(orders_read)[opened.facts["positive"]].to_numpy()
    assert ((positive >= opened.threshold) == (expected["prediction"] == opened.facts["positive"]).to_numpy()).all()
    for rows in (orders_read.to_pandas(), orders_read.to_arrow(), orders_read.to_dict(as_series=False)):
        assert list(map(str, opened.predict(rows))) == expected["prediction"].to_list()
    assert predict_table(opened.folder, orders_read.to_pandas()).equals(expected)


def test_predictions_from_a_path_are_those_of_its_rows(opened, orders, orders_read):
    assert opened.predict(orders).equals(opened.predict(orders_read))


def test_an_amount_has_an_interval_and_no_probabilities(regressed):
    rows = pl.read_parquet(regressed.folder.parent / "prices.parquet").head(20)
    found, ends = regressed.predict(rows), regressed.predict_interval(rows)
    assert found.name == "price"
    half = regressed.facts["decision"]["half_width"]
    np.testing.assert_allclose(ends["high"] - found, half)
    np.testing.assert_allclose(found - ends["low"], half)
    with pytest.raises(StudyError, match="amount"):
        regressed.predict_proba(rows)
    assert regressed.classes is None
    assert regressed.threshold is None


def test_classes_have_no_interval(opened, orders_read):
    with pytest.raises(StudyError, match="predict_proba"):
        opened.predict_interval(orders_read.head(3))


def test_unreadable_cells_are_refused_in_words_of_python_and_counted_on_request(opened, orders_read):
    bad = orders_read.with_columns(z=pl.lit("cheese"))
    with pytest.raises(StudyError, match="lenient=True"):
        opened.predict(bad)
    with pytest.warns(UserWarning, match="count as missing"):
        opened.predict(bad, lenient=True)


def test_rows_unlike_all_that_was_learnt_from_are_named(opened, orders_read):
    strange = orders_read.head(3).with_columns(z=pl.Series([0.1, 9e9, 0.2]))
    with pytest.warns(UserWarning, match="unlike"):
        opened.predict(strange)
    found = opened.unlike(strange.to_pandas())
    assert isinstance(found, pd.Series)
    assert found.isna().tolist() == [True, False, True]
    assert "z" in found[1]


def test_the_leaderboard_says_what_the_facts_say(opened, regressed):
    board = opened.leaderboard
    entries = opened.facts["race"]["entries"]
    assert isinstance(board, pl.DataFrame)
    assert board["log_loss"].drop_nulls().to_list() == [e["loss"] for e in entries if "loss" in e]
    assert board["log_loss"].drop_nulls().is_sorted()
    assert (board["state"] == "chosen").sum() == 1
    done = board.filter(pl.col("log_loss").is_not_null())
    assert (done["low"] <= done["log_loss"]).all()
    assert (done["log_loss"] <= done["high"]).all()
    assert done["settings"].null_count() == 0
    amounts = regressed.leaderboard
    losses = [e["loss"] for e in regressed.facts["race"]["entries"] if "loss" in e]
    np.testing.assert_allclose(amounts["RMSE"].drop_nulls().to_numpy() ** 2, losses)


def test_settings_of_the_leaderboard_can_be_pasted(opened):
    alone = opened.leaderboard.filter(pl.col("family") == "decision tree", pl.col("settings").is_not_null())
    from learnt.tree import DecisionTreeClassifier

    tree = eval(alone["settings"][0], {"DecisionTreeClassifier": DecisionTreeClassifier})
    assert tree.get_params()["max_depth"] == 4


def test_the_importances_are_those_of_the_facts(opened):
    assert opened.importances["loss_added"].to_list() == [f["loss_added"] for f in opened.facts["importances"]]
    assert opened.importances["loss_added"].is_sorted(descending=True)


def test_the_folder_of_the_command_opens(sealed, classified):
    left = learnt.open_study(sealed)
    assert left.beats_constant is None
    assert left.facts == json.loads((sealed / "study.json").read_text(encoding="utf-8"))
    assert "sealed" in repr(left)
    with pytest.raises(StudyError, match="holds no finished study"):
        open_study(sealed.parent)


def test_a_damaged_folder_is_a_sentence(tmp_path):
    (tmp_path / "study.json").write_text("{}")
    with pytest.raises(StudyError, match="is damaged; run the study again"):
        open_study(tmp_path)


def test_model_and_report_are_saved_where_they_are_wanted(opened, orders_read, tmp_path):
    copied = learnt.load(opened.save(tmp_path / "m.learnt"))
    assert copied.predict(orders_read).tolist() == opened.model.predict(orders_read).tolist()
    page = opened.report.save(tmp_path / "r.html")
    assert page.read_bytes() == opened.report.path.read_bytes()
    assert str(opened.report) == str(opened.folder / "report.html")
    assert "srcdoc" in opened.report._repr_html_()
    with pytest.raises(StudyError, match=r"saved as \.html"):
        opened.report.save(tmp_path / "r.docx")
    for wanted in (opened.save, opened.report.save):
        with pytest.raises(StudyError, match="does not exist"):
            wanted(tmp_path / "nowhere" / "x.html")


def test_the_text_is_five_short_lines(opened, regressed):
    for s in (opened, regressed):
        lines = repr(s).splitlines()
        assert len(lines) == 5
        assert max(map(len, lines)) <= 160
        assert s.facts["summary"]["verdict"] in lines[0]
    assert "--" not in repr(opened).replace(str(opened.folder), "")


@pytest.mark.parametrize(("width", "scheme"), [(400, "light"), (1280, "dark")])
def test_the_first_screen_reads_well(opened, open_page, tmp_path, width, scheme):
    page = tmp_path / "card.html"
    head = '<!doctype html><html lang="en"><meta charset="utf-8"><title>cell</title>'
    page.write_text(f"{head}<body>{opened._repr_html_()}</body></html>", encoding="utf-8")
    seen = open_page(page, width, scheme)
    assert seen.trouble == []
    assert seen.low_contrast() == []
    assert seen.evaluate("document.documentElement.scrollWidth <= innerWidth")
    assert seen.locator("script").count() == 0
    assert opened.facts["summary"]["headline"] in seen.inner_text("body")


@pytest.mark.parametrize("theme", ['data-jp-theme-light="false"', 'class="vscode-dark"', 'data-jp-theme-light="true"'])
def test_the_theme_of_the_notebook_counts_and_not_that_of_the_system(opened, open_page, tmp_path, theme):
    page = tmp_path / "card.html"
    page.write_text(f"<!doctype html><body {theme}>{opened._repr_html_()}</body>", encoding="utf-8")
    seen = open_page(page, 1280, "dark" if "true" in theme else "light")
    red = seen.evaluate("getComputedStyle(document.querySelector('.learnt-card')).backgroundColor.match(/\\d+/)[0]")
    assert (int(red) > 200) == ("true" in theme)


def test_reasons_add_up_to_the_prediction_in_columns_of_the_table(opened, orders_read):
    rows = orders_read.head(6)
    found = opened.explain(rows.to_pandas())
    assert set(found.columns) == set(opened.facts["data"]["features"])
    np.testing.assert_allclose(found.values.sum(axis=1) + found.baseline, found.prediction, atol=1e-6)
    if found.link == "probability":
        np.testing.assert_allclose(found.prediction, opened.model.predict_proba(rows)[:, 1], atol=1e-9)
    assert len(found.words(0)) >= 1
