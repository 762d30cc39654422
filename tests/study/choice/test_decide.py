"""From held-out predictions to one model: honest standings, a blend that is one file, final fits that fall back."""

from dataclasses import replace
from types import SimpleNamespace

import numpy as np
import polars as pl
import pytest

import learnt
from learnt.study._journal import Journal
from learnt.study.choice._calibration import UNSEEN
from learnt.study.choice._combine import combine, out_of_fold
from learnt.study.choice._decide import (
    Decision,
    HeldOutPredictions,
    _save_constant,
    decide,
    fit_judged,
    fit_on_everything,
    journaled_out_of_fold,
)
from learnt.study.race._bench import Bench
from learnt.study.race._budget import Budget
from learnt.study.race._candidates import candidates_for
from learnt.study.race._ground import Ground
from learnt.study.race._layout import write_all_rows, write_rows
from learnt.study.race._objective import Objective
from learnt.study.race._race import run_race
from learnt.study.race._recipe import alone
from learnt.study.race._remote import Failed, TooSlow


class Here:
    """A worker that does its work in this process; `fits` says what becomes of the first final fits."""

    def __init__(self, folder, fits=()):
        self.folder, self.bench, self.fits = folder, Bench(folder), list(fits)

    def call(self, do, timeout, **order):
        if do == "fit" and self.fits:
            raise self.fits.pop(0)
        return getattr(self.bench, do)(**{**order, "threads": None})


@pytest.fixture(scope="module", params=["classify", "regress"])
def raced(request, tmp_path_factory):
    folder, task = tmp_path_factory.mktemp("work"), request.param
    rng = np.random.default_rng(0)
    n = 300
    x = rng.normal(size=(n, 3))
    signal = x[:, 0] + np.abs(x[:, 1]) + np.sign(x[:, 1] * x[:, 2]) - 0.8 + 0.6 * rng.normal(size=n)
    labels = ["a", "b", "c"] if task == "classify" else None
    y = np.digitize(signal, [-0.7, 0.7]) if labels else signal
    X = pl.DataFrame({"x": x[:, 0], "z": x[:, 1], "w": x[:, 2], "town": rng.choice(["Oslo", "Rome"], n)})
    cuts = np.array_split(rng.permutation(n), 5)
    folds = [(np.setdiff1d(np.arange(n), cut), cut) for cut in cuts]
    write_rows(folder, X, y, folds, labels, 0)
    ground = Ground(y, folds, 5, 3 if labels else None, Objective(3 if labels else None), 0)
    worker, journal = Here(folder), Journal(folder / "j.jsonl", "k")
    race = run_race([worker], journal, ground, Budget(1e6), task=task, most=10**9)
    decision = decide(
        race, ground, journal, Budget(1e6), HeldOutPredictions([worker], race, Budget(1e6)), prefer="best", refit=True
    )
    return decision, worker, journal, X, None if labels is None else np.array(labels)


def test_a_blend_races_too_and_standings_are_those_of_held_out_rows(raced):
    decision, worker, *_ = raced
    assert [s.loss for s in decision.standings] == sorted(s.loss for s in decision.standings)
    blend = next(s for s in decision.standings if s.family == "blend")
    assert sum(m["weight"] for m in blend.recipe["members"]) == pytest.approx(1.0)
    assert 2 <= len(blend.recipe["members"]) <= 6
    average = next(s for s in decision.standings if s.id.startswith("average"))
    assert len({s.family for s in decision.standings for m in average.made_of if s.id == m["id"]}) == 5
    np.testing.assert_allclose([m["weight"] for m in average.recipe["members"]], 0.2)
    constant = next(s for s in decision.standings if s.rank == 0)
    assert decision.best.loss < constant.loss
    doubt = 2 * UNSEEN / len(decision.ground.y)  # costs no more, and everybody has it
    for s in decision.standings:  # calibrated only where that lowered the loss
        assert s.calibrated_from is None or s.loss < s.calibrated_from + doubt
    again = combine(decision.race, decision.ground, HeldOutPredictions([worker], decision.race, Budget(1e6)), np.inf)
    assert [s.plain() for s in again] == [s.plain() for s in decision.standings]


