"""Neural networks, most of them on PyTorch (`pip install 'learnt[nets]'`).

    MLPClassifier, MLPRegressor              layers of units between columns and classes or numbers
    ConvNetClassifier, ConvNetRegressor      images
    BernoulliRBM                             hidden units of 0 and 1 that explain visible ones

Training needs PyTorch, prediction with a multilayer perceptron does not, nor does `BernoulliRBM`. The files:

    _mlp, _mlp_classifier, _mlp_regressor    the estimators
    _rbm         the restricted Boltzmann machine
    _trained     what all networks share around the training loop
    _forward     prediction with NumPy
    _labels_in_single    labels in single precision, where its error bound proves them
    _inputs      categories, empty cells and numbers as inputs of the first layer
    _module      batch normalisation and embeddings, by automatic differentiation
    _torch       PyTorch, imported when a network is first trained
    training/    the loop: batches, optimisers, stopping, checkpoints, warnings that name the layer
    layers/      Conv, MaxPool, Dense, …: what a network is made of, shapes and the table of a network
    convnet/     images of any layout, augmentation
"""

from learnt.neural_network._mlp_classifier import MLPClassifier as MLPClassifier
from learnt.neural_network._mlp_regressor import MLPRegressor as MLPRegressor
from learnt.neural_network._rbm import BernoulliRBM
from learnt.neural_network.convnet._augment import Augment
from learnt.neural_network.convnet._classifier import ConvNetClassifier
from learnt.neural_network.convnet._regressor import ConvNetRegressor
from learnt.neural_network.layers import (
    AvgPool,
    BatchNorm,
    Conv,
    Dense,
    Dropout,
    Flatten,
    MaxPool,
    conv_output_size,
    summary,
)
from learnt.neural_network.training import NetworkHealthWarning

__all__ = [
    "Augment",
    "AvgPool",
    "BatchNorm",
    "BernoulliRBM",
    "Conv",
    "ConvNetClassifier",
    "ConvNetRegressor",
    "Dense",
    "Dropout",
    "Flatten",
    "MLPClassifier",
    "MLPRegressor",
    "MaxPool",
    "NetworkHealthWarning",
    "conv_output_size",
    "summary",
]
