"""The race: halving, budgets, failures as rows, resuming, the one-standard-error rule; the worker only pretends."""

import time
from pathlib import Path

import numpy as np
import pytest

from learnt.study import StudyError
from learnt.study._families import FAMILIES, candidates_for
from learnt.study._journal import Journal
from learnt.study._race import choose, run_race, rungs_for, standings
from learnt.study._remote import Failed, TooSlow


class Pretend:
    """Answers at once with a loss by model name; `trouble` maps part of a model's name to an exception."""

    def __init__(self, losses, trouble=None, seconds=0.001):
        self.losses, self.trouble, self.seconds, self.calls = losses, trouble or {}, seconds, []
        self.folder = Path("nowhere")

    def call(self, do, timeout, *, spec, fold, rows, most, tested=None, keep=None):
        name = spec["model"].rpartition(".")[2]
        self.calls.append((name, tuple(spec["params"].items()), spec["encoding"], rows, fold))
        for part, error in self.trouble.items():
            if part in name:
                raise error
        base = self.losses.get(name, 0.2)
        wiggle = 0.004 * np.sin(7 * fold)
        fit = self.seconds * rows / 1000
        return {
            "rows": rows,
            "loss": base + wiggle + 5 / rows,
            "train_loss": base,
            "fit_s": fit,
            "predict_s": 0.0,
            "converged": True,
            "error": base,
        }


def run(worker, tmp_path, rows=900, seconds=60.0, key="k"):
    journal = Journal(tmp_path / "j.jsonl", key)
    return run_race(worker, journal, task="classify", rows=rows, folds=5, deadline=time.monotonic() + seconds)


def test_families_are_records_that_can_be_built():
    assert len({(f.task, f.name) for f in FAMILIES}) == len(FAMILIES)
    for task in ("classify", "regress"):
        entries = candidates_for(task)
        assert len({c.id for c in entries}) == len({c.label for c in entries}) == len(entries)
        assert sum(c.is_constant for c in entries) == 1
        assert len({c.family.name for c in entries[:3]}) == 3  # one of each before the second of any


def test_a_small_table_has_one_rung_and_everybody_finishes(tmp_path):
    worker = Pretend({"ConstantClassifier": 0.25, "LogisticRegression": 0.1})
    race = run(worker, tmp_path)
    assert rungs_for(900) == [900]
    assert len(race.finished()) == len(candidates_for("classify"))
    chosen, best, error = choose(race)
    assert "Logistic" in chosen.candidate.family.model
    assert error > 0
    assert best.mean(0) <= chosen.mean(0) <= best.mean(0) + error


def test_halving_drops_the_worst_but_no_family(tmp_path):
    worker = Pretend(
        {"ConstantClassifier": 0.25, "LogisticRegression": 0.1, "GaussianNB": 0.3, "KNeighborsClassifier": 0.28}
    )
    race = run(worker, tmp_path, rows=40_000)
    states = {}
    for entry in race.entries:
        states.setdefault(entry.candidate.family.name, []).append(entry.state)
    assert all("finished" in s for s in states.values())
    assert sum(s.count("behind") for s in states.values()) >= 5
    full = [c for c in worker.calls if c[3] == 40_000]
    assert len(full) < len(worker.calls) / 2


def test_a_failure_is_a_row_and_the_race_goes_on(tmp_path):
    worker = Pretend(
        {"ConstantClassifier": 0.25, "LogisticRegression": 0.1},
        {"Gaussian": Failed("ValueError: no"), "KN": TooSlow("stopped after 9 s")},
    )
    race = run(worker, tmp_path)
    chosen, _, _ = choose(race)
    rows = standings(race, chosen)
    assert len(rows) == len(candidates_for("classify"))
    by_state = {r["family"]: (r["state"], r["note"]) for r in rows}
    assert by_state["naive Bayes"] == ("failed", "ValueError: no")
    assert by_state["nearest neighbours"][0] == "skipped"
    assert rows[0]["loss"] <= rows[1]["loss"]
    assert all("\n" not in r["note"] for r in rows)


def test_slow_models_are_skipped_with_a_reason_when_time_is_short(tmp_path):
    worker = Pretend({"ConstantClassifier": 0.25}, seconds=100.0)  # 100 s a thousand rows
    race = run(worker, tmp_path, rows=9000, seconds=1000.0)
    skipped = [e for e in race.entries if e.state == "skipped"]
    assert skipped
    assert all("s were needed" in e.note or "no time" in e.note for e in skipped)
    assert race.cut_short


def test_every_family_is_tried_before_the_second_of_any_and_the_quick_before_the_slow(tmp_path):
    class Slow(Pretend):
        def call(self, do, timeout, *, spec, **rest):
            result = super().call(do, timeout, spec=spec, **rest)
            return result | {"fit_s": 5.0 if "KNeighbors" in spec["model"] else 0.01}

    worker = Slow({"ConstantClassifier": 0.25})
    run(worker, tmp_path, seconds=1e6)
    order = list(dict.fromkeys((name, params, encoding) for name, params, encoding, _, _ in worker.calls))
    families = [name for name, _, _ in order]
    assert families[0] == "ConstantClassifier"
    assert len(set(families[:4])) == 4
    assert families[-3:] == ["KNeighborsClassifier"] * 3


def test_a_race_cut_short_is_not_won_by_those_who_happened_to_be_measured(tmp_path):
    # The best family is so slow on the last rung that only others finish there.
    class Slow(Pretend):
        def call(self, do, timeout, *, spec, rows, **rest):
            if "Logistic" in spec["model"] and rows == 9000:
                raise TooSlow("stopped after 1 s")
            return super().call(do, timeout, spec=spec, rows=rows, **rest)

    race = run(Slow({"ConstantClassifier": 0.25, "GaussianNB": 0.3, "LogisticRegression": 0.1}), tmp_path, rows=9000)
    assert race.rungs == [1000, 3000, 9000]
    assert race.last == 1
    assert "Logistic" in choose(race)[0].candidate.family.model


def test_a_second_run_takes_everything_from_the_journal(tmp_path):
    losses = {"ConstantClassifier": 0.25, "LogisticRegression": 0.1}
    first = run(Pretend(losses), tmp_path)
    worker = Pretend(losses)
    second = run(worker, tmp_path)
    assert worker.calls == []
    assert standings(first, choose(first)[0]) == standings(second, choose(second)[0])
    other = Pretend(losses)
    run(other, tmp_path, key="another study")
    assert other.calls


def test_failures_are_tried_again(tmp_path):
    run(Pretend({}, {"Gaussian": Failed("out of memory")}), tmp_path)
    worker = Pretend({})
    run(worker, tmp_path)
    assert {c[0] for c in worker.calls} == {"GaussianNB"}


def test_the_constant_wins_when_nothing_is_better(tmp_path):
    race = run(Pretend({}), tmp_path)  # all alike
    chosen, _, _ = choose(race)
    assert chosen.candidate.is_constant
    assert any(r.get("tied") for r in standings(race, chosen))


def test_a_small_but_steady_gain_over_the_constant_counts(tmp_path):
    # Folds differ by 0.004, the model gains 0.001 on each of them: paired differences see it, plain spread does not.
    race = run(Pretend({"LogisticRegression": 0.199}), tmp_path)
    assert "Logistic" in choose(race)[0].candidate.family.model


def test_nothing_at_all_is_an_error_with_the_first_reason(tmp_path):
    race = run(Pretend({}, {"": Failed("ValueError: broken")}), tmp_path)
    with pytest.raises(StudyError, match="ValueError: broken"):
        choose(race)
