"""GaussianNB against scikit-learn, its formula, and what weights, chunks and threads must not change."""

import math

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from sklearn.base import clone
from sklearn.naive_bayes import GaussianNB as Oracle

import learnt
from learnt.engine.rows.blocks import COMPILED_CELLS, Block
from learnt.naive_bayes import GaussianNB
from learnt.naive_bayes._density import Normals, compiled_joint_log_density, joint_log_density

ATTRIBUTES = ("theta_", "var_", "class_prior_", "class_count_", "epsilon_")


def make(n=300, d=4, k=3, seed=0, offset=0.0):
    rng = np.random.default_rng(seed)
    y = rng.integers(0, k, n)
    X = rng.normal(size=(n, d)) * (1 + y[:, None]) + 2 * y[:, None] + offset
    return X, y, rng.random(n) * 3


@pytest.mark.parametrize("shape", [(300, 4, 3), (40, 1, 2), (60_000, 20, 10)])
def test_agrees_with_scikit_learn(shape):
    X, y, _ = make(*shape)
    ours, theirs = GaussianNB().fit(X, y), Oracle().fit(X, y)
    for name in ATTRIBUTES:
        np.testing.assert_allclose(getattr(ours, name), getattr(theirs, name), rtol=1e-10, atol=1e-12, err_msg=name)
    np.testing.assert_array_equal(ours.predict(X), theirs.predict(X))
    for method in ("predict_proba", "predict_log_proba", "predict_joint_log_proba"):
        np.testing.assert_allclose(getattr(ours, method)(X), getattr(theirs, method)(X), rtol=1e-8, atol=1e-10)


def test_string_labels_and_priors_agree_with_scikit_learn():
    X, y, _ = make()
    labels = np.array(["low", "mid", "top"])[y]
    ours = GaussianNB(priors=[0.2, 0.2, 0.6], var_smoothing=1e-3).fit(X, labels)
    theirs = Oracle(priors=[0.2, 0.2, 0.6], var_smoothing=1e-3).fit(X, labels)
    np.testing.assert_array_equal(ours.predict(X), theirs.predict(X))
    np.testing.assert_allclose(ours.predict_proba(X), theirs.predict_proba(X), rtol=1e-9)


def test_joint_log_density_is_its_formula():
    X, y, _ = make(n=30, d=2, k=2)
    model = GaussianNB().fit(X, y)
    for row, joint in zip(X[:5], model.predict_joint_log_proba(X[:5])):
        for c in range(2):
            inside = X[y == c]
            mean, var = inside.mean(axis=0), inside.var(axis=0) + 1e-9 * X.var(axis=0).max()
            by_hand = math.log(len(inside) / len(X))
            by_hand += sum(-0.5 * math.log(2 * math.pi * v) - (x - m) ** 2 / (2 * v) for x, m, v in zip(row, mean, var))
            assert joint[c] == pytest.approx(by_hand, rel=1e-12)


def test_variance_survives_large_means():
    X, y, _ = make(offset=1e7)
    np.testing.assert_allclose(GaussianNB().fit(X, y).var_, Oracle().fit(X, y).var_, rtol=1e-7)


def test_variance_survives_classes_far_apart_and_sorted():
    rng = np.random.default_rng(1)
    X = np.concatenate([rng.normal(size=(500, 3)), rng.normal(size=(500, 3)) + 1e8])
    y = np.repeat([0, 1], 500)
    model = GaussianNB(var_smoothing=0).fit(X, y)
    np.testing.assert_allclose(model.var_, [X[:500].var(axis=0), X[500:].var(axis=0)], rtol=1e-6)


def test_weights_are_repetitions_and_zero_is_absence():
    X, y, _ = make()
    counts = np.random.default_rng(3).integers(0, 4, len(y))
    weighted, repeated = GaussianNB().fit(X, y, counts), GaussianNB().fit(X.repeat(counts, 0), y.repeat(counts))
    for name in ATTRIBUTES:
        np.testing.assert_allclose(getattr(weighted, name), getattr(repeated, name), rtol=1e-11, err_msg=name)


