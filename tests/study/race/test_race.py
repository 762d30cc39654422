"""The race: turns, budgets by a clock that tests turn, failures as rows, resuming; the workers only pretend."""

import threading
from pathlib import Path

import numpy as np
import polars as pl
import pytest

from learnt.study._journal import Journal
from learnt.study.choice._choice import choose
from learnt.study.choice._combine import Standing
from learnt.study.choice._decide import Decision, fit_judged, fit_on_everything
from learnt.study.race._budget import (
    CHOOSING,
    CLOSING,
    LAST_RESORT,
    LEAST_FINAL,
    MOST_CLOSING,
    MOST_FINAL,
    SLACK,
    Budget,
    final_seconds,
)
from learnt.study.race._candidates import candidates_for
from learnt.study.race._families import FAMILIES
from learnt.study.race._ground import Ground, pick_values
from learnt.study.race._objective import Objective
from learnt.study.race._race import LEAST_SECONDS, Entry, _Race, final_fit_seconds, run_race
from learnt.study.race._recipe import alone
from learnt.study.race._remote import Failed, TooSlow

REST = ("classify", 10**9, True, lambda *_: None)  # of the arguments of a race


class Clock:
    """Time that passes only when somebody works."""

    def __init__(self):
        self.now, self.lock = 0.0, threading.Lock()

    def __call__(self):
        return self.now

    def work(self, seconds):
        with self.lock:
            self.now += seconds


class Pretend:
    """Answers at once with a loss by model name; `trouble` maps part of a model's name to an exception."""

    def __init__(self, clock, losses=None, trouble=None, seconds=0.01):
        self.clock, self.losses, self.trouble, self.seconds = clock, losses or {}, trouble or {}, seconds
        self.folder, self.calls = Path("nowhere"), []

    def call(self, do, timeout, *, spec, fold, rows, most, tested=None, keep=None, threads=None):
        name = spec["model"].rpartition(".")[2]
        for part, error in self.trouble.items():
            if part in name:
                raise error
        self.calls.append((name, str(spec["params"]), fold, rows, self.clock(), timeout))
        takes = self.seconds * rows / 1000
        self.clock.work(min(takes, timeout))
        if takes > timeout:
            raise TooSlow(f"stopped after {timeout:.0f} s")
        base = self.losses.get(name, 0.5) + 0.004 * np.sin(7 * fold)
        values = 1 if spec["path"] is None else len(spec["path"][1])
        return {"rows": rows, "curve": [base + 0.01 * k for k in range(values)], "fit_s": takes, "converged": True}


def ground(rows=1000, folds=5, seed=0):
    y = np.random.default_rng(seed).integers(0, 2, rows)
    cuts = np.array_split(np.arange(rows), folds)
    pairs = [(np.setdiff1d(np.arange(rows), cut), cut) for cut in cuts]
    return Ground(y, pairs, folds, 2, Objective(2), seed)


@pytest.fixture(autouse=True)
def _everybody(monkeypatch):
    monkeypatch.delenv("LEARNT_STUDY_BRIEF", raising=False)


def race(tmp_path, worker, *, rows=1000, seconds=1e6, key="k", most=10**9, **options):
    journal = Journal(tmp_path / "j.jsonl", key)
    budget = Budget(seconds, clock=worker.clock)
    return run_race([worker], journal, ground(rows), budget, task="classify", most=most, **options)


def test_families_are_records_that_can_be_built():
    assert len({(f.task, f.name) for f in FAMILIES}) == len(FAMILIES)
    for task in ("classify", "regress"):
        entries = candidates_for(task)
        assert len({c.id for c in entries}) == len({c.label for c in entries}) == len(entries)
        assert [c.is_constant for c in entries].index(True) == 0
        families = {c.family.name for c in entries}
        assert {c.family.name for c in entries[: len(families)]} == families  # one of each before the second of any


