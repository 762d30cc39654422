"""Losses: what a wrong score costs.

    numbers     Squared  Absolute  Huber(delta)  LogCosh  Quantile(q)  EpsilonInsensitive(epsilon)
                SquaredEpsilonInsensitive(epsilon)
    amounts     Poisson  Gamma  Tweedie(power)                    the score is the logarithm of the mean
    two sides   Log  Hinge  SquaredHinge  Exponential  ModifiedHuber  ZeroOne     y is −1 or +1
    classes     Softmax                                                           y is 0…K−1, K scores a row

Each is a frozen value with `value(y, score)`, `gradient(y, score)` and `curvature(y, score)`, elementwise over NumPy or
any Array API arrays (`ZeroOne` has a value alone). The mean of a loss is the metric of that name.
`loss_values`, `loss_gradients` and `loss_curvatures` are the same as compiled functions.
"""

from learnt.erm.losses._base import Loss as Loss
from learnt.erm.losses._classification import Exponential as Exponential
from learnt.erm.losses._classification import Hinge as Hinge
from learnt.erm.losses._classification import Log as Log
from learnt.erm.losses._classification import ModifiedHuber as ModifiedHuber
from learnt.erm.losses._classification import SquaredHinge as SquaredHinge
from learnt.erm.losses._classification import ZeroOne as ZeroOne
from learnt.erm.losses._compiled import loss_both as loss_both
from learnt.erm.losses._compiled import loss_curvature as loss_curvature
from learnt.erm.losses._compiled import loss_curvatures as loss_curvatures
from learnt.erm.losses._compiled import loss_gradient as loss_gradient
from learnt.erm.losses._compiled import loss_gradients as loss_gradients
from learnt.erm.losses._compiled import loss_value as loss_value
from learnt.erm.losses._compiled import loss_values as loss_values
from learnt.erm.losses._deviance import Gamma as Gamma
from learnt.erm.losses._deviance import Poisson as Poisson
from learnt.erm.losses._deviance import Tweedie as Tweedie
from learnt.erm.losses._regression import Absolute as Absolute
from learnt.erm.losses._regression import EpsilonInsensitive as EpsilonInsensitive
from learnt.erm.losses._regression import Huber as Huber
from learnt.erm.losses._regression import LogCosh as LogCosh
from learnt.erm.losses._regression import Quantile as Quantile
from learnt.erm.losses._regression import Squared as Squared
from learnt.erm.losses._regression import SquaredEpsilonInsensitive as SquaredEpsilonInsensitive
from learnt.erm.losses._softmax import Softmax as Softmax

#: The names that estimators take, scikit-learn's among them.
NAMES: dict[str, type] = {
    "squared": Squared,
    "squared_error": Squared,
    "absolute": Absolute,
    "absolute_error": Absolute,
    "huber": Huber,
    "log_cosh": LogCosh,
    "quantile": Quantile,
    "epsilon_insensitive": EpsilonInsensitive,
    "squared_epsilon_insensitive": SquaredEpsilonInsensitive,
    "poisson": Poisson,
    "gamma": Gamma,
    "tweedie": Tweedie,
    "log": Log,
    "log_loss": Log,
    "hinge": Hinge,
    "squared_hinge": SquaredHinge,
    "exponential": Exponential,
    "modified_huber": ModifiedHuber,
    "zero_one": ZeroOne,
    "softmax": Softmax,
}

__all__ = [
    "NAMES",
    "Absolute",
    "EpsilonInsensitive",
    "Exponential",
    "Gamma",
    "Hinge",
    "Huber",
    "Log",
    "LogCosh",
    "Loss",
    "ModifiedHuber",
    "Poisson",
    "Quantile",
    "Softmax",
    "Squared",
    "SquaredEpsilonInsensitive",
    "SquaredHinge",
    "Tweedie",
    "ZeroOne",
    "loss_both",
    "loss_curvature",
    "loss_curvatures",
    "loss_gradient",
    "loss_gradients",
    "loss_value",
    "loss_values",
]
