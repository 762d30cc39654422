"""pandas' nullable columns, with its NA in them, are columns with missing values."""

import numpy as np
import pandas as pd
import pytest

from learnt.ensemble import (
    BaggingClassifier,
    ExtraTreesClassifier,
    HistGradientBoostingClassifier,
    RandomForestClassifier,
    StackingClassifier,
    VotingClassifier,
)
from learnt.tree import DecisionTreeClassifier

TREE = DecisionTreeClassifier(random_state=0)
MODELS = [
    TREE,
    RandomForestClassifier(4, random_state=0),
    ExtraTreesClassifier(4, random_state=0),
    BaggingClassifier(n_estimators=3, random_state=0),
    HistGradientBoostingClassifier(max_iter=3, min_samples_leaf=5),
    VotingClassifier([("a", TREE), ("b", TREE)]),
    StackingClassifier([("a", TREE), ("b", TREE)]),
]
# Ensembles of trees that are tried by themselves are swept in the long tier.
SOME_LONG = [*MODELS[:2], MODELS[4], *(pytest.param(MODELS[k], marks=pytest.mark.long) for k in (2, 3, 5, 6))]


def _tables():
    rng = np.random.default_rng(0)
    n = 120
    plain = pd.DataFrame(
        {
            "size": rng.normal(size=n),
            "town": rng.choice(["Rome", "Oslo", "Bern"], n).astype(object),
            "member": (rng.random(n) < 0.5).astype(float),
            "count": rng.integers(0, 9, n).astype(float),
        }
    )
    y = np.where(plain["size"] + (plain["town"] == "Rome") + plain["member"] > 0.8, "yes", "no")
    plain.loc[3, "size"] = plain.loc[4, "member"] = plain.loc[5, "count"] = np.nan
    plain.loc[6, "town"] = None
    kinds = {"size": "Float64", "town": "string", "member": "boolean", "count": "Int64"}
    return plain, plain.astype(kinds), y


@pytest.mark.parametrize("model", SOME_LONG, ids=lambda model: type(model).__name__)
def test_na_is_missing(model):
    plain, nullable, y = _tables()
    assert nullable.isna().to_numpy().sum() == 4
    wanted = model.fit(plain, y).predict(plain)
    np.testing.assert_array_equal(model.predict(nullable), wanted)
    np.testing.assert_array_equal(model.fit(nullable, y).predict(nullable), wanted)


def test_a_label_that_is_na_is_named_by_its_row():
    _, nullable, y = _tables()
    labels = pd.Series(y, dtype="string")
    labels[7] = pd.NA
    with pytest.raises(ValueError, match="y contains NaN or None at row 7"):
        TREE.fit(nullable, labels)
