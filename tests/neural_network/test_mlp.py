"""Multilayer perceptrons against scikit-learn's, formulas and properties."""

import importlib
import subprocess
import sys
import textwrap
import warnings

import numpy as np
import pandas as pd
import pytest
import sklearn.neural_network as peers
import torch
from scipy import sparse
from sklearn.datasets import load_breast_cancer, load_diabetes, load_digits, make_multilabel_classification
from sklearn.exceptions import ConvergenceWarning
from sklearn.model_selection import train_test_split
from sklearn.preprocessing import scale

import learnt
from learnt.erm import losses
from learnt.neural_network import MLPClassifier, MLPRegressor
from learnt.neural_network.training import NetworkHealthWarning

pytestmark = pytest.mark.filterwarnings("ignore::sklearn.exceptions.ConvergenceWarning")

rng = np.random.default_rng(0)
X = rng.normal(size=(300, 6))
NUMBERS = np.column_stack([np.sin(2 * X[:, 0]) + X[:, 1] * X[:, 2], X[:, 3] - X[:, 0]])
CLASSES = np.digitize(NUMBERS[:, 0], [-0.5, 0.5])
WEIGHTS = rng.uniform(0.5, 2.0, size=300)
SMALL = {"hidden_layer_sizes": (9, 5), "random_state": 3, "max_iter": 12}
SETTINGS = {
    "adam": {},
    "sgd": {"solver": "sgd", "learning_rate_init": 0.05},
    "momentum alone": {"solver": "sgd", "learning_rate_init": 0.05, "nesterovs_momentum": False},
    "invscaling": {"solver": "sgd", "learning_rate": "invscaling", "learning_rate_init": 0.1},
    "adaptive": {"solver": "sgd", "learning_rate": "adaptive", "tol": 0.1, "n_iter_no_change": 1},
    "tanh": {"activation": "tanh", "alpha": 0.1, "batch_size": 37},
    "logistic": {"activation": "logistic", "shuffle": False},
    "identity": {"activation": "identity", "batch_size": 300},
    "early stopping": {"early_stopping": True, "validation_fraction": 0.2},
    "lbfgs": {"solver": "lbfgs"},
}


def same_weights(ours, theirs, tolerance=1e-9):
    """Sums in another order differ by some 10⁻¹⁵ a step; a few dozen steps on smooth parts leave them far below."""
    for one, other in zip([*ours.coefs_, *ours.intercepts_], [*theirs.coefs_, *theirs.intercepts_], strict=True):
        np.testing.assert_allclose(one, other, rtol=tolerance, atol=tolerance)
    assert (ours.n_iter_, ours.n_layers_, ours.n_outputs_) == (theirs.n_iter_, theirs.n_layers_, theirs.n_outputs_)
    assert ours.out_activation_ == theirs.out_activation_


@pytest.mark.parametrize("name", SETTINGS)
def test_the_weights_are_scikit_learns(name):
    settings = {**SMALL, **SETTINGS[name]}
    tolerance = 1e-6 if name == "lbfgs" else 1e-9  # twelve line searches on a curved surface
    for y in (CLASSES, CLASSES > 1):
        ours, theirs = MLPClassifier(**settings).fit(X, y), peers.MLPClassifier(**settings).fit(X, y)
        same_weights(ours, theirs, tolerance)
        np.testing.assert_allclose(ours.predict_proba(X), theirs.predict_proba(X), rtol=1e-6, atol=1e-9)
        np.testing.assert_array_equal(ours.predict(X), theirs.predict(X))
    y = NUMBERS[:, 0]
    ours = MLPRegressor(**settings).fit(X, y, WEIGHTS)
    theirs = peers.MLPRegressor(**settings).fit(X, y, WEIGHTS)
    same_weights(ours, theirs, tolerance)
    if name != "lbfgs":
        np.testing.assert_allclose(ours.loss_curve_, theirs.loss_curve_, rtol=1e-9)
        assert ours.t_ == theirs.t_
        assert (ours.best_loss_ is None) == (theirs.best_loss_ is None)
    if name == "early stopping":
        np.testing.assert_allclose(ours.validation_scores_, theirs.validation_scores_, rtol=1e-9)
        assert ours.best_validation_score_ == max(ours.validation_scores_)
        assert len(ours.validation_loss_curve_) == ours.n_iter_


