"""The answer in plain words: a headline, five lines, and the next step."""

from __future__ import annotations

from typing import Any

from learnt.plots import number
from learnt.study._counting import counted
from learnt.study.facts import (
    Estimate,
    Facts,
    Judged,
    Line,
    MetricTest,
    Rare,
    Summary,
    Test,
    TestOfAmounts,
    TestOfClasses,
    Threshold,
)


def share(value: float) -> str:
    """A share with one decimal, the same in every sentence; two where one would say nothing.

    >>> [share(v) for v in (0.17, 0.2605, 0.0004, 1.0)]
    ['17.0%', '26.1%', '0.04%', '100%']
    """
    if value == 1:
        return "100%"
    return f"{100 * value:.2f}%" if 0 < abs(value) < 0.001 else f"{100 * value:.1f}%"


def interval_words(part: Estimate | MetricTest | Threshold, form: Any = share) -> str:
    """An interval as people read it: "7.9–13.9%"."""
    low, high = form(part.low), form(part.high)
    return f"{low.rstrip('%')}–{high}" if low.endswith("%") else f"{low}–{high}"


def ordinal(k: int) -> str:
    """1st, 2nd, 3rd, 4th …

    >>> [ordinal(k) for k in (1, 2, 3, 4, 11, 22)]
    ['1st', '2nd', '3rd', '4th', '11th', '22nd']
    """
    ending = "th" if 10 <= k % 100 <= 20 else {1: "st", 2: "nd", 3: "rd"}.get(k % 10, "th")
    return f"{k}{ending}"


def summarise(facts: Facts) -> Summary:
    """Headline, verdict and lines from the numbers of a finished study."""
    if not facts.has_model:
        return Summary(_headline(facts), verdict(facts), (_what(facts), _next(facts)), None)
    if facts.test is None:
        return summarise_sealed(facts)
    lines = (_what(facts), *verdict_lines(judged(facts)), *_ceiling_lines(facts), _next(facts))
    return Summary(_headline(facts), verdict(facts), lines, facts.beats_constant)


def judged(facts: Facts) -> Judged:
    """What sentences about the test rows are made of."""
    assert facts.test is not None
    return Judged(
        test=facts.test,
        positive=facts.positive,
        constant=facts.ceiling.constant.predicts,
        beats_constant=bool(facts.beats_constant),
        threshold=facts.threshold,
        has_model=facts.tried > 0,
    )


def summarise_sealed(facts: Facts) -> Summary:
    """The same while the test set is sealed: what cross-validation says, and how to open it."""
    race = facts.race
    chosen = next((e for e in race.finished if e.state == "chosen"), None)
    constant = next((e for e in race.finished if e.family == "constant"), None)
    lines = [_what(facts)]
    headline = f"A model of “{facts.target}” is chosen; its test set is sealed until learnt evaluate opens it."
    if chosen is not None:
        assert chosen.loss is not None
        assert chosen.low is not None
        assert chosen.high is not None
        low, high = sorted((race.shown(chosen.low), race.shown(chosen.high)))
        said = f"Cross-validated {race.loss_name} {loss_words(race.shown(chosen.loss))} "
        said += f"({loss_words(low)}–{loss_words(high)})"
        if constant is not None and constant.loss is not None:
            said += f", of a constant {loss_words(race.shown(constant.loss))}"
        why = "the model was chosen by it among several, so that it flatters"
        lines.append(Line("How good it seems", f"{said}; {why}: only the test set can judge."))
    if facts.seal.opened:
        count = len(facts.seal.opened)
        often = "once" if count == 1 else "twice" if count == 2 else f"{count} times"
        lines.append(Line("The test set", f"These rows were opened {often} before, first on {facts.seal.opened[0]}."))
    lines.append(_next(facts))
    return Summary(headline, verdict(facts), tuple(lines), None)


def loss_words(value: float) -> str:
    """A loss as the table of the race writes it."""
    return f"{value:.3f}" if abs(value) <= 1 else number(value)


