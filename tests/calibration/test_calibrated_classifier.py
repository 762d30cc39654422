"""CalibratedClassifierCV against scikit-learn's, and against what calibration means."""

import numpy as np
import pytest
from sklearn.calibration import CalibratedClassifierCV as Oracle
from sklearn.frozen import FrozenEstimator
from sklearn.isotonic import IsotonicRegression
from sklearn.linear_model import Perceptron as WithoutProbabilities
from sklearn.model_selection import LeaveOneOut, StratifiedShuffleSplit

import learnt
from learnt.calibration import CalibratedClassifierCV, calibration_curve
from learnt.calibration._maps import fit_isotonic, fit_one, fit_temperature
from learnt.discriminant_analysis import LinearDiscriminantAnalysis
from learnt.metrics import brier_score_loss, log_loss
from learnt.naive_bayes import GaussianNB
from learnt.svm import SVC, LinearSVC


def make(n=300, k=3, seed=0):
    rng = np.random.default_rng(seed)
    y = rng.integers(0, k, n)
    centers = np.array([[0.0, 0.0], [1.5, 0.0], [0.0, 1.5], [2.0, 2.0]])
    return rng.normal(centers[y], 1.0), np.array(["a", "b", "c", "d"])[y], rng.uniform(0.2, 3.0, n)


@pytest.mark.parametrize("method", ["sigmoid", "isotonic", "temperature"])
@pytest.mark.parametrize("k", [2, 3])
@pytest.mark.parametrize("ensemble", [True, False])
@pytest.mark.parametrize("estimator", [GaussianNB(), LinearDiscriminantAnalysis()], ids=["probabilities", "scores"])
def test_probabilities_are_those_of_scikit_learn(method, k, ensemble, estimator):
    X, y, w = make(k=k)
    weights = w if isinstance(estimator, GaussianNB) else None
    ours = CalibratedClassifierCV(estimator, method=method, ensemble=ensemble, cv=4).fit(X, y, sample_weight=weights)
    theirs = Oracle(estimator, method=method, ensemble=ensemble, cv=4).fit(X, y, sample_weight=weights)
    # Both minimise the same smooth loss of one or two numbers: scikit-learn's search ends at a gradient of about 1e-5
    # for each row, which moves a probability by as much; isotonic maps are exact.
    tolerance = 1e-10 if method == "isotonic" else 2e-4
    np.testing.assert_allclose(ours.predict_proba(X), theirs.predict_proba(X), rtol=0, atol=tolerance)
    assert len(ours.calibrated_classifiers_) == len(theirs.calibrated_classifiers_) == (4 if ensemble else 1)


def test_the_sigmoid_is_where_the_gradient_is_zero():
    rng = np.random.default_rng(0)
    f = rng.normal(size=200)
    positive, w = rng.random(200) < 1 / (1 + np.exp(-3 * f + 1)), rng.uniform(0, 2, 200)
    (A,), (B,) = fit_one("sigmoid", f, positive, w)
    ones, zeros = w[positive].sum(), w[~positive].sum()
    target = np.where(positive, (ones + 1) / (ones + 2), 1 / (zeros + 2))
    gap = w * (target - 1 / (1 + np.exp(A * f + B)))
    assert abs(gap.sum()) < 1e-7 * w.sum()
    assert abs(gap @ f) < 1e-7 * w.sum()
    assert A < 0


def test_isotonic_corners_are_the_function_of_scikit_learn():
    rng = np.random.default_rng(0)
    x, w = rng.integers(0, 40, 300) / 10, rng.uniform(0.1, 2, 300)
    y = (rng.random(300) < x / 4).astype(float)
    corners = fit_isotonic(x, y, w)
    grid = np.linspace(-1, 5, 301)
    theirs = IsotonicRegression(out_of_bounds="clip").fit(x, y, sample_weight=w).predict(grid)
    np.testing.assert_allclose(np.interp(grid, *corners), theirs, rtol=0, atol=1e-12)
    assert corners.shape[1] < len(np.unique(x))


