"""Bayesian linear regression: posterior, evidence, and priors found by it.

_evidence  What Bayesian linear regression computes from the data: moments, their spectrum, and the evidence
_linear    Bayesian linear regression with a prior of your own, or one found by the evidence
_ridge     Ridge regression whose strength follows from the evidence, for all columns together or for each
_spectrum  The posterior of ridge regression at any strength, from one decomposition of the data
"""
