"""Multidimensional scaling: scikit-learn's stress from the same start, formulas, monotone disparities; bad input."""

import numpy as np
import pytest
from scipy.spatial.distance import pdist, squareform
from sklearn import manifold as theirs
from sklearn.decomposition import PCA
from sklearn.isotonic import IsotonicRegression

from learnt.engine.random import generator
from learnt.engine.threads import set_threads
from learnt.manifold import MDS, ClassicalMDS, smacof
from learnt.manifold._smacof import Monotone

X = generator(0).normal(size=(40, 5))
D = squareform(pdist(X))
START = generator(1).normal(size=(40, 2))


@pytest.mark.parametrize("steps", [1, 5, 300])
def test_the_points_of_scikit_learn_from_the_same_start(steps):
    points, stress, n_iter = smacof(D, init=START, max_iter=steps, return_n_iter=True)
    expected, other, other_iter = theirs.smacof(D, init=START, n_init=1, max_iter=steps, return_n_iter=True)
    assert n_iter == other_iter
    # Each step is a sum of n terms, and steps contract: rounding of all of them at most adds up.
    bound = steps * 40 * np.finfo(float).eps * 100
    np.testing.assert_allclose(points, expected, atol=bound * abs(expected).max())
    assert stress == pytest.approx(other, rel=bound)


def test_a_step_is_the_transform_of_guttman():
    d = squareform(pdist(START))
    with np.errstate(divide="ignore", invalid="ignore"):
        B = np.where(d > 0, -D / d, 0.0)
    np.fill_diagonal(B, -B.sum(axis=1))
    np.testing.assert_allclose(smacof(D, init=START, max_iter=1)[0], B @ START / 40, atol=1e-13)


@pytest.mark.parametrize("metric", ["minkowski", "seuclidean", "mahalanobis", "chebyshev"])
def test_dissimilarities_by_any_metric(metric):
    rows = generator(2).normal(size=(700, 4))  # more than one block
    params = {"p": 3} if metric == "minkowski" else None
    found = ClassicalMDS(metric=metric, metric_params=params).fit(rows).dissimilarity_matrix_
    np.testing.assert_allclose(found, squareform(pdist(rows, metric, **(params or {}))), rtol=1e-10)


@pytest.mark.parametrize("metric", [True, False])
def test_stress_falls_and_is_that_of_the_points(metric):
    stresses = [smacof(D, init=START, max_iter=s, metric=metric, normalized_stress=metric)[1] for s in range(1, 8)]
    assert (np.diff(stresses) <= 1e-12).all() or not metric
    for normalized in (True, False):
        points, stress = smacof(D, init=START, max_iter=9, normalized_stress=normalized)
        raw = ((pdist(points) - pdist(X)) ** 2).sum()
        assert stress == pytest.approx(np.sqrt(raw / (pdist(points) ** 2).sum()) if normalized else raw, rel=1e-12)


def test_disparities_are_the_isotonic_regression():
    rounded = np.round(D, 1)  # with equal ones
    rounded[3, 5] = rounded[5, 3] = 0.0  # and one missing
    found = squareform(Monotone(rounded)(START), checks=False)
    flat, distances = squareform(rounded, checks=False), pdist(START)
    known = flat > 0
    expected = distances.copy()
    expected[known] = IsotonicRegression().fit_transform(flat[known], distances[known])
    expected *= np.sqrt(len(flat) / (expected**2).sum())
    np.testing.assert_allclose(found, expected, rtol=1e-10)


def test_orders_are_scaled_as_well_as_by_scikit_learn():
    found = smacof(D, init=START, metric=False, max_iter=500)[1]
    expected = theirs.smacof(D, init=START, metric=False, max_iter=500, n_init=1)[1]
    assert found <= 1.02 * expected  # both stop at a relative change; the minima are local
    cubes = smacof(D**3, init=START, metric=False, max_iter=500)
    np.testing.assert_allclose(cubes[0], smacof(D, init=START, metric=False, max_iter=500)[0], atol=1e-9)


