"""Dummy models: scikit-learn's answers and draws, sparse targets, any X."""

import numpy as np
import pytest
import sklearn.dummy
from scipy import sparse

import learnt
from learnt.dummy import DummyClassifier, DummyRegressor

rng = np.random.default_rng(0)
N = 90
LABELS = {
    "numbers": rng.choice([-3, 0, 8], N, p=[0.2, 0.5, 0.3]),
    "strings": rng.choice(["ant", "bee", "cow"], N),
    "two": rng.integers(0, 3, (N, 2)),
    "column": rng.integers(0, 3, (N, 1)),
    "one": np.full(N, 7),
    "fractions": rng.choice([0.5, 1.25], N),
}
STRATEGIES = ("most_frequent", "prior", "stratified", "uniform", "constant")


@pytest.mark.parametrize("weighted", [False, True])
@pytest.mark.parametrize("strategy", STRATEGIES)
@pytest.mark.parametrize("kind", LABELS)
@pytest.mark.parametrize("make_seed", [lambda: 3, lambda: np.random.RandomState(5)])
def test_classifier_equals_scikit_learns(kind, strategy, weighted, make_seed):
    y, w = LABELS[kind], rng.uniform(0.5, 2, N) if weighted else None
    constant = (y[0].tolist() if kind == "two" else y.ravel()[0]) if strategy == "constant" else None
    constant = [constant] if kind == "fractions" and constant is not None else constant
    ours, theirs = (
        module.DummyClassifier(strategy=strategy, random_state=make_seed(), constant=constant).fit(y, y, w)
        for module in (learnt.dummy, sklearn.dummy)
    )
    X = np.zeros((200, 2))
    for _ in range(2):
        np.testing.assert_array_equal(ours.predict(X), theirs.predict(X))
        np.testing.assert_allclose(ours.predict_proba(X), theirs.predict_proba(X), rtol=1e-13)
    np.testing.assert_allclose(ours.class_prior_, theirs.class_prior_, rtol=1e-13)
    assert ours.n_classes_ == theirs.n_classes_
    if kind not in ("fractions", "two"):  # whose accuracy scikit-learn refuses
        assert ours.score(None, y) == theirs.score(None, y)


@pytest.mark.parametrize("strategy", ["stratified", "constant", "prior"])
@pytest.mark.parametrize("container", [sparse.csc_array, sparse.csr_matrix])
def test_sparse_targets(strategy, container):
    Y = np.column_stack([rng.choice([0, 1, 4], N, p=[0.6, 0.3, 0.1]), np.zeros(N, dtype=int), rng.integers(0, 2, N)])
    options = {"strategy": strategy, "random_state": 1, "constant": [4, 0, 1]}
    ours = DummyClassifier(**options).fit(np.zeros((N, 1)), container(Y))
    found = ours.predict(np.zeros((500, 1)))
    assert sparse.issparse(found)
    assert ours.sparse_output_
    if strategy == "prior":  # scikit-learn predicts the position of the label
        assert (found.toarray() == DummyClassifier().fit(Y, Y).predict(np.zeros((500, 1)))).all()
    else:
        theirs = sklearn.dummy.DummyClassifier(**options).fit(np.zeros((N, 1)), container(Y))
        np.testing.assert_array_equal(found.toarray(), theirs.predict(np.zeros((500, 1))).toarray())


@pytest.mark.parametrize("weighted", [False, True])
@pytest.mark.parametrize("options", [{}, {"strategy": "median"}, {"strategy": "quantile", "quantile": 0.3}])
@pytest.mark.parametrize("shape", [(N,), (N, 3), (N, 1)])
def test_regressor_equals_scikit_learns(shape, options, weighted):
    y, w = rng.normal(size=shape), rng.uniform(0.5, 2, N) if weighted else None
    ours, theirs = (module.DummyRegressor(**options).fit(y, y, w) for module in (learnt.dummy, sklearn.dummy))
    np.testing.assert_allclose(ours.constant_, theirs.constant_, rtol=1e-12)
    X = ["a", None, "b"]
    assert ours.predict(X).shape == theirs.predict(X).shape
    assert not ours.predict(X, return_std=True)[1].any()
    assert ours.score(None, y) == pytest.approx(theirs.score(None, y), abs=1e-12)


def test_no_table_is_needed(tmp_path):
    y = LABELS["strings"]
    assert (DummyClassifier().fit(None, y).predict([None, "a"]) == DummyClassifier().fit(y, y).predict([0, 1])).all()
    number = DummyRegressor().fit(None, [1.0, 3.0])
    assert number.predict([[0]]).tolist() == [2]
    learnt.save(number, tmp_path / "number.learnt")
    assert learnt.load(tmp_path / "number.learnt").predict([[0]]).tolist() == [2]
    learnt.save(DummyClassifier(strategy="uniform", random_state=0).fit(None, y), tmp_path / "label.learnt")
    assert learnt.load(tmp_path / "label.learnt").predict([[0]] * 5).shape == (5,)


def test_a_weighted_median_parts_the_weight():
    y, w = rng.normal(size=N), rng.uniform(size=N)
    c = DummyRegressor(strategy="median").fit(y, y, w).constant_[0, 0]
    assert w[y < c].sum() < w.sum() / 2 <= w[y <= c].sum()


ERRORS = [
    (lambda: DummyClassifier(strategy="mode").fit([1], [1]), "'strategy' parameter"),
    (lambda: DummyClassifier(strategy="constant", constant=5).fit([1], [1]), "must be present"),
    (lambda: DummyClassifier().fit(None, None), "requires y|cannot count"),
    (lambda: DummyClassifier().predict([1]), "not fitted"),
    (lambda: DummyRegressor(strategy="quantile").fit([1, 2], [1, 2], [1, 2]), "specify the desired quantile"),
    (lambda: DummyRegressor(strategy="constant").fit([1], [1]), "has to be specified"),
]


@pytest.mark.parametrize(("call", "message"), ERRORS)
def test_errors_are_one_sentence(call, message):
    with pytest.raises((ValueError, TypeError), match=message) as error:
        call()
    assert "\n" not in str(error.value)
