"""The options of a study, parsed from text where they come as text."""

from __future__ import annotations

import hashlib
import json
import re
from dataclasses import asdict, dataclass, replace
from numbers import Real
from typing import Any

from learnt._version import __version__
from learnt.study._errors import StudyError
from learnt.study.race._metric import read_metric
from learnt.study.table._header import numbered

RACE = 2  # version of the race: increased when older results can no longer be used
# Options that may change without making it another study.
FREE = ("budget", "threads", "fresh", "cost", "overwrite", "prefer", "final", "keep_sealed")


@dataclass(frozen=True)
class Settings:
    """All options of a study; text such as "2m" or "fp=1,fn=10" is read when it is made.

    Parameters
    ----------
    target : str
        The column to predict.
    task : {"auto", "classify", "regress"}, default="auto"
        Classes or amounts; "auto" sees it from the target.
    time : str or None, default=None
        The column that says when; None looks for one, "none" shuffles the rows.
    group : str or None, default=None
        A column whose equal values stay together in every split.
    cost : tuple of float, str or None, default=None
        Costs of a false alarm and of a missed positive.
    keep : str or tuple of str, default=()
        Columns to use although they would be set aside.
    drop : str or tuple of str, default=()
        Columns not to use.
    seed : int, default=0
        Where random numbers come from; 0 or more.
    budget : float or str, default=60.0
        How long it may take, in seconds or as text.
    threads : int or None, default=None
        Number of threads to use; None takes all.
    fresh : bool, default=False
        Whether to start afresh instead of going on from earlier results.
    header : bool or None, default=None
        Whether the first line of a text table holds names; None looks at it.
    overwrite : bool, default=False
        Whether another study in the folder may be replaced.
    prefer : {"best", "simple"}, default="best"
        Choose the lowest loss, or the simplest model within one standard error of it.
    final : {"all", "judged"}, default="all"
        Rows that the final model is fitted to once the test set is open: all, or those it was judged with.
    keep_sealed : bool, default=False
        Leave the test set to `evaluate_study`.
    metric : str or None, default=None
        What models are chosen by; None is the usual loss.

    See Also
    --------
    study : Makes a study with these options.
    parse_budget : Reads a budget.
    parse_cost : Reads costs.

    Examples
    --------
    >>> settings = Settings("late", budget="2m", cost="fp=1,fn=10")
    >>> settings.budget, settings.cost
    (120.0, (1.0, 10.0))
    """

    target: str
    task: str = "auto"
    time: str | None = None
    group: str | None = None
    cost: tuple[float, float] | None = None  # of a false alarm, of a missed positive
    keep: tuple[str, ...] = ()
    drop: tuple[str, ...] = ()
    seed: int = 0
    budget: float = 60.0  # seconds; text such as "2m" becomes seconds
    threads: int | None = None
    fresh: bool = False
    header: bool | None = None  # of a text table: whether its first line holds names; None: detect
    overwrite: bool = False
    prefer: str = "best"  # or "simple": the simplest within one standard error
    final: str = "all"  # rows the final model is fitted on once the test set is open; or "judged": as it was judged
    keep_sealed: bool = False  # leave the test set to `learnt evaluate`; the model has then not seen its rows either
    metric: str | None = None  # what models are chosen by, a name as in `_metric.read_metric`; None: the usual loss

    def __post_init__(self) -> None:
        for name, read in _READ.items():
            object.__setattr__(self, name, read(getattr(self, name)))
        if self.task not in ("auto", "classify", "regress"):
            raise StudyError(f"The task can be auto, classify or regress; it is “{self.task}”.")
        if self.prefer not in ("best", "simple"):
            raise StudyError(f"A study can prefer the best or the simple model; it was asked for “{self.prefer}”.")
        if self.final not in ("all", "judged"):
            raise StudyError(f"The final model can be “all” (refitted on all rows) or “judged”; it is “{self.final}”.")
        if not self.budget > 0:
            raise StudyError(f"The budget must be more than 0 seconds; it is {self.budget:g}.")
        if self.seed < 0:
            raise StudyError(f"The seed must be 0 or more; it is {self.seed}.")
        if self.threads is not None and self.threads < 1:
            raise StudyError(f"The number of threads must be 1 or more; it is {self.threads}.")
        if self.metric is not None:
            read_metric(self.metric)

    @property
    def refits(self) -> bool:
        """Whether the final model is fitted on all rows, which only opened ones may be."""
        return self.final == "all" and not self.keep_sealed

    @property
    def of_columns(self) -> dict[str, Any]:
        """The options that say how the columns are read: those of `pose`."""
        return {part: getattr(self, part) for part in ("task", "time", "group", "keep", "drop")}

    def with_numbered_columns(self, columns: list[str]) -> Settings:
        """The same options for a table without names, whose columns may be given by their number from 1.

        Parameters
        ----------
        columns : list of str
            The names of the table's columns, in order.

        Returns
        -------
        settings : Settings
            The options with names in place of numbers.
        """
        one = {part: numbered(getattr(self, part), columns) for part in ("target", "time", "group")}
        many = {part: tuple(str(numbered(c, columns)) for c in getattr(self, part)) for part in ("keep", "drop")}
        return replace(self, **one, **many)  # type: ignore[arg-type]

    def key(self, data_hash: str) -> str:
        """The name of the study in its journal: data and whatever changes a fit; not budget, costs or threads.

        Parameters
        ----------
        data_hash : str
            The fingerprint of the table.

        Returns
        -------
        key : str
            16 hexadecimal digits.
        """
        asked = asdict(self)
        for free in FREE:
            del asked[free]
        text = json.dumps({"data": data_hash, "version": __version__, "race": RACE, **asked}, sort_keys=True)
        return hashlib.sha256(text.encode()).hexdigest()[:16]


