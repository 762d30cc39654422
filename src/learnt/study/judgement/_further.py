"""The further sections of the report, once the model is judged: each in the time that is left, or left out."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from typing import Any, NamedTuple

import numpy as np
import polars as pl

from learnt.diagnosis import row_losses
from learnt.engine import progress
from learnt.explanation import Reasons, contributions
from learnt.study._session import Session
from learnt.study.facts import Facts
from learnt.study.facts._sections import Sections, ShownRow, ShownRows
from learnt.study.judgement._judge import decide, predict
from learnt.study.sections._drift import drift
from learnt.study.sections._effects import effects
from learnt.study.sections._groups import errors_by_group
from learnt.study.sections._profiles import profile_columns
from learnt.study.sections._rows import shown_rows, with_reasons, worst_and_typical
from learnt.study.sections._thresholds import precision_recall, thresholds
from learnt.study.table._problem import Problem
from learnt.study.table._seal import Sealed

MOST_CELLS = 2_000_000  # that are looked at for a section
MOST_WRITTEN = 30_000  # cells among them that are numbers or dates written as text, which take ten times as long
LEAST_ROWS = 1_000
BACKGROUND = 50  # rows that stand for unknown cells
TRIED, LEAST_PAIRS, MOST_PAIRS = 2, 20, 200  # pairs of orders for sampled reasons: to time one row, and for all
OVERRUN = 0.03  # share of the budget: quick sections are not lost where what came before took longer than foreseen
MOST_PREDICTED = 50  # classes whose probabilities are written down


class Predicted(NamedTuple):
    """Rows of the table, and what a model that had not seen them predicted."""

    rows: np.ndarray
    output: np.ndarray


def written_output(tested: pl.DataFrame, classes: list | None) -> np.ndarray | None:
    """The model's output from predictions as they were written; None where not all of it was."""
    if classes is None:
        return tested["prediction"].to_numpy()
    if len(classes) > MOST_PREDICTED:
        return None
    return tested.select([f"p({c})" for c in classes]).to_numpy()


def further_sections(
    known: Sections,
    facts: Facts,
    problem: Problem,
    sealed: Sealed,
    session: Session,
    model: Any,
    out_of_fold: Predicted | None,
    tested: np.ndarray | None,
) -> Sections:
    """The sections that need the finished study, added to those that are known; quick ones first, which may end late.

    `out_of_fold` are predictions of development rows, `tested` the output for the test rows where they were opened.
    """
    found = known
    judged = out_of_fold if tested is None else Predicted(sealed.test, tested)
    maker = _Maker(facts, problem, sealed, session, model)
    steps: list[Callable[[Sections], Sections]] = []  # quick ones
    if out_of_fold is not None:
        steps.append(lambda s: maker.thresholds(s, out_of_fold))
    if tested is not None:
        steps += [lambda s: maker.precision_recall(s, tested), maker.drift]
    steps.append(maker.columns)
    if judged is not None:
        steps += [lambda s: maker.groups(s, judged), lambda s: maker.rows(s, judged)]
    slow = [maker.effects]
    if tested is not None:
        slow.append(maker.reasons)  # of the model's own predictions
    with progress.task("sections of the report", total=len(steps) + len(slow)) as bar:
        for step in (*steps, *slow):
            least = session.budget.report if step in slow else -OVERRUN * session.budget.seconds
            if session.budget.left() > least:
                found = step(found)
            bar.advance()
    return found


