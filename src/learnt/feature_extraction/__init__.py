"""Numbers from dictionaries, text (`text`) and images (`image`): scikit-learn's transformers, as they are."""

from sklearn.feature_extraction import (
    DictVectorizer,
    FeatureHasher,
    grid_to_graph,
    img_to_graph,
)

__all__ = [
    "DictVectorizer",
    "FeatureHasher",
    "grid_to_graph",
    "img_to_graph",
]
