"""The model card: what the numbers of a study say about its model, and blanks for what only its owner knows."""

from __future__ import annotations

from dataclasses import dataclass

from learnt.plots import number
from learnt.study._counting import counted
from learnt.study.facts import Estimate, Facts, TestOfAmounts, TestOfClasses
from learnt.study.report._words import interval_words, ordinal, share


@dataclass(frozen=True)
class Field:
    """A field of the card; without text its owner is asked for it."""

    title: str
    text: tuple[str, ...] = ()
    ask: str = ""


def model_card(facts: Facts) -> list[Field]:
    """The fields of the card, in the order in which cards are written.

    Parameters
    ----------
    facts : Facts
        What the study knows.

    Returns
    -------
    list of Field
        Those without text are blank: intended use, owner and harms are not in the numbers.
    """
    return [
        Field("Model", _model(facts)),
        Field("Owner and contact", ask="who answers for this model, and where to report a problem."),
        Field("Intended use", ask=f"which decisions the prediction of “{facts.target}” is for, and for whom."),
        Field("Uses it is not for", ask="where it must not be used, and who decides there."),
        Field("Training data", _training(facts)),
        Field("Evaluation data", _evaluation(facts)),
        Field("Metrics", _metrics(facts)),
        Field("Limits", tuple(_limits(facts))),
        Field("Harms and fairness", ask="whom errors of either kind hurt, and what was done about it."),
    ]


def _model(facts: Facts) -> tuple[str, ...]:
    kind = "class" if facts.classify else "amount"
    made = f" {facts.run.finished[:10]}" if facts.run is not None else ""
    return (
        f"{facts.chosen.label}, which predicts the {kind} “{facts.target}”, made by learnt {facts.learnt}{made}.",
        f"File {facts.model.file}, fitted on {facts.model.rows:,} rows.",
    )


def _training(facts: Facts) -> tuple[str, ...]:
    data = facts.data
    aside = f"; {counted(len(data.set_aside), 'column')} set aside" if data.set_aside else ""
    used = data.image if data.image is not None else counted(len(data.features), "column")
    found = [
        f"{facts.table}: {data.rows:,} rows, {data.rows_used:,} of them with a target; "
        f"{'images of ' if data.image is not None else ''}{used} used{aside}.",
        f"sha256 {data.hash[:16]}….",
    ]
    if facts.classes is not None and facts.constant is not None and facts.constant.shares is not None:
        parts = sorted(zip(facts.constant.shares, facts.classes), key=lambda part: -part[0])[:6]
        named = ", ".join(f"{name} {share(value)}" for value, name in parts)
        found.append(f"Classes: {named}{', …' if len(facts.classes) > 6 else ''}.")
    return tuple(found)


def _evaluation(facts: Facts) -> tuple[str, ...]:
    seal = facts.seal
    uses = 0 if facts.test is None else facts.test.use or 1
    use = "still sealed" if uses == 0 else "opened once" if uses == 1 else f"opened for the {ordinal(uses)} time"
    return (f"{seal.test_rows:,} test rows, {seal.how}; {use}.",)


def _metrics(facts: Facts) -> tuple[str, ...]:
    test = facts.test
    if test is None:
        return ("None yet: the test set is sealed.",)
    said = []
    if test.metric is not None:
        said.append(
            _figure(test.metric.words, Estimate(test.metric.estimate, test.metric.low, test.metric.high), number)
        )
    if isinstance(test, TestOfClasses):
        said.append(_figure("Error rate", test.error, share) + f"; of the best constant {share(test.constant_error)}")
        said.append(_figure("Brier score", test.brier, number))
        if test.auc is not None:
            said.append(f"ROC area {test.auc.estimate:.3f}")
        for row in test.per_class[:6]:
            if row.recall is not None:
                precision = "–" if row.precision is None else share(row.precision)
                said.append(f"{row.class_}: recall {share(row.recall)}, precision {precision}, {row.rows:,} rows")
    elif isinstance(test, TestOfAmounts):
        said.append(_figure("RMSE", test.rmse, number) + f"; of the best constant {number(test.constant_rmse)}")
        said.append(_figure("Mean absolute error", test.mae, number))
        said.append(_figure("R²", test.r2, number))
    return tuple(f"{line}." for line in said)


def _figure(name: str, found: Estimate, form) -> str:
    return f"{name} {form(found.estimate)} ({interval_words(found, form)})"


def _limits(facts: Facts) -> list[str]:
    """Only what was measured, and what the study cannot know."""
    found, test, sections = [], facts.test, facts.sections
    if test is None:
        found.append("The model has not been judged on rows of its own.")
    elif not facts.beats_constant:
        found.append("It was not shown to be better than a constant.")
    if test is not None:
        found.append(f"All figures rest on {test.rows:,} rows; intervals hold for rows drawn as these were.")
    if sections is not None and sections.groups is not None:
        flagged = sections.groups.flagged
        form = share if facts.classify else number
        worse = [g for g in flagged if g.error > g.elsewhere][:3]
        found += [
            f"Errors are larger where {g.column} is {g.group}: {form(g.error)} against {form(g.elsewhere)} elsewhere."
            for g in worse
        ]
        if not flagged and sections.groups.groups:
            found.append(f"None of {len(sections.groups.groups)} groups of rows was found to have another error.")
    if sections is not None and sections.drift is not None and (drifted := sections.drift.flagged):
        named = ", ".join(c.column for c in drifted[:5]) + (", …" if len(drifted) > 5 else "")
        found.append(f"Test rows differ from development rows in {named}.")
    if not facts.data.time:
        found.append("Rows were drawn at random: nothing is known of how it does on later rows.")
    if not facts.data.group:
        found.append("Rows were taken as independent of each other.")
    return found
