"""Comparing studies: ratios and their errors, splits, the losses of rows, what is said of files already there."""

import json
import sys
from pathlib import Path

import numpy as np
import polars as pl
import pytest

sys.path.insert(0, str(Path(__file__).resolve().parents[2] / "benchmarks"))

from study.compare import log_losses, split_rows
from study.main import _wanted, ratio, summary
from study.tables import SOURCES


def test_the_ratio_is_that_of_mean_losses_and_its_error_that_of_paired_rows():
    rng = np.random.default_rng(0)
    ours, theirs = rng.exponential(size=(2, 400))
    found, error = ratio({0: ours}, {0: theirs}, True)
    assert found == pytest.approx(np.log(ours.mean() / theirs.mean()))
    again = []
    for _ in range(2000):
        rows = rng.integers(0, 400, 400)
        again.append(np.log(ours[rows].mean() / theirs[rows].mean()))
    assert error == pytest.approx(np.std(again), rel=0.15)  # the bootstrap of the same, 2,000 times
    assert ratio({0: ours}, {0: ours}, True) == (0.0, 0.0)
    assert ratio({0: ours}, {0: theirs}, False)[0] == pytest.approx(found / 2)  # RMSE is a root


def test_unknown_classes_cost_what_no_probability_costs_and_splits_keep_shares():
    losses = log_losses(np.array(["a", "c"]), np.array([[0.25, 0.75], [0.5, 0.5]]), ["a", "b"])
    np.testing.assert_allclose(losses, [np.log(4), -np.log(np.finfo(float).eps)])
    labels = np.repeat(["x", "y"], [80, 20])
    rows = pl.DataFrame({"a": np.arange(100)})
    train, test = split_rows(rows, labels, True, 0)
    assert sorted(np.concatenate([train, test])) == list(range(100))
    assert (labels[test] == "y").sum() == 5


def test_rows_with_the_same_features_stay_on_one_side():
    """As in the study: visits of one person are not to be guessed from the others."""
    rows = pl.DataFrame({"a": np.repeat(np.arange(60), 4), "b": np.repeat(np.arange(60) % 3, 4)})
    train, test = split_rows(rows, np.arange(240.0), False, 1)
    assert sorted(np.concatenate([train, test])) == list(range(240))
    assert not set(rows["a"][train]) & set(rows["a"][test])
    assert len(test) == 60


def test_contenders_are_chosen_by_name():
    peers = ["LightGBM", "sklearn linear"]
    assert _wanted(None, peers) == ["learnt", *peers]
    assert _wanted(["peers"], peers) == peers
    assert _wanted(["sklearn linear", "learnt"], peers) == ["learnt", "sklearn linear"]
    assert _wanted(["CatBoost"], peers) == []  # known, and not installed
    assert "no contender is called 'Lightgbm'" in _wanted(["Lightgbm"], peers)


def test_the_summary_shows_targets_and_results(tmp_path):
    for contender, level in (("learnt", 1.0), ("LightGBM", 1.25), ("sklearn linear", 2.0)):
        note = json.dumps({"chosen": "a blend"})
        np.savez(tmp_path / f"t-0-{contender}.npz", losses=np.full(50, level), seconds=1.0, note=note)
    text = summary(tmp_path, {"t": {"task": "classify", "rows": 200}}, 3)
    assert "| t | 200 | 1 | log loss | 1 | LightGBM | 0.800 | 0.000 | a blend |" in text
    assert "loss / sklearn linear: 0.500" in text
    assert "beyond two standard errors: none" in text


def test_tables_have_names_of_their_own():
    assert len({s.name for s in SOURCES}) == len(SOURCES) >= 30