def test_a_class_of_zero_weight_is_left_out():
    X, y, _ = make()
    model = GaussianNB().fit(X, y, (y != 1).astype(float))
    without = GaussianNB().fit(X[y != 1], y[y != 1])
    np.testing.assert_array_equal(model.classes_, [0, 2])
    np.testing.assert_allclose(model.predict_proba(X), without.predict_proba(X), rtol=1e-9)


@pytest.mark.parametrize("dtype", [np.float64, np.float32])
def test_chunks_equal_the_whole_table(dtype):
    X, y, w = make(n=1000, offset=50)
    X = X.astype(dtype)
    whole = GaussianNB().fit(X, y, w)
    chunked = GaussianNB()
    for lo in range(0, 1000, 70):
        chunked.partial_fit(X[lo : lo + 70], y[lo : lo + 70], [0, 1, 2], w[lo : lo + 70])
    for name in ATTRIBUTES:
        np.testing.assert_allclose(getattr(chunked, name), getattr(whole, name), rtol=1e-10, err_msg=name)
    assert chunked.theta_.dtype == dtype


def test_a_class_not_seen_yet_has_no_probability():
    X, y, _ = make()
    model = GaussianNB().partial_fit(X[y < 2], y[y < 2], classes=[0, 1, 2])
    proba = model.predict_proba(X)
    assert (proba[:, 2] == 0).all()
    np.testing.assert_allclose(proba.sum(axis=1), 1.0)


def test_compiled_and_plain_code_agree():
    X, _, _ = make(n=500, d=7, k=4)
    shift = np.random.default_rng(0).normal(size=(4, 7))
    density = Normals(shift, np.abs(shift) + 0.1, np.arange(4.0))
    np.testing.assert_allclose(
        compiled_joint_log_density(Block(X), density), joint_log_density(Block(X), density), rtol=1e-12
    )


