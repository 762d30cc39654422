"""The report in a real browser: no errors, no network, no sideways scrolling, readable in the dark, no injection."""

import copy
import re
from dataclasses import replace

import numpy as np
import pytest

from learnt.study.facts import Facts
from learnt.study.report._report import render
from learnt.study.report._words import summarise


def look(page):
    """Open every section and collect what is wrong."""
    titles = page.locator("summary")
    for k in range(titles.count()):
        section = titles.nth(k).locator("xpath=..")
        if section.get_attribute("open") is None:
            titles.nth(k).click()
        assert section.get_attribute("open") is not None
        assert section.locator(".body").is_visible()
    wide = page.evaluate("document.documentElement.scrollWidth - window.innerWidth")
    return page.trouble, wide, page.low_contrast()


LONG = pytest.mark.long


@pytest.mark.parametrize(
    ("width", "scheme"),
    [(390, "light"), pytest.param(390, "dark", marks=LONG), pytest.param(1280, "light", marks=LONG), (1280, "dark")],
)
def test_a_classification_report_is_sound(classified, open_page, width, scheme):
    page = open_page(classified[0].report.path, width, scheme)
    assert page.locator("h1").is_visible()
    assert page.locator("dd").count() == 5
    assert look(page) == ([], 0, [])
    assert page.locator("figure svg").count() >= 6
    assert page.locator("script").count() == 1  # ours


@pytest.mark.parametrize(("width", "scheme"), [(390, "dark"), (1280, "light")])
def test_a_regression_report_is_sound(regressed, open_page, width, scheme):
    page = open_page(regressed.report.path, width, scheme)
    assert look(page) == ([], 0, [])
    assert page.locator("figure svg").count() >= 4


def with_many_classes(facts, k, seed=0):
    """The facts of a study with `k` classes of long names, and errors between some of them."""
    facts, rng = copy.deepcopy(facts), np.random.default_rng(seed)
    names = [f"class {n:03d} with quite a long name" for n in range(k)]
    counts = np.diag(rng.integers(5, 40, k)) + (rng.random((k, k)) < 0.03) * rng.integers(1, 6, (k, k))
    facts |= {"classes": names, "positive": None}
    test = facts["test"]
    for name in ("roc", "calibration", "at_threshold", "cost", "rare", "auc", "sections"):
        test.pop(name, None)
    facts.pop("threshold", None)
    test["confusion"] = counts.tolist()
    test["per_class"] = [
        {
            "class": name,
            "rows": int(row.sum()),
            "recall": row[n] / row.sum(),
            "precision": row[n] / counts[:, n].sum(),
            "f1": 0.5,
        }
        for n, (name, row) in enumerate(zip(names, counts))
    ]
    return Facts.read(facts), counts


@pytest.mark.parametrize(
    ("k", "width", "scheme"),
    [
        (21, 1280, "light"),
        (100, 390, "dark"),
        pytest.param(21, 390, "dark", marks=LONG),
        pytest.param(100, 1280, "light", marks=LONG),
    ],
)
def test_many_classes_can_be_read(classified, open_page, tmp_path, k, width, scheme):
    facts, counts = with_many_classes(classified[0].facts, k)
    text = render(facts)
    assert len(text) < 700_000
    (tmp_path / "report.html").write_text(text, encoding="utf-8")
    page = open_page(tmp_path / "report.html", width, scheme)
    assert look(page) == ([], 0, [])
    cut = page.evaluate(
        "[...document.querySelectorAll('#test .scroll')].filter(e => e.scrollWidth > e.clientWidth + 1).length"
    )
    assert cut == 0  # the tables of the test set are whole, on a phone too
    matrix = page.locator("#test figure svg").first
    assert matrix.locator("rect").count() == 1 + np.count_nonzero(counts)
    lines = [
        box["y"]
        for t in matrix.locator("text").all()
        if (box := t.bounding_box())["x"] < matrix.bounding_box()["x"] + 60
    ]
    assert np.diff(sorted(lines)).min() > 6  # names are one below another
    worst = min(facts.test.per_class, key=lambda c: c.recall)
    pair = np.unravel_index((counts - np.diag(np.diag(counts))).argmax(), counts.shape)
    tables = page.locator("#test table").all_inner_texts()
    assert worst.class_ in tables[0]
    assert all(facts.classes[n] in tables[1] for n in pair)
    assert f"other {k - 12} classes" in text


def test_the_answer_is_on_the_first_screen(classified, open_page):
    page = open_page(classified[0].report.path, 1280, "light")
    last = page.locator("dd").nth(4).bounding_box()
    assert last["y"] + last["height"] < 900


def test_the_button_switches_light_and_dark(classified, open_page):
    page = open_page(classified[0].report.path, 390, "light")
    before = page.evaluate("getComputedStyle(document.body).backgroundColor")
    page.click("#theme")
    assert page.evaluate("getComputedStyle(document.body).backgroundColor") != before
    assert page.low_contrast() == []
    page.click("#theme")
    assert page.evaluate("getComputedStyle(document.body).backgroundColor") == before


def test_data_never_becomes_markup(classified, regressed):
    text = classified[0].report.path.read_text(encoding="utf-8")
    assert "<script>alert" not in text
    assert "&lt;script&gt;alert" in text
    assert "<b>Rome" not in text
    for report in (text, regressed.report.path.read_text(encoding="utf-8")):
        outside = re.findall(r"(?:src|href|url)\s*[=(]\s*['\"]?(?:https?:)?//[^'\")\s]+", report)
        assert outside == []
        assert len(report) < 400_000


def test_a_page_where_nothing_was_tried_claims_nothing(classified):
    facts = copy.deepcopy(classified[0].facts)
    facts["race"]["entries"] = [e for e in facts["race"]["entries"] if e["family"] == "constant"]
    facts["chosen"] |= {"family": "constant", "label": "constant"}
    facts |= {"beats_constant": False, "importances": []}
    facts = Facts.read(facts)
    text = render(replace(facts, summary=summarise(facts)))
    assert "No model of" in text
    for claim in ("no better than a constant", "Where it stands", "What its error is made of", "Threshold and costs"):
        assert claim not in text
