"""Support vector machines.

    LinearSVC   classes by a plane with the widest margin
    LinearSVR   regression with an epsilon-insensitive loss
    l1_min_c    the C below which an absolute penalty leaves no coefficient
    SVC, NuSVC, SVR, NuSVR, OneClassSVM
                the same with kernels, and a surface around the rows: folder `dual`

The mathematics is in pure functions beside the classes: `_losses` (all four losses as one family), `_newton`
(semismooth Newton with proximal points), `_descent` (dual coordinate descent with leaps, for large sparse tables),
`_strategy` (which of them when), `_sparse_coefficients` and `_thin_columns` (the absolute penalty), `_joint` (all
classes at once).
"""

from learnt.svm._least_c import l1_min_c as l1_min_c
from learnt.svm._svc import LinearSVC as LinearSVC
from learnt.svm._svr import LinearSVR as LinearSVR
from learnt.svm.dual._one_class import OneClassSVM as OneClassSVM
from learnt.svm.dual._svc import SVC as SVC
from learnt.svm.dual._svc import NuSVC as NuSVC
from learnt.svm.dual._svr import SVR as SVR
from learnt.svm.dual._svr import NuSVR as NuSVR

__all__ = ["SVC", "SVR", "LinearSVC", "LinearSVR", "NuSVC", "NuSVR", "OneClassSVM", "l1_min_c"]
