"""Preparing data for models.

    AnscombeTransformer  Poisson counts, amplified or not, to variance 1
    StandardScaler   each column to mean 0 and variance 1; from sums over rows, so at any scale
    TableEncoder     any data frame in, numbers out: types, missing cells, categories, dates, text, money strings
    profile          what a table holds, and what is wrong with it, as plain data
    PolynomialFeatures, FourierFeatures, GaussianFeatures, FunctionFeatures
                     products, waves, bumps and any functions of columns, for linear models of what is not linear

Files: `_frame` reads any table into plain columns, `_strings` and `_dates` read what is written in strings
(`_few_strings`: one by one where they are few), `_kinds` decides what a column is, `_coding`, `_categories` and
`_words` turn it into numbers.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from learnt.engine.late_import import names_when_used

if TYPE_CHECKING:
    from learnt.preprocessing._anscombe import AnscombeTransformer as AnscombeTransformer
    from learnt.preprocessing._fourier import FourierFeatures as FourierFeatures
    from learnt.preprocessing._function_features import FunctionFeatures as FunctionFeatures
    from learnt.preprocessing._gaussian_features import GaussianFeatures as GaussianFeatures
    from learnt.preprocessing._polynomial import PolynomialFeatures as PolynomialFeatures
    from learnt.preprocessing._profile import profile as profile
    from learnt.preprocessing._standard_scaler import StandardScaler as StandardScaler
    from learnt.preprocessing._table_encoder import TableEncoder as TableEncoder

__all__ = [
    "AnscombeTransformer",
    "FourierFeatures",
    "FunctionFeatures",
    "GaussianFeatures",
    "PolynomialFeatures",
    "StandardScaler",
    "TableEncoder",
    "profile",
]

# Imported when first used: a scaler should not wait for Polars.
_FILES = {
    "AnscombeTransformer": "_anscombe",
    "FourierFeatures": "_fourier",
    "FunctionFeatures": "_function_features",
    "GaussianFeatures": "_gaussian_features",
    "PolynomialFeatures": "_polynomial",
    "StandardScaler": "_standard_scaler",
    "TableEncoder": "_table_encoder",
    "profile": "_profile",
}

__getattr__, __dir__ = names_when_used("learnt.preprocessing", _FILES)
