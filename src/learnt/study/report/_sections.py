"""The further sections of the page: their charts, and the few sentences that are made of their numbers."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np

from learnt import plots
from learnt.plots import Row, number
from learnt.study._counting import counted
from learnt.study.facts import Facts, TestOfClasses
from learnt.study.facts._sections import (
    AtThreshold,
    ColumnProfile,
    Drift,
    Effect,
    GroupError,
    GroupErrors,
    Sections,
    ShownRow,
    Thresholds,
)
from learnt.study.report._card import model_card
from learnt.study.report._words import share

MOST_COLUMNS = 24  # charts of columns
MOST_GROUPS = 16  # beside those that differ
MOST_IN_CHART = 10
MOST_DRIFTED = 12
TABLE_STEPS = 11  # lines of the table of thresholds
NEAR = 0.01  # of the best loss: as good

Form = Callable[[float], str]


def amount_form(classify: bool) -> Form:
    """How predictions are written: shares of classes, or amounts."""
    return share if classify else number


def _axis_form(classify: bool) -> Form:
    """The same on axes, where digits that say nothing are left out."""
    return plots.percent if classify else number


def further_facts(facts: Facts) -> dict[str, Any]:
    """What the templates of the sections need: charts, sentences, and rows of tables."""
    found, classify = facts.sections or Sections(), facts.classify
    form = amount_form(classify)
    more: dict[str, Any] = {"card": model_card(facts)}
    charts: dict[str, Any] = {}
    if len(found.finishers) > 2:
        losses = [facts.race.shown(f.loss) for f in found.finishers]
        greater = bool(facts.race.greater)
        charts["time"] = plots.time_to_loss(
            [f.seconds for f in found.finishers],
            losses,
            [f.label for f in found.finishers],
            loss=facts.race.loss_name,
            greater=greater,
        )
        more["best"] = _first_as_good(found, losses, greater)
        more["last"] = found.finishers[-1].seconds
    if (pr := found.precision_recall) is not None:
        point = _point(facts)
        charts["pr"] = plots.precision_recall(
            pr.recall, pr.precision, pr.area, share=pr.chance, point=point, name=pr.positive
        )
    if (c := found.calibration) is not None:
        after, before = c.after, c.before
        charts["reliability"] = plots.calibration(
            after.predicted,
            after.observed,
            after.low,
            after.high,
            after.rows,
            name=c.about,
            before=(before.predicted, before.observed),
        )
    if found.thresholds is not None:
        more |= threshold_facts(found.thresholds)
    if found.groups is not None and found.groups.groups:
        shown = shown_groups(found.groups)
        charts["groups"] = plots.groups(
            [Row(f"{g.column}: {g.group}", g.error, g.low, g.high, g.flagged) for g in shown[:MOST_IN_CHART]],
            overall=found.groups.overall,
            x_label=found.groups.measure,
            form=_axis_form(classify),
        )
        others = len(found.groups.groups) - len(shown)
        more["other_groups"] = f"{counted(others, 'more group')} {'is' if others == 1 else 'are'}"
        more |= {"groups": shown, "group_columns": len({g.column for g in found.groups.groups})}
        more["groups_told"], more["groups_said"] = groups_told(found.groups), _groups_said(found.groups)
    if found.effects:
        more["effects"] = [_effect(e, facts, form) for e in found.effects]
    if found.columns:
        order = sorted(found.columns, key=lambda c: -c.explains)[:MOST_COLUMNS]
        more["columns"] = [{"profile": c, "chart": _markup(_column(c, facts, _axis_form(classify)))} for c in order]
        more["columns_show"] = columns_show(facts)
    if found.drift is not None:
        more["drift_told"] = drift_told(found.drift, facts)
        more["drift"] = found.drift.flagged[:MOST_DRIFTED]
    if found.rows is not None:
        more["rows_are"] = rows_are(facts)
        more["reasons_are"] = reasons_are(facts)
    return {"more": more, "charts": charts, "sections": found}


def _markup(chart: Any) -> Any:
    from markupsafe import Markup

    return Markup(str(chart))


def reasons_chart(row: ShownRow) -> Any:
    """What moved the prediction of a row."""
    bars = [Row(f"{r.column} = {r.cell}", r.contribution) for r in row.reasons]
    return plots.reasons(bars, x_label="the prediction", title=f"Reasons for row {row.row}")


# --- race, thresholds ---


def _first_as_good(found: Sections, losses: list[float], greater: bool) -> Any:
    """The first that came within 1% of the best."""
    best = max(losses) if greater else min(losses)
    near = [abs(loss - best) <= NEAR * abs(best) for loss in losses]
    return found.finishers[near.index(True)]


def _point(facts: Facts) -> tuple[float, float] | None:
    """Recall and precision of the threshold in use on the test rows, both of the positive class."""
    classes = facts.test.per_class if isinstance(facts.test, TestOfClasses) else ()
    own = next((c for c in classes if c.class_ == facts.positive), None)
    if own is None or own.precision is None or own.recall is None:
        return None
    return own.recall, own.precision


def threshold_facts(found: Thresholds) -> dict[str, Any]:
    """The slider's rows, where it stands, and a few lines for a table."""
    places = [row.threshold for row in found.table]
    in_use = int(np.abs(np.array(places) - found.used).argmin())
    wanted = [int(np.abs(np.array(places) - t).argmin()) for t in np.linspace(0.0, 1.0, TABLE_STEPS)]
    shown: list[AtThreshold] = [found.table[k] for k in sorted({*wanted, in_use})]
    slider = [[row.threshold, row.tp, row.fp, row.fn, row.tn] for row in found.table]
    return {"slider": slider, "in_use": in_use, "thresholds": shown}