def test_counts_and_several_outputs_are_scikit_learns():
    counts = rng.poisson(np.exp(X[:, 0] / 2))
    settings = {**SMALL, "loss": "poisson"}
    ours, theirs = MLPRegressor(**settings).fit(X, counts), peers.MLPRegressor(**settings).fit(X, counts)
    same_weights(ours, theirs)
    np.testing.assert_allclose(ours.predict(X), theirs.predict(X), rtol=1e-9)
    np.testing.assert_allclose(ours.loss_curve_, theirs.loss_curve_, rtol=1e-9)
    same_weights(MLPRegressor(**SMALL).fit(X, NUMBERS), peers.MLPRegressor(**SMALL).fit(X, NUMBERS))
    several = (NUMBERS > 0).astype(int)
    ours, theirs = MLPClassifier(**SMALL).fit(X, several), peers.MLPClassifier(**SMALL).fit(X, several)
    same_weights(ours, theirs)
    np.testing.assert_array_equal(ours.predict(X), theirs.predict(X))
    np.testing.assert_allclose(ours.predict_proba(X), theirs.predict_proba(X), rtol=1e-9)


def test_sparse_rows_and_partial_fit_are_scikit_learns():
    thin = sparse.csr_matrix(np.where(X > 0.4, X, 0.0))
    same_weights(MLPClassifier(**SMALL).fit(thin, CLASSES), peers.MLPClassifier(**SMALL).fit(thin, CLASSES))
    ours, theirs = MLPClassifier(**SMALL), peers.MLPClassifier(**SMALL)
    for part in (slice(0, 100), slice(100, 200), slice(200, 300)):
        ours.partial_fit(X[part], CLASSES[part], classes=[0, 1, 2])
        theirs.partial_fit(X[part], CLASSES[part], classes=[0, 1, 2])
    same_weights(ours, theirs)
    warm, peer = (cls(**{**SMALL, "warm_start": True}) for cls in (MLPRegressor, peers.MLPRegressor))
    for _ in range(2):
        warm.fit(X, NUMBERS[:, 0])
        peer.fit(X, NUMBERS[:, 0])
    same_weights(warm, peer)
    np.testing.assert_allclose(warm.loss_curve_, peer.loss_curve_, rtol=1e-9)


@pytest.mark.parametrize("solver", ["momentum", "nesterov", "adagrad"])
@pytest.mark.parametrize("activation", ["leaky_relu", "sigmoid"])
def test_other_solvers_and_activations_learn(solver, activation):
    model = MLPClassifier(20, activation, solver=solver, learning_rate_init=0.1, max_iter=60, random_state=0)
    model.fit(X, X[:, 0] > 0)
    assert model.score(X, X[:, 0] > 0) > 0.9
    assert model.loss_curve_[-1] < 0.5 * model.loss_curve_[0]
    if solver != "adagrad":
        twin = MLPClassifier(
            20, activation, solver="sgd", nesterovs_momentum=solver == "nesterov", learning_rate_init=0.1, max_iter=60,
            random_state=0,
        )  # fmt: skip
        np.testing.assert_array_equal(twin.fit(X, X[:, 0] > 0).coefs_[0], model.coefs_[0])


def test_quality_is_that_of_scikit_learn():
    """float32 rounds otherwise, so weights differ and the quality is compared: 3 % of 450 rows is two deviations."""
    digits = load_digits()
    tables = [(digits.data / 16, digits.target), (scale(load_breast_cancer().data), load_breast_cancer().target)]
    for table, y in tables:
        parts = train_test_split(table.astype(np.float32), y, random_state=0)
        settings = {"hidden_layer_sizes": 40, "max_iter": 30, "random_state": 0}
        ours, theirs = (cls(**settings).fit(parts[0], parts[2]) for cls in (MLPClassifier, peers.MLPClassifier))
        assert ours.score(parts[1], parts[3]) > theirs.score(parts[1], parts[3]) - 0.03
        assert ours.coefs_[0].dtype == np.float32
    table, y = load_diabetes(return_X_y=True)
    parts = train_test_split(scale(table), scale(y), random_state=0)
    settings = {"hidden_layer_sizes": 20, "max_iter": 100, "alpha": 1.0, "random_state": 0, "early_stopping": True}
    ours, theirs = (cls(**settings).fit(parts[0], parts[2]) for cls in (MLPRegressor, peers.MLPRegressor))
    assert ours.score(parts[1], parts[3]) == pytest.approx(theirs.score(parts[1], parts[3]), abs=1e-6)


