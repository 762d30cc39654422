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

    A problem is a function of one array θ, the coefficients and below them the intercept: of shape (d + 1,) with an
    intercept, (d,) without, and K columns where the loss takes K scores a row. The intercept is never penalised.
    Solvers see the objective in two parts: `smooth`, which has a gradient, and `rest`, which has a prox.

    Parameters
    ----------
    X : {ndarray, sparse matrix, array of any Array API library} of shape (n_samples, n_features)
        The rows.
    y : array of shape (n_samples,)
        The targets as the loss wants them: numbers, −1 and +1, or classes 0…K−1.
    loss : object of learnt.erm.losses
        What a wrong score costs.
    penalty : object of learnt.erm.penalties, default=NoPenalty()
        What coefficients cost.
    alpha : float, default=0.0
        Regularisation strength: what the penalty is multiplied by.
    bound : float or None, default=None
        Where it is given, the constraint penalty(w) ≤ bound takes the place of alpha·penalty(w).
    weight : array of shape (n_samples,) or None, default=None
        s, what each row counts; None counts every row once.
    fit_intercept : bool, default=True
        Whether there is an intercept.
    n_outputs : int, default=1
        Scores a row: K for a loss of K classes.

    See Also
    --------
    RowsProblem : The same over rows that are read in blocks.
    minimize : Runs a solver on a problem.

    Examples
    --------
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
        """Number of columns of X."""
        return int(self.X.shape[1])

    @cached_property
    def share(self) -> Any:
        """Each row's share in the mean loss."""
        if self.weight is not None:
            return self.weight / namespace(self.weight).sum(self.weight)
        return 1.0 / self.X.shape[0]

    def zero(self) -> Any:
        """θ = 0, in the library and on the device of X.

        Returns
        -------
        theta : array of shape (n_parameters,) or (n_parameters, n_outputs)
            Zeros.
        """
        rows = self.n_features + int(self.fit_intercept)
        shape = (rows,) if self.n_outputs == 1 else (rows, self.n_outputs)
        return like(np.zeros(shape), stored(self.X))

    def coef(self, theta: Any) -> Any:
        """The coefficients in θ.

        Parameters
        ----------
        theta : array of shape (n_parameters,) or (n_parameters, n_outputs)
            The coefficients, and below them the intercept.

        Returns
        -------
        coef : array of shape (n_features,) or (n_features, n_outputs)
            The first n_features entries.
        """
        return theta[: self.n_features]

    def intercept(self, theta: Any) -> Any:
        """The intercept in θ.

        Parameters
        ----------
        theta : array of shape (n_parameters,) or (n_parameters, n_outputs)
            The coefficients, and below them the intercept.

        Returns
        -------
        intercept : float or array of shape (n_outputs,)
            The last entry; 0 without an intercept.
        """
        return theta[self.n_features] if self.fit_intercept else 0.0 * theta[0]

    def join(self, coef: Any, theta: Any) -> Any:
        """θ with other coefficients and the same intercept.

        Parameters
        ----------
        coef : array of shape (n_features,) or (n_features, n_outputs)
            The new coefficients.
        theta : array of shape (n_parameters,) or (n_parameters, n_outputs)
            Where the intercept is taken from.

        Returns
        -------
        theta : array of shape (n_parameters,) or (n_parameters, n_outputs)
            The new coefficients, and below them the intercept.
        """
        return namespace(theta).concat([coef, theta[self.n_features :]]) if self.fit_intercept else coef

    def count(self, which: Callable[[Problem, Any], Any], theta: Any) -> int:
        """How many rows `which(problem, theta)` is true of.

        Parameters
        ----------
        which : callable
            Called with the problem and theta; returns a boolean for each row.
        theta : array of shape (n_parameters,) or (n_parameters, n_outputs)
            The coefficients, and below them the intercept.

        Returns
        -------
        count : int
            Number of such rows.
        """
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
        """xᵢᵀw + b of every row.

        Parameters
        ----------
        theta : array of shape (n_parameters,) or (n_parameters, n_outputs)
            The coefficients, and below them the intercept.

        Returns
        -------
        scores : array of shape (n_samples,) or (n_samples, n_outputs)
            The scores.
        """
        product = self.X @ self.coef(theta)
        return product + self.intercept(theta) if self.fit_intercept else product

    def risk(self, theta: Any) -> float:
        """The mean loss, without the penalty.

        Parameters
        ----------
        theta : array of shape (n_parameters,) or (n_parameters, n_outputs)
            The coefficients, and below them the intercept.

        Returns
        -------
        risk : float
            Σᵢ sᵢ lossᵢ / Σᵢ sᵢ.
        """
        losses = self.loss.value(self.y, self.scores(theta))
        return float(namespace(losses).sum(losses * self.share))

    def mean_loss(self, theta: Any) -> tuple[float, Any]:
        """The mean loss and its gradient, without the penalty.

        Parameters
        ----------
        theta : array of shape (n_parameters,) or (n_parameters, n_outputs)
            The coefficients, and below them the intercept.

        Returns
        -------
        value : float
            Σᵢ sᵢ lossᵢ / Σᵢ sᵢ.
        gradient : array of the shape of theta
            Its derivatives.
        """
        scores = self.scores(theta)
        losses = self.loss.value(self.y, scores)
        value = float(namespace(losses).sum(losses * self.share))
        return value, self.pull(self.loss.gradient(self.y, scores))

    def smooth(self, theta: Any) -> tuple[float, Any]:
        """Value and gradient of the mean loss, and of the penalty if it has a gradient.

        The last point is cached: a solver and its driver evaluate it again when the search has ended.

        Parameters
        ----------
        theta : array of shape (n_parameters,) or (n_parameters, n_outputs)
            The coefficients, and below them the intercept.

        Returns
        -------
        value : float
            The smooth part of the objective.
        gradient : array of the shape of theta
            Its derivatives.
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
        """The gradient of the smooth part of the objective.

        Parameters
        ----------
        theta : array of shape (n_parameters,) or (n_parameters, n_outputs)
            The coefficients, and below them the intercept.

        Returns
        -------
        gradient : array of the shape of theta
            The derivatives of the mean loss, and of the penalty if it has a gradient.
        """
        return self.smooth(theta)[1]

    def rest(self, theta: Any) -> float:
        """The part without a gradient: a penalty with corners, or a constraint (0 inside).

        Parameters
        ----------
        theta : array of shape (n_parameters,) or (n_parameters, n_outputs)
            The coefficients, and below them the intercept.

        Returns
        -------
        value : float
            alpha·penalty(w) of such a penalty; else 0.
        """
        if self.smooth_penalty or self.bound is not None:
            return 0.0
        return self.alpha * float(self.penalty.value(self.coef(theta))) if self.alpha else 0.0

    def objective(self, theta: Any) -> float:
        """The objective: mean loss and penalty.

        Parameters
        ----------
        theta : array of shape (n_parameters,) or (n_parameters, n_outputs)
            The coefficients, and below them the intercept.

        Returns
        -------
        value : float
            What is minimised. A constraint is taken as met.
        """
        smooth = self.alpha * float(self.penalty.value(self.coef(theta))) if self.smooth_penalty and self.alpha else 0.0
        return self.risk(theta) + smooth + self.rest(theta)

    def prox(self, theta: Any, step: float) -> Any:
        """The prox of the part without a gradient; for a constraint the projection.

        Parameters
        ----------
        theta : array of shape (n_parameters,) or (n_parameters, n_outputs)
            Where from.
        step : float
            Length of the step: how much the penalty weighs against staying near theta.

        Returns
        -------
        theta : array of the shape of theta
            argmin over v of  step·rest(v) + ‖v − theta‖²/2.
        """
        return theta if self.smooth_penalty else self.penalty_prox(theta, step)

    def penalty_prox(self, theta: Any, step: float) -> Any:
        """The prox of the penalty alone, be it smooth or not; for a constraint the projection.

        Parameters
        ----------
        theta : array of shape (n_parameters,) or (n_parameters, n_outputs)
            Where from.
        step : float
            Length of the step: how much the penalty weighs against staying near theta.

        Returns
        -------
        theta : array of the shape of theta
            argmin over v of  step·alpha·penalty(v) + ‖v − theta‖²/2; the intercept stays.
        """
        w = self.coef(theta)
        if self.bound is not None:
            return self.join(self.penalty.project(w, self.bound), theta)
        return theta if self.free else self.join(self.penalty.prox(w, step * self.alpha), theta)

    def stationarity(self, theta: Any, gradient: Any) -> float:
        """The largest entry of the gradient, or of the proximal step θ − prox(θ − gradient): 0 at a minimum.

        Parameters
        ----------
        theta : array of shape (n_parameters,) or (n_parameters, n_outputs)
            The coefficients, and below them the intercept.
        gradient : array of the shape of theta
            The gradient of the smooth part there.

        Returns
        -------
        size : float
            The largest absolute entry.
        """
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
        """Second derivatives of the part with a gradient, θ read row by row.

        Parameters
        ----------
        theta : array of shape (n_parameters,) or (n_parameters, n_outputs)
            The coefficients, and below them the intercept.

        Returns
        -------
        H : array of shape (theta.size, theta.size)
            The Hessian.
        """
        H = self.mean_curvature(theta)
        if self.smooth_penalty and self.alpha:
            w = self.coef(theta)
            extra = namespace(theta).reshape(self.join(self.alpha * self.penalty.curvature(w), 0 * theta), (-1,))
            H = H + identity(H) * extra
        return H

    def mean_curvature(self, theta: Any) -> Any:
        """Second derivatives of the mean loss, without the penalty, θ read row by row.

        Parameters
        ----------
        theta : array of shape (n_parameters,) or (n_parameters, n_outputs)
            The coefficients, and below them the intercept.

        Returns
        -------
        H : array of shape (theta.size, theta.size)
            The Hessian of the mean loss.
        """
        bend = self.loss.curvature(self.y, self.scores(theta))
        p, k = theta.shape[0], self.n_outputs
        if k == 1:
            return self.bent_gram(bend)
        xp = namespace(theta)
        blocks = {(a, b): self.bent_gram(bend[:, a, b]) for a in range(k) for b in range(a + 1)}
        rows = [xp.stack([blocks[max(a, b), min(a, b)] for b in range(k)], axis=2) for a in range(k)]
        return xp.reshape(xp.stack(rows, axis=1), (p * k, p * k))

    def mean_curvature_diagonal(self, theta: Any) -> Any:
        """The diagonal of the mean loss's second derivatives.

        Parameters
        ----------
        theta : array of shape (n_parameters,) or (n_parameters, n_outputs)
            The coefficients, and below them the intercept.

        Returns
        -------
        diagonal : array of the shape of theta
            The second derivative in each entry of theta.
        """
        bend = self.loss.curvature(self.y, self.scores(theta))
        if self.n_outputs > 1:
            bend = namespace(bend).stack([bend[:, k, k] for k in range(self.n_outputs)], axis=1)
        X2 = square(self.X)
        return replace(self, X=X2).pull(bend)

    def hessian_diagonal(self, theta: Any) -> Any:
        """The diagonal of the Hessian alone, one pass over the data.

        Parameters
        ----------
        theta : array of shape (n_parameters,) or (n_parameters, n_outputs)
            The coefficients, and below them the intercept.

        Returns
        -------
        diagonal : array of the shape of theta
            The second derivative of the smooth part in each entry of theta.
        """
        diagonal = self.mean_curvature_diagonal(theta)
        if self.smooth_penalty and self.alpha:
            extra = self.alpha * self.penalty.curvature(self.coef(theta))
            diagonal = self.join(self.coef(diagonal) + extra, diagonal)
        return diagonal

    def pull(self, slopes: Any) -> Any:
        """Σᵢ shareᵢ slopeᵢ (xᵢ, 1): from one number a row to one a coefficient.

        Parameters
        ----------
        slopes : array of shape (n_samples,) or (n_samples, n_outputs)
            A number for each score, such as the derivative of the loss there.

        Returns
        -------
        gradient : array of shape (n_parameters,) or (n_parameters, n_outputs)
            The weighted sums.
        """
        share = self.share if self.n_outputs == 1 or isinstance(self.share, float) else self.share[:, None]
        slopes = slopes * share
        g = self.X.T @ slopes
        if not self.fit_intercept:
            return g
        xp = namespace(g)
        return xp.concat([g, xp.reshape(xp.sum(slopes, axis=0), (1,) + tuple(g.shape[1:]))])

    def bent_gram(self, bend: Any) -> Any:
        """Σᵢ shareᵢ bendᵢ (xᵢ, 1)(xᵢ, 1)ᵀ: the Hessian of losses with these second derivatives.

        Parameters
        ----------
        bend : array of shape (n_samples,)
            A number for each row, such as the second derivative of the loss there.

        Returns
        -------
        gram : array of shape (n_parameters, n_parameters)
            The weighted products of columns.
        """
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
