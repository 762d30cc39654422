"""Two studies of the same test rows: the figures of each are its own, the interval is of the paired difference."""

import json

import numpy as np
import polars as pl
import pytest
from tests.study.conftest import amount_table

import learnt
from learnt.cli._run import run
from learnt.study import StudyError, open_study, study


@pytest.fixture(scope="module")
def with_less(regressed, tmp_path_factory):
    """A study of the same rows without the column that matters most."""
    out = tmp_path_factory.mktemp("less") / "out"
    return study(regressed.folder.parent / "prices.parquet", "price", out=out, budget=600, drop="x")


def test_each_figure_is_that_of_its_study(regressed, with_less):
    found = learnt.compare(regressed, with_less)
    rmse, mae = found.measures
    for s, value, size in ((regressed, rmse.first, mae.first), (with_less, rmse.second, mae.second)):
        assert value == pytest.approx(s.facts["test"]["rmse"]["estimate"])
        assert size == pytest.approx(s.facts["test"]["mae"]["estimate"])
    assert rmse.difference == pytest.approx(rmse.second - rmse.first)
    assert rmse.low < rmse.difference < rmse.high
    assert rmse.better == mae.better == "first"
    assert found.rows == regressed.facts["test"]["rows"]


def test_the_other_way_round_the_signs_change(regressed, with_less):
    there, back = learnt.compare(regressed, with_less), learnt.compare(with_less, regressed)
    for a, b in zip(there.measures, back.measures):
        assert a.difference == pytest.approx(-b.difference)
        assert (a.low, a.high) == (pytest.approx(-b.high), pytest.approx(-b.low))
        assert {a.better, b.better} == {"first", "second"}


def test_a_study_is_no_better_than_itself(classified, regressed):
    for s in (classified[0], regressed):
        for measure in learnt.compare(s, s.folder).measures:
            assert measure.difference == measure.low == measure.high == 0
            assert measure.better == "neither"


def test_classes_are_compared_by_the_figures_of_the_report(classified):
    s = classified[0]
    found = {measure.name: measure.first for measure in learnt.compare(s, s).measures}
    test = s.facts["test"]
    assert found["error rate"] == pytest.approx(test["error_at_threshold"])
    assert found["log loss"] == pytest.approx(test["log_loss"])
    assert found["Brier score"] == pytest.approx(test["brier"]["estimate"])
    assert found["cost a row"] == pytest.approx(test["cost"]["estimate"])


def test_the_interval_of_a_metric_that_is_no_mean_is_paired():
    """A shift of all scores leaves the ROC area as it is, in every sample of the rows."""
    from learnt.study.door._compare import _resampled
    from learnt.study.race._metric import metric_of

    rng = np.random.default_rng(0)
    codes = rng.integers(0, 2, 120)
    score = np.clip(0.3 * codes + rng.uniform(0, 0.6, 120), 0, 1)
    outputs = [np.column_stack([1 - p, p]) for p in (score, score / 2, rng.uniform(size=120))]
    metric = metric_of("roc_auc", "classify")

    def compared(other):
        pair = (outputs[0], outputs[other])
        score = lambda k, rows: metric.score(codes[rows], pair[k][rows], threshold=None)  # noqa: E731
        return _resampled(metric, score, 120, None, 0.95)

    shifted, drawn = compared(1), compared(2)
    assert (shifted.low, shifted.high, shifted.better) == (0, 0, "neither")
    assert drawn.better == "first"
    assert drawn.high < 0


def test_other_rows_and_other_targets_are_refused(regressed, classified, sealed, tmp_path):
    with pytest.raises(StudyError, match="predict different things"):
        learnt.compare(regressed, classified[0])
    other = study(amount_table(seed=2), "price", out=tmp_path / "o", budget=1)
    if other.facts["test"] is not None:
        with pytest.raises(StudyError, match="different test rows"):
            learnt.compare(regressed, other)
    with pytest.raises(StudyError, match="nothing to compare"):
        learnt.compare(classified[0], open_study(sealed))


def test_the_comparison_shows_itself(regressed, with_less):
    found = learnt.compare(regressed, with_less)
    lines = repr(found).splitlines()
    assert "same 84 test rows" in lines[0]
    assert "the first is better" in lines[1]
    assert isinstance(found.frame, pl.DataFrame)
    assert found.frame["better"].to_list() == ["first", "first"]
    page = found._repr_html_()
    assert "the first is better" in page
    assert "<script" not in page


def test_the_command_prints_it(regressed, with_less, capsys):
    folders = [str(regressed.folder), str(with_less.folder)]
    assert run(["compare", *folders]) == 0
    shown = capsys.readouterr().out
    assert "RMSE" in shown
    assert "the first is better" in shown
    assert run(["compare", "--json", *folders]) == 0
    facts = json.loads(capsys.readouterr().out)
    assert facts["rows"] == 84
    assert facts["measures"][0]["better"] == "first"
    assert run(["compare", folders[0], "nowhere"]) == 2
