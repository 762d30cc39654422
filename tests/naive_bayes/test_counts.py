"""Naive Bayes of counts, of features that are there or not, of categories: scikit-learn, formulas, rows, refusals."""

import array_api_strict as xp
import dask.array as da
import numpy as np
import polars as pl
import pytest
import torch
from scipy import sparse
from sklearn import naive_bayes as sklearns

import learnt
from learnt import naive_bayes as ours
from learnt.engine.arrays import to_numpy
from learnt.engine.rows.blocks import Block
from learnt.naive_bayes._sparse_scores import compiled_sparse_scores
from learnt.statistics._kernels import compiled_sparse_class_sums

NAMES = ("MultinomialNB", "ComplementNB", "BernoulliNB", "CategoricalNB")
ATTRIBUTES = ("class_count_", "class_log_prior_", "feature_log_prob_", "feature_count_", "category_count_")
# Sums of at most a few thousand products, then logarithms: 1e-13 of error at most, and answers of some hundreds.
CLOSE = {"rtol": 1e-11, "atol": 1e-11}


def make(n=600, d=7, k=3, seed=0):
    rng = np.random.default_rng(seed)
    y = rng.integers(0, k, n)
    return rng.poisson(rng.uniform(0.2, 2.0, size=(k, d))[y]).astype(float), y, rng.random(n) * 3


def fields(model):
    return {name: getattr(model, name) for name in ATTRIBUTES if hasattr(model, name)}


def assert_same(model, expected):
    assert fields(model).keys() == fields(expected).keys()
    for name, value in fields(expected).items():
        found = fields(model)[name]
        for a, b in zip(found, value, strict=True) if isinstance(value, list) else [(found, value)]:
            np.testing.assert_allclose(a, b, **CLOSE, err_msg=name)


@pytest.mark.parametrize("name", NAMES)
@pytest.mark.parametrize(
    "settings", [{}, {"alpha": 0.3, "fit_prior": False}, {"class_prior": [0.2, 0.3, 0.5], "alpha": 2.0}]
)
def test_agrees_with_scikit_learn(name, settings):
    X, y, w = make()
    labels = np.array(["low", "mid", "top"])[y]
    tables = [X] if name == "CategoricalNB" else [X, sparse.csr_array(X), sparse.csc_matrix(X)]
    for table in tables:
        model = getattr(ours, name)(**settings).fit(table, labels, w)
        oracle = getattr(sklearns, name)(**settings).fit(table, labels, w)
        assert_same(model, oracle)
        np.testing.assert_array_equal(model.predict(table), oracle.predict(table))
        for method in ("predict_proba", "predict_log_proba", "predict_joint_log_proba"):
            np.testing.assert_allclose(getattr(model, method)(table), getattr(oracle, method)(table), **CLOSE)


@pytest.mark.parametrize(
    ("name", "settings"),
    [
        ("ComplementNB", {"norm": True}),
        ("BernoulliNB", {"binarize": 1.0}),
        ("CategoricalNB", {"min_categories": 20}),
        ("MultinomialNB", {"alpha": np.arange(1.0, 8.0)}),
    ],
)
def test_settings_agree_with_scikit_learn(name, settings):
    X, y, _ = make()
    model, oracle = getattr(ours, name)(**settings).fit(X, y), getattr(sklearns, name)(**settings).fit(X, y)
    assert_same(model, oracle)
    np.testing.assert_allclose(model.predict_joint_log_proba(X), oracle.predict_joint_log_proba(X), **CLOSE)


def test_laplaces_rule_by_hand():
    """The course: θ_jc = (count + l) / (rows + l K) for categories, (words + 1) / (all words + d) for words."""
    X, y = np.array([[0], [0], [1], [2]]), np.array([0, 0, 0, 1])
    model = ours.CategoricalNB(alpha=1).fit(X, y)
    np.testing.assert_allclose(np.exp(model.feature_log_prob_[0]), [[3 / 6, 2 / 6, 1 / 6], [1 / 4, 1 / 4, 2 / 4]])
    words = np.array([[3, 1, 0], [0, 2, 2]])
    model = ours.MultinomialNB(alpha=1).fit(words, [0, 1])
    np.testing.assert_allclose(np.exp(model.feature_log_prob_), [[4 / 7, 2 / 7, 1 / 7], [1 / 7, 3 / 7, 3 / 7]])
    maximum_likelihood = ours.MultinomialNB(alpha=0).fit(words, [0, 1])
    np.testing.assert_allclose(
        np.exp(maximum_likelihood.feature_log_prob_), [[3 / 4, 1 / 4, 0], [0, 1 / 2, 1 / 2]], atol=1e-300
    )


