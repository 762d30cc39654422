"""Sentences of a study, from numbers made up over many states: none denies another, none denies the numbers."""

import itertools
from dataclasses import replace
from functools import cache

import numpy as np
import pytest

from learnt.diagnosis import read_curve
from learnt.study._conclude import said_of_unfinished
from learnt.study.facts import (
    Bracket,
    Candidate,
    Ceiling,
    Choice,
    Chosen,
    Constant,
    Curve,
    Data,
    Diagnosis,
    Facts,
    ModelFile,
    Noise,
    Part,
    Parts,
    Race,
    Racer,
    Seal,
    Threshold,
    ThresholdCurve,
    Usual,
)
from learnt.study.judgement import _judge as judge
from learnt.study.judgement._curve import reconciled
from learnt.study.judgement._rare import judge_metric
from learnt.study.judgement._verdict import Terms, judge_rows
from learnt.study.race._candidates import candidates_for
from learnt.study.race._metric import metric_of
from learnt.study.race._race import Entry
from learnt.study.report._report import _unfinished
from learnt.study.report._words import NO_TIME, UNKNOWN, summarise

RNG = np.random.default_rng(0)


def diagnosis(limit, fall, noise, constant, seen=1.0, signal=None):
    sizes = np.array([100, 200, 400, 800])
    valid = (limit + fall * 100 / sizes)[:, None] + 0.005 * limit * np.array([-1, 0, 1])
    found = read_curve(sizes, 0.7 * valid, valid, noise=noise, constant=constant, seen=seen, signal=signal)
    parts = Parts(Part(*found.noise), Part(*found.bias), Part(*found.variance))
    said = (found.regime, found.finding, list(found.evidence), list(found.treatments))
    curve = Curve(sizes.tolist(), found.train.tolist(), found.valid.tolist())
    return Diagnosis(*said, parts, found.loss, found.train_loss, constant, "Brier score", curve)


@cache
def judged(share, skill, n, k, noise):
    """Made-up predictions of classes, judged; `skill` is how far apart the scores of the classes are."""
    names = ["no", "yes", "maybe"][:k]
    y = (RNG.random(n) < share).astype(int) if k == 2 else RNG.choice(3, n, p=[1 - share, share / 2, share / 2])
    shares = np.bincount(y, minlength=k) / n
    logits = np.log(np.maximum(shares, 1e-9)) + skill * (np.eye(k)[y] + noise * RNG.normal(size=(n, k)))
    p = np.exp(logits - logits.max(axis=1, keepdims=True))
    p = p / p.sum(axis=1, keepdims=True) if skill else np.tile(shares, (n, 1))
    order = np.argsort(names)
    options = {"positive": 1 if k == 2 else None, "threshold": 0.4, "cost": None, "groups": None, "level": 0.95}
    test = judge.judge_classes(np.array(names)[y], p[:, order], sorted(names), shares[order], seed=0, **options)
    return test, sorted(names), shares[order]