def test_strong_members_race_on_all_rows_right_after_the_constant(tmp_path):
    worker = Pretend(Clock())
    found = race(tmp_path, worker)
    assert len(found.finished()) == len(candidates_for("classify"))
    assert {rows for _, _, _, rows, *_ in worker.calls} == {800}
    leaders = [name for name, *_ in worker.calls[:55:5]]
    assert leaders[:2] == ["GaussianNB", "DecisionTreeClassifier"]  # quickest first; of many rows the strongest
    assert leaders[-3:] == ["ExtraTreesClassifier", "RandomForestClassifier", "HistGradientBoostingClassifier"]
    assert [c.family.name for c in candidates_for("classify", 50_000)][1:3] == ["logistic regression", "boosted trees"]
    assert not found.halved
    assert not found.cut_short


def test_boosting_of_many_classes_is_short_and_begins_with_small_trees():
    def leader(classes):
        return next(c for c in candidates_for("classify", 1000, classes) if c.family.name == "boosted trees")

    assert leader(2).spec() == leader(4).spec()
    few, many = leader(2), leader(10)
    assert many.settings["max_leaf_nodes"] < few.settings["max_leaf_nodes"]
    assert many.settings["learning_rate"] > few.settings["learning_rate"]
    assert many.family.path.values[-1] < few.family.path.values[-1]
    assert len({c.id for c in candidates_for("classify", 1000, 10)} & {c.id for c in candidates_for("classify")}) > 10


def test_a_hurried_race_of_many_rows_has_short_paths():
    usual, hurried = (
        {c.family.name: c.family.path for c in candidates_for("classify", 50_000, 2, hurry)} for hurry in (False, True)
    )
    for name in ("logistic regression", "boosted trees"):
        assert len(hurried[name].values) < len(usual[name].values)
        assert set(hurried[name].values) < set(usual[name].values)
    few = [candidates_for("classify", 1000, 2, hurry) for hurry in (False, True)]
    assert {c.id for c in few[0]} == {c.id for c in few[1]}  # few rows take no time


def test_the_time_of_a_final_fit_is_that_of_training_alone():
    """Without predictions for held-out rows, their encoding, and loading what was not loaded before."""
    entry = Entry(next(c for c in candidates_for("classify") if c.family.name == "naive Bayes"))
    common = {"rows": 1000, "curve": [0.5], "prepare_s": 0.3, "prepared_rows": 3000}
    entry.results = {
        0: {**common, "fit_s": 2.0, "train_s": 1.5, "loaded": False},
        1: {**common, "fit_s": 0.5, "train_s": 0.2, "loaded": True},
        2: {**common, "prepare_s": 0.0, "fit_s": 0.7, "train_s": 0.4, "loaded": True},
    }
    assert entry.seconds() == 0.7  # what another fold will take
    assert final_fit_seconds(entry, [entry]) == pytest.approx((0.2 + 0.4) / 2 + 0.3 / 3)
    del entry.results[1], entry.results[2]
    assert final_fit_seconds(entry, [entry]) == pytest.approx(1.5 + 0.1)


def test_foreseeing_how_many_rows_fit_takes_a_small_part_of_the_race(tmp_path):
    worker = Pretend(Clock(), seconds=2.0)  # ten seconds for the rows that are tried
    race(tmp_path, worker, rows=50_000, seconds=60.0)
    begun = [call[4] for call in worker.calls]
    assert begun[0] == 0
    assert begun[1] <= 0.15 * 60  # the first took all of that time
    quick = Pretend(Clock(), seconds=0.01)
    race(tmp_path / "quick", quick, rows=50_000, seconds=60.0)
    forests = [parameters for name, parameters, *_ in quick.calls if name == "RandomForestClassifier"]
    assert "'n_estimators': 20" in forests[0]  # a tenth of them is timed
    assert "'n_estimators': 200" in forests[1]


def test_a_model_that_was_begun_is_finished_in_little_time_where_it_takes_less(tmp_path):
    """No fit is begun in the last fractions of a second, but one that is known to be shorter."""
    clock = Clock()
    runner = _Race([Pretend(clock)], Journal(tmp_path / "j", "k"), ground(), Budget(1e6, clock=clock), *REST)
    begun, fresh = runner.entries[1], runner.entries[2]
    begun.results = {k: {"rows": 800, "curve": [0.5], "fit_s": 0.01} for k in range(4)}
    runner.entries[3].results = {k: {"rows": 800, "curve": [0.5], "fit_s": 0.01} for k in range(5)}  # there is a model
    clock.now = runner._until() - LEAST_SECONDS / 2
    assert runner._job(begun) is not None
    assert runner._job(fresh) is None
    assert (begun.state, fresh.state) == ("racing", "skipped")
    begun.running.clear()
    clock.now = runner._until() - 0.001
    assert runner._job(begun) is None


