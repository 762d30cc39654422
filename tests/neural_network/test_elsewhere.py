"""A trained network predicts rows of files and Dask collections, block by block."""

import numpy as np
import polars as pl
import pytest

import learnt
from learnt.neural_network import MLPClassifier, MLPRegressor

N, NAMES = 700, ["a", "b", "c"]
X = np.random.default_rng(0).normal(size=(N, 3))


@pytest.fixture(scope="module")
def table(tmp_path_factory):
    path = tmp_path_factory.mktemp("rows") / "rows.parquet"
    pl.DataFrame(X, schema=NAMES).write_parquet(path)
    return learnt.scan(path)


@pytest.mark.filterwarnings("ignore:Stochastic Optimizer")
@pytest.mark.parametrize("labels", [["no", "yes"], ["high", "low", "middle"]], ids=["two", "three"])
def test_labels_and_probabilities(table, labels):
    import dask.array as da

    y = np.array(labels)[np.digitize(X[:, 0], [-0.5, 0.5][: len(labels) - 1])]
    model = MLPClassifier(8, max_iter=3, batch_norm=True, random_state=0).fit(X, y)
    spread = da.from_array(X, chunks=(150, 3))
    assert np.array_equal(model.predict(table), model.predict(X))
    assert np.array_equal(model.predict(spread).compute(), model.predict(X))
    for method in ("predict_proba", "predict_log_proba"):
        expected = getattr(model, method)(X)
        np.testing.assert_allclose(getattr(model, method)(table), expected, rtol=1e-12)
        np.testing.assert_allclose(getattr(model, method)(spread).compute(), expected, rtol=1e-12)


@pytest.mark.filterwarnings("ignore:Stochastic Optimizer")
def test_numbers(table):
    """One output or two; rows are named as those of the fit were."""
    frame = pl.DataFrame(X, schema=NAMES)
    for y in (X[:, 0], X[:, :2]):
        model = MLPRegressor(hidden_layer_sizes=8, max_iter=3, random_state=0).fit(frame, y)
        np.testing.assert_allclose(model.predict(table), model.predict(frame), rtol=1e-12)
    with pytest.raises(ValueError, match="feature names"):
        model.predict(table[["a", "c", "b"]])


def test_a_fit_needs_the_rows_in_memory(table):
    with pytest.raises(TypeError, match="MLPClassifier needs the whole table in memory"):
        MLPClassifier().fit(table, np.arange(N) % 2)
