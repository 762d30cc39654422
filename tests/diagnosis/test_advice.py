"""Advice from one diagnosis: over many states of a curve no piece of it denies another, nor the evidence beside it."""

import itertools

import numpy as np
import pytest

from learnt.diagnosis import read_curve
from learnt.diagnosis._regime import ADVICE, REGIMES, advise

CODES = {text: code for code, text in ADVICE.items()}
DENY = [
    ("regularise more", "regularise less"),
    ("regularise more", "regularise each"),
    ("regularise each", "regularise less"),
    ("regularise each", "bend"),
    ("regularise more", "bend"),
    ("fewer columns", "bend"),
    ("fewer columns", "regularise less"),
    ("more rows", "rows do not help"),
    ("use all rows", "rows do not help"),
    ("use all rows", "more rows"),
    ("use all rows", "weak effect"),
    *(("stop tuning", other) for other in ("regularise more", "regularise less", "bend", "use all rows", "more rows")),
]


def curves():
    """Losses a + b·n^(−c) with training losses below them, over noise, bias, variance, trends and shares of rows."""
    sizes = np.array([100, 200, 400, 800])
    wiggle = np.array([-1, 0.5, 1, -0.5])[None, :]
    grid = itertools.product(
        (0.02, 0.2, 0.9),  # limit
        (0.0, 0.01, 0.3),  # what rows remove between the first and the last size
        (0.0, 0.5, 1.0),  # training loss as a share of validation loss
        (0.0, 0.01, 0.05),  # spread of the folds
        ((0.0, 0.0, 0.01), (0.15, 0.19, 0.2), (0.0, 0.9, 1.1), (0.0, 0.5, 3.0), (0.8, 0.85, 0.95)),  # noise
        (1.0, 0.3, None),  # share of the rows seen
        (1.0, 0.22),  # the constant
        ((None, None, False), (False, None, True), (True, (0.9, 0.92), False)),  # signal, reached, an average
    )
    for limit, fall, own, spread, noise, seen, constant, (signal, reached, averages) in grid:
        for length in (1, 2, 4):
            n = sizes[-length:]
            valid = (limit + fall * 100 / n)[:, None] + spread * wiggle * limit
            train = own * valid
            reached = reached and tuple(v * float(valid[-1].mean()) for v in reached)
            more = {"signal": signal, "reached": reached, "averages": averages}
            yield read_curve(n, train, valid, noise=noise, constant=constant, seen=seen, **more), seen, signal, averages


@pytest.mark.long
def test_no_advice_denies_another_nor_the_evidence():
    states = list(curves())
    seen_regimes = set()
    for found, seen, signal, averages in states:
        codes = [CODES[text] for text in found.treatments]
        seen_regimes.add(found.regime)
        assert len(codes) == len(set(codes)) >= 2
        for a, b in DENY:
            assert not (a in codes and b in codes), (found.regime, codes)
        evidence = " ".join(found.evidence)
        if "more rows" in codes or "use all rows" in codes:
            flat = "hardly changed" in evidence or "rose by" in evidence
            assert not flat or found.regime == "no signal", (codes, evidence)
        if "more rows" in codes:
            assert seen == 1.0
        if seen is None:
            assert not {"more rows", "use all rows", "rows do not help"} & set(codes)
        if "rows do not help" in codes:
            assert "fell by" not in evidence or found.variance.value > 0
        if "too simple" in found.finding:
            assert "regularise more" not in codes
            assert found.bias.low > 0 or signal  # proven by parts, or by models of other kinds
            assert "seems" in found.finding or found.bias.low > 0
        if found.regime == "near the ceiling":
            assert found.noise.value >= 0.9 * found.loss * 0.999 or found.noise.low >= 0.75 * found.loss
        if found.regime == "no signal":
            assert signal is False  # said by models of other kinds too
        if averages:
            assert "bagging" not in " ".join(found.treatments)
        assert found.noise.value + found.bias.value + found.variance.value == pytest.approx(found.loss)
        assert found.noise.low <= found.noise.value <= max(found.noise.high, found.noise.value)
        assert found.noise.value <= found.loss + 1e-12
    assert seen_regimes == set(REGIMES)


@pytest.mark.parametrize("fall", [0.03, 0.0])
@pytest.mark.parametrize("seen", [1.0, None])
def test_more_rows_are_promised_only_where_they_are_advised(fall, seen):
    sizes = np.array([100, 200, 400, 800])
    wiggle = np.array([[0.02, -0.01, -0.01], [-0.02, 0.02, 0.0], [0.02, -0.02, 0.0], [-0.01, 0.0, 0.01]])
    valid = (0.2 + fall * 100 / sizes)[:, None] * (1 + wiggle * (fall == 0))
    found = read_curve(sizes, 0.7 * valid, valid, noise=(0.0, 0.0, 0.19), constant=1.0, seen=seen)
    assert found.regime == "noise or bias"
    advised = "more rows" in {CODES[text] for text in found.treatments}
    assert advised == (fall > 0 and seen is not None)
    assert ("would remove" in found.finding) == advised
    assert "these rows cannot tell" in found.finding


def test_every_piece_of_advice_is_a_sentence_and_is_given_somewhere():
    states = itertools.product(REGIMES, (True, False, None), (1.0, 0.2), (True, False))
    given = {code for state in states for code in advise(*state)}
    assert given == set(ADVICE)
    assert all(text.endswith(".") and "\n" not in text for text in ADVICE.values())


def test_an_estimate_of_noise_above_the_models_own_loss_is_not_used():
    sizes = np.array([100, 200, 400, 800])
    valid = np.full((4, 3), 0.09) + np.array([-0.001, 0.0, 0.001])  # the model reaches 0.09 = 0.3²
    found = read_curve(sizes, 0.9 * valid, valid, noise=(0.0, 0.82**2, 1.08**2), constant=2.0)
    assert found.regime == "noise or bias"
    assert found.noise.low == 0.0
    assert "ceiling" not in found.finding


def test_a_share_is_said_as_a_range_where_the_evidence_is_one():
    sizes = np.array([100, 200, 400, 800])
    wiggle = np.array([-1, 0.5, 1, -0.5]) * 0.001
    valid = (0.1 + 30 / sizes)[:, None] + wiggle
    sure = read_curve(sizes, (0.1 - 30 / sizes)[:, None] + 0 * wiggle, valid, noise=(0.0, 0.0, 0.1), constant=1.0)
    assert sure.variance.high - sure.variance.low <= 0.1 * sure.loss
    assert f"about {100 * sure.variance.value / sure.loss:.0f}%" in sure.finding
    open_ = read_curve(sizes, 0.3 * valid, valid.mean() + wiggle + 0 * valid, noise=(0.0, 0.16, 0.16), constant=1.0)
    assert open_.regime == "high variance"
    assert open_.variance.low < 0.01 * open_.loss
    assert open_.finding.startswith("The model may change")
    assert "up to" in open_.finding
    assert "about" not in open_.finding