def test_a_first_fit_that_loaded_its_model_does_not_rule_out_the_others(tmp_path):
    clock = Clock()
    runner = _Race([Pretend(clock)], Journal(tmp_path / "j", "k"), ground(), Budget(1e6, clock=clock), *REST)
    entry = runner.entries[1]
    entry.results = {0: {"rows": 800, "curve": [0.5], "fit_s": 1.0, "loaded": False}}
    runner.entries[3].results = {k: {"rows": 800, "curve": [0.5], "fit_s": 0.01} for k in range(5)}  # there is a model
    clock.now = runner._until() - 1.5  # four folds of a second each would not fit
    assert runner._job(entry) is not None
    entry.running.clear()
    entry.results[0]["loaded"] = True
    assert runner._job(entry) is None
    assert "about 4.0 s were needed" in entry.note


def test_what_is_quick_on_many_rows_is_not_called_slow(tmp_path):
    found = race(tmp_path, Pretend(Clock(), seconds=1e-6), rows=100_000)
    slow = {e.candidate.family.name for e in found.entries if "too slow" in e.note}
    assert {"nearest neighbours", "support vectors"} <= slow
    assert not slow & {"linear discriminants", "quadratic discriminants", "logistic regression", "naive Bayes"}


def test_pairs_of_very_many_classes_are_not_tried():
    few, many = ({c.family.name for c in candidates_for("classify", 1000, k)} for k in (30, 31))
    assert few - many == {"support vectors", "support vectors, one scale"}


@pytest.mark.parametrize(("seconds", "fold"), [(10.0, 3.0), (60.0, 20.0), (10.0, 1.9)])
def test_a_race_that_would_end_with_the_constant_alone_is_overrun_by_one_quick_model(tmp_path, seconds, fold):
    worker = Pretend(Clock(), seconds=fold * 1000 / 800)
    found = race(tmp_path, worker, seconds=seconds)
    done = [e for e in found.entries if e.finished(5)]
    assert [e.candidate.family.name for e in done] == ["naive Bayes"]
    assert worker.clock.now <= 2 * seconds
    assert found.cut_short
    assert all(e.state in ("finished", "skipped") for e in found.entries)


def test_no_budget_is_overrun_where_that_would_not_help_or_nothing_was_promised(tmp_path):
    for seconds, fold in ((10.0, 11.0), (2.0, 1.0)):  # no model in twice the budget; a budget of two seconds
        worker = Pretend(Clock(), seconds=fold * 1000 / 800)
        found = race(tmp_path, worker, seconds=seconds, key=f"{seconds}")
        assert not any(e.finished(5) for e in found.entries)
        assert worker.clock.now <= 2 * seconds


def test_a_failure_is_a_row_and_the_race_continues(tmp_path):
    trouble = {"Gaussian": Failed("ValueError: no"), "KN": TooSlow("stopped after 9 s")}
    found = race(tmp_path, Pretend(Clock(), trouble=trouble))
    states = {e.candidate.family.name: (e.state, e.note) for e in found.entries if e.state != "finished"}
    assert states["naive Bayes"] == ("failed", "ValueError: no")
    assert states["nearest neighbours"][0] == "skipped"
    assert found.cut_short


def test_journaled_fits_are_not_repeated_and_a_finished_race_stays_finished(tmp_path):
    first = Pretend(Clock(), trouble={"Gaussian": Failed("ValueError: no")})
    before = race(tmp_path, first, seconds=500.0)
    again = Pretend(Clock())
    after = race(tmp_path, again, seconds=500.0)
    assert again.calls == []
    assert [(e.state, e.note) for e in after.entries] == [(e.state, e.note) for e in before.entries]
    assert [e.mean() for e in after.finished()] == [e.mean() for e in before.finished()]
    longer = Pretend(Clock())
    race(tmp_path, longer, seconds=501.0)  # more time: what failed or had no time is tried again, nothing else
    assert {name for name, *_ in longer.calls} == {"GaussianNB"}


