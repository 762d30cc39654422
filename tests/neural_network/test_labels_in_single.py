"""Labels from single precision are those of double precision, whatever the weights."""

from itertools import pairwise

import numpy as np
import pytest

from learnt.neural_network._forward import raw_outputs
from learnt.neural_network._labels_in_single import _single, applies, layer, outputs_for_labels

ACTIVATIONS = ("relu", "leaky_relu", "tanh", "logistic", "identity")


def network(rng, widths, scale=1.0):
    coefs = [rng.normal(scale=scale, size=(a, b)) for a, b in pairwise(widths)]
    return coefs, [rng.normal(size=b) for b in widths[1:]]


@pytest.mark.parametrize("activation", ACTIVATIONS)
@pytest.mark.parametrize("outputs", [1, 2, 7])
def test_labels_are_those_of_double_precision(activation, outputs):
    rng = np.random.default_rng(outputs)
    coefs, intercepts = network(rng, [12, 30, 20, outputs], 0.3)
    X = rng.normal(size=(5000, 12))
    expected = raw_outputs(X, coefs, intercepts, activation)
    found = outputs_for_labels(X, coefs, intercepts, activation)
    if outputs == 1:
        assert np.array_equal(found > 0, expected > 0)
    else:
        assert np.array_equal(found.argmax(axis=1), expected.argmax(axis=1))


def test_outputs_closer_than_single_precision_resolves_are_decided_in_double():
    """Two outputs that differ by a part in 10¹⁰: single precision alone would call them a tie."""
    rng = np.random.default_rng(0)
    W = rng.normal(size=(20, 1))
    coefs, intercepts = [np.hstack([W, W])], [np.array([0.0, 1e-10])]
    X = rng.normal(size=(5000, 20))
    assert (outputs_for_labels(X, coefs, intercepts, "relu").argmax(axis=1) == 1).all()


@pytest.mark.parametrize("activation", ACTIVATIONS)
def test_the_bound_holds(activation):
    """Small and large weights and inputs, wide layers."""
    rng = np.random.default_rng(1)
    for scale, size in ((0.01, 100.0), (0.2, 1.0), (2.0, 1e-3)):
        coefs, intercepts = network(rng, [200, 150, 50, 3], scale)
        X = size * rng.normal(size=(3000, 200))
        z, bound = _single(X, [layer(W, b) for W, b in zip(coefs, intercepts)], activation)
        error = np.abs(z - raw_outputs(X, coefs, intercepts, activation)).max()
        assert 0 < error <= bound


def test_values_beyond_single_precision():
    coefs, intercepts = [np.array([[1e200, 2e200]])], [np.zeros(2)]
    X = np.where(np.arange(5000) % 2, 1.0, -1.0)[:, None]
    found = outputs_for_labels(X, coefs, intercepts, "relu")
    assert np.array_equal(found.argmax(axis=1), np.arange(5000) % 2)


def test_where_it_applies():
    coefs = [np.zeros((3, 2))]
    assert applies(np.zeros((5000, 3)), coefs)
    assert not applies(np.zeros((5000, 3), dtype=np.float32), coefs)
    assert not applies(np.zeros((10, 3)), coefs)
