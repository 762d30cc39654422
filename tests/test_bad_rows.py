"""Rows that leave too little to learn from: estimators of probabilities, densities, clusters and components say so.

One row, equal rows, fewer rows than clusters or components, singular covariances, a class of one row, negative counts,
categories and values not seen before, features without variance, empty bins: a sentence that says what to do, or finite
numbers.
"""

import importlib.util
import re
import traceback
import warnings
from functools import partial
from pathlib import Path

import numpy as np
import pytest
from sklearn.exceptions import ConvergenceWarning

from learnt.bayes import BetaBernoulli, DirichletMultinomial, GaussianEstimate, GenerativeClassifier
from learnt.cluster import (
    HDBSCAN,
    AgglomerativeClustering,
    BisectingKMeans,
    KMeans,
    MiniBatchKMeans,
    choose_k,
    k_means,
    kmeans_plusplus,
)
from learnt.decomposition import NMF, PCA, FactorAnalysis, FastICA, IncrementalPCA, KernelPCA, TruncatedSVD
from learnt.density import DensityForest, DensityTree, Gaussian, Histogram
from learnt.discriminant_analysis import LinearDiscriminantAnalysis, QuadraticDiscriminantAnalysis
from learnt.mixture import BayesianGaussianMixture, GaussianMixture
from learnt.naive_bayes import BernoulliNB, CategoricalNB, ComplementNB, GaussianNB, HistogramNB, MixedNB, MultinomialNB

RNG = np.random.default_rng(0)
ROWS = RNG.normal(size=(30, 2))
ONE, FEW, SAME = ROWS[:1], ROWS[:3], np.full((20, 2), 3.0)
FLAT = np.c_[ROWS[:, 0], np.full(30, 5.0)]
DEPENDENT = np.c_[ROWS, ROWS.sum(axis=1)]
COUNTS = RNG.poisson(2.0, size=(30, 2)).astype(float)
LABELS = np.arange(30) % 2
ALONE = np.where(np.arange(30) == 7, "rare", "often")
TABLES = {"one": ONE, "same": SAME, "few": FEW, "flat": FLAT, "dependent": DEPENDENT}

COUNTERS = [MultinomialNB, ComplementNB, BernoulliNB, CategoricalNB]
NAIVE = [*COUNTERS, GaussianNB, HistogramNB, MixedNB]
CONSTANT = "Feature [01] is constant, so it has (one bin|a width) of (width )?1 around its value; drop it"


def told(act, category, sentence):
    """What `act` gives, after one warning or more, all of this kind."""
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always")
        answer = act()
    assert caught
    for warning in caught:
        assert issubclass(warning.category, category)
        assert re.search(sentence, str(warning.message)), str(warning.message)
    return answer


# Densities ----------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("name", ["one", "same", "flat"])
@pytest.mark.parametrize(
    ("make", "sentence"),
    [
        (Gaussian, "covariance is singular .*, so .* was added to the variances; drop such features"),
        (Histogram, CONSTANT),
        (DensityTree, CONSTANT),
        (DensityForest, CONSTANT),
    ],
)
def test_densities_of_rows_without_volume(make, sentence, name):
    model = told(lambda: make().fit(TABLES[name]), UserWarning, sentence)
    assert np.isfinite(model.score_samples(TABLES[name])).all()
    assert np.isfinite(model.sample(5)).all()


def test_densities_of_dependent_features_and_of_empty_bins():
    model = told(lambda: Gaussian().fit(DEPENDENT), UserWarning, "covariance is singular")
    assert np.isfinite(model.score_samples(DEPENDENT)).all()
    apart = np.r_[np.zeros(10), np.full(10, 9.0)][:, None] + 0.01 * RNG.normal(size=(20, 1))
    histogram = Histogram(bins=10).fit(apart)
    assert histogram.score_samples([[4.5]]) == -np.inf  # within the range, in a bin that no row is in
    assert np.isin(histogram.sample(200, random_state=0) > 4.5, [True, False]).all()
    assert np.abs(histogram.sample(200, random_state=0) - 4.5).min() > 3.0
    assert Histogram(bins=10).fit(apart).predict([[4.5]]) == -1


