"""What a table holds and what is wrong with it, as plain data."""

from __future__ import annotations

from typing import Any

import numpy as np
import polars as pl

from learnt.engine.documentation import documented
from learnt.preprocessing._categories import MAX_CLASSES, levels_of
from learnt.preprocessing._coding import booleans_of, days_of, moment_text, numbers_of
from learnt.preprocessing._frame import Column, Table, read_table
from learnt.preprocessing._kinds import DROPPED, Decision, decide, words_of
from learnt.preprocessing._leaks import Outcome, suspect
from learnt.preprocessing._strings import factor
from learnt.preprocessing._table_encoder import copies

MUCH_MISSING = 0.5
RARE_CLASS = 0.1
SHORT = 2_000  # rows below which NumPy counts different values sooner than Polars begins to
_AFTERWARDS = {"outcome", "result", "resolution", "resolved", "closed", "settled", "settlement", "final", "cancelled"}
_AFTERWARDS |= {"canceled", "cancellation", "churned", "predicted", "prediction", "refunded", "discharge", "recovered"}


@documented
def profile(table: Any, target: Any = None, *, max_onehot: int = 20) -> dict[str, Any]:
    """Look through a table: what each column is, and what a careful person would want to know before learning from it.

    Parameters
    ----------
    table : data frame, dict of columns or array-like
        The table, with a row for each sample.
    target : str or array-like, optional
        The name of the column to be predicted, or its values.
    max_onehot : int, default=20
        A column of strings with at most so many different values is a category; one with more may also be text or an
        identifier.

    Returns
    -------
    dict
        "n_rows"; "columns", each with name, kind, reason, share missing, number of different values, and its range,
        mean or commonest values; "target" (task, classes or range); "findings", each with "what", "column", "message";
        and the names concerned, as lists: "identifiers", "constants", "duplicates", "leaks", "time_columns", and the
        number "duplicate_rows". All of it can be written as JSON.

    See Also
    --------
    TableEncoder : Makes numbers of such a table.

    Examples
    --------
    >>> from learnt.preprocessing import profile
    >>> sold = ["no", "yes"] * 20
    >>> found = profile({"price": list(range(40)), "sold": sold, "receipt": sold}, target="sold")
    >>> [column["kind"] for column in found["columns"]]
    ['number', 'boolean']
    >>> found["leaks"]
    ['receipt']
    """
    data = read_table(table, "profile")
    data, goal = _split_target(data, target)
    outcome, about = _about_target(goal)
    same = copies(data.columns)
    seen = []
    for column, original in zip(data.columns, same):
        decision = decide(column, named=data.named, max_onehot=max_onehot)
        if original is not None and decision.kind not in DROPPED:
            decision = Decision("duplicate", f"the same cells as {original!r}")
        seen.append((column, decision, _describe(column, decision, data.height)))
    findings = (
        _column_findings(seen) + _suspicions(seen, outcome) + _row_findings(data, outcome) + _target_findings(about)
    )
    times = [f["column"] for f in findings if f["what"] == "time"]
    return {
        "n_rows": data.height,
        "n_columns": len(data.columns),
        "columns": [entry for _, _, entry in seen],
        "target": about,
        "findings": findings,
        "identifiers": _named(findings, "identifier"),
        "constants": _named(findings, "constant") + _named(findings, "empty"),
        "duplicates": _named(findings, "duplicate"),
        "duplicate_rows": next((f["count"] for f in findings if f["what"] == "duplicate rows"), 0),
        "leaks": _named(findings, "leak"),
        "time_columns": times,
    }


def _named(findings: list[dict], what: str) -> list[str]:
    return [finding["column"] for finding in findings if finding["what"] == what]


def _finding(what: str, column: str | None, message: str, **numbers: Any) -> dict[str, Any]:
    return {"what": what, "column": column, "message": message, **numbers}


# --- columns -------------------------------------------------------------------------------------------------


def _describe(column: Column, decision: Decision, height: int) -> dict[str, Any]:
    missing = _missing(column, decision)
    entry: dict[str, Any] = {
        "name": column.name,
        "kind": decision.kind,
        "reason": decision.reason,
        "missing": float(missing.mean()) if height else 0.0,
        "unique": _unique(column),
    }
    if column.form in ("empty", "nested"):
        return entry
    if decision.kind == "date":
        days = days_of(column, decision.reading)[0]
        days = days[np.isfinite(days)]
        if days.size:
            entry |= {"min": moment_text(float(days.min())), "max": moment_text(float(days.max()))}
    elif decision.kind == "number" or (column.form == "number" and decision.kind != "category"):
        entry |= _range(_numbers(column, decision))
    else:
        levels, counts, _ = levels_of(factor(column))
        entry["top"] = [[level, int(count)] for level, count in zip(levels[:5], counts[:5])]
    return entry


