"""L2, L1, their mixture, and the number of coefficients that are not 0."""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import Any

import numpy as np

from learnt.engine.arrays import like, namespace, to_numpy
from learnt.erm.penalties._base import Penalty


@dataclass(frozen=True)
class L2(Penalty):
    """‖w‖² = Σ wⱼ²: shrinks all coefficients, most where the data say least.

    The penalty of ridge regression. It makes the minimum unique, and keeps correlated columns together.

    See Also
    --------
    L1 : Makes many coefficients exactly 0.
    ElasticNet : A mixture of the two.

    Examples
    --------
    >>> L2().prox(np.array([3.0]), 1.0), L2().project(np.array([3.0, 4.0]), 1.0)
    (array([1.]), array([0.6, 0.8]))
    """

    smooth = True
    parts = (0.0, 1.0)

    def value(self, w: Any) -> Any:
        """r(w), the price of the coefficients w."""
        return namespace(w).sum(w**2)

    def gradient(self, w: Any) -> Any:
        """The gradient of r at w; one subgradient at a corner."""
        return 2 * w

    def curvature(self, w: Any) -> Any:
        """The second derivative of r in each coefficient."""
        return 0 * w + 2

    def prox(self, w: Any, step: float) -> Any:
        """argmin over v of  step·r(v) + ‖v − w‖²/2."""
        return w / (1 + 2 * step)

    def project(self, w: Any, bound: float) -> Any:
        """The nearest v to w with r(v) ≤ bound."""
        norm2 = float(self.value(w))
        return w if norm2 <= bound else w * math.sqrt(bound / norm2)

    def conjugate(self, v: Any, alpha: float) -> float:
        """max over w of ⟨v, w⟩ − alpha·r(w)."""
        return float(namespace(v).sum(v**2)) / (4 * alpha)

    def support(self, v: Any, bound: float) -> float:
        """max over r(w) ≤ bound of ⟨v, w⟩."""
        return math.sqrt(bound * float(namespace(v).sum(v**2)))


@dataclass(frozen=True)
class L1(Penalty):
    """‖w‖₁ = Σ |wⱼ|: makes many coefficients exactly 0.

    The penalty of the lasso: it selects columns. Of correlated columns it tends to keep one.

    See Also
    --------
    L2 : Shrinks all coefficients, without zeros.
    ElasticNet : A mixture of the two.
    L0 : Counts coefficients in place of their sizes.

    Examples
    --------
    >>> L1().prox(np.array([3.0, -0.5]), 1.0), L1().project(np.array([3.0, 1.0]), 3.0)
    (array([2., 0.]), array([2.5, 0.5]))
    """

    parts = (1.0, 0.0)

    def value(self, w: Any) -> Any:
        """r(w), the price of the coefficients w."""
        xp = namespace(w)
        return xp.sum(xp.abs(w))

    def gradient(self, w: Any) -> Any:
        """The gradient of r at w; one subgradient at a corner."""
        return namespace(w).sign(w)

    def prox(self, w: Any, step: float) -> Any:
        """argmin over v of  step·r(v) + ‖v − w‖²/2."""
        return soft_threshold(w, step)

    def project(self, w: Any, bound: float) -> Any:
        """The soft threshold that leaves exactly `bound`, found by sorting."""
        if float(self.value(w)) <= bound:
            return w
        sizes = np.sort(np.abs(to_numpy(w)).ravel())[::-1]
        cuts = (np.cumsum(sizes) - bound) / np.arange(1, sizes.size + 1)
        kept = np.flatnonzero(sizes > cuts)
        return soft_threshold(w, float(cuts[kept[-1]]) if kept.size else float(sizes[0]))

    def conjugate(self, v: Any, alpha: float) -> float:
        """max over w of ⟨v, w⟩ − alpha·r(w)."""
        xp = namespace(v)
        return 0.0 if float(xp.max(xp.abs(v))) <= alpha * (1 + 1e-12) else math.inf

    def support(self, v: Any, bound: float) -> float:
        """max over w with r(w) ≤ bound of ⟨v, w⟩."""
        xp = namespace(v)
        return bound * float(xp.max(xp.abs(v)))