def race_words(facts: Facts) -> str:
    """How many models raced, how many were measured to the end, and which was chosen."""
    raced, done = len(facts.race.entries), len(facts.race.finished)
    if facts.tried == 0:
        return f"None of {counted(raced - done, 'model')} was measured to the end: the constant is all there is."
    return f"Raced {counted(raced, 'model')}, {done} to the end; chosen: {facts.chosen.label} ({facts.choice.rule})."


def simplicity_words(facts: Facts) -> str:
    """What the simplest of the good models costs, by the figures of the race's table; empty where it is chosen."""
    race, choice = facts.race, facts.choice
    by_id = {e.id: e for e in race.finished}
    simple, chosen = by_id.get(choice.simple.id), by_id.get(facts.chosen.id)
    if simple is None or chosen is None or simple is chosen or not facts.has_model:
        return ""
    assert simple.loss is not None
    assert chosen.loss is not None
    figures = f"{loss_words(race.shown(simple.loss))} against {loss_words(race.shown(chosen.loss))}"
    cost = choice.simplicity_costs
    worse = f"{share(cost)} worse" if cost > 0 else "no worse"
    said = f"The simplest model within one standard error of the best is {simple.label}"
    return f"{said}: {race.loss_name} {figures}, {worse}."


def model_words(facts: Facts) -> str:
    """The class of the model with its settings, or of a blend with its members and their weights."""
    chosen = facts.chosen
    if facts.choice.members:
        members = "; ".join(f"{m.label} ({share(m.weight)})" for m in facts.choice.members)
        return f"{chosen.model}, a weighted average of {members}"
    settings = ", ".join(f"{k}={v}" for k, v in chosen.params.items())
    return f"{chosen.model}, {settings or 'default settings'}"


def verdict(facts: Facts) -> str:
    """In a few words, whether the model is of any use."""
    if facts.tried == 0:
        return "no model was finished"
    if facts.unfitted is not None:
        return "no time for the final fit"
    if facts.test is None:
        return "test set still sealed"
    return "better than a constant" if facts.beats_constant else "no better than a constant"


def _headline(facts: Facts) -> str:
    target, test = facts.target, facts.test
    if facts.tried == 0:
        why = "none could be fitted" if _failed(facts) else "the budget ended before one was"
        return f"No model of “{target}” was finished: {why}."
    if facts.unfitted is not None:
        return f"No time was left to fit the model that won the race for “{target}” ({facts.unfitted})."
    assert test is not None
    if not facts.beats_constant:
        sure = " for sure" if _seems_better(test) else ""
        than = f"better than a constant{' by ' + test.metric.words if test.metric is not None else sure}."
        if facts.race.cut_short:
            count = facts.tried
            none = f"None of the {count} models" if count > 1 else "The one model"
            return f"{none} there was time for predicts “{target}” {'' if count > 1 else 'no '}{than}"
        return f"No model predicts “{target}” {than}"
    can = f"“{target}” can be predicted"
    if test.metric is not None:
        m = test.metric
        return f"{can}: {m.words} {loss_words(m.estimate)}, against {loss_words(m.constant)} of a constant."
    if isinstance(test, TestOfAmounts):
        return f"{can} to within {number(test.mae.estimate)} on average."
    if test.cost is not None and _saved(test) > 0:
        return f"{can}: errors cost {share(_saved(test))} less than without a model."
    if test.rare is not None:
        return _rare_headline(can, test.rare)
    if test.lopsided:
        chance = 1 / len(test.per_class)
        return f"{can}: {share(test.mean_recall)} of a class are found on average, where chance is {share(chance)}."
    return f"{can}: {share(1 - test.error.estimate)} of new rows come out right."


def _failed(facts: Facts) -> bool:
    return {e.state for e in facts.race.entries if not e.finished} == {"failed"}


def _rare_headline(can: str, rare: Rare) -> str:
    area = rare.average_precision
    if rare.recall is None or rare.precision is None or area is None:
        return f"{can} to some degree, but too few “{rare.class_}” were among the test rows to judge it."
    return (
        f"{can}: {share(rare.recall.estimate)} of the rare “{rare.class_}” are found, "
        f"{share(rare.precision.estimate)} of those called are right (PR area {area.estimate:.2f})."
    )


