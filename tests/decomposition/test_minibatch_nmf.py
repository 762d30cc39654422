"""Non-negative factors from batches: the steps of scikit-learn, what does not depend on batches, planted parts."""

import numpy as np
import pytest
from scipy import sparse
from sklearn import decomposition as theirs

from learnt.decomposition import NMF, MiniBatchNMF
from learnt.engine.threads import set_threads

RNG = np.random.default_rng(0)
PARTS = RNG.gamma(0.5, size=(3, 12)) * (RNG.uniform(size=(3, 12)) < 0.6)
X = RNG.gamma(1.0, size=(300, 3)) @ PARTS + 0.05 * RNG.uniform(size=(300, 12))
W0, H0 = RNG.uniform(size=(300, 3)), RNG.uniform(size=(3, 12))


@pytest.mark.filterwarnings("ignore:Maximum number of iterations")
@pytest.mark.parametrize("make", [np.asarray, sparse.csr_array], ids=["dense", "sparse"])
@pytest.mark.parametrize(
    "settings",
    [
        {},
        {"batch_size": 1000, "max_iter": 40},
        {"fresh_restarts": True, "alpha_W": 0.01, "max_iter": 3},
        {"beta_loss": "kullback-leibler", "forget_factor": 0.9},
        {"beta_loss": "itakura-saito", "max_iter": 3},
        {"beta_loss": 1.5, "alpha_W": 0.01, "alpha_H": 0.002, "l1_ratio": 0.5},
        {"beta_loss": 2.5},
    ],
    ids=str,
)
def test_steps_are_scikit_learns(make, settings):
    settings = {"init": "custom", "batch_size": 64, "max_iter": 6, "tol": 1e-3, **settings}
    ours, other = MiniBatchNMF(3, **settings), theirs.MiniBatchNMF(3, **settings)
    W, V = ours.fit_transform(make(X), W=W0, H=H0), other.fit_transform(make(X), W=W0.copy(), H=H0.copy())
    assert (ours.n_steps_, ours.n_iter_) == (other.n_steps_, other.n_iter_)
    np.testing.assert_allclose(W, V, rtol=1e-6, atol=1e-9)
    np.testing.assert_allclose(ours.components_, other.components_, rtol=1e-6, atol=1e-9)
    assert ours.reconstruction_err_ == pytest.approx(other.reconstruction_err_, rel=1e-6)
    np.testing.assert_allclose(ours.transform(make(X)), other.transform(make(X)), rtol=1e-6, atol=1e-9)


@pytest.mark.parametrize("beta", ["frobenius", "kullback-leibler", 0.5])
def test_batches_given_one_by_one_are_scikit_learns(beta):
    settings = {"init": "random", "random_state": 0, "beta_loss": beta}
    ours, other = MiniBatchNMF(3, **settings), theirs.MiniBatchNMF(3, **settings)
    for lo in range(0, 300, 75):
        ours.partial_fit(X[lo : lo + 75])
        other.partial_fit(X[lo : lo + 75])
    np.testing.assert_allclose(ours.components_, other.components_, rtol=1e-6, atol=1e-9)
    assert ours.n_steps_ == 4


@pytest.mark.filterwarnings("ignore:Maximum number of iterations")
def test_batches_of_empty_rows_are_scikit_learns():
    rows = np.r_[X[:60], np.zeros((60, 12))]
    settings = {"init": "random", "random_state": 0, "beta_loss": 1, "batch_size": 20, "max_iter": 20}
    ours, other = MiniBatchNMF(3, **settings).fit(rows), theirs.MiniBatchNMF(3, **settings).fit(rows)
    np.testing.assert_allclose(ours.components_, other.components_, rtol=1e-6, atol=1e-9)
    assert ours.n_steps_ == other.n_steps_


@pytest.mark.parametrize("beta", ["frobenius", "kullback-leibler", "itakura-saito"])
def test_a_batch_of_all_rows_that_forgets_everything_never_raises_the_divergence(beta):
    """Without memory a step is the multiplicative update, which is proven to lower it."""
    settings = {"init": "custom", "beta_loss": beta, "tol": 0, "forget_factor": 0.0, "max_no_improvement": None}
    models = [MiniBatchNMF(3, max_iter=n, **settings).fit(X + 0.01, W=W0, H=H0) for n in (1, 2, 3, 5, 9, 20, 50)]
    errors = [model.reconstruction_err_ for model in models]
    assert max(np.diff(errors)) < 0
    batch = NMF(3, init="custom", solver="mu", beta_loss=beta, tol=0, max_iter=50)
    batch.fit(X + 0.01, W=W0, H=H0)
    np.testing.assert_allclose(models[-1].components_, batch.components_, rtol=1e-6)


def test_planted_parts_are_found():
    parts = np.kron(np.eye(3), np.full(4, 1.0))
    rows = np.random.default_rng(1).gamma(0.3, size=(2000, 3)) @ parts
    model = MiniBatchNMF(3, batch_size=100, random_state=0, max_no_improvement=None, tol=1e-6).fit(rows)
    unit = model.components_ / np.linalg.norm(model.components_, axis=1, keepdims=True)
    alike = unit @ parts.T / 2.0
    assert sorted(alike.argmax(axis=1)) == [0, 1, 2]
    assert alike.max(axis=1).min() > 0.99
    np.testing.assert_allclose(model.inverse_transform(model.transform(rows)), rows, atol=0.1 * rows.max())


def test_any_number_of_threads_gives_the_same_bits():
    wide = np.random.default_rng(0).gamma(1.0, size=(6000, 80))
    answers = []
    for n in (1, 3):
        set_threads(n)
        try:
            model = MiniBatchNMF(5, batch_size=3000, max_iter=3, tol=0, init="random", random_state=0)
            answers.append((model.fit_transform(wide), model.components_))
        finally:
            set_threads(None)
    for one, three in zip(*answers, strict=True):
        np.testing.assert_array_equal(one, three)


def test_single_precision_stays():
    model = MiniBatchNMF(3, batch_size=64, tol=0, max_iter=5, random_state=0)
    assert model.fit_transform(X.astype(np.float32)).dtype == model.components_.dtype == np.float32
    assert model.transform(X.astype(np.float32)).dtype == np.float32
    assert model.partial_fit(X.astype(np.float32)).components_.dtype == np.float32


@pytest.mark.parametrize("method", ["fit", "partial_fit", "transform"])
def test_negative_numbers_are_refused(method):
    bad = X.copy()
    bad[3, 5] = -1
    model = MiniBatchNMF(2, tol=0, max_iter=2, random_state=0).fit(X)
    with pytest.raises(
        ValueError, match=r"^Negative values .*MiniBatchNMF \(input X\): row 3, column 5 is -1, .*shift"
    ):
        getattr(model, method)(bad)


@pytest.mark.parametrize(
    ("settings", "sentence"),
    [
        ({"batch_size": 0}, "batch_size"),
        ({"forget_factor": 1.5}, "forget_factor"),
        ({"max_no_improvement": 0}, "max_no_improvement"),
        ({"beta_loss": "itakura-saito"}, "When beta_loss <= 0 and X contains zeros"),
    ],
)
def test_what_cannot_be_fitted_is_said(settings, sentence):
    with pytest.raises(ValueError, match=sentence):
        MiniBatchNMF(2, **settings).fit(np.eye(4))


def test_batches_are_told(caplog):
    with caplog.at_level("INFO", logger="learnt"):
        MiniBatchNMF(2, max_iter=1, tol=0, verbose=1, random_state=0).fit(X)
    assert "MiniBatchNMF: batch 1, mean objective" in caplog.text