@pytest.mark.parametrize("name", NAMES)
def test_chunks_equal_the_whole_table(name):
    X, y, w = make()
    whole, pieces = getattr(ours, name)().fit(X, y, w), getattr(ours, name)()
    for part in np.array_split(np.arange(len(y)), 7):
        pieces.partial_fit(X[part], y[part], [0, 1, 2], w[part])
    assert_same(pieces, whole)
    np.testing.assert_allclose(pieces.predict_proba(X), whole.predict_proba(X), **CLOSE)


@pytest.mark.parametrize("name", NAMES)
def test_every_kind_of_rows_gives_the_same(name, tmp_path):
    X, y, w = make(n=2000)
    expected = getattr(ours, name)().fit(X, y, w)
    probabilities = expected.predict_proba(X)
    np.save(tmp_path / "X.npy", X)
    pl.DataFrame(X, schema=[f"x{j}" for j in range(7)]).with_columns(y=pl.Series(y)).write_parquet(
        tmp_path / "t.parquet"
    )
    table = learnt.scan(tmp_path / "t.parquet")
    kinds = {
        "memory map": (np.load(tmp_path / "X.npy", mmap_mode="r"), y, w),
        "dask": tuple(da.from_array(part, chunks=(300, *part.shape[1:])) for part in (X, y, w)),
        "torch": (torch.tensor(X), torch.tensor(y), torch.tensor(w)),
        "device": tuple(xp.asarray(part, device=xp.Device("device1")) for part in (X, y, w)),
        "file": (table.drop("y"), table["y"], w),
        "float32": (X.astype(np.float32), y, w),
    }
    for kind, (A, b, v) in kinds.items():
        model = getattr(ours, name)().fit(A, b, v)
        assert_same(model, expected)
        found = model.predict_proba(A)
        if kind == "device":
            assert found.device == A.device
            found = to_numpy(found)
        assert isinstance(found, {"dask": da.Array, "torch": torch.Tensor}.get(kind, np.ndarray))
        np.testing.assert_allclose(np.asarray(found), probabilities, rtol=1e-4 if kind == "float32" else 1e-9)
        np.testing.assert_array_equal(to_numpy(model.predict(A)), expected.predict(X))
        again = getattr(ours, name)()
        for _ in range(2):
            again.partial_fit(A, b, [0, 1, 2], v)
        np.testing.assert_allclose(again.class_count_, 2 * expected.class_count_)


@pytest.mark.parametrize("name", NAMES)
@pytest.mark.parametrize("k", [2, 3])
def test_linear_form_predicts_the_same(name, k):
    X, y, _ = make(k=k)
    model = getattr(ours, name)().fit(X, y)
    w, b = model.linear_form()
    Z = X > 0 if name == "BernoulliNB" else X
    if name == "CategoricalNB":
        Z = np.concatenate([X[:, [j]] == np.arange(m) for j, m in enumerate(model.n_categories_)], axis=1)
    joint = model.predict_joint_log_proba(X)
    if k == 2:
        assert isinstance(b, float)
        np.testing.assert_allclose(Z @ w + b, joint[:, 1] - joint[:, 0], **CLOSE)
        np.testing.assert_array_equal((Z @ w + b > 0).astype(int), model.predict(X))
    else:
        np.testing.assert_array_equal((Z @ w.T + b).argmax(axis=1), model.predict(X))


def test_the_absence_of_a_sure_feature_keeps_its_digits():
    """1 − p is (α + rows without) / (2α + rows): from log p it would have no digit left at α = 1e-9."""
    model = ours.BernoulliNB(alpha=1e-9).fit([[1.0], [1.0], [0.0]], [0, 0, 1])
    joint = model.predict_joint_log_proba([[0.0]])
    assert joint[0, 0] == pytest.approx(np.log(2 / 3) + np.log(1e-9 / (2 + 2e-9)), rel=1e-12)