def _saved(test: TestOfClasses) -> float:
    """The share of the cost that the model saves against the better of always and never."""
    assert test.cost is not None
    assert test.cost_of_none is not None
    assert test.cost_of_all is not None
    least = min(test.cost_of_none, test.cost_of_all)
    return 1 - test.cost.estimate / least if least > 0 else 0.0


def _what(facts: Facts) -> Line:
    data, test = facts.data, facts.test
    kind = "an amount"
    if facts.classes is not None:
        two = len(facts.classes) == 2
        kind = " or ".join(str(c) for c in facts.classes) if two else f"which of {len(facts.classes)} classes"
    columns = f"images of {data.image} pixels" if data.image else counted(len(data.features), "column")
    said = f"“{facts.target}” ({kind}) from {columns}"
    if not facts.has_model:
        constant = facts.ceiling.constant.predicts
        constant = number(constant) if isinstance(constant, float) else f"“{constant}”"
        said += f". The model file holds a constant that always says {constant}."
        if test is None:
            rows = counted(facts.seal.test_rows, "test row stays", "test rows stay")
            said += f" {rows} sealed: there is no model to judge."
        return Line("What it predicts", said)
    said += f", by {facts.chosen.label}. Learnt from {counted(facts.model.judged_rows, 'row')}"
    if test is None:
        sealed = counted(facts.seal.test_rows, "other row is", "other rows are")
        return Line("What it predicts", f"{said}; {sealed} sealed.")
    often = "judged once" if test.use == 1 else f"judged ({ordinal(test.use or 1)} use)"
    said += f" and {often} on {counted(test.rows, 'row')} it had never seen."
    if facts.model.final == "all":
        said += f" The model file was then fitted again on all {facts.model.rows:,} rows."
    return Line("What it predicts", said)


def verdict_lines(found: Judged, rows: str = "the test rows") -> list[Line]:
    """How good a model is on rows it had not seen, and the constant beside it; `rows` is what they are called."""
    test = found.test
    good = _classes(test, found, rows) if isinstance(test, TestOfClasses) else _amounts(test)
    constant = _beside_shares(test, found) if isinstance(test, TestOfClasses) else _beside_mean(test, found)
    return [Line("How good it is", good), Line("Against a constant", constant)]


def _ceiling_lines(facts: Facts) -> list[Line]:
    test = facts.test
    said = _ceiling_of_classes(facts, test) if isinstance(test, TestOfClasses) else _ceiling_of_amounts(facts)
    return [Line("Against the best possible", said)] if said else []


def _classes(test: TestOfClasses, found: Judged, rows: str) -> str:
    level = _level(test.level)
    new = "new rows" if rows == "the test rows" else rows
    by_threshold = found.threshold is not None and found.threshold.used
    used = test.cost is not None or by_threshold  # a threshold other than one half
    wrong = "Taking the likelier class, wrong" if used else "Wrong"
    good = [f"{wrong} on {share(test.error.estimate)} of {new} ({level} {interval_words(test.error)})"]
    asked = None if test.metric is None else test.metric.name
    if test.auc is not None and test.auc.low is not None and asked != "roc_auc_score":
        area = test.auc
        good.append(f"ROC area {area.estimate:.3f} ({area.low:.3f}–{area.high:.3f}), where chance is 0.5")
    if test.rare is not None:
        good = _rare_words(test.rare, level, rows) + good[1:]
    said = "; ".join(good)
    said = f"{_metric_line(test.metric)}. {said}" if test.metric is not None else said
    if test.cost is not None:
        assert test.cost_of_none is not None
        assert test.cost_of_all is not None
        paid, least = test.cost, min(test.cost_of_none, test.cost_of_all)
        said += f". With your costs it says {found.positive} from {share(test.threshold)} on, which costs "
        said += f"{number(paid.estimate)} per row ({interval_words(paid, number)}); without a model {number(least)}"
    elif by_threshold:
        assert found.threshold is not None
        said += f". It says {found.positive} from a probability of {share(test.threshold)} on, chosen on "
        said += f"development rows for the {found.threshold.by}"
        said += "" if test.rare is not None else f", and is then wrong on {share(test.error_at_threshold)}"
    return said + "."


