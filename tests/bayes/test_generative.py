"""GenerativeClassifier makes of a density what the models of that density are, and draws rows; costs move decisions."""

import numpy as np
import pytest
from sklearn.base import BaseEstimator, is_classifier
from sklearn.utils.validation import has_fit_parameter

from learnt.bayes import CostSensitiveClassifier, GenerativeClassifier
from learnt.density import Gaussian, Histogram
from learnt.discriminant_analysis import LinearDiscriminantAnalysis, QuadraticDiscriminantAnalysis
from learnt.engine.estimator import trial_of
from learnt.naive_bayes import GaussianNB, HistogramNB
from learnt.neighbors import NearestNeighbors
from learnt.persistence import load, save
from learnt.persistence._registry import estimators


def make(n=300, seed=0):
    rng = np.random.default_rng(seed)
    y = np.arange(n) % 3
    X = rng.normal(size=(n, 2)) @ np.array([[1.0, 0.4], [0.0, 0.8]]) * (1 + 0.4 * y[:, None]) + 1.5 * np.eye(3, 2)[y]
    return X, np.array(["a", "b", "c"])[y], rng.integers(1, 4, n).astype(float)


class SharedGaussian(BaseEstimator):
    """A density that knows its covariance and learns its mean."""

    def __init__(self, covariance):
        self.covariance = covariance

    def fit(self, X, y=None):
        self.mean_ = X.mean(axis=0)
        return self

    def score_samples(self, X):
        Z = X - self.mean_
        square = np.einsum("ij,jk,ik->i", Z, np.linalg.inv(self.covariance), Z)
        return -0.5 * (square + np.linalg.slogdet(2 * np.pi * self.covariance)[1])

    def sample(self, n_samples=1, random_state=None):
        return np.random.default_rng(0).multivariate_normal(self.mean_, self.covariance, n_samples)


class ProductOfHistograms(BaseEstimator):
    """A histogram of each feature, independent of the others."""

    def __init__(self, edges=()):
        self.edges = edges

    def fit(self, X, y=None, sample_weight=None):
        columns = zip(X.T, self.edges, strict=True)
        self.parts_ = [Histogram(bins=[e], alpha=1.0).fit(x[:, None], sample_weight=sample_weight) for x, e in columns]
        return self

    def score_samples(self, X):
        return sum(part.score_samples(X[:, [j]]) for j, part in enumerate(self.parts_))

    def sample(self, n_samples=1, random_state=None):
        return np.column_stack([part.sample(n_samples, random_state) for part in self.parts_])


DENSITIES = {
    name.rpartition(".")[2]: cls
    for name, cls in estimators().items()
    if {"fit", "score_samples", "sample"} <= set(dir(cls)) and not is_classifier(cls())
}


def test_the_densities_of_the_package_are_found():
    mixtures = {"GaussianMixture", "BayesianGaussianMixture"}
    assert {"Gaussian", "Histogram", "DensityTree", "DensityForest", "KernelDensity"} | mixtures <= DENSITIES.keys()


@pytest.mark.filterwarnings("ignore:Best performing initialization did not converge")
@pytest.mark.parametrize("name", DENSITIES)
def test_every_density_makes_a_classifier_that_draws_and_is_saved(name, tmp_path):
    X, y, w = make()
    density = DENSITIES[name](**trial_of(DENSITIES[name]).settings())
    weights = {"sample_weight": w} if has_fit_parameter(density, "sample_weight") else {}
    model = GenerativeClassifier(density).fit(X, y, **weights)
    assert (model.predict(X) == y).mean() > 0.5  # a third by chance
    np.testing.assert_allclose(model.predict_proba(X).sum(axis=1), 1.0)
    rows, labels = model.sample(3000, random_state=0)
    assert (rows.shape, labels.shape) == ((3000, 2), (3000,))
    for k, label in enumerate(model.classes_):
        mine = rows[labels == label]
        alone = model.densities_[k].sample(3000, random_state=1)
        alone = alone[0] if isinstance(alone, tuple) else alone
        # Two samples of one density; their means are some 5 standard errors apart at most.
        error = np.sqrt(mine.var(axis=0) / len(mine) + alone.var(axis=0) / len(alone))
        assert (np.abs(mine.mean(axis=0) - alone.mean(axis=0)) < 5 * error).all()
        half = len(mine) // 2  # nor are rows in an order
        assert (np.abs(mine[:half].mean(axis=0) - mine[half:].mean(axis=0)) < 10 * error).all()
    again_rows, again_labels = model.sample(3000, random_state=0)
    np.testing.assert_array_equal(rows, again_rows)
    np.testing.assert_array_equal(labels, again_labels)
    save(model, tmp_path / "model.learnt")
    loaded = load(tmp_path / "model.learnt")
    np.testing.assert_array_equal(loaded.predict_proba(X), model.predict_proba(X))
    np.testing.assert_array_equal(loaded.sample(20, random_state=3)[0], model.sample(20, random_state=3)[0])


@pytest.mark.parametrize("priors", [None, [0.2, 0.3, 0.5]])
def test_is_the_model_of_its_density(priors):
    X, y, w = make()
    full = GenerativeClassifier(Gaussian(), priors=priors).fit(X, y, w)
    expected = QuadraticDiscriminantAnalysis(priors=priors).fit(X, y, w)
    np.testing.assert_allclose(full.predict_proba(X), expected.predict_proba(X), rtol=1e-8)
    np.testing.assert_allclose(full.predict_log_proba(X), expected.predict_log_proba(X), rtol=1e-7, atol=1e-10)
    np.testing.assert_array_equal(full.predict(X), expected.predict(X))
    diagonal = GenerativeClassifier(Gaussian(covariance_type="diag"), priors=priors).fit(X, y, w)
    naive = GaussianNB(priors=priors, var_smoothing=0).fit(X, y, w)
    np.testing.assert_allclose(diagonal.predict_joint_log_proba(X), naive.predict_joint_log_proba(X), rtol=1e-9)


