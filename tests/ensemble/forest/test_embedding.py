"""Rows as leaves of random trees: scikit-learn's own matrix, and what must hold of any."""

import numpy as np
import pandas as pd
import pytest
from scipy import sparse
from sklearn.base import clone
from sklearn.ensemble import RandomTreesEmbedding as Oracle
from sklearn.exceptions import NotFittedError

from learnt.ensemble import RandomTreesEmbedding
from learnt.tree import ExtraTreeRegressor


@pytest.fixture(scope="module")
def X():
    return np.random.default_rng(0).normal(size=(150, 4)).astype(np.float32)


@pytest.mark.parametrize(
    "params",
    [{}, {"max_depth": None}, {"min_samples_leaf": 5}, {"min_samples_split": 0.2}, {"min_impurity_decrease": 0.005}],
    ids=["defaults", "full depth", "leaf", "split", "decrease"],
)
@pytest.mark.sweep
def test_same_draws_as_the_oracle(X, params):
    ours, theirs = (kind(15, random_state=3, **params) for kind in (RandomTreesEmbedding, Oracle))
    found, expected = ours.fit_transform(X), theirs.fit_transform(X)
    assert type(found) is type(expected)
    assert found.dtype == expected.dtype
    assert (found != expected).nnz == 0
    assert (ours.transform(X[::-1] + 0.1) != theirs.transform(X[::-1] + 0.1)).nnz == 0
    assert ours.get_feature_names_out().tolist() == theirs.get_feature_names_out().tolist()
    np.testing.assert_array_equal(ours.apply(X), theirs.apply(X))
    np.testing.assert_allclose(ours.feature_importances_, theirs.feature_importances_)


@pytest.mark.parametrize("sparse_output", [True, False])
@pytest.mark.parametrize("depth", [1, 5, None])
def test_the_encoder_is_the_oracles(X, depth, sparse_output):
    settings = {"max_depth": depth, "random_state": 3, "sparse_output": sparse_output}
    ours, theirs = (kind(7, **settings).fit(X) for kind in (RandomTreesEmbedding, Oracle))
    encoder, expected = ours.one_hot_encoder_, theirs.one_hot_encoder_
    assert encoder.get_params() == expected.get_params()
    assert encoder.n_features_in_ == 7
    for found, known in zip(encoder.categories_, expected.categories_, strict=True):
        np.testing.assert_array_equal(found, known)
    Z, expected_Z = encoder.transform(ours.apply(X)), ours.transform(X)
    assert type(Z) is type(expected_Z)
    assert abs(Z - expected_Z).max() == 0
    with pytest.raises(NotFittedError):
        RandomTreesEmbedding().one_hot_encoder_  # noqa: B018


@pytest.mark.long
def test_best_first_trees_cut_as_the_oracle_does(X):
    ours, theirs = (
        kind(8, random_state=1, max_leaf_nodes=7).fit_transform(X) for kind in (RandomTreesEmbedding, Oracle)
    )
    np.testing.assert_array_equal((ours @ ours.T).toarray(), (theirs @ theirs.T).toarray())  # leaves have other numbers


def test_weights_are_those_of_the_oracle(X):
    weights = np.random.default_rng(1).integers(0, 3, size=len(X)).astype(float)
    ours, theirs = (kind(6, random_state=0).fit_transform(X, None, weights) for kind in (RandomTreesEmbedding, Oracle))
    assert (ours != theirs).nnz == 0


def test_one_one_a_tree_in_the_column_of_the_leaf(X):
    model = RandomTreesEmbedding(9, max_depth=3, random_state=0, sparse_output=False).fit(X)
    Z, leaves = model.transform(X), model.apply(X)
    np.testing.assert_array_equal(Z.sum(axis=1), 9)
    names = [name.split("_")[1:] for name in model.get_feature_names_out()]
    for column, (tree, leaf) in enumerate(names):
        np.testing.assert_array_equal(Z[:, column] == 1, leaves[:, int(tree)] == int(leaf))
    assert (Z.sum(axis=0) > 0).all()
    assert len(names) == Z.shape[1] <= 9 * 8


def test_trees_are_extra_trees_of_a_random_target(X):
    model = RandomTreesEmbedding(3, random_state=5).fit(X)
    target = np.random.RandomState(5).uniform(size=len(X))
    for k, member in enumerate(model.estimators_):
        assert type(member) is ExtraTreeRegressor
        assert member.max_features == 1
        np.testing.assert_array_equal(clone(member).fit(X, target).apply(X), model.apply(X)[:, k])


@pytest.mark.long
def test_sparse_and_frames_and_warm_start(X):
    thin = np.where(np.abs(X) < 0.5, 0, X)
    dense = RandomTreesEmbedding(5, random_state=0).fit_transform(thin)
    assert (dense != RandomTreesEmbedding(5, random_state=0).fit_transform(sparse.csr_array(thin))).nnz == 0
    frame = pd.DataFrame(X, columns=list("abcd"))
    model = RandomTreesEmbedding(2, random_state=0, sparse_output=False, warm_start=True).set_output(transform="pandas")
    assert model.fit_transform(frame).columns[0].startswith("randomtreesembedding_0_")
    more = model.set_params(n_estimators=5).fit(frame)
    whole = RandomTreesEmbedding(5, random_state=0).fit_transform(X).toarray()
    np.testing.assert_array_equal(more.transform(frame).to_numpy(), whole)
    with pytest.raises(ValueError, match="not equal to feature_names_in_"):
        more.get_feature_names_out(["a", "b", "c", "e"])
    with pytest.raises(ValueError, match="length equal to number of features"):
        more.get_feature_names_out(["a"])


def test_bad_parameters_are_refused(X):
    for params in ({"sparse_output": "yes"}, {"max_depth": 0}, {"n_estimators": 0}):
        with pytest.raises(ValueError, match="must be"):
            RandomTreesEmbedding(**params).fit(X)


def test_rows_of_one_kind_make_one_leaf_a_tree():
    Z = RandomTreesEmbedding(4, random_state=0).fit_transform(np.ones((5, 2)))
    np.testing.assert_array_equal(Z.toarray(), np.ones((5, 4)))
