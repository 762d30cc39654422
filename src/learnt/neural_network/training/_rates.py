"""Learning rate schedules, evaluated at the end of every epoch.

constant      α
invscaling    α / (t + 1)^power_t after t rows
adaptive      α until the loss does not fall any more, then a fifth of it, down to 10⁻⁶
exponential   α · 0.95^epoch
cosine        α · (1 + cos(π epoch/epochs))/2
"""

from __future__ import annotations

import math
from dataclasses import dataclass

NAMES = ("constant", "invscaling", "adaptive", "exponential", "cosine")
_LEAST = 1e-6


@dataclass(frozen=True)
class Rate:
    """A schedule by name."""

    name: str = "constant"
    initial: float = 0.001
    power_t: float = 0.5
    epochs: int = 200

    def after(self, rate: float, epoch: int, t: int) -> float:
        """The rate after so many epochs and rows."""
        if self.name == "invscaling":
            return self.initial / (t + 1) ** self.power_t
        if self.name == "exponential":
            return self.initial * 0.95**epoch
        if self.name == "cosine":
            return self.initial * (1 + math.cos(math.pi * min(1.0, epoch / self.epochs))) / 2
        return rate

    def when_flat(self, rate: float) -> float | None:
        """The next rate when nothing improves any more; None: stop."""
        return rate / 5 if self.name == "adaptive" and rate > _LEAST else None
