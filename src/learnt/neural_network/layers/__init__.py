"""Layers of networks as plain values, checked against the images before anything is trained.

_specs     Conv, MaxPool, AvgPool, Flatten, Dense, Dropout, BatchNorm
_shapes    the output shape of each: (W − K + 2P)/S + 1, and its number of parameters
_summary   the table of a network
_module    the network itself, of torch
"""

from learnt.neural_network.layers._shapes import Step as Step
from learnt.neural_network.layers._shapes import conv_output_size as conv_output_size
from learnt.neural_network.layers._shapes import plan as plan
from learnt.neural_network.layers._specs import LAYERS as LAYERS
from learnt.neural_network.layers._specs import AvgPool as AvgPool
from learnt.neural_network.layers._specs import BatchNorm as BatchNorm
from learnt.neural_network.layers._specs import Conv as Conv
from learnt.neural_network.layers._specs import Dense as Dense
from learnt.neural_network.layers._specs import Dropout as Dropout
from learnt.neural_network.layers._specs import Flatten as Flatten
from learnt.neural_network.layers._specs import Layer as Layer
from learnt.neural_network.layers._specs import MaxPool as MaxPool
from learnt.neural_network.layers._summary import NetworkSummary as NetworkSummary
from learnt.neural_network.layers._summary import summary as summary

__all__ = [
    "LAYERS",
    "AvgPool",
    "BatchNorm",
    "Conv",
    "Dense",
    "Dropout",
    "Flatten",
    "Layer",
    "MaxPool",
    "NetworkSummary",
    "Step",
    "conv_output_size",
    "plan",
    "summary",
]
