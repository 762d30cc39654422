"""What an estimator declares about itself, in its own file, and how other code reads it.

    class NearestMean(RowsClassifier, Estimator):
        __learnt_schema__ = Schema(state={**CLASSES, "centroids_": real("c", "d")})
        __learnt_takes__ = Takes(tensors=True, lazy=True)
        __learnt_trial__ = Trial(quick={"tol": 1e-8})

    __learnt_schema__   what a model file may hold (`engine.schema`): `learnt.save` and `learnt.load` hold to it
    __learnt_takes__    which tables it takes: `check_fit`, `check_predict`, scikit-learn's tags, docs/coverage.md
    __learnt_trial__    how it is tried: the tests' laws, `learnt warmup`, crafted model files

All three are inherited. Those that depend on a parameter are properties.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from typing import Any, NamedTuple

import numpy as np

from learnt.engine.documentation import Documented
from learnt.engine.mixins import BaseEstimator, is_classifier, is_regressor

Settings = Mapping[str, Any]


@dataclass(frozen=True)
class Takes:
    """Which tables an estimator takes besides NumPy arrays and data frames of finite numbers."""

    sparse: bool = False  # SciPy matrices
    tensors: bool = False  # arrays of other libraries, on their device
    lazy: bool = False  # Dask collections and `learnt.scan` tables, read in blocks
    categories: bool = False  # columns of text or categories
    missing: bool = False  # NaN and empty cells


class Warm(NamedTuple):
    """One fit of `learnt warmup`: what y is (a name of `TARGETS`), settings, and whether X is sparse."""

    target: str
    settings: Settings = {}
    sparse: bool = False


TARGETS = ("amount", "two amounts", "positive", "two classes", "classes", "none")


@dataclass(frozen=True)
class Trial:
    """How an estimator is tried. Where a law of the tests does not hold for a class, it is declared here."""

    # Settings that make a fit quick and, where answers are compared, exact; a function where they name estimators.
    quick: Settings | Callable[[], Settings] = field(default_factory=dict)
    # The fits that compile its kernels; by default one with the quick settings.
    warmup: tuple[Warm, ...] | Callable[[], tuple[Warm, ...]] = ()
    # More settings, where fits to sparse rows are compared with fits to dense ones.
    sparse: Settings = field(default_factory=dict)
    # More settings made from X, where fits to the same rows in another order, storage or number are compared.
    start: Callable[[Any], Settings] | None = None
    # Settings to try besides the quick ones where rows of weight 0 are left out: what counts, draws or holds out rows.
    weighted: tuple[Settings, ...] = ()
    # The order of the rows does not change the model.
    any_order: bool = True
    # A weight of 2 is the row twice; not so where rows are drawn or visited in a random order.
    weight_repeats: bool = True
    # The model does not depend on the unit of the weights; not so where a penalty or a step is measured by them.
    weight_unit_free: bool = True
    # The most rows that a fit is tried with, where the time or the memory grows with their square.
    most_rows: int | None = None
    # Checks of scikit-learn that cannot hold for it; the class says why beside them.
    exempt: tuple[str, ...] = ()
    # The parameter that says how many members there are after a `warm_start` fit.
    members: str | None = None
    # What y is (a name of `TARGETS`) where scikit-learn's tags do not say it: a transformer that needs classes.
    target: str | None = None

    def settings(self) -> dict[str, Any]:
        """The quick settings."""
        return dict(self.quick() if callable(self.quick) else self.quick)


NUMBERS_ALONE, PLAIN = Takes(), Trial()


def takes_of(estimator: Any) -> Takes:
    """Which tables an estimator takes."""
    return getattr(estimator, "__learnt_takes__", NUMBERS_ALONE)


def trial_of(cls: type) -> Trial:
    """How a class is tried."""
    return getattr(cls, "__learnt_trial__", PLAIN)


def target_of(estimator: Any) -> str:
    """The kind of y that an estimator is fitted to, as a name of `TARGETS`."""
    tags, told = estimator.__sklearn_tags__().target_tags, trial_of(type(estimator)).target
    if told is not None:
        return told
    if is_classifier(estimator):
        return "classes"
    if not (is_regressor(estimator) or tags.required):
        return "none"
    if tags.positive_only:
        return "positive"
    return "amount" if tags.single_output else "two amounts"


def acceptable(X: np.ndarray, estimator: Any) -> np.ndarray:
    """A table of numbers that the estimator accepts: of one column where it takes no more; counts from 0 to 9 where it
    takes no negative numbers."""
    if not estimator.__sklearn_tags__().input_tags.two_d_array:
        X = X[:, :1]
    if not estimator.__sklearn_tags__().input_tags.positive_only:
        return X
    return np.clip(np.round(X + 1), 0, 9).astype(X.dtype)


def warmup_of(cls: type) -> tuple[Warm, ...]:
    """The fits that compile what a class needs."""
    trial = trial_of(cls)
    declared = trial.warmup() if callable(trial.warmup) else trial.warmup
    if declared:
        return declared
    quick = trial.settings()
    return (Warm(target_of(cls(**quick)), quick),)


class Estimator(Documented, BaseEstimator):
    """scikit-learn's base class, with tags and docstrings that follow from what the class declares."""

    @property
    def __learnt_takes__(self) -> Takes:
        return NUMBERS_ALONE

    def __sklearn_tags__(self) -> Any:
        tags = super().__sklearn_tags__()
        tags.input_tags.sparse = self.__learnt_takes__.sparse
        tags.input_tags.allow_nan = self.__learnt_takes__.missing
        return tags
