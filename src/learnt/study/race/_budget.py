"""How a study's time is divided: what must come after the race is set aside before it begins.

    began ─── profiling, sealing ─── race ────┬── choice ──┬── final fits ──┬── test set, report ──┐ end
                                      until ──┘            └──── reserve ───┴────────── closing ───┘

What the study itself calculates is known in seconds of the processor: some whatever the table, and more the more its
reading, profiling and sealing took. On a busy machine they take `pace` times longer: as those steps did, and, once
models race, as the latest fits do. Final fits are foreseen from those of the race, which were measured by the clock,
under the load that there is. The clock is given, so that tests can turn it.
"""

from __future__ import annotations

import time
from collections.abc import Callable, Sequence

# Processor seconds for the test set and the report: for any table, and for each second that reading and sealing it
# took; a share of the budget more, at most so much.
CLOSING = (0.3, 0.5, 0.03, 8.0)
# For calibrating, blending and choosing: whatever there is, for each model, and for each of its held-out rows; and the
# share of the budget.
CHOOSING = (0.1, 0.03, 4e-6, 0.02)
MOST_COMPARED = 20  # models that are calibrated and blended
USUAL_WORK = 0.3  # processor seconds for reading and sealing a table, where they were not measured
REPORT = 0.4  # share of the closing that comes after the test set
MOST_CLOSING = 0.4  # share of the budget that choice and closing may take together
MOST_FINAL = 0.35  # share of the budget that the final fits may take
LEAST_FINAL = 0.5  # processor seconds of them for building, saving and reading, however short the fits are
FIRST_FINAL = 0.15  # the same of a model that is quick, for which they are hurried
SLOWEST = 20.0  # pace that is reckoned with
REMEMBERED = 4.0  # seconds of fits after which a measured pace has half its weight
LAST_RESORT = 0.05  # share of the budget by which it may be overrun rather than lose the only model, or the winner
PROMISED = 3.0  # seconds of budget from which there is a model, not only a constant, if that takes twice the budget
LEAST_GRACE = 10.0  # seconds that it may take longer in any case: next to nothing on a machine that is starved
SLACK = 1.25  # a fit may take so much longer than expected


class Budget:
    """Seconds of a study and where they go."""

    def __init__(self, seconds: float, began: float | None = None, clock: Callable[[], float] = time.monotonic) -> None:
        self.seconds, self.clock = seconds, clock
        self.began = clock() if began is None else began
        self.end = self.began + seconds
        self.pace = 1.0  # how many times longer things take than on an idle machine
        self._measured = (0.0, 0.0)  # seconds by the clock and of the processor that it was read from
        self._compared = (1, 0)
        self.work = USUAL_WORK  # processor seconds in which the table was read, profiled and sealed

    def not_counted(self, seconds: float) -> None:
        """Time that is not taken from the budget, such as what preparing takes beyond half of it."""
        self.end += seconds

    def already_spent(self, seconds: float) -> None:
        """Time that an interrupted run has raced; what comes after the race keeps its share."""
        reserved = MOST_FINAL * self.seconds + self.choosing + self.closing
        self.end -= min(seconds, max(self.left() - reserved, 0.0))

    def notice_pace(self, wall: float, processor: float) -> None:
        """How busy the machine is, from steps that only calculate: their seconds by the clock and of the processor."""
        self._measured = (wall, max(processor, 1e-3))
        self.pace = min(max(wall / self._measured[1], 1.0), SLOWEST)

    def notice_fit(self, wall: float, processor: float) -> None:
        """The same from a fit of the race, which outweighs earlier ones the more, the longer it took."""
        kept = 0.5 ** (wall / REMEMBERED)
        self.notice_pace(kept * self._measured[0] + wall, kept * self._measured[1] + processor)

    def left(self) -> float:
        return self.end - self.clock()

    @property
    def grace(self) -> float:
        """Seconds beyond the budget that the first model may take, on a machine on which none was done within it."""
        return max(self.seconds, LEAST_GRACE) if self.seconds >= PROMISED else 0.0

    @property
    def closing(self) -> float:
        """Seconds for the test set and the report."""
        always, by_work, share, most = CLOSING
        own = (always + by_work * self.work) * self.pace + min(share * self.seconds, most)
        return min(own, MOST_CLOSING * self.seconds)

    @property
    def choosing(self) -> float:
        """Seconds between the end of the race and the first final fit."""
        always, by_model, by_row, share = CHOOSING
        models, rows = self._compared
        own = (always + models * (by_model + by_row * rows)) * self.pace + share * self.seconds
        return min(own, max(MOST_CLOSING * self.seconds - self.closing, 0.05 * self.seconds))

    def to_choose_from(self, models: int, rows: int) -> None:
        """How many models have finished, and their held-out rows."""
        self._compared = min(max(models, 1), MOST_COMPARED), rows

    @property
    def report(self) -> float:
        """Seconds for the report alone."""
        return REPORT * self.closing

    def for_final_fits(self) -> float:
        """Seconds that remain for final fits at this moment."""
        return max(self.left() - self.closing, 0.0)

    def for_the_judged_fit(self) -> float:
        """The same for the fit that everything else is about: before it is given up, the report's share is used too."""
        return max(self.for_final_fits(), 0.5 * self.left(), LAST_RESORT * self.seconds)

    def for_the_refit(self) -> float:
        """The same for the fit on all rows, once the test set has been opened: the report alone comes after it."""
        return max(self.left() - self.report, LAST_RESORT * self.seconds)

    def race_until(self, final_seconds: float) -> float:
        """The moment at which a race must end whose winner takes so long to be fitted for good."""
        final = max(SLACK * final_seconds, final_seconds + LEAST_FINAL * self.pace)
        final = min(final, MOST_FINAL * self.seconds)
        return self.end - self.closing - self.choosing - final

    def race_until_the_first(self) -> float:
        """The same while no model has been measured: among none there is nothing to choose, and a quick one will do.

        A budget overrun by little is better than nothing tried.
        """
        final = min(FIRST_FINAL * self.pace, MOST_FINAL * self.seconds)
        return self.end - self.closing - final + LAST_RESORT * self.seconds


def final_seconds(fits: Sequence[float], growth: float, refit: bool, threads: int = 1) -> float:
    """Seconds for the final fits of a blend from those of its members on a fold, each by one thread.

    Development rows are `growth` times those of a fold; all labelled rows a quarter more than development rows. Every
    further thread is worth half of the first.
    """
    once = sum(fits) * growth**1.1 / (1 + 0.5 * (threads - 1))
    return once * (1 + 1.25**1.1) if refit else once
