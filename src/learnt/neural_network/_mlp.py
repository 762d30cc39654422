"""What the multilayer perceptrons share: parameters, where a fit begins and goes on, and how it is recorded."""

from __future__ import annotations

import warnings
from collections.abc import Callable
from itertools import pairwise
from numbers import Integral
from typing import Any, Self

import numpy as np
from sklearn.exceptions import ConvergenceWarning
from sklearn.model_selection import train_test_split
from sklearn.utils.validation import check_is_fitted

from learnt.engine import progress
from learnt.engine.arrays import is_lazy
from learnt.engine.columns import require_same_columns
from learnt.engine.estimator import Takes
from learnt.engine.finite import require_finite, rows_as_given
from learnt.engine.matrices import Route, dense, route, stored
from learnt.engine.params import ParameterError, check_choice, check_flag, check_number, check_verbose
from learnt.engine.random import random_state_of
from learnt.engine.rows import Block, as_rows
from learnt.engine.schema import FEATURES, Check, anyof, choice, count, integers, listof, none, number, real, record
from learnt.engine.single import refuse_sparse_missing
from learnt.engine.validation import NOT_FITTED, check_fit, check_predict, check_weights
from learnt.engine.weights import without_absent
from learnt.forestry import Categories
from learnt.forestry.schema import categories_check
from learnt.neural_network import _forward, _module
from learnt.neural_network._inputs import Inputs, inputs_check
from learnt.neural_network._torch import one_thread, tensor_of, torch_for
from learnt.neural_network._trained import TrainedNetwork
from learnt.neural_network.layers import BatchNorm, Dense, Dropout, summary
from learnt.neural_network.layers._summary import NetworkSummary
from learnt.neural_network.training import (
    Data,
    DenseNetwork,
    History,
    Optimiser,
    Output,
    Plan,
    Rate,
    dead_units,
    minimise,
    optimiser_for,
    train,
)
from learnt.neural_network.training._activations import NAMES as ACTIVATIONS
from learnt.neural_network.training._health import warn_of_dead
from learnt.neural_network.training._rates import NAMES as RATES

SOLVERS = ("adam", "sgd", "momentum", "nesterov", "adagrad", "lbfgs")

LAYERS: dict[str, Check] = {
    **FEATURES,
    "coefs_": listof(real(None, None), "layers"),
    "intercepts_": listof(real(None), "layers"),
    "batch_norms_": listof(real(4, None)),
    "embeddings_": listof(real(None, None)),
    "_inputs": anyof(none, inputs_check),
    "_categories": anyof(none, categories_check),
    "n_outputs_": count(1),
    "n_layers_": count(2),
}
TRAINED: dict[str, Check] = {
    "n_iter_": count(),
    "t_": count(),
    "loss_": number(finite=False),
    "loss_curve_": listof(number(finite=False)),
    "best_loss_": anyof(none, number(finite=False)),
    "validation_scores_": anyof(none, listof(number(finite=False))),
    "validation_loss_curve_": anyof(none, listof(number(finite=False))),
    "best_validation_score_": anyof(none, number(finite=False)),
    "dead_units_": listof(integers(None)),
    "_resume": record,
}
PARAMS: dict[str, Check] = {"activation": choice(*ACTIVATIONS), "dropout": number(0, np.nextafter(1, 0))}


def layers_fit(model: Any, state: dict[str, Any], dims: dict[str, int]) -> str | None:
    """The rule of model files: every layer takes what the one before it gives."""
    coefs, intercepts, norms = state["coefs_"], state["intercepts_"], state["batch_norms_"]
    inputs = None if state["_inputs"] is None else Inputs(**state["_inputs"])
    embeddings, categories = state["embeddings_"], state["_categories"]
    width = dims["d"]
    if (categories is None) != (inputs is None or not len(inputs.codes)):
        return "has embeddings of other columns than its categories"
    if inputs is not None:
        if categories is not None and not np.array_equal(categories.columns, inputs.codes):
            return "has embeddings of other columns than its categories"
        if categories is not None and [len(v) for v in categories.values] != inputs.levels.tolist():
            return "has embeddings of other categories"
        width = inputs.n_plain + sum(E.shape[1] for E in embeddings)
        if [len(E) - 1 for E in embeddings] != inputs.levels.tolist():
            return "has embeddings of other categories"
    elif embeddings:
        return "has embeddings and no categories"
    if not coefs or len(coefs) + 1 != state["n_layers_"]:
        return "has another number of layers than it says"
    for W, b in zip(coefs, intercepts):
        if W.shape != (width, len(b)) or W.dtype != b.dtype or W.dtype != coefs[0].dtype:
            return "has layers that do not fit each other"
        width = len(b)
    if width != state["n_outputs_"]:
        return "has another number of outputs than it says"
    if norms and [norm.shape[1] for norm in norms] != [len(b) for b in intercepts[:-1]]:
        return "has batch norms that do not fit its layers"
    if any((norm[3] < 0).any() for norm in norms):
        return "has batch norms of negative variance"
    return None


