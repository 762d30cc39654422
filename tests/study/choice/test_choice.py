"""The choice rule, greedy blends against brute force, calibration that helps or is left out."""

import itertools

import numpy as np
import pytest

from learnt.ensemble import recalibrate
from learnt.model_selection import corrected_interval
from learnt.study.choice._blend import alone_weights, cross_fitted, equal_weights, greedy_weights
from learnt.study.choice._calibration import calibrate, fit_doubt, fit_maps, reshapes
from learnt.study.choice._choice import Contender, choose
from learnt.study.race._objective import Objective, row_losses

BASE = np.array([0.30, 0.33, 0.27, 0.31, 0.29])


@pytest.mark.parametrize(
    ("excess", "spread", "taken"),
    [
        (0.002, 0.01, "simple"),  # within 1 % and not to be told apart
        (0.002, 0.0001, "best"),  # within 1 %, but surely worse
        (0.010, 0.05, "best"),  # not to be told apart, but more than 1 % worse
        (0.0, 0.0, "simple"),  # the same
    ],
)
def test_a_simpler_model_only_where_it_gives_nothing_away(excess, spread, taken):
    wiggle = spread * np.array([1.0, -1.0, 0.5, -0.5, 0.0])
    best = Contender("best", BASE, 4, "a")
    simple = Contender("simple", BASE + excess + wiggle, 1, "b")
    found = choose([simple, best], 5)
    interval = corrected_interval(simple.losses - best.losses, 4, 1)
    allowed = interval.low <= 0 <= interval.high and simple.mean <= 1.01 * best.mean
    assert allowed == (taken == "simple")
    assert [simple, best][found.chosen].id == taken


def test_the_lowest_loss_wins_where_nothing_is_simpler_and_both_choices_are_reported():
    wiggle = np.array([1.0, -1.0, 0.5, -0.5, 0.0])
    contenders = [
        Contender("blend", BASE, 9, "blend"),
        Contender("forest", BASE * 1.03 + 0.001 * wiggle, 3, "forest"),  # surely worse
        Contender("line", BASE * 1.05 + 0.03 * wiggle, 1, "line"),  # within a standard error, and 5 % worse
        Contender("constant", BASE * 3, 0, "constant"),
    ]
    found = choose(contenders, 5)
    assert (found.best, found.chosen) == (0, 0)
    assert contenders[found.simple].id == "line"
    assert choose(contenders, 5, "simple").chosen == found.simple
    assert found.standard_error == pytest.approx(BASE.std(ddof=1) / np.sqrt(5))


def squared(errors):
    return (errors**2).mean(axis=1)


def test_greedy_selection_is_the_best_next_step_at_every_step():
    rng = np.random.default_rng(0)
    for _ in range(20):
        errors = rng.normal(size=(4, 30)) + 0.5 * rng.normal(size=30)
        counts, best = np.zeros(4, int), None
        for step in range(6):  # brute force, step by step
            losses = [squared(((counts @ errors) + errors[m])[None] / (step + 1))[0] for m in range(4)]
            counts[int(np.argmin(losses))] += 1
            if best is None or min(losses) < best[0]:
                best = min(losses), counts / counts.sum()
        np.testing.assert_allclose(greedy_weights(errors, squared, steps=6), best[1])


def test_greedy_selection_comes_near_the_best_weights_there_are():
    rng = np.random.default_rng(3)
    grid = [np.array(w) / 20 for w in itertools.product(range(21), repeat=3) if sum(w) == 20]
    for _ in range(10):
        errors = rng.normal(size=(3, 200)) * np.array([[1.0], [1.1], [1.3]]) + 0.4 * rng.normal(size=200)
        best = min(squared((w @ errors)[None])[0] for w in grid)
        weights = greedy_weights(errors, squared)
        assert weights.sum() == pytest.approx(1.0)
        found = squared((weights @ errors)[None])[0]
        assert found <= 1.02 * best
        assert found <= squared(errors).min()  # never worse than the best of them alone