def test_the_temperature_has_the_lowest_log_loss():
    rng = np.random.default_rng(0)
    scores = rng.normal(size=(400, 3))
    codes = np.array([rng.choice(3, p=np.exp(2.5 * s) / np.exp(2.5 * s).sum()) for s in scores])
    best = fit_temperature(scores, codes, np.ones(400))[0, 0]

    def loss(factor):
        z = factor * scores
        return np.mean(np.log(np.exp(z).sum(axis=1)) - z[np.arange(400), codes])

    assert loss(best) < min(loss(best * 1.001), loss(best / 1.001))
    assert 1.5 < best < 4


@pytest.mark.parametrize("method", ["sigmoid", "isotonic", "temperature"])
def test_a_classifier_that_is_too_sure_becomes_honest(method):
    rng = np.random.default_rng(1)
    y = rng.integers(0, 2, 6000)
    X = np.repeat(rng.normal(y)[:, None], 8, axis=1)  # one column eight times: naive Bayes counts it eight times
    train, test = slice(0, 4000), slice(4000, None)
    sure = GaussianNB().fit(X[train], y[train]).predict_proba(X[test])[:, 1]
    honest = CalibratedClassifierCV(GaussianNB(), method=method).fit(X[train], y[train]).predict_proba(X[test])[:, 1]
    assert brier_score_loss(y[test], honest) < brier_score_loss(y[test], sure)
    assert log_loss(y[test], honest) < log_loss(y[test], sure) / 1.5
    if method != "sigmoid":  # which suits scores, not probabilities near 0 and 1
        seen, said = calibration_curve(y[test], honest, n_bins=5, strategy="quantile")
        assert np.abs(seen - said).max() < 0.1  # 400 rows a bin: four standard deviations of a share
    seen, said = calibration_curve(y[test], sure, n_bins=5, strategy="quantile")
    assert np.abs(seen - said).max() > 0.1


def test_temperature_keeps_the_likeliest_class():
    X, y, _ = make()
    model = LinearDiscriminantAnalysis().fit(X, y)
    calibrated = CalibratedClassifierCV(FrozenEstimator(model), method="temperature").fit(X, y)
    np.testing.assert_array_equal(calibrated.predict(X), model.predict(X))
    assert calibrated.estimators_[0].estimator is model  # used as it is


def test_a_fold_without_a_class_gives_it_no_probability_of_its_own():
    X, y, _ = make(n=120)
    folds = [(np.flatnonzero(y != "c"), np.arange(0, 120, 2)), (np.arange(0, 120, 2), np.arange(1, 120, 2))]
    for method in ("sigmoid", "isotonic", "temperature"):
        model = CalibratedClassifierCV(LinearDiscriminantAnalysis(), method=method, cv=folds).fit(X, y)
        first, second = (part.predict_proba(X) for part in model.calibrated_classifiers_)
        assert (first[:, 2] == 0).all()
        assert (second[:, 2] > 0).any()
        np.testing.assert_allclose(model.predict_proba(X), (first + second) / 2)
        np.testing.assert_allclose(model.predict_proba(X).sum(axis=1), 1)


def test_rows_of_weight_zero_are_not_there():
    X, y, w = make(n=200)
    w[::5] = 0.0
    kept = w > 0
    model = CalibratedClassifierCV(GaussianNB(), cv=3).fit(X, y, sample_weight=w)
    alone = CalibratedClassifierCV(GaussianNB(), cv=3).fit(X[kept], y[kept], sample_weight=w[kept])
    np.testing.assert_array_equal(model.predict_proba(X), alone.predict_proba(X))


