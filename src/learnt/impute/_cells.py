"""Tables in which missing cells are NaN, whatever marks them, and what both imputers do with their results."""

from __future__ import annotations

from numbers import Real
from typing import Any

import numpy as np
from sklearn.impute import MissingIndicator
from sklearn.utils.validation import check_is_fitted

from learnt.engine.estimator import Estimator, Takes
from learnt.engine.mixins import TransformerMixin
from learnt.engine.params import ParameterError, check_flag
from learnt.engine.schema import FEATURES, Check, Dims, anyof, instance, none
from learnt.engine.targets import is_missing
from learnt.engine.validation import check_fit, check_predict

SPARE: dict[str, Check] = {**FEATURES, "indicator_": anyof(none, instance(MissingIndicator, "an indicator"))}


def fits_indicator(model: Any, state: dict[str, Any], dims: Dims) -> str | None:
    """An indicator where it was asked for, of the same columns."""
    indicator = state["indicator_"]
    if (indicator is not None) != bool(model.add_indicator):
        return "does not have the indicator it promises"
    if indicator is not None and getattr(indicator, "n_features_in_", None) != dims["d"]:
        return "has an indicator for other columns"
    return None


class Imputer(TransformerMixin, Estimator):
    """A transformer that fills missing cells, and may say beside them where they were."""

    missing_values: Any
    add_indicator: bool
    keep_empty_features: bool
    indicator_: Any
    n_features_in_: int

    @property
    def __learnt_takes__(self) -> Takes:
        return Takes(missing=is_missing(self.missing_values))

    def _check_marks(self) -> None:
        check_flag(self, "add_indicator", "keep_empty_features")

    def _with_nan(self, X: Any, *, reset: bool, copy: bool = True) -> np.ndarray:
        """X as floats in which missing cells, and no others, are NaN; the caller's own memory only if not `copy`."""
        given = X
        X = check_fit(self, X, allow_nan=True).X if reset else check_predict(self, X, allow_nan=True)
        mark, name = self.missing_values, type(self).__name__
        if is_missing(mark):
            cure = f"{name} needs finite numbers; make that cell NaN if it is missing"
            _refuse(np.isinf(X), "infinity", cure)
            wanted = None
        else:
            cure = f"{name} looks for {mark!r}; set missing_values=np.nan, or mark all missing cells alike"
            _refuse(np.isnan(X), "NaN", cure)
            _refuse(np.isinf(X), "infinity", cure)
            if not isinstance(mark, Real):
                raise ParameterError(
                    f"'X' and 'missing_values' types are expected to be both numerical. Got X.dtype={X.dtype} and "
                    f"type(missing_values)={type(mark)}; give {name} a number, np.nan or None."
                )
            wanted = mark == X
        if not X.flags.writeable or (copy and isinstance(given, np.ndarray) and np.may_share_memory(X, given)):
            X = X.copy(order="K")
        if wanted is not None:
            X[wanted] = np.nan
        return X

    def _fit_indicator(self, X: np.ndarray) -> None:
        self.indicator_ = MissingIndicator(error_on_new=False).fit(X) if self.add_indicator else None

    def _with_indicator(self, filled: np.ndarray, where: np.ndarray | None) -> np.ndarray:
        return filled if where is None else np.hstack((filled, where))

    def _indicated(self, X: np.ndarray) -> np.ndarray | None:
        """Where cells of X are missing, for the columns of the indicator; None where it was not asked for."""
        return None if self.indicator_ is None else self.indicator_.transform(X)

    def _kept(self) -> np.ndarray:
        """Which columns of X come out of `transform`."""
        raise NotImplementedError

    def _names_out(self, input_features: Any) -> np.ndarray:
        """The names of the columns that are kept, then those of the indicator."""
        check_is_fitted(self)
        names, kept = column_names(self, input_features), self._kept()
        if self.indicator_ is None:
            return names[kept]
        return np.concatenate([names[kept], self.indicator_.get_feature_names_out(names)])


def column_names(estimator: Any, input_features: Any) -> np.ndarray:
    """The names of the columns that went in: given, remembered from `fit`, or x0, x1, …"""
    known, d = getattr(estimator, "feature_names_in_", None), estimator.n_features_in_
    if input_features is None:
        return np.array([f"x{j}" for j in range(d)], dtype=object) if known is None else known
    names = np.asarray(input_features, dtype=object)
    if known is not None and not np.array_equal(known, names):
        raise ValueError("input_features is not equal to feature_names_in_, the names of the columns in fit.")
    if len(names) != d:
        raise ValueError(f"input_features should have length equal to number of features ({d}), got {len(names)}.")
    return names


def _refuse(bad: np.ndarray, what: str, cure: str) -> None:
    if bad.any():
        row, column = np.unravel_index(int(bad.argmax()), bad.shape)
        raise ValueError(f"Input X contains {what} at row {row}, column {column}, and {cure}.")
