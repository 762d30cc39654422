"""MLPClassifier: classes by a multilayer perceptron."""

from __future__ import annotations

from typing import Any

import numpy as np
from sklearn.utils.metaestimators import available_if
from sklearn.utils.multiclass import type_of_target

from learnt.engine.classification.labels import class_weights, encode_labels
from learnt.engine.estimator import Estimator, Trial
from learnt.engine.matrices import dense
from learnt.engine.mixins import ClassifierMixin
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
    are scikit-learn's, to rounding, and the same on any number of threads. Columns should be of like scale: put a
    `StandardScaler` before it. Columns of text or categories become embeddings; empty cells are filled by the mean and
    marked. Training needs PyTorch, prediction NumPy alone.

    Parameters
    ----------
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
    class_weight : dict, "balanced" or None, default=None
        Weights of the classes, which multiply those of the rows. "balanced" gives every class the same total, so that
        recall of a rare class rises, at some cost of precision. One label a row only.
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
    classes_ : ndarray of shape (n_classes,)
        The class labels, sorted; of several labels the numbers of the columns of y.
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
    out_activation_ : {"logistic", "softmax"}
        The function that makes probabilities of the outputs.
    dead_units_ : list of ndarray
        For each hidden layer the units that are 0 for every row of training (with "relu"), and so learn nothing.
    embeddings_ : list of ndarray
        For each column of categories a table with a row for each value; row 0 is for unknown and missing ones.
    batch_norms_ : list of ndarray
        For each hidden layer γ, β, mean and variance, as rows; empty without `batch_norm`.

    See Also
    --------
    MLPRegressor : Predicts numbers.
    ConvNetClassifier : Classes of images, by convolutions.
    learnt.linear_model.LogisticRegression : The same without hidden layers; convex, and quick.
    learnt.ensemble.HistGradientBoostingClassifier : Boosted trees, often better on tables.

    Notes
    -----
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
        class_weight: Any = None,
        dropout: float = 0.0,
        batch_norm: bool = False,
        categorical_features: Any = "from_dtype",
        device: Any = "cpu",
        dtype: Any = None,
        checkpoint: Any = None,
    ) -> None:
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
    def partial_fit(self, X: Any, y: Any, sample_weight: Any = None, classes: Any = None) -> MLPClassifier:
        """One epoch over these rows, from where the last call ended; the first call names all `classes`.

        Not with `solver="lbfgs"`, early stopping or `class_weight="balanced"`.

        Parameters
        ----------
        X : {array-like, sparse matrix, data frame} of shape (n_samples, n_features)
            The rows to learn from.
        y : array-like of shape (n_samples,) or (n_samples, n_labels)
            Class labels, or columns of 0 and 1 for several labels.
        sample_weight : array-like of shape (n_samples,), default=None
            What each row counts: its loss is multiplied by it. None counts every row once.
        classes : array-like of shape (n_classes,), default=None
            All class labels that will ever come; needed in the first call, optional in later ones.

        Returns
        -------
        self : object
            The fitted estimator itself.
        """
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
        """The most probable class of every row; of several labels a column of 0 and 1 for each.

        Returns
        -------
        y_pred : ndarray of shape (n_samples,) or (n_samples, n_labels)
            The predicted label of each row.
        """
        return self._answers(X, self._labels)

    def _labels(self, X: Any) -> np.ndarray:
        coefs, intercepts = self._layers()
        exclusive = self.out_activation_ == "softmax" or self.n_outputs_ == 1
        if exclusive and _labels_in_single.applies(X, coefs):
            return self.classes_[_labels_in_single.labels_in_single(X, coefs, intercepts, self.activation)]
        z = self._raw(X)
        return self.classes_[_labels_in_single.labels_of(z)] if exclusive else (z > 0).astype(np.int64)

    def predict_proba(self, X: Any) -> np.ndarray:
        """The probability of each class, (n, K), or of each label.

        Returns
        -------
        proba : ndarray of shape (n_samples, n_classes)
            The probability of each class, in the order of `classes_`. A row adds up to 1, but for several labels, each
            of which has a probability of its own.
        """
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