def test_classical_scaling_is_principal_components():
    model, other = ClassicalMDS(3).fit(X), theirs.ClassicalMDS(3).fit(X)
    scores = PCA(3).fit_transform(X)
    for expected in (scores, other.embedding_):
        signs = np.sign((expected * model.embedding_).sum(axis=0))
        np.testing.assert_allclose(model.embedding_ * signs, expected, atol=1e-10)
    np.testing.assert_allclose(model.eigenvalues_, (scores**2).sum(axis=0), rtol=1e-10)
    np.testing.assert_allclose(ClassicalMDS(3, metric="precomputed").fit(D).embedding_, model.embedding_, atol=1e-10)
    assert ClassicalMDS(60).fit(X).embedding_.shape == (40, 60)
    city = ClassicalMDS(2, metric="minkowski", metric_params={"p": 1}).fit(X)
    np.testing.assert_allclose(city.dissimilarity_matrix_, squareform(pdist(X, "cityblock")), rtol=1e-12)


def test_settings_and_starts():
    flat = X[:, :2]
    model = MDS(init="classical_mds").fit(flat)
    assert model.stress_ < 1e-20
    np.testing.assert_allclose(pdist(model.embedding_), pdist(flat), rtol=1e-9)
    several = MDS(n_init=4, random_state=0).fit(X)
    assert several.stress_ <= MDS(n_init=1, random_state=0).fit(X).stress_
    np.testing.assert_array_equal(several.fit_transform(X), MDS(n_init=4, random_state=0).fit(X).embedding_)
    np.testing.assert_allclose(
        MDS(random_state=0, metric="precomputed").fit(D).stress_, MDS(random_state=0).fit(X).stress_
    )
    old = MDS(random_state=0, dissimilarity="precomputed", metric=False).fit(D)  # as scripts for earlier releases say
    new = MDS(random_state=0, metric="precomputed", metric_mds=False).fit(D)
    np.testing.assert_array_equal(old.embedding_, new.embedding_)
    assert MDS(random_state=0).fit(X * 100).n_iter_ == MDS(random_state=0).fit(X / 100).n_iter_
    start = MDS(max_iter=1).fit(X, init=START)
    np.testing.assert_array_equal(start.embedding_, smacof(D, init=START, max_iter=1)[0])
    assert model.get_feature_names_out().tolist() == ["mds0", "mds1"]


def test_threads_change_nothing():
    rows = generator(0).normal(size=(500, 3))
    found = []
    for threads in (1, 3):
        set_threads(threads)
        model = MDS(max_iter=5, random_state=0).fit(rows)
        found.append((model.embedding_.tobytes(), model.stress_, ClassicalMDS().fit(rows).embedding_.tobytes()))
    set_threads(None)
    assert found[0] == found[1]


def test_bad_input_is_one_sentence():
    crooked = D.copy()
    crooked[0, 1] += 1.0
    for message, call in (
        ("Array must be symmetric", lambda: smacof(crooked)),
        ("2-dimensional and square", lambda: smacof(X)),
        ("init of smacof has the shape", lambda: smacof(D, init=START[:9])),
        ("Array must be symmetric", lambda: ClassicalMDS(metric="precomputed").fit(crooked)),
        ("square", lambda: MDS(metric="precomputed").fit(X)),
        ("got `dissimilarity` and `metric`", lambda: MDS(metric="cosine", dissimilarity="euclidean").fit(X)),
        ("'n_components' parameter of MDS", lambda: MDS(0).fit(X)),
        ("'init' parameter of MDS", lambda: MDS(init="no").fit(X)),
        ("'n_components' parameter of ClassicalMDS", lambda: ClassicalMDS(0).fit(X)),
        ("NaN", lambda: MDS().fit(np.full((9, 2), np.nan))),
    ):
        with pytest.raises(ValueError, match=message) as error:
            call()
        assert "\n" not in str(error.value)
    same = MDS(random_state=0).fit(np.ones((5, 2)))
    assert np.isfinite(same.embedding_).all()
