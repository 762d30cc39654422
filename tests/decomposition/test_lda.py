"""Latent Dirichlet allocation: scikit-learn's numbers, fixed points, a bound that rises, planted topics; bad input."""

import numpy as np
import pytest
from scipy import sparse
from scipy.special import digamma, logsumexp
from sklearn import decomposition as theirs

from learnt.decomposition import LatentDirichletAllocation
from learnt.decomposition.lda._bound import evidence_bound, expected_log
from learnt.decomposition.lda._expectation import expected_topics
from learnt.engine.threads import set_threads

RNG = np.random.default_rng(0)
TOPICS = RNG.dirichlet(np.full(40, 0.1), size=4)
SHARES = RNG.dirichlet(np.full(4, 0.1), size=150)
X = np.array([RNG.multinomial(80, p / p.sum()) for p in SHARES @ TOPICS], dtype=float)


@pytest.mark.parametrize("make", [np.asarray, sparse.csr_array], ids=["dense", "sparse"])
@pytest.mark.parametrize(
    "settings",
    [
        {},
        {"learning_method": "online", "batch_size": 32, "learning_offset": 50.0, "learning_decay": 0.6},
        {"evaluate_every": 2, "max_iter": 20, "perp_tol": 1.0},
        {"doc_topic_prior": 0.5, "topic_word_prior": 0.01, "max_doc_update_iter": 3},
    ],
    ids=["batch", "online", "evaluated", "priors"],
)
def test_numbers_are_scikit_learns(make, settings):
    """scikit-learn's series for ψ is off by up to 2.5e-9, and passes multiply that."""
    ours = LatentDirichletAllocation(4, random_state=0, **settings).fit(make(X))
    other = theirs.LatentDirichletAllocation(4, random_state=0, **settings).fit(make(X))
    np.testing.assert_allclose(ours.components_, other.components_, rtol=1e-4, atol=1e-6)
    np.testing.assert_allclose(ours.exp_dirichlet_component_, other.exp_dirichlet_component_, rtol=1e-3, atol=1e-8)
    np.testing.assert_allclose(ours.transform(make(X)), other.transform(make(X)), atol=1e-5)
    np.testing.assert_allclose(ours.transform(X, normalize=False), other.transform(X, normalize=False), atol=1e-3)
    assert (ours.n_iter_, ours.n_batch_iter_) == (other.n_iter_, other.n_batch_iter_)
    assert ours.bound_ == pytest.approx(other.bound_, rel=1e-6)
    assert ours.score(make(X)) == pytest.approx(other.score(make(X)), rel=1e-6)
    assert ours.perplexity(X, sub_sampling=True) == pytest.approx(other.perplexity(X, sub_sampling=True), rel=1e-6)


def test_batches_given_one_by_one_are_scikit_learns():
    models = [
        kind(4, random_state=0, total_samples=150)
        for kind in (LatentDirichletAllocation, theirs.LatentDirichletAllocation)
    ]
    for lo in range(0, 150, 50):
        for model in models:
            model.partial_fit(X[lo : lo + 50])
    np.testing.assert_allclose(models[0].components_, models[1].components_, rtol=1e-5)
    once = LatentDirichletAllocation(4, random_state=0, learning_method="online", batch_size=50, max_iter=1).fit(X)
    np.testing.assert_array_equal(once.components_, models[0].components_)


def test_shares_are_fixed_points():
    model = LatentDirichletAllocation(4, random_state=0, mean_change_tol=1e-12, max_doc_update_iter=5000).fit(X)
    shares = model.transform(X, normalize=False)
    logs = digamma(shares) - digamma(shares.sum(axis=1))[:, None]
    words = logs[:, :, None] + expected_log(model.components_)
    parts = np.exp(words - logsumexp(words, axis=1, keepdims=True))
    np.testing.assert_allclose(shares, 0.25 + (X[:, None, :] * parts).sum(axis=2), rtol=1e-8)


def test_the_bound_rises_with_every_pass_and_is_that_of_its_definition():
    """Coordinate ascent: only the tolerance of the shares and rounding could lower it."""
    settings = {"random_state": 0, "mean_change_tol": 1e-10, "max_doc_update_iter": 3000}
    models = [LatentDirichletAllocation(4, max_iter=n, **settings).fit(X) for n in range(1, 9)]
    bounds = [model.score(X) for model in models]
    assert min(np.diff(bounds)) > -1e-6 * abs(bounds[0])
    assert models[-1].bound_ == pytest.approx(np.exp(-bounds[-1] / X.sum()))


