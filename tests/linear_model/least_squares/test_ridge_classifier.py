"""RidgeClassifier and RidgeClassifierCV: against scikit-learn, and on bad data."""

import numpy as np
import polars as pl
import pytest
import sklearn.linear_model as peers
from scipy import sparse

import learnt
from learnt.linear_model import RidgeClassifier, RidgeClassifierCV


def data(n=200, d=6, classes=3, seed=0):
    rng = np.random.default_rng(seed)
    y = rng.integers(classes, size=n)
    return rng.normal(size=(n, d)) + 1.5 * np.eye(classes, d)[y], np.array(["a", "b", "c", "d"])[y]


@pytest.mark.parametrize("classes", [2, 3])
@pytest.mark.parametrize("class_weight", [None, "balanced", {"a": 5.0}])
@pytest.mark.parametrize("fit_intercept", [True, False])
@pytest.mark.parametrize("shape", [(200, 6), (20, 50)])
def test_equals_scikit_learn(classes, class_weight, fit_intercept, shape):
    X, y = data(*shape, classes=classes)
    w = np.random.default_rng(1).uniform(0.1, 2.0, size=len(X))
    setting = {"alpha": 0.7, "class_weight": class_weight, "fit_intercept": fit_intercept}
    ours = RidgeClassifier(**setting).fit(X, y, sample_weight=w)
    theirs = peers.RidgeClassifier(**setting).fit(X, y, sample_weight=w)
    np.testing.assert_allclose(ours.coef_, theirs.coef_, rtol=1e-6, atol=1e-9)
    np.testing.assert_allclose(ours.intercept_, theirs.intercept_, rtol=1e-6, atol=1e-9)
    np.testing.assert_array_equal(ours.predict(X), theirs.predict(X))
    np.testing.assert_allclose(ours.decision_function(X), theirs.decision_function(X), rtol=1e-6, atol=1e-9)
    thin = RidgeClassifier(**setting).fit(sparse.csr_array(X), y, sample_weight=w)
    np.testing.assert_allclose(thin.coef_, ours.coef_, rtol=1e-4, atol=1e-6)


@pytest.mark.parametrize("classes", [2, 3])
@pytest.mark.parametrize("cv", [None, 4])
@pytest.mark.parametrize("scoring", [None, "accuracy"])
def test_choosing_equals_scikit_learn(classes, cv, scoring):
    X, y = data(classes=classes)
    setting = {"alphas": [0.01, 1.0, 100.0], "cv": cv, "scoring": scoring}
    ours = RidgeClassifierCV(**setting).fit(X, y)
    theirs = peers.RidgeClassifierCV(**setting).fit(X, y)
    if cv is not None or scoring is None:
        assert ours.alpha_ == theirs.alpha_
        np.testing.assert_allclose(ours.best_score_, theirs.best_score_, rtol=1e-6)
        np.testing.assert_allclose(ours.coef_, theirs.coef_, rtol=1e-6)
    np.testing.assert_array_equal(ours.predict(X), RidgeClassifier(alpha=ours.alpha_).fit(X, y).predict(X))


def test_the_accuracy_of_leave_one_out_is_that_of_refits():
    X, y = data(n=40, classes=2)
    chosen = RidgeClassifierCV(alphas=[1.0], scoring="accuracy").fit(X, y)
    others = [np.arange(40) != i for i in range(40)]
    right = [RidgeClassifier().fit(X[o], y[o]).predict(X[~o])[0] == y[~o][0] for o in others]
    assert chosen.best_score_ == pytest.approx(np.mean(right))


def test_stored_results():
    X, y = data(classes=3)
    model = RidgeClassifierCV(alphas=[0.1, 1.0], store_cv_results=True).fit(X, y)
    theirs = peers.RidgeClassifierCV(alphas=[0.1, 1.0], store_cv_results=True).fit(X, y)
    np.testing.assert_allclose(model.cv_results_, theirs.cv_results_, rtol=1e-6)