@dataclass(frozen=True)
class ElasticNet(Penalty):
    """l1_ratio·‖w‖₁ + (1 − l1_ratio)·‖w‖²: some coefficients 0, and correlated columns share what they explain.

    Parameters
    ----------
    l1_ratio : float, default=0.5
        Share of the absolute, from 0 (`L2`) to 1 (`L1`): larger values leave fewer coefficients.

    See Also
    --------
    L1 : The absolute alone.
    L2 : The squares alone.

    Examples
    --------
    >>> float(ElasticNet(0.5).value(np.array([2.0])))
    3.0
    >>> ElasticNet(0.5).prox(np.array([3.0, 0.4]), 1.0)
    array([1.25, 0.  ])
    """

    l1_ratio: float = 0.5

    def __post_init__(self) -> None:
        if not 0 <= self.l1_ratio <= 1:
            raise ValueError(f"ElasticNet needs an l1_ratio in 0…1 and got {self.l1_ratio!r}; 0 is L2, 1 is L1.")

    @property
    def parts(self) -> tuple[float, float]:  # type: ignore[override]
        """Weights of |w| and of w² in r, as coordinate descent needs them."""
        return float(self.l1_ratio), 1.0 - self.l1_ratio

    def value(self, w: Any) -> Any:
        """r(w), the price of the coefficients w."""
        return self.l1_ratio * L1().value(w) + (1 - self.l1_ratio) * L2().value(w)

    def gradient(self, w: Any) -> Any:
        """The gradient of r at w; one subgradient at a corner."""
        return self.l1_ratio * L1().gradient(w) + (1 - self.l1_ratio) * L2().gradient(w)

    def prox(self, w: Any, step: float) -> Any:
        """argmin over v of  step·r(v) + ‖v − w‖²/2."""
        return soft_threshold(w, step * self.l1_ratio) / (1 + 2 * step * (1 - self.l1_ratio))

    def project(self, w: Any, bound: float) -> Any:
        """The prox whose step leaves exactly `bound`, found by halving intervals."""
        if float(self.value(w)) <= bound:
            return w
        low, high = 0.0, 1.0
        while float(self.value(self.prox(w, high))) > bound:
            low, high = high, 2 * high
            if high > 1e18:  # bound = 0 without an L1 part
                return 0 * w
        while high - low > 1e-15 * high:
            middle = (low + high) / 2
            if middle in (low, high):
                break
            low, high = (middle, high) if float(self.value(self.prox(w, middle))) > bound else (low, middle)
        return self.prox(w, high)

    def conjugate(self, v: Any, alpha: float) -> float:
        """max over w of ⟨v, w⟩ − alpha·r(w)."""
        if self.l1_ratio == 1:
            return L1().conjugate(v, alpha)
        over = soft_threshold(v, alpha * self.l1_ratio)
        return float(namespace(v).sum(over**2)) / (4 * alpha * (1 - self.l1_ratio))


@dataclass(frozen=True)
class L0(Penalty):
    """The number of coefficients that are not 0. Not convex: what is found is a local minimum.

    As a constraint, `bound` is the largest number of coefficients that the model may have.

    See Also
    --------
    L1 : Convex, and makes many coefficients 0 as well.

    Examples
    --------
    >>> L0().prox(np.array([2.0, 1.0]), 1.0), L0().project(np.array([2.0, -3.0]), 1)
    (array([2., 0.]), array([ 0., -3.]))
    """

    convex = False

    @property
    def form(self) -> np.ndarray:
        """Its parameters in compiled functions: weights of |w|, w² and w ≠ 0, lowest and highest w."""
        return np.array([0.0, 0.0, 1.0, -math.inf, math.inf])

    def value(self, w: Any) -> Any:
        """r(w), the price of the coefficients w."""
        xp = namespace(w)
        return xp.sum(xp.astype(w != 0, w.dtype)) if xp is not np else float(np.count_nonzero(w))

    def prox(self, w: Any, step: float) -> Any:
        """argmin over v of  step·r(v) + ‖v − w‖²/2."""
        return namespace(w).where(w**2 > 2 * step, w, 0 * w)

    def project(self, w: Any, bound: float) -> Any:
        """The `bound` largest coefficients, the first among equals; the rest 0."""
        count = int(bound)
        if count >= math.prod(w.shape):
            return w
        order = np.argsort(-np.abs(to_numpy(w)).ravel(), kind="stable")[:count]
        keep = np.zeros(math.prod(w.shape))
        keep[order] = 1
        keep = keep.reshape(w.shape)
        return w * like(keep, w)


def soft_threshold(w: Any, cut: float) -> Any:
    """sign(w)·max(|w| − cut, 0), for cut ≥ 0.

    Parameters
    ----------
    w : array
        Numbers, such as coefficients.
    cut : float
        By how much each comes nearer to 0, at most as far as 0.

    Returns
    -------
    shrunk : array of the shape of w
        The numbers after that.

    See Also
    --------
    L1 : The penalty whose prox this is.

    Examples
    --------
    >>> soft_threshold(np.array([3.0, -0.5]), 1.0)
    array([2., 0.])
    """
    return w - namespace(w).clip(w, -cut, cut)