def parse_budget(text: Any) -> float:
    """Seconds from "90", "60s", "2m", "1.5h" or "1h30m".

    Parameters
    ----------
    text : str or float
        The budget; a number is seconds.

    Returns
    -------
    seconds : float
        The budget in seconds.

    Raises
    ------
    StudyError
        Where the text is not a time.

    See Also
    --------
    parse_cost : Reads costs.
    Settings : All options of a study.

    Examples
    --------
    >>> [parse_budget(t) for t in ("90", "60s", "2m", "1h30m", 5)]
    [90.0, 60.0, 120.0, 5400.0, 5.0]
    """
    if isinstance(text, Real) and not isinstance(text, bool):
        return float(text)
    clean = str(text).strip().lower()
    if re.fullmatch(r"\d+(\.\d+)?", clean):
        return float(clean)
    parts = re.findall(r"(\d+(?:\.\d+)?)\s*(h|m|s)[a-z]*", clean)
    if not parts or re.sub(r"(\d+(?:\.\d+)?)\s*(h|m|s)[a-z]*", "", clean).strip():
        raise StudyError(f"The budget “{text}” is not a time; write it as 60s, 5m or 1h.")
    return sum(float(n) * {"h": 3600, "m": 60, "s": 1}[unit] for n, unit in parts)


def parse_cost(text: Any) -> tuple[float, float] | None:
    """Costs of a false alarm and of a missed positive from "fp=1,fn=10".

    Parameters
    ----------
    text : str, tuple of float or None
        The costs.

    Returns
    -------
    costs : tuple of float or None
        Cost of a false alarm and of a missed positive; None where none were given.

    Raises
    ------
    StudyError
        Where the text is not understood.

    See Also
    --------
    parse_budget : Reads a budget.
    Settings : All options of a study.

    Examples
    --------
    >>> parse_cost("fp=1, fn=10"), parse_cost((1, 10)), parse_cost(None)
    ((1.0, 10.0), (1.0, 10.0), None)
    """
    if text is None:
        return None
    if isinstance(text, tuple | list) and len(text) == 2 and all(isinstance(part, Real) for part in text):
        text = f"fp={float(text[0])!r},fn={float(text[1])!r}"
    found = dict(re.findall(r"(fp|fn)\s*=\s*(\d+(?:\.\d+)?)", str(text).lower()))
    if set(found) != {"fp", "fn"} or float(found["fp"]) + float(found["fn"]) <= 0:
        raise StudyError(
            f"The cost “{text}” is not understood; write it as fp=1,fn=10 (a false alarm, a missed positive)."
        )
    return float(found["fp"]), float(found["fn"])


def _names(given: Any) -> tuple[str, ...]:
    """Names of columns: one alone, or several."""
    return (given,) if isinstance(given, str) else tuple(given or ())


_READ = {"budget": parse_budget, "cost": parse_cost, "keep": _names, "drop": _names}  # options that may come as text
