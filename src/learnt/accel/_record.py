"""What ran: calls and seconds of every replaced name, and what went back to scikit-learn and why."""

from __future__ import annotations

import logging
import threading
from collections import Counter, defaultdict

logger = logging.getLogger("learnt.accel")
_lock = threading.Lock()
_calls: Counter[tuple[str, str]] = Counter()
_seconds: defaultdict[tuple[str, str], float] = defaultdict(float)
_returned: Counter[tuple[str, str]] = Counter()


def ran(name: str, method: str, seconds: float) -> None:
    """A call of a method (of a function: "call") took so long."""
    with _lock:
        _calls[name, method] += 1
        _seconds[name, method] += seconds


def went_back(name: str, why: str) -> None:
    """scikit-learn's was used: one line in the log."""
    why = " ".join(why.split())
    logger.info("%s is scikit-learn's: %s", name, why)
    with _lock:
        _returned[name, why] += 1


def report() -> str:
    """Which replaced names ran in this process, how often and how long, and what scikit-learn's fitted instead.

    Returns
    -------
    report : str
        Lines to print: one for each name, and one for each reason why scikit-learn's was used.

    See Also
    --------
    install : Replaces scikit-learn's names by learnt's.

    Examples
    --------
    >>> report().startswith("learnt.accel: ")
    True
    """
    with _lock:
        names = sorted({name for name, _ in _calls})
        width = max(map(len, names), default=0)
        lines = [f"learnt.accel: {len(names)} replaced names were used"]
        for name in names:
            methods = (method for other, method in _calls if other == name)
            done = (f"{method} {_calls[name, method]}× {_seconds[name, method]:.3f} s" for method in methods)
            lines.append(f"  {name:{width}}  {', '.join(done)}")
        lines += [f"  {name} was scikit-learn's {times}×: {why}" for (name, why), times in sorted(_returned.items())]
        return "\n".join(lines)