def test_a_blend_has_no_more_members_and_takes_no_more_time_than_allowed():
    rng = np.random.default_rng(4)
    errors = rng.normal(size=(10, 100))
    assert (greedy_weights(errors, squared, most=3) > 0).sum() <= 3
    costs = np.full(10, 1.0)
    assert (greedy_weights(errors, squared, costs=costs, allowed=2.0) > 0).sum() == 2
    assert (greedy_weights(errors, squared, costs=costs, allowed=0.1) > 0).sum() == 0


def test_a_group_is_judged_by_weights_that_did_not_see_it():
    rng = np.random.default_rng(5)
    errors, groups = rng.normal(size=(4, 60)), np.repeat(np.arange(3), 20)
    weights, honest = cross_fitted(errors, lambda rows: squared, groups)
    for g in range(3):
        np.testing.assert_array_equal(honest[g], greedy_weights(errors[:, groups != g], squared))
        spoilt = errors.copy()
        spoilt[:, groups == g] *= -7.0
        np.testing.assert_array_equal(cross_fitted(spoilt, lambda rows: squared, groups)[1][g], honest[g])
    np.testing.assert_array_equal(weights, greedy_weights(errors, squared))


def test_equal_shares_go_to_the_best_of_each_of_the_best_families():
    rng = np.random.default_rng(6)
    errors, families = rng.normal(size=(12, 40)), [f"family {k % 4}" for k in range(12)]
    losses = squared(errors)
    leaders = sorted((min(range(f, 12, 4), key=lambda k: losses[k]) for f in range(4)), key=lambda k: losses[k])
    for most in (1, 3, 5):
        weights = equal_weights(errors, squared, families=families, most=most)
        taken = leaders[:most]
        np.testing.assert_allclose(weights[taken], 1 / len(taken))
        assert (weights > 0).sum() == len(taken)
    costs = np.where(np.arange(12) == leaders[1], 5.0, 1.0)  # too slow; the next of its family may stand in
    weights = equal_weights(errors, squared, families=families, costs=costs, allowed=3.0)
    assert costs[weights > 0].sum() <= 3.0
    assert weights[leaders[0]] == pytest.approx(1 / 3)
    assert weights[leaders[1]] == 0


def test_the_best_of_many_equals_is_biased_and_selection_is_cross_validated():
    """Of forty models that are all alike the best looks better than they are; picked by other rows it does not."""
    rng = np.random.default_rng(7)
    seen, honest = [], []
    groups = np.repeat(np.arange(5), 20)
    for _ in range(200):
        errors = rng.normal(size=(40, 100))
        weights, by_group = cross_fitted(errors, lambda rows: squared, groups, alone_weights)
        seen.append(squared((weights @ errors)[None])[0])
        honest.append(np.mean([squared((w @ errors[:, groups == g])[None])[0] for g, w in by_group.items()]))
    deviation = np.sqrt(2 / 100 / 200)  # of the mean of 200 losses, each the mean of 100 squares
    assert np.mean(seen) < 1 - 10 * deviation
    assert abs(np.mean(honest) - 1) < 4 * deviation


def probabilities(n=2000, classes=3, seed=0):
    """Probabilities that are right, the labels drawn from them, and groups."""
    rng = np.random.default_rng(seed)
    p = rng.dirichlet(np.ones(classes), n)
    y = np.array([rng.choice(classes, p=row) for row in p])
    return p, y, rng.integers(0, 5, n)


def test_overconfident_probabilities_are_softened_by_the_right_exponent():
    p, y, groups = probabilities()
    sharp = p**3 / (p**3).sum(axis=1, keepdims=True)
    found, mapped = calibrate(sharp, y, groups)
    assert found["exponent"] == pytest.approx(1 / 3, abs=0.05)
    before, after, best = (row_losses(y, q, 3).mean() for q in (sharp, mapped, p))
    assert best - 0.01 < after < before
    np.testing.assert_allclose(mapped.sum(axis=1), 1.0)