def test_an_interrupted_race_has_spent_what_it_has_spent(tmp_path):
    class Interrupted(Pretend):
        def call(self, *arguments, **options):
            if len(self.calls) == 30:
                raise KeyboardInterrupt
            return super().call(*arguments, **options)

    seconds = 60.0
    with pytest.raises(KeyboardInterrupt):
        race(tmp_path, Interrupted(Clock(), seconds=0.6), seconds=seconds)
    resumed = Pretend(Clock(), seconds=0.6)
    found = race(tmp_path, resumed, seconds=seconds)
    whole = race(tmp_path / "other", Pretend(Clock(), seconds=0.6), seconds=seconds)
    assert len(resumed.calls) < 5 * (len(found.entries) - 1)
    assert [e.state for e in found.entries] == [e.state for e in whole.entries]
    assert [e.candidate.id for e in found.finished()] == [e.candidate.id for e in whole.finished()]


@pytest.mark.parametrize("seconds", [5.0, 20.0, 60.0])
@pytest.mark.parametrize("pace", [0.05, 0.5, 5.0])
def test_no_fit_begins_or_ends_in_the_time_set_aside(tmp_path, seconds, pace):
    clock = Clock()
    worker = Pretend(clock, seconds=pace)
    found = race(tmp_path, worker, seconds=seconds)
    budget = Budget(seconds, clock=clock)
    models = [e for e in found.finished() if not e.candidate.is_constant]
    budget.to_choose_from(len(models), 1000)
    closing = budget.closing + budget.choosing
    if len(models) <= 1 and clock() > seconds - closing:  # an overrun is better than the constant alone
        assert clock() <= seconds + budget.grace + 1e-9
        return
    assert clock() <= seconds - closing + 1e-9
    leaders = found.finished()[:5]
    wanted = final_seconds([e.final_fit() for e in leaders], 1000 / 800, True, 1)
    assert seconds - clock() >= closing + min(wanted, MOST_FINAL * seconds) - pace  # one fit may have been under way
    assert found.entries[0].state == "finished"  # the constant, always
    skipped = [e for e in found.entries if e.state == "skipped"]
    assert all(e.note for e in skipped)


def test_fewer_rows_only_where_all_of_them_would_not_fit_the_budget(tmp_path):
    quick = race(tmp_path / "a", Pretend(Clock(), seconds=0.001), rows=50_000, seconds=60.0)
    assert not quick.halved
    slow = Pretend(Clock(), seconds=0.2)
    found = race(tmp_path / "b", slow, rows=50_000, seconds=60.0)
    assert found.halved
    assert 5000 <= found.rows < found.all_rows == 40_000
    again = Pretend(Clock(), seconds=0.001)
    assert race(tmp_path / "b", again, rows=50_000, seconds=61.0).rows == found.rows  # decided once
    assert (
        race(tmp_path / "b", again, rows=50_000, seconds=600.0).rows > found.rows
    )  # anew where there is far more time
    leaders = [e for e in found.entries if e.candidate.leads and e.candidate.family.most_rows > 40_000]
    assert sum(e.state == "finished" for e in leaders) >= 4


def test_time_is_divided_as_documented():
    clock = Clock()
    budget = Budget(100.0, clock=clock)
    after = budget.closing + budget.choosing
    assert budget.race_until(0.0) == pytest.approx(100.0 - after - LEAST_FINAL)
    assert budget.race_until(10.0) == pytest.approx(100.0 - after - SLACK * 10.0)
    assert budget.race_until(1e9) == pytest.approx(100.0 - after - MOST_FINAL * 100.0)
    budget.not_counted(30.0)  # compiling
    assert budget.left() == pytest.approx(130.0)
    clock.work(50.0)
    budget.already_spent(1000.0)  # whatever was spent, final fits and closing keep their share
    assert budget.left() == pytest.approx(MOST_FINAL * 100.0 + after)
    assert budget.for_final_fits() > 0.3 * 100.0
    clock.now = budget.end - 1.0  # late: the report's share is used before the winner is given up
    assert budget.for_final_fits() == 0
    assert budget.for_the_judged_fit() == budget.for_the_refit() == 5.0


