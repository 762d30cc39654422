"""Estimators and functions that stand for scikit-learn's, in the hands of a script."""

import inspect
import logging
import pickle

import numpy as np
import pytest
import sklearn.cluster
import sklearn.decomposition
import sklearn.ensemble
import sklearn.linear_model
import sklearn.svm
from sklearn.base import clone, is_regressor
from sklearn.dummy import DummyClassifier
from sklearn.exceptions import NotFittedError
from sklearn.model_selection import GridSearchCV
from sklearn.pipeline import make_pipeline
from sklearn.utils.validation import has_fit_parameter

import learnt.linear_model
import learnt.svm
from learnt.accel import install, report, uninstall

OriginalRidge = sklearn.linear_model.Ridge
OriginalAdaBoost = sklearn.ensemble.AdaBoostClassifier
rng = np.random.default_rng(0)
X = rng.normal(size=(80, 4))
y = X @ [1.0, 2.0, 0.0, -1.0] + 0.1 * rng.normal(size=80)


@pytest.fixture(autouse=True)
def _installed():
    install()
    yield
    uninstall()


def test_a_standing_class_is_learnts_under_scikit_learns_name():
    Ridge = sklearn.linear_model.Ridge
    model = Ridge(2.0).fit(X, y)
    np.testing.assert_allclose(model.coef_, OriginalRidge(2.0).fit(X, y).coef_, rtol=1e-10)
    assert isinstance(model, learnt.linear_model.Ridge)
    assert repr(model) == "Ridge(alpha=2.0)"
    assert is_regressor(model)
    assert has_fit_parameter(model, "sample_weight")
    assert isinstance(OriginalRidge(), Ridge)
    assert isinstance(learnt.linear_model.Ridge(), Ridge)
    assert issubclass(OriginalRidge, Ridge)
    assert not isinstance(sklearn.linear_model.Lasso(), Ridge)
    again = pickle.loads(pickle.dumps(model))
    assert type(again) is Ridge
    np.testing.assert_array_equal(again.predict(X), model.predict(X))
    assert pickle.loads(pickle.dumps(Ridge)) is Ridge
    assert pickle.loads(pickle.dumps(sklearn.cluster.k_means)) is sklearn.cluster.k_means
    copy = clone(model.set_params(alpha=3.0))
    assert (type(copy), copy.alpha) == (Ridge, 3.0)
    with pytest.raises(NotFittedError):
        copy.predict(X)


def test_in_a_search_over_a_pipeline_with_frames_and_requests():
    pipe = make_pipeline(sklearn.preprocessing.StandardScaler().set_output(transform="pandas"), sklearn.svm.SVR())
    search = GridSearchCV(pipe, {"svr__C": [0.1, 10.0]}, cv=3).fit(X, y)
    assert search.best_params_ == {"svr__C": 10.0}
    assert type(search.best_estimator_[0]) is sklearn.preprocessing.StandardScaler
    assert list(search.best_estimator_[:1].transform(X).columns) == ["x0", "x1", "x2", "x3"]


def test_methods_that_depend_on_parameters():
    assert not hasattr(sklearn.svm.SVC(probability=False), "predict_proba")
    assert hasattr(sklearn.svm.SVC(probability=True), "predict_proba")


def test_what_ours_cannot_fit_scikit_learns_fits(caplog):
    """Rows that are matrices: AdaBoost of scikit-learn hands them to its members, learnt's wants a table."""
    cubes, labels = rng.normal(size=(30, 3, 3)), np.repeat([0, 1], [20, 10])
    with caplog.at_level(logging.INFO, logger="learnt.accel"):
        model = sklearn.ensemble.AdaBoostClassifier(DummyClassifier(), n_estimators=2, random_state=0)
        assert model.fit(cubes, labels) is model
    assert type(model) is OriginalAdaBoost
    assert isinstance(model, sklearn.ensemble.AdaBoostClassifier)
    plain = OriginalAdaBoost(DummyClassifier(), n_estimators=2, random_state=0).fit(cubes, labels)
    np.testing.assert_array_equal(model.predict(cubes), plain.predict(cubes))
    assert model.get_params() == plain.get_params() | {"estimator": model.estimator}
    assert [record.name for record in caplog.records] == ["learnt.accel"]
    assert "AdaBoostClassifier is scikit-learn's: " in caplog.text
    assert "AdaBoostClassifier was scikit-learn's 1×: " in report()
    np.testing.assert_array_equal(pickle.loads(pickle.dumps(model)).predict(cubes), plain.predict(cubes))


def test_what_both_refuse_is_refused_with_scikit_learns_message_and_stays_ours():
    model = sklearn.linear_model.Ridge(alpha=-1)
    with pytest.raises(ValueError, match="must be a float in the range"):
        model.fit(X, y)
    assert type(model) is sklearn.linear_model.Ridge
    assert "coef_" in vars(model.set_params(alpha=1).fit(X, y))