def test_is_linear_with_a_shared_covariance():
    X, y, _ = make()
    linear = LinearDiscriminantAnalysis("gaussian").fit(X, y)
    model = GenerativeClassifier(SharedGaussian(linear.covariance_)).fit(X, y)
    np.testing.assert_allclose(model.predict_proba(X), linear.predict_proba(X), rtol=1e-8)


def test_is_naive_bayes_on_histograms():
    X, y, w = make()
    naive = HistogramNB(bins=6).fit(X, y, w)
    model = GenerativeClassifier(ProductOfHistograms(naive.bin_edges_)).fit(X, y, w)
    np.testing.assert_allclose(model.predict_proba(X), naive.predict_proba(X), rtol=1e-9)


def test_samples_have_the_moments_of_the_classes():
    X, y, _ = make()
    model = GenerativeClassifier(priors=[0.5, 0.3, 0.2]).fit(X, y)
    rows, labels = model.sample(30_000, random_state=0)
    for c, label in enumerate("abc"):
        inside = rows[labels == label]
        share = [0.5, 0.3, 0.2][c]
        assert len(inside) / 30_000 == pytest.approx(share, abs=5 * np.sqrt(share * (1 - share) / 30_000))
        density = model.densities_[c]
        error = 5 * np.sqrt(np.diag(density.covariance_) / len(inside))
        assert (np.abs(inside.mean(axis=0) - density.mean_) < error).all()
        np.testing.assert_allclose(np.cov(inside.T), density.covariance_, atol=0.15 * density.covariance_.max())
    again, _ = model.sample(30_000, random_state=0)
    np.testing.assert_array_equal(again, rows)
    assert (model.score(rows, labels)) > 0.6


def test_score_samples_is_the_mixture_of_the_classes():
    X, y, _ = make()
    model = GenerativeClassifier().fit(X, y)
    by_hand = sum(p * np.exp(d.score_samples(X)) for p, d in zip(model.class_prior_, model.densities_, strict=True))
    np.testing.assert_allclose(np.exp(model.score_samples(X)), by_hand)


def test_where_all_densities_are_0_the_priors_are_left():
    X, y, _ = make()
    model = GenerativeClassifier(Histogram(bins=4), priors=[0.2, 0.5, 0.3]).fit(X, y)
    np.testing.assert_allclose(model.predict_proba([[100.0, 100.0]]), [[0.2, 0.5, 0.3]])
    np.testing.assert_array_equal(model.predict([[100.0, 100.0]]), ["b"])


def test_decisions_have_the_least_expected_loss():
    X, y, _ = make()
    inner = GaussianNB().fit(X, y)
    assert (CostSensitiveClassifier(GaussianNB()).fit(X, y).predict(X) == inner.predict(X)).all()
    losses = np.array([[0, 1, 5], [2, 0, 1], [20, 10, 0]])
    model = CostSensitiveClassifier(GaussianNB(), losses).fit(X, y)
    by_hand = np.array([[(p * losses[:, j]).sum() for j in range(3)] for p in inner.predict_proba(X)])
    np.testing.assert_allclose(model.expected_loss(X), by_hand)
    np.testing.assert_array_equal(model.predict(X), model.classes_[by_hand.argmin(axis=1)])
    paid = losses[np.searchsorted(model.classes_, y), np.searchsorted(model.classes_, model.predict(X))].mean()
    assert paid < losses[np.searchsorted(model.classes_, y), np.searchsorted(model.classes_, inner.predict(X))].mean()


@pytest.mark.parametrize(
    ("call", "message"),
    [
        (lambda X, y: GenerativeClassifier(NearestNeighbors()).fit(X, y), "with fit, score_samples and sample"),
        (lambda X, y: GenerativeClassifier(Gaussian).fit(X, y), "with fit, score_samples and sample"),
        (lambda X, y: GenerativeClassifier(priors=[1.0]).fit(X, y), "Number of priors must match"),
        (lambda X, y: GenerativeClassifier(SharedGaussian(np.eye(2))).fit(X, y, np.ones(300) * 2), "no sample_weight"),
        (lambda X, y: GenerativeClassifier().fit(X, y).sample(0), "n_samples must be"),
        (lambda X, y: CostSensitiveClassifier(GaussianNB(), np.eye(2)).fit(X, y), r"shape \(2, 2\) and there are 3"),
        (lambda X, y: CostSensitiveClassifier(GaussianNB(), np.full((3, 3), np.nan)).fit(X, y), "finite"),
        (lambda X, y: CostSensitiveClassifier(NearestNeighbors()).fit(X, y), "has no predict_proba"),
        (lambda X, y: CostSensitiveClassifier("bayes").fit(X, y), "estimator must be a classifier"),
    ],
)
def test_refusals_are_one_sentence(call, message):
    X, y, _ = make()
    with pytest.raises(ValueError, match=message) as caught:
        call(X, y)
    assert "\n" not in str(caught.value)


def test_one_point_of_a_class_is_reported():
    X = make()[0]
    with pytest.warns(UserWarning, match="covariance is singular"):
        GenerativeClassifier().fit(X[:5], ["a", "a", "a", "a", "b"])
