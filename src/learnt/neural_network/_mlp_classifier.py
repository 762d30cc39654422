"""MLPClassifier: classes by a multilayer perceptron."""

from __future__ import annotations

from typing import Any

import numpy as np
from sklearn.base import ClassifierMixin
from sklearn.utils.metaestimators import available_if
from sklearn.utils.multiclass import type_of_target

from learnt.engine.classification.labels import class_weights, encode_labels
from learnt.engine.estimator import Estimator, Trial
from learnt.engine.matrices import dense
from learnt.engine.params import ParameterError, check_class_weight
from learnt.engine.schema import Schema, choice, labels
from learnt.engine.validation import check_target
from learnt.explanation import Explained
from learnt.neural_network import _labels_in_single
from learnt.neural_network._forward import predictions
from learnt.neural_network._mlp import LAYERS, PARAMS, TRAINED, MultilayerPerceptron, layers_fit, shape_of
from learnt.neural_network.training import LogisticOutput, Output, SoftmaxOutput


def is_stochastic(estimator: Any) -> bool:
    """Whether the solver takes steps on batches, so that there is `partial_fit`."""
    if estimator.solver == "lbfgs":
        raise AttributeError("partial_fit is only available for stochastic optimizers. lbfgs is not stochastic.")
    return True


def _outputs_fit(model: Any, state: dict[str, Any], dims: dict[str, int]) -> str | None:
    k, outputs = len(state["classes_"]), state["n_outputs_"]
    two = state["out_activation_"] == "logistic" and k == 2 and outputs == 1
    if not (two or outputs == k):
        return "has other outputs than classes"
    return layers_fit(model, state, dims)


