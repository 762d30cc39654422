"""NearestCentroid against scikit-learn, from every kind of rows, and what it refuses."""

import dask.array as da
import numpy as np
import polars as pl
import pytest
import torch
from scipy import sparse
from sklearn.neighbors import NearestCentroid as Oracle

import learnt
from learnt.engine.arrays import to_numpy
from learnt.neighbors import NearestCentroid

ATTRIBUTES = ("centroids_", "class_prior_", "within_class_std_dev_", "deviations_")


def make(n=300, k=3, seed=0):
    rng = np.random.default_rng(seed)
    y = rng.integers(0, k, n)
    X = rng.normal(size=(n, 4)) * [1.0, 2.0, 0.5, 3.0] + 1.5 * rng.normal(size=(k, 4))[y]
    return np.where(np.abs(X) < 0.4, 0.0, X), y, rng.integers(1, 3, n).astype(float)


@pytest.mark.parametrize(
    "settings",
    [
        {},
        {"shrink_threshold": 0.5},
        {"priors": "empirical"},
        {"priors": [0.2, 0.3, 0.5], "shrink_threshold": 0.2},
        {"metric": "manhattan"},
        {"metric": "manhattan", "shrink_threshold": 0.3, "priors": [0.2, 0.3, 0.5]},
    ],
)
@pytest.mark.parametrize("container", [np.asarray, sparse.csr_array])
def test_agrees_with_scikit_learn(settings, container):
    X, y, _ = make()
    ours, theirs = NearestCentroid(**settings).fit(container(X), y), Oracle(**settings).fit(X, y)
    for name in ATTRIBUTES:
        np.testing.assert_allclose(getattr(ours, name), getattr(theirs, name), rtol=1e-9, atol=1e-12, err_msg=name)
    np.testing.assert_array_equal(ours.predict(container(X)), theirs.predict(X))
    assert hasattr(ours, "predict_proba") == (settings.get("metric") != "manhattan")
    if hasattr(ours, "predict_proba"):
        for method in ("decision_function", "predict_proba", "predict_log_proba"):
            found, expected = getattr(ours, method)(container(X)), getattr(theirs, method)(X)
            np.testing.assert_allclose(found, expected, rtol=1e-8, atol=1e-10)


def test_two_classes_have_one_score():
    X, y, _ = make(k=2)
    found = NearestCentroid().fit(X, y).decision_function(X)
    np.testing.assert_allclose(found, Oracle().fit(X, y).decision_function(X), rtol=1e-8, atol=1e-10)


def test_every_kind_of_rows_gives_the_same(tmp_path):
    X, y, w = make(n=1200)
    expected = NearestCentroid(shrink_threshold=0.1).fit(X, y, w)
    pl.DataFrame(X, schema=list("abcd")).with_columns(y=pl.Series(y)).write_parquet(tmp_path / "t.parquet")
    table = learnt.scan(tmp_path / "t.parquet")
    kinds = [
        (X.repeat(w.astype(int), axis=0), y.repeat(w.astype(int)), None),
        tuple(da.from_array(part, chunks=(400, *part.shape[1:])) for part in (X, y, w)),
        (torch.tensor(X), torch.tensor(y), torch.tensor(w)),
        (table.drop("y"), table["y"], w),
        (sparse.csr_array(X), y, w),
    ]
    for A, b, v in kinds:
        model = NearestCentroid(shrink_threshold=0.1).fit(A, b, v)
        for name in ATTRIBUTES:
            np.testing.assert_allclose(getattr(model, name), getattr(expected, name), rtol=1e-9, atol=1e-12)
        if v is not None:
            np.testing.assert_array_equal(to_numpy(model.predict(A)), expected.predict(X))
            found = model.predict_proba(A)
            np.testing.assert_allclose(to_numpy(found), expected.predict_proba(X), rtol=1e-7, atol=1e-10)


def test_far_from_zero_the_nearest_is_found():
    X, y, _ = make()
    expected = NearestCentroid().fit(X, y).predict(X)
    np.testing.assert_array_equal(NearestCentroid().fit(X + 1e8, y).predict(X + 1e8), expected)


def test_a_feature_that_is_constant_in_each_class_is_reported():
    X, y, _ = make()
    X[:, 2] = y
    with pytest.warns(UserWarning, match="Feature 2 is the same in all rows of each class") as caught:
        model = NearestCentroid().fit(X, y)
    assert "\n" not in str(caught[0].message)
    assert np.isfinite(model.predict_proba(X)).all()


@pytest.mark.parametrize(
    ("call", "message"),
    [
        (lambda X, y: NearestCentroid().fit(X, 0 * y), "number of classes has to be greater than one"),
        (lambda X, y: NearestCentroid().fit(X[:1], y[:1]), "number of classes has to be greater than one"),
        (lambda X, y: NearestCentroid().fit(np.full_like(X, 1 / 3), y), "All features have zero variance"),
        (lambda X, y: NearestCentroid("cosine").fit(X, y), "'metric' parameter"),
        (lambda X, y: NearestCentroid(shrink_threshold=0).fit(X, y), "'shrink_threshold' parameter"),
        (lambda X, y: NearestCentroid(priors="equal").fit(X, y), "priors must be 'uniform', 'empirical'"),
        (lambda X, y: NearestCentroid(priors=[0.5, 0.5]).fit(X, y), "priors has 2 numbers and there are 3 classes"),
        (lambda X, y: NearestCentroid(priors=[-0.5, 0.5, 1.0]).fit(X, y), "priors must be non-negative"),
        (
            lambda X, y: NearestCentroid("manhattan").fit(X, y, np.arange(len(y)) + 1.0),
            "medians, which have no weights",
        ),
        (lambda X, y: NearestCentroid("manhattan").fit(torch.tensor(X), y), "NearestCentroid computes on the CPU"),
    ],
)
def test_refusals_are_one_sentence(call, message):
    X, y, _ = make()
    with pytest.raises((ValueError, TypeError), match=message) as caught:
        call(X, y)
    assert "\n" not in str(caught.value)