@pytest.mark.parametrize("seconds", [5.0, 20.0, 60.0])
def test_on_a_busy_machine_more_time_is_set_aside(seconds):
    clock = Clock()
    busy, idle = Budget(seconds, clock=clock), Budget(seconds, clock=clock)
    busy.notice_pace(3.0, 1.0)  # things take three times as long
    more = 2 * (CLOSING[0] + CLOSING[1] * idle.work)
    assert busy.closing == pytest.approx(min(idle.closing + more, MOST_CLOSING * seconds))
    assert busy.race_until(1.0) < idle.race_until(1.0)
    busy.notice_pace(1e9, 1.0)
    assert busy.closing <= MOST_CLOSING * seconds
    assert busy.race_until(1e9) >= (1 - MOST_CLOSING - MOST_FINAL - 0.05) * seconds  # there is a race all the same


def test_the_pace_follows_the_latest_fits():
    budget = Budget(60.0, clock=Clock())
    budget.notice_pace(1.0, 1.0)
    idle = budget.closing
    for _ in range(40):
        budget.notice_fit(0.4, 0.1)  # others begin to use the machine
    assert budget.pace == pytest.approx(4.0, rel=0.1)  # ten half-lives are left of the first second in 16
    assert budget.closing > idle + 2.5 * CLOSING[0]
    for _ in range(400):
        budget.notice_fit(0.1, 0.1)
    assert budget.pace == pytest.approx(1.0, rel=0.01)


class Crowded(Pretend):
    """Fits that get a quarter of a core."""

    def call(self, do, timeout, **order):
        found = super().call(do, timeout, **order)
        return {**found, "prepare_s": 0.0, "processor_s": found["fit_s"] / 4}


def test_a_race_ends_sooner_where_its_fits_get_little_of_the_processor(tmp_path):
    ended = []
    for kind in (Pretend, Crowded):
        clock = Clock()
        budget, worker = Budget(20.0, clock=clock), kind(clock, seconds=0.4)
        worker.folder = tmp_path / kind.__name__
        journal = Journal(tmp_path / f"{kind.__name__}.jsonl", "k")
        run_race([worker], journal, ground(1000), budget, task="classify", most=10**9)
        ended.append(clock())
    assert ended[0] > ended[1] + 2.5 * (CLOSING[0] + CHOOSING[0])
    assert ended[1] < 20.0 - 4 * CLOSING[0]
    assert "processor_s" not in (tmp_path / "Crowded.jsonl").read_text()  # the journal of a study does not depend on it


def test_more_time_is_set_aside_for_a_table_that_took_long_to_read():
    small, large = Budget(60.0, clock=Clock()), Budget(60.0, clock=Clock())
    small.work, large.work = 0.1, 1.1
    for budget in (small, large):
        budget.notice_pace(2.0, 1.0)
    assert large.closing == pytest.approx(small.closing + 2 * CLOSING[1])
    assert large.race_until(0.0) == pytest.approx(small.race_until(0.0) - 2 * CLOSING[1])
    choosing, until = small.choosing, small.race_until(0.0)
    small.to_choose_from(3, 1000)  # two models more, at half the speed
    more = 2 * (2 * CHOOSING[1] + 3000 * CHOOSING[2])
    assert small.choosing == pytest.approx(choosing + more)
    assert small.race_until(0.0) == pytest.approx(until - more)


@pytest.mark.parametrize("pace", [1.0, 1.5, 2.0, 2.5])
def test_in_five_seconds_a_model_is_measured_on_a_small_table(pace):
    """A second of the processor until the race begins: what is set aside leaves time for one model on five folds."""
    clock = Clock()
    budget = Budget(5.0, clock=clock)
    budget.work = 0.15
    clock.work(1.0 * pace)
    budget.notice_pace(pace, 1.0)
    assert budget.race_until_the_first() - clock() > 0.25 * pace + LEAST_SECONDS


class Slowing(Pretend):
    """Fits at the pace of a machine that others use too: every fit takes longer than the one before."""

    def call(self, do, timeout, **order):
        self.seconds *= 1.02
        if do == "evaluate":
            return super().call(do, timeout, **order)
        takes = 0.0  # a final fit: each member in proportion to its rows, on this worker alone
        for member in order["recipe"]["members"]:
            takes += self.seconds * (1.25 if order.get("everything") else 1.0) * self.rows / 1000
            assert member["weight"] > 0
        self.clock.work(min(takes, timeout))
        if takes > timeout:
            raise TooSlow(f"stopped after {timeout:.0f} s")
        Path(order["path"]).write_bytes(b"")
        return {"rows": self.rows, "fit_s": takes}


