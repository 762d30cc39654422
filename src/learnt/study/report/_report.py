"""Step 7, the report: one self-contained page, made from the numbers of the study."""

from __future__ import annotations

import os
import re
from collections.abc import Callable, Sequence
from dataclasses import replace
from functools import cache, partial
from importlib.resources import files
from pathlib import Path
from types import CodeType
from typing import Any

import numpy as np

from learnt import plots
from learnt.plots import Row, number, percent
from learnt.study.facts import Diagnosis, Facts, Part, Race, Racer, Test, TestOfClasses
from learnt.study.report._sections import amount_form, further_facts, reasons_chart
from learnt.study.report._words import (
    interval_words,
    loss_words,
    model_words,
    ordinal,
    race_words,
    share,
    simplicity_words,
)

MOST_COLUMNS = 60
MOST_IMPORTANCES = 15
MOST_RACERS = 8
MOST_CLASSES = 150  # of a confusion matrix that can still be seen
MANY_CLASSES = 20  # of more, a table shows the worst
WORST = 12
_INCLUDED = re.compile(r'\{% include "sections/([a-z.]+)" %\}')
_DARK = """
  --lt-ink: #e7eaf0; --lt-muted: #a2acbb; --lt-grid: #343d4b; --lt-accent: #6cbcd6; --lt-second: #eb9a6c;
  --lt-soft: #26505f; --lt-paper: #1a2029; --page: #12161d; --line: #2b3340; --good: #8ed3ab; --bad: #f0a88f;
  --good-back: #1b3629; --bad-back: #44261c; color-scheme: dark;
"""


def write_report(path: Path, facts: Facts, points: tuple[np.ndarray, np.ndarray] | None) -> None:
    """Write the page in one step; `points` are the observed and predicted amounts of a regression."""
    text = render(facts, points, folder=path.parent.name)
    temporary = path.with_suffix(".tmp")
    temporary.write_text(text, encoding="utf-8")
    os.replace(temporary, path)


@cache
def compiled_page() -> CodeType:
    """The template, compiled; most of what writing a report takes, and done while models race."""
    folder = files("learnt.study") / "templates"
    source = (folder / "report.html").read_text(encoding="utf-8")
    parts = {name: (folder / "sections" / name).read_text(encoding="utf-8") for name in _INCLUDED.findall(source)}
    whole = _INCLUDED.sub(lambda found: parts[found[1]].rstrip("\n"), source)  # one piece of code, without a loader
    return _environment(True, float).compile(whole, "report.html")


def _environment(classify: bool, shown: Callable[[float], float]) -> Any:
    """The template's filters; some write numbers as the study's losses are written."""
    from jinja2 import Environment
    from markupsafe import Markup

    environment = Environment(autoescape=True, trim_blocks=True)
    scale = _scale(classify)

    def loss(value: float) -> str:
        return f"{value:.3f}" if classify else number(float(scale(value)))

    environment.filters |= {
        "raced": lambda value: loss_words(shown(value)),
        "percent": share,
        "number": number,
        "count": lambda n: f"{n:,}",
        "interval": interval_words,
        "interval_number": partial(interval_words, form=number),
        "loss": loss,
        "interval_loss": partial(interval_words, form=loss),
        "measure": loss_words,
        "measures": lambda part: f"{loss_words(part.low)}–{loss_words(part.high)}",
        "seconds": _seconds,
        "bytes": _bytes,
        "amount": amount_form(classify),
        "interval_amount": partial(interval_words, form=amount_form(classify)),
        "cell": lambda value: value if isinstance(value, str) else number(value),
        "reasons": lambda row: Markup(str(reasons_chart(row))),
    }
    return environment


