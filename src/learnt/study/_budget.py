"""How a study's time is divided: what must come after the race is set aside before it begins.

    began ──── reading, sealing ──── race ────┬── final fits ──┬── test set, report ──┐ end
                                      until ──┘      reserve ──┴────────── closing ───┘

The clock is given, so that tests can turn it.
"""

from __future__ import annotations

import time
from collections.abc import Callable, Sequence

CLOSING = (0.1, 1.2, 10.0)  # share of the budget for the choice, the test set and the report; at least, at most
MOST_FINAL = 0.35  # share of the budget that the final fits may take
SLOWEST = 4.0  # pace that is reckoned with
LAST_RESORT = 0.05  # share of the budget by which it may be overrun rather than lose the model that won
SLACK = 1.3  # a fit may take so much longer than expected


class Budget:
    """Seconds of a study and where they go."""

    def __init__(self, seconds: float, began: float | None = None, clock: Callable[[], float] = time.monotonic) -> None:
        self.seconds, self.clock = seconds, clock
        self.began = clock() if began is None else began
        self.end = self.began + seconds
        self.pace = 1.0  # how many times longer things take than on an idle machine

    def not_counted(self, seconds: float) -> None:
        """Time that is not taken from the budget, such as compiling."""
        self.end += seconds

    def already_spent(self, seconds: float) -> None:
        """Time that an interrupted run has raced; what comes after the race keeps its share."""
        self.end -= min(seconds, max(self.left() - (MOST_FINAL + CLOSING[0]) * self.seconds - CLOSING[1], 0.0))

    def notice_pace(self, wall: float, processor: float) -> None:
        """How busy the machine is, from a step that only calculates: its seconds by the clock and of the processor."""
        self.pace = min(max(wall / max(processor, 1e-3), 1.0), SLOWEST)

    def left(self) -> float:
        return self.end - self.clock()

    @property
    def closing(self) -> float:
        share, least, most = CLOSING
        return min(max(share * self.seconds, least * self.pace), max(most, least * self.pace), 0.4 * self.seconds)

    def for_final_fits(self) -> float:
        """Seconds that remain for final fits at this moment."""
        return max(self.left() - self.closing, 0.0)

    def for_the_judged_fit(self) -> float:
        """The same for the fit that everything else is about: before it is given up, the report's share is used too."""
        return max(self.for_final_fits(), 0.5 * self.left(), LAST_RESORT * self.seconds)

    def race_until(self, final_seconds: float) -> float:
        """The moment at which a race must end whose winner takes so long to be fitted for good."""
        return self.end - self.closing - min(SLACK * final_seconds, MOST_FINAL * self.seconds)


def final_seconds(fits: Sequence[float], growth: float, refit: bool, threads: int = 1) -> float:
    """Seconds for the final fits of a blend from those of its members on a fold, each by one thread.

    Development rows are `growth` times those of a fold; all labelled rows a quarter more than development rows. Every
    further thread is worth half of the first.
    """
    once = sum(fits) * growth**1.1 / (1 + 0.5 * (threads - 1))
    return once * (1 + 1.25**1.1) if refit else once