@pytest.mark.parametrize("cls", ["RidgeClassifier", "RidgeClassifierCV"])
def test_several_labels_a_row(cls):
    rng = np.random.default_rng(0)
    X = rng.normal(size=(100, 4))
    Y = (X[:, :3] + 0.3 * rng.normal(size=(100, 3)) > 0).astype(int)
    ours = {"RidgeClassifier": RidgeClassifier, "RidgeClassifierCV": RidgeClassifierCV}[cls]().fit(X, Y)
    theirs = getattr(peers, cls)().fit(X, Y)
    np.testing.assert_allclose(ours.coef_, theirs.coef_, rtol=1e-6)
    np.testing.assert_array_equal(ours.predict(X), theirs.predict(X))
    assert ours.score(X, Y) == pytest.approx(theirs.score(X, Y))


def test_positive_coefficients():
    X, y = data(classes=2)
    assert np.all(RidgeClassifier(positive=True).fit(X, y).coef_ >= 0)


def test_bad_data():
    X, y = data()
    for model in (RidgeClassifier(), RidgeClassifierCV(), RidgeClassifier(fit_intercept=False)):
        assert set(model.fit(X, np.full(len(X), "only")).predict(X)) == {"only"}
    more = np.c_[X, X[:, 0], np.ones(len(X)), 1e9 * X[:, 1]]
    assert RidgeClassifier().fit(more, y).score(more, y) > 0.7
    for params in ({"class_weight": "other"}, {"alpha": -1.0}, {"solver": "other"}):
        with pytest.raises(ValueError, match=f"The '{next(iter(params))}' parameter of RidgeClassifier"):
            RidgeClassifier(**params).fit(X, y)
    with pytest.raises(ValueError, match="incompatible"):
        RidgeClassifierCV(cv=3, store_cv_results=True).fit(X, y)
    with pytest.raises(ValueError, match="several columns of classes"):
        RidgeClassifier().fit(X, np.c_[np.arange(len(X)) % 3, np.arange(len(X)) % 4])


# --- rows that are read in blocks


def labelled_rows():
    rng = np.random.default_rng(5)
    X = rng.normal(size=(900, 4)) + [0.0, 3.0, 0.0, -1.0]
    y = np.array(["ant", "bee", "cat"])[np.digitize(X @ [1.0, 0.5, 0.0, 0.0] + rng.normal(size=900), [1.0, 2.0])]
    weight = rng.integers(0, 3, 900).astype(float)
    return X, np.where(weight == 0, "dog", y), weight


@pytest.mark.parametrize("place", ["file", "dask"])
@pytest.mark.parametrize("class_weight", [None, "balanced"])
def test_the_same_from_a_file_and_from_dask(place, class_weight, tmp_path):
    X, y, w = labelled_rows()
    if place == "file":
        frame = pl.DataFrame(X, schema=list("abcd")).with_columns(y=pl.Series(y), w=pl.Series(w))
        frame.write_parquet(tmp_path / "rows.parquet", row_group_size=200)
        table = learnt.scan(tmp_path / "rows.parquet")
        rows, labels, weights = table[list("abcd")], table["y"], table["w"]
    else:
        import dask.array as da

        rows, labels, weights = (da.from_array(part, chunks=(250, *part.shape[1:])) for part in (X, y, w))
    expected = RidgeClassifier(class_weight=class_weight).fit(X, y, w)
    found = RidgeClassifier(class_weight=class_weight).fit(rows, labels, weights)
    assert found.classes_.tolist() == ["ant", "bee", "cat"]  # a row of weight 0 has no class
    # Sums of 900 rows and a system with a condition number below 100 (its columns have like scales): far below 1e-9.
    np.testing.assert_allclose(found.coef_, expected.coef_, rtol=1e-9, atol=1e-12)
    np.testing.assert_allclose(found.intercept_, expected.intercept_, rtol=1e-9, atol=1e-12)
    predicted = found.predict(rows)
    predicted = predicted.compute() if place == "dask" else predicted
    np.testing.assert_array_equal(predicted, expected.predict(X))
    np.testing.assert_allclose(np.asarray(found.decision_function(rows)), expected.decision_function(X), rtol=1e-8)
    assert found.score(rows, labels, weights) == pytest.approx(expected.score(X, y, w), rel=1e-12)


def test_solvers_that_need_all_rows_say_so(tmp_path):
    import dask.array as da

    X, y, _ = labelled_rows()
    with pytest.raises(ValueError, match="solver='lsqr' needs X as an array in memory"):
        RidgeClassifier(solver="lsqr").fit(da.from_array(X, chunks=(300, 4)), y)