@pytest.mark.parametrize("loss", ["huber", "absolute", losses.Quantile(0.8), losses.LogCosh(), losses.Gamma()])
def test_any_loss_of_numbers(loss):
    y = np.exp(NUMBERS[:, 0]) if isinstance(loss, losses.Gamma) else NUMBERS[:, 0]
    model = MLPRegressor(loss, 30, learning_rate_init=0.01, max_iter=80, random_state=0).fit(X, y)
    value = loss if not isinstance(loss, str) else losses.NAMES[loss]()
    link = np.log if isinstance(loss, losses.Gamma) else np.asarray
    constant = {"Quantile": np.quantile(y, 0.8)}.get(type(value).__name__, np.median(y))
    learnt_loss = np.mean(value.value(y, link(model.predict(X))))
    assert learnt_loss < 0.6 * np.mean(value.value(y, link(np.full(len(y), constant))))
    if isinstance(loss, losses.Quantile):
        assert 0.7 < np.mean(y <= model.predict(X)) < 0.9


def test_weights_of_rows_and_classes():
    doubled = MLPClassifier(**SMALL, class_weight={0: 2.0, 1: 1.0, 2: 1.0}).fit(X, CLASSES)
    by_rows = MLPClassifier(**SMALL).fit(X, CLASSES, np.where(CLASSES == 0, 2.0, 1.0))
    np.testing.assert_array_equal(doubled.coefs_[0], by_rows.coefs_[0])
    rare = (X[:, 0] > 1.2).astype(int)
    balanced = MLPClassifier(**SMALL, class_weight="balanced", learning_rate_init=0.01).fit(X, rare)
    plain = MLPClassifier(**SMALL, learning_rate_init=0.01).fit(X, rare)
    assert balanced.predict_proba(X)[:, 1].mean() > 1.5 * plain.predict_proba(X)[:, 1].mean()


def test_each_partial_fit_drops_other_units(monkeypatch):
    seeds, build = [], MLPClassifier._network

    def network(self, output, device, generator):
        seeds.append(generator.initial_seed())
        return build(self, output, device, generator)

    monkeypatch.setattr(MLPClassifier, "_network", network)
    for _ in range(2):
        model = MLPClassifier((5,), dropout=0.5, random_state=0)
        for _ in range(3):
            model.partial_fit(X, CLASSES, classes=np.unique(CLASSES))
    assert len(set(seeds)) == 3
    assert seeds[:3] == seeds[3:]


def test_dropout_and_batch_norm():
    settings = {"hidden_layer_sizes": (30, 20), "learning_rate_init": 0.01, "max_iter": 60, "random_state": 0}
    for more in ({"dropout": 0.2}, {"batch_norm": True}, {"dropout": 0.2, "batch_norm": True}):
        model = MLPClassifier(**settings, **more).fit(X, CLASSES)
        again = MLPClassifier(**settings, **more).fit(X, CLASSES)
        np.testing.assert_array_equal(model.coefs_[0], again.coefs_[0])
        assert model.score(X, CLASSES) > 0.85
        if "batch_norm" in more:  # γ(z − μ)/√(σ² + ε) + β, written out
            h = X
            for W, b, (gamma, beta, mean, variance) in zip(model.coefs_, model.intercepts_, model.batch_norms_):
                h = np.maximum(0, gamma * (h @ W + b - mean) / np.sqrt(variance + 1e-5) + beta)
            z = h @ model.coefs_[-1] + model.intercepts_[-1]
            e = np.exp(z - z.max(axis=1, keepdims=True))
            np.testing.assert_allclose(model.predict_proba(X), e / e.sum(axis=1, keepdims=True), rtol=1e-9, atol=1e-12)
    one_left = MLPRegressor(hidden_layer_sizes=5, batch_norm=True, batch_size=23, max_iter=2).fit(X[:24], NUMBERS[:24])
    assert np.isfinite(one_left.predict(X)).all()  # a batch of one row has no variance


