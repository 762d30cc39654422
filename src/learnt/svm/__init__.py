"""Support vector machines.

    LinearSVC   classes by a plane with the widest margin
    LinearSVR   numbers by a line that small misses cost nothing

The mathematics is in pure functions beside the classes: `_losses` (all four losses as one family), `_newton`
(semismooth Newton with proximal points), `_descent` (dual coordinate descent with leaps, for large sparse tables),
`_strategy` (which of them when), `_sparse_coefficients` and `_thin_columns` (the absolute penalty), `_joint` (all
classes at once).
"""

from learnt.svm._svc import LinearSVC as LinearSVC
from learnt.svm._svr import LinearSVR as LinearSVR

__all__ = ["LinearSVC", "LinearSVR"]
