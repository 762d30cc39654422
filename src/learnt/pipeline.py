"""Steps one after another or side by side: scikit-learn's containers, as they are."""

from sklearn.pipeline import (
    FeatureUnion,
    Pipeline,
    make_pipeline,
    make_union,
)

__all__ = [
    "FeatureUnion",
    "Pipeline",
    "make_pipeline",
    "make_union",
]