def _range(values: np.ndarray) -> dict[str, Any]:
    values = values[np.isfinite(values)]
    if not values.size:
        return {}
    with np.errstate(over="ignore", invalid="ignore"):
        facts = {"min": values.min(), "max": values.max(), "mean": values.mean(), "median": np.median(values)}
    return {name: float(value) if np.isfinite(value) else None for name, value in facts.items()}


def _numbers(column: Column, decision: Decision) -> np.ndarray:
    if decision.kind == "boolean":
        return booleans_of(column)[0]
    if decision.kind == "date":
        return days_of(column, decision.reading)[0]
    return numbers_of(column, decision.reading.get("point", "."))[0]


def _missing(column: Column, decision: Decision) -> np.ndarray:
    if column.form in ("empty", "nested"):
        return np.full(column.values if column.form == "empty" else 0, column.form == "empty")
    if decision.kind in ("number", "boolean", "date"):
        return ~np.isfinite(_numbers(column, decision))
    strings = factor(column)
    return strings.spread(strings.labels.is_null().to_numpy(), True)


def _unique(column: Column) -> int:
    if column.form in ("empty", "nested"):
        return 0
    if column.form in ("string", "label"):
        return int(factor(column).labels.drop_nulls().n_unique())
    values = column.values[~np.isnan(column.values)] if column.values.dtype.kind == "f" else column.values
    if len(values) <= SHORT:
        return len(np.unique(values))
    return int(pl.Series(values).n_unique())


def _column_findings(seen: list) -> list[dict]:
    findings = []
    for column, decision, entry in seen:
        kind, name, share = decision.kind, column.name, entry["missing"]
        constant = kind not in ("empty", "nested", "duplicate") and entry["unique"] <= 1 and share == 0
        if constant:
            findings.append(_finding("constant", name, f"{name!r} has the same value in every row."))
        elif kind == "identifier":
            findings.append(
                _finding(kind, name, f"{name!r} names the rows ({decision.reason}): nothing to learn from.")
            )
        elif kind == "empty":
            findings.append(_finding(kind, name, f"{name!r} is empty."))
        elif kind == "nested":
            findings.append(_finding(kind, name, f"{name!r} {decision.reason}."))
        elif kind == "duplicate":
            findings.append(_finding(kind, name, f"{name!r} has {decision.reason}."))
        if MUCH_MISSING <= share < 1:
            findings.append(
                _finding("missing", name, f"{name!r} is missing in {100 * share:.0f} % of rows.", share=share)
            )
        varies = entry.get("min") is not None and entry["min"] != entry["max"]
        if varies and (kind == "date" or (kind == "number" and _is_year(name, entry))):
            days = _numbers(column, decision)
            finite = days[np.isfinite(days)]
            ordered = bool(len(finite) > 1 and (np.diff(finite) >= 0).all())
            order = ", and the rows are in its order" if ordered else ""
            message = f"{name!r} says when, from {entry['min']} to {entry['max']}{order}: consider a split by time."
            findings.append(_finding("time", name, message, ordered=ordered))
    return findings


def _is_year(name: str, entry: dict) -> bool:
    low, high = entry.get("min"), entry.get("max")
    return "year" in words_of(name) and low is not None and high is not None and 1800 <= low <= high <= 2200


# --- leaks ---------------------------------------------------------------------------------------------------


def _suspicions(seen: list, outcome: Outcome | None) -> list[dict]:
    findings = []
    for column, decision, _ in seen:
        name = column.name
        if column.form in ("empty", "nested"):
            continue
        if outcome is not None:
            found = _suspicion(column, decision, outcome)
            if found is not None and decision.kind == "identifier":
                message = f"The rows are sorted by the target along {name!r}: shuffle before splitting."
                findings.append(_finding("sorted", name, message, score=found.score))
                continue
            if found is not None:
                message = f"{name!r} {found.words}; leave it out unless it is known before the target is."
                findings.append(_finding("leak", name, message, score=found.score))
                continue
        late = _AFTERWARDS & set(words_of(name))
        if late and decision.kind not in DROPPED:
            message = f"{name!r} may be known only after the target is (the word {sorted(late)[0]!r} in its name)."
            findings.append(_finding("known after", name, message))
    return findings


def _suspicion(column: Column, decision: Decision, outcome: Outcome) -> Any:
    missing = _missing(column, decision)
    if column.form == "number" or decision.kind in ("number", "boolean", "date"):
        numbers = _numbers(column, decision) if decision.kind != "category" else column.values.astype(np.float64)
        return suspect(numbers, np.zeros(len(missing), dtype=np.int64), missing, outcome)
    if decision.kind == "identifier":
        return None
    return suspect(None, levels_of(factor(column))[2], missing, outcome)


# --- rows and target -----------------------------------------------------------------------------------------


