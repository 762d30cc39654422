"""The report as Markdown: the sentences and tables of the page, its charts left out."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from typing import Any

from learnt.plots import number
from learnt.study.facts import Estimate, Facts, TestOfAmounts, TestOfClasses
from learnt.study.facts._sections import Sections
from learnt.study.report._card import model_card
from learnt.study.report._report import provenance, values_of
from learnt.study.report._sections import (
    amount_form,
    drift_told,
    effect_words,
    groups_told,
    rows_are,
    shown_groups,
    threshold_facts,
)
from learnt.study.report._words import interval_words, loss_words, share

MOST_COLUMNS = 60
MOST_IMPORTANCES = 15
MOST_CELLS = 4  # of a row that is shown
NAMES_OF_MARKUP = "\\`*_{}[]<>#|"

Form = Callable[[float], str]


def markdown(facts: Facts) -> str:
    """The report as a Markdown document, from the same numbers as the page.

    Parameters
    ----------
    facts : Facts
        What a finished study knows.

    Returns
    -------
    str
        Headings, sentences and tables; nothing from the data is read as markup.
    """
    assert facts.summary is not None
    parts = [f"# {_plain(facts.summary.headline)}", f"**{_plain(facts.summary.verdict)}**"]
    parts += [f"**{_plain(line.title)}.** {_plain(line.text)}" for line in facts.summary.lines]
    for title, body in _chapters(facts):
        written = [text for text in body if text]
        if written:
            parts += [f"## {title}", *written]
    parts.append(f"Made by learnt {facts.learnt}. Every number is in `study.json`.")
    return "\n\n".join(parts) + "\n"


def _chapters(facts: Facts) -> Iterable[tuple[str, list[str]]]:
    found = facts.sections or Sections()
    yield "The race", _race(facts)
    yield "Diagnosis", _diagnosis(facts)
    yield "On the test set", _test(facts)
    yield "Thresholds", _thresholds(found)
    yield "What the model uses", _importances(facts)
    yield "How predictions change", _effects(facts, found)
    yield "Rows to look at", _rows(facts, found)
    yield "Errors by group", _groups(facts, found)
    yield "The data", _data(facts, found)
    yield "Model card", _card(facts)
    yield "Provenance", [_table(["", ""], [[name, value] for name, value in provenance(facts)])]


# --- the steps of the study ---


def _race(facts: Facts) -> list[str]:
    head = ["Model", facts.race.loss_name, "Error" if facts.classify else "Mean abs. error", "Remark"]
    lines = []
    for entry in facts.race.finished:
        assert entry.loss is not None
        other = entry.error if facts.classify else entry.mae
        said = "–" if other is None else amount_form(facts.classify)(other)
        remark = "chosen" if entry.state == "chosen" else "no significant difference" if entry.tied else ""
        note = " · ".join(part for part in (remark, entry.note) if part)
        lines.append([entry.label, loss_words(facts.race.shown(entry.loss)), said, note])
    return [f"Chosen: {_plain(facts.chosen.label)} ({_plain(facts.choice.rule)}).", _table(head, lines, numbers=(1, 2))]


def _diagnosis(facts: Facts) -> list[str]:
    found = facts.diagnosis
    if found is None or not facts.has_model:
        return []
    advice = "\n".join(f"{k}. {_plain(text)}" for k, text in enumerate(found.treatments, 1))
    return [f"**{_plain(found.regime)}**: {_plain(found.finding)}", advice, _listed(found.evidence)]


def _test(facts: Facts) -> list[str]:
    test = facts.test
    if test is None:
        return [f"{facts.seal.test_rows:,} rows are sealed; `learnt evaluate` opens them."]
    lines: list[list[str]] = []
    if test.metric is not None:
        m = test.metric
        lines.append([m.words, loss_words(m.estimate), f"{loss_words(m.low)}–{loss_words(m.high)}"])
    if isinstance(test, TestOfAmounts):
        lines += [_figure("RMSE", test.rmse, number), _figure("Mean absolute error", test.mae, number)]
        lines += [_figure("R²", test.r2, number), ["RMSE of the constant", number(test.constant_rmse), ""]]
        return [_table(["Measure", "Value", "95% interval" if test.use == 1 else "Interval"], lines, numbers=(1, 2))]
    lines += [_figure("Error rate", test.error, share), ["Error of the constant", share(test.constant_error), ""]]
    lines.append(["Accuracy", share(test.accuracy), ""])
    lines += [_figure("Brier score", test.brier, number), ["Log loss", number(test.log_loss), ""]]
    if test.auc is not None:
        lines.append(["ROC area", f"{test.auc.estimate:.3f}", _span(test.auc.low, test.auc.high)])
    if facts.sections is not None and (pr := facts.sections.precision_recall) is not None:
        lines.append([f"PR area of {pr.positive}", f"{pr.area:.3f}", ""])
    body = [_table(["Measure", "Value", "95% interval" if test.use == 1 else "Interval"], lines, numbers=(1, 2))]
    return [*body, *_by_class(test, facts)]


def _by_class(test: TestOfClasses, facts: Facts) -> list[str]:
    dash = lambda value: "–" if value is None else share(value)  # noqa: E731
    rows = [
        [str(c.class_), f"{c.rows:,}", dash(c.recall), dash(c.precision), "–" if c.f1 is None else f"{c.f1:.3f}"]
        for c in test.per_class
    ]
    body = [_table(["Class", "Rows", "Recall", "Precision", "F1"], rows, numbers=(1, 2, 3, 4))]
    names = [str(c) for c in facts.classes or []]
    if len(names) <= 10:
        counts = [[f"{name} (true)", *(f"{n:,}" for n in line)] for name, line in zip(names, test.confusion)]
        columns = tuple(range(1, len(names) + 1))
        body += ["Confusion matrix:", _table(["", *(f"{name} (predicted)" for name in names)], counts, numbers=columns)]
    return body


def _importances(facts: Facts) -> list[str]:
    if not facts.importances:
        return []
    rows = [[f.column, number(f.loss_added), _span(f.low, f.high)] for f in facts.importances[:MOST_IMPORTANCES]]
    name = "Brier score" if facts.classify else "Squared error"
    return [_table(["Column", f"{name} added when shuffled", "Interval"], rows, numbers=(1, 2))]


# --- the sections ---


def _thresholds(found: Sections) -> list[str]:
    t = found.thresholds
    if t is None:
        return []
    head = ["Threshold", "Precision", "Recall", "F1", "Accuracy", "Cost per row", "TP", "FP", "FN", "TN"]
    lines = []
    for row in threshold_facts(t)["thresholds"]:
        precision = "–" if row.precision is None else share(row.precision)
        used = " (in use)" if row.threshold == t.used else ""
        shares = [share(row.threshold) + used, precision, share(row.recall), f"{row.f1:.3f}", share(row.accuracy)]
        lines.append([*shares, number(row.cost / t.rows), *(f"{n:,}" for n in (row.tp, row.fp, row.fn, row.tn))])
    told = (
        f"On {t.rows:,} development rows, predicted by models that had not seen them; positive: {_plain(t.positive)}."
    )
    return [told, _table(head, lines, numbers=tuple(range(10)))]


def _effects(facts: Facts, found: Sections) -> list[str]:
    form = amount_form(facts.classify)
    about = lambda e: f"probability of {e.about}" if facts.classify else f"predicted {facts.target}"  # noqa: E731
    return [_listed([f"{e.column}: the {about(e)} {effect_words(e, form)}." for e in found.effects])]


def _rows(facts: Facts, found: Sections) -> list[str]:
    if found.rows is None:
        return []
    body = [f"{_plain(rows_are(facts))} Rows are counted from 0."]
    for title, rows in (("The worst", found.rows.worst), ("Typical", found.rows.typical)):
        head = ["Row", facts.target, "Predicted", "Probability of the true class", "Cells", "Reasons"]
        lines = []
        for row in rows:
            given = "" if row.probability is None else share(row.probability)
            cells = "; ".join(f"{name} = {cell}" for name, cell in list(row.cells.items())[:MOST_CELLS])
            why = "; ".join(f"{r.column} = {r.cell} ({r.contribution:+.3g})" for r in row.reasons[:3])
            truth, said = (v if isinstance(v, str) else number(v) for v in (row.truth, row.predicted))
            lines.append([f"{row.row:,}", truth, said, given, cells, why])
        kept = [k for k in range(len(head)) if k < 3 or any(line[k] for line in lines)]
        whole = [[line[k] for k in kept] for line in [head, *lines]]
        body += [f"{title}:", _table(whole[0], whole[1:], numbers=(0,))]
    return body


def _groups(facts: Facts, found: Sections) -> list[str]:
    if found.groups is None or not found.groups.groups:
        return []
    form = amount_form(facts.classify)
    lines = [
        [g.column, g.group, f"{g.rows:,}", form(g.error), _interval(g, form), form(g.elsewhere), "differs" * g.flagged]
        for g in shown_groups(found.groups)
    ]
    head = ["Column", "Group", "Rows", found.groups.measure.capitalize(), "95% interval", "All others", "Remark"]
    return [_plain(groups_told(found.groups)), _table(head, lines, numbers=(2, 3, 4, 5))]


def _data(facts: Facts, found: Sections) -> list[str]:
    explains = {c.name: share(c.explains) for c in found.columns}
    lines = [
        [c["name"], c["kind"], share(c["missing"]), f"{c['unique']:,}", values_of(c), explains.get(c["name"], "")]
        for c in facts.data.columns[:MOST_COLUMNS]
    ]
    head = ["Column", "Holds", "Missing", "Different", "Values", "Alone explains"]
    aside = [f"{entry['column']}: {entry['reason']}" for entry in facts.data.set_aside]
    body = [f"{facts.data.rows_used:,} rows with a target.", _table(head, lines, numbers=(2, 3, 5))]
    body += ["Set aside:", _listed(aside)] if aside else []
    body += ["Noticed:", _listed(facts.data.notes)] if facts.data.notes else []
    return body + ([_plain(drift_told(found.drift, facts))] if found.drift is not None and found.drift.columns else [])


def _card(facts: Facts) -> list[str]:
    body = []
    for field in model_card(facts):
        said = " ".join(field.text) if field.text else f"(to be written by the owner: {field.ask})"
        body.append(f"**{_plain(field.title)}.** {_plain(said)}")
    return body


# --- markup ---


def _plain(text: Any) -> str:
    """Text in which nothing is markup and no line ends.

    >>> _plain("a|b <i>\\n*c*")
    'a\\\\|b \\\\<i\\\\> \\\\*c\\\\*'
    """
    return "".join(f"\\{c}" if c in NAMES_OF_MARKUP else c for c in " ".join(str(text).split()))


def _table(head: Sequence[str], rows: Sequence[Sequence[str]], numbers: tuple[int, ...] = ()) -> str:
    """A table; columns of numbers are set to the right."""
    if not rows:
        return ""
    rule = "|".join("---:" if k in numbers else "---" for k in range(len(head)))
    lines = ["| " + " | ".join(_plain(cell) for cell in row) + " |" for row in [head, *rows]]
    return "\n".join([lines[0], f"|{rule}|", *lines[1:]])


def _listed(texts: Iterable[str]) -> str:
    return "\n".join(f"- {_plain(text)}" for text in texts)


def _figure(name: str, found: Estimate, form: Form) -> list[str]:
    return [name, form(found.estimate), _interval(found, form)]


def _interval(found: Any, form: Form) -> str:
    return interval_words(found, form)


def _span(low: float | None, high: float | None) -> str:
    return "" if low is None or high is None else f"{number(low)}–{number(high)}"
