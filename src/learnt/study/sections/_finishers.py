"""The race as time against loss: when each model finished, and the best loss so far."""

from __future__ import annotations

from collections.abc import Iterable

from learnt.study.facts._sections import Finisher


def finishers(finished: Iterable[tuple[str, str, float, float]]) -> tuple[Finisher, ...]:
    """Models in the order in which they finished, from (label, family, seconds, loss) of each.

    >>> [f.best for f in finishers([("b", "tree", 2.0, 0.3), ("a", "line", 1.0, 0.4), ("c", "tree", 3.0, 0.5)])]
    [True, True, False]
    """
    found: list[Finisher] = []
    best = float("inf")
    for label, family, seconds, loss in sorted(finished, key=lambda f: (f[2], f[3], f[0])):
        found.append(Finisher(label, family, float(seconds), float(loss), loss < best))
        best = min(best, loss)
    return tuple(found)
