"""MLPRegressor: numbers by a multilayer perceptron."""

from __future__ import annotations

from typing import Any

import numpy as np
from sklearn.utils.metaestimators import available_if

from learnt.engine.estimator import Estimator, Trial
from learnt.engine.mixins import MultiOutputMixin, RegressorMixin
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
    threads. Columns and y should be of like scale: put a `StandardScaler` before it. Columns of text or categories
    become embeddings; empty cells are filled by the mean and marked. Training needs PyTorch, prediction NumPy alone.

    Parameters
    ----------
    loss : str or loss, default="squared_error"
        "squared_error" is (ŷ − y)²/2 and "poisson" half the deviance, as in scikit-learn; otherwise any loss of numbers
        of `learnt.erm.losses`, by name or as an object ("absolute", "huber", `Quantile(0.9)`, `Gamma()`, …) or one of
        your own with `value(y, z)` and `gradient(y, z)`. "absolute" and "huber" are robust to outliers. For Poisson,
        Gamma and Tweedie the prediction is e^z.
    hidden_layer_sizes : int or list of int, default=(100,)
        The number of units of each hidden layer: (100, 50) has two. More units and layers fit more complicated
        functions and overfit sooner; an empty list is a linear model.
    activation : {"relu", "leaky_relu", "tanh", "logistic", "sigmoid", "identity"}, default="relu"
        The function φ of hidden units. "relu" is max(0, a); "leaky_relu" has a slope of 0.01 below 0, so that no unit
        dies; "tanh" and "logistic" (also called "sigmoid") are smooth and bounded; "identity" makes the network linear.
    solver : {"adam", "sgd", "momentum", "nesterov", "adagrad", "lbfgs"}, default="adam"
        How the loss is made small.

        - "adam": steps scaled by running averages of gradients and their squares; a good first choice.
        - "sgd": gradient descent with momentum, Nesterov's unless `nesterovs_momentum=False`; `momentum=0` is plain.
        - "momentum", "nesterov": gradient descent with that kind of momentum.
        - "adagrad": steps that shrink by the sum of squared gradients, for rare columns.
        - "lbfgs": a quasi-Newton method on all rows at once; often the best on up to some thousand rows.
    alpha : float, default=1e-4
        The strength of the L2 penalty (weight decay). Larger values mean more regularisation: smaller weights and less
        overfitting. Try powers of 10.
    batch_size : int or "auto", default="auto"
        Rows of a batch; "auto" is min(200, n). n is gradient descent on all rows, 1 a step for each row. Larger batches
        are quicker per epoch and take fewer steps. Not used by "lbfgs".
    learning_rate : {"constant", "invscaling", "adaptive", "exponential", "cosine"}, default="constant"
        How the learning rate changes, from `learning_rate_init` on. Not used by "lbfgs".

        - "constant": it stays.
        - "invscaling": divided by (t + 1)^`power_t` after t rows; gradient descent only.
        - "adaptive": a fifth of it whenever the loss does not fall any more; gradient descent only.
        - "exponential": times 0.95 after each epoch.
        - "cosine": falls to 0 along a cosine over `max_iter` epochs.
    learning_rate_init : float, default=0.001
        The first learning rate: the size of a step. Too large a one diverges, too small a one takes many epochs. The
        parameter most worth choosing, in powers of 10.
    power_t : float, default=0.5
        The exponent of `learning_rate="invscaling"`.
    max_iter : int, default=200
        The most epochs (passes over the rows), or iterations of "lbfgs". A ConvergenceWarning says where they were not
        enough.
    shuffle : bool, default=True
        Whether rows come in another random order in each epoch.
    random_state : int, RandomState, Generator or None, default=None
        Where random numbers come from: first weights, the order of rows, rows held out, dropout. Pass an integer to get
        the same network every time.
    tol : float, default=1e-4
        Training stops at convergence: once the loss, or the validation score, did not improve by `tol` for more than
        `n_iter_no_change` epochs.
    verbose : bool, default=False
        Whether to log the loss of every epoch; for a bar see `learnt.engine.progress`.
    warm_start : bool, default=False
        Whether the next `fit` goes on from these weights, instead of starting afresh.
    momentum : float, default=0.9
        The share of the last step that is added to the next, from 0 to 1; for "sgd", "momentum" and "nesterov".
    nesterovs_momentum : bool, default=True
        Whether "sgd" takes the gradient where the momentum leads, instead of where it is.
    early_stopping : bool, default=False
        Whether to hold out rows, stop by the score on them, and keep the weights of the best epoch. A remedy for
        overfitting.
    validation_fraction : float, default=0.1
        The share of rows that early stopping holds out.
    beta_1 : float, default=0.9
        How slowly Adam's average of gradients changes, from 0 to less than 1.
    beta_2 : float, default=0.999
        How slowly Adam's average of squared gradients changes, from 0 to less than 1.
    epsilon : float, default=1e-8
        Added to what Adam and Adagrad divide by.
    n_iter_no_change : int, default=10
        How many epochs without improvement by `tol` are waited for.
    max_fun : int, default=15000
        The most evaluations of the loss by "lbfgs".
    dropout : float, default=0.0
        The share of hidden units left out at each step, from 0 to less than 1. Against overfitting; 0.1 to 0.5 are
        usual.
    batch_norm : bool, default=False
        Whether what hidden layers give is normalised before the activation, which makes deep networks easier to train.
    categorical_features : "from_dtype", list of columns or None, default="from_dtype"
        Which columns are categories and become embeddings: those of text or categories by their type, these, or none.
    device : str, default="cpu"
        Where to train: "cpu", "cuda", "mps", or "auto" for a GPU where there is one.
    dtype : {"float32", "float64"} or None, default=None
        The precision of the network, in training and in `predict`; None for that of X. Single precision takes about
        half the time of double, and outputs have about six digits.
    checkpoint : path or None, default=None
        A file that training is kept in after every epoch and goes on from when it was interrupted; removed at the end.
        Needs an integer as `random_state`.

    Attributes
    ----------
    coefs_ : list of ndarray
        The weights W of each layer, (units of the layer before, units of the layer).
    intercepts_ : list of ndarray
        The constants b of each layer.
    loss_ : float
        The loss of the last epoch.
    best_loss_ : float or None
        The lowest loss of any epoch; None with early stopping.
    loss_curve_ : list of float
        The loss of each epoch.
    validation_scores_ : list of float or None
        The score on the rows held out after each epoch; None without early stopping.
    validation_loss_curve_ : list of float or None
        The loss on the rows held out after each epoch; None without early stopping.
    best_validation_score_ : float or None
        The highest of these scores; None without early stopping.
    n_iter_ : int
        Epochs, or iterations of "lbfgs".
    t_ : int
        Rows that were seen in training, counted in each epoch.
    n_layers_ : int
        The number of layers, with the columns that go in and the outputs.
    n_outputs_ : int
        The number of outputs.
    out_activation_ : {"identity", "exp"}
        The function that makes predictions of the outputs.
    dead_units_ : list of ndarray
        For each hidden layer the units that are 0 for every row of training (with "relu"), and so learn nothing.
    embeddings_ : list of ndarray
        For each column of categories a table with a row for each value; row 0 is for unknown and missing ones.
    batch_norms_ : list of ndarray
        For each hidden layer γ, β, mean and variance, as rows; empty without `batch_norm`.

    See Also
    --------
    MLPClassifier : Predicts classes.
    ConvNetRegressor : Numbers read off images, by convolutions.
    learnt.linear_model.Ridge : The same without hidden layers, in one step.
    learnt.ensemble.HistGradientBoostingRegressor : Boosted trees, often better on tables.

    Notes
    -----
    Early stopping goes by R² on the rows held out.

    An epoch takes time in proportion to the rows times the number of weights; memory holds the weights, a few copies of
    them for the solver, and a batch. Weights of rows multiply their losses. Trees with boosting are often better on
    tables, and need less care: try those first.

    References
    ----------
    .. [1] D. E. Rumelhart, G. E. Hinton, R. J. Williams, "Learning representations by back-propagating errors",
       Nature 323, 1986.
    .. [2] D. P. Kingma, J. Ba, "Adam: A Method for Stochastic Optimization", ICLR, 2015.
    .. [3] X. Glorot, Y. Bengio, "Understanding the difficulty of training deep feedforward neural networks", AISTATS,
       2010.

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
        loss: Any = "squared_error",
        hidden_layer_sizes: Any = (100,),
        activation: str = "relu",
        *,
        solver: str = "adam",
        alpha: float = 0.0001,
        batch_size: int | str = "auto",
        learning_rate: str = "constant",
        learning_rate_init: float = 0.001,
        power_t: float = 0.5,
        max_iter: int = 200,
        shuffle: bool = True,
        random_state: Any = None,
        tol: float = 1e-4,
        verbose: Any = False,
        warm_start: bool = False,
        momentum: float = 0.9,
        nesterovs_momentum: bool = True,
        early_stopping: bool = False,
        validation_fraction: float = 0.1,
        beta_1: float = 0.9,
        beta_2: float = 0.999,
        epsilon: float = 1e-8,
        n_iter_no_change: float = 10,
        max_fun: int = 15000,
        dropout: float = 0.0,
        batch_norm: bool = False,
        categorical_features: Any = "from_dtype",
        device: Any = "cpu",
        dtype: Any = None,
        checkpoint: Any = None,
    ) -> None:
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
    def partial_fit(self, X: Any, y: Any, sample_weight: Any = None) -> MLPRegressor:
        """One epoch over these rows, from where the last call ended.

        Not with `solver="lbfgs"` or early stopping.

        Parameters
        ----------
        X : {array-like, sparse matrix, data frame} of shape (n_samples, n_features)
            The rows to learn from.
        y : array-like of shape (n_samples,) or (n_samples, n_outputs)
            The numbers to predict.
        sample_weight : array-like of shape (n_samples,), default=None
            What each row counts: its loss is multiplied by it. None counts every row once.

        Returns
        -------
        self : object
            The fitted estimator itself.
        """
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
