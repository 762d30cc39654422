"""Layers: shapes by the formula, the forward pass by a plain NumPy convolution, gradients by finite differences."""

import math
from itertools import product

import numpy as np
import pytest
import torch

from learnt.neural_network import AvgPool, BatchNorm, Conv, Dense, Dropout, Flatten, MaxPool, conv_output_size, summary
from learnt.neural_network.layers import plan
from learnt.neural_network.layers._module import build

RNG = np.random.default_rng(0)


def output_of(layers, X, training=False):
    network = build(plan(layers, X.shape[1:]), seed=3).double().train(training)
    return network, network(torch.from_numpy(X)).detach().numpy()


def windows(X, size, stride, before, after, fill=0.0):
    """Every window of every channel: (n, channels, rows, columns, kernel rows, kernel columns)."""
    X = np.pad(X, [(0, 0), (0, 0), (before[0], after[0]), (before[1], after[1])], constant_values=fill)
    found = np.lib.stride_tricks.sliding_window_view(X, size, axis=(2, 3))
    return found[:, :, :: stride[0], :: stride[1]]


def test_output_size_by_the_formula():
    for W, K, P, S in product(range(1, 12), range(1, 6), range(3), range(1, 4)):
        if W - K + 2 * P < 0:
            with pytest.raises(ValueError, match="less than 1") as caught:
                conv_output_size(W, K, P, S)
            assert "\n" not in str(caught.value)
        else:
            places = [start for start in range(0, W + 2 * P, S) if start + K <= W + 2 * P]
            assert conv_output_size(W, K, P, S) == len(places) == math.floor((W - K + 2 * P) / S) + 1
    assert conv_output_size(4, 3, 0, 1) == 2  # seed E
    assert conv_output_size(28, 5, padding=2, stride=3) == conv_output_size(28, 5, 2, 3) == 10


@pytest.mark.parametrize("bad", [(0, 1), (4, 0), (4, 1, -1), (4, 1, 0, 0), (4.0, 2), (True, 1)])
def test_output_size_of_nonsense(bad):
    with pytest.raises(ValueError, match="must be a whole number"):
        conv_output_size(*bad)


@pytest.mark.parametrize(
    ("layer", "border"),
    [
        (Conv(3, 3), ((0, 0), (0, 0))),
        (Conv(2, (2, 3), padding=(1, 2), stride=(2, 1)), ((1, 2), (1, 2))),
        (Conv(2, 3, padding="same"), ((1, 1), (1, 1))),
        (Conv(2, 2, padding="same", bias=False), ((0, 0), (1, 1))),
        (Conv(2, 3, padding="same", stride=2), ((1, 0), (1, 1))),
    ],
)
def test_convolution_is_the_sum_over_the_window(layer, border):
    X = RNG.normal(size=(2, 3, 7, 6))
    network, found = output_of([layer], X)
    K = network.conv1.weight.detach().movedim(3, 1).numpy()
    with torch.no_grad():
        if layer.bias:
            network.conv1.bias.copy_(torch.arange(layer.channels, dtype=torch.float64) / 10)
    found = network(torch.from_numpy(X)).detach().numpy()
    stride = layer.stride if isinstance(layer.stride, tuple) else (layer.stride,) * 2
    seen = windows(X, K.shape[2:], stride, *border)
    expected = np.einsum("ncijpq,kcpq->nkij", seen, K)
    if layer.bias:
        expected += np.arange(layer.channels)[:, None, None] / 10
    # A sum of m products is off by at most m·eps·Σ|terms| (Higham, 3.1).
    bound = (K[0].size + 2) * np.finfo(float).eps * (np.einsum("ncijpq,kcpq->nkij", abs(seen), abs(K)) + 1)
    assert (np.abs(found - np.maximum(expected, 0)) <= bound).all()


@pytest.mark.parametrize(
    ("layer", "border"),
    [
        (MaxPool(2), ((0, 0), (0, 0))),
        (MaxPool(3, stride=1, padding=1), ((1, 1), (1, 1))),
        (MaxPool(2, padding="same"), ((0, 0), (1, 0))),
        (AvgPool((2, 3)), ((0, 0), (0, 0))),
        (AvgPool(3, stride=2, padding=1), ((1, 1), (1, 1))),
        (AvgPool(2, padding="same"), ((0, 0), (1, 0))),
    ],
)
def test_pools_are_the_largest_and_the_mean_of_a_window(layer, border):
    X = RNG.normal(size=(2, 2, 7, 6))
    size = layer.size if isinstance(layer.size, tuple) else (layer.size,) * 2
    stride = size if layer.stride is None else (layer.stride,) * 2
    seen = windows(X, size, stride, *border, fill=np.nan)
    expected = (np.nanmax if isinstance(layer, MaxPool) else np.nanmean)(seen, axis=(4, 5))
    np.testing.assert_allclose(output_of([layer], X)[1], expected, rtol=9 * np.finfo(float).eps, atol=1e-15)


