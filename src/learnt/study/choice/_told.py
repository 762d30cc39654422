"""The race and the choice as facts: what the table of the report shows, and why a model was chosen."""

from __future__ import annotations

from dataclasses import replace

import numpy as np

from learnt.model_selection import compare_scores, corrected_interval
from learnt.study.choice._combine import Standing
from learnt.study.choice._decide import Decision
from learnt.study.facts import Calibrated, Candidate, Choice, Chosen, Member, Race, Racer, Timing
from learnt.study.race._metric import Metric


def race_facts(decision: Decision, chosen: Standing, loss_name: str, metric: Metric | None) -> Race:
    """The finished race; `chosen` is the model that was fitted in the end."""
    race = decision.race
    return Race(
        entries=tuple(racers(decision, chosen)),
        rungs=[race.rows],
        rows=race.rows,
        all_rows=race.all_rows,
        halved=race.halved,
        folds=race.folds,
        parts=race.parts,
        cut_short=race.cut_short,
        standard_error=decision.choice.standard_error,
        best=decision.best.label,
        loss_name=loss_name,
        greater=None if metric is None else metric.greater,
        squared=metric is None and decision.ground.n_classes is None,
    )


def racers(decision: Decision, chosen: Standing) -> list[Racer]:
    """Every model of the race: finished ones best first, then those that did not finish."""
    parts, race = decision.ground.parts, decision.race
    constant = next((np.array(s.losses) for s in decision.standings if s.rank == 0), None)
    rows: list[Racer] = []
    for s in decision.standings:
        losses, reference = np.array(s.losses), np.array(chosen.losses)
        interval = corrected_interval(losses, parts - 1, 1)
        compared = compare_scores(losses, reference, parts - 1, 1)
        excess = corrected_interval(losses - reference, parts - 1, 1)
        gap = None if constant is None else float((constant - reference).mean())
        # An interval that reaches to the constant's loss says nothing about equality
        open_question = compared.tied and gap is not None and gap > 0 and excess.high >= gap
        rows.append(
            Racer(
                label=s.label,
                id=s.id,
                family=s.family,
                words=s.words,
                state="chosen" if s is chosen else "finished",
                note=s.note,
                loss=s.loss,
                low=interval.low,
                high=interval.high,
                corrected=s.contender().mean,
                **s.also,
                rows=race.rows,
                fold_losses=s.losses,
                p_value=None if s is chosen else compared.p_value,
                tied=s is not chosen and compared.tied and not open_question,
                unclear=s is not chosen and open_question,
                calibrated=calibrated(s),
                members=members(s),
                recipe=dict(s.recipe),
                timing=Timing(s.seconds),
            )
        )
    done = {s.id for s in decision.standings}
    for e in race.entries:
        if e.candidate.id not in done:
            family = e.candidate.family
            rows.append(Racer(e.candidate.label, e.candidate.id, family.name, family.words, e.state, e.note))
    return rows


def members(s: Standing) -> list[Member]:
    """The models of a blend; empty for any other."""
    return [Member(**part) for part in s.made_of]


def calibrated(s: Standing) -> Calibrated | None:
    """How probabilities were calibrated and what it gained; None where they were left as they are."""
    if s.calibrated_from is None:
        return None
    found = s.recipe["calibration"] or s.recipe["members"][0]["calibration"]
    kind = "temperature" if found["offsets"] is None else "temperature and offsets"
    return Calibrated(kind=kind, **found, loss_before=s.calibrated_from, loss_after=s.loss)


def choice_facts(decision: Decision, chosen: Standing, prefer: str, race: Race) -> Choice:
    """Both choices, the best and the simple one, and why it is the chosen one."""
    wanted, corrected = decision.chosen, any(s.luck for s in decision.standings)
    if wanted is not chosen:
        rule = "the best that could be fitted in time"
    elif prefer == "simple":
        rule = "the simplest within one standard error of the best"
    elif chosen is not decision.best:
        rule = "simpler than the best, within 1% of its loss and without a significant difference"
    elif chosen is decision.standings[0]:
        rule = "the lowest cross-validated loss"
    else:
        rule = "the lowest cross-validated loss once corrected for picking the lowest of many"
    return Choice(
        prefer=prefer,
        rule=rule,
        best=_candidate(decision.best),
        simple=_candidate(decision.simple),
        wanted=_candidate(wanted),
        simplicity_costs=race.worse(decision.simple.loss, chosen.loss),
        corrected=corrected,
        calibrated=calibrated(chosen),
        members=members(chosen),
    )


def _candidate(s: Standing) -> Candidate:
    return Candidate(s.label, s.id, s.family, s.loss)


def chosen_facts(chosen: Standing, classify: bool) -> Chosen:
    """The chosen model: its class, its settings or its members, its calibration."""
    specs = [{**m["spec"], "weight": m["weight"], "calibration": m["calibration"]} for m in chosen.recipe["members"]]
    found = Chosen(
        label=chosen.label,
        id=chosen.id,
        family=chosen.family,
        model=f"learnt.ensemble.Voting{'Classifier' if classify else 'Regressor'}",
        params={},
        members=specs,
        calibration=chosen.recipe["calibration"],
    )
    if len(specs) > 1:
        return found
    return replace(found, model=specs[0]["model"], params=specs[0]["params"])