@pytest.mark.parametrize("seconds", [5.0, 20.0, 60.0])
@pytest.mark.parametrize("work", [0.02, 0.2, 1.0])
@pytest.mark.parametrize("pace", [1.0, 4.0])
def test_the_final_model_has_seen_every_row_whatever_the_load(tmp_path, seconds, work, pace):
    """Choice, both final fits, test set and report come after the race and end in time, by a clock that is turned."""
    clock = Clock()
    worker = Slowing(clock, {"GaussianNB": 0.3, "LogisticRegression": 0.2}, seconds=work)
    worker.rows, worker.folder = 1000, tmp_path
    field = ground(1000)
    budget = Budget(seconds, clock=clock)
    clock.work(0.8 * pace)  # reading and sealing
    budget.notice_pace(pace, 1.0)
    race = run_race([worker], Journal(tmp_path / "j.jsonl", "k"), field, budget, task="classify", most=10**9)
    clock.work(0.9 * budget.choosing)
    done = [e for e in race.finished() if not e.candidate.is_constant]
    if not done:  # not one model was measured on five folds
        assert 5 * work * 0.8 > 0.3 * seconds / pace or pace > 1
        return
    chosen = pretended(race, field)
    constant = lambda: pytest.fail("the model that won was given up")  # noqa: E731
    standing, rows = fit_judged(chosen, worker, budget, tmp_path / "judged.learnt", 1, constant)
    assert (standing, rows) == (chosen.chosen, 1000)
    clock.work(0.5 * budget.closing)  # the test set is opened
    judged, final = tmp_path / "judged.learnt", tmp_path / "model.learnt"
    X, y = pl.DataFrame({"x": np.zeros(1000)}), field.y
    everything = fit_on_everything(standing, worker, budget, judged, final, X, y, np.array(["a", "b"]), 1)
    clock.work(0.9 * budget.report)
    if race.cut_short and len(done) == 1 and clock() > seconds:  # one model, rather than the constant alone
        assert clock() <= seconds + 2 * budget.grace
        return
    assert everything == 1000
    assert clock() <= 1.1 * seconds


class Loading(Slowing):
    """A process that has to load before its first fit."""

    def __init__(self, clock, loads, **options):
        super().__init__(clock, **options)
        self.loads = loads

    def call(self, do, timeout, **order):
        took, self.loads = min(self.loads, timeout), max(self.loads - timeout, 0.0)
        self.clock.work(took)
        if took >= timeout:
            raise TooSlow(f"stopped after {timeout:.0f} s")
        return super().call(do, timeout - took, **order)


@pytest.mark.parametrize("seconds", [5.0, 10.0, 20.0])
@pytest.mark.parametrize("pace", [1.0, 2.0, 4.0])
@pytest.mark.parametrize("share", [0.3, 0.9])
def test_a_race_without_a_model_continues_into_the_time_of_the_choice(tmp_path, seconds, pace, share):
    """A process that loads for nearly all the time there is still fits a model, and the budget is kept."""
    clock = Clock()
    budget = Budget(seconds, clock=clock)
    clock.work(0.4 * pace)
    budget.notice_pace(pace, 1.0)
    overrun = LAST_RESORT * seconds  # at most
    assert budget.race_until(0.0) < budget.race_until_the_first() <= budget.end - budget.closing + overrun
    left = budget.race_until_the_first() - clock()
    worker = Loading(clock, share * left, seconds=0.01)
    worker.rows, worker.folder = 1000, tmp_path
    field = ground(1000)
    race = run_race([worker], Journal(tmp_path / "j.jsonl", "k"), field, budget, task="classify", most=10**9)
    done = [e for e in race.finished() if not e.candidate.is_constant]
    assert done or (1 - share) * left < LEAST_SECONDS + 0.1  # five fits of 8 ms, begun with no less than that
    assert clock() <= budget.race_until_the_first() + 1e-9
    if done:
        assert fit_judged(pretended(race, field), worker, budget, tmp_path / "m", 1, pytest.fail)[1] == 1000
        assert clock() <= budget.end - budget.closing + 1e-9


