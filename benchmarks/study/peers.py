"""The alternatives, each in a few lines and with its defaults; packages that are not installed are named."""

from __future__ import annotations

from collections.abc import Callable
from importlib.util import find_spec
from typing import Any

import numpy as np
import pandas as pd

Fitted = Any
Fit = Callable[[pd.DataFrame, Any, bool, int], Fitted]


def prepare(train: pd.DataFrame, test: pd.DataFrame) -> tuple[pd.DataFrame, pd.DataFrame]:
    """Strings as categories of the training rows, everything else as numbers."""
    train, test = train.copy(), test.copy()
    for column in train.columns:
        if pd.api.types.is_numeric_dtype(train[column]) or pd.api.types.is_bool_dtype(train[column]):
            train[column], test[column] = train[column].astype(float), test[column].astype(float)
        else:
            kind = pd.CategoricalDtype(sorted(map(str, train[column].dropna().unique())))
            train[column] = train[column].map(str, na_action="ignore").astype(kind)
            test[column] = test[column].map(str, na_action="ignore").astype(kind)
    return train, test


def lightgbm(X: pd.DataFrame, y: Any, classify: bool, threads: int) -> Fitted:
    from lightgbm import LGBMClassifier, LGBMRegressor

    X = X.rename(columns={c: f"c{k}" for k, c in enumerate(X.columns)})
    return _Renamed((LGBMClassifier if classify else LGBMRegressor)(n_jobs=threads, verbose=-1).fit(X, y))


def xgboost(X: pd.DataFrame, y: Any, classify: bool, threads: int) -> Fitted:
    from xgboost import XGBClassifier, XGBRegressor

    X = X.rename(columns={c: f"c{k}" for k, c in enumerate(X.columns)})
    kind = XGBClassifier if classify else XGBRegressor
    return _Renamed(kind(n_jobs=threads, enable_categorical=True).fit(X, y))


def catboost(X: pd.DataFrame, y: Any, classify: bool, threads: int) -> Fitted:
    from catboost import CatBoostClassifier, CatBoostRegressor

    named = [c for c in X.columns if isinstance(X[c].dtype, pd.CategoricalDtype)]
    kind = CatBoostClassifier if classify else CatBoostRegressor
    model = kind(thread_count=threads, verbose=0, allow_writing_files=False, cat_features=named)
    return _Filled(model.fit(_filled(X), y))


def hist_boosting(X: pd.DataFrame, y: Any, classify: bool, threads: int) -> Fitted:
    from sklearn.ensemble import HistGradientBoostingClassifier, HistGradientBoostingRegressor
    from sklearn.pipeline import make_pipeline

    few = [c for c in X.columns if not isinstance(X[c].dtype, pd.CategoricalDtype) or len(X[c].cat.categories) <= 255]
    kind = HistGradientBoostingClassifier if classify else HistGradientBoostingRegressor
    return make_pipeline(_Columns(few), kind()).fit(X, y)


def forest(X: pd.DataFrame, y: Any, classify: bool, threads: int) -> Fitted:
    from sklearn.ensemble import RandomForestClassifier, RandomForestRegressor
    from sklearn.pipeline import make_pipeline

    kind = RandomForestClassifier if classify else RandomForestRegressor
    return make_pipeline(_numbers(X, scale=False), kind(n_jobs=threads, random_state=0)).fit(X, y)


def linear(X: pd.DataFrame, y: Any, classify: bool, threads: int) -> Fitted:
    from sklearn.linear_model import LogisticRegression, Ridge
    from sklearn.pipeline import make_pipeline

    model = LogisticRegression(max_iter=1000) if classify else Ridge()
    return make_pipeline(_numbers(X, scale=True), model).fit(X, y)


PEERS: dict[str, Fit] = {
    "LightGBM": lightgbm,
    "XGBoost": xgboost,
    "CatBoost": catboost,
    "sklearn boosting": hist_boosting,
    "sklearn forest": forest,
    "sklearn linear": linear,
}
SLOW = "CatBoost"  # a thousand rounds: minutes where the others take seconds
_PACKAGES = {"LightGBM": "lightgbm", "XGBoost": "xgboost", "CatBoost": "catboost"}


def installed() -> list[str]:
    """The peers that can run here."""
    return [name for name in PEERS if name not in _PACKAGES or find_spec(_PACKAGES[name])]


# --- small helpers -------------------------------------------------------------------------------------------


class _Renamed:
    """Columns by number: some libraries refuse brackets and blanks in names."""

    def __init__(self, model: Any) -> None:
        self.model = model

    def predict(self, X: pd.DataFrame) -> np.ndarray:
        return self.model.predict(X.rename(columns={c: f"c{k}" for k, c in enumerate(X.columns)}))

    def predict_proba(self, X: pd.DataFrame) -> np.ndarray:
        return self.model.predict_proba(X.rename(columns={c: f"c{k}" for k, c in enumerate(X.columns)}))


class _Filled:
    """Missing categories as a word, which is how CatBoost takes them."""

    def __init__(self, model: Any) -> None:
        self.model = model

    def predict(self, X: pd.DataFrame) -> np.ndarray:
        return np.asarray(self.model.predict(_filled(X))).ravel()

    def predict_proba(self, X: pd.DataFrame) -> np.ndarray:
        return self.model.predict_proba(_filled(X))


def _filled(X: pd.DataFrame) -> pd.DataFrame:
    filled = X.copy()  # not by `assign`, which takes no column named "self"
    for column in X.columns:
        if _is_named(X[column]):
            filled[column] = X[column].astype(object).where(X[column].notna(), "missing").astype(str)
    return filled


def _is_named(column: pd.Series) -> bool:
    return isinstance(column.dtype, pd.CategoricalDtype)


def _numbers(X: pd.DataFrame, *, scale: bool) -> Any:
    from sklearn.compose import ColumnTransformer
    from sklearn.impute import SimpleImputer
    from sklearn.pipeline import make_pipeline
    from sklearn.preprocessing import OneHotEncoder, StandardScaler

    named = [c for c in X.columns if _is_named(X[c])]
    rest = [c for c in X.columns if c not in named]
    filling = SimpleImputer(strategy="median", add_indicator=True, keep_empty_features=True)
    numeric = make_pipeline(filling, StandardScaler()) if scale else filling
    return ColumnTransformer([("named", OneHotEncoder(handle_unknown="ignore"), named), ("rest", numeric, rest)])


class _Columns:
    """Keeps some columns."""

    def __init__(self, columns: list[str]) -> None:
        self.columns = columns

    def fit(self, X: pd.DataFrame, y: Any = None) -> _Columns:
        return self

    def transform(self, X: pd.DataFrame) -> pd.DataFrame:
        return X[self.columns]

    def fit_transform(self, X: pd.DataFrame, y: Any = None) -> pd.DataFrame:
        return self.transform(X)
