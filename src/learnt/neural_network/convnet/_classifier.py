"""ConvNetClassifier: classes of images."""

from __future__ import annotations

from typing import Any

import numpy as np
from sklearn.base import ClassifierMixin

from learnt.engine.classification.labels import class_weights, encode_labels
from learnt.engine.estimator import Estimator, Trial
from learnt.engine.params import check_class_weight
from learnt.engine.schema import Schema, labels
from learnt.explanation import Explained
from learnt.neural_network.convnet._base import FITTED, PARAMS, TRAINED, ConvNet, network_fits
from learnt.neural_network.training import Output, SoftmaxOutput


def _rule(model: Any, state: dict[str, Any], dims: dict[str, int]) -> str | None:
    return network_fits(model, state, dims) if state["n_outputs_"] == dims["c"] else "has other outputs than classes"


class ConvNetClassifier(ConvNet, ClassifierMixin, Estimator, Explained):
    """Classes of images by convolutions, pools and dense layers, and softmax at the end:  pₖ = e^{zₖ} / Σ e^{zⱼ}.

    The log loss plus alpha/2 · Σ‖W‖² / n is made small by gradients over batches. Shapes are checked before training
    (`summary`). The same `random_state` gives the same network on any number of threads. Rows of a table are images
    too: of `image_shape`, else squares where their length is a square, else lines.

    Parameters
    ----------
    layers : list of layers or None, default=None
        Such as [Conv(32, 3, padding="same"), MaxPool(2), Flatten(), Dense(64), Dropout(0.5)]; a dense layer with one
        unit a class follows by itself. None: layers that suit the size of the images.
    image_shape : (rows, columns), (rows, columns, channels) or None, default=None
        What rows of a table are. (channels, rows, columns) where the layout is "NCHW".
    layout : {"auto", "NHW", "NHWC", "NCHW"}, default="auto"
        Of images with four axes; "auto" takes a last axis of up to 4 for the channels, else a second one (`layout_`).
    augment : Augment or None, default=None
        Small random changes of the images in training, such as Augment(shift=1, rotate=10).
    solver : {"adam", "sgd", "momentum", "nesterov", "adagrad"}, default="adam"
    alpha : float, default=1e-4
        Weight decay.
    batch_size : int or "auto", default="auto"
        min(64, n).
    learning_rate : {"constant", "invscaling", "adaptive", "exponential", "cosine"}, default="cosine"
        "cosine" falls to 0 over `max_iter` epochs.
    learning_rate_init, momentum : float, default=0.001 and 0.9
    max_iter : int, default=30
        Epochs.
    shuffle : bool, default=True
    early_stopping, validation_fraction : bool and float, default=False and 0.1
        Hold out images, stop by the accuracy on them, and keep the weights of the best epoch.
    tol, n_iter_no_change : float and int, default=1e-4 and 10
        Stop where the loss, or the validation score, did not improve by `tol` for more than so many epochs.
    warm_start : bool, default=False
        Whether a second `fit` goes on from the weights of the first, on images of the same size and classes.
    class_weight : dict, "balanced" or None, default=None
    random_state : int, RandomState or None
    verbose : bool, default=False
        Say the loss of every epoch; for a bar see `learnt.engine.progress`.
    device : str, default="cpu"
        Where to train: "cpu", "cuda", "mps", or "auto".
    checkpoint : path or None, default=None
        A file that training is kept in after every epoch and goes on from; removed at the end.

    Attributes
    ----------
    classes_ : array of shape (n_classes,)
    weights_ : dict of arrays
        "conv1.weight" (kernels, rows, columns, channels), "dense1.weight" (units, inputs), "conv1.bias", …
    layers_ : list of layers
    image_shape_, layout_ : (rows, columns, channels), and the layout that X was taken for
    mean_, scale_ : arrays, of each channel
    loss_curve_ : list of float, one an epoch
    validation_scores_, validation_loss_curve_, best_validation_score_, best_epoch_ : with early stopping, else None
    dead_units_ : dict of arrays
        Of each layer with ReLU the channels or units that are 0 for every image of training.
    n_iter_, n_outputs_ : int

    Examples
    --------
    >>> import numpy as np
    >>> from learnt.neural_network import Conv, ConvNetClassifier, Dense, MaxPool
    >>> lines = np.zeros((8, 6, 6))
    >>> for i in range(4):
    ...     lines[i, :, i + 1] = lines[i + 4, i + 1, :] = 1
    >>> layers = [Conv(4, 3), MaxPool(2), Dense(8)]
    >>> model = ConvNetClassifier(layers, batch_size=4, max_iter=60, learning_rate_init=0.01, random_state=0)
    >>> model.fit(lines, ["up"] * 4 + ["across"] * 4).predict(lines[[0, 7]])
    array(['up', 'across'], dtype='<U6')
    """

    __learnt_schema__ = Schema(
        params=PARAMS,
        state={**FITTED, "classes_": labels("c", low=2)},
        extra=TRAINED,
        rule=_rule,
    )
    # Images come in a random order that is part of the result; the penalty is measured by the weights of a batch.
    __learnt_trial__ = Trial(
        quick={"max_iter": 10, "learning_rate_init": 0.02, "random_state": 0},
        weighted=({"early_stopping": True},),
        any_order=False,
        weight_repeats=False,
        weight_unit_free=False,
        most_rows=400,
    )

    classes_: np.ndarray
    _target = "label"

    def __init__(
        self,
        layers=None,
        *,
        image_shape=None,
        layout="auto",
        augment=None,
        solver="adam",
        alpha=1e-4,
        batch_size="auto",
        learning_rate="cosine",
        learning_rate_init=0.001,
        momentum=0.9,
        max_iter=30,
        shuffle=True,
        early_stopping=False,
        validation_fraction=0.1,
        tol=1e-4,
        n_iter_no_change=10,
        warm_start=False,
        class_weight=None,
        random_state=None,
        verbose=False,
        device="cpu",
        checkpoint=None,
    ):
        self.layers = layers
        self.image_shape = image_shape
        self.layout = layout
        self.augment = augment
        self.solver = solver
        self.alpha = alpha
        self.batch_size = batch_size
        self.learning_rate = learning_rate
        self.learning_rate_init = learning_rate_init
        self.momentum = momentum
        self.max_iter = max_iter
        self.shuffle = shuffle
        self.early_stopping = early_stopping
        self.validation_fraction = validation_fraction
        self.tol = tol
        self.n_iter_no_change = n_iter_no_change
        self.warm_start = warm_start
        self.class_weight = class_weight
        self.random_state = random_state
        self.verbose = verbose
        self.device = device
        self.checkpoint = checkpoint

    def _check_parameters(self) -> None:
        super()._check_parameters()
        check_class_weight(self)

    def partial_fit(self, X: Any, y: Any, sample_weight: Any = None, classes: Any = None) -> ConvNetClassifier:
        """One epoch over these images, from where the last call ended; the first call names all `classes`.

        The first images say what brings channels to mean 0 and standard deviation 1. The learning rate "cosine" stays
        as it is, since nobody knows how many epochs there will be.
        """
        first = not hasattr(self, "weights_")
        self._check_classes_of_partial_fit(classes)
        return self._fit(X, y, sample_weight, first=first, incremental=True, classes=classes)

    def _code(self, y: np.ndarray, w: Any, first: bool, classes: Any) -> tuple[np.ndarray, Any, Output]:
        name = type(self).__name__
        seen, codes = encode_labels(y)
        if first:
            classes = seen if classes is None else np.unique(np.asarray(classes))
        else:
            classes = self.classes_
        strange = seen[~np.isin(seen, classes)]
        if len(strange):
            raise ValueError(
                f"y holds the class {strange.tolist()[0]!r}, and {name} goes on with the classes {classes.tolist()}; "
                "fit it anew, without warm_start."
            )
        if len(classes) < 2:
            raise ValueError(
                f"y holds one class, {classes.tolist()[0]!r}, and {name} needs at least two; give images of another."
            )
        codes = np.searchsorted(classes, seen)[codes]
        if self.class_weight is not None:
            totals = np.bincount(codes, weights=w, minlength=len(classes)).astype(np.float64)
            w = (1.0 if w is None else w) * class_weights(self.class_weight, classes, totals)[codes]
        self.classes_, self.n_outputs_ = classes, len(classes)
        return codes.astype(np.int64), w, SoftmaxOutput()

    def _score_of(self, z: np.ndarray, y: np.ndarray, w: Any) -> float:
        return float(np.average(z.argmax(axis=1) == y, weights=w))

    def predict(self, X: Any) -> np.ndarray:
        """The most probable class of every image."""
        z = self._raw(X)
        return self.classes_[z.argmax(axis=1)]

    def predict_proba(self, X: Any) -> np.ndarray:
        """The probability of every class, (n, n_classes)."""
        z = self._raw(X)
        p = np.exp(z - z.max(axis=1, keepdims=True))
        return p / p.sum(axis=1, keepdims=True)

    def predict_log_proba(self, X: Any) -> np.ndarray:
        """The logarithm of the probability of every class."""
        z = self._raw(X)
        z -= z.max(axis=1, keepdims=True)
        return z - np.log(np.exp(z).sum(axis=1, keepdims=True))
