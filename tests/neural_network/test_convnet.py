"""ConvNetClassifier and ConvNetRegressor: images of every layout, seeds, threads, files, bad input, digits."""

import warnings

import numpy as np
import pytest
import torch
from sklearn.base import clone
from sklearn.datasets import load_digits
from sklearn.model_selection import StratifiedKFold, cross_val_score

import learnt
from learnt.engine.threads import set_threads
from learnt.neural_network import (
    Augment,
    AvgPool,
    BatchNorm,
    Conv,
    ConvNetClassifier,
    ConvNetRegressor,
    Dense,
    Dropout,
    Flatten,
    MaxPool,
)
from learnt.neural_network.convnet._augment import _warped
from learnt.neural_network.convnet._default import default_layers
from learnt.neural_network.convnet._network import LayersNetwork
from learnt.neural_network.layers import plan
from learnt.neural_network.training import SoftmaxOutput

SMALL = [Conv(6, 3), MaxPool(2), Dense(12)]


@pytest.fixture(autouse=True)
def _threads():
    yield
    set_threads(None)


def bars(n=120, seed=0):
    """Grey images with a bright row or a bright column, and which of the two."""
    rng = np.random.default_rng(seed)
    X, y = rng.normal(0, 0.1, size=(n, 6, 6)), rng.integers(0, 2, n)
    for image, across, place in zip(X, y, rng.integers(0, 6, n), strict=True):
        image[(place, slice(None)) if across else (slice(None), place)] += 1
    return X, np.array(["up", "across"])[y]


def small(**settings):
    options = {"max_iter": 15, "learning_rate_init": 0.01, "batch_size": 30, "random_state": 0, **settings}
    return ConvNetClassifier(options.pop("layers", SMALL), **options)


def same(a, b):
    assert a.weights_.keys() == b.weights_.keys()
    for name, value in a.weights_.items():
        np.testing.assert_array_equal(value, b.weights_[name], err_msg=name)


def test_it_learns_what_a_line_is_and_its_probabilities_agree():
    X, y = bars()
    model = small().fit(X, y)
    new, truth = bars(seed=1)
    assert model.score(new, truth) > 0.95
    p = model.predict_proba(new)
    np.testing.assert_allclose(p.sum(axis=1), 1, rtol=1e-12)
    np.testing.assert_array_equal(model.classes_[p.argmax(axis=1)], model.predict(new))
    np.testing.assert_allclose(np.log(p), model.predict_log_proba(new), rtol=1e-9, atol=1e-12)
    assert model.loss_curve_[-1] < model.loss_curve_[0]
    assert clone(model).get_params()["layers"] == SMALL


def test_every_layout_gives_the_same_network():
    rng = np.random.default_rng(0)
    colours, y = rng.random((40, 6, 5, 3)), rng.integers(0, 3, 40)
    settings = {"max_iter": 2, "random_state": 0}
    models = {
        "NHWC": ConvNetClassifier(SMALL, **settings).fit(colours, y),
        "NCHW": ConvNetClassifier(SMALL, **settings).fit(np.moveaxis(colours, 3, 1), y),
        "said": ConvNetClassifier(SMALL, layout="NCHW", **settings).fit(np.moveaxis(colours, 3, 1), y),
        "flat": ConvNetClassifier(SMALL, image_shape=(6, 5, 3), **settings).fit(colours.reshape(40, -1), y),
        "planes": ConvNetClassifier(SMALL, image_shape=(3, 6, 5), **settings).fit(
            np.moveaxis(colours, 3, 1).reshape(40, -1), y
        ),
        "list": ConvNetClassifier(SMALL, **settings).fit(list(colours), y),
    }
    assert [models[k].layout_ for k in ("NHWC", "NCHW", "said", "flat")] == ["NHWC", "NCHW", "NCHW", "flat"]
    for name, model in models.items():
        assert model.image_shape_ == (6, 5, 3), name
        same(models["NHWC"], model)
    expected = models["NHWC"].predict_proba(colours)
    np.testing.assert_array_equal(models["NCHW"].predict_proba(np.moveaxis(colours, 3, 1)), expected)
    np.testing.assert_array_equal(models["planes"].predict_proba(np.moveaxis(colours, 3, 1).reshape(40, -1)), expected)
    grey = small().fit(*bars(40))
    np.testing.assert_array_equal(grey.predict(bars(9)[0]), grey.predict(bars(9)[0].reshape(9, 36)))