def test_tables_with_categories_and_empty_cells():
    colour = np.array(["red", "green", "blue"])[rng.integers(3, size=300)]
    number = np.where(rng.uniform(size=300) < 0.2, np.nan, X[:, 0])
    frame = pd.DataFrame({"number": number, "colour": pd.Categorical(colour), "other": X[:, 1]})
    y = (colour == "red") * 1.0 + np.where(np.isnan(number), 2.0, number)
    model = MLPRegressor(hidden_layer_sizes=20, learning_rate_init=0.01, max_iter=150, random_state=0).fit(frame, y)
    assert model.score(frame, y) > 0.95
    assert [table.shape for table in model.embeddings_] == [(4, 2)]
    assert model.coefs_[0].shape[0] == 2 + 1 + 2  # numbers, a mark of empty cells, the embedding
    unseen = frame.assign(colour=pd.Categorical(["violet"] * 300))
    assert np.isfinite(model.predict(unseen)).all()
    np.testing.assert_array_equal(model.predict(frame[::-1]), model.predict(frame)[::-1])
    codes = MLPClassifier(5, categorical_features=[1], max_iter=3).fit(np.column_stack([X[:, 0], CLASSES]), CLASSES)
    assert codes.embeddings_[0].shape == (4, 2)
    plain = MLPRegressor(hidden_layer_sizes=3, max_iter=2).fit(X, NUMBERS)
    with pytest.raises(ValueError, match="X contains NaN at row 0, column 0"):
        plain.predict(np.full((1, 6), np.nan))


def test_threads_change_nothing():
    wide = rng.normal(size=(600, 64)).astype(np.float32)
    y = (wide[:, :8].sum(axis=1) > 0).astype(int)
    before, found = torch.get_num_threads(), []
    try:
        for threads in (1, 2):
            torch.set_num_threads(threads)
            learnt.set_threads(threads)
            model = MLPClassifier((256, 128), max_iter=2, random_state=0).fit(wide, y)
            found.append([*model.coefs_, model.predict_proba(wide)])
            assert torch.get_num_threads() == threads
    finally:
        torch.set_num_threads(before)
        learnt.set_threads(None)
    for one, other in zip(*found, strict=True):
        np.testing.assert_array_equal(one, other)


def test_a_deep_sigmoid_network_names_the_layers_that_vanish():
    model = MLPClassifier((10,) * 20, "sigmoid", solver="sgd", max_iter=2, random_state=0)
    with pytest.warns(NetworkHealthWarning, match=r"vanish in hidden layers 1 to \d+ "):
        model.fit(X, CLASSES)


def test_a_loss_that_rises_is_told():
    """Adam's steps of 10⁹ leave finite weights and a loss of 10³⁸."""
    X = np.random.default_rng(0).normal(size=(40, 3))
    with pytest.warns(NetworkHealthWarning, match=r"MLPRegressor diverged: its loss rose from 0\.6\d* in the first"):
        MLPRegressor(learning_rate_init=1e9, max_iter=20, random_state=0).fit(X, X[:, 0])


def test_a_strong_penalty_does_not_hide_the_layers_that_vanish():
    """Its gradient alone is alpha/n of the weights in every layer: more than 10⁻⁴ here, of at most 200 rows a batch."""
    model = MLPClassifier((10,) * 20, "sigmoid", solver="sgd", alpha=0.03, max_iter=1, random_state=0)
    with pytest.warns(NetworkHealthWarning, match=r"vanish in hidden layers 1 to \d+ "):
        model.fit(X, CLASSES)


def test_dead_units_are_counted_and_named():
    model = MLPRegressor(hidden_layer_sizes=(6, 6), max_iter=1, random_state=0).fit(X, NUMBERS)
    hidden = np.maximum(X @ model.coefs_[0] + model.intercepts_[0], 0)
    second = np.maximum(hidden @ model.coefs_[1] + model.intercepts_[1], 0)
    assert [units.tolist() for units in model.dead_units_] == [
        np.flatnonzero((h == 0).all(axis=0)).tolist() for h in (hidden, second)
    ]
    model.intercepts_[1][:] = 1.0
    model.intercepts_[1][[1, 2, 3, 5]] = -1e3
    model.set_params(warm_start=True)
    with pytest.warns(NetworkHealthWarning, match="4 of 6 units in hidden layer 2"):
        model.fit(X, NUMBERS)
    assert [units.tolist() for units in model.dead_units_] == [[], [1, 2, 3, 5]]


def test_early_stopping_keeps_the_best_weights():
    noisy = rng.normal(size=300)
    model = MLPRegressor(
        hidden_layer_sizes=100, early_stopping=True, learning_rate_init=0.02, max_iter=60, random_state=0, tol=0
    ).fit(X, noisy)
    held = train_test_split(np.arange(300), test_size=0.1, random_state=_after_first_weights())[1]
    assert model.score(X[held], noisy[held]) == pytest.approx(model.best_validation_score_, rel=1e-9)
    assert model.validation_scores_[-1] < model.best_validation_score_


