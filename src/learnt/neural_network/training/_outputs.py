"""What a network's raw outputs z cost, and the derivative that back-propagation starts from.

    value = Σ wᵢ ℓ(yᵢ, zᵢ) / Σ wᵢ          delta = ∂ value / ∂z = wᵢ ℓ′(yᵢ, zᵢ) / Σ wᵢ

Several outputs of a row are summed. Each is written out by hand and is used by every kind of network.

    SquaredOutput    (z − y)²/2                        numbers; z is the prediction
    LogisticOutput   log(1 + e^z) − yz                 one class or several labels; y is 0 or 1, p = 1/(1 + e^−z)
    SoftmaxOutput    log Σ e^zₖ − z_y                  classes; y is the number of each row's class, 0…K−1
    LossOutput       any loss of `learnt.erm.losses`   numbers; the prediction is the loss's inverse link of z
"""

from __future__ import annotations

from typing import Any

from learnt.neural_network._torch import torch_for


class Output:
    """`value_and_delta(z, y, w)`: the value as a tensor without axes, and delta, a new tensor or z's own memory."""

    #: What makes a prediction of z: "identity", "logistic", "softmax" or "exp".
    activation = "identity"

    def value_and_delta(self, z: Any, y: Any, w: Any = None) -> tuple[Any, Any]:
        values, slopes = self.parts(z, y)
        if w is None:
            n = z.shape[0]
            return values.sum().div_(n), slopes.div_(n)
        share = (w / w.sum())[:, None]
        return (values.reshape(len(w), -1) * share).sum(), slopes.mul_(share)

    def parts(self, z: Any, y: Any) -> tuple[Any, Any]:
        """ℓ of each row, one or several numbers, and ℓ′ in z (new tensors)."""
        raise NotImplementedError


class SquaredOutput(Output):
    """(z − y)²/2."""

    def parts(self, z: Any, y: Any) -> tuple[Any, Any]:
        slopes = z - y
        return slopes.square().mul_(0.5), slopes


class LogisticOutput(Output):
    """log(1 + e^z) − yz."""

    activation = "logistic"

    def parts(self, z: Any, y: Any) -> tuple[Any, Any]:
        torch = torch_for("a network")
        # Beyond 40 it is z itself in double precision too.
        values = torch.nn.functional.softplus(z, 1.0, 40.0).addcmul_(y, z, value=-1)
        return values, torch.sigmoid(z).sub_(y)


class SoftmaxOutput(Output):
    """log Σ e^zₖ − z_y."""

    activation = "softmax"

    def parts(self, z: Any, y: Any) -> tuple[Any, Any]:
        torch = torch_for("a network")
        logs, place = torch.log_softmax(z, dim=1), y[:, None]
        values = -logs.gather(1, place)
        return values, logs.exp_().scatter_add_(1, place, torch.full_like(values, -1.0))


class LossOutput(Output):
    """`scale` times a loss with `value(y, z)` and `gradient(y, z)`: one of `learnt.erm.losses`, or one's own."""

    def __init__(self, loss: Any, scale: float = 1.0) -> None:
        self.loss, self.scale = loss, scale
        self.activation = "exp" if type(loss).__name__ in ("Poisson", "Gamma", "Tweedie") else "identity"

    def parts(self, z: Any, y: Any) -> tuple[Any, Any]:
        return self.loss.value(y, z) * self.scale, self.loss.gradient(y, z) * self.scale + 0 * z
