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
    """All options of a study."""

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
        """The same options for a table without names, whose columns may be given by their number from 1."""
        one = {part: numbered(getattr(self, part), columns) for part in ("target", "time", "group")}
        many = {part: tuple(str(numbered(c, columns)) for c in getattr(self, part)) for part in ("keep", "drop")}
        return replace(self, **one, **many)  # type: ignore[arg-type]

    def key(self, data_hash: str) -> str:
        """The name of the study in its journal: data and whatever changes a fit; not budget, costs or threads."""
        asked = asdict(self)
        for free in FREE:
            del asked[free]
        text = json.dumps({"data": data_hash, "version": __version__, "race": RACE, **asked}, sort_keys=True)
        return hashlib.sha256(text.encode()).hexdigest()[:16]


def parse_budget(text: Any) -> float:
    """Seconds from "90", "60s", "2m", "1.5h" or "1h30m".

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
