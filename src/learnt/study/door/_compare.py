"""Two studies compared on the test rows that both judged: every measure with the interval of its paired difference."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from html import escape
from pathlib import Path
from typing import Any

import numpy as np
import polars as pl

from learnt.diagnosis import Interval, bootstrap_interval
from learnt.diagnosis import row_losses as brier_losses
from learnt.engine.random import stream
from learnt.plots import number
from learnt.study._errors import StudyError
from learnt.study.door._html import scrolling, styled
from learnt.study.door._object import Study
from learnt.study.door._study import open_study
from learnt.study.race._metric import Metric, metric_of
from learnt.study.race._objective import SMALLEST
from learnt.study.table._columns import as_text

DRAWS = 500  # of the rows, for metrics that are no means over rows


@dataclass(frozen=True)
class Measure:
    """A measure of two models on the same rows, and how far the second is from the first."""

    name: str
    first: float
    second: float
    difference: float
    low: float
    high: float
    greater: bool  # whether more is better

    @property
    def better(self) -> str:
        """Which is better beyond chance: "first", "second" or "neither"."""
        if self.low <= 0 <= self.high:
            return "neither"
        return "second" if (self.low > 0) == self.greater else "first"


@dataclass(frozen=True, repr=False)
class Comparison:
    """Two studies on the same test rows. `print` it, or see it in a notebook.

    `compare` makes it.

    Parameters
    ----------
    target : str
        The column that both predict.
    rows : int
        Number of test rows that both judged.
    models : tuple of str
        What each study chose.
    measures : tuple of Measure
        ``name``, ``first``, ``second``, ``difference`` (second less first) with the interval ``low`` to ``high``, and
        ``better``.
    level : float
        The confidence of the intervals.
    _library : object, default=None
        Which library of data frames `frame` comes in; None is Polars.

    Attributes
    ----------
    target : str
        The column that both predict.
    rows : int
        Number of test rows that both judged.
    models : tuple of str
        What each study chose.
    measures : tuple of Measure
        ``name``, ``first``, ``second``, ``difference`` (second less first) with the interval ``low`` to ``high``, and
        ``better``.
    level : float
        The confidence of the intervals.

    See Also
    --------
    compare : Compares two studies.
    Study : One study.
    """

    target: str
    rows: int
    models: tuple[str, str]
    measures: tuple[Measure, ...]
    level: float
    _library: Any = None

    @property
    def frame(self) -> Any:
        """The measures as a data frame of the first study's library."""
        names = ("name", "first", "second", "difference", "low", "high", "better")
        lines = [{name: getattr(measure, name) for name in names} for measure in self.measures]
        table = pl.DataFrame(lines).rename({"name": "measure"})
        return table if self._library is None else self._library.frame(table)

    def __repr__(self) -> str:
        lines = [
            f"“{self.target}” on the same {self.rows:,} test rows: first {self.models[0]}, second {self.models[1]}"
        ]
        lines += [f"{m.name}: {_shown(m.first)} and {_shown(m.second)}; {self.said(m)}" for m in self.measures]
        return "\n".join(lines)

    def said(self, measure: Measure) -> str:
        """The difference in words, with its interval.

        Parameters
        ----------
        measure : Measure
            One of `measures`.

        Returns
        -------
        words : str
            Which study is better, or that neither is, with the interval of the difference.
        """
        ends = f"{100 * self.level:.3g}% interval {_shown(measure.low)} to {_shown(measure.high)}"
        which = {
            "neither": "no significant difference",
            "first": "the first is better",
            "second": "the second is better",
        }
        return f"{which[measure.better]} ({_shown(measure.difference)}, {ends})"

    def _repr_html_(self) -> str:
        head = "".join(f'<th scope="col"{" class=n" * (k > 0)}>{name}</th>' for k, name in enumerate(_HEAD))
        rows = ""
        for m in self.measures:
            figures = (m.first, m.second, m.difference)
            cells = "".join(f'<td class="n">{_shown(value)}</td>' for value in figures)
            ends = f'<td class="n">{_shown(m.low)} to {_shown(m.high)}</td>'
            words = self.said(m).partition(" (")[0]
            rows += f"<tr><td>{escape(m.name)}<br><span class='about'>{words}</span></td>{cells}{ends}</tr>"
        first, second = (escape(model) for model in self.models)
        about = f"First: {first}. Second: {second}. Differences are paired, row by row."
        body = (
            f'<p class="about">Two studies of “{escape(self.target)}” on the same {self.rows:,} test rows</p>'
            f'{scrolling(head, rows, "Measures")}<p class="about">{about}</p>'
        )
        return styled(body, f"Two studies of {self.target}")