def test_bytes_are_images_from_0_to_1():
    X, y = bars(60)
    bytes_ = np.clip(200 * np.abs(X), 0, 255).astype(np.uint8)
    one, other = small(max_iter=2).fit(bytes_, y), small(max_iter=2).fit(np.float32(bytes_) / np.float32(255), y)
    same(one, other)
    np.testing.assert_array_equal(one.predict_proba(bytes_), one.predict_proba(np.float32(bytes_) / np.float32(255)))


@pytest.mark.parametrize(
    "layers",
    [SMALL, [Conv(8, 3, padding="same"), AvgPool(2), Dropout(0.3), Dense(8)], [Conv(4, 3), BatchNorm(), Dense(4)]],
)
def test_a_seed_gives_the_same_network_on_any_number_of_threads(layers, monkeypatch):
    monkeypatch.setattr("learnt.neural_network.convnet._network._PRODUCTS", 1 << 8)  # several pieces a batch
    X, y = bars(100)
    models = []
    for threads in (1, 3):
        set_threads(threads)
        settings = {"batch_size": 64, "max_iter": 2, "augment": Augment(1, True, 5, 0.1)}
        models.append(small(layers=layers, **settings).fit(X, y))
    same(*models)
    other = small(layers=layers, batch_size=64, max_iter=2, random_state=1).fit(X, y)
    assert not np.array_equal(other.weights_["conv1.weight"], models[0].weights_["conv1.weight"])


@pytest.mark.parametrize("weighted", [False, True])
def test_pieces_of_a_batch_add_up_to_the_whole(weighted, monkeypatch):
    steps = plan([Conv(4, 3, activation="tanh"), AvgPool(2), Dense(5)], (2, 8, 8), 3)
    rng = np.random.default_rng(0)
    X, y = torch.from_numpy(rng.normal(size=(70, 8, 8, 2))), torch.from_numpy(rng.integers(0, 3, 70))
    w = torch.from_numpy(rng.random(70)) if weighted else None
    found = []
    for products in (1, 1 << 40):
        monkeypatch.setattr("learnt.neural_network.convnet._network._PRODUCTS", products)
        network = LayersNetwork(steps, SoftmaxOutput(), 0, alpha=0.1, dtype=torch.float64)
        assert len(network.pieces(70)) == (5 if products == 1 else 1)
        with torch.no_grad():
            found.append((float(network.loss_and_gradients(X, y, w)), network.parameters.gradients.clone()))
    assert found[0][0] == pytest.approx(found[1][0], rel=1e-12)
    torch.testing.assert_close(found[0][1], found[1][1], rtol=1e-9, atol=1e-13)


def test_the_gradient_of_the_loss_is_its_finite_difference():
    steps = plan([Conv(3, 3, padding="same", activation="tanh"), MaxPool(2), Dense(4, "sigmoid")], (1, 6, 6), 3)
    rng = np.random.default_rng(0)
    X, y = torch.from_numpy(rng.normal(size=(20, 6, 6, 1))), torch.from_numpy(rng.integers(0, 3, 20))
    network = LayersNetwork(steps, SoftmaxOutput(), 0, alpha=0.5, dtype=torch.float64)
    values = network.parameters.values
    with torch.no_grad():
        network.loss_and_gradients(X, y)
        gradient, h = network.parameters.gradients.clone(), 1e-6
        for i in rng.choice(len(values), 30, replace=False):
            before = float(values[i])
            values[i] = before + h
            up = float(network.loss_and_gradients(X, y))
            values[i] = before - h
            down = float(network.loss_and_gradients(X, y))
            values[i] = before
            # The third derivative times h² and the rounding of the loss over h.
            assert float(gradient[i]) == pytest.approx((up - down) / (2 * h), rel=1e-5, abs=1e-8)