# Mixtures -----------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("make", [GaussianMixture, BayesianGaussianMixture])
@pytest.mark.parametrize("kind", ["full", "tied", "diag", "spherical"])
def test_mixtures(make, kind):
    for rows, k in ((ONE, 1), (FEW, 5)):
        with pytest.raises(ValueError, match=r"minimum of 2 is required|ask for fewer components or give more rows\.$"):
            make(n_components=k, covariance_type=kind).fit(rows)
    sentence = (
        rf"^Singular covariances, {1 if kind == 'tied' else 2} of .* reg_covar=1e-06 was added to the variances; drop"
    )
    model = told(lambda: make(n_components=2, covariance_type=kind, random_state=0).fit(SAME), UserWarning, sentence)
    assert np.isfinite(model.score_samples(SAME)).all()
    assert np.isfinite(model.sample(4)[0]).all()
    with pytest.raises(ValueError, match="increase reg_covar, or scale the input data"):
        make(n_components=2, covariance_type=kind, reg_covar=0, random_state=0).fit(SAME)


@pytest.mark.parametrize("kind", ["full", "tied", "diag", "spherical"])
@pytest.mark.parametrize("start", ["kmeans", "k-means++", "random_from_data", "random"])
def test_a_start_from_components_of_one_row_needs_no_regularisation(kind, start):
    """The farthest rows are components by themselves, without a variance: a start may not fail for that."""
    for X in (np.random.default_rng(0).normal(size=(100, 3)), np.random.default_rng(1).normal(size=(50, 1))):
        with warnings.catch_warnings():
            warnings.simplefilter("ignore", ConvergenceWarning)  # after one iteration
            model = GaussianMixture(7, covariance_type=kind, init_params=start, reg_covar=0, max_iter=1, random_state=0)
            model.fit(X)
        assert model.score(X) > GaussianMixture(1, reg_covar=0).fit(X).score(X) - 0.5


# Clusters -----------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("make", [KMeans, MiniBatchKMeans, BisectingKMeans])
def test_k_means(make):
    assert make(1).fit(ONE).labels_.tolist() == [0]
    for rows, k in ((ONE, 2), (FEW, 5)):
        with pytest.raises(ValueError, match=f"n_samples={len(rows)} should be >= n_clusters={k}; ask for fewer"):
            make(k).fit(rows)
    model = told(lambda: make(3).fit(SAME), UserWarning, r"distinct clusters \(1\) found .* ask for fewer clusters")
    assert model.inertia_ == 0
    assert set(model.labels_) == {0}


def test_errors_of_cluster_functions_name_them():
    with pytest.raises(ValueError, match="minimum of 2 is required by choose_k"):
        choose_k(ONE)
    with pytest.raises(ValueError, match="3 rows, too few for 10 clusters; leave the largest candidates out"):
        choose_k(FEW)
    with pytest.raises(ValueError, match="all equal have no silhouettes; give other rows, or use method='gap'"):
        choose_k(SAME, range(1, 4), method="silhouette")
    assert choose_k(SAME, range(1, 4), method="elbow").k == choose_k(SAME, range(1, 4), n_references=2).k == 1
    with pytest.raises(ValueError, match=r"X of kmeans_plusplus|kmeans_plusplus"):
        kmeans_plusplus(np.array([[np.nan, 1.0]]), 1)
    for function in (k_means, kmeans_plusplus):
        with pytest.raises(ValueError, match="n_samples=3 should be >= n_clusters=5; ask for fewer clusters"):
            function(FEW, 5)


@pytest.mark.parametrize("linkage", ["ward", "average", "complete", "single"])
def test_merged_clusters(linkage):
    with pytest.raises(ValueError, match="minimum of 2 is required by AgglomerativeClustering"):
        AgglomerativeClustering(1, linkage=linkage).fit(ONE)
    with pytest.raises(ValueError, match="5 clusters were given for a tree with 3 leaves; ask for fewer clusters"):
        AgglomerativeClustering(5, linkage=linkage).fit(FEW)
    model = AgglomerativeClustering(3, linkage=linkage, compute_distances=True).fit(SAME)
    assert (model.distances_ == 0).all()
    assert set(model.labels_) == {0, 1, 2}