def render(facts: Facts, points: tuple[np.ndarray, np.ndarray] | None = None, folder: str = "FOLDER") -> str:
    """The page as text; everything that comes from data is escaped by the template."""
    from jinja2 import Template
    from markupsafe import Markup

    template = Template.from_code(_environment(facts.classify, facts.race.shown), compiled_page(), {})
    if not facts.has_model:
        facts = replace(facts, diagnosis=None)  # the learning curve of a constant is meaningless
    further = further_facts(facts)
    drawn = _charts(facts, points) | further.pop("charts")
    charts = {name: Markup(str(chart)) for name, chart in drawn.items() if chart is not None}
    finished, test = facts.race.finished, facts.test
    asked = None if test is None or test.metric is None else test.metric.name
    return template.render(
        facts=facts,
        folder=folder,
        charts=charts,
        dark=Markup(_DARK),
        classify=facts.classify,
        loss_name=facts.race.loss_name,
        curve_loss=_curve_loss(facts),
        use=ordinal(1 if test is None else test.use or 1),
        has_model=facts.has_model,
        finished=finished,
        unfinished=_unfinished(facts.race.entries),
        ties=_ties(finished),
        unclear=sum(e.unclear for e in finished),
        has_auc=asked != "roc_auc_score" and any(e.auc is not None for e in finished),
        race_words=race_words(facts),
        simplicity=simplicity_words(facts),
        columns=[{**c, "holds": values_of(c)} for c in facts.data.columns[:MOST_COLUMNS]],
        shown_importances=MOST_IMPORTANCES,
        **_by_class(test),
        provenance=provenance(facts),
        **further,
    )


def _by_class(test: Test | None) -> dict[str, Any]:
    """All classes, or the worst of many, a note on the others, and which are confused with which."""
    classes = test.per_class if isinstance(test, TestOfClasses) else ()
    if not isinstance(test, TestOfClasses) or len(classes) <= MANY_CLASSES:
        return {"by_class": classes, "other_classes": None, "confused": []}
    measured = sorted((c for c in classes if c.recall is not None), key=lambda c: c.recall or 0.0)
    worst, others = measured[:WORST], measured[WORST:]
    counts = np.array(test.confusion)
    rows = np.maximum(counts.sum(axis=1), 1)
    pairs = [(int(counts[i, j]), i, j) for i, j in np.argwhere(counts > 0) if i != j]
    pairs.sort(key=lambda pair: (-pair[0], pair[1], pair[2]))
    confused = [
        {"class": classes[i].class_, "called": classes[j].class_, "rows": count, "share": count / rows[i]}
        for count, i, j in pairs[:WORST]
    ]
    ends = {"count": len(others), "low": others[0].recall, "high": others[-1].recall} if others else None
    return {"by_class": worst, "other_classes": ends, "confused": confused}


def _ties(finished: list[Racer]) -> str:
    """Models not significantly different from the chosen one, a few of them by name."""
    labels = [e.label for e in finished if e.tied]
    return "; ".join(labels[:3]) + (f"; and {len(labels) - 3} more" if len(labels) > 3 else "")


def _unfinished(entries: Sequence[Racer]) -> list[tuple[str, str]]:
    """Models that did not finish, settings of one family that ended alike in one line."""
    outcomes: dict[tuple[str, str], list[str]] = {}
    for entry in entries:
        if not entry.finished:
            said = entry.note if entry.state == "behind" else f"{entry.state}: {entry.note}"
            outcomes.setdefault((entry.family, said), []).append(entry.label)
    finished = {entry.family for entry in entries if entry.finished}
    named: list[tuple[str, str]] = []
    for (family, said), labels in outcomes.items():
        other = "other " if family in finished else ""
        named.append((labels[0] if len(labels) == 1 else f"{family}, {len(labels)} {other}settings", said))
        finished.add(family)
    return named


def _curve_loss(facts: Facts) -> str:
    """Of the loss of learning curve and importances, which falls into noise, bias and variance."""
    return "Brier score" if facts.classify else "RMSE"


def _scale(classify: bool) -> Callable[[Any], Any]:
    """Losses as people read them: squared errors by their root, which has the unit of the target."""
    return (lambda v: v) if classify else (lambda v: np.sqrt(np.maximum(v, 0.0)))