def test_early_stopping_puts_back_the_best_weights():
    X, y = bars(150)
    model = small(early_stopping=True, validation_fraction=0.3, max_iter=20, n_iter_no_change=3).fit(X, y)
    assert model.best_validation_score_ == max(model.validation_scores_)
    assert model.validation_scores_[model.best_epoch_ - 1] == model.best_validation_score_
    assert len(model.validation_loss_curve_) == len(model.loss_curve_) == model.n_iter_


def test_weights_of_classes_and_images_count():
    rng = np.random.default_rng(0)
    X, y = rng.normal(size=(200, 4, 4)), np.r_[np.zeros(180, int), np.ones(20, int)]
    plain = small(layers=[Conv(4, 2), Dense(4)], max_iter=4).fit(X, y)
    balanced = small(layers=[Conv(4, 2), Dense(4)], max_iter=4, class_weight="balanced").fit(X, y)
    by_hand = small(layers=[Conv(4, 2), Dense(4)], max_iter=4).fit(X, y, np.where(y == 1, 5.0, 100 / 180))
    assert balanced.predict_proba(X)[:, 1].mean() > plain.predict_proba(X)[:, 1].mean() + 0.2
    same(balanced, by_hand)


def test_numbers_are_read_off_images_in_their_own_unit():
    rng = np.random.default_rng(0)
    X = rng.random((160, 6, 6))
    y = np.column_stack([1000 + 50 * X[:, :3].mean(axis=(1, 2)), -X[:, :, 2:].mean(axis=(1, 2))])
    settings = {"max_iter": 40, "learning_rate_init": 0.01, "random_state": 0}
    model = ConvNetRegressor([Conv(8, 3), AvgPool(2), Dense(16)], **settings).fit(X, y)
    assert model.predict(X).shape == (160, 2)
    assert model.score(X, y) > 0.9
    one = ConvNetRegressor([Conv(8, 3), AvgPool(2), Dense(16)], **settings).fit(X, y[:, 0])
    assert one.predict(X).shape == (160,)


def test_augmentation_moves_mirrors_and_adds_noise():
    grid = torch.arange(16.0).reshape(1, 4, 4, 1).repeat(200, 1, 1, 1)
    generator = torch.Generator().manual_seed(0)
    seen = {tuple(image.reshape(-1).tolist()) for image in Augment(shift=1).change(grid, generator, 0, 200)}
    expected = set()
    plain = np.arange(16.0).reshape(4, 4)
    for down in (-1, 0, 1):
        for right in (-1, 0, 1):
            padded = np.pad(plain, 1, mode="edge")
            expected.add(tuple(padded[1 - down : 5 - down, 1 - right : 5 - right].reshape(-1)))
    assert seen == expected
    flipped = {tuple(image.reshape(-1).tolist()) for image in Augment(flip=True).change(grid, generator, 0, 200)}
    assert flipped == {tuple(plain.reshape(-1)), tuple(plain[:, ::-1].reshape(-1))}
    noisy = Augment(noise=0.5).change(torch.zeros(400, 4, 4, 1), generator, 0, 400)
    assert float(noisy.std()) == pytest.approx(0.5, rel=5 / np.sqrt(2 * noisy.numel()))
    # Workers that share a batch change its images as a single one does.
    changes = Augment(1, True, 10, 0.1, 0.2, 0.3)
    whole = changes.change(grid[:10], torch.Generator().manual_seed(3), 0, 10)
    part = changes.change(grid[4:10], torch.Generator().manual_seed(3), 4, 10)
    torch.testing.assert_close(part, whole[4:], rtol=0, atol=1e-5)


def warped(image, angle=0.0, high=1.0, wide=1.0, slant=0.0, down=0.0, right=0.0, mirrored=False):
    numbers = [torch.tensor([float(value)]) for value in (angle, high, wide, slant, down, right)]
    images = torch.from_numpy(image.astype(np.float32))[None, :, :, None]
    return _warped(images, *numbers, torch.tensor([mirrored]))[0, :, :, 0].numpy()