def test_a_single_model_is_chosen_by_what_it_reaches_on_rows_that_did_not_pick_it(raced):
    decision, worker, *_ = raced
    ground, held = decision.ground, HeldOutPredictions([worker], decision.race, Budget(1e6))
    singles = [s for s in decision.standings if s.rank > 0 and s.family != "blend"]
    luck = singles[0].luck
    assert all(s.luck == luck for s in singles)
    assert all(s.luck == [] for s in decision.standings if s not in singles)
    if luck:
        assert np.mean(luck) > 0
        assert singles[0].contender().mean == pytest.approx(singles[0].loss + np.mean(luck))
    by_fold = np.array([s.losses for s in singles])  # one partition: its folds are the groups
    picked = [by_fold[np.delete(by_fold, k, axis=1).mean(axis=1).argmin(), k] for k in range(5)]
    excess = np.array(picked) - by_fold[by_fold.mean(axis=1).argmin()]
    np.testing.assert_allclose(luck or 0.0, excess if excess.mean() > 0 else 0.0, atol=1e-12)
    assert len(out_of_fold(decision.chosen, decision.race, ground, held)[0]) == 300


def test_decisions_and_out_of_fold_predictions_are_kept_in_the_journal(raced):
    decision, worker, journal, *_ = raced
    held_out = HeldOutPredictions([worker], decision.race, Budget(1e6))
    rows, predicted = journaled_out_of_fold(decision, decision.chosen, journal, held_out)
    assert sorted(rows) == list(range(300))
    fresh = out_of_fold(decision.chosen, decision.race, decision.ground, held_out)
    np.testing.assert_array_equal(predicted, fresh[1])

    def never(entry, fold):
        raise AssertionError("nothing is read again")

    reread = Journal(journal.path, "k")
    again = decide(decision.race, decision.ground, reread, Budget(1e6), never, prefer="best", refit=True)
    assert again.chosen.plain() == decision.chosen.plain()
    np.testing.assert_array_equal(journaled_out_of_fold(again, again.chosen, reread, never)[1], predicted)
    constant = next(s for s in again.standings if s.rank == 0)
    before = journal.path.read_bytes()
    rows, predicted = journaled_out_of_fold(again, constant, reread, never)  # worked out again, and not written down
    assert sorted(rows) == list(range(300))
    assert journal.path.read_bytes() == before
    field, at = again.ground, {row: k for k, row in enumerate(rows)}
    for train, valid in field.folds[: field.parts]:
        y = field.y[train]
        wanted = y.mean() if field.n_classes is None else np.bincount(y, minlength=field.n_classes) / len(y)
        for row in valid:
            np.testing.assert_array_equal(predicted[at[row]], wanted)


def test_every_standing_can_be_fitted_saved_and_loaded_and_the_rows_are_all_there(raced, tmp_path):
    decision, worker, _, X, labels = raced
    ground = decision.ground
    everything = pl.concat([X, X[:50]]), np.concatenate([ground.y, ground.y[:50]])
    for s in decision.standings:
        if s.family in ("blend", "logistic regression", "ridge regression with products", "constant"):
            judged, path = tmp_path / "judged.learnt", tmp_path / "model.learnt"
            one = Decision(decision.race, ground, [s], decision.choice._replace(chosen=0, best=0, simple=0))
            given = ground.y if labels is None else labels[ground.y]
            assert fit_judged(one, worker, Budget(1e6), judged, 1, lambda given=given: (X, given)) == (s, 300)
            assert fit_on_everything(s, worker, Budget(1e6), judged, path, *everything, labels, 1) == 350
            model = learnt.load(path)
            if labels is not None:
                assert model.predict_proba(X).shape == (300, 3)
            assert (
                np.mean(model.predict(X) == given) > 0.3 if labels is not None else np.isfinite(model.predict(X)).all()
            )


