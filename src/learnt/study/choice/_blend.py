"""A blend of models: greedy selection with replacement on out-of-fold predictions, or the leaders in equal shares.

At every step the member that lowers the loss of the average most is added once more, so that a model chosen three
times out of ten has the weight 0.3. The best prefix of the sequence is kept. An average of good and different models
is better than the best of them, and the selection needs no fits besides those of the race.

On few rows the selection overfits them. An equal average of the best model of each of a few families has nothing to fit
but their ranking, and is then mostly better.

References
----------
R. Caruana, A. Niculescu-Mizil, G. Crew, A. Ksikes, Ensemble selection from libraries of models (2004)
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

import numpy as np

STEPS = 25
MOST_MEMBERS = 6
FAMILIES = 5  # whose leaders are averaged in equal shares

Loss = Callable[[np.ndarray], np.ndarray]  # (models, …) predictions of the same rows -> one loss each


def greedy_weights(
    predictions: np.ndarray,
    loss: Loss,
    *,
    steps: int = STEPS,
    most: int = MOST_MEMBERS,
    costs: np.ndarray | None = None,
    allowed: float = np.inf,
) -> np.ndarray:
    """Weights that add up to 1, one a model; among equals the first model is taken.

    Parameters
    ----------
    predictions : array of shape (models, …); whatever `loss` takes averages of.
    loss : gives the loss of each of several predictions.
    steps, most : how many times a model is added, and how many different ones at most.
    costs, allowed : seconds that each member takes to be fitted, and what all together may take.

    >>> def squared(errors): return (errors**2).mean(axis=1)
    >>> greedy_weights(np.array([[1.0, -1.0], [-1.0, 1.0], [3.0, 3.0]]), squared)
    array([0.5, 0.5, 0. ])
    """
    models = len(predictions)
    counts, total = np.zeros(models, dtype=np.int64), np.zeros_like(predictions[0])
    best, kept = np.inf, counts
    for step in range(steps):
        open_to = _open(counts, most, costs, allowed)
        if not open_to.any():
            break
        losses = np.full(models, np.inf)
        losses[open_to] = loss((total + predictions[open_to]) / (step + 1))
        taken = int(losses.argmin())
        counts, total = counts.copy(), total + predictions[taken]
        counts[taken] += 1
        if losses[taken] < best * (1 - 1e-12) if best > 0 else losses[taken] < best:
            best, kept = losses[taken], counts
    return kept / max(kept.sum(), 1)


def equal_weights(
    predictions: np.ndarray,
    loss: Loss,
    *,
    families: Sequence[str],
    most: int = FAMILIES,
    costs: np.ndarray | None = None,
    allowed: float = np.inf,
) -> np.ndarray:
    """The same shares for the best model of each of the best families, while there is time to fit them.

    >>> def squared(errors): return (errors**2).mean(axis=1)
    >>> errors = np.array([[1.0, -1.0], [1.0, -2.0], [-2.0, 2.0], [9.0, 9.0]])
    >>> equal_weights(errors, squared, families=["tree", "tree", "line", "line"])
    array([0.5, 0. , 0.5, 0. ])
    """
    taken: list[int] = []
    for k in np.argsort(loss(predictions), kind="stable").tolist():
        seconds = 0.0 if costs is None else float(costs[[*taken, k]].sum())
        if len(taken) < most and families[k] not in [families[j] for j in taken] and seconds <= allowed:
            taken.append(k)
    weights = np.zeros(len(predictions))
    weights[taken] = 1 / max(len(taken), 1)
    return weights


def _open(counts: np.ndarray, most: int, costs: np.ndarray | None, allowed: float) -> np.ndarray:
    """Which models may be added next: those already in the blend, and others while its size and the time allow."""
    inside = counts > 0
    if inside.sum() >= most:
        return inside
    if costs is None or not np.isfinite(allowed):
        return np.ones(len(counts), dtype=bool)
    return inside | (costs[inside].sum() + costs <= allowed)


def cross_fitted(
    predictions: np.ndarray,
    loss_of: Callable[[np.ndarray], Loss],
    groups: np.ndarray,
    weigh: Callable[..., np.ndarray] = greedy_weights,
    **options: Any,
) -> tuple[np.ndarray, dict[int, np.ndarray]]:
    """Weights from all rows, and for each group those that all other groups chose, by which it is judged honestly.

    `predictions` is (models, rows, …); `loss_of(rows)` gives the loss on these rows (a mask).
    """
    everything = np.ones(predictions.shape[1], dtype=bool)
    weights = weigh(predictions, loss_of(everything), **options)
    honest = {}
    for g in np.unique(groups).tolist():
        outside = groups != g
        honest[g] = weigh(predictions[:, outside], loss_of(outside), **options)
    return weights, honest


def alone_weights(predictions: np.ndarray, loss: Loss) -> np.ndarray:
    """Everything for the best model: what picking one of many amounts to."""
    return np.eye(len(predictions))[int(loss(predictions).argmin())]
