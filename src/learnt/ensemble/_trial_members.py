"""The estimators that ensembles of any estimators are tried with, imported when they are."""

from __future__ import annotations

from typing import Any

from learnt.engine.estimator import Takes


def one_classifier() -> Any:
    """A classifier that takes weights."""
    from learnt.naive_bayes import GaussianNB

    return GaussianNB()


def one_regressor() -> Any:
    """A regressor that takes weights."""
    from learnt.linear_model import Ridge

    return Ridge()


def classifiers() -> list[tuple[str, Any]]:
    """Two named classifiers."""
    from learnt.neighbors import KNeighborsClassifier

    return [("near", KNeighborsClassifier()), ("bayes", one_classifier())]


def regressors() -> list[tuple[str, Any]]:
    """Two named regressors."""
    from learnt.linear_model import LinearRegression

    return [("line", LinearRegression()), ("ridge", one_regressor())]


def takes_what_members_take(model: Any) -> Takes:
    """By the tags of an ensemble, which depend on its members."""
    tags = model.__sklearn_tags__().input_tags
    return Takes(sparse=tags.sparse, missing=tags.allow_nan)