def test_hdbscan_of_few_rows():
    with pytest.raises(ValueError, match=r"\(5\) must be at most the number of samples in X \(3\); give more rows"):
        HDBSCAN().fit(FEW)


# Components ---------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("make", [PCA, IncrementalPCA, TruncatedSVD, FactorAnalysis, FastICA, NMF, KernelPCA])
@pytest.mark.parametrize("name", ["few", "flat", "dependent"])
def test_components_are_finite(make, name):
    X = np.abs(TABLES[name])
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # fewer sources than features are told: the next test
        assert np.isfinite(make(2).fit_transform(X)).all()


@pytest.mark.parametrize(
    ("make", "rows", "k", "sentence"),
    [
        (PCA, ONE, 1, "minimum of 2 is required by PCA"),
        (PCA, FEW, 5, r"between 0 and min\(n_samples, n_features\)=2 .*; ask for fewer components"),
        (IncrementalPCA, ONE, 1, "minimum of 2 is required by IncrementalPCA"),
        (IncrementalPCA, FEW, 5, "n_components=5 .* ask for fewer components"),
        (TruncatedSVD, FEW, 5, r"n_components\(5\) must be <= n_features\(2\); ask for fewer components"),
        (FastICA, SAME, 1, "All rows of X are equal, and FastICA finds sources in their differences; give other rows"),
        (NMF, -np.abs(ROWS), 1, "row 0, column 0 is -.*; shift or clip them"),
    ],
)
def test_components_that_are_not_there(make, rows, k, sentence):
    with pytest.raises(ValueError, match=sentence):
        make(k).fit(rows)


def test_fewer_sources_than_features_are_reported():
    model = told(lambda: FastICA(2, random_state=0).fit(FLAT), UserWarning, "X varies in 1 directions")
    assert model.transform(FLAT).shape == (30, 1)


@pytest.mark.parametrize("make", [PCA, IncrementalPCA])
def test_whitening_leaves_out_what_does_not_vary(make):
    Z = make(2, whiten=True).fit_transform(FLAT)
    np.testing.assert_allclose(Z[:, 0].std(ddof=1), 1.0, rtol=1e-12)
    assert np.abs(Z[:, 1]).max() < 1e-6  # and no division of rounding errors by themselves


# Classes ------------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("make", NAIVE)
def test_naive_bayes_of_few_and_equal_rows(make):
    X = COUNTS if make is not CategoricalNB else COUNTS.astype(int)
    assert (make().fit(X[:1], [4]).predict_proba(X[:1]) == 1).all()
    same = np.full((20, 2), 3)
    np.testing.assert_allclose(make().fit(same, LABELS[:20]).predict_proba(same), 0.5, atol=1e-12)
    P = make().fit(X, ALONE).predict_proba(X)
    assert np.isfinite(P).all()
    np.testing.assert_allclose(P.sum(axis=1), 1.0, atol=1e-12)
    flat = np.c_[X[:, 0], np.full(30, 2)].astype(X.dtype)
    P = make().fit(flat, LABELS).predict_proba(flat)
    if make not in (MultinomialNB, ComplementNB):  # a feature that never varies says nothing about the class
        np.testing.assert_allclose(P, make().fit(flat[:, :1], LABELS).predict_proba(flat[:, :1]), atol=1e-9)


@pytest.mark.parametrize("make", [MultinomialNB, ComplementNB, CategoricalNB])
def test_negative_counts(make):
    X = COUNTS.copy()
    X[3, 1] = -2
    for fit in (make().fit, partial(make().partial_fit, classes=[0, 1])):
        with pytest.raises(ValueError, match=rf"^Negative values in data passed to {make.__name__} .* is -2, and .*; "):
            fit(X, LABELS)


def test_values_that_were_not_there():
    X = COUNTS.astype(int)
    with pytest.raises(ValueError, match=r"category 50, which was not there in fit \(0 to \d\); give `min_categories`"):
        CategoricalNB().fit(X, LABELS).predict([[50, 0]])
    assert np.isfinite(CategoricalNB(min_categories=51).fit(X, LABELS).predict_proba([[50, 0]])).all()
    for model in (HistogramNB(), HistogramNB(alpha=0), MixedNB()):  # outside all bins, and in empty ones
        P = model.fit(ROWS, LABELS).predict_proba([[1e6, 0.0], [0.0, -1e6], [0.0, 0.0]])
        np.testing.assert_allclose(P.sum(axis=1), 1.0)


