"""Derivatives of a user's model by torch or JAX; the model sees that library's float64 arrays."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np

LIBRARIES = ("torch", "jax")

Function = Callable[[np.ndarray, np.ndarray], np.ndarray]


class ModelError(ValueError):
    """What a user's function returned cannot be used."""


def check_library(jac: Any) -> None:
    """Raise where the library for automatic differentiation is not installed."""
    if isinstance(jac, str) and jac in LIBRARIES:
        try:
            __import__(jac)
        except ImportError:
            raise ImportError(f"jac={jac!r} needs {jac}, which is not installed: use jac='3-point'.") from None


def through(model: Any, library: str) -> Function:
    """The model's values as NumPy arrays."""
    return _torch_values(model) if library == "torch" else _jax_function(model, derive=False)


def derivative(model: Any, library: str) -> Function:
    """The model's Jacobian, (n, p), as NumPy arrays."""
    return _torch_jacobian(model) if library == "torch" else _jax_function(model, derive=True)


def _torch_values(model: Any) -> Function:
    import torch

    def run(X: np.ndarray, beta: np.ndarray) -> np.ndarray:
        with torch.no_grad():
            return torch.as_tensor(model(_tensor(torch, X), _tensor(torch, beta))).numpy()

    return run


def _torch_jacobian(model: Any) -> Function:
    import torch

    def run(X: np.ndarray, beta: np.ndarray) -> np.ndarray:
        """Column j is ∂/∂u of (Jᵀu)_j, which is linear in u: p backward passes, however many rows."""
        b = _tensor(torch, beta).clone().requires_grad_()
        u = torch.ones(len(X), dtype=torch.float64, requires_grad=True)
        try:
            values = model(_tensor(torch, X), b).reshape(-1)
            (pulled,) = torch.autograd.grad(values, b, u, create_graph=True)
            columns = [
                torch.autograd.grad(pulled[j], u, retain_graph=True, allow_unused=True)[0] for j in range(len(beta))
            ]
        except (AttributeError, RuntimeError, TypeError) as error:
            raise _not_differentiable("torch", error) from error
        return np.column_stack([np.zeros(len(X)) if c is None else c.detach().numpy() for c in columns])

    return run


def _tensor(torch: Any, array: np.ndarray) -> Any:
    """A tensor that shares memory where torch allows it without a warning about read-only arrays."""
    return torch.from_numpy(np.require(array, dtype=np.float64, requirements=["C", "W"]))


def _jax_function(model: Any, derive: bool) -> Function:
    import jax

    def flat(b: Any, X: Any) -> Any:
        return model(X, b).reshape(-1)

    compiled = jax.jit(jax.jacfwd(flat) if derive else flat)

    def run(X: np.ndarray, beta: np.ndarray) -> np.ndarray:
        with _double_precision(jax):
            try:
                return np.asarray(compiled(jax.numpy.asarray(beta), jax.numpy.asarray(X)))
            except (AttributeError, TypeError) as error:  # JAX's own errors about tracing are of these kinds
                raise _not_differentiable("jax", error) from error

    return run


def _double_precision(jax: Any) -> Any:
    """A context in which JAX computes in float64; the setting has moved between releases."""
    if hasattr(jax, "enable_x64"):
        return jax.enable_x64(True)
    return __import__("jax.experimental", fromlist=["enable_x64"]).enable_x64()


def _not_differentiable(library: str, error: Exception) -> ModelError:
    why = (str(error).strip().splitlines() or [type(error).__name__])[0].rstrip(".")
    return ModelError(
        f"jac={library!r} could not differentiate the model ({why[:100]}): write it with {library}'s functions alone, "
        "or use jac='3-point'."
    )