def test_without_smoothing_nothing_is_nan():
    X = np.array([[1.0, 0.0, 0.0], [0.0, 1.0, 0.0], [0.0, 0.0, 1.0]])
    for name in ("MultinomialNB", "BernoulliNB", "CategoricalNB", "ComplementNB"):
        model = getattr(ours, name)(alpha=0).fit(X, [0, 1, 2])
        assert np.isfinite(model.predict_proba(np.eye(3))).all(), name
    model = ours.MultinomialNB(alpha=0).fit(X, [0, 1, 2])
    np.testing.assert_array_equal(model.predict([[5, 1, 0], [0, 1, 3]]), [0, 2])  # what a class forbids least


def test_a_class_not_seen_yet_has_no_probability():
    X, y, _ = make()
    for name in NAMES:
        model = getattr(ours, name)().partial_fit(X[y < 2], y[y < 2], classes=[0, 1, 2])
        if name != "ComplementNB":  # which has no priors
            assert (model.predict_proba(X[y < 2])[:, 2] == 0).all()
        assert np.isfinite(model.predict_proba(X[y < 2])).all()


def test_categories_of_later_pieces_have_room():
    model = ours.CategoricalNB().partial_fit([[0], [1]], [0, 1], classes=[0, 1]).partial_fit([[4]], [1])
    np.testing.assert_array_equal(model.n_categories_, [5])
    np.testing.assert_array_equal(model.category_count_[0], [[1, 0, 0, 0, 0], [0, 1, 0, 0, 1]])


def test_a_class_with_one_row_is_smoothed():
    model = ours.MultinomialNB().fit([[2, 0], [1, 1], [0, 3]], ["a", "a", "b"])
    np.testing.assert_allclose(np.exp(model.feature_log_prob_[1]), [1 / 5, 4 / 5])


@pytest.mark.parametrize(
    ("call", "message"),
    [
        (lambda: ours.MultinomialNB().fit([[1, -2]], [0]), r"Negative values .* MultinomialNB .* lowest is -2"),
        (lambda: ours.ComplementNB().fit(sparse.csr_array([[1.0, -2.0]]), [0]), "Negative values .* ComplementNB"),
        (lambda: ours.CategoricalNB().fit([[1, -2]], [0]), "Negative values .* CategoricalNB"),
        (lambda: ours.CategoricalNB().fit([[0], [1]], [0, 1]).predict([[2]]), "category 2, which was not there in fit"),
        (lambda: ours.CategoricalNB().fit([[0], [1e9]], [0, 1]), "category 1000000000, .* without gaps"),
        (lambda: ours.CategoricalNB(min_categories=2.5).fit([[0], [1]], [0, 1]), "should have integral type"),
        (lambda: ours.CategoricalNB(alpha=[1.0]).fit([[0], [1]], [0, 1]), "'alpha' parameter of CategoricalNB"),
        (lambda: ours.BernoulliNB(binarize=None).fit([[0], [3]], [0, 1]), "binarize=None .* reaches from 0 to 3"),
        (lambda: ours.BernoulliNB(binarize=-1).fit([[0], [3]], [0, 1]), "'binarize' parameter"),
        (lambda: ours.MultinomialNB(alpha=-1).fit([[0], [3]], [0, 1]), "'alpha' parameter of MultinomialNB"),
        (lambda: ours.MultinomialNB(alpha="much").fit([[0], [3]], [0, 1]), "'alpha' parameter of MultinomialNB"),
        (lambda: ours.MultinomialNB(alpha=[1.0, 2.0]).fit([[0], [3]], [0, 1]), "Got 2 elements instead of 1"),
        (lambda: ours.MultinomialNB(class_prior=[1.0]).fit([[0], [3]], [0, 1]), "Number of priors must match"),
        (lambda: ours.MultinomialNB(class_prior=[-1.0, 2.0]).fit([[0], [3]], [0, 1]), "must hold probabilities"),
        (lambda: ours.MultinomialNB().partial_fit([[0], [3]], [0, 1]), "classes must be passed"),
        (lambda: ours.MultinomialNB().linear_form(), "not fitted"),
    ],
)
def test_refusals_are_one_sentence(call, message):
    with pytest.raises((ValueError, AttributeError), match=message) as caught:
        call()
    assert "\n" not in str(caught.value)