_HEAD = ("Measure", "First", "Second", "Difference", "Interval")


def compare(first: Study | str | Path, second: Study | str | Path) -> Comparison:
    """Compare two studies on the test rows that both judged once: paired differences with intervals.

    Parameters
    ----------
    first : Study, str or Path
        A study, or its folder.
    second : Study, str or Path
        Another one of the same target, with the same test rows: the same table and seed, whatever else differs.

    Returns
    -------
    comparison : Comparison
        Every measure with the interval of its paired difference.

    See Also
    --------
    study : Makes a study.
    open_study : Opens one from its folder.

    Notes
    -----
    Intervals come from drawing test rows again and again (or whole groups of them), the same for both studies. A
    difference is called significant where its interval does not hold 0.

    Examples
    --------
    >>> import learnt
    >>> a = learnt.study(frame, target="late", drop="price")               # doctest: +SKIP
    >>> b = learnt.study(frame, target="late")                             # doctest: +SKIP
    >>> learnt.compare(a, b)                                               # doctest: +SKIP
    """
    pair = [study if isinstance(study, Study) else open_study(study) for study in (first, second)]
    judged = [_test_rows(study) for study in pair]
    _check_same(pair, judged)
    facts = [study.facts for study in pair]
    level = max(part["test"]["level"] for part in facts)
    groups = _groups(pair, judged[0])
    if facts[0]["classes"] is None:
        measures = _amounts(facts[0], judged, groups, level)
    else:
        measures = _classes(facts, judged, groups, level)
    labels = [part["chosen"]["label"] for part in facts]
    return Comparison(facts[0]["target"], len(judged[0]), (labels[0], labels[1]), measures, level, pair[0]._library)


def _test_rows(study: Study) -> pl.DataFrame:
    """The predictions of the test rows, in the order of the table."""
    if study.facts["test"] is None:
        raise StudyError(
            f"The test set of {study.folder} is sealed or there was no model to judge; nothing to compare."
        )
    return study._judged.sort("row")


def _check_same(pair: list[Study], judged: list[pl.DataFrame]) -> None:
    one, two = (study.facts for study in pair)
    if one["target"] != two["target"] or one["task"] != two["task"] or one["classes"] != two["classes"]:
        raise StudyError(
            f"The studies predict different things, “{one['target']}” and “{two['target']}”: compare neither."
        )
    same = judged[0]["row"].equals(judged[1]["row"]) and judged[0][one["target"]].equals(judged[1][one["target"]])
    if not same or one["data"]["rows"] != two["data"]["rows"]:
        raise StudyError(
            "The studies were judged on different test rows, so that they cannot be compared in pairs; study the same "
            "rows of the table with the same seed."
        )


def _groups(pair: list[Study], judged: pl.DataFrame) -> np.ndarray | None:
    """Which rows hang together, where a study held whole groups out and its table is known."""
    for study in pair:
        if study.facts["data"]["group"] is not None and study._table is not None:
            groups = study._studied[study.facts["data"]["group"]].gather(judged["row"])
            return as_text(groups).fill_null("(missing)").to_numpy()
    return None


def _measure(name: str, found: Interval, first: float, second: float, greater: bool = False) -> Measure:
    return Measure(name, first, second, second - first, found.low, found.high, greater)