def test_augmentation_turns_stretches_and_slants():
    """Against quarter turns, moves by whole pixels, and a ramp, whose values say where a pixel was taken from."""
    plain = np.arange(16.0).reshape(4, 4)
    assert any(np.allclose(warped(plain, angle=np.pi / 2), np.rot90(plain, k), atol=1e-4) for k in (1, 3))
    padded = np.pad(plain, 1, mode="edge")
    np.testing.assert_allclose(warped(plain, down=1, right=-1), padded[0:4, 2:6], atol=1e-4)
    np.testing.assert_allclose(warped(plain, right=1, mirrored=True), padded[1:5, ::-1][:, 0:4], atol=1e-4)
    y, x = np.meshgrid(np.arange(12) - 5.5, np.arange(20) - 9.5, indexing="ij")
    inside = (slice(4, 8), slice(5, 15))
    np.testing.assert_allclose(warped(x, wide=1.25)[inside], (x / 1.25)[inside], atol=1e-4)
    np.testing.assert_allclose(warped(y, high=1.25)[inside], (y / 1.25)[inside], atol=1e-4)
    np.testing.assert_allclose(warped(x, slant=0.5)[inside], (x + 0.5 * y)[inside], atol=1e-4)
    turned = warped(x, angle=0.3)[inside]
    np.testing.assert_allclose(turned, (np.cos(0.3) * x - np.sin(0.3) * y)[inside], atol=1e-4)


def test_a_saved_network_is_the_same_and_a_forged_one_is_refused(tmp_path):
    X, y = bars(60)
    layers = [
        Conv(4, (3, 2), padding="same"),
        BatchNorm(activation="relu"),
        MaxPool(2),
        Flatten(),
        Dropout(0.2),
        Dense(5),
    ]
    model = small(layers=layers, max_iter=2, augment=Augment(1)).fit(X, y)
    learnt.save(model, tmp_path / "m.learnt")
    again = learnt.load(tmp_path / "m.learnt")
    assert again.layers == layers
    assert again.augment == Augment(1)
    np.testing.assert_array_equal(again.predict_proba(X), model.predict_proba(X))
    for change in (
        {"layers_": [Conv(5, (3, 2), padding="same"), *layers[1:]]},
        {"layers_": [Conv(4, 9)]},
        {"image_shape_": (5, 7, 1)},
        {"n_outputs_": 3},
        {"weights_": {**model.weights_, "batchnorm1.variance": -model.weights_["batchnorm1.variance"]}},
    ):
        forged = clone(model)
        vars(forged).update({**vars(model), **change})
        with pytest.raises(ValueError) as caught:
            save_and_load(forged, tmp_path / "f.learnt")
        assert "\n" not in str(caught.value)


def save_and_load(model, path):
    learnt.save(model, path)
    return learnt.load(path)


def test_training_continues_from_its_checkpoint(tmp_path, monkeypatch):
    X, y = bars(60)
    settings = {"layers": [Conv(4, 3), Dropout(0.3), Dense(6)], "max_iter": 4, "augment": Augment(1)}
    whole = small(**settings).fit(X, y)
    from learnt.neural_network.training import Checkpoint

    written = Checkpoint.write

    def write_and_die(self, arrays, numbers):
        written(self, arrays, numbers)
        raise KeyboardInterrupt

    path = tmp_path / "c.npz"
    monkeypatch.setattr(Checkpoint, "write", write_and_die)
    with pytest.raises(KeyboardInterrupt):
        small(checkpoint=str(path), **settings).fit(X, y)
    monkeypatch.undo()
    assert path.exists()
    same(whole, small(checkpoint=str(path), **settings).fit(X, y))
    assert not path.exists()


def test_feature_maps_are_what_layers_give():
    X, y = bars(50)
    model = small(max_iter=2).fit(X, y)
    maps = model.feature_maps(X[:4])
    assert {name: value.shape for name, value in maps.items()} == {
        "conv1": (4, 4, 4, 6), "maxpool1": (4, 2, 2, 6), "flatten1": (4, 24), "dense1": (4, 12), "output": (4, 2),
    }  # fmt: skip
    p = np.exp(maps["output"] - maps["output"].max(axis=1, keepdims=True))
    np.testing.assert_allclose(p / p.sum(axis=1, keepdims=True), model.predict_proba(X[:4]), rtol=1e-5)