@pytest.mark.parametrize("k", [1, 2, 3, 11])
def test_compiled_scores_and_sums_of_sparse_rows_are_the_products(k):
    rng = np.random.default_rng(0)
    X = sparse.random_array((50, 30), density=0.2, format="csr", rng=rng)
    W, b, codes, w = rng.normal(size=(30, k)), rng.normal(size=k), rng.integers(0, k, 50), rng.random(50)
    np.testing.assert_allclose(compiled_sparse_scores(X, W, b), X.toarray() @ W + b, rtol=1e-12, atol=1e-13)
    member = (codes[:, None] == np.arange(k)) * w[:, None]
    weight, sums = compiled_sparse_class_sums(Block(X, codes, w), codes, k)
    np.testing.assert_allclose(weight, member.sum(axis=0), rtol=1e-12)
    np.testing.assert_allclose(sums, member.T @ X.toarray(), rtol=1e-12, atol=1e-13)
    with pytest.raises(ValueError, match="A row is in group"):
        compiled_sparse_class_sums(Block(X), codes + 1, k)


def test_large_sparse_tables_give_the_same_on_any_number_of_threads():
    rng = np.random.default_rng(0)
    X = sparse.random_array((6000, 400), density=0.15, format="csr", rng=rng)
    y = rng.integers(0, 3, 6000)
    found = []
    try:
        for threads in (1, 3):
            learnt.set_threads(threads)
            model = ours.MultinomialNB().fit(X, y)
            found.append((model.feature_log_prob_, model.predict_proba(X)))
    finally:
        learnt.set_threads(None)
    for one, three in zip(*found, strict=True):
        np.testing.assert_array_equal(one, three)
    oracle = sklearns.MultinomialNB().fit(X, y)
    np.testing.assert_allclose(found[0][0], oracle.feature_log_prob_, **CLOSE)
    np.testing.assert_allclose(found[0][1], oracle.predict_proba(X), **CLOSE)


@pytest.mark.parametrize("k", [2, 3, 20])
@pytest.mark.parametrize("name", ["MultinomialNB", "ComplementNB", "BernoulliNB"])
def test_large_sparse_tables_are_counted_and_classified_as_dense_ones(name, k):
    rng = np.random.default_rng(1)
    X = sparse.random_array((3000, 500), density=0.1, format="csr", rng=rng)
    X.data = np.ceil(3 * X.data) - (1.0 if name == "BernoulliNB" else 0.0)
    y, w = rng.integers(0, k, 3000), rng.integers(1, 4, 3000).astype(float)
    dense = getattr(ours, name)().fit(X.toarray(), y, sample_weight=w)
    model = getattr(ours, name)().fit(X, y, sample_weight=w)
    np.testing.assert_array_equal(model.feature_count_, dense.feature_count_)  # whole numbers
    np.testing.assert_array_equal(model.class_count_, dense.class_count_)
    scores = model.predict_joint_log_proba(X)
    chosen = np.searchsorted(model.classes_, model.predict(X))
    top = scores.max(axis=1)
    # Both are sums of some fifty terms that are rounded once each, in different orders.
    assert (top - scores[np.arange(3000), chosen] <= 1e-13 * np.abs(top)).all()


@pytest.mark.parametrize("k", [2, 3])
def test_equal_planes_of_large_sparse_tables_give_the_first(k):
    """Columns that no class differs in: single precision cannot tell, and double precision finds equal scores."""
    rng = np.random.default_rng(0)
    X = sparse.csr_array(sparse.random_array((4000, 200), density=0.2, format="csr", rng=rng).sign())
    twice = sparse.vstack([X] * k, format="csr")
    model = ours.MultinomialNB().fit(twice, np.repeat(np.arange(k), 4000))
    assert (model.predict(X) == 0).all()


@pytest.mark.parametrize("name", ["MultinomialNB", "BernoulliNB"])
@pytest.mark.parametrize("bad", [np.nan, np.inf, -np.inf])
def test_cells_of_large_sparse_tables_that_are_not_finite(name, bad):
    rng = np.random.default_rng(0)
    X = sparse.random_array((4000, 200), density=0.2, format="csr", rng=rng)
    wrong = X.copy()
    wrong.data[777] = bad
    for k in (2, 3):
        y = np.arange(4000) % k
        model = getattr(ours, name)().fit(X, y)
        with pytest.raises(ValueError, match="needs finite numbers"):
            model.predict(wrong)
        with pytest.raises(ValueError, match="needs finite numbers"):
            model.fit(wrong, y)
