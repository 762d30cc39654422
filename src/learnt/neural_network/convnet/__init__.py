"""Convolutional networks as estimators.

_images       images of any layout as rows, and back
_augment      small changes of the images of a batch
_default      layers that suit an image
_network      the network in training: a batch in pieces, on all threads
_base         what the two estimators share
_classifier   ConvNetClassifier
_regressor    ConvNetRegressor
"""

from learnt.neural_network.convnet._augment import Augment as Augment

__all__ = ["Augment"]
