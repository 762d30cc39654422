"""Training of networks, whatever their layers are.

A network is anything with

    parameters                    `Parameters`: all values in one vector, all gradients in another, views by name
    loss_and_gradients(X, y, w)   writes the gradients of the mean loss of a batch; the loss, a tensor without axes
    predict(X)                    raw outputs z, (n, outputs), as at prediction: no dropout, kept moments of batch norm
    buffers()                     tensors by name that are learnt but not by gradients (moments of batch norm)
    layers()                      (what to call a layer, the name of its weights) from the input to the output
    active_units(X)               by layer, which units are not 0 for some row: those of rectified layers alone
    generator                     the `torch.Generator` of its random draws (dropout), or None

and there are two of them: `DenseNetwork`, a stack of dense layers whose back-propagation is written out over memory
that is taken once, and `ModuleNetwork`, any `torch.nn.Module` by automatic differentiation:

    network = ModuleNetwork(module, SoftmaxOutput(), alpha=1e-4)
    history = train(network, Data(X, y, w), Adam(network.parameters, 0.001), Plan(batch_size=200, max_iter=50), rng)

The files:

    _parameters   the two vectors
    _outputs      losses of raw outputs and where back-propagation starts
    _network      the protocol, and any module as a network
    _dense        stacks of dense layers
    _data         rows, and how a batch is taken
    _optimisers   sgd, momentum, nesterov, adagrad, adam: one step on the vector
    _rates        how the learning rate changes from epoch to epoch
    _recorded     steps on a GPU as a CUDA graph
    _loop         epochs: batches, stopping, the best weights, progress
    _lbfgs        the same network by L-BFGS, all rows at once
    _health       units that died, gradients that vanish or explode, losses that are not numbers
    _checkpoint   a file to go on from after a crash
    _group        workers that train one network together
"""

from learnt.neural_network.training._checkpoint import Checkpoint as Checkpoint
from learnt.neural_network.training._data import Data as Data
from learnt.neural_network.training._dense import DenseNetwork as DenseNetwork
from learnt.neural_network.training._health import NetworkHealthWarning as NetworkHealthWarning
from learnt.neural_network.training._health import dead_units as dead_units
from learnt.neural_network.training._lbfgs import minimise as minimise
from learnt.neural_network.training._loop import History as History
from learnt.neural_network.training._loop import Plan as Plan
from learnt.neural_network.training._loop import train as train
from learnt.neural_network.training._network import ModuleNetwork as ModuleNetwork
from learnt.neural_network.training._network import Network as Network
from learnt.neural_network.training._optimisers import Adagrad as Adagrad
from learnt.neural_network.training._optimisers import Adam as Adam
from learnt.neural_network.training._optimisers import Descent as Descent
from learnt.neural_network.training._optimisers import Optimiser as Optimiser
from learnt.neural_network.training._optimisers import optimiser_for as optimiser_for
from learnt.neural_network.training._outputs import LogisticOutput as LogisticOutput
from learnt.neural_network.training._outputs import LossOutput as LossOutput
from learnt.neural_network.training._outputs import Output as Output
from learnt.neural_network.training._outputs import SoftmaxOutput as SoftmaxOutput
from learnt.neural_network.training._outputs import SquaredOutput as SquaredOutput
from learnt.neural_network.training._parameters import Parameters as Parameters
from learnt.neural_network.training._rates import Rate as Rate

__all__ = [
    "Adagrad",
    "Adam",
    "Checkpoint",
    "Data",
    "DenseNetwork",
    "Descent",
    "History",
    "LogisticOutput",
    "LossOutput",
    "ModuleNetwork",
    "Network",
    "NetworkHealthWarning",
    "Optimiser",
    "Output",
    "Parameters",
    "Plan",
    "Rate",
    "SoftmaxOutput",
    "SquaredOutput",
    "dead_units",
    "minimise",
    "optimiser_for",
    "train",
]