@pytest.mark.parametrize("activation", [None, "relu", "leaky_relu", "tanh"])
@pytest.mark.parametrize("bias", [True, False])
@pytest.mark.parametrize("pool", [MaxPool(2), MaxPool(3, 2, 1), MaxPool(2, padding="same"), AvgPool(2)])
def test_a_convolution_and_a_pool_in_training_are_those_of_prediction(activation, bias, pool):
    """Bias and activation may come behind the pool; outputs and gradients in double precision do not show it."""
    layers = [Conv(3, 3, padding="same", activation=activation, bias=bias), pool]
    X = RNG.normal(size=(4, 2, 7, 6))
    X[0] = 0.5  # windows of equal pixels
    network = build(plan(layers, X.shape[1:]), seed=3).double()
    if bias:
        torch.nn.init.uniform_(network[0].bias, -0.5, 0.5, generator=torch.Generator().manual_seed(0))
    found = []
    for training in (True, False):
        network.train(training)
        given = torch.from_numpy(X).requires_grad_()
        z = network(given)
        pull = torch.from_numpy(np.random.default_rng(1).normal(size=z.shape))
        found.append([z, *torch.autograd.grad(z, [given, *network.parameters()], pull)])
    for ours, expected in zip(*found):
        np.testing.assert_allclose(ours.detach().numpy(), expected.detach().numpy(), rtol=1e-12, atol=1e-12)
    assert network[0].pooled == (isinstance(pool, MaxPool) and activation != "tanh")


def test_the_seeds_pooling():
    grid = np.array([[2, 5, 1, 5], [1, 8, 3, 2], [0, 6, 1, 2], [5, 3, 3, 0.0]])[None, None]
    np.testing.assert_array_equal(output_of([MaxPool(2)], grid)[1][0, 0], [[8, 5], [6, 3]])
    np.testing.assert_array_equal(output_of([AvgPool(2)], grid)[1][0, 0], [[4, 2.75], [3.5, 1.5]])


def test_batch_norm_has_mean_and_scale_of_the_batch_and_keeps_averages():
    X = RNG.normal(2.0, 3.0, size=(8, 3, 4, 5))
    network, found = output_of([BatchNorm(momentum=0.25)], X, training=True)
    mean, variance = X.mean(axis=(0, 2, 3)), X.var(axis=(0, 2, 3))
    expected = (X - mean[:, None, None]) / np.sqrt(variance + 1e-5)[:, None, None]
    np.testing.assert_allclose(found, expected, rtol=1e-12, atol=1e-12)
    n = 8 * 4 * 5
    np.testing.assert_allclose(network.batchnorm1.mean, 0.25 * mean, rtol=1e-12)
    np.testing.assert_allclose(network.batchnorm1.variance, 0.75 + 0.25 * variance * n / (n - 1), rtol=1e-12)


def test_dropout_drops_its_share_and_keeps_the_mean_and_is_nothing_in_prediction():
    X = np.ones((400, 50))
    np.testing.assert_array_equal(output_of([Dropout(0.3)], X)[1], X)
    found = output_of([Dropout(0.3)], X, training=True)[1]
    np.testing.assert_allclose(np.unique(found), [0.0, 1 / 0.7], rtol=1e-12)
    assert abs((found == 0).mean() - 0.3) < 5 * math.sqrt(0.3 * 0.7 / X.size)  # five standard errors


GRADIENTS = {
    "conv": [Conv(3, 3, activation="tanh")],
    "conv strided and padded": [Conv(2, (2, 3), padding=(1, 0), stride=2, activation="sigmoid")],
    "conv same": [Conv(2, 2, padding="same", activation=None)],
    "max pool": [Conv(2, 2, activation=None), MaxPool(2)],
    "max pool same": [MaxPool(2, padding="same"), Conv(2, 2, activation=None)],
    "avg pool": [AvgPool(2, stride=1, padding=1), Conv(2, 2, activation="tanh")],
    "avg pool same": [AvgPool((3, 2), padding="same"), Dense(2, activation=None)],
    "dense": [Flatten(), Dense(3, activation="tanh"), Dense(2, activation=None, bias=False)],
    "relu": [Conv(3, 2), Dense(2, activation=None)],
    "leaky relu": [Conv(3, 2, activation="leaky_relu"), Dense(2, activation=None)],
    "batch norm": [Conv(2, 2, activation=None), BatchNorm(activation="tanh"), Dense(2, activation=None)],
    "batch norm of units": [Dense(3, activation=None), BatchNorm(activation="sigmoid")],
}


