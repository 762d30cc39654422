"""Cholesky factors of other libraries against NumPy's."""

import array_api_strict
import numpy as np
import pytest
import torch

from learnt.linalg import any_array
from learnt.linalg.any_array import cholesky_anywhere


@pytest.mark.parametrize("tile", [7, 16, 2048])
@pytest.mark.parametrize("noise", [0.1, np.linspace(0.1, 0.2, 40)], ids=["one", "many"])
def test_torch_factors_in_its_own_place(tile, noise, monkeypatch):
    monkeypatch.setattr(any_array, "_TILE", tile)
    A = np.random.default_rng(0).normal(size=(40, 40))
    K = torch.tensor(A @ A.T)
    there = K.data_ptr()
    L = cholesky_anywhere(K, noise)
    assert L.data_ptr() == there
    # The condition is below 1e4.
    np.testing.assert_allclose(L.numpy(), np.linalg.cholesky(A @ A.T + np.diag(noise * np.ones(40))), atol=1e-10)


@pytest.mark.parametrize("tile", [7, 2048])
def test_what_is_not_positive_has_none(tile, monkeypatch):
    monkeypatch.setattr(any_array, "_TILE", tile)
    assert cholesky_anywhere(torch.diag(torch.tensor([1.0] * 20 + [-1.0])), 0.0) is None
    strict = array_api_strict.asarray(np.diag([1.0, -1.0]))
    assert cholesky_anywhere(strict, 0.0) is None
