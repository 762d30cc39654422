"""Linear models that learn one row at a time.

_base                 What the stochastic estimators share: parameters, starts, held-out rows, and how a run is recorded
_classifier           Linear classifiers by stochastic gradient descent
_kernels              One epoch of stochastic gradient descent, one row at a time
_one_class            A plane that has most rows on one side
_passive_aggressive   The shortest step after which a row has no loss
_perceptron           The perceptron
_pieces               Epochs over rows of a file or a cluster, which are read again in every epoch
_regressor            Linear regression by stochastic gradient descent
_run                  Epochs until nothing improves: what SGD does for one vector of coefficients
"""
