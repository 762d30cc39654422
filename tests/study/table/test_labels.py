"""The target of rows to be judged: one class however it is written, amounts, and what is missing or unknown."""

import numpy as np
import polars as pl
import pytest

from learnt.study import StudyError
from learnt.study.table._labels import read_labels


@pytest.mark.parametrize(
    ("cells", "classes"),
    [
        ([0, 1, 1], [0, 1]),
        ([0.0, 1.0, 1.0], [0, 1]),
        (["0", "1.0", " 1 "], [0, 1]),
        ([False, True, True], ["false", "true"]),
        ([False, True, True], [False, True]),
        (["no", "yes", "yes "], ["no", "yes"]),
        ([0.5, 1.0, 1.0], ["0.5", "1.0"]),
        ([0.5, 1, 1], [0.5, 1.0]),
    ],
)
def test_a_class_is_known_however_it_is_written(cells, classes):
    found = read_labels(pl.Series("y", cells), classes)
    assert found.y.tolist() == [classes[0], classes[1], classes[1]]
    assert found.rows.tolist() == [0, 1, 2]
    assert (found.missing, found.unknown) == (0, [])


def test_what_is_missing_or_unknown_is_counted():
    found = read_labels(pl.Series("y", ["no", None, "?", "maybe", "yes", "NA"]), ["no", "yes"])
    assert found.y.tolist() == ["no", "yes"]
    assert found.rows.tolist() == [0, 4]
    assert (found.missing, found.unknown) == (3, ["maybe"])


def test_amounts_are_read_from_numbers_and_text():
    want = [1.5, 1200.0]
    for cells in ([1.5, None, 1200.0], ["1.5", "", "$1,200"], ["1.5", "NA", "1200"], [1.5, np.nan, 1200]):
        found = read_labels(pl.Series("y", cells, strict=False), None)
        assert found.y.tolist() == want
        assert found.rows.tolist() == [0, 2]
        assert found.missing == 1
    with pytest.raises(StudyError, match="Row 2 of the target “y” holds “much”"):
        read_labels(pl.Series("y", ["1", "much"]), None)
