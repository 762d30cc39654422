"""Labels from single precision are those of double precision, whatever the weights."""

from itertools import pairwise

import numpy as np
import pytest

from learnt.neural_network._forward import Memory, raw_outputs
from learnt.neural_network._labels_in_single import (
    _outputs,
    _stretch,
    applies,
    in_single,
    labels_in_single,
    labels_of,
)

ACTIVATIONS = ("relu", "leaky_relu", "tanh", "logistic", "identity")


def network(rng, widths, scale=1.0):
    coefs = [rng.normal(scale=scale, size=(a, b)) for a, b in pairwise(widths)]
    return coefs, [rng.normal(size=b) for b in widths[1:]]


def single(X, coefs, intercepts, activation):
    net = in_single(coefs, intercepts, activation)
    return _outputs(X, net, activation, Memory(len(X), net.weights))


@pytest.mark.parametrize("activation", ACTIVATIONS)
@pytest.mark.parametrize("outputs", [1, 2, 7])
def test_labels_are_those_of_double_precision(activation, outputs):
    rng = np.random.default_rng(outputs)
    coefs, intercepts = network(rng, [12, 30, 20, outputs], 0.3)
    X = rng.normal(size=(5000, 12))
    expected = labels_of(raw_outputs(X, coefs, intercepts, activation))
    assert np.array_equal(labels_in_single(X, coefs, intercepts, activation), expected)


@pytest.mark.parametrize("rows", [257, 4096])
def test_of_equal_outputs_the_first_is_the_label(rows):
    """Every column of the last weights three times: exact ties, also of the two largest."""
    rng = np.random.default_rng(0)
    coefs, intercepts = network(rng, [5, 8, 4])
    coefs[1], intercepts[1] = np.tile(coefs[1], 3), np.tile(intercepts[1], 3)
    X = rng.normal(size=(rows, 5))
    expected = raw_outputs(X, coefs, intercepts, "tanh")[:, :4].argmax(axis=1)
    assert np.array_equal(labels_in_single(X, coefs, intercepts, "tanh"), expected)


def test_outputs_closer_than_single_precision_resolves_are_decided_in_double():
    """Two outputs that differ by a part in 10¹⁰: single precision alone would call them a tie."""
    rng = np.random.default_rng(0)
    W = rng.normal(size=(20, 1))
    coefs, intercepts = [np.hstack([W, W])], [np.array([0.0, 1e-10])]
    X = rng.normal(size=(5000, 20))
    assert (labels_in_single(X, coefs, intercepts, "relu") == 1).all()


@pytest.mark.parametrize("activation", ACTIVATIONS)
def test_the_bound_holds(activation):
    """Small and large weights and inputs, wide layers."""
    rng = np.random.default_rng(1)
    for scale, size in ((0.01, 100.0), (0.2, 1.0), (2.0, 1e-3), (1e-5, 1e-20), (1e15, 1e-30)):
        coefs, intercepts = network(rng, [200, 150, 50, 3], scale)
        intercepts = [b * scale * size for b in intercepts]
        X = size * rng.normal(size=(3000, 200))
        z, bounds = single(X, coefs, intercepts, activation)
        errors = np.abs(z.T - raw_outputs(X, coefs, intercepts, activation)).max(axis=1)
        assert (errors <= bounds).all()
        assert np.isfinite(bounds).all()
        assert errors.max() > 0


@pytest.mark.parametrize("shape", [(30, 40), (200, 7), (60, 60)])
def test_the_stretch_of_a_matrix_is_bounded(shape):
    """Between the largest singular value and m^⅛ times it, m singular values being equal at worst."""
    rng = np.random.default_rng(0)
    for W in (rng.normal(size=shape), rng.normal(size=(shape[0], 1)) @ rng.normal(size=(1, shape[1])), np.eye(*shape)):
        unit = W / np.linalg.norm(W)
        ratio = _stretch(unit) / np.linalg.norm(unit, 2)
        slack = max(shape) * min(shape) * 2.0**-24  # of products in single precision
        assert 1 - slack <= ratio <= min(shape) ** 0.125 * (1 + slack)


def test_few_rows_are_computed_twice():
    """Bounds that say nothing would be right too: these let single precision decide all but two rows in a hundred."""
    rng = np.random.default_rng(0)
    coefs, intercepts = network(rng, [50, 256, 128, 1], 0.1)
    z, bounds = single(rng.normal(size=(5000, 50)), coefs, intercepts, "relu")
    assert (np.abs(z[0]) > bounds).mean() > 0.98


def test_values_beyond_single_precision():
    coefs, intercepts = [np.array([[1e200, 2e200]])], [np.zeros(2)]
    X = np.where(np.arange(5000) % 2, 1.0, -1.0)[:, None]
    assert np.array_equal(labels_in_single(X, coefs, intercepts, "relu"), np.arange(5000) % 2)


def test_partial_sums_beyond_single_precision():
    """3 + 3 − 3.3 − 3.3 is negative, but the first two terms are already infinite in single precision."""
    W = np.array([3e38, 3e38, -3.3e38, -3.3e38])[:, None]
    X = np.ones((5000, 4))
    assert not labels_in_single(X, [W], [np.zeros(1)], "relu").any()
    hidden = [W, np.ones((1, 1))], [np.zeros(1), np.array([-1.0])]
    assert not labels_in_single(X, *hidden, "relu").any()
    hidden = [-W, np.ones((1, 1))], [np.zeros(1), np.array([-1.0])]
    assert labels_in_single(X, *hidden, "relu").all()


def test_where_it_applies():
    coefs = [np.zeros((3, 2))]
    assert applies(np.zeros((5000, 3)), coefs)
    assert not applies(np.zeros((5000, 3), dtype=np.float32), coefs)
    assert not applies(np.zeros((10, 3)), coefs)