def pretended(race, field):
    """The decision for the leader of a race whose predictions are pretended."""
    standings = []
    for entry in race.finished():
        family = entry.candidate.family
        losses = entry.curves().min(axis=1).tolist()
        fields = (entry.candidate.id, entry.candidate.label, family.name, family.words, family.rank, 0)
        recipe = alone({**entry.candidate.spec(), "path": None})
        standings.append(Standing(*fields, recipe, losses, {}, final_seconds=race.final_seconds(entry)))
    return Decision(race, field, standings, choose([s.contender() for s in standings], field.parts, "best"))


def test_a_fold_does_not_influence_the_value_it_is_evaluated_at():
    rng = np.random.default_rng(0)
    curves = rng.normal(size=(10, 4))
    picked, final = pick_values(curves, 5)
    for k in range(10):
        others = [j for j in range(5 * (k // 5), 5 * (k // 5) + 5) if j != k]
        assert picked[k] == curves[others].mean(axis=0).argmin()
    assert final == curves.mean(axis=0).argmin()
    moved = curves.copy()
    moved[3] = -moved[3]
    assert pick_values(moved, 5)[0][3] == picked[3]


class Squared(Pretend):
    """Support vectors take time with the square of the rows, everybody else with the rows."""

    def call(self, do, timeout, *, spec, rows, **order):
        own = self.seconds
        if "SVC" in spec["model"]:
            self.seconds = own * rows / 10
        try:
            return super().call(do, timeout, spec=spec, rows=rows, **order)
        finally:
            self.seconds = own


@pytest.mark.parametrize(("rows", "race_them"), [(900, True), (3000, True), (9000, False)])
def test_support_vectors_race_only_where_their_time_fits(tmp_path, rows, race_them):
    worker = Squared(Clock(), seconds=0.01)
    found = race(tmp_path, worker, rows=rows, seconds=300.0)
    theirs = [e for e in found.entries if "SVC" in e.candidate.family.model]
    fits = [size for name, _, _, size, *_ in worker.calls if name == "SVC"]
    assert {e.state for e in theirs} == ({"finished"} if race_them else {"skipped"})
    assert sum(size == 1500 for size in fits) == (2 if rows > 2000 else 0)  # one probe a family, where rows are many
    assert all(e.state == "finished" for e in found.entries if e not in theirs)
    if not race_them:
        assert set(fits) == {1500}
        assert all("were needed" in e.note for e in theirs)
        again = Squared(Clock(), seconds=0.01)
        race(tmp_path, again, rows=rows, seconds=301.0)  # what was measured is not measured again
        assert not [name for name, *_ in again.calls if name == "SVC"]


def test_a_model_that_is_not_for_this_table_is_left_out_and_nothing_was_cut_short(tmp_path):
    class Narrow(Pretend):
        def call(self, do, timeout, *, spec, **order):
            return (
                {"unfit": "not for 79 columns"} if spec["products"] else super().call(do, timeout, spec=spec, **order)
            )

    for _ in range(2):  # the second time from the journal
        found = race(tmp_path, Narrow(Clock()))
        entry = next(e for e in found.entries if e.candidate.family.products)
        assert (entry.state, entry.note) == ("skipped", "not for 79 columns")
        assert not found.cut_short


@pytest.mark.parametrize("kind", ["classify", "regress"])
def test_neighbours_are_few_where_rows_are_few(kind):
    for rows, most in ((20, 5), (100, 15), (200, 45), (5000, 135)):
        (neighbours,) = [c for c in candidates_for(kind, rows) if c.family.name == "nearest neighbours"]
        assert max(neighbours.spec()["path"][1]) == most < rows


def test_a_brief_fit_is_not_taken_for_a_whole_one(monkeypatch):
    whole = candidates_for("classify")
    monkeypatch.setenv("LEARNT_STUDY_BRIEF", "1")
    brief = candidates_for("classify")
    same = {c.id for c in whole} & {c.id for c in brief}
    specs = {c.id: c.spec() for c in whole}
    assert all(specs[c.id] == c.spec() for c in brief if c.id in same)
    assert len({c.id for c in whole}) == len(whole)
