"""Patches of images: scikit-learn's transformers, as they are."""

from sklearn.feature_extraction.image import (
    PatchExtractor,
    extract_patches_2d,
    grid_to_graph,
    img_to_graph,
    reconstruct_from_patches_2d,
)

__all__ = [
    "PatchExtractor",
    "extract_patches_2d",
    "grid_to_graph",
    "img_to_graph",
    "reconstruct_from_patches_2d",
]