@pytest.mark.parametrize("name", GRADIENTS)
def test_gradients_are_finite_differences(name):
    X = torch.from_numpy(RNG.normal(size=(4, 2, 5, 6)))
    network = build(plan(GRADIENTS[name], (2, 5, 6)), seed=1).double().train()
    direction = torch.from_numpy(RNG.normal(size=network(X).shape))

    def value():
        return float((network(X) * direction).sum())

    X.requires_grad_()
    (network(X) * direction).sum().backward()
    h = 1e-6
    # Central differences are off by h² times a third derivative, and by the rounding of the values over h.
    for tensor in [X, *network.parameters()]:
        flat = tensor.detach().view(-1)
        for i in RNG.choice(flat.numel(), size=min(8, flat.numel()), replace=False):
            with torch.no_grad():
                before = float(flat[i])
                flat[i] = before + h
                up = value()
                flat[i] = before - h
                down = value()
                flat[i] = before
            assert tensor.grad.reshape(-1)[i] == pytest.approx((up - down) / (2 * h), rel=1e-5, abs=1e-7)


def test_the_table_of_the_2_3_3_1_network():
    table = summary([Dense(3), Dense(3)], (2,), n_outputs=1)
    assert (table.n_weights, table.n_biases, table.n_parameters) == (18, 7, 25)
    assert "18 weights + 7 biases = 25 parameters" in str(table)


def test_the_table_shows_shapes_and_counts():
    layers = [Conv(32, 3, padding="same"), MaxPool(2), Conv(8, 5, padding=2, stride=2), Dense(10), Dropout(0.25)]
    table = summary(layers, (1, 9, 9), n_outputs=3)
    assert [step.after for step in table.steps] == [(32, 9, 9), (32, 4, 4), (8, 2, 2), (32,), (10,), (10,), (3,)]
    assert [step.n_parameters for step in table.steps] == [320, 0, 32 * 25 * 8 + 8, 0, 330, 0, 33]
    assert "(1 rows, 1 columns left over)" in str(table)
    network = build(table.steps, seed=0)
    assert sum(p.numel() for p in network.parameters()) == table.n_parameters
    assert "<td>conv1</td>" in table._repr_html_()


@pytest.mark.parametrize(
    ("layers", "shape", "words"),
    [
        ([], (8, 8), "list of layers is empty"),
        (Dense(3), (8, 8), "must be a list"),
        ([Conv(4), "relu"], (8, 8), "Layer 1 is 'relu'"),
        ([Conv], (8, 8), "Layer 0 is"),
        ([Conv(4, 9)], (8, 8), "conv1 does not fit its image of 8×8×1"),
        ([MaxPool(2)] * 4, (8, 8), "maxpool4 does not fit its image of 1×1×1"),
        ([Dense(4), Conv(4)], (8, 8), "conv1 needs an image and gets a row of 4"),
        ([Dense(4)], (2, 3, 4, 5), "input_shape must be"),
    ],
)
def test_layers_that_do_not_fit_get_one_sentence(layers, shape, words):
    with pytest.raises(ValueError, match=words) as caught:
        summary(layers, shape)
    assert "\n" not in str(caught.value)
    assert len(str(caught.value)) < 300


@pytest.mark.parametrize(
    "make",
    [
        lambda: Conv(0),
        lambda: Conv(True),
        lambda: Conv(4, 0),
        lambda: Conv(4, (3, 3, 3)),
        lambda: Conv(4, padding="some"),
        lambda: Conv(4, padding=-1),
        lambda: Conv(4, 3, padding=4),
        lambda: Conv(4, stride=0),
        lambda: Conv(4, activation="ReLU!"),
        lambda: MaxPool(2.5),
        lambda: MaxPool(2, padding=2),
        lambda: AvgPool("2"),
        lambda: Dense(-1),
        lambda: Dense(4, bias=1),
        lambda: Dropout(1.0),
        lambda: Dropout(-0.1),
        lambda: BatchNorm(momentum=0),
        lambda: BatchNorm(eps=float("nan")),
    ],
)
def test_a_layer_that_cannot_be_is_refused_where_it_is_written(make):
    with pytest.raises(ValueError, match="must be") as caught:
        make()
    assert "\n" not in str(caught.value)


def test_weights_come_from_the_seed_alone():
    torch.manual_seed(1)
    steps = plan([Conv(4, 3), Dense(5)], (1, 8, 8), 2)
    one = build(steps, 7).state_dict()
    torch.manual_seed(2)
    before = torch.get_rng_state()
    two, other = build(steps, 7).state_dict(), build(steps, 8).state_dict()
    assert torch.equal(before, torch.get_rng_state())
    assert all(torch.equal(one[name], two[name]) for name in one)
    assert not torch.equal(one["conv1.weight"], other["conv1.weight"])
    assert one["conv1.weight"].abs().max() <= math.sqrt(6 / 9)