def _after_first_weights():
    draws = np.random.RandomState(0)
    for a, b in ((6, 100), (100, 1)):
        draws.uniform(size=(a + 1) * b)
    return draws


def test_numbers_that_are_not_finite_stop_training():
    with pytest.raises(ValueError, match=r"MLPRegressor stopped in epoch \d with a loss of"):
        MLPRegressor(solver="sgd", learning_rate_init=1e6, random_state=0).fit(X * 1e6, NUMBERS)


def test_bad_input_gets_one_sentence():
    for model, rows, y, words in (
        (MLPClassifier(), X, np.zeros(300), "at least two classes; got 1 class"),
        (MLPClassifier((5, 0)), X, CLASSES, "hidden_layer_sizes must be > 0"),
        (MLPClassifier("many"), X, CLASSES, "hidden_layer_sizes must be > 0"),
        (MLPClassifier(), np.full((300, 2), np.inf), CLASSES, "X contains inf"),
        (MLPClassifier(device="nowhere"), X, CLASSES, "cannot compute on device='nowhere'"),
        (MLPClassifier(solver="newton"), X, CLASSES, "The 'solver' parameter of MLPClassifier must be one of"),
        (MLPClassifier(dropout=1.0), X, CLASSES, "The 'dropout' parameter"),
        (MLPClassifier(), X, NUMBERS, "columns of continuous-multioutput targets"),
        (MLPRegressor("hinge"), X, CLASSES, "The 'loss' parameter of MLPRegressor must be one of"),
        (MLPRegressor(losses.Softmax()), X, CLASSES, "is a loss of classes"),
        (MLPRegressor("poisson"), X, -(NUMBERS**2), "is for y of 0 or more"),
        (MLPRegressor(checkpoint="somewhere"), X, NUMBERS, "needs a whole number as random_state"),
        (MLPRegressor(early_stopping=True), X[:2], NUMBERS[:2], "The validation set is too small"),
    ):
        with pytest.raises(ValueError) as caught:
            model.fit(rows, y)
        assert words in str(caught.value)
        assert "\n" not in str(caught.value)
    with pytest.warns(UserWarning, match="Got `batch_size` larger than the sample size: 500 rows"):
        MLPClassifier(2, batch_size=500, max_iter=1).fit(X, CLASSES)
    linear = MLPClassifier((), max_iter=40, learning_rate_init=0.1).fit(X, CLASSES)  # no hidden layer
    assert len(linear.coefs_) == 1
    assert linear.score(X, CLASSES) > 0.5


def test_save_and_load_and_continue(tmp_path):
    several = make_multilabel_classification(60, 6, random_state=0)
    frame = pd.DataFrame({"a": X[:, 0], "b": pd.Categorical(CLASSES.astype(str))})
    for model, rows, y in (
        (MLPClassifier(**SMALL), X, CLASSES),
        (MLPClassifier(**SMALL), *several),
        (MLPRegressor(**SMALL, batch_norm=True), X, NUMBERS),
        (MLPRegressor(losses.Huber(0.5), **SMALL), frame, NUMBERS[:, 0]),
    ):
        model.fit(rows, y)
        learnt.save(model, tmp_path / "model.learnt")
        loaded = learnt.load(tmp_path / "model.learnt")
        np.testing.assert_array_equal(loaded.predict(rows), model.predict(rows))
        loaded.partial_fit(rows, y)
        model.partial_fit(rows, y)
        np.testing.assert_array_equal(loaded.coefs_[0], model.coefs_[0])


KILLED = """
    import os, signal, sys
    import numpy as np
    from learnt.neural_network import MLPClassifier, training

    write, written = training.Checkpoint.write, []

    def write_and_die(self, *what):
        write(self, *what)
        written.append(1)
        if len(written) == int(sys.argv[2]):
            os.kill(os.getpid(), signal.SIGKILL)

    training.Checkpoint.write = write_and_die
    training.Checkpoint.due = lambda self, epoch: True
    rng = np.random.default_rng(0)
    X = rng.normal(size=(200, 5))
    y = (X[:, 0] * X[:, 1] > 0).astype(int)
    model = MLPClassifier(
        (20, 10), dropout=0.1, early_stopping=True, max_iter=25, random_state=0, checkpoint=sys.argv[1],
        batch_norm=sys.argv[3] == "norm",
    )
    model.fit(X, y)
    np.savez(sys.argv[1] + ".npz", curve=model.loss_curve_, last=model.validation_scores_, **{
        f"W{i}": W for i, W in enumerate(model.coefs_)
    })
"""