def classes(
    share=0.4,
    skill=2.0,
    n=600,
    upper=0.3,
    lower=0.05,
    told=None,
    finished=("boosted trees",),
    cut=False,
    k=2,
    noise=0.8,
):
    """Facts of a study of classes."""
    test, names, shares = judged(share, skill, n, k, noise)
    better = bool(finished) and (test.brier_gain.low > 0 or bool(test.ranks))
    entries = [racer(f, loss=0.1) for f in ("constant", *finished)]
    entries += [racer("forest", state="skipped", note="no time was left")] * cut
    best = Candidate("boosted trees", "boosted trees", "boosted trees", 0.1)
    threshold = Threshold(0.4, 0.3, 0.5, 0.5, 0.1, ThresholdCurve([0.4], [0.1]), "best F1", test.rare is not None)
    return Facts(
        learnt="1.0",
        table="t",
        example=None,
        target="y",
        task="classify",
        classes=names,
        positive="yes" if k == 2 else None,
        settings={"cost": None, "budget": 60.0},
        data=Data(n, 2, n, ["a"], None, [], [], [], (), "String", "0", None, None),
        seal=Seal(n // 5, n - n // 5, "at random", "0", None),
        ceiling=Ceiling(
            Constant(names[int(shares.argmax())], 0.2, error=0.3), Noise(0.1, 0.2, 0.1, 0.2), True, "", 300
        ),
        race=Race(tuple(entries), [400], 400, 400, False, 5, 5, cut, 0.01, "boosted trees", "log loss", None),
        choice=Choice("best", "the lowest cross-validated loss", best, best, best, 0.0, False, None, []),
        chosen=Chosen("boosted trees", "boosted trees", "boosted trees", "Trees", {}, [], None),
        model=ModelFile("model.learnt", 400, 400, "judged"),
        test=test,
        beats_constant=better,
        diagnosis=told,
        threshold=threshold,
        bracket=Bracket(lower, upper, 0.2, lower > 0),
    )


def racer(family, label=None, **more):
    return Racer(label or family, label or family, family, "", **{"state": "finished", "note": "", **more})


def text_of(summary):
    return " ".join([summary.headline, summary.verdict, *(line.text for line in summary.lines)])


def test_where_no_model_was_tried_the_headline_says_so():
    found = summarise(classes(finished=(), cut=True))
    assert found.headline == "No model of “y” was finished: the budget ended before one was."
    assert found.verdict == "no model was finished"
    assert "No model predicts" not in text_of(found)
    assert "no better" not in text_of(found)
    assert "more time" in found.lines[-1].text
    sealed = classes(finished=(), cut=True)
    sealed = replace(sealed, test=None, seal=replace(sealed.seal, test_rows=1))
    assert "1 test row stays sealed" in text_of(summarise(sealed))
    assert summarise(sealed).headline == found.headline
    facts = classes(finished=())
    failed = racer("forest", state="failed", note="ValueError")
    facts = replace(facts, race=replace(facts.race, entries=(*facts.race.entries, failed)))
    assert "none could be fitted" in summarise(facts).headline
    few = classes(skill=0, finished=("a", "b"), cut=True)
    assert summarise(few).headline == "None of the 2 models there was time for predicts “y” better than a constant."
    assert summarise(classes(skill=0)).headline == "No model predicts “y” better than a constant."


def test_a_winner_that_could_not_be_fitted_in_time_is_named():
    facts = classes(skill=0)
    wanted = Candidate("boosted trees, leaves 10", "b10", "boosted trees", 0.1)
    chosen = replace(facts.chosen, label="constant", family="constant", id="constant")
    facts = replace(facts, chosen=chosen, choice=replace(facts.choice, wanted=wanted))
    found = summarise(facts)
    assert found.headline == "No time was left to fit the model that won the race for “y” (boosted trees, leaves 10)."
    assert "better than a constant" not in text_of(found)
    assert "before the final fit" in found.lines[-1].text


def test_a_rare_class_is_never_called_right_by_its_absence():
    found = summarise(classes(share=0.03, n=3000, skill=2.0))
    assert "are found" in found.headline
    assert "PR area" in found.headline
    assert "come out right" not in text_of(found)
    assert "recall" in text_of(found)
    assert "chosen on development rows for the best F1" in text_of(found)
    assert "best possible" not in [line.title for line in found.lines]
    several = summarise(classes(share=0.05, n=3000, skill=3.0, k=3, noise=0.3))
    assert "of a class are found on average, where chance is 33.3%" in several.headline
    assert "come out right" not in text_of(several)


def test_an_informative_ranking_beats_the_constant_even_without_positive_predictions():
    n = 3000
    y = np.where(RNG.random(n) < 0.02, "yes", "no")
    score = np.clip(0.3 + np.where(y == "yes", 0.25, 0.0) + 0.1 * RNG.normal(size=n), 0, 1)  # far too high
    shares = np.array([np.mean(y == "no"), np.mean(y == "yes")])
    options = {"positive": 1, "threshold": 0.5, "cost": None, "groups": None, "level": 0.95, "seed": 0}
    test = judge.judge_classes(y, np.column_stack([1 - score, score]), ["no", "yes"], shares, **options)
    assert test.brier_gain.high < 0
    assert test.auc.estimate > 0.9
    assert test.ranks


def test_the_requested_metric_is_in_the_headline():
    facts = classes()
    y = RNG.integers(0, 2, 300)
    p = np.clip(0.3 + 0.4 * y + 0.2 * RNG.normal(size=300), 0.01, 0.99)
    options = {"threshold": None, "groups": None, "level": 0.95, "seed": 0}
    both = np.column_stack([1 - p, p])
    asked = judge_metric(metric_of("auc", "classify"), y, both, np.full((300, 2), 0.5), **options)
    facts = replace(facts, test=replace(facts.test, metric=asked))
    found = summarise(facts)
    assert found.headline.startswith("“y” can be predicted: ROC area 0.")
    assert found.headline.endswith("against 0.500 of a constant.")
    assert "ROC area 0." in found.lines[1].text


def test_a_metric_that_few_rows_leave_open_does_not_deny_a_good_ranking():
    """Six rare rows of 1,200: F1 may be anything, the ROC area is far from chance."""
    y = np.repeat([0, 1], [1194, 6])
    score = np.concatenate([np.linspace(0, 0.05, 1194), [0.046, 0.047, 0.048, 0.049, 0.0495, 0.1]])  # one is found
    output, shares = np.column_stack([1 - score, score]), Usual(shares=[0.995, 0.005])
    names = np.array(["well", "yes"])[y]
    judged_by = lambda metric: judge_rows(  # noqa: E731
        names, output, Terms(["well", "yes"], 1, 0.0499, None, shares, metric_of(metric, "classify"), None)
    )
    test, better = judged_by("f1")
    assert test.metric.gain.low <= 0 < test.metric.gain.estimate
    assert test.auc.low > 0.9
    assert better
    test, better = judged_by("accuracy")  # the metric itself is no better than the constant's, and is named
    assert test.metric.gain.estimate <= 0
    assert not better
    facts = classes(skill=0)
    facts = replace(facts, test=replace(facts.test, metric=test.metric))
    assert summarise(facts).headline == "No model predicts “y” better than a constant by accuracy."


STATES = list(
    itertools.product(
        (0.03, 0.4),  # share of the class
        (0.0, 0.3, 3.0),  # skill
        (0.0, 0.05),  # its lower end
        [
            (0.1, 0.0, (0.09, 0.095, 0.11)),
            (0.1, 0.3, (0.0, 0.09, 0.5)),
            (0.2, 0.0, (0.01, 0.02, 0.03)),
            (0.24, 0.0, (0.0, 0.3, 0.3)),
        ],
        (True, False),  # whether the race was cut short
    )
)


def test_a_smaller_error_that_may_be_chance_is_called_so():
    facts = classes(skill=0)
    test = replace(facts.test, rows=7, constant_error=0.4, error=replace(facts.test.error, estimate=0.3))
    facts = replace(facts, test=test)
    found = summarise(facts)
    assert found.headline == "No model predicts “y” better than a constant for sure."
    assert "is wrong on 40.0%: the model on 30.0%, which may be chance on 7 rows." in text_of(found)
    assert "no better" not in " ".join(line.text for line in found.lines)


@pytest.mark.parametrize("cut", [True, False])
def test_no_sentence_denies_another(cut):
    for share, skill, lower, (limit, fall, noise), short in STATES:
        if short != cut:
            continue
        told = diagnosis(limit, fall, noise, constant=0.25, signal=skill > 0)
        facts = classes(share=share, skill=skill, lower=lower, told=told, cut=cut, n=300)
        found = summarise(facts)
        text = text_of(found)
        assert "nan" not in text
        assert all(line.text.endswith((".", "?")) for line in found.lines)
        good = facts.beats_constant
        assert good == (found.verdict == "better than a constant")
        assert good == ("can be predicted" in found.headline)
        assert not (good and "no better" in text)
        ceiling = "as good as the columns allow" in text
        assert not (ceiling and ("too simple" in text or "changes too much" in text or "points are left" in text))
        assert not ("near the ceiling" in text and "points are left" in text)
        assert not (ceiling and UNKNOWN in text)
        assert not ("Get more rows" in text and "hardly changed" in " ".join(told.evidence))
        if facts.test.rare is not None:
            assert "come out right" not in text
            assert "Wrong on" not in text


def test_a_threshold_is_told_with_the_errors_that_it_makes():
    facts = classes(share=0.4)
    half = summarise(facts).lines[1].text
    assert half.startswith("Wrong on ")
    assert "then wrong" not in half
    used, test = replace(facts.threshold, used=True), replace(facts.test, error_at_threshold=0.375)
    facts = replace(facts, threshold=used, test=test)
    said = summarise(facts).lines[1].text
    assert said.startswith("Taking the likelier class, wrong on ")
    assert said.endswith("for the best F1, and is then wrong on 37.5%.")


def test_a_bound_that_the_model_has_reached_is_not_called_possible():
    facts = classes(lower=0.0)
    for upper, said in ((facts.test.error.estimate + 0.01, UNKNOWN), (0.01, "at most 1.0% of rows")):
        assert said in text_of(summarise(replace(facts, bracket=replace(facts.bracket, upper=upper))))


def test_a_diagnosis_agrees_with_a_test_set_on_which_the_model_beat_the_constant():
    """Chosen by F1, a model may rank rows well with probabilities that are worse than a constant's."""
    facts = classes(skill=2.0)
    told = diagnosis(0.24, 0.0, (0.0, 0.3, 0.3), constant=0.24, signal=False)
    assert told.regime == "no signal"
    facts = replace(facts, beats_constant=True, diagnosis=reconciled(told, facts.test, True))
    said = summarise(facts).lines[-1].text
    assert said.startswith("By its Brier score the model is no better than the best constant, although it beats it on")
    assert "say little" not in said
    assert not any("mislabelled" in text for text in facts.diagnosis.treatments)
    assert reconciled(told, facts.test, False) == told
    assert reconciled(None, facts.test, True) is None


@pytest.mark.parametrize(("budget", "minutes"), [(5.0, 5), (60.0, 5), (600.0, 40)])
def test_a_study_that_was_cut_short_asks_for_more_time_before_more_columns(budget, minutes):
    told = diagnosis(0.2, 0.0, (0.0, 0.0, 0.19), constant=0.25)
    assert told.regime == "noise or bias"
    facts = classes(told=told, cut=True)
    facts = replace(facts, settings={**facts.settings, "budget": budget})
    said = summarise(facts).lines[-1].text
    assert said.endswith(f"Give the study more time (--budget {minutes}m): 1 of 2 models were not measured to the end.")
    facts = classes(told=told, cut=False)
    assert summarise(facts).lines[-1].text.endswith(told.treatments[0])


def test_settings_are_called_other_where_some_of_their_family_are_listed():
    entry = lambda family, label, **more: racer(family, label, state="skipped", note="why", **more)  # noqa: E731
    entries = [entry("tree", "tree 1", loss=0.1), entry("tree", "tree 2"), entry("tree", "tree 3")]
    entries += [entry("forest", "forest 1"), entry("forest", "forest 2"), entry("line", "line")]
    said = [name for name, _ in _unfinished(entries)]
    assert said == ["tree, 2 other settings", "forest, 2 settings", "line"]


def test_models_left_out_for_one_reason_share_a_sentence():
    entries = [Entry(c, state="skipped", note="no time was left for 100 rows") for c in candidates_for("regress")]
    entries[0].state = "finished"
    entries[1].note = "stopped after 1 s on 100 rows"
    slow, rest = said_of_unfinished(entries)
    assert slow == f"{entries[1].candidate.label} skipped: stopped after 1 s on 100 rows."
    assert rest.endswith(" skipped: no time was left for 100 rows.")
    for family in {e.candidate.family.name for e in entries[2:]}:
        assert family in rest


def test_what_there_was_no_time_for_is_not_called_impossible():
    facts = classes(share=0.4, skill=1.0, lower=0.0, told=None, cut=True, n=300)
    assert UNKNOWN in text_of(summarise(facts))
    text = text_of(summarise(replace(facts, ceiling=replace(facts.ceiling, rows=0))))
    assert NO_TIME in text
    assert UNKNOWN not in text