def test_the_table_is_shown_before_training():
    table = small().summary((6, 6), n_outputs=2)
    assert table.n_parameters == small(max_iter=1).fit(*bars(30)).summary().n_parameters
    with pytest.raises(ValueError, match="conv1 does not fit"):
        small(layers=[Conv(4, 7)]).summary((6, 6))
    with pytest.raises(ValueError, match="is not fitted and its image_shape is None"):
        small().summary()
    for size in [(1, 1), (1, 5), (2, 2), (1, 40), (8, 8), (28, 28), (32, 100), (7, 3)]:
        plan(default_layers(*size), (1, *size), 3)


X0, Y0 = np.zeros((8, 6, 6)), np.arange(8) % 2
NOISE = np.random.default_rng(0).normal(size=(8, 6, 6)) / 5
BAD = {
    "no layers": (lambda: small(layers=[]).fit(X0, Y0), "list of layers is empty"),
    "sizes": (lambda: small(layers=[MaxPool(2)] * 4).fit(X0, Y0), "maxpool3 does not fit its image of 1×1×1"),
    "no list": (lambda: small(layers=Conv(4, 3)).fit(X0, Y0), r"layers must be a list such as \[Conv"),
    "two sizes": (
        lambda: small().fit([np.zeros((6, 6)), np.zeros((6, 7))], [0, 1]),
        "two sizes, 6×6 at 0 and 6×7 at 1",
    ),
    "ragged": (
        lambda: small().fit([[[1, 2], [3]], [[1, 2], [3, 4]]], [0, 1]),
        "Image 0 of X has lines of unequal length",
    ),
    "huge later": (
        lambda: ConvNetClassifier(max_iter=1, random_state=0).fit(NOISE, Y0).predict(1e308 * NOISE),
        r"pixels up to \d.\d+e.30\d, and sums of ConvNetClassifier overflow",
    ),
    "one class": (lambda: small().fit(X0, np.zeros(8, int)), "one class, 0, and"),
    "NaN": (lambda: small().fit(np.full((8, 6, 6), np.nan), Y0), "NaN"),
    "batch": (lambda: small(batch_size=9).fit(X0, Y0), "9 images in a batch of ConvNetClassifier and 8 images"),
    "channels": (lambda: small().fit(np.zeros((8, 6, 6, 7)), Y0), "cannot tell which axis is the channels"),
    "image_shape": (lambda: small(image_shape=(5, 5)).fit(X0.reshape(8, 36), Y0), "25 numbers.* 36 features"),
    "other shape": (lambda: small(image_shape=(5, 5)).fit(X0, Y0), "images of X are 6×6 and image_shape"),
    "odd shape": (lambda: small(image_shape=36).fit(X0.reshape(8, 36), Y0), "must be .rows, columns"),
    "layout": (lambda: small(layout="NCHW").fit(X0, Y0), "not of layout='NCHW'"),
    "augment": (lambda: small(augment="flip").fit(X0, Y0), "'augment' parameter"),
    "shift": (lambda: Augment(shift=1.5), "'shift' of Augment"),
    "too few": (lambda: small(early_stopping=True, validation_fraction=0.1).fit(X0, Y0), "too few to judge"),
    "size later": (
        lambda: small(max_iter=1, batch_size="auto").fit(bars(8)[0], Y0).predict(np.zeros((2, 7, 6))),
        "images of X are 7×6, .* trained on images of 6×6",
    ),
    "rate": (lambda: small(learning_rate_init=1e30, solver="sgd").fit(*bars(40)), "non-finite"),
}  # fmt: skip


@pytest.mark.parametrize("name", BAD)
def test_bad_input_gets_one_sentence(name):
    call, words = BAD[name]
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        with pytest.raises((ValueError, UserWarning), match=words) as caught:
            call()
    assert "\n" not in str(caught.value)
    assert len(str(caught.value)) < 300


def test_digits_are_classified():
    X, y = load_digits(return_X_y=True)
    model = ConvNetClassifier(random_state=0, max_iter=4).fit(X[:900], y[:900])
    assert model.score(X[900:], y[900:]) > 0.9


@pytest.mark.long
def test_digits_in_five_folds():
    """More than 98.5 % of the 8×8 digits, by the default network."""
    X, y = load_digits(return_X_y=True)
    folds = StratifiedKFold(5, shuffle=True, random_state=0)
    assert cross_val_score(ConvNetClassifier(random_state=0), X, y, cv=folds).mean() > 0.985


