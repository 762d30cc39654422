"""Ensembles of named estimators: stacking, voting, recalibrated probabilities.

_base           What stacked classifiers and regressors share: out-of-fold predictions as columns
_named_members  Ensembles of estimators that have names: parameters, checks, fits, and what was dropped
_probability_map  the map alone, a pure function
_recalibrated   A classifier whose probabilities go through a given map
_stacking       Stacking: a model that learns how to use the answers of other models
_voting         Voting: several different models, one decision
"""