def test_a_fit_that_is_done_again_draws_the_same_numbers():
    """What learnt's has drawn before it failed is drawn again by scikit-learn's."""
    Original = vars(sklearn.cluster)["KMeans"]

    def fails(self, X, *args, **options):
        state = self.random_state or np.random.mtrand._rand
        state.uniform(size=100)
        raise NotImplementedError

    from learnt.accel._classes import _fit
    from learnt.accel._pairs import pair_of

    pair = pair_of("cluster", "KMeans")
    for given in (lambda: np.random.RandomState(3), lambda: None):
        centers = []
        for cls in (sklearn.cluster.KMeans, Original):
            np.random.seed(5)
            model = cls(3, init="random", n_init=1, random_state=given())
            if cls is Original:
                model.fit(X)
            else:
                method = fails.__get__(model)
                method.__func__.__name__ = "fit"
                _fit(pair, model, method, (X,), {})
            centers.append(model.cluster_centers_)
        np.testing.assert_array_equal(*centers)


def test_a_derived_class_derives_from_scikit_learns():
    class Mine(sklearn.linear_model.Ridge):
        def __init__(self, alpha=2.0):
            sklearn.linear_model.Ridge.__init__(self, alpha=alpha)

        def fit(self, X, y):
            super().fit(X, y)
            return sklearn.linear_model.Ridge.fit(self, X, y)

    model = clone(Mine(0.5)).fit(X, y)
    assert Mine.__mro__[1] is OriginalRidge
    assert isinstance(model, sklearn.linear_model.Ridge)
    np.testing.assert_array_equal(model.predict(X), OriginalRidge(0.5).fit(X, y).predict(X))


def test_scikit_learns_code_that_asks_for_least_squares_takes_ours():
    ransac = sklearn.linear_model.RANSACRegressor(sklearn.linear_model.LinearRegression(), random_state=0)
    assert isinstance(ransac.fit(X, y).estimator_, learnt.linear_model.LinearRegression)
    plain = sklearn.linear_model.RANSACRegressor(random_state=0).fit(X, y)
    np.testing.assert_allclose(ransac.estimator_.coef_, plain.estimator_.coef_, rtol=1e-8)


def test_tables_of_scikit_learns_classes():
    SGDClassifier = sklearn.linear_model.SGDClassifier
    assert "hinge" in SGDClassifier.loss_functions
    assert "alpha" in SGDClassifier._parameter_constraints
    for name in ("nonsense", "_validate_params_nonsense", "__nonsense__", "_get_loss_function"):
        assert not hasattr(SGDClassifier, name)
    assert not hasattr(SGDClassifier(), "loss_functions")  # of classes alone


def test_functions():
    centers, labels, _ = sklearn.cluster.k_means(X, 3, random_state=0)
    assert (centers.shape, labels.shape) == ((3, 4), (80,))
    assert sklearn.cluster.k_means.__module__ == "learnt.accel.replaced"
    with pytest.raises(ValueError, match="n_samples=80 should be >= n_clusters=81"):  # scikit-learn's words
        sklearn.cluster.k_means(X, 81)


def test_a_stream_that_ours_has_begun_is_not_handed_over():
    from sklearn.naive_bayes import GaussianNB

    labels = np.repeat([0, 1], 40)
    model = GaussianNB().partial_fit(X, labels, classes=[0, 1])
    with pytest.raises(ValueError):
        model.partial_fit(X[:, :2], labels)
    assert type(model) is GaussianNB
    assert model.class_count_.sum() == 80


def test_a_class_from_a_private_module_takes_what_stands_for_it():
    from sklearn.cluster._kmeans import KMeans
    from sklearn.decomposition._base import _BasePCA
    from sklearn.linear_model._base import LinearModel
    from sklearn.svm._classes import SVC, SVR

    assert isinstance(sklearn.svm.SVC(), SVC)
    assert issubclass(sklearn.svm.SVC, SVC)
    assert not isinstance(sklearn.svm.SVC(), SVR)
    assert isinstance(sklearn.cluster.KMeans(), KMeans)
    assert isinstance(sklearn.decomposition.PCA(), _BasePCA)
    assert isinstance(sklearn.linear_model.Ridge(), LinearModel)


def test_the_source_is_that_of_learnts_class():
    assert inspect.getsource(sklearn.svm.SVC).startswith("class SVC(")
    assert inspect.getsource(sklearn.cluster.k_means).startswith("@documented\ndef k_means(")
    assert inspect.signature(sklearn.svm.SVC) == inspect.signature(learnt.svm.SVC)
    assert not hasattr(sklearn.svm.SVC(), "__wrapped__")