def _charts(facts: Facts, points: tuple | None) -> dict[str, Any]:
    test, scale = facts.test, _scale(facts.classify)
    charts: dict[str, Any] = {"race": _race_chart(facts.race, facts.classify)}
    if facts.diagnosis is not None:
        charts |= _diagnosis_charts(facts.diagnosis, _curve_loss(facts), scale)
    if test is None:
        return charts | _cost_chart(facts)
    assert facts.bracket is not None
    if isinstance(test, TestOfClasses):
        now, constant, form = test.error, test.constant_error, share
    else:
        now, constant, form = test.rmse, test.constant_rmse, number
    best = facts.bracket
    shown = (best.lower, best.upper) if best.lower > 0 or best.upper < now.estimate else None
    rare = test.rare if isinstance(test, TestOfClasses) else None
    if facts.has_model and rare is None:  # the error rate means little for a rare class
        charts["ruler"] = plots.ruler(
            now.estimate, (now.low, now.high), constant=constant, bracket=shown, name="this model", form=form
        )
    elif facts.has_model and rare is not None and rare.recall is not None:
        parts = [("false alarms", rare.false_alarms), ("missed", rare.missed), ("found", rare.found)]
        charts["rare"] = plots.decomposition(parts, title=f"The rows of {rare.class_}", form="{:,}".format)
    if isinstance(test, TestOfClasses):
        charts |= _class_charts(facts, test)
    elif points is not None:
        observed, predicted = points
        charts["fit"] = plots.density(
            predicted, observed, x_label="predicted", y_label="observed", title="Predicted and observed", diagonal=True
        )
        charts["residuals"] = plots.density(
            predicted, observed - predicted, x_label="predicted", y_label="error", title="Errors", zero=True
        )
    if facts.importances:
        top = facts.importances[:MOST_IMPORTANCES]
        base = 0.0 if isinstance(test, TestOfClasses) else test.rmse.estimate**2
        grown = [[float(scale(base + v) - scale(base)) for v in (f.loss_added, f.low, f.high)] for f in top]
        rows = [Row(f.column, value, low, high) for f, (value, low, high) in zip(top, grown)]
        charts["importances"] = plots.importances(rows, x_label=f"{_curve_loss(facts)} added when shuffled")
    return charts


def _race_chart(race: Race, classify: bool) -> Any:
    """The best of each family, then the best of the rest, so that every family is seen."""
    finished = race.finished
    seen: set[str] = set()
    firsts = [e for e in finished if e.family not in seen and not seen.add(e.family)]  # type: ignore[func-returns-value]
    chosen = [e for e in finished if e.state == "chosen"]
    wanted = {e.id for e in firsts + chosen}
    for entry in finished:
        if len(wanted) >= MOST_RACERS:
            break
        wanted.add(entry.id)
    rows = []
    for e in finished:
        if e.id in wanted:
            loss, *ends = (race.shown(v) for v in (e.loss, e.low, e.high) if v is not None)
            rows.append(Row(e.label, loss, min(ends), max(ends), e.state == "chosen"))
    constant = next((race.shown(e.loss) for e in finished if e.family == "constant" and e.loss is not None), None)
    form = "{:.3f}".format if classify else number
    return plots.race(rows, x_label=race.loss_name, reference=constant, form=form)


def _diagnosis_charts(diagnosis: Diagnosis, loss: str, scale: Callable[[Any], Any]) -> dict[str, Any]:
    curve, parts = diagnosis.curve, diagnosis.parts
    train, valid = scale(np.array(curve.train)), scale(np.array(curve.valid))
    together = parts.noise.low == 0 and parts.bias.low == 0  # the two could not be separated
    span = partial(_span, total=diagnosis.loss)
    if together:
        either = Part(parts.noise.value + parts.bias.value, diagnosis.loss - parts.variance.high, diagnosis.loss)
        values = [(span("noise or bias", either), either.value), ("", 0.0)]
    else:
        values = [(span("noise", parts.noise), parts.noise.value), (span("bias", parts.bias), parts.bias.value)]
    values.append((span("variance", parts.variance), parts.variance.value))
    charts = {"parts": plots.decomposition(values, form=lambda value: "")}
    if len(curve.sizes) > 1:
        charts["curve"] = plots.learning_curve(
            curve.sizes,
            train.mean(axis=1),
            valid.mean(axis=1),
            train_spread=train.std(axis=1),
            valid_spread=valid.std(axis=1),
            floor=None if together else float(scale(parts.noise.value)),
            constant=float(scale(diagnosis.constant)),
            loss=loss,
        )
    return charts


def _span(name: str, part: Part, total: float) -> str:
    """A part of the loss between its bounds, as the evidence says it.

    >>> _span("variance", Part(0.1, 0.0, 0.3), 1.0)
    'variance 0–30%'
    """
    low, high = (100 * min(max(v / total, 0.0), 1.0) if total > 0 else 0.0 for v in (part.low, part.high))
    return f"{name} {low:.0f}–{high:.0f}%"