# --- going on


def going_on(**settings):
    options = {"shuffle": False, "learning_rate": "constant", "batch_size": 30, "random_state": 0, **settings}
    return ConvNetClassifier([Conv(4, 3), BatchNorm(), Dense(8)], n_iter_no_change=100, **options)


def same_weights(a, b):
    return all(np.array_equal(a.weights_[name], b.weights_[name]) for name in a.weights_)


def test_calls_of_partial_fit_are_epochs_of_one_fit(tmp_path):
    """Without draws: the optimiser's moments, the moving means of batch norm and the rate go on, in a file too."""
    X, y = bars(90)
    whole = going_on(max_iter=4).fit(X, y)
    steps = going_on().partial_fit(X, y, classes=np.unique(y)).partial_fit(X, y)
    learnt.save(steps, tmp_path / "half.learnt")
    steps = learnt.load(tmp_path / "half.learnt").partial_fit(X, y).partial_fit(X, y)
    assert same_weights(whole, steps)
    assert steps.loss_curve_ == whole.loss_curve_
    assert steps.t_ == whole.t_ == 4 * len(X)
    assert not same_weights(whole, going_on(max_iter=3).fit(X, y))


def test_partial_fit_needs_its_classes_and_sees_them_one_by_one():
    X, y = bars(60)
    names = np.unique(y)
    model = going_on(learning_rate="cosine", max_iter=1, batch_size="auto")
    with pytest.raises(ValueError, match="classes must be passed on the first call"):
        model.partial_fit(X, y)
    one = y == names[0]
    model.partial_fit(X[one], y[one], classes=names)
    assert model.classes_.tolist() == names.tolist()
    before = model.weights_
    model.partial_fit(X[~one], y[~one])
    assert not np.array_equal(before["conv1.weight"], model.weights_["conv1.weight"])  # the rate has not fallen to 0
    with pytest.raises(ValueError, match="goes on with the classes"):
        model.partial_fit(X[:2], ["what", "else"])
    with pytest.raises(ValueError, match="is not the same as on last call"):
        model.partial_fit(X, y, classes=["what", "else"])
    with pytest.raises(ValueError, match="trained on images of 6×6"):
        model.partial_fit(X[:, :5], y)
    with pytest.raises(ValueError, match="does not support early_stopping"):
        going_on(early_stopping=True).partial_fit(X, y, classes=names)
    with pytest.raises(ValueError, match="class_weight 'balanced' is not supported"):
        going_on(class_weight="balanced").partial_fit(X, y, classes=names)


def test_a_warm_start_continues_from_the_weights_and_a_cold_one_does_not():
    X, y = bars(90)
    model = going_on(warm_start=True, max_iter=2, solver="sgd", learning_rate_init=0.05).fit(X, y)
    model.fit(X, y)
    whole = going_on(max_iter=4, solver="sgd", learning_rate_init=0.05).fit(X, y)  # gradient descent has no moments
    assert same_weights(model, whole)
    assert (model.n_iter_, len(model.loss_curve_)) == (2, 4)
    cold = going_on(max_iter=2, solver="sgd", learning_rate_init=0.05).fit(X, y).fit(X, y)
    assert len(cold.loss_curve_) == 2
    assert not same_weights(cold, whole)


def test_numbers_continue_in_the_unit_of_the_first():
    X, _ = bars(60)
    y = 1000 + 50 * X[:, 2:4, 2:4].mean(axis=(1, 2))
    options = {"shuffle": False, "learning_rate": "constant", "batch_size": 30, "random_state": 0}
    whole = ConvNetRegressor([Conv(4, 3), Dense(8)], max_iter=3, **options).fit(X, y)
    steps = ConvNetRegressor([Conv(4, 3), Dense(8)], **options)
    for _ in range(3):
        steps.partial_fit(X, y)
    assert np.array_equal(whole.predict(X), steps.predict(X))
    with pytest.raises(ValueError, match="y has 2 targets"):
        steps.partial_fit(X, np.column_stack([y, y]))
