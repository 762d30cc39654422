"""A user's model on one set of rows: its residuals, and its Jacobian in five ways.

    None            forward differences, and central ones near convergence, for accuracy
    "2-point"       forward differences only:  (f(b + h) − f(b)) / h
    "3-point"       central differences only:  (f(b + h) − f(b − h)) / 2h
    "torch", "jax"  automatic differentiation; the model is written with that library's functions
    a function      jac(X, b) of shape (n, p)

A difference that would leave the bounds, or where the model has no value, is taken on the other side.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np

from learnt.linear_model.nonlinear._autodiff import LIBRARIES, ModelError, derivative, through

_EPS = float(np.finfo(np.float64).eps)
_FORWARD, _CENTRAL = _EPS**0.5, _EPS ** (1 / 3)

Values = Callable[[Any, np.ndarray], np.ndarray]


def linear(X: np.ndarray, beta: np.ndarray) -> np.ndarray:
    """The model where none is given: X b + c, with c the last parameter."""
    return X @ beta[:-1] + beta[-1]


def linear_jacobian(X: np.ndarray, beta: np.ndarray) -> np.ndarray:
    return np.column_stack([X, np.ones(len(X))])


def model_values(model: Any, jac: Any) -> Values:
    """`model` as a function of NumPy arrays that returns one finite-or-not float64 a row."""
    run = through(model, jac) if isinstance(jac, str) and jac in LIBRARIES else model

    def values(X: np.ndarray, beta: np.ndarray) -> np.ndarray:
        found = run(X, beta)
        try:
            found = None if found is None else np.asarray(found, dtype=np.float64)
        except (TypeError, ValueError):
            found = None
        if found is None or found.shape not in ((len(X),), (len(X), 1)):
            got = "something that is no array of numbers" if found is None else f"an array of shape {found.shape}"
            raise ModelError(
                f"The model returned {got} for the {len(X)} rows of X; model(X, b) must return one number a row, "
                f"shape ({len(X)},)."
            )
        return found.reshape(-1)

    return values


class Problem:
    """Residuals √w (y − f(X, b)) and their (negative) Jacobian, with calls of the model counted."""

    def __init__(
        self,
        model: Any,
        jac: Any,
        X: np.ndarray,
        y: np.ndarray,
        w: np.ndarray | None = None,
        bounds: tuple[np.ndarray, np.ndarray] | None = None,
    ) -> None:
        self.rows = None if w is None or w.all() else np.flatnonzero(w)  # rows of weight 0 are left out
        if self.rows is not None:
            X, y, w = X[self.rows], y[self.rows], w[self.rows]  # type: ignore[index]
        self.X, self.y = X, y
        self.root = None if w is None else np.sqrt(w)
        self.lower: Any = None if bounds is None else bounds[0]
        self.upper: Any = None if bounds is None else bounds[1]
        self.values = model_values(model, jac)
        self.exact = _exact_jacobian(model, jac)
        self.differences = None if self.exact is not None else jac
        self.calls = 0

    def residual(self, beta: np.ndarray) -> np.ndarray:
        self.calls += 1
        residual = self.y - self.values(self.X, beta)
        return residual if self.root is None else residual * self.root

    def start(self, beta: np.ndarray) -> np.ndarray:
        """The residual at the start, which must be finite."""
        try:
            residual = self.residual(beta)
        except (IndexError, ValueError, TypeError) as error:
            if isinstance(error, ModelError):
                raise
            raise ModelError(
                f"The model failed with start={_shown(beta)} ({type(error).__name__}: {error}): start must have one "
                "number for each parameter that the model reads."
            ) from error
        bad = np.flatnonzero(~np.isfinite(residual * residual))
        if bad.size:
            first = bad[0] if self.rows is None else self.rows[bad[0]]
            raise ModelError(
                f"The model returned NaN or infinity at the start for {bad.size} of {len(residual)} rows (the first is "
                f"row {first}): start where the model has a value for every row."
            )
        return residual

    def spread(self) -> float:
        """Σ w (y − ȳ)²."""
        w = np.ones(len(self.y)) if self.root is None else self.root**2
        centred = self.y - (w @ self.y) / w.sum()
        return float(w @ centred**2)

    def tangent(self, beta: np.ndarray, residual: np.ndarray, scale: np.ndarray, central: bool) -> np.ndarray:
        """[√w ∂f/∂b, r] as one Fortran array of n × (p + 1), ready to be factorised."""
        n, p = len(residual), len(beta)
        table = np.empty((n, p + 1), order="F")
        table[:, p] = residual
        if self.exact is not None:
            table[:, :p] = self.exact(self.X, beta)
            if self.root is not None:
                table[:, :p] *= self.root[:, None]
        else:
            central = self.differences == "3-point" or (central and self.differences is None)
            for j in range(p):
                table[:, j] = self._column(beta, residual, j, scale[j], central)
        return table

    def refuse(self, table: np.ndarray) -> None:
        """Raise where the Jacobian is not finite."""
        bad = np.argwhere(~np.isfinite(table))
        if len(bad):
            what = "The model's derivative is" if self.exact is None else "jac returned"
            raise ModelError(
                f"{what} NaN or infinity (row {bad[0][0]}, parameter {bad[0][1]}): start elsewhere, or set bounds that "
                "keep the parameters where the model is smooth."
            )

    def _column(self, beta: np.ndarray, residual: np.ndarray, j: int, scale: float, central: bool) -> np.ndarray:
        """−∂r/∂b_j by differences inside the bounds."""
        size = (_CENTRAL if central else _FORWARD) * max(abs(beta[j]), scale)
        up, ahead = self._shifted(beta, j, size)
        down, behind = self._shifted(beta, j, -size) if central or ahead is None else (0.0, None)
        if ahead is not None and behind is not None:
            return (behind - ahead) / (up - down)
        step, near = (up, ahead) if ahead is not None else (down, behind)
        if near is None:
            return np.full(len(residual), np.nan)
        if central:  # one-sided: the same order of error needs a second point
            double, far = self._shifted(beta, j, 2 * step)
            if far is not None:
                return (3.0 * residual - 4.0 * near + far) / double
        return (residual - near) / step

    def _shifted(self, beta: np.ndarray, j: int, size: float) -> tuple[float, np.ndarray | None]:
        """The shift as it is after rounding, and the residual there; None where there is none."""
        moved = beta.copy()
        moved[j] += size
        if self.lower is not None and not self.lower[j] <= moved[j] <= self.upper[j]:
            return 0.0, None
        shift = float(moved[j] - beta[j])
        if shift == 0.0:
            return 0.0, None
        found = self.residual(moved)
        return shift, found if np.isfinite(np.add.reduce(found)) else None


def _exact_jacobian(model: Any, jac: Any) -> Callable[..., np.ndarray] | None:
    if model is linear:
        return linear_jacobian
    if jac is None or (isinstance(jac, str) and jac not in LIBRARIES):
        return None
    run = derivative(model, jac) if isinstance(jac, str) else jac
    name = f"jac={jac!r}" if isinstance(jac, str) else "The jac function"

    def jacobian(X: np.ndarray, beta: np.ndarray) -> np.ndarray:
        found = np.asarray(run(X, beta))
        if found.shape != (len(X), len(beta)) or found.dtype.kind not in "fiu":
            raise ModelError(
                f"{name} returned an array of shape {found.shape} for {len(X)} rows and {len(beta)} parameters; it "
                f"must be ({len(X)}, {len(beta)}), one row of derivatives for each row of X."
            )
        return found

    return jacobian


def _shown(beta: np.ndarray) -> str:
    return f"{len(beta)} numbers" if len(beta) > 6 else str([float(f"{b:.6g}") for b in beta])