def _class_charts(facts: Facts, test: TestOfClasses) -> dict[str, Any]:
    charts: dict[str, Any] = {}
    if len(test.per_class) <= MOST_CLASSES:
        charts["confusion"] = plots.confusion(test.confusion, [str(c) for c in facts.classes or []])
    if test.roc is not None and test.auc is not None and test.at_threshold is not None:
        point = (test.at_threshold.fpr, test.at_threshold.tpr)
        charts["roc"] = plots.roc(test.roc.fpr, test.roc.tpr, test.auc.estimate, point=point)
    if test.calibration is not None:
        c = test.calibration
        charts["calibration"] = plots.calibration(
            c.predicted, c.observed, c.low, c.high, c.rows, name=str(facts.positive)
        )
    return charts | _cost_chart(facts)


def _cost_chart(facts: Facts) -> dict[str, Any]:
    """The threshold that is used, or the one with the fewest errors where one half decides."""
    t = facts.threshold
    if t is None or not facts.has_model:
        return {}
    labels = {"lowest cost": "cost per row", "fewest errors": "error rate"}
    chart = plots.cost_curve(
        t.curve.threshold,
        t.curve.cost,
        chosen=t.threshold,
        interval=(t.low, t.high),
        label=labels.get(t.by, t.by.removeprefix("best ")),
        y_format=percent if t.by == "fewest errors" else number,
        word="in use" if t.used else t.by,
    )
    return {"cost": chart}


def values_of(column: dict[str, Any]) -> str:
    """A few words on what a column holds."""
    if column["kind"] == "image":
        return f"{column['reason']}, {number(column['min'])} to {number(column['max'])}"
    if column.get("mean") is not None:
        return f"{number(column['min'])} to {number(column['max'])}, mean {number(column['mean'])}"
    if column.get("min") is not None:
        low, high = str(column["min"]), str(column["max"])
        if low.startswith("1970-01-01") and high.startswith("1970-01-01"):  # times of day, without a day
            low, high = (end.removeprefix("1970-01-01").strip() or "00:00:00" for end in (low, high))
        return f"{low} to {high}"
    if column["kind"] in ("identifier", "text"):
        return column["reason"]
    top = column.get("top") or []
    return ", ".join(f"{str(value)[:30]} ({count:,})" for value, count in top[:4])


def provenance(facts: Facts) -> list[tuple[str, str]]:
    seal, settings, model = facts.seal, facts.settings, facts.model
    used = "sealed" if facts.test is None else f"{ordinal(facts.test.use or 1)} use"
    rows = [
        ("Table", f"{facts.table}, {facts.data.rows:,} rows, sha256 {facts.data.hash[:16]}…"),
        ("Test set", f"{seal.how}; fingerprint {seal.hash[:16]}…; {used}"),
        ("Cross-validation", f"{facts.race.folds} folds of the other {seal.development_rows:,} rows"),
        ("Choice", f"{facts.choice.rule}; differences by the corrected resampled t-test"),
        ("Model", model_words(facts)),
        ("Model file", f"sha256 {(model.sha256 or '')[:16]}…"),
        ("Seed", str(settings["seed"])),
        ("Budget", f"{settings['budget']:g} s"),
        ("learnt", facts.learnt),
    ]
    if facts.run is not None:
        rows.append(("Finished", facts.run.finished))
        if "predict one row" in facts.run.seconds:
            rows.append(("One row predicted in", _seconds(facts.run.seconds["predict one row"])))
    return rows


def _seconds(seconds: float) -> str:
    if seconds < 1e-3:
        return f"{1e6 * seconds:.0f} µs"
    if seconds < 1:
        return f"{1e3 * seconds:.0f} ms" if seconds >= 0.01 else f"{1e3 * seconds:.1f} ms"
    return f"{seconds:.1f} s" if seconds < 90 else f"{seconds / 60:.1f} min"


def _bytes(size: float) -> str:
    for unit in ("bytes", "KB", "MB"):
        if size < 1000:
            return f"{size:.0f} {unit}" if unit == "bytes" else f"{size:.1f} {unit}"
        size = size / 1000
    return f"{size:.1f} GB"
