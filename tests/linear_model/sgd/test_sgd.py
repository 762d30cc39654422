"""SGDClassifier and SGDRegressor: scikit-learn's own steps row by row, its quality when shuffled, their promises."""

import warnings

import numpy as np
import pytest
import sklearn.linear_model as sk
from scipy import sparse
from sklearn.exceptions import ConvergenceWarning

from learnt.linear_model import SGDClassifier, SGDRegressor

RNG = np.random.default_rng(0)
N, D = 300, 6
X = RNG.normal(size=(N, D))
W = RNG.normal(size=D)
Y = X @ W + 1 + 0.5 * RNG.normal(size=N)
LABEL = np.where(X @ W + 0.7 * RNG.normal(size=N) > 0, "yes", "no")
THREE = np.digitize(X @ W + 0.7 * RNG.normal(size=N), [-1, 1])
FIXED = {"shuffle": False, "max_iter": 4, "tol": None}
LOSSES = (
    "hinge", "log_loss", "modified_huber", "squared_hinge", "perceptron", "squared_error", "huber",
    "epsilon_insensitive", "squared_epsilon_insensitive",
)  # fmt: skip


def same_steps(ours, theirs, *data):
    ours.fit(*data)
    theirs.fit(*data)
    np.testing.assert_allclose(ours.coef_, theirs.coef_, rtol=1e-8, atol=1e-10)
    np.testing.assert_allclose(ours.intercept_, theirs.intercept_, rtol=1e-8, atol=1e-10)
    assert ours.t_ == theirs.t_


@pytest.mark.parametrize("loss", LOSSES)
@pytest.mark.parametrize("penalty", ["l2", "l1", "elasticnet", None])
def test_the_same_steps_as_scikit_learn(loss, penalty):
    settings = {"loss": loss, "penalty": penalty, "alpha": 0.1, **FIXED}
    if loss.startswith("squared"):  # whose steps would overflow there too
        settings |= {"learning_rate": "invscaling", "eta0": 0.01}
    same_steps(SGDClassifier(**settings), sk.SGDClassifier(**settings), X, LABEL)


@pytest.mark.parametrize(
    ("loss", "schedule"),
    [
        (loss, schedule)
        for loss in ("squared_error", "huber", "epsilon_insensitive", "squared_epsilon_insensitive")
        for schedule in ("invscaling", "constant", "adaptive", "optimal", "pa1", "pa2")
        # Passive-aggressive steps are defined by this loss and the hinge.
        if loss == "epsilon_insensitive" or not schedule.startswith("pa")
    ],
)
def test_the_same_schedules(loss, schedule):
    settings = {"loss": loss, "learning_rate": schedule, "eta0": 0.02, "alpha": 0.05, **FIXED}
    same_steps(SGDRegressor(**settings), sk.SGDRegressor(**settings), X, Y)


@pytest.mark.parametrize("schedule", ["pa1", "pa2"])
def test_passive_aggressive_classifiers(schedule):
    settings = {"learning_rate": schedule, "eta0": 0.5, "penalty": None, **FIXED}
    same_steps(SGDClassifier(**settings), sk.SGDClassifier(**settings), X, LABEL)


@pytest.mark.parametrize("average", [True, 500])
@pytest.mark.parametrize("penalty", ["l2", None])
def test_the_same_average(average, penalty):
    settings = {"average": average, "penalty": penalty, "alpha": 0.01, **FIXED}
    same_steps(SGDClassifier(**settings), sk.SGDClassifier(**settings), X, THREE)
    settings["learning_rate"] = "constant"
    same_steps(SGDRegressor(**settings), sk.SGDRegressor(**settings), X, Y)
    thin = sparse.csr_matrix(np.where(np.abs(X) > 0.8, X, 0))
    settings["fit_intercept"] = False
    same_steps(SGDRegressor(**settings), sk.SGDRegressor(**settings), thin, Y)


@pytest.mark.parametrize("penalty", ["l2", "l1", "elasticnet"])
@pytest.mark.parametrize("loss", ["hinge", "log_loss"])
def test_sparse_rows_take_the_same_steps(penalty, loss):
    thin = np.where(np.abs(X) > 0.8, X, 0)
    settings = {"loss": loss, "penalty": penalty, "alpha": 0.01, "fit_intercept": False, **FIXED}
    same_steps(SGDClassifier(**settings), sk.SGDClassifier(**settings), sparse.csr_matrix(thin), THREE)
    settings["fit_intercept"] = True
    same_steps(SGDClassifier(**settings), sk.SGDClassifier(**settings), sparse.csr_matrix(thin), THREE)
    alone = {"loss": loss, "random_state": 0, "fit_intercept": False}
    dense = SGDClassifier(**alone).fit(thin, LABEL)
    np.testing.assert_allclose(SGDClassifier(**alone).fit(sparse.csr_array(thin), LABEL).coef_, dense.coef_, atol=1e-9)