def test_chances_too_small_for_numbers_are_summed_as_logarithms():
    shares, components = np.array([[1e-3, 50.0]]), np.array([[1.0, 1.0], [1e-3, 50.0]])
    counts = np.array([[2.0, 0.0]])  # a word that only a topic has that the document has not: exp(−1000) either way
    logs = expected_log(shares)[0][:, None] + expected_log(components)
    none = evidence_bound(0 * counts, shares, components, (0.5, 0.5), 1.0, None)
    found = evidence_bound(counts, shares, components, (0.5, 0.5), 1.0, None) - none
    assert found == pytest.approx(2.0 * logsumexp(logs[:, 0]), rel=1e-12)
    assert np.isfinite(found)
    assert found < -1500


def test_exp_digamma_is_exact():
    """Two values with a total of x each: exp(ψ(a) − ψ(x)) against SciPy's."""
    parts = np.geomspace(2e-3, 1e8, 4001)
    pairs = np.stack([parts, parts[::-1]], axis=1)
    expected = np.exp(digamma(pairs) - digamma(pairs.sum(axis=1))[:, None])
    # exponents of 500 have an error of 500 u on either side, the series one of 1e-13
    np.testing.assert_allclose(expected_topics(pairs), expected, rtol=2e-12)


def test_planted_topics_are_found():
    topics = np.kron(np.eye(3), np.full(10, 0.1))
    rng = np.random.default_rng(1)
    docs = np.array([rng.multinomial(100, p) for p in rng.dirichlet(np.full(3, 0.2), size=300) @ topics])
    model = LatentDirichletAllocation(3, random_state=0, max_iter=30).fit(docs)
    found = model.components_ / model.components_.sum(axis=1, keepdims=True)
    overlap = np.minimum(found[:, None], topics[None]).sum(axis=2)
    assert sorted(overlap.argmax(axis=1)) == [0, 1, 2]
    assert overlap.max(axis=1).min() > 0.9


def test_any_number_of_threads_gives_the_same_bits():
    wide = sparse.random_array((3000, 500), density=0.05, rng=np.random.default_rng(0), format="csr")
    wide.data = np.ceil(4 * wide.data)
    answers = []
    for n in (1, 3):
        set_threads(n)
        try:
            model = LatentDirichletAllocation(6, max_iter=2, random_state=0).fit(wide)
            answers.append((model.components_, model.transform(wide), model.bound_))
        finally:
            set_threads(None)
    for one, three in zip(*answers, strict=True):
        np.testing.assert_array_equal(one, three)


def test_single_precision_stays_and_agrees():
    single = LatentDirichletAllocation(4, random_state=0).fit(X.astype(np.float32))
    double = LatentDirichletAllocation(4, random_state=0).fit(X)
    assert single.components_.dtype == single.transform(X.astype(np.float32)).dtype == np.float32
    assert single.score(X) == pytest.approx(double.score(X), rel=1e-3)


def test_empty_documents_have_the_prior():
    model = LatentDirichletAllocation(4, random_state=0).fit(np.r_[X, np.zeros((2, 40))])
    np.testing.assert_array_equal(model.transform(np.zeros((2, 40)), normalize=False), 0.25)
    assert LatentDirichletAllocation(2, random_state=0).fit(np.zeros((3, 4))).bound_ == np.inf


@pytest.mark.parametrize("method", ["fit", "partial_fit", "transform", "score", "perplexity"])
def test_negative_counts_are_refused(method):
    model = LatentDirichletAllocation(2, max_iter=1, random_state=0).fit(X)
    bad = X.copy()
    bad[3, 5] = -1
    with pytest.raises(
        ValueError, match=rf"^Negative values .*Allocation.{method}: row 3, column 5 is -1, .*shift or clip"
    ):
        getattr(model, method)(bad)


@pytest.mark.parametrize(
    ("settings", "sentence"),
    [
        ({"n_components": 0}, "n_components"),
        ({"learning_method": "both"}, "learning_method"),
        ({"doc_topic_prior": 1.5}, "doc_topic_prior"),
        ({"learning_offset": 0.5}, "learning_offset"),
        ({"total_samples": 0}, "total_samples"),
    ],
)
def test_wrong_parameters_are_named(settings, sentence):
    with pytest.raises(ValueError, match=sentence):
        LatentDirichletAllocation(**settings).fit(X)


def test_passes_are_told(caplog):
    with caplog.at_level("INFO", logger="learnt"):
        LatentDirichletAllocation(2, max_iter=2, evaluate_every=1, perp_tol=0, verbose=1, random_state=0).fit(X)
    assert "LatentDirichletAllocation: pass 2 of 2, perplexity" in caplog.text
