"""ConvNetRegressor: numbers read off images."""

from __future__ import annotations

from typing import Any

import numpy as np
from sklearn.base import RegressorMixin
from sklearn.metrics import r2_score

from learnt.engine.estimator import Estimator, Trial
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

    Targets are brought to mean 0 and standard deviation 1 for training, and predictions are in their own unit.
    Parameters, images and layers are as of `ConvNetClassifier`; `early_stopping` goes by R² on the images held out.

    Attributes
    ----------
    weights_, layers_, image_shape_, layout_, mean_, scale_, loss_curve_, n_iter_, … : as of `ConvNetClassifier`
    y_mean_, y_scale_ : arrays, of each target

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
        """The targets of every image, (n,) or (n, targets)."""
        z = self._raw(X) * self.y_scale_ + self.y_mean_
        return z.reshape(-1) if self._y_ndim == 1 else z
