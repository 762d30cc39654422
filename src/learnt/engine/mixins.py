"""scikit-learn's base classes, with the types that it leaves out: editors then know what `score` and its kin return.

When the code runs they are scikit-learn's own. Arguments are left open, since estimators take different ones.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Self

if TYPE_CHECKING:
    from sklearn.base import BaseEstimator as BaseEstimator
    from sklearn.base import MetaEstimatorMixin as MetaEstimatorMixin
    from sklearn.base import MultiOutputMixin as MultiOutputMixin
    from sklearn.base import clone as clone
    from sklearn.base import is_classifier as is_classifier
    from sklearn.base import is_regressor as is_regressor

    class ClassifierMixin:
        _estimator_type: str

        def score(self, *args: Any, **options: Any) -> float: ...
        def __sklearn_tags__(self) -> Any: ...

    class RegressorMixin:
        _estimator_type: str

        def score(self, *args: Any, **options: Any) -> float: ...
        def __sklearn_tags__(self) -> Any: ...

    class ClusterMixin:
        _estimator_type: str

        def fit_predict(self, *args: Any, **options: Any) -> Any: ...
        def __sklearn_tags__(self) -> Any: ...

    class BiclusterMixin:
        def get_indices(self, i: int) -> Any: ...
        def get_shape(self, i: int) -> Any: ...
        def get_submatrix(self, i: int, data: Any) -> Any: ...
        @property
        def biclusters_(self) -> Any: ...

    class OutlierMixin:
        _estimator_type: str

        def fit_predict(self, *args: Any, **options: Any) -> Any: ...
        def __sklearn_tags__(self) -> Any: ...

    class DensityMixin:
        _estimator_type: str

        def score(self, *args: Any, **options: Any) -> float: ...
        def __sklearn_tags__(self) -> Any: ...

    class TransformerMixin:
        def fit_transform(self, *args: Any, **options: Any) -> Any: ...
        def set_output(self, *, transform: str | None = None) -> Self: ...
        def __sklearn_tags__(self) -> Any: ...

    class OneToOneFeatureMixin:
        def get_feature_names_out(self, input_features: Any = None) -> Any: ...

    class ClassNamePrefixFeaturesOutMixin:
        def get_feature_names_out(self, input_features: Any = None) -> Any: ...

else:
    from sklearn.base import (
        BaseEstimator,
        BiclusterMixin,
        ClassifierMixin,
        ClassNamePrefixFeaturesOutMixin,
        ClusterMixin,
        DensityMixin,
        MetaEstimatorMixin,
        MultiOutputMixin,
        OneToOneFeatureMixin,
        OutlierMixin,
        RegressorMixin,
        TransformerMixin,
        clone,
        is_classifier,
        is_regressor,
    )

__all__ = [
    "BaseEstimator",
    "BiclusterMixin",
    "ClassNamePrefixFeaturesOutMixin",
    "ClassifierMixin",
    "ClusterMixin",
    "DensityMixin",
    "MetaEstimatorMixin",
    "MultiOutputMixin",
    "OneToOneFeatureMixin",
    "OutlierMixin",
    "RegressorMixin",
    "TransformerMixin",
    "clone",
    "is_classifier",
    "is_regressor",
]