def test_zeros_of_a_forest_get_a_floor():
    p, y, groups = probabilities(classes=2)
    rough = np.round(p * 10) / 10
    assert (rough[np.arange(len(y)), y] == 0).any()
    found, mapped = calibrate(rough, y, groups)
    assert max(found["floor"], found["doubt"]) > 1e-4
    assert row_losses(y, mapped, 2).mean() < row_losses(y, rough, 2).mean()


def test_probabilities_that_are_right_are_left_alone():
    p, y, groups = probabilities(n=4000)
    found, mapped = calibrate(p, y, groups)
    assert not reshapes(found)
    np.testing.assert_allclose(mapped, p, atol=1.5 * 0.25 / 3200)  # the least doubt, of four fifths of the rows


def test_no_probability_is_more_extreme_than_the_rows_allow():
    """A hundred rows that are all right, and surely: the next one may still be wrong, at a bounded price."""
    y = np.arange(100) % 2
    sure = np.where(np.eye(2)[y] == 1, 1 - 1e-15, 1e-15)
    found, mapped = calibrate(sure, y, np.arange(100) % 5)
    assert found["doubt"] == pytest.approx(2 * 0.25 / 100, rel=0.05)
    assert row_losses(y, mapped, 2).max() < 0.01
    wrong = recalibrate(np.array([[1 - 1e-15, 1e-15]]), **found)
    assert -np.log(wrong[0, 1]) == pytest.approx(np.log(400), rel=0.05)
    thrice = calibrate(np.tile(sure, (3, 1)), np.tile(y, 3), np.tile(np.arange(100) % 5, 3), repeats=3.0)[0]
    assert thrice["doubt"] == pytest.approx(found["doubt"], rel=1e-3)  # more partitions are no more rows


def test_the_fitted_doubt_is_the_simulated_one():
    """Of 5 % of the rows the model knows nothing and says it is sure."""
    rng = np.random.default_rng(0)
    y = rng.integers(0, 4, 5000)
    said = np.where(rng.uniform(size=5000) < 0.05, rng.integers(0, 4, 5000), y)
    p = np.where(np.eye(4)[said] == 1, 1 - 3e-9, 1e-9)
    assert fit_doubt(p, y) == pytest.approx(0.05, abs=3 * np.sqrt(0.05 * 0.95 / 5000) * 4 / 3)


def test_the_map_is_the_minimum_of_its_loss():
    p, y, _ = probabilities(n=500, classes=3, seed=2)
    _, found = fit_maps(p, y)

    def loss(exponent, offsets):
        scores = exponent * np.log(p + found["floor"]) + offsets
        q = np.exp(scores) / np.exp(scores).sum(axis=1, keepdims=True)
        offsets = offsets - np.mean(offsets)
        return row_losses(y, q, 3).mean() + 0.5 / 500 * ((exponent - 1) ** 2 + np.sum(offsets**2))

    at = loss(found["exponent"], np.array(found["offsets"]))
    for move in np.random.default_rng(0).normal(size=(50, 4)) * 0.05:
        assert loss(found["exponent"] + move[0], np.array(found["offsets"]) + move[1:]) >= at - 1e-9


def test_averages_need_only_what_was_true():
    p, y, _ = probabilities(n=50)
    q = probabilities(n=50, seed=1)[0]
    objective = Objective(3)
    both = np.array([objective.essence(y, one) for one in (p, q)])
    mean = objective.of_blends(y)(((both[0] + both[1]) / 2)[None])[0]
    assert mean == pytest.approx(objective.loss(y, (p + q) / 2))
    amounts = Objective(None)
    a, b, t = np.random.default_rng(0).normal(size=(3, 40))
    errors = (amounts.essence(t, a) + amounts.essence(t, b)) / 2
    assert amounts.of_blends(t)(errors[None])[0] == pytest.approx(amounts.loss(t, (a + b) / 2))