@pytest.mark.parametrize("seed", [0, 7])
def test_a_seed_shuffles_as_in_scikit_learn(seed):
    settings = {"random_state": seed, "max_iter": 5, "tol": None, "alpha": 0.1}
    same_steps(SGDClassifier(**settings), sk.SGDClassifier(**settings), X, LABEL)
    same_steps(SGDClassifier(**settings), sk.SGDClassifier(**settings), X, THREE)
    same_steps(SGDRegressor(**settings), sk.SGDRegressor(**settings), X, Y)
    for penalty in ("l2", "l1", "elasticnet", None):  # and they stop at the same epoch
        ours, theirs = (kind(penalty=penalty, random_state=seed) for kind in (SGDClassifier, sk.SGDClassifier))
        same_steps(ours, theirs, X, LABEL)
        assert ours.n_iter_ == theirs.n_iter_


def objective(model, loss, alpha):
    margin = np.where(LABEL == "yes", 1, -1) * model.decision_function(X)
    value = {"hinge": np.maximum(1 - margin, 0), "log_loss": np.logaddexp(0, -margin)}[loss].mean()
    return value + alpha / 2 * np.sum(model.coef_**2)


@pytest.mark.parametrize("loss", ["hinge", "log_loss"])
def test_as_good_as_scikit_learn_at_equal_epochs(loss):
    settings = {"loss": loss, "alpha": 0.01, "max_iter": 15, "tol": None}
    ours, theirs = (
        [objective(kind(random_state=seed, **settings).fit(X, LABEL), loss, 0.01) for seed in range(8)]
        for kind in (SGDClassifier, sk.SGDClassifier)
    )
    assert np.mean(ours) <= 1.02 * np.mean(theirs)


def test_weights():
    heavy = np.where(LABEL == "yes", 3.0, 1.0)
    a = SGDClassifier(random_state=0).fit(X, LABEL, sample_weight=heavy)
    b = SGDClassifier(random_state=0, class_weight={"yes": 3, "no": 1}).fit(X, LABEL)
    np.testing.assert_array_equal(a.coef_, b.coef_)
    settings = {**FIXED, "class_weight": "balanced"}
    same_steps(SGDClassifier(**settings), sk.SGDClassifier(**settings), X, LABEL)
    settings |= {"alpha": 0.1, "class_weight": {0: 2.0, 1: 0.5, 2: 1.0}}
    same_steps(SGDClassifier(**settings), sk.SGDClassifier(**settings), X, THREE)
    keep = np.arange(N) % 3 > 0  # rows of weight 0 are not there
    c = SGDRegressor(random_state=0).fit(X, Y, sample_weight=keep.astype(float))
    d = SGDRegressor(random_state=0).fit(X[keep], Y[keep])
    np.testing.assert_allclose(c.coef_, d.coef_, rtol=1e-12)


@pytest.mark.parametrize("average", [False, True])
def test_partial_fit_continues_where_it_was(average):
    settings = {"shuffle": False, "max_iter": 1, "tol": None, "average": average}
    for ours, theirs, y, first in (
        (SGDClassifier, sk.SGDClassifier, THREE, {"classes": [0, 1, 2]}),
        (SGDRegressor, sk.SGDRegressor, Y, {}),
    ):
        a, b, whole = ours(**settings), theirs(**settings), ours(**settings).fit(X, y)
        for lo in range(0, N, 100):
            part = slice(lo, lo + 100)
            a.partial_fit(X[part], y[part], **first)
            b.partial_fit(X[part], y[part], **first)
            if not average:  # scikit-learn goes on from the averaged intercept, and so is not where it was
                np.testing.assert_allclose(a.coef_, b.coef_, rtol=1e-8, atol=1e-10)
        np.testing.assert_allclose(a.coef_, whole.coef_, rtol=1e-8)
        assert a.t_ == b.t_ == N + 1