@pytest.mark.parametrize("order", ["C", "F"])
def test_same_bits_on_any_number_of_threads(order):
    X, y, w = make(n=COMPILED_CELLS // 8, d=8, k=3)
    X = np.asarray(X, order=order)
    results = []
    try:
        for threads in (1, 3):
            learnt.set_threads(threads)
            model = GaussianNB().fit(X, y, w)
            results.append([*(getattr(model, a) for a in ATTRIBUTES), model.predict_proba(X)])
    finally:
        learnt.set_threads(None)
    for one, three in zip(*results):
        np.testing.assert_array_equal(one, three)


def test_row_order_does_not_matter():
    X, y, w = make()
    order = np.random.default_rng(0).permutation(len(y))
    a, b = GaussianNB().fit(X, y, w), GaussianNB().fit(X[order], y[order], w[order])
    np.testing.assert_allclose(a.var_, b.var_, rtol=1e-12)


def test_float32_is_kept():
    X, y, _ = make()
    model = GaussianNB().fit(X.astype(np.float32), y)
    assert model.theta_.dtype == model.var_.dtype == np.float32
    proba = model.predict_proba(X.astype(np.float32))
    assert proba.dtype == np.float32
    np.testing.assert_allclose(proba, GaussianNB().fit(X, y).predict_proba(X), atol=1e-4)


@settings(max_examples=40, deadline=None)
@given(st.integers(2, 60), st.integers(1, 5), st.integers(1, 4), st.integers(0, 2**31), st.floats(-1e6, 1e6))
def test_probabilities_are_probabilities(n, d, k, seed, offset):
    X, y, _ = make(n, d, k, seed, offset)
    model = GaussianNB().fit(X, y)
    proba = model.predict_proba(X)
    assert np.isfinite(proba).all()
    np.testing.assert_allclose(proba.sum(axis=1), 1.0)
    np.testing.assert_array_equal(model.predict(X), model.classes_[proba.argmax(axis=1)])
    assert (model.var_ > 0).all()


def test_linear_form_predicts_the_same_for_two_classes():
    rng = np.random.default_rng(0)
    Z = rng.normal(size=(200, 3))
    X = np.concatenate([Z, Z + [1.0, -2.0, 0.5]])  # the same scatter twice: equal variances
    y = np.repeat(["no", "yes"], 200)
    model = GaussianNB(priors=[0.3, 0.7]).fit(X, y)
    w, b = model.linear_form()
    assert w.shape == (3,)
    assert isinstance(b, float)
    np.testing.assert_array_equal(np.where(X @ w + b > 0, "yes", "no"), model.predict(X))
    joint = model.predict_joint_log_proba(X)
    np.testing.assert_allclose(X @ w + b, joint[:, 1] - joint[:, 0], rtol=1e-8, atol=1e-8)


def test_linear_form_predicts_the_same_for_many_classes():
    Z = np.random.default_rng(0).normal(size=(100, 2))
    X = np.concatenate([Z, Z + 2, Z - [3, 1]])
    model = GaussianNB().fit(X, np.repeat([3, 5, 9], 100))
    W, b = model.linear_form()
    np.testing.assert_array_equal(model.classes_[(X @ W.T + b).argmax(axis=1)], model.predict(X))


def test_linear_form_refuses_a_boundary_that_is_not_linear():
    X, y, _ = make()
    with pytest.raises(ValueError, match=r"those of feature \d differ by .* %; use predict") as error:
        GaussianNB().fit(X, y).linear_form()
    assert "\n" not in str(error.value)


def test_constant_table_gives_the_priors():
    model = GaussianNB().fit(np.ones((6, 2)), [0, 0, 0, 0, 1, 1])
    np.testing.assert_allclose(model.predict_proba([[1.0, 1.0]]), [[2 / 3, 1 / 3]])


@pytest.mark.parametrize(
    ("call", "message"),
    [
        (lambda X, y: GaussianNB(priors=[0.5, 0.5]).fit(X, y), "Number of priors must match number of classes"),
        (lambda X, y: GaussianNB(priors=[0.5, 0.5, 0.5]).fit(X, y), "The sum of the priors should be 1"),
        (lambda X, y: GaussianNB(priors=[-1.0, 1.0, 1.0]).fit(X, y), "Priors must be non-negative"),
        (lambda X, y: GaussianNB(var_smoothing=-1).fit(X, y), "var_smoothing must be a number of at least 0"),
        (
            lambda X, y: GaussianNB(var_smoothing=0).fit(np.ones_like(X), y),
            "is constant in class .* var_smoothing is 0",
        ),
        (lambda X, y: GaussianNB().partial_fit(X, y), "classes must be passed on the first call to partial_fit"),
        (lambda X, y: GaussianNB().partial_fit(X, y, [0, 1]), r"label\(s\) \[2\] in y do not exist"),
        (
            lambda X, y: GaussianNB().partial_fit(X, y, [0, 1, 2]).partial_fit(X, y, [0, 1]),
            "is not the same as on last call",
        ),
        (lambda X, y: GaussianNB().fit(X, y).predict(X[:, :2]), "expecting 4 features"),
        (lambda X, y: GaussianNB().fit(X * np.nan, y), "X contains NaN at row 0, column 0"),
        (lambda X, y: GaussianNB().predict(X), "not fitted"),
    ],
)
def test_refusals_are_one_sentence(call, message):
    X, y, _ = make()
    with pytest.raises((ValueError, AttributeError), match=message) as error:
        call(X, y)
    assert "\n" not in str(error.value)


def test_parameters_are_not_touched_and_clone_works():
    X, y, _ = make()
    model = GaussianNB(priors=[0.2, 0.3, 0.5])
    copy = clone(model.fit(X, y))
    assert copy.get_params() == {"priors": [0.2, 0.3, 0.5], "var_smoothing": 1e-9}
    assert "priors" in repr(copy)


def test_variances_below_all_numbers_leave_probabilities_finite():
    X = np.random.default_rng(0).normal(size=(20, 3)) * 1e-160
    p = GaussianNB().fit(X, np.arange(20) % 2).predict_proba(X)
    np.testing.assert_allclose(p.sum(axis=1), 1.0)
