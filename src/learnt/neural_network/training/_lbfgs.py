"""A network by L-BFGS: the loss and the gradient of all rows at once, until the gradient is small."""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np
from scipy import optimize

from learnt.neural_network._torch import torch_for


class Minimum(NamedTuple):
    """Where L-BFGS ended."""

    loss: float
    n_iter: int
    converged: bool
    reason: str


def minimise(network: Any, data: Any, *, max_iter: int, max_fun: int, tol: float, report: Any = None) -> Minimum:
    """Move the parameters to a minimum of the mean loss; `report(note)` is called once an iteration."""
    torch = torch_for("a network")
    parameters = network.parameters
    data.begin_epoch(None)
    X, y, w = data.batch(0, data.n)

    def put(values: np.ndarray) -> None:
        parameters.values.copy_(torch.from_numpy(np.ascontiguousarray(values)))

    def loss_and_gradient(values: np.ndarray) -> tuple[float, np.ndarray]:
        put(values)
        loss = float(network.loss_and_gradients(X, y, w))
        return loss, parameters.gradients.cpu().numpy().astype(np.float64)

    start = parameters.values.cpu().numpy().astype(np.float64)
    found = optimize.minimize(
        loss_and_gradient,
        start,
        method="L-BFGS-B",
        jac=True,
        callback=None if report is None else lambda intermediate_result: report(f"loss {intermediate_result.fun:.4g}"),
        options={"maxfun": max_fun, "maxiter": max_iter, "gtol": tol},
    )
    put(found.x)
    return Minimum(float(found.fun), min(int(found.nit), max_iter), bool(found.success), str(found.message))
