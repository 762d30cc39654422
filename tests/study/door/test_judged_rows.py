"""Worst rows, errors by group and partial dependence: against what the files of the study say."""

import numpy as np
import pandas as pd
import polars as pl
import pytest

from learnt.study import StudyError, open_study, read_table


def test_the_worst_rows_are_those_of_the_largest_loss(classified, orders):
    s, table = classified[0], read_table(orders)
    test = pl.read_parquet(s.folder / "predictions.parquet").filter(pl.col("part") == "test")
    found = s.worst_rows(7)
    truth = np.array([row[f"p({row['outcome']})"] for row in test.iter_rows(named=True)])
    np.testing.assert_allclose(found["loss"], np.sort(-np.log(truth))[::-1][:7])
    np.testing.assert_allclose(np.exp(-found["loss"]), found["probability_of_truth"])
    assert found["town"].to_list() == table["town"].gather(found["row"]).to_list()
    assert found["outcome"].to_list() == table["outcome"].gather(found["row"]).to_list()
    assert "row_id" not in found.columns  # it was set aside


def test_the_worst_amounts(regressed):
    found = regressed.worst_rows(3)
    assert found["loss"].is_sorted(descending=True)
    np.testing.assert_allclose((found["price"] - found["prediction"]).abs(), found["loss"])
    everything = regressed.worst_rows(10**6)
    assert len(everything) == regressed.facts["test"]["rows"]
    np.testing.assert_allclose(everything["loss"].mean(), regressed.facts["test"]["mae"]["estimate"])


def test_a_sealed_study_speaks_of_rows_of_the_cross_validation(sealed):
    found = open_study(sealed).worst_rows(10**6)
    assert len(found) == open_study(sealed).facts["seal"]["development_rows"]
    assert found.columns == ["row", "outcome", "prediction", "probability_of_truth", "loss"]


def test_errors_of_groups_add_up_to_the_error(classified, regressed):
    towns = classified[0].errors_by("town")
    assert sorted(towns["group"]) == ["<b>Rome</b>", "Oslo", "Åre & co"]
    assert towns["rows"].sum() == classified[0].facts["test"]["rows"]
    wrong = (towns["error"] * towns["rows"]).sum() / towns["rows"].sum()
    assert wrong == pytest.approx(classified[0].facts["test"]["error_at_threshold"])
    assert ((towns["low"] <= towns["error"]) & (towns["error"] <= towns["high"])).all()
    quarters = regressed.errors_by("x")
    assert len(quarters) == 4
    assert (quarters["error"] * quarters["rows"]).sum() / quarters["rows"].sum() == pytest.approx(
        regressed.facts["test"]["mae"]["estimate"]
    )


def test_partial_dependence_is_the_mean_prediction(regressed):
    found = regressed.partial_dependence("kind")
    assert sorted(found["value"]) == ["a", "b"]
    X = regressed._studied.select(regressed.facts["data"]["features"])
    rising = regressed.partial_dependence("x")  # 8 a unit
    assert rising["place"].is_sorted()
    assert rising["mean"].to_numpy()[-1] - rising["mean"].to_numpy()[0] > 10
    value = found.row(0, named=True)
    everywhere = regressed.model.predict(X.with_columns(kind=pl.lit(value["value"]))).mean()
    assert value["mean"] == pytest.approx(everywhere, abs=4 * 8.7 / 200**0.5)  # of two hundred of these rows


def test_partial_dependence_of_a_class(classified):
    s = classified[0]
    name, other = s.facts["positive"], next(c for c in s.classes if c != s.facts["positive"])
    usual, asked, opposite = (s.partial_dependence("z", *about) for about in ((), (name,), (other,)))
    assert usual.equals(asked)
    np.testing.assert_allclose(usual["mean"] + opposite["mean"], 1)
    with pytest.raises(StudyError, match="no class"):
        s.partial_dependence("z", "perhaps")


def test_a_table_that_is_needed_is_asked_for_and_checked(classified, orders):
    s = classified[0]
    bare = open_study(s.folder)
    for ask in (lambda: bare.errors_by("town"), lambda: bare.partial_dependence("z")):
        with pytest.raises(StudyError, match=r"open_study\(folder, table=…\)"):
            ask()
    frame = read_table(orders)
    with pytest.raises(StudyError, match="not the table that was studied"):
        open_study(s.folder, table=frame.head(50)).errors_by("town")
    assert open_study(s.folder, table=orders).errors_by("town").equals(s.errors_by("town"))
    with pytest.raises(StudyError, match="no column “twn”; did you mean “town”"):
        s.errors_by("twn")


def test_answers_come_in_the_library_of_the_table(regressed):
    table = pd.read_parquet(regressed.folder.parent / "prices.parquet")
    s = open_study(regressed.folder, table=regressed.folder.parent / "prices.parquet")
    assert isinstance(s.worst_rows(2), pl.DataFrame)
    assert isinstance(open_study(regressed.folder, table=table).leaderboard, pd.DataFrame)