def test_what_cannot_be_fitted_in_time_gives_way_and_the_constant_always_can(raced, tmp_path):
    decision, worker, _, X, labels = raced
    y = decision.ground.y if labels is None else labels[decision.ground.y]
    judged, path = tmp_path / "judged.learnt", tmp_path / "model.learnt"
    slow = Here(worker.folder, [TooSlow("stopped after 9 s"), Failed("no memory")])
    found, rows = fit_judged(decision, slow, Budget(1e6), judged, 1, lambda: (X, y))
    assert (found.rank, rows) == (0, 300)
    assert len(learnt.load(judged).predict(X)) == 300
    found, _ = fit_judged(decision, worker, Budget(1e-9), judged, 1, lambda: (X, y))  # no time at all
    assert found.rank == 0
    broken = Here(worker.folder, [TooSlow("stopped after 9 s")])
    rest = (broken, Budget(1e6), judged, path, X, decision.ground.y, labels, 1)
    assert fit_on_everything(decision.best, *rest) is None
    assert path.read_bytes() == judged.read_bytes()  # the judged model is the one to use then


def test_what_cannot_be_fitted_on_all_rows_in_time_is_fitted_on_those_it_raced_on(raced, tmp_path):
    decision, worker, _, X, _ = raced
    few = replace(decision, race=replace(decision.race, rows=100))
    slow = Here(worker.folder, [TooSlow("stopped after 9 s"), TooSlow("stopped after 9 s")])
    found, rows = fit_judged(few, slow, Budget(20.0), tmp_path / "judged.learnt", 1, pytest.fail)
    assert (found.rank > 0, rows) == (True, 100)
    assert len(learnt.load(tmp_path / "judged.learnt").predict(X)) == 300


@pytest.mark.parametrize("numbers", [[1.0, 2.0] * 20, [None] * 40])
def test_a_constant_in_need_looks_at_one_column_and_at_all_where_that_is_empty(tmp_path, numbers):
    standing = SimpleNamespace(recipe=alone(candidates_for("classify")[0].spec(), None))
    X = pl.DataFrame({"town": ["Oslo", "Rome"] * 20, "x": pl.Series(numbers, dtype=pl.Float64), "z": ["a", "b"] * 20})
    y = np.array(["no"] * 30 + ["yes"] * 10)
    _save_constant(standing, True, X, y, tmp_path / "c.learnt", brief=True)
    model = learnt.load(tmp_path / "c.learnt")
    np.testing.assert_array_equal(model.predict_proba(X[:3]), [[0.75, 0.25]] * 3)
    used = [c["name"] for c in model[0].columns_ if c["kind"] not in ("drop", "empty")]
    assert used == (["x"] if numbers[0] else ["town", "z"])


def test_a_class_that_is_only_among_the_test_rows_has_no_offset(tmp_path):
    rng = np.random.default_rng(0)
    X = pl.DataFrame({"x": rng.normal(size=60)})
    y = (X["x"].to_numpy() > 0).astype(int) * 2  # class 1 is not there
    write_rows(tmp_path, X, y, [(np.arange(30), np.arange(30, 60))], ["a", "b", "c"], 0)
    spec = {"model": "learnt.naive_bayes.GaussianNB", "params": {}, "encoding": "raw", "scale": False}
    spec |= {"products": False, "most_columns": 9, "path": None}
    member = {"spec": spec, "weight": 1.0, "calibration": {"exponent": 1.0, "floor": 0.0, "offsets": [0.1, 5.0, -0.1]}}
    Bench(tmp_path).fit({"members": [member], "calibration": None}, str(tmp_path / "m.learnt"))
    assert learnt.load(tmp_path / "m.learnt").classes_.tolist() == ["a", "c"]
    write_all_rows(tmp_path, X, np.arange(60) % 3)
    Bench(tmp_path).fit({"members": [member], "calibration": None}, str(tmp_path / "m.learnt"), everything=True)
    assert learnt.load(tmp_path / "m.learnt").classes_.tolist() == ["a", "b", "c"]