def test_early_stopping_keeps_the_best_epoch():
    for model, y in ((SGDClassifier(early_stopping=True, random_state=0), LABEL),
                     (SGDRegressor(early_stopping=True, random_state=0), Y)):  # fmt: skip
        model.fit(X, y)
        assert model.n_iter_ < 100
        assert model.score(X, y) > 0.75
    settings = {"early_stopping": True, "shuffle": False, "tol": None, "max_iter": 3, "random_state": 0}
    ours, theirs = (kind(alpha=0.1, **settings).fit(X, LABEL) for kind in (SGDClassifier, sk.SGDClassifier))
    np.testing.assert_allclose(ours.coef_, theirs.coef_, rtol=1e-8)  # it holds out the same rows
    with pytest.raises(ValueError, match="empty set, or a class"):
        SGDClassifier(early_stopping=True).fit(X[:4], LABEL[:4])


def test_stopping_and_its_warning():
    assert SGDClassifier(random_state=0).fit(X, LABEL).n_iter_ < 200
    with pytest.warns(ConvergenceWarning, match="Consider increasing max_iter.*in the last of 2 epochs"):
        SGDClassifier(max_iter=2, random_state=0).fit(X, LABEL)
    for seed in range(3):
        a = SGDClassifier(random_state=seed).fit(X, LABEL)
        b = SGDClassifier(random_state=seed).fit(X, LABEL)
        np.testing.assert_array_equal(a.coef_, b.coef_)


@pytest.mark.parametrize("loss", ["log_loss", "modified_huber"])
def test_probabilities(loss):
    for y in (LABEL, THREE):
        ours, theirs = (kind(loss=loss, alpha=0.1, **FIXED) for kind in (SGDClassifier, sk.SGDClassifier))
        np.testing.assert_allclose(ours.fit(X, y).predict_proba(X), theirs.fit(X, y).predict_proba(X), atol=1e-9)
    assert not hasattr(SGDClassifier(), "predict_proba")


def test_warm_starts():
    model = SGDRegressor(warm_start=True, max_iter=5, tol=None, random_state=0)
    first = np.sum((model.fit(X, Y).predict(X) - Y) ** 2)
    assert np.sum((model.fit(X, Y).predict(X) - Y) ** 2) <= first
    one = {**FIXED, "max_iter": 1}
    ours = SGDRegressor(**one).fit(X, Y, coef_init=W, intercept_init=1.0)
    np.testing.assert_allclose(ours.coef_, sk.SGDRegressor(**one).fit(X, Y, coef_init=W, intercept_init=[1.0]).coef_)
    with pytest.raises(ValueError, match="does not match dataset"):
        SGDRegressor().fit(X, Y, coef_init=np.ones(3))


@pytest.mark.parametrize(
    ("model", "words"),
    [
        (SGDClassifier(loss="nonsense"), "'loss' parameter of SGDClassifier"),
        (SGDClassifier(penalty="l3"), "'penalty' parameter"),
        (SGDClassifier(alpha=0), "alpha must be > 0"),
        (SGDClassifier(learning_rate="constant", eta0=0), "'eta0' parameter"),
        (SGDClassifier(class_weight="heavy"), "'class_weight' parameter"),
        (SGDClassifier(max_iter=0), "'max_iter' parameter"),
        (SGDClassifier(loss="log_loss", learning_rate="pa1"), "is a rule for the losses 'hinge'"),
        (SGDClassifier(penalty="elasticnet", l1_ratio=None), "l1_ratio must be set"),
    ],
    ids=str,
)
def test_bad_settings_get_one_sentence(model, words):
    with pytest.raises(ValueError, match=words) as caught:
        model.fit(X, LABEL)
    assert "\n" not in str(caught.value)


def test_bad_calls_get_one_sentence():
    with (
        pytest.raises(ValueError, match=r"overflow occurred at epoch #1.*Scaling input data"),
        np.errstate(all="ignore"),
    ):
        SGDRegressor().fit(X * 1e160, Y)
    with pytest.raises(ValueError, match="classes must be passed on the first call"):
        SGDClassifier().partial_fit(X, LABEL)
    model = SGDClassifier().partial_fit(X, LABEL, classes=["no", "yes"])
    with pytest.raises(ValueError, match="is not the same as on last call"):
        model.partial_fit(X, LABEL, classes=["no", "maybe"])
    with pytest.raises(ValueError, match="not among the classes"):
        model.partial_fit(X, np.where(LABEL == "no", "never", "yes"))
    with pytest.raises(ValueError, match="'balanced' is not supported for partial_fit"):
        SGDClassifier(class_weight="balanced").partial_fit(X, LABEL, classes=["no", "yes"])


def test_single_precision_is_kept():
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        assert SGDClassifier(random_state=0).fit(X.astype(np.float32), LABEL).coef_.dtype == np.float32
        assert SGDRegressor(random_state=0).fit(X.astype(np.float32), Y).intercept_.dtype == np.float32
