"""The further sections of a report: in the page, in a browser, as Markdown, and in study.json."""

import json
import re
from dataclasses import replace

import numpy as np
import pytest

from learnt.cli._run import run
from learnt.study import StudyError
from learnt.study.facts import Facts, Sections
from learnt.study.report._card import model_card
from learnt.study.report._markdown import markdown
from learnt.study.report._report import render


@pytest.fixture(scope="module")
def facts(classified):
    return Facts.of_folder(classified[0].folder)


@pytest.fixture(scope="module")
def of_amounts(regressed):
    return Facts.of_folder(regressed.folder)


def test_a_study_with_time_has_every_section(facts, of_amounts):
    found = facts.sections
    assert found.columns
    assert found.finishers
    assert found.effects
    assert found.precision_recall.rows == facts.test.rows
    assert found.thresholds.used == facts.decision.threshold
    assert found.groups.rows == facts.test.rows
    assert len(found.rows.worst) == 5
    assert found.drift.test_rows == facts.seal.test_rows
    amounts = of_amounts.sections
    assert amounts.thresholds is None
    assert amounts.precision_recall is None
    assert amounts.effects
    assert amounts.groups.measure == "mean absolute error"
    for study in (facts, of_amounts):
        assert Facts.read(json.loads(json.dumps(study.plain()))) == study  # all of it survives study.json


def test_figures_of_the_sections_are_those_of_the_test_set(facts):
    """The same rows, counted by other code."""
    now = next(c for c in facts.test.per_class if c.class_ == facts.positive)
    at = np.array([facts.sections.precision_recall.recall, facts.sections.precision_recall.precision])
    assert np.abs(at - np.array([[now.recall], [now.precision]])).sum(axis=0).min() < 1e-9
    by_column = {}
    for g in facts.sections.groups.groups:
        by_column.setdefault(g.column, []).append(g)
    whole = [groups for groups in by_column.values() if sum(g.rows for g in groups) == facts.test.rows]
    assert whole
    for groups in whole:  # the groups of a column are all rows
        errors = sum(g.rows * g.error for g in groups)
        assert errors == pytest.approx(facts.test.rows * facts.test.error_at_threshold)


@pytest.mark.parametrize("which", ["facts", "of_amounts"])
def test_reasons_add_up_to_the_predictions(which, request):
    """What is left of a prediction without them is the same in every row: the baseline. The tables have few columns."""
    found = request.getfixturevalue(which)
    shown = (*found.sections.rows.worst, *found.sections.rows.typical)
    left = []
    for row in shown:
        assert row.reasons
        sizes = [abs(r.contribution) for r in row.reasons]
        assert sizes == sorted(sizes, reverse=True)
        assert all(row.cells[r.column] == r.cell for r in row.reasons)
        value = row.predicted
        if found.classify:
            p = row.probability if row.truth == found.positive else 1 - row.probability
            value = p if found.sections.rows.link == "probability" else np.log(p / (1 - p))
        left.append(value - sum(r.contribution for r in row.reasons))
    assert np.ptp(left) < 1e-6 * max(1.0, np.abs(left).max())


def test_sealed_rows_take_no_part(sealed):
    found = Facts.of_folder(sealed)
    assert found.test is None
    assert found.sections.precision_recall is None
    assert found.sections.drift is None
    assert found.sections.groups.rows <= found.seal.development_rows
    assert found.sections.thresholds.rows <= found.seal.development_rows
    assert "None yet" in markdown(found)


# --- the page


def test_the_slider_answers_to_keys(facts, classified, open_page):
    page = open_page(classified[0].report.path, 390, "light")
    page.locator("#threshold summary").first.click()
    table = {row.threshold: row for row in facts.sections.thresholds.table}
    places = sorted(table)
    cut = page.locator("#cut")
    start = places.index(facts.decision.threshold)
    assert int(cut.input_value()) == start
    assert "the threshold in use" in cut.get_attribute("aria-valuetext")
    cut.focus()
    cut.press("ArrowRight")
    row = table[places[start + 1]]
    shown = {name: page.locator(f'#slider [data-is="{name}"]').inner_text() for name in ("tp", "fp", "fn", "tn", "f1")}
    assert shown == {"tp": f"{row.tp}", "fp": f"{row.fp}", "fn": f"{row.fn}", "tn": f"{row.tn}", "f1": f"{row.f1:.3f}"}
    assert "the threshold in use" not in cut.get_attribute("aria-valuetext")
    page.locator("#cost-fp").fill("1")
    page.locator("#cost-fn").fill("9")
    page.locator("#cheapest").click()
    chosen = table[places[int(cut.input_value())]]
    assert chosen.fp + 9 * chosen.fn == min(r.fp + 9 * r.fn for r in table.values())
    page.locator("#in-use").click()
    assert int(cut.input_value()) == start
    assert page.trouble == []


