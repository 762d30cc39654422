"""What the convolutional networks share: from images to a trained network, and back from its numbers."""

from __future__ import annotations

from typing import Any, Self
from weakref import WeakKeyDictionary

import numpy as np
from sklearn.model_selection import train_test_split

from learnt.engine import progress
from learnt.engine.estimator import Takes
from learnt.engine.params import ParameterError, check_choice, check_flag, check_number, check_verbose
from learnt.engine.random import entropy, random_state_of, task_seed
from learnt.engine.rows import as_rows
from learnt.engine.schema import (
    FEATURES,
    Check,
    anyof,
    choice,
    count,
    dictof,
    integers,
    listof,
    none,
    number,
    real,
    record,
    text,
)
from learnt.engine.validation import check_fit, check_predict
from learnt.neural_network._torch import one_thread, tensor_of, torch_for
from learnt.neural_network._trained import TrainedNetwork
from learnt.neural_network.convnet._augment import Augment
from learnt.neural_network.convnet._default import default_layers
from learnt.neural_network.convnet._images import LAYOUTS, Images, as_images, flat_shape, shown
from learnt.neural_network.convnet._network import LayersNetwork
from learnt.neural_network.layers import LAYERS, Layer, NetworkSummary, plan, summary
from learnt.neural_network.training import (
    Data,
    Optimiser,
    Output,
    Plan,
    Rate,
    dead_units,
    optimiser_for,
    train,
)
from learnt.neural_network.training._checkpoint import Checkpoint
from learnt.neural_network.training._health import warn_of_dead
from learnt.neural_network.training._rates import NAMES as RATES
from learnt.statistics import moments

_BUILT: WeakKeyDictionary[Any, tuple[dict[str, np.ndarray], LayersNetwork]] = WeakKeyDictionary()
_SMALL = 1 << 16  # products of a network that predicts in double precision
SOLVERS = ("adam", "sgd", "momentum", "nesterov", "adagrad")


def _layer(value: Any, dims: dict[str, int]) -> str | None:
    return None if type(value) in LAYERS else "is not a layer"


def _weights(value: Any, dims: dict[str, int]) -> str | None:
    """Finite float32 of any shape; the rule checks that the shapes are those of the layers."""
    good = type(value) is np.ndarray and value.dtype == np.float32
    return None if good and np.isfinite(value).all() else "is not an array of finite float32 numbers"


FITTED: dict[str, Check] = {
    **FEATURES,
    "image_shape_": listof(count(1, 2**31), 3, tuple),
    "layout_": choice("flat", "NHW", "NHWC", "NCHW"),
    "layers_": listof(_layer),
    "weights_": dictof(text, _weights),
    "mean_": real("channels"),
    "scale_": real("channels", above=0),
    "n_outputs_": count(1, 2**31),
}
PARAMS: dict[str, Check] = {"layout": choice(*LAYOUTS)}
TRAINED: dict[str, Check] = {
    "n_iter_": count(),
    "t_": count(),
    "_resume": record,
    "loss_": number(finite=False),
    "loss_curve_": listof(number(finite=False)),
    "best_loss_": anyof(none, number(finite=False)),
    "best_epoch_": anyof(none, count()),
    "validation_scores_": anyof(none, listof(number(finite=False))),
    "validation_loss_curve_": anyof(none, listof(number(finite=False))),
    "best_validation_score_": anyof(none, number(finite=False)),
    "dead_units_": dictof(text, integers(None)),
}


def network_fits(model: Any, state: dict[str, Any], dims: dict[str, int]) -> str | None:
    """The rule of model files: an image is as many numbers as a row, and weights are those of the layers."""
    rows, columns, channels = state["image_shape_"]
    if rows * columns * channels != dims["d"] or channels != dims["channels"]:
        return "has images of another size than its rows"
    try:
        steps = plan(state["layers_"], (channels, rows, columns), state["n_outputs_"])
    except ValueError:
        return "has layers that do not fit its images"
    wanted = {name: shape for step in steps for name, shape in step.kept.items()}
    if {name: value.shape for name, value in state["weights_"].items()} != wanted:
        return "has weights of other shapes than its layers"
    if any((value < 0).any() for name, value in state["weights_"].items() if name.endswith(".variance")):
        return "has batch norms of negative variance"
    # Outputs of layers may be larger than their parameters: wide borders around kernels of one pixel, layer after
    # layer.
    if any(np.prod(step.after, dtype=float) > 2.0**24 for step in steps):
        return "has layers that give more numbers than any network that was trained"
    return None


