"""Density estimation: log densities of rows, samples, and novelty detection.

    Gaussian          mean and covariance
    Histogram         counts in bins, whose widths rules choose
    DensityTree       counts in cells that follow the rows, or a Gaussian in each
    DensityForest     the mean of many of these

Every density has `score_samples` (log p of each row), `score` (their mean), `sample`, `predict` (1, or −1 for
novelties: rows less probable than all but a share `contamination` of the training rows), `decision_function`, and
`plot` for one or two features.

_base       what all of them have
_leaves     what a density tree has in its leaves
_picture    one or two features as a picture
"""

from learnt.density._forest import DensityForest
from learnt.density._gaussian import Gaussian
from learnt.density._histogram import Histogram
from learnt.density._tree import DensityTree

__all__ = ["DensityForest", "DensityTree", "Gaussian", "Histogram"]
