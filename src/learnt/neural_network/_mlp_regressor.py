"""MLPRegressor: numbers by a multilayer perceptron."""

from __future__ import annotations

from typing import Any

import numpy as np
from sklearn.base import MultiOutputMixin, RegressorMixin
from sklearn.utils.metaestimators import available_if

from learnt.engine.estimator import Estimator, Trial
from learnt.engine.params import ParameterError
from learnt.engine.schema import Schema, choice
from learnt.engine.validation import check_target
from learnt.erm import losses
from learnt.explanation import Explained
from learnt.metrics import r2_score
from learnt.neural_network._forward import predictions
from learnt.neural_network._mlp import LAYERS, PARAMS, TRAINED, MultilayerPerceptron, layers_fit, shape_of
from learnt.neural_network._mlp_classifier import is_stochastic
from learnt.neural_network.training import LossOutput, Output, SquaredOutput

_LOSSES = tuple(name for name, loss in losses.NAMES.items() if getattr(loss, "target", "") == "number")


class MLPRegressor(MultilayerPerceptron, MultiOutputMixin, RegressorMixin, Estimator, Explained):
    """Numbers by layers of units:  h_l = φ(h_{l−1} W_l + b_l),  and at the end a linear one.

    A loss plus alpha/2 · Σ‖W‖², over the rows of a batch, is made small by gradients from back-propagation; several
    outputs are summed. For a `random_state` the weights are scikit-learn's, to rounding, and the same on any number of
    threads. Columns and y should be of like scale. Columns of text or categories become embeddings; empty cells are
    filled by the mean and marked. Training needs PyTorch, prediction NumPy alone.

    Parameters
    ----------
    loss : str or loss, default="squared_error"
        "squared_error" is (ŷ − y)²/2 and "poisson" half the deviance, as in scikit-learn; otherwise any loss of numbers
        of `learnt.erm.losses`, by name or as an object ("absolute", "huber", `Quantile(0.9)`, `Gamma()`, …) or one of
        your own with `value(y, z)` and `gradient(y, z)`. For Poisson, Gamma and Tweedie the prediction is e^z.
    hidden_layer_sizes, activation, solver, alpha, batch_size, learning_rate, learning_rate_init, power_t, max_iter, \
shuffle, random_state, tol, verbose, warm_start, momentum, nesterovs_momentum, early_stopping, validation_fraction, \
beta_1, beta_2, epsilon, n_iter_no_change, max_fun, dropout, batch_norm, categorical_features, device, dtype, checkpoint
        As in `MLPClassifier`; early stopping goes by R² on the rows held out.

    Attributes
    ----------
    coefs_, intercepts_ : lists of arrays, one a layer
    loss_, best_loss_ : float
    loss_curve_ : list of float, one an epoch
    validation_scores_, validation_loss_curve_ : lists of float, or None
    best_validation_score_ : float or None
    n_iter_, t_, n_layers_, n_outputs_ : int
    out_activation_ : "identity" or "exp"
    dead_units_ : list of arrays
    embeddings_, batch_norms_ : lists of arrays

    Examples
    --------
    >>> import numpy as np
    >>> x = np.linspace(-2, 2, 60)[:, None]
    >>> model = MLPRegressor(hidden_layer_sizes=10, activation="tanh", solver="lbfgs", random_state=0, tol=1e-3)
    >>> round(model.fit(x, np.sin(2 * x[:, 0])).score(x, np.sin(2 * x[:, 0])), 2)
    1.0
    """

    __learnt_schema__ = Schema(
        params=PARAMS, state={**LAYERS, "out_activation_": choice("identity", "exp")}, extra=TRAINED, rule=layers_fit
    )
    __learnt_trial__ = Trial(
        quick={
            "hidden_layer_sizes": 8,
            "activation": "leaky_relu",
            "learning_rate_init": 0.02,
            "tol": 0.01,
            "n_iter_no_change": 2,
            "random_state": 0,
        },
        weighted=({"early_stopping": True},),
        any_order=False,
        weight_repeats=False,
        weight_unit_free=False,
    )

    def __init__(
        self,
        loss="squared_error",
        hidden_layer_sizes=(100,),
        activation="relu",
        *,
        solver="adam",
        alpha=0.0001,
        batch_size="auto",
        learning_rate="constant",
        learning_rate_init=0.001,
        power_t=0.5,
        max_iter=200,
        shuffle=True,
        random_state=None,
        tol=1e-4,
        verbose=False,
        warm_start=False,
        momentum=0.9,
        nesterovs_momentum=True,
        early_stopping=False,
        validation_fraction=0.1,
        beta_1=0.9,
        beta_2=0.999,
        epsilon=1e-8,
        n_iter_no_change=10,
        max_fun=15000,
        dropout=0.0,
        batch_norm=False,
        categorical_features="from_dtype",
        device="cpu",
        dtype=None,
        checkpoint=None,
    ):
        self.loss = loss
        self.hidden_layer_sizes = hidden_layer_sizes
        self.activation = activation
        self.solver = solver
        self.alpha = alpha
        self.batch_size = batch_size
        self.learning_rate = learning_rate
        self.learning_rate_init = learning_rate_init
        self.power_t = power_t
        self.max_iter = max_iter
        self.shuffle = shuffle
        self.random_state = random_state
        self.tol = tol
        self.verbose = verbose
        self.warm_start = warm_start
        self.momentum = momentum
        self.nesterovs_momentum = nesterovs_momentum
        self.early_stopping = early_stopping
        self.validation_fraction = validation_fraction
        self.beta_1 = beta_1
        self.beta_2 = beta_2
        self.epsilon = epsilon
        self.n_iter_no_change = n_iter_no_change
        self.max_fun = max_fun
        self.dropout = dropout
        self.batch_norm = batch_norm
        self.categorical_features = categorical_features
        self.device = device
        self.dtype = dtype
        self.checkpoint = checkpoint

    @available_if(is_stochastic)
    def partial_fit(self, X: Any, y: Any, sample_weight: Any = None) -> Any:
        """One epoch over these rows, from where the last call ended."""
        return self._fit(X, y, sample_weight, first=not hasattr(self, "coefs_"), incremental=True)

    def _check_parameters(self) -> None:
        super()._check_parameters()
        self._output()

    def _output(self) -> Output:
        """What outputs cost."""
        loss = self.loss
        if isinstance(loss, str):
            if loss not in _LOSSES:
                raise ParameterError(
                    f"The 'loss' parameter of MLPRegressor must be one of {', '.join(map(repr, _LOSSES))}, or a loss "
                    f"object. Got {loss!r} instead."
                )
            if loss == "squared_error":
                return SquaredOutput()
            return LossOutput(losses.NAMES[loss](), 0.5 if loss == "poisson" else 1.0)
        if not (callable(getattr(loss, "value", None)) and callable(getattr(loss, "gradient", None))):
            raise ParameterError(
                f"The 'loss' parameter of MLPRegressor must be a name or an object with value(y, z) and "
                f"gradient(y, z). Got {loss!r} instead."
            )
        if getattr(loss, "target", "number") != "number":
            raise ParameterError(
                f"MLPRegressor predicts numbers, and {loss!r} is a loss of classes; use MLPClassifier."
            )
        return LossOutput(loss)

    def _target(self, y: Any, X: Any) -> np.ndarray:
        shape = () if y is None else shape_of(y)
        if len(shape) == 2 and shape[1] == 1:
            y = check_target(y, "number", X, "MLPRegressor")
        y = check_target(y, "numbers", X, "MLPRegressor")
        lowest, allowed = getattr(getattr(self._output(), "loss", None), "lowest", (-np.inf, True))
        if (y < lowest).any() or (not allowed and (y == lowest).any()):
            bound = f"of {lowest:g} or more" if allowed else f"above {lowest:g}"
            raise ValueError(f"y has the value {y.min():g}, and loss={self.loss!r} of MLPRegressor is for y {bound}.")
        return y

    def _code(self, y: np.ndarray, w: Any, first: bool, classes: Any) -> tuple[np.ndarray, Any, Output]:
        Y = y[:, None] if y.ndim == 1 else y
        if not first and hasattr(self, "n_outputs_") and Y.shape[1] != self.n_outputs_:
            raise ValueError(f"y has {Y.shape[1]} columns, and MLPRegressor was fitted to {self.n_outputs_}.")
        output = self._output()
        self.n_outputs_, self.out_activation_ = Y.shape[1], output.activation
        return Y, w, output

    def _score_of(self, z: np.ndarray, y: np.ndarray, w: Any) -> float:
        p = predictions(z, self.out_activation_)
        return float(r2_score(y, p, sample_weight=w)) if np.isfinite(p).all() else float("nan")

    def predict(self, X: Any) -> np.ndarray:
        """The predicted number, or numbers, of every row."""
        return self._answers(X, self._predicted)

    def _predicted(self, X: Any) -> np.ndarray:
        p = predictions(self._raw(X), self.out_activation_)
        return p[:, 0] if self.n_outputs_ == 1 else p
