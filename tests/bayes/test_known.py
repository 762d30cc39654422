"""Decisions from known probabilities: the examples of the courses."""

import numpy as np
import pytest

from learnt.bayes import BayesClassifier, bayes_optimal, bayes_rule
from learnt.naive_bayes import GaussianNB
from learnt.neighbors import KNeighborsClassifier


def test_the_pens_of_the_course():
    """p(ball | red) = 2/7, p(ball | blue) = 5/7, as many red as blue: p(red | ball) = 2/7."""
    np.testing.assert_allclose(bayes_rule([1 / 2, 1 / 2], [2 / 7, 5 / 7]), [2 / 7, 5 / 7])
    known = BayesClassifier(
        lambda X: bayes_rule([1 / 2, 1 / 2], np.where(X == "ball", [[2 / 7, 5 / 7]], [[5 / 7, 2 / 7]])), ["red", "blue"]
    )
    pens = np.array([["ball"], ["marker"]])
    np.testing.assert_array_equal(known.predict(pens), ["blue", "red"])
    assert known.predict_proba(pens)[0, 0] == pytest.approx(2 / 7)
    assert known.error(pens) == pytest.approx(2 / 7)


def test_what_no_class_can_have_made_leaves_the_priors():
    np.testing.assert_allclose(bayes_rule([0.2, 0.8], [[0.0, 0.0], [1.0, 1.0]]), [[0.2, 0.8], [0.2, 0.8]])


def test_the_bayes_error_of_two_triangles():
    """p(x | 0) = 2 − 2x, p(x | 1) = 2x: 1/4 at best, and a threshold t errs (t − ½)² + ¼ of the time."""
    known = BayesClassifier(lambda X: np.column_stack([1 - X[:, 0], X[:, 0]]))
    x = (np.arange(20_000) + 0.5)[:, None] / 20_000
    assert known.error(x) == pytest.approx(1 / 4, abs=1e-6)
    for t in (0.3, 0.5, 0.9):
        error = np.where(x[:, 0] < t, x[:, 0], 1 - x[:, 0]).mean()
        assert error == pytest.approx((t - 0.5) ** 2 + 0.25, abs=1e-4)
        assert error >= known.error(x) - 1e-9


def test_one_neighbour_of_one_point_a_class_errs_seven_times_in_twenty():
    """The same densities: 83/360 + 43/360 from the course, by drawing the two points and the row many times."""
    rng = np.random.default_rng(0)
    zero, one = 1 - np.sqrt(rng.random(400_000)), np.sqrt(rng.random(400_000))
    y = rng.integers(0, 2, 400_000)
    x = np.where(y == 1, np.sqrt(rng.random(400_000)), 1 - np.sqrt(rng.random(400_000)))
    error = ((np.abs(x - one) < np.abs(x - zero)) != (y == 1)).mean()
    assert error == pytest.approx(7 / 20, abs=5 * np.sqrt(0.35 * 0.65 / 400_000))


def test_the_vote_of_the_course():
    vote = bayes_optimal([+1, -1, -1], [0.4, 0.3, 0.3])
    assert vote.label == -1
    assert vote.probability == pytest.approx(0.6)
    np.testing.assert_array_equal(vote.classes, [-1, 1])
    np.testing.assert_allclose(vote.probabilities, [0.6, 0.4])


def test_votes_of_many_rows_functions_and_classifiers():
    rng = np.random.default_rng(0)
    X, y = rng.normal(size=(60, 2)), np.repeat(["a", "b", "c"], 20)
    X += np.repeat(np.arange(3.0), 20)[:, None]
    bayes, near = GaussianNB().fit(X, y), KNeighborsClassifier().fit(X[:40], y[:40])
    vote = bayes_optimal([bayes, near, lambda X: np.where(X[:, 0] > 0, "c", "a")], [0.5, 0.2, 0.3], X)
    expected = 0.5 * bayes.predict_proba(X)
    expected[:, :2] += 0.2 * near.predict_proba(X)
    expected[np.arange(60), np.where(X[:, 0] > 0, 2, 0)] += 0.3
    np.testing.assert_allclose(vote.probabilities, expected)
    np.testing.assert_array_equal(vote.label, vote.classes[expected.argmax(axis=1)])
    labels = bayes_optimal([bayes.predict(X), np.full(60, "b")], [0.5, 0.5])
    assert labels.label.shape == (60,)


@pytest.mark.parametrize(
    ("call", "message"),
    [
        (lambda: bayes_rule([0.5, 0.6], [1, 1]), "priors must be probabilities"),
        (lambda: bayes_rule([0.5, 0.5], [1, 1, 1]), "one for each of the 2 priors"),
        (lambda: bayes_rule([0.5, 0.5], [1, -1]), "at least 0"),
        (lambda: bayes_optimal([1, 2], [0.3, 0.3, 0.4]), "2 hypotheses and 3 weights"),
        (lambda: bayes_optimal([1, 2], [0.3, 0.3]), "weights must be probabilities"),
        (lambda: bayes_optimal([0.4, 0.6], ["a", "b"]), "The hypotheses come first"),
        (lambda: bayes_optimal([1, 2], [0.3, 0.7], X=np.ones((2, 1))), "a function or a fitted classifier"),
        (lambda: BayesClassifier(0.5), "posterior must be a function"),
        (lambda: BayesClassifier(lambda X: np.ones((2, 2))).predict(np.ones((2, 1))), "1 in all for each row"),
        (lambda: BayesClassifier(lambda X: np.ones(3)).predict(np.ones((2, 1))), "a row of probabilities"),
    ],
)
def test_refusals_are_one_sentence(call, message):
    with pytest.raises((ValueError, TypeError), match=message) as caught:
        call()
    assert "\n" not in str(caught.value)
