"""SGD from files and Dask collections: one piece is what memory gives, several are read once an epoch."""

import numpy as np
import polars as pl
import pytest
from scipy import sparse

import learnt
from learnt.engine.rows import as_rows, tables
from learnt.linear_model import Perceptron, SGDClassifier, SGDRegressor
from learnt.linear_model.sgd import _pieces

N, D = 900, 4
NAMES = [f"x{j}" for j in range(D)]
RNG = np.random.default_rng(0)
X = RNG.normal(size=(N, D))
Y = X @ [1.0, -2.0, 0.5, 0.0] + 0.5 + 0.3 * RNG.normal(size=N)
LABELS = np.array(["high", "low", "middle"])[np.digitize(Y, [-1.0, 1.0])]
WEIGHT = RNG.integers(0, 3, N).astype(float)
SETTINGS = [
    (SGDClassifier, {"loss": "log_loss", "average": True}),
    (SGDClassifier, {"early_stopping": True, "class_weight": "balanced"}),
    (SGDClassifier, {"loss": "modified_huber", "penalty": "elasticnet", "learning_rate": "adaptive", "eta0": 0.1}),
    (SGDRegressor, {"loss": "huber"}),
    (SGDRegressor, {"early_stopping": True, "penalty": "l1", "average": 50}),
]


def target(kind, labels=LABELS):
    return labels if kind is SGDClassifier else Y


def in_a_file(folder):
    frame = pl.DataFrame(X, schema=NAMES).with_columns(
        y=pl.Series(Y), label=pl.Series(LABELS), two=pl.Series(LABELS == "low"), weight=pl.Series(WEIGHT)
    )
    frame.write_parquet(folder / "rows.parquet", row_group_size=200)
    return learnt.scan(folder / "rows.parquet")


def small_pieces(monkeypatch, rows=250):
    monkeypatch.setattr(_pieces, "_CELLS", rows * D)
    monkeypatch.setattr(tables.Table, "read_rows", 100)


def assert_same(found, expected, rtol=0.0):
    np.testing.assert_allclose(found.coef_, expected.coef_, rtol=rtol)
    np.testing.assert_allclose(found.intercept_, expected.intercept_, rtol=rtol)
    assert (found.n_iter_, found.t_) == (expected.n_iter_, expected.t_)


@pytest.mark.parametrize(("kind", "options"), SETTINGS)
@pytest.mark.sweep
def test_one_piece_is_the_fit_in_memory(kind, options, tmp_path):
    """To the last bit, stopping included; rows of weight 0 are absent, and y may be a column of the file."""
    import dask.array as da

    table = in_a_file(tmp_path)
    model = kind(random_state=3, **options)
    expected = model.fit(X, target(kind), sample_weight=WEIGHT)
    y = table["label" if kind is SGDClassifier else "y"]
    assert_same(kind(random_state=3, **options).fit(table[NAMES], y, sample_weight=table["weight"]), expected)
    spread = da.from_array(X, chunks=(170, D))
    assert_same(kind(random_state=3, **options).fit(spread, target(kind), sample_weight=WEIGHT), expected)


@pytest.mark.parametrize("labels", [LABELS, LABELS == "low"], ids=["three", "two"])
@pytest.mark.parametrize(("kind", "options"), SETTINGS)
def test_pieces_in_order_are_the_fit_in_memory(kind, options, labels, tmp_path, monkeypatch):
    """Without a shuffle the rows come in the same order, whatever the pieces: the same steps, and the same bits but
    for averages, whose thousands of terms are summed piece by piece."""
    small_pieces(monkeypatch)
    options = {"shuffle": False, "random_state": 0, **options}
    if not options.get("early_stopping"):
        options |= {
            "max_iter": 7,
            "tol": None,
        }  # objectives are summed piece by piece, so that the last epoch may be another one
    expected = kind(**options).fit(X, target(kind, labels), sample_weight=WEIGHT)
    found = kind(**options).fit(in_a_file(tmp_path)[NAMES], target(kind, labels), sample_weight=WEIGHT)
    assert_same(found, expected, rtol=1e4 * np.finfo(float).eps)


def test_shuffled_pieces_reach_the_same_accuracy(tmp_path, monkeypatch):
    small_pieces(monkeypatch)
    table = in_a_file(tmp_path)[NAMES]
    assert [len(part) for _, part in _pieces.Pieces(as_rows(table))] == [300, 300, 300]
    options = {"loss": "log_loss", "random_state": 0, "average": True}
    expected = SGDClassifier(**options).fit(X, LABELS)
    found = SGDClassifier(**options).fit(table, LABELS)
    assert not np.array_equal(found.coef_, expected.coef_)  # another order of the rows
    assert abs(found.score(table, LABELS) - expected.score(X, LABELS)) < 0.02
    assert_same(SGDClassifier(**options).fit(table, LABELS), found)


def test_sparse_partitions(monkeypatch):
    import dask.array as da

    thin = sparse.csr_array(np.where(np.abs(X) > 0.7, X, 0.0))
    monkeypatch.setattr(_pieces, "_CELLS", 600)
    blocks = [da.from_delayed(_delayed(thin[a : a + 100]), (100, D), dtype=float) for a in range(0, N, 100)]
    options = {"shuffle": False, "max_iter": 5, "tol": None}
    expected = SGDRegressor(**options).fit(thin, Y)
    assert_same(SGDRegressor(**options).fit(da.concatenate(blocks), Y), expected)


def _delayed(part):
    from dask import delayed

    return delayed(part)


def test_partial_fit_and_warm_start_read_pieces(tmp_path, monkeypatch):
    small_pieces(monkeypatch)
    table = in_a_file(tmp_path)[NAMES]
    options = {"shuffle": False, "random_state": 0, "tol": None}
    found, expected = SGDRegressor(**options), SGDRegressor(**options)
    for _ in range(3):
        found.partial_fit(table, Y)
        expected.partial_fit(X, Y)
        assert_same(found, expected)
    found, expected = (SGDClassifier(warm_start=True, max_iter=2, **options) for _ in range(2))
    for _ in range(2):
        assert_same(found.fit(table, LABELS), expected.fit(X, LABELS))


def test_labels_of_absent_rows_are_no_classes(tmp_path, monkeypatch):
    small_pieces(monkeypatch)
    options = {"shuffle": False, "max_iter": 3, "tol": None}
    weight = np.where(LABELS == "middle", 0.0, 1.0)
    found = SGDClassifier(**options).fit(in_a_file(tmp_path)[NAMES], LABELS, sample_weight=weight)
    expected = SGDClassifier(**options).fit(X[weight > 0], LABELS[weight > 0])
    assert found.classes_.tolist() == ["high", "low"]
    assert_same(found, expected)


def test_what_cannot_be_fitted_is_told_in_a_sentence(tmp_path):
    table = in_a_file(tmp_path)[NAMES]
    with pytest.raises(ValueError, match="900 rows"):
        SGDRegressor().fit(table, Y[:-1])
    with pytest.raises(ValueError, match=r"expected \(900,\)"):
        SGDClassifier().fit(table, LABELS, sample_weight=np.ones(3))
    with pytest.raises(ValueError, match="greater than one"):
        SGDClassifier().fit(table, np.zeros(N))
    with pytest.raises(TypeError, match="Perceptron"):
        Perceptron().fit(table, LABELS)
