"""SelfTrainingClassifier: scikit-learn's labels and rounds, why it stops, what it refuses."""

import numpy as np
import polars as pl
import pytest
import sklearn
from scipy import sparse
from sklearn import semi_supervised as theirs
from sklearn.datasets import load_iris

import learnt
from learnt.linear_model import LogisticRegression
from learnt.naive_bayes import GaussianNB
from learnt.neighbors import KNeighborsClassifier
from learnt.semi_supervised import SelfTrainingClassifier
from learnt.svm import SVC

X, TRUTH = load_iris(return_X_y=True)
Y = np.where(np.random.default_rng(0).random(150) < 0.8, -1, TRUTH)


@pytest.mark.parametrize(
    "more", [{}, {"threshold": 0.99}, {"max_iter": 2, "threshold": 0.95}, {"max_iter": 0}], ids=str
)
def test_the_rounds_of_scikit_learn(more):
    ours, other = (
        cls(GaussianNB(), **more).fit(X, Y) for cls in (SelfTrainingClassifier, theirs.SelfTrainingClassifier)
    )
    for name in ("transduction_", "labeled_iter_", "n_iter_", "termination_condition_", "classes_"):
        np.testing.assert_array_equal(getattr(ours, name), getattr(other, name), err_msg=name)
    np.testing.assert_array_equal(ours.predict_proba(X), other.predict_proba(X))
    assert ours.score(X, TRUTH) == other.score(X, TRUTH)


def test_the_best_rows_are_labelled_first():
    model = SelfTrainingClassifier(GaussianNB(), criterion="k_best", k_best=7, max_iter=None).fit(X, Y)
    assert model.termination_condition_ == "all_labeled"
    left = int((Y == -1).sum())
    counts = np.bincount(model.labeled_iter_)
    assert model.n_iter_ == -(-left // 7) == len(counts) - 1
    assert set(counts[1:-1]) == {7}
    first = GaussianNB().fit(X[Y != -1], Y[Y != -1]).predict_proba(X).max(axis=1)
    taken = model.labeled_iter_ == 1
    assert first[taken].min() >= first[model.labeled_iter_ > 1].max()


@pytest.mark.parametrize(
    ("more", "reason"),
    [({}, "no_change"), ({"max_iter": 1}, "max_iter"), ({"threshold": 0.0}, "all_labeled")],
)
def test_why_it_stopped(more, reason):
    rows, y = [[1.0], [0.0], [0.9], [0.5]], [1, 0, -1, -1]
    model = SelfTrainingClassifier(LogisticRegression(), **more).fit(rows, y)
    assert model.termination_condition_ == reason
    assert model.n_iter_ == 1


def test_labels_and_rows_of_every_kind():
    plain = SelfTrainingClassifier(GaussianNB()).fit(X, Y)
    names = np.array([{-1: -1, 0: "a", 1: "b", 2: "c"}[label] for label in Y], dtype=object)
    named = SelfTrainingClassifier(GaussianNB()).fit(X, names)
    np.testing.assert_array_equal(named.predict(X), np.array(["a", "b", "c"])[plain.predict(X)])
    frame = pl.DataFrame(X, schema=list("abcd"))
    model = SelfTrainingClassifier(GaussianNB()).fit(frame, Y)
    assert list(model.feature_names_in_) == list("abcd")
    np.testing.assert_array_equal(model.predict(frame), plain.predict(X))
    near = SelfTrainingClassifier(KNeighborsClassifier()).fit(sparse.csr_array(X), Y)
    np.testing.assert_array_equal(
        near.transduction_, SelfTrainingClassifier(KNeighborsClassifier()).fit(X, Y).transduction_
    )


def test_nothing_to_label_and_too_much_are_told():
    with pytest.warns(UserWarning, match="^y contains no unlabeled samples"):
        model = SelfTrainingClassifier(GaussianNB()).fit(X, TRUTH)
    assert (model.n_iter_, model.termination_condition_) == (0, "all_labeled")
    with pytest.warns(UserWarning, match="^k_best is larger than the amount of unlabeled samples"):
        SelfTrainingClassifier(GaussianNB(), criterion="k_best", k_best=500).fit(X, Y)


def test_a_saved_model_says_the_same(tmp_path):
    model = SelfTrainingClassifier(GaussianNB()).fit(X, Y)
    learnt.save(model, tmp_path / "model.learnt")
    again = learnt.load(tmp_path / "model.learnt")
    np.testing.assert_array_equal(again.predict_proba(X), model.predict_proba(X))
    np.testing.assert_array_equal(again.transduction_, model.transduction_)


def test_weights_are_routed():
    weights = np.random.default_rng(1).random(150)
    with pytest.raises(ValueError, match="only supported if enable_metadata_routing=True"):
        SelfTrainingClassifier(GaussianNB()).fit(X, Y, sample_weight=weights)
    with sklearn.config_context(enable_metadata_routing=True):
        inner = GaussianNB().set_fit_request(sample_weight=True).set_score_request(sample_weight=False)
        model = SelfTrainingClassifier(inner).fit(X, Y, sample_weight=weights)
        known = model.transduction_ != -1
        expected = GaussianNB().fit(X[known], model.transduction_[known], sample_weight=weights[known])
    # Each round has other rows, and the weights of these.
    np.testing.assert_array_equal(model.predict_proba(X), expected.predict_proba(X))


def test_verbose_tells_rounds(capsys):
    SelfTrainingClassifier(GaussianNB(), verbose=True, max_iter=1).fit(X, Y)
    assert "End of iteration 1, added" in capsys.readouterr().err


@pytest.mark.parametrize(
    ("settings", "y", "sentence"),
    [
        ({"estimator": None}, Y, "'estimator' parameter of SelfTrainingClassifier must be a classifier with fit"),
        ({"estimator": GaussianNB}, Y, "'estimator' parameter of SelfTrainingClassifier must be a classifier with fit"),
        (
            {"threshold": 1.0},
            Y,
            "'threshold' parameter of SelfTrainingClassifier must be a number of at least 0 and below 1",
        ),
        ({"criterion": "best"}, Y, "'criterion' parameter of SelfTrainingClassifier must be one of"),
        ({"k_best": 0}, Y, "'k_best' parameter of SelfTrainingClassifier must be a whole number of at least 1"),
        ({"max_iter": -1}, Y, "'max_iter' parameter of SelfTrainingClassifier must be a whole number of at least 0 or"),
        ({}, Y.astype(str), "y has dtype string, where '-1' would be a class"),
        ({}, np.full(150, -1), "y has no label for SelfTrainingClassifier"),
        ({}, Y[:9], "X has 150 rows but y has 9"),
    ],
)
def test_refusals(settings, y, sentence):
    with pytest.raises((ValueError, TypeError)) as caught:
        SelfTrainingClassifier(**{"estimator": GaussianNB(), **settings}).fit(X, y)
    assert sentence in str(caught.value)
    assert "\n" not in str(caught.value)


def test_a_classifier_without_probabilities_is_refused():
    with pytest.raises(AttributeError, match=r"'SVC' has no attribute 'predict_proba'.*CalibratedClassifierCV"):
        SelfTrainingClassifier(SVC()).fit(X, Y)
    assert not hasattr(SelfTrainingClassifier(GaussianNB()), "decision_function")