def _rare_words(rare: Rare, level: str, rows: str) -> list[str]:
    found = [f"Finds {rare.found:,} of the {rare.rows:,} “{rare.class_}” among {rows}"]
    if rare.recall is not None:
        found[0] += f" (recall {share(rare.recall.estimate)}, {level} {interval_words(rare.recall)})"
    if rare.precision is not None:
        called = f"of those it calls, {share(rare.precision.estimate)} are right"
        between = interval_words(rare.precision)
        found.append(f"{called} (precision, {between}), with {counted(rare.false_alarms, 'false alarm')}")
    else:
        found.append("it calls no row so")
    if rare.average_precision is not None:
        area = rare.average_precision
        between = f"{area.low:.3f}–{area.high:.3f}"
        found.append(f"PR area {area.estimate:.3f} ({between}), where chance is {rare.share:.3f}")
    return found


def _metric_line(m: MetricTest) -> str:
    between = f"{loss_words(m.low)}–{loss_words(m.high)}"
    name = m.words[0].upper() + m.words[1:]
    return f"{name} {loss_words(m.estimate)} ({between}), of a constant {loss_words(m.constant)}"


def _beside_shares(test: TestOfClasses, found: Judged) -> str:
    usual, error = test.constant_error, test.error.estimate
    said = f"Always saying “{found.constant}” is wrong on {share(usual)}"
    if test.rare is not None and found.beats_constant:
        return f"{said} of rows only, and finds none of the “{test.rare.class_}”."
    if error < usual and found.beats_constant:
        return f"{said}: the model removes {share((usual - error) / usual)} of those errors."
    if found.beats_constant:
        how = "probabilities are better than the bare shares" if test.brier_gain.low > 0 else "order of rows tells more"
        return f"{said}: no fewer errors, but its {how} of the classes."
    if _seems_better(test):
        return f"{said}: the model on {share(error)}{_unproven(found)}."
    return said + (": the model is no better." if found.has_model else ".")


def _seems_better(test: Test) -> bool:
    """Whether the model's error is smaller than the constant's, by chance or not."""
    if isinstance(test, TestOfClasses):
        return test.error.estimate < test.constant_error
    return test.rmse.estimate < test.constant_rmse


def _unproven(found: Judged) -> str:
    """What to make of a smaller error where the model does not count as better."""
    return "" if found.beats_constant else f", which may be chance on {counted(found.test.rows, 'row')}"


UNKNOWN = "neighbouring rows are too few or too far apart to say how much better a model could be"
NO_TIME = "There was no time to look at neighbouring rows, so how good any model could be is not known."


def _ceiling_of_classes(facts: Facts, test: TestOfClasses) -> str:
    assert facts.bracket is not None
    if test.rare is not None:
        return ""  # a bound on the share of wrong rows says nothing about a class of few rows
    if not facts.ceiling.rows:
        return NO_TIME
    now, low, high = test.error.estimate, facts.bracket.lower, facts.bracket.upper
    if low > 0 and not facts.beats_constant:
        return f"No rule on these columns is likely to be wrong on less than {share(low)} of rows."
    if low > 0:
        span = interval_words(Estimate(now, low, high))
        said = f"The best possible rule on these columns is wrong on {span} of rows, this model on {share(now)}"
        if _at_the_ceiling(facts):
            return f"{said}: it is about as good as the columns allow."
        return f"{said}: at most {100 * max(now - low, 0.0):.1f} points are left to gain."
    if high < now:
        return f"Similar rows agree so well that a rule wrong on at most {share(high)} of rows should be possible."
    if facts.beats_constant:
        return f"The best possible rule is wrong on at most {share(high)} of rows; {UNKNOWN}."
    return f"{UNKNOWN[0].upper()}{UNKNOWN[1:]}."


def _at_the_ceiling(facts: Facts) -> bool:
    return facts.diagnosis is not None and facts.diagnosis.regime == "near the ceiling"