class _Maker:
    """One method a section."""

    def __init__(self, facts: Facts, problem: Problem, sealed: Sealed, session: Session, model: Any) -> None:
        self.facts, self.problem, self.sealed, self.session, self.model = facts, problem, sealed, session, model
        self.kinds = {c["name"]: c["kind"] for c in problem.columns}
        pixels = set() if problem.grid is None else set(problem.grid.names)
        self.names = [name for name in problem.features if name not in pixels]
        written = sum(
            problem.table.schema[name] == pl.String and self.kinds.get(name) in ("number", "date")
            for name in self.names
        )
        self.most = max(MOST_CELLS // max(len(self.names), 1), LEAST_ROWS)
        if written:
            self.most = min(self.most, max(MOST_WRITTEN // written, LEAST_ROWS))

    def thinned(self, rows: np.ndarray) -> np.ndarray:
        """At most as many of the rows as there is time for, evenly spaced."""
        return rows if len(rows) <= self.most else rows[np.linspace(0, len(rows) - 1, self.most).astype(np.int64)]

    def leading(self, found: Sections) -> list[str]:
        """The columns, the most important first: by what the model loses without them, or by what each explains."""
        if self.facts.importances:
            order = [f.column for f in self.facts.importances]
        else:
            order = [c.name for c in sorted(found.columns, key=lambda c: -c.explains)]
        known = set(self.names)
        first = [name for name in order if name in known]
        return first + [name for name in self.names if name not in set(first)]

    def thresholds(self, found: Sections, held: Predicted) -> Sections:
        problem, facts = self.problem, self.facts
        if problem.positive is None or problem.classes is None or facts.threshold is None or facts.decision is None:
            return found
        positive = problem.classes[problem.positive]
        cost = self.session.settings.cost or (1.0, 1.0)
        table = thresholds(
            problem.y[held.rows] == positive,
            held.output[:, problem.positive],
            positive=str(positive),
            used=facts.decision.threshold,
            costs=(float(cost[0]), float(cost[1])),
        )
        return replace(found, thresholds=table)

    def precision_recall(self, found: Sections, tested: np.ndarray) -> Sections:
        problem = self.problem
        if problem.positive is None or problem.classes is None:
            return found
        positive = problem.classes[problem.positive]
        y = problem.y[self.sealed.test] == positive
        return replace(found, precision_recall=precision_recall(y, tested[:, problem.positive], str(positive)))

    def drift(self, found: Sections) -> Sections:
        problem, sealed = self.problem, self.sealed
        names = [name for name in self.leading(found) if name != problem.time]
        if not names:
            return found
        parts = [problem.table.select(names)[self.thinned(rows)] for rows in (sealed.development, sealed.test)]
        independent = None
        if problem.groups is not None:
            first, second = (len(np.unique(problem.groups[rows])) for rows in (sealed.development, sealed.test))
            independent = (float(first), float(second))
        return replace(found, drift=drift(*parts, kinds=self.kinds, independent=independent))

    def columns(self, found: Sections) -> Sections:
        problem, rows = self.problem, self.thinned(self.sealed.development)
        if not self.names or found.columns:
            return found
        profiles = profile_columns(
            problem.table.select(self.names)[rows],
            problem.y[rows],
            classes=problem.classes,
            positive=problem.positive,
            kinds=self.kinds,
            columns=self.leading(found),
        )
        return replace(found, columns=profiles)

    def groups(self, found: Sections, judged: Predicted) -> Sections:
        problem = self.problem
        if not self.names:
            return found
        judged = Predicted(*(part[self.thinned(np.arange(len(judged.rows)))] for part in judged))
        y = problem.y[judged.rows]
        errors = self.decided(judged) != y if problem.classify else np.abs(y - judged.output)
        clusters = None if problem.groups is None else problem.groups[judged.rows]
        table = problem.table.select(self.names)[judged.rows]
        by_group = errors_by_group(
            table,
            errors,
            classify=problem.classify,
            columns=self.leading(found),
            kinds=self.kinds,
            clusters=clusters,
        )
        return replace(found, groups=by_group)

    def rows(self, found: Sections, judged: Predicted) -> Sections:
        problem = self.problem
        if not self.names:
            return found
        y = problem.y[judged.rows]
        names = None if problem.classes is None else np.array(problem.classes)
        losses = row_losses(y, judged.output, names)

        def shown(picked: np.ndarray) -> tuple[ShownRow, ...]:
            own = Predicted(judged.rows[picked], judged.output[picked])
            return shown_rows(
                problem.table.select(self.names)[own.rows],
                places=problem.rows[own.rows],
                y=y[picked],
                output=own.output,
                losses=losses[picked],
                decided=self.decided(own),
                classes=problem.classes,
                columns=self.leading(found),
            )

        worst, typical = worst_and_typical(losses)
        return replace(found, rows=ShownRows(shown(worst), shown(typical)))

    def reasons(self, found: Sections) -> Sections:
        """What each column adds to the predictions of the rows that are shown.

        Of two classes it is about the positive one, of several about the likeliest.
        """
        problem, shown = self.problem, found.rows
        if shown is None:
            return found
        both = (*shown.worst, *shown.typical)
        rows = problem.X[np.searchsorted(problem.rows, [row.row for row in both])]
        added = self.contributions(rows)
        if added is None:
            return found
        values = added.values
        if values.ndim == 3:
            values = values[np.arange(len(rows)), :, added.prediction.argmax(axis=1)]
        elif problem.positive == 0:
            values = -values
        told = with_reasons(both, rows.select(added.columns), values)
        count = len(shown.worst)
        return replace(found, rows=ShownRows(told[:count], told[count:], added.link))

    def contributions(self, rows: pl.DataFrame) -> Reasons | None:
        """The reasons of a few rows; None where there is no time. One row is timed first."""
        problem, budget = self.problem, self.session.budget
        development = self.sealed.development
        background = problem.X[development[np.linspace(0, len(development) - 1, BACKGROUND).astype(np.int64)]]
        started = budget.clock()
        trial = contributions(self.model, rows[:1], background, n_pairs=TRIED)
        took = max(budget.clock() - started, 1e-9) * len(rows)
        times = (budget.end - budget.report - budget.clock()) / took
        if trial.how != "sampled":
            return contributions(self.model, rows, background) if times >= 1 else None
        pairs = int(min(times * TRIED, MOST_PAIRS))
        if pairs < LEAST_PAIRS:
            return None
        seed = self.session.settings.seed
        return contributions(self.model, rows, background, n_pairs=pairs, random_state=seed)

    def effects(self, found: Sections) -> Sections:
        problem, budget = self.problem, self.session.budget
        if self.model is None or self.facts.beats_constant is False or not self.names or found.effects:
            return found
        curves = effects(
            lambda X: predict(self.model, X, problem.classes),
            problem.X[self.sealed.development],
            self.leading(found),
            classes=problem.classes,
            positive=problem.positive,
            kinds=self.kinds,
            seed=self.session.settings.seed,
            deadline=budget.end - budget.report,
            clock=budget.clock,
        )
        return replace(found, effects=curves)

    def decided(self, judged: Predicted) -> np.ndarray:
        """Classes or amounts, as the model predicts them."""
        problem, decision = self.problem, self.facts.decision
        if problem.classes is None:
            return judged.output
        threshold = 0.5 if decision is None else decision.threshold
        return np.array(problem.classes)[decide(judged.output, problem.classes, problem.positive, threshold)]