@pytest.mark.long
@pytest.mark.parametrize("kind", ["plain", "norm"])
def test_training_continues_after_a_kill_to_the_same_result(tmp_path, kind):
    def run(path, die_at):
        command = [sys.executable, "-W", "ignore", "-c", textwrap.dedent(KILLED), str(path), str(die_at), kind]
        return subprocess.run(command, timeout=300, check=False).returncode

    assert run(tmp_path / "whole", 10**6) == 0
    assert run(tmp_path / "cut", 7) == -9
    assert (tmp_path / "cut").exists()
    assert run(tmp_path / "cut", 10**6) == 0
    assert not (tmp_path / "cut").exists()
    with np.load(tmp_path / "whole.npz") as whole, np.load(tmp_path / "cut.npz") as cut:
        assert set(whole.files) == set(cut.files)
        for name in whole.files:
            np.testing.assert_array_equal(whole[name], cut[name])


def test_a_checkpoint_of_other_training_is_refused(tmp_path):
    path = tmp_path / "kept"
    path.write_bytes(b"no checkpoint")
    model = MLPClassifier(**SMALL, checkpoint=path)
    with pytest.raises(ValueError, match="is no checkpoint of a network"):
        model.fit(X, CLASSES)
    np.savez(tmp_path / "kept.npz", numbers=np.array('{"digest": "another"}'))
    model.set_params(checkpoint=tmp_path / "kept.npz")
    with pytest.raises(ValueError, match="of other settings or other data"):
        model.fit(X, CLASSES)


WITHOUT = """
    import sys

    class Without:
        def find_spec(self, name, path=None, target=None):
            if name.partition(".")[0] == "torch":
                raise ModuleNotFoundError(name)

    sys.meta_path.insert(0, Without())
    import numpy as np
    import learnt
    from learnt.neural_network import MLPClassifier

    loaded = learnt.load(sys.argv[1])
    print(loaded.predict(np.zeros((1, 6))), loaded.predict_proba(np.zeros((1, 6))).shape)
    try:
        MLPClassifier().fit([[0.0], [1.0]], [0, 1])
    except ImportError as error:
        print(error)
"""


def test_without_pytorch_models_predict_and_fit_names_what_to_install(tmp_path):
    learnt.save(MLPClassifier(**SMALL).fit(X, CLASSES), tmp_path / "model.learnt")
    command = [sys.executable, "-c", textwrap.dedent(WITHOUT), str(tmp_path / "model.learnt")]
    said = subprocess.run(command, capture_output=True, text=True, check=True, timeout=120).stdout
    assert "(1, 3)" in said
    assert "MLPClassifier.fit needs PyTorch, which is not installed: pip install 'learnt[nets]'" in said


def test_importing_the_room_imports_no_pytorch():
    code = "import sys, learnt.neural_network; assert 'torch' not in sys.modules"
    subprocess.run([sys.executable, "-c", code], check=True, timeout=120)


def test_convergence_is_warned_of():
    with pytest.warns(ConvergenceWarning, match=r"Maximum iterations \(2\) reached"):
        MLPClassifier(2, max_iter=2).fit(X, CLASSES)
    with pytest.warns(ConvergenceWarning, match="lbfgs failed to converge after 2"):
        MLPClassifier(9, solver="lbfgs", max_iter=2).fit(X, CLASSES)
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        assert importlib.import_module("learnt.neural_network").MLPClassifier is MLPClassifier


def test_the_summary_counts_weights_and_biases():
    """The network of two columns, two layers of three units and one output: 18 weights + 7 biases."""
    model = MLPRegressor(hidden_layer_sizes=(3, 3), activation="sigmoid", max_iter=1).fit(X[:, :2], NUMBERS[:, 0])
    table = model.summary()
    assert (table.n_weights, table.n_biases, table.n_parameters) == (18, 7, 25)
    assert "18 weights + 7 biases = 25 parameters" in str(table)
    assert table.n_parameters == sum(part.size for part in [*model.coefs_, *model.intercepts_])
    normed = MLPClassifier((4,), "leaky_relu", batch_norm=True, dropout=0.1, max_iter=1).fit(X, CLASSES)
    assert normed.summary().n_parameters == 6 * 4 + 4 + 2 * 4 + 4 * 3 + 3