def test_without_script_the_table_says_it(facts, tmp_path, open_page):
    text = re.sub(r"<script>.*</script>", "", render(facts), flags=re.S)
    (tmp_path / "report.html").write_text(text, encoding="utf-8")
    page = open_page(tmp_path / "report.html", 390, "dark")
    page.locator("#threshold summary").first.click()
    assert not page.locator("#slider").is_visible()
    used = page.locator("#threshold tr.chosen").inner_text().split()
    assert f"{facts.sections.thresholds.now.tp}" in used


def test_wide_tables_say_that_there_is_more(classified, open_page):
    page = open_page(classified[0].report.path, 390, "light")
    wide = page.locator("#race .scroll")
    assert "wider" in wide.get_attribute("class")
    assert wide.get_attribute("tabindex") == "0"
    assert "sideways" in wide.get_attribute("aria-label")
    page.set_viewport_size({"width": 1280, "height": 900})
    page.wait_for_function("!document.querySelector('#race .scroll').classList.contains('wider')")
    assert wide.get_attribute("tabindex") is None


def test_a_dark_page_is_printed_on_white(classified, open_page):
    page = open_page(classified[0].report.path, 1280, "dark")
    page.set_viewport_size({"width": 718, "height": 1000})  # A4 but for its margins
    page.emulate_media(media="print", color_scheme="dark")
    page.evaluate("dispatchEvent(new Event('beforeprint'))")
    assert page.evaluate("document.documentElement.scrollWidth") == 718
    assert page.locator("details:not([open])").count() == 0
    assert page.low_contrast() == []
    assert page.evaluate("getComputedStyle(document.body).backgroundColor") == "rgb(255, 255, 255)"
    assert not page.locator("#slider").is_visible()


def test_charts_are_named_for_screen_readers(classified, open_page):
    page = open_page(classified[0].report.path, 1280, "light")
    charts = page.locator("svg").all()
    assert len(charts) > 15
    assert all(c.get_attribute("role") == "img" and len(c.get_attribute("aria-label")) > 10 for c in charts)


# --- Markdown


@pytest.mark.parametrize("which", ["facts", "of_amounts"])
def test_tables_of_the_markdown_are_whole_and_data_is_not_markup(which, request):
    found = request.getfixturevalue(which)
    text = markdown(found)
    width, tables = None, 0
    for line in text.splitlines():
        cells = len(re.findall(r"(?<!\\)\|", line))
        if line.startswith("|"):
            assert width in (None, cells), line
            tables += width is None
            width = cells
        else:
            assert not cells
            width = None
    assert tables >= 8
    assert not re.findall(r"(?<!\\)<", text)
    for title in ("The race", "On the test set", "How predictions change", "Errors by group", "The data", "Model card"):
        assert f"\n## {title}\n" in text


def test_a_report_is_saved_as_markdown(classified, tmp_path, capsys):
    report = classified[0].report
    assert report.save(tmp_path / "r.md").read_text(encoding="utf-8") == markdown(Facts.of_folder(report.path.parent))
    with pytest.raises(StudyError, match=r"saved as \.html or \.md"):
        report.save(tmp_path / "r.pdf")
    assert run(["study", "t.csv", "--target", "y", "--format", "pdf"]) == 2
    assert "--format is html or md, not pdf" in capsys.readouterr().err


def test_every_figure_of_the_test_set_is_in_the_markdown(facts):
    text = markdown(facts)
    for row in facts.sections.rows.worst:
        assert f"| {row.row:,} |" in text
    assert f"{facts.test.auc.estimate:.3f}" in text
    assert f"{facts.sections.precision_recall.area:.3f}" in text


# --- the model card


def test_the_card_says_what_was_measured_and_leaves_the_rest_to_its_owner(facts, of_amounts):
    for found in (facts, of_amounts):
        card = {field.title: field for field in model_card(found)}
        blank = {title for title, field in card.items() if not field.text}
        assert blank == {"Owner and contact", "Intended use", "Uses it is not for", "Harms and fairness"}
        assert all(card[title].ask for title in blank)
        assert f"{found.test.rows:,} rows" in " ".join(card["Limits"].text)


def test_the_card_names_groups_whose_errors_are_larger(facts):
    first = facts.sections.groups.groups[0]
    worse = replace(first, error=0.9, elsewhere=0.1, flagged=True)
    sections = Sections(groups=replace(facts.sections.groups, groups=(worse,)))
    card = {field.title: field.text for field in model_card(replace(facts, sections=sections))}
    assert any(first.group in line and "90.0%" in line for line in card["Limits"])
    assert "1 of the 1 groups" in markdown(replace(facts, sections=sections))


def test_a_page_without_sections_is_whole(facts):
    for found in (None, Sections()):
        text = render(replace(facts, sections=found))
        assert "Model card" in text
        assert 'id="rows"' not in text
        assert markdown(replace(facts, sections=found))