def _split_target(data: Table, target: Any) -> tuple[Table, Column | None]:
    if target is None:
        return data, None
    if isinstance(target, str):
        goal = next((column for column in data.columns if column.name == target), None)
        if goal is None:
            raise ValueError(f"The table has no column {target!r}; it has {', '.join(map(repr, data.names[:10]))}.")
        rest = [column for column in data.columns if column is not goal]
        if not rest:
            raise ValueError(f"The table has no column but the target {target!r}.")
        return Table(rest, data.named, data.height, data.dtype), goal
    given = read_table({"target": target}, "profile")
    if given.height != data.height:
        raise ValueError(f"The table has {data.height} rows and the target {given.height}.")
    return data, given.columns[0]


def _about_target(goal: Column | None) -> tuple[Outcome | None, dict[str, Any] | None]:
    if goal is None:
        return None, None
    about: dict[str, Any] = {"name": goal.name}
    if goal.form in ("empty", "nested"):
        return None, about | {"task": None, "missing": 1.0}
    decision = decide(goal, named=False, max_onehot=MAX_CLASSES)
    if decision.kind == "number":
        values = _numbers(goal, decision)
        finite = values[np.isfinite(values)]
        distinct = np.unique(finite)
        if len(distinct) > MAX_CLASSES or (distinct != np.round(distinct)).any():
            about |= {"task": "regression", "missing": float(1 - len(finite) / max(len(values), 1)), **_range(values)}
            about["at_max"] = float((finite == finite.max()).mean())
            about["capped"] = _capped(int((finite == finite.max()).sum()), len(finite), len(distinct))
            about["skew"] = _skew(finite)
            return Outcome(values, 0), about
    levels, counts, rows = levels_of(factor(goal))
    about |= {
        "task": "classification",
        "missing": float((rows < 0).mean()),
        "n_classes": len(levels),
        "classes": [[level, int(count)] for level, count in zip(levels[:50], counts[:50])],
        "smallest": int(counts.min()) if len(counts) else 0,
    }
    return (Outcome(rows, len(levels)) if len(levels) > 1 else None), about


def _skew(values: np.ndarray) -> float:
    z = values - values.mean()
    size = np.sqrt(np.mean(z**2))
    return float(np.mean((z / size) ** 3)) if size > 0 else 0.0


def _row_findings(data: Table, outcome: Outcome | None) -> list[dict]:
    usable = {f"{k}": c.values for k, c in enumerate(data.columns) if c.form not in ("empty", "nested")}
    if not usable or data.height == 0:
        return []
    frame = pl.DataFrame(usable)
    if outcome is None:
        repeated = data.height - frame.n_unique()
        contradictory = 0
    else:
        per_row = frame.with_columns(pl.Series("target", outcome.values))
        repeated = data.height - per_row.n_unique()
        contradictory = per_row.n_unique() - frame.n_unique()
    findings = []
    if repeated:
        share = repeated / data.height
        rows = "1 row" if repeated == 1 else f"{repeated} rows"
        message = f"{rows} ({100 * share:.1f} %) repeat{'s' * (repeated == 1)} an earlier row."
        findings.append(_finding("duplicate rows", None, message, count=int(repeated), share=share))
    if contradictory:
        times = "Once" if contradictory == 1 else f"{contradictory} times"
        message = f"{times} the same row comes with another target: no model can tell these apart."
        findings.append(_finding("contradictions", None, message, count=int(contradictory)))
    return findings


def _capped(at_max: int, rows: int, distinct: int) -> bool:
    """Whether the maximum is there far more often than other values are: one row alone is always the maximum.

    >>> _capped(1, 31, 31), _capped(20, 31 + 20, 31), _capped(50, 1000, 20)
    (False, True, False)
    """
    return at_max >= 5 and at_max > 0.01 * rows and at_max > 3 * rows / distinct


def _target_findings(about: dict[str, Any] | None) -> list[dict]:
    if about is None:
        return []
    name, findings = about["name"], []
    if about["missing"] > 0:
        message = (
            f"The target {name!r} is missing in {100 * about['missing']:.1f} % of rows, which cannot be learned from."
        )
        findings.append(_finding("target missing", name, message, share=about["missing"]))
    if about["task"] == "classification":
        total = sum(count for _, count in about["classes"])
        if about["n_classes"] < 2:
            findings.append(_finding("target constant", name, f"The target {name!r} has one value only."))
        elif about["smallest"] < RARE_CLASS * total:
            rarest = about["classes"][-1][0]
            share = about["smallest"] / max(total, 1)
            rows = f"{about['smallest']} row{'s' * (about['smallest'] != 1)}"
            message = f"The rarest class {rarest!r} of {name!r} has {rows} ({100 * share:.1f} %)."
            findings.append(_finding("imbalance", name, message, share=share))
    elif about["task"] == "regression":
        if about["capped"]:
            message = (
                f"{100 * about['at_max']:.1f} % of {name!r} is its maximum {about['max']:g}: it looks capped there."
            )
            findings.append(_finding("capped", name, message, share=about["at_max"]))
        if abs(about["skew"]) > 3:
            message = f"{name!r} is very skewed (skewness {about['skew']:.1f}): consider its logarithm."
            findings.append(_finding("skewed", name, message, skew=about["skew"]))
    return findings