def _amounts(test: TestOfAmounts) -> str:
    rmse, r2 = test.rmse, test.r2
    explained = Estimate(*(max(v, 0.0) for v in (r2.estimate, r2.low, r2.high)))
    typical = f"Typical error (RMSE) {number(rmse.estimate)} ({_level(test.level)} {interval_words(rmse, number)})"
    good = (
        f"{typical}, mean absolute error {number(test.mae.estimate)}; it explains {share(explained.estimate)} of the "
        f"variance ({interval_words(explained)})."
    )
    return good if test.metric is None else f"{_metric_line(test.metric)}. {good}"


def _beside_mean(test: TestOfAmounts, found: Judged) -> str:
    said = f"Always saying the mean, {number(found.constant)}, has an RMSE of {number(test.constant_rmse)}"
    if _seems_better(test):
        smaller = share(1 - test.rmse.estimate / test.constant_rmse)
        return f"{said}: the model's is {smaller} smaller{_unproven(found)}."
    return said + (": the model is no better." if found.has_model else ".")


def _ceiling_of_amounts(facts: Facts) -> str:
    assert facts.bracket is not None
    assert isinstance(facts.test, TestOfAmounts)
    if not facts.ceiling.rows:
        return NO_TIME
    now, low, high = facts.test.rmse.estimate, facts.bracket.lower, facts.bracket.upper
    if low > 0 and not facts.beats_constant:
        return f"Noise that no model on these columns can remove is at least about {number(low)} (RMSE)."
    if low > 0:
        span = interval_words(Estimate(now, low, high), number)
        said = f"The best possible model on these columns has an RMSE of {span}, this one {number(now)}"
        return f"{said}: it is about as good as the columns allow." if _at_the_ceiling(facts) else f"{said}."
    if high < now:
        return f"Similar rows agree so well that an RMSE of at most {number(high)} should be possible."
    if facts.beats_constant:
        return f"The best possible model has an RMSE of at most {number(high)}; {UNKNOWN}."
    return f"{UNKNOWN[0].upper()}{UNKNOWN[1:]}."


def _next(facts: Facts) -> Line:
    title, diagnosis = "What to do next", facts.diagnosis
    if facts.tried == 0 and _failed(facts):
        return Line(title, "Look at the remarks below on why models failed, and at the columns.")
    if diagnosis is None or not facts.has_model:
        nothing = facts.tried == 0
        ended = "any model was fitted" if nothing else "the final fit" if facts.unfitted else "a diagnosis"
        said = f"{_more_time(facts)}: it ended before {ended}, and goes on from what is in its journal."
        return Line(title, said)
    if facts.test is None:
        said = f"{diagnosis.finding} {diagnosis.treatments[0]}"
        return Line(title, f"{said} When nothing is left to choose, open the test set.")
    rare = facts.test.rare if isinstance(facts.test, TestOfClasses) else None
    if rare is not None and rare.recall is not None and rare.recall.high - rare.recall.low > 0.2:
        few = f"{rare.rows:,} “{rare.class_}” in the test set leave its recall open between"
        said = f"Judge it on more rows of “{rare.class_}” before you rely on it: {few} {interval_words(rare.recall)}."
        return Line(title, said)
    untried = sum(not e.finished for e in facts.race.entries)
    # A pattern that the model does not catch may be one for a model that was not tried.
    if facts.race.cut_short and untried and diagnosis.regime in ("noise or bias", "high bias"):
        left_out = f"{untried} of {untried + facts.tried} models were not measured to the end"
        return Line(title, f"{diagnosis.finding} {_more_time(facts)}: {left_out}.")
    return Line(title, f"{diagnosis.finding} {diagnosis.treatments[0]}")


def _more_time(facts: Facts) -> str:
    """A budget several times as long as this one was."""
    minutes = max(5, round(4 * facts.settings.get("budget", 60.0) / 60))
    return f"Give the study more time (--budget {minutes}m)"


def _level(level: float) -> str:
    shown = f"{100 * level:.1f}".rstrip("0").rstrip(".")
    return f"{shown}% interval"
