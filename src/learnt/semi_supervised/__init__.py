"""Classification where only some rows have a label; the others are marked −1.

    LabelPropagation, LabelSpreading      labels move along a graph of similar rows
    SelfTrainingClassifier                any classifier, which labels more rows by and by

_labels     which rows have which label        _affinity    weights of pairs of rows; rows joined to their nearest
_steps      how labels move                    _graph       the two classes
_self_training
"""

from learnt.semi_supervised._graph import LabelPropagation, LabelSpreading
from learnt.semi_supervised._self_training import SelfTrainingClassifier

__all__ = ["LabelPropagation", "LabelSpreading", "SelfTrainingClassifier"]