class MultilayerPerceptron(TrainedNetwork):
    """`fit` and `partial_fit` of multilayer perceptrons. Subclasses define the type of y and the loss."""

    __learnt_takes__ = Takes(sparse=True, categories=True, missing=True)

    coefs_: list[np.ndarray]
    intercepts_: list[np.ndarray]
    n_outputs_: int
    batch_norms_: list[np.ndarray]
    embeddings_: list[np.ndarray]
    _inputs: dict[str, np.ndarray] | None
    _categories: Categories | None

    # --- defined by subclasses

    def _target(self, y: Any, X: Any) -> np.ndarray:
        """y, checked."""
        raise NotImplementedError

    def _code(self, y: np.ndarray, w: Any, first: bool, classes: Any) -> tuple[np.ndarray, Any, Output]:
        """What the output layer is trained on: (n, outputs) or class numbers (n,), weights, and what outputs cost."""
        raise NotImplementedError

    # --- parameters

    def _check_parameters(self) -> None:
        check_choice(self, "activation", ACTIVATIONS)
        check_choice(self, "solver", SOLVERS)
        check_choice(self, "learning_rate", RATES)
        for name in ("alpha", "power_t", "tol"):
            check_number(self, name, 0)
        for name in ("learning_rate_init", "epsilon"):
            check_number(self, name, 0, open_low=True)
        check_number(self, "batch_size", 1, integer=True, also=("auto",))
        for name in ("max_iter", "max_fun"):
            check_number(self, name, 1, integer=True)
        if self._get("n_iter_no_change") != np.inf:
            check_number(self, "n_iter_no_change", 1, integer=True)
        check_number(self, "momentum", 0, 1)
        for name in ("validation_fraction", "beta_1", "beta_2", "dropout"):
            check_number(self, name, 0, np.nextafter(1, 0))
        check_flag(self, "shuffle", "warm_start", "nesterovs_momentum", "early_stopping", "batch_norm")
        check_verbose(self)
        check_choice(self, "dtype", (None, "float32", "float64", np.float32, np.float64))
        self._hidden_sizes()

    def _hidden_sizes(self) -> list[int]:
        given = self._get("hidden_layer_sizes")
        sizes = list(given) if hasattr(given, "__iter__") else [given]
        if any(isinstance(n, bool) or not isinstance(n, Integral) or n <= 0 for n in sizes):
            raise ParameterError(
                f"hidden_layer_sizes must be > 0, got {given!r}: give {type(self).__name__} the number of units of "
                "each hidden layer, for example (100, 50)."
            )
        return [int(n) for n in sizes]

    # --- fitting

    @progress.with_callbacks
    def fit(self, X: Any, y: Any, sample_weight: Any = None) -> Self:
        """Train from the start or, with `warm_start`, from where the last fit ended.

        Parameters
        ----------
        X : {array-like, sparse matrix, data frame} of shape (n_samples, n_features)
            The rows to learn from.
        y : array-like of shape (n_samples,) or (n_samples, n_outputs)
            Class labels, or columns of 0 and 1 for several labels, of a classifier; numbers of a regressor.
        sample_weight : array-like of shape (n_samples,), default=None
            What each row counts: its loss is multiplied by it. None counts every row once.
        """
        return self._fit(X, y, sample_weight, first=not self._goes_on(X))

    def _fit(
        self, X: Any, y: Any, sample_weight: Any, *, first: bool, incremental: bool = False, classes: Any = None
    ) -> Any:
        name = type(self).__name__
        device = self._ready(incremental)
        X, y, sample_weight, present = without_absent(X, y, sample_weight)
        with rows_as_given(present):
            X = self._table(X, first)
            y = self._target(y, X)
            w = check_weights(sample_weight, X)
        Y, w, output = self._code(y, w, first, classes)
        rng = random_state_of(self._get("random_state"))
        X = self._read_inputs(X, w, first)
        if first:
            self._begin(rng, X)
        X = X.astype(self.coefs_[0].dtype, copy=False)
        generator = None
        if self._get("dropout"):
            seed = int(rng.randint(2**31 - 1)) + (0 if first else self.t_)  # each `partial_fit` drops other units
            generator = torch_for(name).Generator(device).manual_seed(seed)
        with one_thread():
            network = self._network(output, device, generator)
            if self._get("solver") == "lbfgs":
                self._by_lbfgs(network, X, Y, w, device)
            else:
                self._by_steps(network, X, Y, w, device, rng, output, incremental)
        return self

    def _table(self, X: Any, first: bool) -> Any:
        """X as a matrix of numbers, codes in place of categories, NaN in empty cells."""
        name, asked = type(self).__name__, self._get("categorical_features")
        if first:
            self._categories = None
            if asked is not None and route(X) is not Route.SPARSE:
                self._categories = Categories.learn(asked, X, name)
        elif not hasattr(self, "_categories"):
            self._categories, self._inputs, self.batch_norms_, self.embeddings_ = None, None, [], []
        coded = X if self._categories is None else self._categories.encode(X)
        X = check_fit(self, coded, any_cells=False, reset=first).X
        refuse_sparse_missing(X, name)
        _refuse_infinite(X, name)
        return X

    def _read_inputs(self, X: Any, w: Any, first: bool) -> Any:
        if first:
            found = None if route(X) is Route.SPARSE else Inputs.learn(X, self._categories, w)
            self._inputs = None if found is None else found._asdict()
        return self._numbers(X)

    def _numbers(self, X: Any) -> Any:
        """What the first layer reads, embeddings as rows of their tables."""
        if self._inputs is None:
            require_finite(stored(X), "X", type(self).__name__)
            return X
        return Inputs(**self._inputs).read(dense(X))

    def _begin(self, rng: np.random.RandomState, X: Any) -> None:
        """First weights, as scikit-learn draws them: uniform, by the numbers of units on both sides."""
        dtype = np.dtype(self._get("dtype") or X.dtype)
        width, widths, levels = X.shape[1], [], []
        if self._inputs is not None:
            inputs = Inputs(**self._inputs)
            widths, levels = inputs.widths(), inputs.levels.tolist()
            width = inputs.n_plain + sum(widths)
        units = [width, *self._hidden_sizes(), self.n_outputs_]
        factor = 2.0 if self._get("activation") in ("logistic", "sigmoid") else 6.0
        self.coefs_, self.intercepts_ = [], []
        for a, b in pairwise(units):
            bound = np.sqrt(factor / (a + b))
            self.coefs_.append(rng.uniform(-bound, bound, (a, b)).astype(dtype, copy=False))
            self.intercepts_.append(rng.uniform(-bound, bound, b).astype(dtype, copy=False))
        start = np.array([[1.0], [0.0], [0.0], [1.0]], dtype=dtype)  # γ, β, μ, σ²
        self.batch_norms_ = [np.repeat(start, n, axis=1) for n in units[1:-1]] if self._get("batch_norm") else []
        self.embeddings_ = [rng.normal(scale=0.1, size=(n + 1, k)).astype(dtype) for n, k in zip(levels, widths)]
        for table in self.embeddings_:
            table[0] = 0
        self.n_layers_ = len(units)
        self._begin_anew()

    def _network(self, output: Output, device: Any, generator: Any) -> Any:
        options: dict[str, Any] = {
            "alpha": float(self._get("alpha")),
            "dropout": float(self._get("dropout")),
            "generator": generator,
            "device": device,
        }
        activation = self._get("activation")
        if not (self.batch_norms_ or self.embeddings_):
            return DenseNetwork(self.coefs_, self.intercepts_, activation, output, **options)
        weights = {
            "coefs": self.coefs_,
            "intercepts": self.intercepts_,
            "norms": self.batch_norms_,
            "embeddings": self.embeddings_,
        }
        return _module.module_network(weights, activation, output, **options)

    def _keep(self, network: Any, data: Data, warn: bool = True) -> None:
        """Record the trained weights, and warn of dead units."""
        if isinstance(network, DenseNetwork):
            found, depth = network.parameters.numpy(), network.depth
            self.coefs_ = [found[f"coefs_[{i}]"] for i in range(depth)]
            self.intercepts_ = [found[f"intercepts_[{i}]"] for i in range(depth)]
        else:
            weights = _module.weights_of(network)
            self.coefs_, self.intercepts_ = weights["coefs"], weights["intercepts"]
            self.batch_norms_, self.embeddings_ = weights["norms"], weights["embeddings"]
        dead = dead_units(network, data)
        names = [f"hidden layer {i + 1}" for i in range(len(self.coefs_) - 1)]
        self.dead_units_ = [dead.get(name, np.zeros(0, dtype=np.int64)) for name in names]
        if warn:
            widths = {name: len(b) for name, b in zip(names, self.intercepts_)}
            warn_of_dead(dead, widths, type(self).__name__, stacklevel=6)

    def _by_lbfgs(self, network: Any, X: Any, Y: np.ndarray, w: Any, device: Any) -> None:
        data, name = self._data(X, Y, w, device), type(self).__name__
        with progress.fit_loop(self, self._get("max_iter")) as loop:
            found = minimise(
                network,
                data,
                max_iter=self._get("max_iter"),
                max_fun=self._get("max_fun"),
                tol=self._get("tol"),
                report=loop.step,
            )
        if not (np.isfinite(found.loss) and np.isfinite(network.parameters.values.cpu().numpy()).all()):
            raise ValueError(
                "Solver produced non-finite parameter weights. The input data may contain large values and need to be "
                f"preprocessed: scale the columns before {name}."
            )
        self.loss_, self.n_iter_ = found.loss, found.n_iter
        self._keep(network, data)
        if not found.converged:
            warnings.warn(
                f"lbfgs failed to converge after {found.n_iter} iteration(s): {found.reason}; raise max_iter above "
                f"{self._get('max_iter')} or max_fun above {self._get('max_fun')}, or scale the columns.",
                ConvergenceWarning,
                stacklevel=5,
            )

    def _by_steps(
        self, network: Any, X: Any, Y: np.ndarray, w: Any, device: Any, rng: Any, output: Output, incremental: bool
    ) -> None:
        early = bool(self._get("early_stopping"))
        judge = None
        kept = np.arange(len(Y))
        if early:
            kept, judge = self._judge(X, Y, w, device, rng, output)
        whole_table = len(kept) == len(Y)
        data = self._data(*((X, Y, w) if whole_table else _taken(kept, X, Y, w)), device)
        optimiser = self._optimiser(network)
        before = getattr(self, "_resume", None)
        if incremental and before:
            optimiser.restore(before["state"], float(before["rate"]), int(before["steps"]))
        schedule = self._schedule()
        plan = Plan(
            batch_size=self._batch_size(data.n),
            max_iter=1 if incremental else self._get("max_iter"),
            shuffle=bool(self._get("shuffle")),
            tol=float(self._get("tol")),
            patience=self._get("n_iter_no_change"),
            rate=schedule,
            name=type(self).__name__,
        )
        history = self._history(early)
        with progress.fit_loop(self, plan.max_iter) as loop:
            end = train(
                network,
                data,
                optimiser,
                plan,
                rng,
                judge=judge,
                history=history,
                report=self._reporter(loop, history),
                checkpoint=self._checkpoint(X, Y, w),
            )
        self._record(end, optimiser, early)
        self._keep(network, data, warn=not incremental)
        if not incremental and not end.converged and end.n_iter == plan.max_iter:
            warnings.warn(
                f"Stochastic Optimizer: Maximum iterations ({plan.max_iter}) reached and the optimization hasn't "
                f"converged yet; raise max_iter of {type(self).__name__}.",
                ConvergenceWarning,
                stacklevel=5,
            )

    def _data(self, X: Any, Y: np.ndarray, w: Any, device: Any) -> Data:
        dtype = self.coefs_[0].dtype
        by_rows = route(X) is Route.SPARSE and device.type == "cpu"
        table = X if by_rows else tensor_of(dense(X), device)
        target = tensor_of(Y if Y.ndim == 1 else Y.astype(dtype, copy=False), device)
        return Data(table, target, None if w is None else tensor_of(w.astype(dtype), device))

    def _judge(self, X: Any, Y: np.ndarray, w: Any, device: Any, rng: Any, output: Output) -> tuple[np.ndarray, Any]:
        """Rows to train on, and what gives the score and the loss on the others."""
        share = self._get("validation_fraction")
        two = Y.ndim == 2 and Y.shape[1] == 1 and output.activation == "logistic"
        try:
            kept, held = train_test_split(
                np.arange(len(Y)), random_state=rng, test_size=share, stratify=Y.astype(bool) if two else None
            )
        except ValueError as error:
            if "resulting train set will be empty" not in str(error):
                raise
            held = np.arange(0)
        if len(held) < 2:
            raise ValueError(
                "The validation set is too small. Increase 'validation_fraction' or the size of your dataset: "
                f"{len(Y)} rows and validation_fraction={share!r} leave {len(held)} to judge {type(self).__name__} by."
            )
        judged = self._data(*_taken(held, X, Y, w), device)
        return kept, self._judge_of(judged, output, Y[held], None if w is None else w[held])

    def _optimiser(self, network: Any) -> Optimiser:
        solver = self._get("solver")
        return optimiser_for(
            solver,
            network.parameters,
            float(self._get("learning_rate_init")),
            momentum=float(self._get("momentum")),
            look_ahead=bool(self._get("nesterovs_momentum") if solver == "sgd" else solver == "nesterov"),
            betas=(float(self._get("beta_1")), float(self._get("beta_2"))),
            epsilon=float(self._get("epsilon")),
        )

    def _schedule(self) -> Rate:
        """scikit-learn's schedules are for gradient descent; with Adam it leaves the rate as it is, and so do we."""
        name = self._get("learning_rate")
        if name in ("invscaling", "adaptive") and self._get("solver") in ("adam", "adagrad"):
            name = "constant"
        return Rate(name, float(self._get("learning_rate_init")), float(self._get("power_t")), self._get("max_iter"))

    def _record(self, end: History, optimiser: Optimiser, early: bool) -> None:
        self._record_curves(end, early)
        self.t_, self._resume = end.t, self._to_go_on(end, optimiser)

    def summary(self) -> NetworkSummary:
        """The table of the fitted network: layers, their sizes, and how many weights and biases each has.

        Returns
        -------
        summary : NetworkSummary
            Printed it is a table; `steps`, `n_weights`, `n_biases` and `n_parameters` have the numbers.
        """
        check_is_fitted(self, msg=NOT_FITTED)
        layers: list[Any] = []
        for bias in self.intercepts_[:-1]:
            kind = self._get("activation")
            layers += (
                [Dense(len(bias), None), BatchNorm(activation=kind)] if self.batch_norms_ else [Dense(len(bias), kind)]
            )
            layers += [Dropout(self._get("dropout"))] if self._get("dropout") else []
        return summary(layers, (self.coefs_[0].shape[0],), self.n_outputs_)

    # --- predicting

    def _answers(self, X: Any, answer: Callable[[Any], np.ndarray]) -> Any:
        """`answer` of what the first layer reads of X; block by block where X is a file or a Dask collection."""
        plain = getattr(self, "_categories", None) is None and getattr(self, "_inputs", None) is None
        if is_lazy(X) and plain:
            return as_rows(check_predict(self, X, lazy=True)).map(_answer_of_block, answer)
        return answer(self._inputs_of(X))

    def _raw(self, X: Any) -> np.ndarray:
        """z of every row of what the first layer reads, (n, outputs)."""
        return _forward.raw_outputs(X, *self._layers(), self._get("activation"))

    def _inputs_of(self, X: Any) -> Any:
        """What the first layer reads of X."""
        if getattr(self, "_categories", None) is not None:
            require_same_columns(self, X)
            X = self._categories.encode(X)  # type: ignore[union-attr]
        inputs = getattr(self, "_inputs", None)
        X = check_predict(self, X, allow_nan=inputs is not None, any_cells=False)
        if inputs is not None:
            refuse_sparse_missing(X, type(self).__name__)
            _refuse_infinite(X, type(self).__name__)
            X = Inputs(**inputs).embedded(self._numbers(X), self.embeddings_)
        return X

    def _layers(self) -> tuple[list[np.ndarray], list[np.ndarray]]:
        """The weights and intercepts of all layers."""
        if getattr(self, "batch_norms_", None):
            return _forward.folded(self.coefs_, self.intercepts_, self.batch_norms_, _module.EPSILON)
        return self.coefs_, self.intercepts_

    def __sklearn_is_fitted__(self) -> bool:
        return hasattr(self, "coefs_")


def _answer_of_block(block: Block, answer: Callable[[Any], np.ndarray]) -> np.ndarray:
    return answer(block.X)


def shape_of(values: Any) -> tuple[int, ...]:
    """The shape of an array, a frame, a list or whatever NumPy reads."""
    return tuple(getattr(values, "shape", None) or np.asarray(values).shape)


def _taken(rows: np.ndarray, X: Any, Y: np.ndarray, w: Any) -> tuple[Any, np.ndarray, Any]:
    return X[rows], Y[rows], None if w is None else w[rows]


def _refuse_infinite(X: Any, name: str) -> None:
    cells = stored(X)
    if np.isinf(cells).any():
        require_finite(np.where(np.isnan(cells), 0, cells), "X", name)