DISCRIMINANTS = [
    LinearDiscriminantAnalysis(),
    LinearDiscriminantAnalysis(solver="lsqr"),
    LinearDiscriminantAnalysis(solver="eigen"),
    QuadraticDiscriminantAnalysis(),
]


@pytest.mark.parametrize("model", DISCRIMINANTS, ids=str)
def test_discriminants(model):
    with pytest.raises(ValueError, match=r"Got 1 class: .* tells classes apart; give rows of two or more"):
        model.fit(ROWS, np.zeros(30))
    if isinstance(model, QuadraticDiscriminantAnalysis):
        with pytest.raises(ValueError, match=r"only 1 sample in class rare, .* Give it more rows, drop the class, or"):
            model.fit(ROWS, ALONE)
    else:
        assert np.isfinite(model.fit(ROWS, ALONE).predict_proba(ROWS)).all()
        with pytest.raises(ValueError, match="leaves no variance within them; give more rows"):
            model.fit(ROWS[:2], [0, 1])
    regularised = isinstance(model, QuadraticDiscriminantAnalysis) or model.solver == "eigen"
    for rows in (SAME, FLAT, DEPENDENT):
        fit = partial(model.fit, rows, LABELS[: len(rows)])
        if regularised:
            told(fit, RuntimeWarning, "not full rank .* was added to its diagonal; drop such features, or shrink")
        else:  # these solvers leave directions without variance out
            fit()
        assert np.isfinite(model.predict_proba(rows)).all()


def test_a_density_for_each_class_names_the_class_that_is_too_small():
    with pytest.raises(ValueError, match=r"density of class 'rare', which has 1 of the rows, .*; give the class more"):
        GenerativeClassifier(GaussianMixture(2)).fit(ROWS, ALONE)
    model = told(lambda: GenerativeClassifier(Gaussian()).fit(ROWS, ALONE), UserWarning, "covariance is singular")
    assert np.isfinite(model.predict_proba(ROWS)).all()


def test_conjugate_estimates():
    with pytest.raises(ValueError, match=r"outcomes that are 0 \(tails\) or 1 \(heads\)"):
        BetaBernoulli().fit([1, 0, -1])
    with pytest.raises(ValueError, match="counts must be 3 numbers of at least 0"):
        DirichletMultinomial([1, 1, 1]).observe([1, -2, 0])
    one = BetaBernoulli().fit([1])
    assert one.mle == 1.0
    assert 0 < one.credible_interval()[0] < one.credible_interval()[1] <= 1
    assert GaussianEstimate(weight=1.0, df=2.0).fit([4.0, 4.0, 4.0]).predictive().std() > 0


# Units --------------------------------------------------------------------------------------------------------------

spec = importlib.util.spec_from_file_location("checks", Path(__file__).parent / "test_estimators.py")
checks = importlib.util.module_from_spec(spec)
spec.loader.exec_module(checks)

FROM_OTHERS = {
    "StackingClassifier": "its member GaussianNB has NaN for probabilities where variances vanish, as scikit-learn's",
    "IterativelyReweightedLeastSquares": "squares of residuals vanish",
}


def extremes(name):
    """Tables and targets in units whose squares vanish or are large, and one row far out among tiny ones."""
    X, y = checks.problem(name, n=30, d=3)
    yield X * 1e-160, y
    yield X * 1e150, y
    far = X * 1e-8
    far[-1] = 1e8
    yield far, y
    if np.asarray(y).dtype.kind == "f":
        yield X, y * 1e-30
        yield X, y * 1e-300
        yield far, y * 1e-30


@pytest.mark.sweep(40)
@pytest.mark.parametrize("name", [name for name in checks.ESTIMATORS if name not in FROM_OTHERS])
def test_extreme_units_lead_to_a_model_or_to_a_sentence_of_ours(name):
    """Never to a division by zero, an error of a library below, or the end of the process."""
    for X, y in extremes(name):
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            try:
                checks.make(name).fit(X, y)
            except ValueError as error:
                last = traceback.extract_tb(error.__traceback__)[-1].filename
                assert "learnt" in Path(last).parts, error
