"""Posing the problem: task, labels, what is set aside, time; and the sentences when it cannot be posed."""

import numpy as np
import polars as pl
import pytest

from learnt.study import StudyError
from learnt.study.table._problem import pose

N = 120
RNG = np.random.default_rng(0)
X = RNG.normal(size=N)


def table(**columns):
    return pl.DataFrame({"x": X, "z": RNG.normal(size=N), **columns})


@pytest.mark.parametrize(
    ("values", "task", "classes"),
    [
        (np.where(X > 0, "yes", "no"), "classify", ["no", "yes"]),
        (X > 0.5, "classify", ["false", "true"]),
        ((X > 0).astype(int) + 1, "classify", [1, 2]),
        (np.arange(N) % 7, "classify", list(range(7))),
        (np.arange(N) % 40, "regress", None),
        (X * 3.3, "regress", None),
        ([f"${v:,.2f}" for v in 1000 + 500 * X], "regress", None),
    ],
)
def test_the_task_follows_from_the_target(values, task, classes):
    found = pose(table(y=values), "y")
    assert found.task == task
    assert found.classes == classes
    if task == "regress" and not isinstance(values[0], str):
        np.testing.assert_allclose(found.y, values)
    if isinstance(values[0], str) and task == "regress":
        np.testing.assert_allclose(found.y, 1000 + 500 * X, atol=0.01)


def test_the_task_can_be_given():
    assert pose(table(y=np.arange(N) % 7), "y", task="regress").task == "regress"
    assert pose(table(y=np.arange(N) % 40 // 10), "y", task="classify").classes == [0, 1, 2, 3]


def test_what_is_said_of_the_target_follows_from_the_task():
    """Whole numbers are classes to the profile up to more values than to a study, and amounts may be called classes."""
    counts = np.minimum(np.arange(N) % 40 // 3, 13)
    counts[0] = 40
    amounts = pose(table(y=counts), "y")
    assert amounts.task == "regress"
    assert not any("class" in note for note in amounts.notes)
    skewed = np.where(np.arange(N) % 12 == 0, 0.5 + 1000 * (np.arange(N) % 24 == 0), 0.25)
    assert any("skewed" in note for note in pose(table(y=skewed), "y").notes)
    named = pose(table(y=skewed), "y", task="classify")
    assert not any("skewed" in note or "capped" in note for note in named.notes)


@pytest.mark.parametrize("rows", [2, 20])
def test_too_few_rows_are_called_so_whatever_the_target_holds(rows):
    few = table(y=[f"c{k}" for k in range(N)]).head(rows)
    with pytest.raises(StudyError, match=f"{rows} rows have a target; a study needs at least 30: collect more."):
        pose(few, "y")


def test_rows_without_a_target_are_dropped_and_counted():
    y = pl.Series(np.where(X > 0, "yes", "no").tolist()).set(pl.Series(np.arange(N) < 7), None)
    found = pose(table(y=y), "y")
    assert len(found.y) == len(found.table) == N - 7
    assert found.rows[0] == 7
    assert any("7 of 120 rows" in note for note in found.notes)


def test_rare_classes_are_dropped_and_named():
    y = np.array(["a", "b"] * (N // 2), dtype=object)
    y[:2] = "rare"
    found = pose(table(y=y.astype(str)), "y")
    assert found.classes == ["a", "b"]
    assert any("“rare”" in note for note in found.notes)


def test_identifiers_copies_and_constants_are_set_aside():
    late = X + np.random.default_rng(1).normal(size=N) > 0  # x alone does not tell
    found = pose(table(y=late, order_id=np.arange(1000, 1000 + N), refund=np.where(late, 5.0, 0.0), same=1.0), "y")
    reasons = {entry["column"]: entry["reason"] for entry in found.set_aside}
    assert reasons["order_id"].startswith("identifier")
    assert reasons["refund"].startswith("leak")
    assert reasons["same"].startswith("constant")
    assert "refund" in pose(table(y=late, refund=np.where(late, 5.0, 0.0)), "y", keep=("refund",)).features
    assert "z" not in pose(table(y=late), "y", drop=("z",)).features


def test_the_positive_class_is_the_usual_one():
    assert pose(table(y=np.where(X > -1, "no", "yes")), "y").positive == 1
    assert pose(table(y=np.where(X > 1, "apple", "pear")), "y").positive == 0  # the rarer


def test_a_time_column_is_found_by_its_order_and_can_be_refused():
    days = pl.date_range(pl.date(2024, 1, 1), pl.date(2024, 1, 1) + pl.duration(days=N - 1), eager=True)
    assert pose(table(y=X > 0, day=days), "y").time == "day"
    assert pose(table(y=X > 0, day=days.dt.strftime("%d/%m/%Y")), "y").time == "day"
    assert pose(table(y=X > 0, day=days), "y", time="none").time is None
    assert pose(table(y=X > 0, birth_date=days), "y").time is None
    assert pose(table(y=X > 0, step=np.arange(N)[::-1].copy()), "y", time="step").when[0] == N - 1


@pytest.mark.parametrize(
    ("frame", "target", "options", "said"),
    [
        (table(Survived=X > 0), "survivd", {}, "did you mean “Survived”"),
        (table(y=X > 0), "y", {"group": "grp"}, "no column “grp”"),
        (table(y=X > 0), "y", {"time": "when"}, "no column “when”"),
        (table(y=X > 0), "y", {"group": "y"}, "different columns"),
        (table(y=np.zeros(N)), "y", {}, "nothing to predict"),
        (table(y=["a"] * N), "y", {}, "nothing to predict"),
        (table(y=pl.Series([None] * N, dtype=pl.String)), "y", {}, "is missing"),
        (table(y=[f"name {k}" for k in range(N)]), "y", {}, "too many or too rare"),
        (table(y=X > 0)[:20], "y", {}, "at least 30"),
        (pl.DataFrame({"y": X > 0}), "y", {}, "nothing to predict from"),
        (pl.DataFrame({"y": X > 0, "c": [1] * N}), "y", {}, r"Every column was set aside \(“c”: .*constant"),
        (table(y=[0] * (N - 3) + [1] * 3), "y", {}, "“y” has 1 class of 5 rows or more, and another of 3: too few"),
        (table(y=np.where(X > 0, "a", "b")), "y", {"task": "regress"}, "does not hold numbers"),
        (table(y=X > 0, w=["p"] * N), "y", {"time": "w"}, "neither dates nor numbers"),
    ],
)
def test_what_is_no_learning_problem_is_refused_in_one_sentence(frame, target, options, said):
    with pytest.raises(StudyError, match=said) as caught:
        pose(frame, target, **options)
    assert "\n" not in str(caught.value)
