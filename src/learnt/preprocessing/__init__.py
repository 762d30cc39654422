"""Preparing data for models.

    AnscombeTransformer  Poisson counts, amplified or not, to variance 1
    StandardScaler   each column to mean 0 and variance 1; from sums over rows, so at any scale
    TableEncoder     any data frame in, numbers out: types, missing cells, categories, dates, text, money strings
    profile          what a table holds, and what is wrong with it, as plain data
    PolynomialFeatures, FourierFeatures, GaussianFeatures, FunctionFeatures
                     products, waves, bumps and any functions of columns, for linear models of what is not linear
    OneHotEncoder, OrdinalEncoder, LabelEncoder, MinMaxScaler, RobustScaler, …
                     scikit-learn's own (`_borrowed`) under the same names: changing the import is the migration

Files: `_frame` reads any table into plain columns, `_strings` and `_dates` read what is written in strings
(`_few_strings`: one by one where they are few), `_kinds` decides what a column is, `_coding`, `_categories` and
`_words` turn it into numbers.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from learnt.engine.late_import import names_when_used

if TYPE_CHECKING:
    from sklearn.preprocessing import Binarizer as Binarizer
    from sklearn.preprocessing import FunctionTransformer as FunctionTransformer
    from sklearn.preprocessing import KBinsDiscretizer as KBinsDiscretizer
    from sklearn.preprocessing import KernelCenterer as KernelCenterer
    from sklearn.preprocessing import LabelBinarizer as LabelBinarizer
    from sklearn.preprocessing import LabelEncoder as LabelEncoder
    from sklearn.preprocessing import MaxAbsScaler as MaxAbsScaler
    from sklearn.preprocessing import MinMaxScaler as MinMaxScaler
    from sklearn.preprocessing import MultiLabelBinarizer as MultiLabelBinarizer
    from sklearn.preprocessing import Normalizer as Normalizer
    from sklearn.preprocessing import OneHotEncoder as OneHotEncoder
    from sklearn.preprocessing import OrdinalEncoder as OrdinalEncoder
    from sklearn.preprocessing import PowerTransformer as PowerTransformer
    from sklearn.preprocessing import QuantileTransformer as QuantileTransformer
    from sklearn.preprocessing import RobustScaler as RobustScaler
    from sklearn.preprocessing import SplineTransformer as SplineTransformer
    from sklearn.preprocessing import TargetEncoder as TargetEncoder
    from sklearn.preprocessing import add_dummy_feature as add_dummy_feature
    from sklearn.preprocessing import binarize as binarize
    from sklearn.preprocessing import label_binarize as label_binarize
    from sklearn.preprocessing import maxabs_scale as maxabs_scale
    from sklearn.preprocessing import minmax_scale as minmax_scale
    from sklearn.preprocessing import normalize as normalize
    from sklearn.preprocessing import power_transform as power_transform
    from sklearn.preprocessing import quantile_transform as quantile_transform
    from sklearn.preprocessing import robust_scale as robust_scale
    from sklearn.preprocessing import scale as scale

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
    "Binarizer",
    "FourierFeatures",
    "FunctionFeatures",
    "FunctionTransformer",
    "GaussianFeatures",
    "KBinsDiscretizer",
    "KernelCenterer",
    "LabelBinarizer",
    "LabelEncoder",
    "MaxAbsScaler",
    "MinMaxScaler",
    "MultiLabelBinarizer",
    "Normalizer",
    "OneHotEncoder",
    "OrdinalEncoder",
    "PolynomialFeatures",
    "PowerTransformer",
    "QuantileTransformer",
    "RobustScaler",
    "SplineTransformer",
    "StandardScaler",
    "TableEncoder",
    "TargetEncoder",
    "add_dummy_feature",
    "binarize",
    "label_binarize",
    "maxabs_scale",
    "minmax_scale",
    "normalize",
    "power_transform",
    "profile",
    "quantile_transform",
    "robust_scale",
    "scale",
]

# Imported when first used: a scaler should not wait for Polars.
_FILES = dict.fromkeys(__all__, "_borrowed") | {
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
