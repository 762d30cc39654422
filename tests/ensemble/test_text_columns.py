"""A data frame with text fits as it is: trees, forests and histogram boosting see its categories by themselves."""

import numpy as np
import pytest
from scipy import sparse
from sklearn.base import clone

from learnt.ensemble import (
    ExtraTreesRegressor,
    HistGradientBoostingClassifier,
    HistGradientBoostingRegressor,
    RandomForestClassifier,
    RandomForestRegressor,
)
from learnt.tree import DecisionTreeClassifier, DecisionTreeRegressor, ExtraTreeRegressor

pd = pytest.importorskip("pandas")
pl = pytest.importorskip("polars")

MODELS = [
    DecisionTreeClassifier(max_depth=4),
    DecisionTreeRegressor(max_depth=4),
    RandomForestClassifier(5, random_state=0),
    RandomForestRegressor(5, random_state=0),
    HistGradientBoostingClassifier(max_iter=5),
    HistGradientBoostingRegressor(max_iter=5),
]
# Random cuts between categories are compiled for few other tests.
RANDOM = [ExtraTreeRegressor(max_depth=4, random_state=0), ExtraTreesRegressor(5, random_state=0)]


def columns(n=240):
    rng = np.random.default_rng(0)
    town = rng.choice(["Ulm", "Bonn", "Jena", "Kiel"], n).astype(object)
    size = rng.normal(size=n)
    y = (np.isin(town, ["Bonn", "Kiel"]) ^ (size > 0.8)).astype(int)
    town[::17] = None
    return {"town": town, "size": size, "floor": rng.integers(0, 4, n)}, y


@pytest.mark.parametrize(
    "model", [*MODELS, *(pytest.param(m, marks=pytest.mark.long) for m in RANDOM)], ids=lambda m: type(m).__name__
)
@pytest.mark.parametrize("frame", [pd.DataFrame, pl.DataFrame], ids=["pandas", "polars"])
def test_text_is_categories_by_itself(model, frame):
    table, y = columns()
    X = frame({name: values.tolist() for name, values in table.items()})
    found = clone(model).fit(X, y)
    assert np.array_equal(found.predict(X), clone(model).set_params(categorical_features=["town"]).fit(X, y).predict(X))
    assert found.score(X, y) > 0.5
    stranger = frame({"town": ["Rom", "Ulm"], "size": [0.0, 0.0], "floor": [1, 1]})
    assert np.isfinite(found.predict(stranger)).all()


def test_text_of_numbers_stays_numbers():
    x = np.arange(40.0)
    y = (x > 25).astype(int)
    tree = DecisionTreeClassifier().fit(pd.DataFrame({"x": x.astype(str).astype(object)}), y)
    assert tree.tree_.threshold[0] == 25.5


def test_none_means_no_categories():
    table, y = columns()
    with pytest.raises(ValueError, match="'town' of X holds"):
        DecisionTreeClassifier(categorical_features=None).fit(pd.DataFrame(table), y)
    X = pd.DataFrame({"town": pd.Categorical.from_codes(np.arange(40) % 4, [3.0, 1.0, 2.0, 0.0])})
    y = np.arange(40) % 4 == 2
    assert DecisionTreeClassifier(categorical_features=None).fit(X, y).get_n_leaves() == 3  # 2 lies between 1 and 3
    assert DecisionTreeClassifier().fit(X, y).get_n_leaves() == 2  # a category is told from all others at once


def test_sparse_tables_and_arrays_of_text_are_as_before():
    X = sparse.random(60, 5, 0.5, random_state=0, format="csr")
    y = np.arange(60) % 2
    assert RandomForestClassifier(3, random_state=0).fit(X, y).score(X, y) > 0.5
    with pytest.raises(ValueError, match="sparse"):
        RandomForestClassifier(3, categorical_features=[0]).fit(X, y)
    with pytest.raises(ValueError, match="could not convert string to float"):
        RandomForestClassifier(3).fit(np.array([["a"], ["b"]] * 30, dtype=object), y)


def test_bins_are_refused_where_a_frame_has_categories():
    table, y = columns()
    with pytest.raises(ValueError, match="columns of categories; use splitter='exact' or 'auto'"):
        RandomForestClassifier(3, splitter="binned").fit(pd.DataFrame(table), y)
    numbers = pd.DataFrame({"size": table["size"]})
    assert RandomForestClassifier(3, splitter="binned").fit(numbers, y).score(numbers, y) > 0.5
