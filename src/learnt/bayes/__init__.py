"""Bayes' rule itself: decisions from known probabilities, estimates with a prior, classifiers out of densities.

    bayes_rule, BayesClassifier     the posterior from priors and likelihoods; the best decisions where it is known
    bayes_optimal                   the vote of weighted hypotheses
    BetaBernoulli, BetaBinomial     a coin: maximum likelihood, MAP, posterior, predictive, credible interval
    DirichletMultinomial            a die
    GaussianEstimate                a mean and a variance
    GenerativeClassifier            a density for each class makes a classifier and a sampler
    CostSensitiveClassifier         the decisions with the least expected loss

_conjugate_coin, _conjugate_die, _conjugate_gaussian     estimates with conjugate priors
_known         decisions from known probabilities
_generative, _cost_sensitive                             the two estimators
"""

from learnt.bayes._conjugate_coin import BetaBernoulli, BetaBinomial
from learnt.bayes._conjugate_die import DirichletMultinomial
from learnt.bayes._conjugate_gaussian import GaussianEstimate
from learnt.bayes._cost_sensitive import CostSensitiveClassifier
from learnt.bayes._generative import GenerativeClassifier
from learnt.bayes._known import BayesClassifier, Vote, bayes_optimal, bayes_rule

__all__ = [
    "BayesClassifier",
    "BetaBernoulli",
    "BetaBinomial",
    "CostSensitiveClassifier",
    "DirichletMultinomial",
    "GaussianEstimate",
    "GenerativeClassifier",
    "Vote",
    "bayes_optimal",
    "bayes_rule",
]