class ConvNet(TrainedNetwork):
    """`fit` and `summary` of convolutional networks. Subclasses define the type of y and the loss."""

    __learnt_takes__ = Takes()

    image_shape_: tuple[int, int, int]
    layers_: list[Layer]
    weights_: dict[str, np.ndarray]
    _target = "numbers"
    _auto_batch, _batch_of = 64, "images"

    # --- defined by subclasses

    def _code(self, y: np.ndarray, w: Any, first: bool, classes: Any) -> tuple[np.ndarray, Any, Output]:
        """What outputs are trained on, class numbers (n,) or (n, outputs), weights, and what outputs cost."""
        raise NotImplementedError

    # --- parameters

    def _check_parameters(self) -> None:
        check_choice(self, "layout", LAYOUTS)
        check_choice(self, "solver", SOLVERS)
        check_choice(self, "learning_rate", RATES)
        check_number(self, "alpha", 0)
        check_number(self, "tol", 0)
        check_number(self, "learning_rate_init", 0, open_low=True)
        check_number(self, "momentum", 0, np.nextafter(1, 0))
        check_number(self, "batch_size", 1, integer=True, also=("auto",))
        for name in ("max_iter", "n_iter_no_change"):
            check_number(self, name, 1, integer=True)
        check_number(self, "validation_fraction", 0, np.nextafter(1, 0), open_low=True)
        check_flag(self, "shuffle", "early_stopping", "warm_start")
        check_verbose(self)
        augment = self._get("augment")
        if augment is not None and type(augment) is not Augment:
            raise ParameterError(
                f"The 'augment' parameter of {type(self).__name__} must be None or Augment(shift=1, …). "
                f"Got {augment!r} instead."
            )

    # --- fitting

    @progress.with_callbacks
    def fit(self, X: Any, y: Any, sample_weight: Any = None) -> Self:
        """Train from the start or, with `warm_start`, from where the last fit ended.

        Parameters
        ----------
        X : array-like of shape (n, rows, columns), (n, rows, columns, channels) or (n, n_features)
            Images, or rows of a table; (n, channels, rows, columns) where the layout is "NCHW". Bytes (uint8) are
            divided by 255. Channels are then brought to mean 0 and standard deviation 1.
        y : array-like of shape (n,) or (n, n_outputs)
            Class labels of a classifier, numbers of a regressor.
        sample_weight : array-like of shape (n,), default=None
            What each image counts: its loss is multiplied by it. None counts every image once.
        """
        return self._fit(X, y, sample_weight, first=not self._goes_on(X))

    def _fit(
        self, X: Any, y: Any, sample_weight: Any, *, first: bool, incremental: bool = False, classes: Any = None
    ) -> Any:
        name = type(self).__name__
        device = self._ready(incremental)
        images = as_images(X, name, self._get("image_shape"), self._get("layout")) if first else self._as_before(X)
        rows, y, w = check_fit(self, images.rows, y, sample_weight, target=self._target, reset=first)
        shape = self._shape_of(images, rows.shape[1]) if first else self.image_shape_
        Y, w, output = self._code(y, w, first, classes)
        layers = default_layers(*shape[:2]) if self._get("layers") is None else self._get("layers")
        layers = layers if first else self.layers_
        steps = plan(layers, _planes(shape), self.n_outputs_)
        seed = entropy(self._get("random_state")) % 2**62
        if first:
            self._begin_anew()
            self.layers_, self.image_shape_, self.layout_ = list(layers), shape, images.layout
            self._learn_scale(rows)
        else:  # other draws than those of the epochs before
            seed = task_seed(seed, 1 + len(self.loss_curve_)) % 2**62
        pixels = self._pixels(rows, device)
        rng = random_state_of(task_seed(seed, 0) % 2**32)
        with one_thread():
            network = LayersNetwork(steps, output, seed, alpha=float(self._get("alpha")), device=device)
            if not first:
                self._load(network)
            self._train(network, pixels, Y, w, device, rng, output, incremental, self._checkpoint(rows, Y, w))
        return self

    def _shape_of(self, images: Images, d: int) -> tuple[int, int, int]:
        if images.shape is not None:
            return images.shape
        return flat_shape(d, self._get("image_shape"), self._get("layout"), type(self).__name__)[0]

    def _learn_scale(self, rows: np.ndarray) -> None:
        """Means and standard deviations of the channels over all pixels."""
        found = moments(as_rows(rows))  # of every pixel; all pixels of a channel have the same number of images
        means = found.mean.reshape(-1, self.image_shape_[2])
        self.mean_ = means.mean(axis=0)
        within = found.scatter.reshape(means.shape) / len(rows)
        deviation = np.sqrt((within + (means - self.mean_) ** 2).mean(axis=0))
        flat = deviation <= 1e-12 * np.abs(self.mean_)
        self.scale_ = np.where(flat | (deviation == 0), 1.0, deviation)

    def _scaled(self, rows: np.ndarray) -> np.ndarray:
        """The images brought to mean 0 and standard deviation 1."""
        pixels = rows.reshape(len(rows), *self.image_shape_)
        out = pixels - self.mean_.astype(rows.dtype)
        out /= self.scale_.astype(rows.dtype)
        return out

    def _pixels(self, rows: np.ndarray, device: Any) -> Any:
        """The images to train on, scaled in single precision; on a GPU already, which scales them in a moment."""
        if device.type == "cpu":
            return self._scaled(rows).astype(np.float32, copy=False)
        pixels = tensor_of(rows, device).reshape(len(rows), *self.image_shape_)
        mean, scale = (tensor_of(v.astype(rows.dtype), device) for v in (self.mean_, self.scale_))
        return ((pixels - mean) / scale).float()

    def _train(
        self,
        network: Any,
        X: Any,
        Y: np.ndarray,
        w: Any,
        device: Any,
        rng: Any,
        output: Output,
        incremental: bool,
        checkpoint: Checkpoint | None,
    ) -> None:
        early, augment = bool(self._get("early_stopping")), self._get("augment")
        judge, kept = None, slice(None)
        if early:
            kept, judge = self._judge(X, Y, w, device, rng, output)
        change = None
        if augment is not None:

            def change(batch: Any, first: int, n_rows: int) -> Any:
                return augment.change(batch, network.generator, first, n_rows)

        data = _data(X[kept], Y[kept], None if w is None else w[kept], device, change)
        optimiser = self._optimiser(network)
        if incremental and self._resume:
            optimiser.restore(self._resume["state"], float(self._resume["rate"]), int(self._resume["steps"]))
        name = self._get("learning_rate")
        # The cosine schedule needs a known number of epochs
        name = "constant" if incremental and name == "cosine" else name
        rate = Rate(name, float(self._get("learning_rate_init")), 0.5, self._get("max_iter"))
        schedule = Plan(
            batch_size=self._batch_size(data.n),
            max_iter=1 if incremental else self._get("max_iter"),
            shuffle=bool(self._get("shuffle")),
            tol=float(self._get("tol")),
            patience=self._get("n_iter_no_change"),
            rate=rate,
            name=type(self).__name__,
        )
        history = self._history(early)
        with progress.fit_loop(self, schedule.max_iter) as loop:
            train(
                network,
                data,
                optimiser,
                schedule,
                rng,
                judge=judge,
                history=history,
                report=self._reporter(loop, history),
                checkpoint=checkpoint,
            )
        self._record_curves(history, early)
        self.t_, self.best_epoch_ = history.t, history.best_epoch if early else None
        self._resume = self._to_go_on(history, optimiser) if incremental else {}
        self._keep(network, data, warn=not incremental)

    def _judge(self, X: Any, Y: np.ndarray, w: Any, device: Any, rng: Any, output: Output) -> tuple[Any, Any]:
        """Images to train on, and what gives the score and the loss on the others."""
        share, n = self._get("validation_fraction"), len(Y)
        held_out = int(np.ceil(share * n))
        if held_out < 2 or n - held_out < 1:
            raise ValueError(
                f"{n} images and validation_fraction={share!r} leave too few to judge {type(self).__name__} by; "
                "give more images, or early_stopping=False."
            )
        classes = Y if Y.ndim == 1 and np.bincount(Y).min() > 1 and held_out >= self.n_outputs_ else None
        classes = None if classes is not None and n - held_out < self.n_outputs_ else classes
        kept, held = train_test_split(np.arange(n), random_state=rng, test_size=held_out, stratify=classes)
        judged = _data(X[held], Y[held], None if w is None else w[held], device)
        return kept, self._judge_of(judged, output, Y[held], None if w is None else w[held])

    def _optimiser(self, network: Any) -> Optimiser:
        solver = self._get("solver")
        momentum = 0.0 if solver == "sgd" else float(self._get("momentum"))
        rate = float(self._get("learning_rate_init"))
        return optimiser_for(solver, network.parameters, rate, momentum=momentum, look_ahead=solver == "nesterov")

    def _keep(self, network: LayersNetwork, data: Data, warn: bool) -> None:
        """Record the trained weights, and warn of dead units."""
        state = {**network.parameters.views, **network.buffers()}
        names = [name for step in network.steps for name in step.kept]
        self.weights_ = {name: np.array(state[name].detach().cpu().numpy()) for name in names}
        self.dead_units_ = dead_units(network, data)
        if warn:
            widths = {step.name: step.after[0] for step in network.steps}
            warn_of_dead(self.dead_units_, widths, type(self).__name__, stacklevel=6)

    # --- summary

    def summary(self, image_shape: Any = None, n_outputs: int | None = None) -> NetworkSummary:
        """The table of layers, shapes and numbers of parameters; an error says which layer does not fit.

        Parameters
        ----------
        image_shape : tuple (rows, columns) or (rows, columns, channels) or None, default=None
            The size of an image, for a network that is not fitted; None takes the estimator's own `image_shape`.
        n_outputs : int or None, default=None
            For a network that is not fitted: the number of classes or targets. None leaves the last layer out.

        Returns
        -------
        summary : NetworkSummary
            Printed it is a table; `steps`, `n_weights`, `n_biases` and `n_parameters` have the numbers.

        Examples
        --------
        >>> from learnt.neural_network import Conv, ConvNetClassifier, MaxPool
        >>> print(ConvNetClassifier([Conv(4, 3), MaxPool(2)]).summary((8, 8), n_outputs=10))
        layer               output  parameters
        --------------------------------------
        input                8×8×1           0
        conv1     3×3 relu   6×6×4          40
        maxpool1  2×2        3×3×4           0
        flatten1                36           0
        output                  10         370
        396 weights + 14 biases = 410 parameters
        """
        if hasattr(self, "weights_") and image_shape is None:
            return summary(self.layers_, _planes(self.image_shape_), self.n_outputs_)
        wanted = self._get("image_shape") if image_shape is None else image_shape
        if wanted is None:
            raise ValueError(
                f"{type(self).__name__} is not fitted and its image_shape is None; say summary((rows, columns))."
            )
        shape = flat_shape(int(np.prod(wanted)), wanted, self._get("layout"), type(self).__name__)[0]
        layers = default_layers(*shape[:2]) if self._get("layers") is None else self._get("layers")
        return summary(layers, _planes(shape), n_outputs)

    def feature_maps(self, X: Any) -> dict[str, np.ndarray]:
        """What every layer gives for these images: by its name, (n, rows, columns, channels) or (n, units).

        Parameters
        ----------
        X : array-like of shape (n, rows, columns), (n, rows, columns, channels) or (n, n_features)
            Images of the size that the network was trained on, or rows of a table.

        Returns
        -------
        maps : dict of ndarray
            Names of layers, as in `summary`, and what they give.
        """
        torch = torch_for(f"{type(self).__name__}.feature_maps")
        pixels, found = self._images(X), {}
        module = self._built().module.eval()
        with one_thread(), torch.no_grad():
            z = tensor_of(pixels, "cpu", self._built().dtype).movedim(3, 1)
            for name, block in module.named_children():
                z = block(z)
                found[name] = z.movedim(1, -1).numpy().copy()
        return found

    def _images(self, X: Any) -> np.ndarray:
        """Images for the fitted network, scaled: (n, rows, columns, channels)."""
        if not hasattr(self, "weights_"):
            check_predict(self, X)  # raises if not fitted
        return self._scaled(check_predict(self, self._as_before(X).rows))

    def _as_before(self, X: Any) -> Images:
        """Images of the size and layout that the network was trained on."""
        name, axes = type(self).__name__, _axes(X)
        layout = self._get("layout") if self._get("layout") != "auto" else self.layout_
        images = as_images(
            X,
            name,
            self._get("image_shape") if getattr(X, "shape", (0, 0))[1:] == (self.n_features_in_,) else None,
            layout if axes == 4 and layout in ("NHWC", "NCHW") else "auto",
        )
        if axes > 2 and images.shape is not None and images.shape != self.image_shape_:
            raise ValueError(
                f"The images of X are {shown(images.shape)}, and {name} was trained on images of "
                f"{shown(self.image_shape_)}; cut or resize them first."
            )
        return images

    def _built(self) -> LayersNetwork:
        """The network with its trained weights; kept for the next call."""
        kept = _BUILT.get(self)
        if kept is None or kept[0] is not self.weights_:
            torch = torch_for(f"{type(self).__name__}.predict")
            steps = plan(self.layers_, _planes(self.image_shape_), self.n_outputs_)
            # Rows of a small table are predicted in double precision, so that no batch changes the seventh digit.
            small = sum(step.n_products for step in steps) < _SMALL
            network = LayersNetwork(steps, Output(), 0, alpha=0.0, dtype=torch.float64 if small else torch.float32)
            self._load(network)
            kept = _BUILT[self] = (self.weights_, network)
        return kept[1]

    def _load(self, network: LayersNetwork) -> None:
        """Give a network the trained weights."""
        torch = torch_for("a network")
        state = {**network.parameters.views, **network.buffers()}
        for name, value in self.weights_.items():
            state[name].copy_(torch.from_numpy(np.array(value)))

    def _raw(self, X: Any) -> np.ndarray:
        """z of every image, (n, outputs)."""
        with np.errstate(over="ignore"):  # which is told below
            pixels = self._images(X)
        network = self._built()
        with one_thread():
            found = network.predict(tensor_of(pixels, "cpu", network.dtype)).numpy().astype(np.float64)
        if not np.isfinite(found).all():
            raise ValueError(
                f"X has pixels up to {np.abs(X).max():.3g}, and sums of {type(self).__name__} overflow; give images on "
                "the scale of those it was trained on."
            )
        return found

    def __sklearn_is_fitted__(self) -> bool:
        return hasattr(self, "weights_")


def _axes(X: Any) -> int:
    """How many axes an array or list has; 2 for a table of any other kind."""
    return len(np.shape(X)) if isinstance(X, np.ndarray | list | tuple) else 2


def _planes(shape: tuple[int, int, int]) -> tuple[int, int, int]:
    """(channels, rows, columns), as layers count."""
    return shape[2], shape[0], shape[1]


def _data(X: Any, Y: np.ndarray, w: Any, device: Any, change: Any = None) -> Data:
    target = tensor_of(Y if Y.ndim == 1 else Y.astype(np.float32), device)
    return Data(tensor_of(X, device), target, None if w is None else tensor_of(w.astype(np.float32), device), change)
