"""ConvNetRegressor: numbers read off images."""

from __future__ import annotations

from typing import Any

import numpy as np
from sklearn.metrics import r2_score

from learnt.engine.estimator import Estimator, Trial
from learnt.engine.mixins import RegressorMixin
from learnt.engine.schema import Schema, count, real
from learnt.explanation import Explained
from learnt.neural_network.convnet._base import FITTED, PARAMS, TRAINED, ConvNet, network_fits
from learnt.neural_network.training import Output, SquaredOutput


def _rule(model: Any, state: dict[str, Any], dims: dict[str, int]) -> str | None:
    if state["n_outputs_"] != dims["targets"] or (state["_y_ndim"] == 1 and dims["targets"] != 1):
        return "has other outputs than targets"
    return network_fits(model, state, dims)


class ConvNetRegressor(ConvNet, RegressorMixin, Estimator, Explained):
    """Numbers read off images by convolutions, pools and dense layers; the squared error is made small.

    Targets are brought to mean 0 and standard deviation 1 for training, and predictions are in their own unit. Shapes
    are checked before training (`summary`). The same `random_state` gives the same network on any number of threads.
    Rows of a table are images too: of `image_shape`, else squares where their length is a square, else lines.

    Parameters
    ----------
    layers : list of layers or None, default=None
        Such as [Conv(32, 3, padding="same"), MaxPool(2), Flatten(), Dense(64), Dropout(0.5)]; a dense layer with one
        unit a target follows by itself. None: layers that suit the size of the images.
    image_shape : tuple (rows, columns) or (rows, columns, channels) or None, default=None
        What rows of a table are; None takes squares where their length is a square, else lines. (channels, rows,
        columns) where the layout is "NCHW".
    layout : {"auto", "NHW", "NHWC", "NCHW"}, default="auto"
        The order of the axes of images with four axes: image, rows, columns, channels. "auto" takes a last axis of up
        to 4 for the channels, else a second one (`layout_`).
    augment : Augment or None, default=None
        Small random changes of the images in training, such as Augment(shift=1, rotate=10): against overfitting.
    solver : {"adam", "sgd", "momentum", "nesterov", "adagrad"}, default="adam"
        How the loss is made small: Adam; plain gradient descent; gradient descent with momentum, or with Nesterov's; or
        Adagrad.
    alpha : float, default=1e-4
        The strength of the L2 penalty (weight decay). Larger values mean more regularisation and less overfitting.
    batch_size : int or "auto", default="auto"
        Images of a batch; "auto" is min(64, n).
    learning_rate : {"constant", "invscaling", "adaptive", "exponential", "cosine"}, default="cosine"
        How the learning rate changes. "constant": it stays; "invscaling": divided by √(t + 1) after t images;
        "adaptive": a fifth of it whenever the loss does not fall any more; "exponential": times 0.95 after each epoch;
        "cosine": falls to 0 over `max_iter` epochs.
    learning_rate_init : float, default=0.001
        The first learning rate: the size of a step. Too large a one diverges, too small a one takes many epochs.
    momentum : float, default=0.9
        The share of the last step that is added to the next, for "momentum" and "nesterov".
    max_iter : int, default=30
        The most epochs: passes over the images.
    shuffle : bool, default=True
        Whether images come in another random order in each epoch.
    early_stopping : bool, default=False
        Whether to hold out images, stop by the R² on them, and keep the weights of the best epoch.
    validation_fraction : float, default=0.1
        The share of images that early stopping holds out.
    tol : float, default=1e-4
        Training stops at convergence: once the loss, or the validation score, did not improve by `tol` for more than
        `n_iter_no_change` epochs.
    n_iter_no_change : int, default=10
        How many epochs without improvement by `tol` are waited for.
    warm_start : bool, default=False
        Whether a second `fit` goes on from the weights of the first, on images of the same size.
    random_state : int, RandomState, Generator or None, default=None
        Where random numbers come from: first weights, the order of images, dropout, augmentation. Pass an integer to
        get the same network every time, on any number of threads.
    verbose : bool, default=False
        Whether to log the loss of every epoch; for a bar see `learnt.engine.progress`.
    device : str, default="cpu"
        Where to train: "cpu", "cuda", "mps", or "auto" for a GPU where there is one.
    checkpoint : path or None, default=None
        A file that training is kept in after every epoch and goes on from when it was interrupted; removed at the end.
        Needs an integer as `random_state`.

    Attributes
    ----------
    y_mean_ : ndarray of shape (n_outputs,)
        The mean of each target.
    y_scale_ : ndarray of shape (n_outputs,)
        The standard deviation of each target.
    weights_ : dict of ndarray
        What was learnt, by layer: "conv1.weight" (kernels, rows, columns, channels), "dense1.weight" (units, inputs),
        "conv1.bias", …
    layers_ : list of layers
        The layers of the network, without the last one.
    image_shape_ : tuple (rows, columns, channels)
        The size of an image.
    layout_ : {"flat", "NHW", "NHWC", "NCHW"}
        The layout that X was taken for.
    mean_ : ndarray of shape (n_channels,)
        The mean of each channel over all pixels, which is taken off.
    scale_ : ndarray of shape (n_channels,)
        The standard deviation of each channel, which is divided by.
    loss_ : float
        The loss of the last epoch.
    best_loss_ : float or None
        The lowest loss of any epoch; None with early stopping.
    loss_curve_ : list of float
        The loss of each epoch.
    validation_scores_ : list of float or None
        The score on the images held out after each epoch; None without early stopping.
    validation_loss_curve_ : list of float or None
        The loss on the images held out after each epoch; None without early stopping.
    best_validation_score_ : float or None
        The highest of these scores; None without early stopping.
    best_epoch_ : int or None
        The epoch whose weights were kept; None without early stopping.
    dead_units_ : dict of ndarray
        For each layer with ReLU the channels or units that are 0 for every image of training.
    n_iter_ : int
        The number of epochs.
    t_ : int
        Images that were seen in training, counted in each epoch.
    n_outputs_ : int
        The number of outputs.

    See Also
    --------
    ConvNetClassifier : Classes of images.
    MLPRegressor : Columns in no order, instead of images.
    Augment : Random changes of the images in training.
    Conv : The layer that gives it its name.

    Notes
    -----
    An epoch takes time in proportion to the images times the multiplications of a network, most of them in
    convolutions; a GPU (`device="auto"`) is many times faster. Needs PyTorch, for prediction too. Bytes (uint8) are
    divided by 255.

    References
    ----------
    .. [1] Y. LeCun, L. Bottou, Y. Bengio, P. Haffner, "Gradient-based learning applied to document recognition",
       Proceedings of the IEEE 86, 1998.

    Examples
    --------
    >>> import numpy as np
    >>> from learnt.neural_network import Conv, ConvNetRegressor, Dense
    >>> images = np.random.default_rng(0).random((64, 5, 5))
    >>> y = images[:, 1:4, 1:4].sum(axis=(1, 2))
    >>> model = ConvNetRegressor([Conv(4, 3), Dense(16)], batch_size=16, learning_rate_init=0.01, max_iter=40,
    ...                          random_state=0)
    >>> bool(model.fit(images, y).score(images, y) > 0.9)
    True
    """

    __learnt_schema__ = Schema(
        params=PARAMS,
        state={**FITTED, "y_mean_": real("targets"), "y_scale_": real("targets", above=0), "_y_ndim": count(1, 2)},
        extra=TRAINED,
        rule=_rule,
    )
    __learnt_trial__ = Trial(
        quick={"max_iter": 10, "learning_rate_init": 0.02, "random_state": 0},
        weighted=({"early_stopping": True},),
        any_order=False,
        weight_repeats=False,
        weight_unit_free=False,
        most_rows=400,
    )

    def __init__(
        self,
        layers: Any = None,
        *,
        image_shape: Any = None,
        layout: str = "auto",
        augment: Any = None,
        solver: str = "adam",
        alpha: float = 1e-4,
        batch_size: int | str = "auto",
        learning_rate: str = "cosine",
        learning_rate_init: float = 0.001,
        momentum: float = 0.9,
        max_iter: int = 30,
        shuffle: bool = True,
        early_stopping: bool = False,
        validation_fraction: float = 0.1,
        tol: float = 1e-4,
        n_iter_no_change: int = 10,
        warm_start: bool = False,
        random_state: Any = None,
        verbose: Any = False,
        device: Any = "cpu",
        checkpoint: Any = None,
    ) -> None:
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
        self.random_state = random_state
        self.verbose = verbose
        self.device = device
        self.checkpoint = checkpoint

    def __sklearn_tags__(self) -> Any:
        tags = super().__sklearn_tags__()
        tags.target_tags.multi_output = True
        return tags

    def partial_fit(self, X: Any, y: Any, sample_weight: Any = None) -> ConvNetRegressor:
        """One epoch over these images, from where the last call ended.

        The first images and targets say what brings them to mean 0 and standard deviation 1. The learning rate "cosine"
        stays as it is, since nobody knows how many epochs there will be.

        Parameters
        ----------
        X : array-like of shape (n, rows, columns), (n, rows, columns, channels) or (n, n_features)
            Images, or rows of a table; (n, channels, rows, columns) where the layout is "NCHW". Bytes (uint8) are
            divided by 255. Channels are then brought to mean 0 and standard deviation 1.
        y : array-like of shape (n,) or (n, n_outputs)
            The numbers to predict.
        sample_weight : array-like of shape (n,), default=None
            What each image counts: its loss is multiplied by it. None counts every image once.
        """
        return self._fit(X, y, sample_weight, first=not hasattr(self, "weights_"), incremental=True)

    def _code(self, y: np.ndarray, w: Any, first: bool, classes: Any) -> tuple[np.ndarray, Any, Output]:
        Y = y.reshape(len(y), -1).astype(np.float64)
        if first:
            self.n_outputs_, self._y_ndim = Y.shape[1], y.ndim
            self.y_mean_ = np.average(Y, axis=0, weights=w)
            deviation = np.sqrt(np.average((Y - self.y_mean_) ** 2, axis=0, weights=w))
            self.y_scale_ = np.where(deviation > 1e-12 * np.abs(self.y_mean_), deviation, 1.0)
        elif Y.shape[1] != self.n_outputs_:
            raise ValueError(
                f"y has {Y.shape[1]} targets, and {type(self).__name__} goes on with {self.n_outputs_}; fit it anew, "
                "without warm_start."
            )
        return (Y - self.y_mean_) / self.y_scale_, w, SquaredOutput()

    def _score_of(self, z: np.ndarray, y: np.ndarray, w: Any) -> float:
        return float(r2_score(y, z, sample_weight=w))

    def predict(self, X: Any) -> np.ndarray:
        """The targets of every image, (n,) or (n, targets).

        Parameters
        ----------
        X : array-like of shape (n, rows, columns), (n, rows, columns, channels) or (n, n_features)
            Images of the size that the network was trained on, or rows of a table.
        """
        z = self._raw(X) * self.y_scale_ + self.y_mean_
        return z.reshape(-1) if self._y_ndim == 1 else z
