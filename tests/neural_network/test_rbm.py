"""The restricted Boltzmann machine: scikit-learn's chains, chances by counting all states, learning; bad input."""

from itertools import product

import numpy as np
import pytest
from scipy import sparse
from scipy.special import expit, logsumexp
from sklearn import neural_network as theirs

from learnt.engine.threads import set_threads
from learnt.neural_network import BernoulliRBM

RNG = np.random.default_rng(0)
X = np.kron(RNG.integers(0, 2, size=(95, 3)), np.ones(4)) * (RNG.uniform(size=(95, 12)) < 0.9)
FITTED = ("components_", "intercept_hidden_", "intercept_visible_", "h_samples_")
STATES = np.array(list(product([0.0, 1.0], repeat=5)))


def random_machine(k=3, d=5):
    """A machine with weights that matter."""
    model = BernoulliRBM(k, random_state=0, n_iter=0).fit(np.zeros((2, d)))
    rng = np.random.default_rng(4)
    model.components_[:] = rng.normal(size=(k, d))
    model.intercept_hidden_, model.intercept_visible_ = rng.normal(size=k), rng.normal(size=d)
    return model


def log_chances(model, rows=STATES):
    """log p(v), up to a constant, by summing over all states of the hidden units."""
    hidden = np.array(list(product([0.0, 1.0], repeat=len(model.components_))))
    joint = rows @ model.components_.T @ hidden.T + hidden @ model.intercept_hidden_
    return rows @ model.intercept_visible_ + logsumexp(joint, axis=1)


@pytest.mark.parametrize("make", [np.asarray, sparse.csr_array, sparse.csr_matrix], ids=["dense", "array", "matrix"])
def test_weights_chains_and_scores_are_scikit_learns(make):
    """Sums round otherwise, which no draw of a chain comes near enough to notice here."""
    settings = {"n_components": 6, "learning_rate": 0.05, "n_iter": 8, "random_state": 3, "batch_size": 20}
    ours, other = BernoulliRBM(**settings).fit(make(X)), theirs.BernoulliRBM(**settings).fit(make(X))
    for name in FITTED:
        np.testing.assert_allclose(getattr(ours, name), getattr(other, name), atol=1e-10)
    np.testing.assert_allclose(ours.transform(make(X)), other.transform(make(X)), atol=1e-10)
    np.testing.assert_allclose(ours.score_samples(make(X)), other.score_samples(make(X)), rtol=1e-7, atol=1e-9)
    for _ in range(3):
        np.testing.assert_array_equal(ours.gibbs(X), other.gibbs(X))


def test_batches_given_one_by_one_are_scikit_learns():
    ours, other = BernoulliRBM(5, random_state=1), theirs.BernoulliRBM(5, random_state=1)
    for lo in range(0, 95, 30):
        ours.partial_fit(X[lo : lo + 30])
        other.partial_fit(X[lo : lo + 30])
    for name in FITTED:
        np.testing.assert_allclose(getattr(ours, name), getattr(other, name), atol=1e-10)


def test_scores_are_conditional_chances():
    model = random_machine()
    logs = dict(zip(map(tuple, STATES), log_chances(model), strict=True))
    drawn = np.random.RandomState(0).randint(0, 5, len(STATES))
    expected = []
    for row, j in zip(STATES, drawn, strict=True):
        other = row.copy()
        other[j] = 1.0 - row[j]
        expected.append(5 * (logs[tuple(row)] - np.logaddexp(logs[tuple(row)], logs[tuple(other)])))
    np.testing.assert_allclose(model.score_samples(STATES), expected, rtol=1e-10)
    np.testing.assert_allclose(model.score_samples(sparse.csr_array(STATES)), expected, rtol=1e-10)


def test_chains_go_to_the_distribution_of_the_model():
    """Frequencies of all 32 states: 20,000 chains after 60 steps, five standard deviations."""
    model, n = random_machine(), 20_000
    rows = np.zeros((n, 5))
    for _ in range(60):
        rows = model.gibbs(rows)
    chances = np.exp(log_chances(model) - logsumexp(log_chances(model)))
    seen = np.bincount((rows @ [16, 8, 4, 2, 1]).astype(int), minlength=32) / n
    assert np.all(np.abs(seen - chances) < 5 * np.sqrt(chances / n) + 1e-3)


def test_learning_raises_the_likelihood_to_near_the_entropy_of_the_rows():
    rows = np.repeat([[1, 1, 0, 0, 1], [0, 0, 1, 1, 0]], 100, axis=0).astype(float)
    likelihood = []
    for passes in (0, 100):
        model = BernoulliRBM(4, learning_rate=0.05, n_iter=passes, random_state=0).fit(rows)
        likelihood.append(np.mean(log_chances(model, rows)) - logsumexp(log_chances(model)))
    assert likelihood[0] == pytest.approx(-5 * np.log(2), abs=0.1)
    assert likelihood[1] > -2.0 * np.log(2)  # the best there is: −log 2


def test_hidden_units_are_chances():
    model = random_machine()
    expected = expit(STATES @ model.components_.T + model.intercept_hidden_)
    np.testing.assert_allclose(model.transform(STATES), expected, rtol=1e-12)


def test_any_number_of_threads_gives_the_same_bits():
    wide = (np.random.default_rng(0).uniform(size=(3000, 120)) < 0.2).astype(float)
    answers = []
    for n in (1, 3):
        set_threads(n)
        try:
            model = BernoulliRBM(30, batch_size=500, n_iter=2, random_state=0).fit(wide)
            answers.append((model.components_, model.transform(wide), model.score_samples(wide)))
        finally:
            set_threads(None)
    for one, three in zip(*answers, strict=True):
        np.testing.assert_array_equal(one, three)


def test_single_precision_stays():
    model = BernoulliRBM(3, random_state=0).fit(X.astype(np.float32))
    assert {getattr(model, name).dtype for name in FITTED} == {np.dtype(np.float32)}
    assert model.transform(X.astype(np.float32)).dtype == np.float32
    double = BernoulliRBM(3, random_state=0).fit(X)
    np.testing.assert_allclose(model.components_, double.components_, atol=1e-4)


@pytest.mark.parametrize(
    "settings", [{"n_components": 0}, {"learning_rate": 0}, {"batch_size": 0}, {"n_iter": -1}], ids=str
)
def test_wrong_parameters_are_named(settings):
    with pytest.raises(ValueError, match=next(iter(settings))):
        BernoulliRBM(**settings).fit(X)


def test_passes_are_told(caplog):
    with caplog.at_level("INFO", logger="learnt"):
        BernoulliRBM(2, n_iter=2, verbose=1, random_state=0).fit(X)
    assert "BernoulliRBM: pass 2, pseudo-likelihood -" in caplog.text
