"""The contrasts of independent component analysis and the sums over rows of one step.

A contrast g distinguishes a source from a normal variable; FastICA looks for the w with  E[z g(wᵀz)] = E[g′(wᵀz)] w.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from learnt.engine.arrays import namespace
from learnt.engine.rows import Block


def logcosh(Y: Any, alpha: float) -> tuple[Any, Any]:
    """g = tanh(αy) and the mean of g′ over the last axis."""
    xp = namespace(Y)
    G = xp.tanh(alpha * Y)
    return G, alpha * (1.0 - xp.mean(G * G, axis=-1))


def exponential(Y: Any, alpha: float) -> tuple[Any, Any]:
    """g = y exp(−y²/2)."""
    xp = namespace(Y)
    squares = Y * Y
    bell = xp.exp(-0.5 * squares)
    return Y * bell, xp.mean((1.0 - squares) * bell, axis=-1)


def cube(Y: Any, alpha: float) -> tuple[Any, Any]:
    """g = y³, which is kurtosis."""
    squares = Y * Y
    return squares * Y, 3.0 * namespace(Y).mean(squares, axis=-1)


CONTRASTS: dict[str, Callable] = {"logcosh": logcosh, "exp": exponential, "cube": cube}


class Custom:
    """A contrast of the user's own: a function of wᵀz that gives g and the mean of g′ over the last axis."""

    def __init__(self, function: Callable, arguments: dict[str, Any]) -> None:
        self.function, self.arguments = function, arguments

    def __call__(self, Y: Any, alpha: float) -> tuple[Any, Any]:
        G, slope = self.function(Y, **self.arguments)
        slope = slope if hasattr(slope, "ndim") else namespace(Y).asarray(slope)
        return G, namespace(slope).mean(slope, axis=-1) if slope.ndim == Y.ndim else slope


def contrast_sums(block: Block, W: Any, contrast: Callable, alpha: float) -> tuple:
    """Σ g(wᵀz) z and Σ g′(wᵀz) for every row w of W."""
    Z = block.X
    G, slope = contrast(W @ Z.T, alpha)
    return G @ Z, Z.shape[0] * slope