# --- groups, columns, rows ---


def shown_groups(found: GroupErrors) -> list[GroupError]:
    """The groups that differ, then the others whose errors are farthest from the others' for their size."""
    rest = sorted((g for g in found.groups if not g.flagged), key=lambda g: (g.p_value, -abs(g.error - g.elsewhere)))
    return [*found.flagged, *rest[:MOST_GROUPS]]


def groups_told(found: GroupErrors) -> str:
    """Whether any group differs, and what that is worth."""
    count, flagged = len(found.groups), len(found.flagged)
    chance = f"at a level of {share(found.level)} for all of them together (Holm)"
    if not flagged:
        return f"None of the {count} groups has an error that differs from that of all other rows, {chance}."
    first = found.flagged[0]
    form = share if found.measure == "error rate" else number
    most = f"{first.column}: {first.group}, {form(first.error)} against {form(first.elsewhere)} elsewhere"
    verb = "has an error that differs from that" if flagged == 1 else "have errors that differ from those"
    return f"{flagged} of the {count} groups {verb} of all other rows, {chance}; most clearly {most}."


def _groups_said(found: GroupErrors) -> str:
    flagged = len(found.flagged)
    return f"{flagged or 'none'} of {len(found.groups)} {'differs' if flagged <= 1 else 'differ'} from the other rows"


def columns_show(facts: Facts) -> str:
    """What the dots of the charts of columns are."""
    if not facts.classify:
        return f"the mean of {facts.target}"
    if facts.positive is not None:
        return f"the share of “{facts.positive}”"
    return "the share of the class that differs most"


def _column(profile: ColumnProfile, facts: Facts, form: Form) -> Any:
    labels, rows = [p.label for p in profile.parts], [p.rows for p in profile.parts]
    ends: list[Any] = [[getattr(p, end) for p in profile.parts] for end in ("target", "low", "high")]
    about = f"share of {profile.about}" if facts.classify else f"mean {facts.target}"
    options: dict[str, Any] = {"ordered": profile.ordered, "overall": profile.overall, "about": about, "form": form}
    return plots.distribution(labels, rows, *ends, title=profile.name, **options)


def _effect(effect: Effect, facts: Facts, form: Form) -> dict[str, Any]:
    label = f"probability of {effect.about}" if facts.classify else f"predicted {facts.target}"
    ends = (effect.mean, effect.low, effect.high)
    chart = plots.partial_dependence(
        effect.values, *ends, place=effect.place, y_label=label, title=effect.column, form=_axis_form(facts.classify)
    )
    return {"effect": effect, "chart": _markup(chart), "words": f"the {label} {effect_words(effect, form)}"}


def effect_words(effect: Effect, form: Form) -> str:
    """The direction, and between which values the mean prediction moves."""
    low, high = form(min(effect.mean)), form(max(effect.mean))
    if effect.direction == "hardly changes":
        return f"{effect.direction} ({low} to {high})"
    if effect.direction == "falls":
        return f"falls from {high} to {low}"
    if effect.direction == "rises":
        return f"rises from {low} to {high}"
    if effect.place is None:
        return f"is {effect.direction} ({high}) and lowest for {effect.values[int(np.argmin(effect.mean))]} ({low})"
    return f"{effect.direction} between {low} and {high}"


def drift_told(found: Drift, facts: Facts) -> str:
    """How many columns differ between development and test rows."""
    count, flagged = len(found.columns), len(found.flagged)
    level = f"at a level of {share(found.level)} for all of them together (Holm)"
    if not flagged:
        few = "the one column" if count == 1 else f"any of the {count} columns"
        time = f", {facts.data.time} aside," if facts.data.time else ""
        return f"No difference was found in {few}{time} between development and test rows, {level}."
    verb = "is" if flagged == 1 else "are"
    told = f"{flagged} of {count} columns {verb} distributed otherwise in the test rows, {level}."
    why = " The test rows are the latest ones, so rows change in time and errors may grow." if facts.data.time else ""
    return told + why + " A shift is the greatest gap of cumulative shares, or the share of rows with other labels."


def rows_are(facts: Facts) -> str:
    """Which rows are shown."""
    measure = "squared error"
    if facts.classify:
        measure = "Brier score, a half of the squared distance of the probabilities from the truth"
    which = "development rows, predicted by models that had not seen them" if facts.test is None else "test rows"
    return f"These are {which}; the worst have the largest {measure}."


def reasons_are(facts: Facts) -> str:
    """What the bars of reasons measure."""
    link = facts.sections.rows.link if facts.sections is not None and facts.sections.rows is not None else ""
    if not facts.classify:
        return "The bars say how far each cell moved the prediction from that of a usual row (Shapley values)."
    about = facts.positive if facts.positive is not None else "the likeliest class"
    scale = "log-odds" if link == "log-odds" else "probability"
    return f"The bars say how far each cell moved the {scale} of {about} from that of a usual row (Shapley values)."