def _amounts(facts: dict[str, Any], judged: list[pl.DataFrame], groups: Any, level: float) -> tuple[Measure, ...]:
    y = judged[0][facts["target"]].to_numpy()
    errors = np.column_stack([part["prediction"].to_numpy() - y for part in judged])
    squares, sizes = errors**2, np.abs(errors)
    roots = lambda m: np.sqrt(m[:, 1]) - np.sqrt(m[:, 0])  # noqa: E731
    rmse = bootstrap_interval(squares, roots, groups=groups, level=level)
    mae = bootstrap_interval(sizes[:, 1] - sizes[:, 0], groups=groups, level=level)
    return (
        _measure("RMSE", rmse, *np.sqrt(squares.mean(axis=0)).tolist()),
        _measure("mean absolute error", mae, *sizes.mean(axis=0).tolist()),
    )


def _classes(facts: list[dict[str, Any]], judged: list[pl.DataFrame], groups: Any, level: float) -> tuple[Measure, ...]:
    target, classes = facts[0]["target"], facts[0]["classes"]
    wrong = np.column_stack([(part["prediction"] != part[target]).to_numpy() for part in judged]).astype(float)
    means = [("error rate", wrong)]
    measures: list[Measure] = []
    names = [f"p({name})" for name in classes]
    if all(name in part.columns for part in judged for name in names):
        outputs = [part.select(names).to_numpy() for part in judged]
        codes = np.searchsorted(np.array(classes), judged[0][target].to_numpy())
        likely = np.column_stack([p[np.arange(len(codes)), codes] for p in outputs])
        means.append(("log loss", -np.log(np.clip(likely, SMALLEST, 1.0))))
        means.append(
            ("Brier score", np.column_stack([brier_losses(codes, p, np.arange(len(classes))) for p in outputs]))
        )
        metric = _asked(facts)
        if metric is not None:
            at = [part["decision"]["threshold"] if metric.at_best_threshold else None for part in facts]
            score = lambda k, rows: metric.score(codes[rows], outputs[k][rows], threshold=at[k])  # noqa: E731
            measures.append(_resampled(metric, score, len(codes), groups, level))
    costs = [part["settings"].get("cost") for part in facts]
    if costs[0] is not None and costs[0] == costs[1]:
        positive = (judged[0][target] == facts[0]["positive"]).to_numpy()
        paid = np.where(positive, costs[0][1], costs[0][0])  # a miss, or a false alarm
        means.append(("cost a row", wrong * paid[:, None]))
    for name, values in means:
        found = bootstrap_interval(values[:, 1] - values[:, 0], groups=groups, level=level)
        measures.append(_measure(name, found, *values.mean(axis=0).tolist()))
    return tuple(measures)


def _asked(facts: list[dict[str, Any]]) -> Metric | None:
    """The metric that both studies were asked for."""
    one, two = (part["settings"] for part in facts)
    if one.get("metric") is None or one.get("metric") != two.get("metric"):
        return None
    classes, positive = facts[0]["classes"], facts[0]["positive"]
    cost = None if one.get("cost") is None else tuple(one["cost"])
    place = None if positive is None else classes.index(positive)
    return metric_of(one["metric"], "classify", len(classes), place, cost)


def _resampled(metric: Metric, score: Callable[[int, np.ndarray], float], n: int, groups: Any, level: float) -> Measure:
    """The paired difference of a metric that is no mean over rows, by drawing rows, or whole groups of them."""
    units = np.arange(n) if groups is None else np.unique(groups, return_inverse=True)[1]
    members = [np.flatnonzero(units == k) for k in range(int(units.max()) + 1)]
    rng = stream(0, 18)
    drawn = []
    for _ in range(DRAWS):
        picked = rng.integers(0, len(members), len(members))
        rows = np.concatenate([members[k] for k in picked])
        drawn.append(score(1, rows) - score(0, rows))
    everything = np.arange(n)
    first, second = score(0, everything), score(1, everything)
    low, high = np.quantile(drawn, [(1 - level) / 2, (1 + level) / 2])
    difference = second - first
    ends = min(float(low), difference), max(float(high), difference)
    return Measure(metric.words, first, second, difference, *ends, bool(metric.greater))


def _shown(value: float) -> str:
    return f"{value:.4f}" if abs(value) < 1 else number(value)
