"""The checks of `checks.py` without a GPU: on devices that refuse NumPy just as one does."""

import importlib.util
import subprocess
import sys
import tracemalloc
from functools import partial
from pathlib import Path

import numpy as np
import pytest

from learnt.engine.finite import require_finite
from learnt.linear_model import LinearRegression, LogisticRegression
from learnt.model_selection import cross_val_predict, cross_val_score

spec = importlib.util.spec_from_file_location("device_checks", Path(__file__).parent / "checks.py")
checks = importlib.util.module_from_spec(spec)
spec.loader.exec_module(checks)


@pytest.fixture
def strict():
    """The second device of array-api-strict: NumPy cannot read it, and arrays of two devices do not mix."""
    import array_api_strict as xp

    return partial(xp.asarray, device=xp.Device("device1"))


@pytest.fixture
def torch_unread(monkeypatch):
    """Tensors that NumPy may not read unless they are fetched by `.cpu()`, as those on CUDA."""
    import torch

    def refuse(*_, **__):
        raise TypeError("can't convert cuda:0 device type tensor to numpy")

    monkeypatch.setattr(torch.Tensor, "__array__", refuse)
    return torch.asarray


@pytest.fixture(params=["strict", "torch_unread"])
def place(request):
    return request.getfixturevalue(request.param)


@pytest.mark.parametrize("check", checks.CHECKS, ids=lambda check: check.__name__)
@pytest.mark.parametrize("name", checks.MODELS)
@pytest.mark.sweep(40)
def test_a_device_gives_what_numpy_gives(name, check, place):
    check(name, place)


@pytest.mark.sweep(12)
@pytest.mark.filterwarnings("ignore")  # of convergence, of dependent columns: what is said is the same in NumPy
@pytest.mark.parametrize("dtype", [np.float64, np.float32])
@pytest.mark.parametrize("name", checks.takes_tensors())
def test_collinear_columns_in_either_precision(name, dtype, torch_unread):
    checks.any_model(name, dtype, torch_unread)


def test_covariances_lie_on_the_device(place):
    checks.covariances_on_the_device(place)


def test_rows_are_scaled_in_place(place):
    checks.scaled_in_place(place)


def test_clusters_are_scored_where_the_rows_lie(place):
    checks.clusters_scored(place)


def test_seeds_of_rows_in_parts_are_those_of_all(monkeypatch, torch_unread):
    """k-means++ never makes a centred copy of all rows."""
    from learnt.cluster import KMeans, _device_seeding

    rows = torch_unread(checks.X)
    whole = KMeans(5, n_init=1, max_iter=1, random_state=0).fit(rows)
    monkeypatch.setattr(_device_seeding, "DEVICE_CELLS", 100)
    parts = KMeans(5, n_init=1, max_iter=1, random_state=0).fit(rows)
    np.testing.assert_array_equal(whole.labels_.numpy(force=True), parts.labels_.numpy(force=True))


@pytest.mark.long
def test_jax_too():
    """One of them, since JAX compiles every operation for every shape; elsewhere, since it does not like forks."""
    code = (
        "import runpy, sys, jax; jax.config.update('jax_enable_x64', True);"
        "runpy.run_path(sys.argv[1])['scores']('LinearRegression', jax.numpy.asarray)"
    )
    command = [sys.executable, "-c", code, str(Path(__file__).parent / "checks.py")]
    done = subprocess.run(command, capture_output=True, text=True, timeout=300)
    assert done.returncode == 0, done.stderr


def test_models_fitted_in_numpy_only(place):
    checks.fitted_in_numpy_only(place)


def test_named_scores_are_numpys_and_refuse_tensors(strict):
    X, y = strict(checks.X), strict(checks.NUMBERS)
    with pytest.raises(TypeError, match=r"scoring='r2' with NumPy and X lies on .*; leave scoring out"):
        cross_val_score(LinearRegression(), X, y, scoring="r2")
    with pytest.raises(TypeError, match=r"cross_val_predict puts the results of folds together with NumPy"):
        cross_val_predict(LinearRegression(), X, y)
    own = cross_val_score(LinearRegression(), X, y, scoring=lambda model, X, y: -model.score(X, y))
    np.testing.assert_allclose(own, -cross_val_score(LinearRegression(), X, y))


def test_folds_take_weights_and_shares_of_classes(strict):
    X, y, w = checks.X, checks.LABELS, checks.WEIGHTS
    found = cross_val_score(LogisticRegression(), strict(X), strict(y), params={"sample_weight": strict(w)})
    np.testing.assert_allclose(found, cross_val_score(LogisticRegression(), X, y, params={"sample_weight": w}))


@pytest.mark.parametrize("bad", [False, True])
@pytest.mark.parametrize("order", ["C", "F"])
@pytest.mark.parametrize("library", ["numpy", "strict"])
def test_validation_makes_no_array_of_the_size_of_x(library, order, bad, strict):
    X = np.zeros((1 << 20, 32), order=order)  # 256 MiB
    if bad:
        X[-1, 5] = np.inf
    rows = X if library == "numpy" else strict(X)
    del X
    tracemalloc.start()
    try:
        if bad:
            with pytest.raises(ValueError, match=r"X contains infinity at row 1048575, column 5, and Model needs"):
                require_finite(rows, "X", "Model")
        else:
            require_finite(rows, "X", "Model")
        peak = tracemalloc.get_traced_memory()[1]
    finally:
        tracemalloc.stop()
    assert peak < (1 << 28) / 16