def test_weights_that_the_classifier_does_not_take_are_for_the_map():
    X, y, w = make()
    model = LinearDiscriminantAnalysis().fit(X, y)

    class NoWeights(LinearDiscriminantAnalysis):
        def fit(self, X, y):
            return super().fit(X, y)

    with pytest.warns(UserWarning, match="NoWeights takes no sample_weight"):
        weighted = CalibratedClassifierCV(NoWeights(), ensemble=False).fit(X, y, sample_weight=w)
    np.testing.assert_array_equal(weighted.estimators_[0].coef_, model.coef_)
    plain = CalibratedClassifierCV(NoWeights(), ensemble=False).fit(X, y)
    assert not np.array_equal(weighted.maps_[0][0], plain.maps_[0][0])


def test_by_default_it_calibrates_a_linear_machine():
    X, y, _ = make(k=2)
    model = CalibratedClassifierCV(n_jobs=2).fit(X, y)
    assert all(isinstance(member, LinearSVC) for member in model.estimators_)
    again = CalibratedClassifierCV().fit(X, y)
    np.testing.assert_array_equal(model.predict_proba(X), again.predict_proba(X))


def test_splitters_that_draw_are_taken():
    X, y, _ = make()
    cv = StratifiedShuffleSplit(3, random_state=0)
    np.testing.assert_allclose(
        CalibratedClassifierCV(GaussianNB(), cv=cv).fit(X, y).predict_proba(X),
        Oracle(GaussianNB(), cv=cv).fit(X, y).predict_proba(X),
        atol=2e-4,
    )


@pytest.mark.parametrize("method", ["sigmoid", "isotonic", "temperature"])
def test_it_is_saved_as_data(method, tmp_path):
    X, y, _ = make()
    model = CalibratedClassifierCV(GaussianNB(), method=method).fit(X, y)
    learnt.save(model, tmp_path / "m.learnt")
    np.testing.assert_array_equal(learnt.load(tmp_path / "m.learnt").predict_proba(X), model.predict_proba(X))


BAD = {
    "method": (lambda X, y: CalibratedClassifierCV(GaussianNB(), method="platt").fit(X, y), "'method' parameter"),
    "ensemble": (lambda X, y: CalibratedClassifierCV(GaussianNB(), ensemble="no").fit(X, y), "'ensemble' parameter"),
    "one class": (lambda X, y: CalibratedClassifierCV(GaussianNB()).fit(X, np.zeros(len(X))), "holds 1 class"),
    "few rows": (lambda X, y: CalibratedClassifierCV(GaussianNB()).fit(X[:8], y[:8]), "less than 5 examples"),
    "regressor": (
        lambda X, y: CalibratedClassifierCV(learnt.linear_model.Ridge()).fit(X, y),
        "has neither decision_function nor predict_proba",
    ),
    "pairs": (
        lambda X, y: CalibratedClassifierCV(SVC(decision_function_shape="ovo")).fit(*make(k=4)[:2]),
        "gives 6 scores a row for 4 classes",
    ),
    "a fold of one class": (
        lambda X, y: CalibratedClassifierCV(GaussianNB(), cv=[(np.flatnonzero(y == "a"), np.arange(9))]).fit(X, y),
        "class",
    ),
    "one row a fold": (
        lambda X, y: CalibratedClassifierCV(GaussianNB(), cv=LeaveOneOut()).fit(X, y),
        "LeaveOneOut cross-validation does not",
    ),
    "weights": (
        lambda X, y: CalibratedClassifierCV(GaussianNB()).fit(X, y, sample_weight=-np.ones(len(y))),
        "(?i)negative",
    ),
}


@pytest.mark.parametrize("case", BAD)
def test_bad_input_gets_one_sentence(case):
    call, sentence = BAD[case]
    X, y, _ = make()
    with pytest.raises(ValueError, match=sentence) as caught:
        call(X, y)
    assert "\n" not in str(caught.value)


def test_a_classifier_of_scikit_learn_is_calibrated_too():
    X, y, _ = make(k=2)
    model = CalibratedClassifierCV(WithoutProbabilities(random_state=0)).fit(X, y)
    assert model.predict_proba(X).shape == (300, 2)
