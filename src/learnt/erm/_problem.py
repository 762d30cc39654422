"""The problem itself, as a function of one array θ: the coefficients, and below them the intercept."""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import dataclass, replace
from typing import Any, ClassVar

import numpy as np
from scipy import sparse

from learnt.engine.arrays import like, namespace
from learnt.engine.cached import cached_property
from learnt.engine.matrices import identity, square, stored
from learnt.erm.penalties import NoPenalty

_FREE = NoPenalty()


@dataclass(frozen=True, eq=False)
class Problem:
    """min over w, b of  Σᵢ sᵢ loss(yᵢ, xᵢᵀw + b) / Σᵢ sᵢ + alpha·penalty(w),  or subject to penalty(w) ≤ bound.

    X is a NumPy array, a SciPy sparse matrix or an array of any Array API library. θ has shape (d + 1,) with an
    intercept, (d,) without, and K columns where the loss takes K scores a row. The intercept is never penalised.

    >>> from learnt.erm.losses import Squared
    >>> problem = Problem(np.array([[1.0], [3.0]]), np.array([2.0, 6.0]), Squared(), fit_intercept=False)
    >>> float(problem.objective(np.array([2.0]))), problem.gradient(np.array([0.0]))
    (0.0, array([-20.]))
    """

    X: Any
    y: Any
    loss: Any
    penalty: Any = _FREE
    alpha: float = 0.0
    bound: float | None = None
    weight: Any = None
    fit_intercept: bool = True
    n_outputs: int = 1

    #: Whether solvers can see the rows; `RowsProblem` shows them sums alone.
    in_memory: ClassVar[bool] = True

    # Shapes and parts of θ

    @cached_property
    def n_features(self) -> int:
        return int(self.X.shape[1])

    @cached_property
    def share(self) -> Any:
        """Each row's share in the mean loss."""
        if self.weight is not None:
            return self.weight / namespace(self.weight).sum(self.weight)
        return 1.0 / self.X.shape[0]

    def zero(self) -> Any:
        """θ = 0."""
        rows = self.n_features + int(self.fit_intercept)
        shape = (rows,) if self.n_outputs == 1 else (rows, self.n_outputs)
        return like(np.zeros(shape), stored(self.X))

    def coef(self, theta: Any) -> Any:
        return theta[: self.n_features]

    def intercept(self, theta: Any) -> Any:
        return theta[self.n_features] if self.fit_intercept else 0.0 * theta[0]

    def join(self, coef: Any, theta: Any) -> Any:
        """θ with other coefficients and the same intercept."""
        return namespace(theta).concat([coef, theta[self.n_features :]]) if self.fit_intercept else coef

    def count(self, which: Callable[[Problem, Any], Any], theta: Any) -> int:
        """How many rows `which(problem, theta)` is true of."""
        found = which(self, theta)
        return int(namespace(found).sum(namespace(found).astype(found, namespace(found).int64)))

    # The objective, in two parts: one with a gradient, one with a prox

    @property
    def smooth_penalty(self) -> bool:
        """Whether the penalty belongs to the part with a gradient."""
        return self.bound is None and bool(getattr(self.penalty, "smooth", False))

    @property
    def free(self) -> bool:
        """Whether there is neither a penalty nor a constraint."""
        priced = self.alpha > 0 and not isinstance(self.penalty, NoPenalty)
        return self.bound is None and not priced and not getattr(self.penalty, "is_set", False)

    def scores(self, theta: Any) -> Any:
        product = self.X @ self.coef(theta)
        return product + self.intercept(theta) if self.fit_intercept else product

    def risk(self, theta: Any) -> float:
        """The mean loss."""
        losses = self.loss.value(self.y, self.scores(theta))
        return float(namespace(losses).sum(losses * self.share))

    def mean_loss(self, theta: Any) -> tuple[float, Any]:
        """The mean loss and its gradient."""
        scores = self.scores(theta)
        losses = self.loss.value(self.y, scores)
        value = float(namespace(losses).sum(losses * self.share))
        return value, self.pull(self.loss.gradient(self.y, scores))

    def smooth(self, theta: Any) -> tuple[float, Any]:
        """Value and gradient of the mean loss, and of the penalty if it has a gradient.

        The last point is cached: a solver and its driver evaluate it again when the search has ended.
        """
        known = self.__dict__.get("_last")
        if known is None or not bool(namespace(theta).all(known[0] == theta)):
            known = self.__dict__["_last"] = (theta + 0.0, *self._smooth(theta))
        return known[1], known[2]

    def _smooth(self, theta: Any) -> tuple[float, Any]:
        value, gradient = self.mean_loss(theta)
        if self.smooth_penalty and self.alpha:
            w = self.coef(theta)
            value += self.alpha * float(self.penalty.value(w))
            gradient = self.join(self.coef(gradient) + self.alpha * self.penalty.gradient(w), gradient)
        return value, gradient

    def gradient(self, theta: Any) -> Any:
        return self.smooth(theta)[1]

    def rest(self, theta: Any) -> float:
        """The part without a gradient: a penalty with corners, or a constraint (0 inside)."""
        if self.smooth_penalty or self.bound is not None:
            return 0.0
        return self.alpha * float(self.penalty.value(self.coef(theta))) if self.alpha else 0.0

    def objective(self, theta: Any) -> float:
        smooth = self.alpha * float(self.penalty.value(self.coef(theta))) if self.smooth_penalty and self.alpha else 0.0
        return self.risk(theta) + smooth + self.rest(theta)

    def prox(self, theta: Any, step: float) -> Any:
        """The prox of the nonsmooth part; for a constraint the projection."""
        return theta if self.smooth_penalty else self.penalty_prox(theta, step)

    def penalty_prox(self, theta: Any, step: float) -> Any:
        """The same for the penalty alone, be it smooth or not."""
        w = self.coef(theta)
        if self.bound is not None:
            return self.join(self.penalty.project(w, self.bound), theta)
        return theta if self.free else self.join(self.penalty.prox(w, step * self.alpha), theta)

    def stationarity(self, theta: Any, gradient: Any) -> float:
        """The largest entry of the gradient, or of the proximal step θ − prox(θ − gradient)."""
        xp = namespace(theta)
        residual = gradient if self.smooth_penalty else theta - self.prox(theta - gradient, 1.0)
        return float(xp.max(xp.abs(residual)))

    @cached_property
    def scale(self) -> float:
        """The largest entry of the gradient at θ = 0: what "small" is measured by."""
        gradient = self.gradient(self.zero())
        size = float(namespace(gradient).max(namespace(gradient).abs(gradient)))
        return size if 0 < size < math.inf else 1.0

    @cached_property
    def height(self) -> float:
        """The objective at θ = 0: what a small gap is measured by."""
        return max(self.risk(self.zero()), 1e-300)

    # Curvature

    def hessian(self, theta: Any) -> Any:
        """Second derivatives of the part with a gradient, (p, p), θ read row by row."""
        H = self.mean_curvature(theta)
        if self.smooth_penalty and self.alpha:
            w = self.coef(theta)
            extra = namespace(theta).reshape(self.join(self.alpha * self.penalty.curvature(w), 0 * theta), (-1,))
            H = H + identity(H) * extra
        return H

    def mean_curvature(self, theta: Any) -> Any:
        """Second derivatives of the mean loss."""
        bend = self.loss.curvature(self.y, self.scores(theta))
        p, k = theta.shape[0], self.n_outputs
        if k == 1:
            return self.bent_gram(bend)
        xp = namespace(theta)
        blocks = {(a, b): self.bent_gram(bend[:, a, b]) for a in range(k) for b in range(a + 1)}
        rows = [xp.stack([blocks[max(a, b), min(a, b)] for b in range(k)], axis=2) for a in range(k)]
        return xp.reshape(xp.stack(rows, axis=1), (p * k, p * k))

    def mean_curvature_diagonal(self, theta: Any) -> Any:
        """Their diagonal alone."""
        bend = self.loss.curvature(self.y, self.scores(theta))
        if self.n_outputs > 1:
            bend = namespace(bend).stack([bend[:, k, k] for k in range(self.n_outputs)], axis=1)
        X2 = square(self.X)
        return replace(self, X=X2).pull(bend)

    def hessian_diagonal(self, theta: Any) -> Any:
        """The diagonal of the Hessian alone, one pass over the data."""
        diagonal = self.mean_curvature_diagonal(theta)
        if self.smooth_penalty and self.alpha:
            extra = self.alpha * self.penalty.curvature(self.coef(theta))
            diagonal = self.join(self.coef(diagonal) + extra, diagonal)
        return diagonal

    def pull(self, slopes: Any) -> Any:
        """Σᵢ shareᵢ slopeᵢ (xᵢ, 1): from one number a row to one a coefficient."""
        share = self.share if self.n_outputs == 1 or isinstance(self.share, float) else self.share[:, None]
        slopes = slopes * share
        g = self.X.T @ slopes
        if not self.fit_intercept:
            return g
        xp = namespace(g)
        return xp.concat([g, xp.reshape(xp.sum(slopes, axis=0), (1,) + tuple(g.shape[1:]))])

    def bent_gram(self, bend: Any) -> Any:
        """Σᵢ shareᵢ bendᵢ (xᵢ, 1)(xᵢ, 1)ᵀ."""
        bend = bend * self.share
        if sparse.issparse(self.X):
            bent = sparse.csr_array(self.X.multiply(bend[:, None]))
            gram, cross = (self.X.T @ bent).toarray(), np.asarray(bent.sum(axis=0)).ravel()
        else:
            bent = self.X * bend[:, None]
            gram, cross = self.X.T @ bent, namespace(bent).sum(bent, axis=0)
        if not self.fit_intercept:
            return gram
        xp = namespace(gram)
        top = xp.concat([gram, cross[:, None]], axis=1)
        bottom = xp.concat([cross, xp.reshape(xp.sum(bend), (1,))])
        return xp.concat([top, bottom[None, :]], axis=0)
