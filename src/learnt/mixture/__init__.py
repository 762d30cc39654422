"""Mixtures of densities.

    GaussianMixture            K Gaussians by maximum likelihood
    BayesianGaussianMixture    with priors, by variational inference: unneeded components die out

_base       EM from several starts; the methods of a fitted mixture
_em         one step of expectation over any rows, by matrix products
_starts     the `init_params` parameter
_gaussian   what follows from the moments of the components: maximum likelihood
_bayesian   variational inference
"""

from learnt.mixture._bayesian import BayesianGaussianMixture
from learnt.mixture._gaussian import GaussianMixture

__all__ = ["BayesianGaussianMixture", "GaussianMixture"]
