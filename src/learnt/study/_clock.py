"""What a study's time went into, and what of it the budget counts.

    started ── read ──┬── profile ── seal ── compiling ── race ── judging ──┐ end
                      └────────────────── the budget ───────────────────────┘

The budget is what one waits for once the table is read. What preparing takes beyond half of the budget (a large table,
a busy machine, machine code that is compiled once) is added to it, so that there is something left to race in.
"""

from __future__ import annotations

STEPS = {
    "read": "to start and read",
    "profile": "to profile",
    "seal": "to seal",
    "compiling": "to compile",
    "race": "to race",
    "judging": "to choose, fit and judge",
}


def beyond_half(prepared: float, budget: float) -> float:
    """Seconds of preparing that are added to a budget.

    >>> beyond_half(24.0, 60.0), beyond_half(24.0, 10.0)
    (0.0, 19.0)
    """
    return max(prepared - budget / 2, 0.0)


def note_total(seconds: dict[str, float], total: float) -> None:
    """Add the whole time of a study to those of its steps, and what no other step took as judging."""
    seconds["judging"] = max(total - sum(seconds.get(step, 0.0) for step in STEPS if step != "judging"), 0.0)
    seconds["total"] = total


def time_spent(seconds: dict[str, float], budget: float) -> str:
    """One line on where the time went.

    >>> spent = {"read": 2.0, "profile": 0.31, "seal": 0.2, "compiling": 0.0, "race": 20.0}
    >>> note_total(spent, 30.0)
    >>> print(time_spent(spent, 30.0))
    2 s to start and read, 0.3 to profile, 0.2 to seal, 20 to race, 7.5 to choose, fit and judge: 28 s of a budget of
    30 s once the table was read.
    """
    steps = [f"{_short(seconds[step])} {words}" for step, words in STEPS.items() if seconds.get(step, 0.0) >= 0.05]
    steps = steps or [f"{_short(seconds['total'])} in all"]
    steps[0] = steps[0].replace(" ", " s ", 1)
    more = seconds.get("not counted", 0.0)
    added = f" and {_short(more)} s of preparing beyond half of it" if more else ""
    counted = max(seconds["total"] - seconds.get("read", 0.0), 0.0)
    return f"{', '.join(steps)}: {_short(counted)} s of a budget of {budget:g} s{added} once the table was read."


def _short(seconds: float) -> str:
    return f"{seconds:.0f}" if seconds >= 9.95 else f"{seconds:.1f}".removesuffix(".0")