class MLPClassifier(MultilayerPerceptron, ClassifierMixin, Estimator, Explained):
    """Classes by layers of units:  h_l = φ(h_{l−1} W_l + b_l),  and at the end the probabilities of the classes.

    The log loss plus alpha/2 · Σ‖W‖², over the rows of a batch, is made small by gradients from back-propagation. Two
    classes and several labels have sigmoid outputs, three and more classes softmax. For a `random_state` the weights
    are scikit-learn's, to rounding, and the same on any number of threads. Columns should be of like scale. Columns of
    text or categories become embeddings; empty cells are filled by the mean and marked. Training needs PyTorch,
    prediction NumPy alone.

    Parameters
    ----------
    hidden_layer_sizes : int or list of int, default=(100,)
        Units of each hidden layer; an empty list is a linear model.
    activation : {"relu", "leaky_relu", "tanh", "logistic", "sigmoid", "identity"}, default="relu"
        "logistic" and "sigmoid" are the same.
    solver : {"adam", "sgd", "momentum", "nesterov", "adagrad", "lbfgs"}, default="adam"
        "sgd" has momentum, Nesterov's unless `nesterovs_momentum=False`, as in scikit-learn; momentum=0 is without.
    alpha : float, default=1e-4
        Weight decay.
    batch_size : int or "auto", default="auto"
        min(200, n); n for gradient descent on all rows, 1 for a step each row.
    learning_rate : {"constant", "invscaling", "adaptive", "exponential", "cosine"}, default="constant"
        "invscaling" and "adaptive" are for gradient descent, as in scikit-learn; the others for every solver but lbfgs.
    learning_rate_init, power_t : float, default=0.001 and 0.5
    max_iter : int, default=200
        The most epochs.
    shuffle : bool, default=True
    random_state : int, RandomState or None
    tol, n_iter_no_change : float and int, default=1e-4 and 10
        Stop where the loss, or the validation score, did not improve by `tol` for more than so many epochs.
    verbose : bool, default=False
        Say the loss of every epoch; for a bar see `learnt.engine.progress`.
    warm_start : bool, default=False
    momentum, nesterovs_momentum : float and bool, default=0.9 and True
    early_stopping, validation_fraction : bool and float, default=False and 0.1
        Hold out rows, stop by the accuracy on them, and keep the weights of the best epoch.
    beta_1, beta_2, epsilon : float, default=0.9, 0.999 and 1e-8
        Of Adam; `epsilon` of Adagrad too.
    max_fun : int, default=15000
        The most evaluations of the loss by lbfgs.
    class_weight : dict, "balanced" or None, default=None
    dropout : float, default=0
        The share of hidden units left out at each step.
    batch_norm : bool, default=False
        Normalise what hidden layers give, before the activation.
    categorical_features : "from_dtype", list of columns or None, default="from_dtype"
    device : str, default="cpu"
        Where to train: "cpu", "cuda", "mps", or "auto".
    dtype : "float32", "float64" or None, default=None
        The precision of the network, in training and in `predict`; None: that of X. Single precision takes about half
        the time of double, and outputs have about six digits.
    checkpoint : path or None, default=None
        A file that training is kept in after every epoch and goes on from; removed at the end.

    Attributes
    ----------
    classes_ : array of shape (n_classes,)
    coefs_, intercepts_ : lists of arrays, one a layer
    loss_, best_loss_ : float
    loss_curve_ : list of float, one an epoch
    validation_scores_, validation_loss_curve_ : lists of float, or None
    best_validation_score_ : float or None
    n_iter_, t_, n_layers_, n_outputs_ : int
    out_activation_ : "logistic" or "softmax"
    dead_units_ : list of arrays
        Of each hidden layer the units that are 0 for every row of training (ReLU).
    embeddings_, batch_norms_ : lists of arrays

    Examples
    --------
    >>> import numpy as np
    >>> X = np.array([[0.0, 0.0], [0.0, 1.0], [1.0, 0.0], [1.0, 1.0]])
    >>> y = ["even", "odd", "odd", "even"]
    >>> model = MLPClassifier(8, activation="tanh", solver="lbfgs", alpha=0.0, random_state=0).fit(X, y)
    >>> model.predict(X)
    array(['even', 'odd', 'odd', 'even'], dtype='<U4')
    """

    __learnt_schema__ = Schema(
        params=PARAMS,
        state={**LAYERS, "classes_": labels("c", low=2), "out_activation_": choice("logistic", "softmax")},
        extra=TRAINED,
        rule=_outputs_fit,
    )
    # Rows come in a random order that is part of the result; the penalty is measured by the weights of a batch.
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

    classes_: np.ndarray

    def __init__(
        self,
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
        class_weight=None,
        dropout=0.0,
        batch_norm=False,
        categorical_features="from_dtype",
        device="cpu",
        dtype=None,
        checkpoint=None,
    ):
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
        self.class_weight = class_weight
        self.dropout = dropout
        self.batch_norm = batch_norm
        self.categorical_features = categorical_features
        self.device = device
        self.dtype = dtype
        self.checkpoint = checkpoint

    def _check_parameters(self) -> None:
        super()._check_parameters()
        check_class_weight(self)

    @available_if(is_stochastic)
    def partial_fit(self, X: Any, y: Any, sample_weight: Any = None, classes: Any = None) -> Any:
        """One epoch over these rows, from where the last call ended; the first call names all `classes`."""
        first = not hasattr(self, "coefs_")
        self._check_classes_of_partial_fit(classes)
        return self._fit(X, y, sample_weight, first=first, incremental=True, classes=classes)

    def _target(self, y: Any, X: Any) -> np.ndarray:
        table = dense(y)
        shape = () if table is None else shape_of(table)
        if len(shape) == 2 and shape[1] > 1:
            kind = type_of_target(np.asarray(table))
            if kind != "multilabel-indicator":
                raise ValueError(
                    f"y has {shape[1]} columns of {kind} targets, and MLPClassifier takes one label a row, "
                    "or several labels as columns of 0 and 1."
                )
            return check_target(np.asarray(table), "numbers", X, "MLPClassifier")
        return check_target(table, "label", X, "MLPClassifier")

    def _code(self, y: np.ndarray, w: Any, first: bool, classes: Any) -> tuple[np.ndarray, Any, Output]:
        if y.ndim == 2:
            return self._several(y, w, first, classes)
        known: Any = getattr(self, "classes_", None)
        if classes is not None and known is None:
            self.classes_ = known = np.unique(np.asarray(classes))
        elif first and classes is None:
            self.classes_ = known = encode_labels(y)[0]
        seen, codes = encode_labels(y)
        if self.warm_start and not first and classes is None and not np.array_equal(seen, known):
            raise ValueError(
                "warm_start can only be used where `y` has the same classes as in the previous call to fit. "
                f"Previously got {known}, `y` has {seen}"
            )
        strange = [label for label in seen.tolist() if label not in set(self.classes_.tolist())]
        if strange:
            raise ValueError(
                f"`y` has classes not in `self.classes_`. `self.classes_` has {self.classes_}. 'y' has {seen}."
            )
        if len(self.classes_) < 2:
            raise ValueError(
                f"MLPClassifier needs at least two classes; got 1 class ({self.classes_.tolist()}); a constant needs "
                "no model, see learnt.baseline.ConstantClassifier."
            )
        codes = np.searchsorted(self.classes_, seen)[codes]
        if self.class_weight is not None:
            weights = np.ones(len(y)) if w is None else w
            totals = np.bincount(codes, weights=weights, minlength=len(self.classes_))
            w = weights * class_weights(self.class_weight, self.classes_, totals)[codes]
        two = len(self.classes_) == 2
        self.n_outputs_ = 1 if two else len(self.classes_)
        self.out_activation_ = "logistic" if two else "softmax"
        if two:
            return codes[:, None].astype(np.float32), w, LogisticOutput()
        return codes.astype(np.int64), w, SoftmaxOutput()

    def _several(self, y: np.ndarray, w: Any, first: bool, classes: Any) -> tuple[np.ndarray, Any, Output]:
        if self.class_weight is not None:
            raise ParameterError("class_weight of MLPClassifier is for one label a row, and y has several columns.")
        if not first and y.shape[1] != self.n_outputs_:
            raise ValueError(
                f"y has {y.shape[1]} columns of labels, and MLPClassifier was fitted to {self.n_outputs_}."
            )
        self.n_outputs_, self.out_activation_ = y.shape[1], "logistic"
        self.classes_ = np.arange(y.shape[1])
        return y, w, LogisticOutput()

    def _score_of(self, z: np.ndarray, y: np.ndarray, w: Any) -> float:
        if self.out_activation_ == "softmax":
            right = z.argmax(axis=1) == y
        else:
            right = ((z > 0) == (y > 0.5)).all(axis=1)
        return float(np.average(right, weights=w))

    def predict(self, X: Any) -> np.ndarray:
        """The most probable class of every row; of several labels a column of 0 and 1 for each."""
        return self._answers(X, self._labels)

    def _labels(self, X: Any) -> np.ndarray:
        coefs, intercepts = self._layers()
        exclusive = self.out_activation_ == "softmax" or self.n_outputs_ == 1
        if exclusive and _labels_in_single.applies(X, coefs):
            return self.classes_[_labels_in_single.labels_in_single(X, coefs, intercepts, self.activation)]
        z = self._raw(X)
        return self.classes_[_labels_in_single.labels_of(z)] if exclusive else (z > 0).astype(np.int64)

    def predict_proba(self, X: Any) -> np.ndarray:
        """The probability of each class, (n, K), or of each label."""
        return self._answers(X, self._probabilities)

    def _probabilities(self, X: Any) -> np.ndarray:
        p = predictions(self._raw(X), self.out_activation_)
        return np.concatenate([1 - p, p], axis=1) if self.n_outputs_ == 1 else p

    def predict_log_proba(self, X: Any) -> np.ndarray:
        """The logarithm of the probability of each class."""
        return self._answers(X, self._log_probabilities)

    def _log_probabilities(self, X: Any) -> np.ndarray:
        with np.errstate(divide="ignore"):
            return np.log(self._probabilities(X))

    def __sklearn_tags__(self) -> Any:
        tags = super().__sklearn_tags__()
        tags.classifier_tags.multi_label = True
        return tags
