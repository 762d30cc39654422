"""Judging a model: how good it could be, what its error is made of, what to do next.

bayes_error_bounds, noise_bounds      the ceiling, from nearest neighbours
dimensionality, intrinsic_dimension   whether neighbours are near: the curse of dimensionality, measured
bias_variance                         noise, bias and variance of a model, from models of many training sets
probe                                 whether regularised models of several kinds find any signal in the columns
diagnose, read_curve                  noise, bias, variance; regime and treatments
wilson_interval, bootstrap_interval,  how far a measured number may be from the truth; whether two models differ at all
auc_interval                          is computed by learnt.model_selection.corrected_interval and compare_scores
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from learnt.engine.late_import import names_when_used

if TYPE_CHECKING:
    from learnt.diagnosis._average import is_average as is_average
    from learnt.diagnosis._bayes import BayesErrorBounds as BayesErrorBounds
    from learnt.diagnosis._bayes import NoiseBounds as NoiseBounds
    from learnt.diagnosis._bayes import bayes_error_bounds as bayes_error_bounds
    from learnt.diagnosis._bayes import cover_hart_lower as cover_hart_lower
    from learnt.diagnosis._bayes import noise_bounds as noise_bounds
    from learnt.diagnosis._bias_variance import BiasVariance as BiasVariance
    from learnt.diagnosis._bias_variance import bias_variance as bias_variance
    from learnt.diagnosis._diagnose import diagnose as diagnose
    from learnt.diagnosis._dimensionality import Dimensionality as Dimensionality
    from learnt.diagnosis._dimensionality import dimensionality as dimensionality
    from learnt.diagnosis._dimensionality import intrinsic_dimension as intrinsic_dimension
    from learnt.diagnosis._intervals import Interval as Interval
    from learnt.diagnosis._intervals import auc_interval as auc_interval
    from learnt.diagnosis._intervals import bootstrap_interval as bootstrap_interval
    from learnt.diagnosis._intervals import wilson_interval as wilson_interval
    from learnt.diagnosis._losses import curve_sizes as curve_sizes
    from learnt.diagnosis._losses import row_losses as row_losses
    from learnt.diagnosis._losses import spread_columns as spread_columns
    from learnt.diagnosis._probe import Probe as Probe
    from learnt.diagnosis._probe import probe as probe
    from learnt.diagnosis._regime import Diagnosis as Diagnosis
    from learnt.diagnosis._regime import Part as Part
    from learnt.diagnosis._regime import read_curve as read_curve

__all__ = [
    "BayesErrorBounds",
    "BiasVariance",
    "Diagnosis",
    "Dimensionality",
    "Interval",
    "NoiseBounds",
    "Part",
    "Probe",
    "auc_interval",
    "bayes_error_bounds",
    "bias_variance",
    "bootstrap_interval",
    "cover_hart_lower",
    "curve_sizes",
    "diagnose",
    "dimensionality",
    "intrinsic_dimension",
    "is_average",
    "noise_bounds",
    "probe",
    "read_curve",
    "row_losses",
    "spread_columns",
    "wilson_interval",
]

# Imported when first used: an interval should not wait for neighbours.
_FILES = {
    "BayesErrorBounds": "_bayes",
    "BiasVariance": "_bias_variance",
    "Diagnosis": "_regime",
    "Dimensionality": "_dimensionality",
    "Interval": "_intervals",
    "NoiseBounds": "_bayes",
    "Part": "_regime",
    "Probe": "_probe",
    "auc_interval": "_intervals",
    "bayes_error_bounds": "_bayes",
    "bias_variance": "_bias_variance",
    "bootstrap_interval": "_intervals",
    "cover_hart_lower": "_bayes",
    "curve_sizes": "_losses",
    "diagnose": "_diagnose",
    "dimensionality": "_dimensionality",
    "intrinsic_dimension": "_dimensionality",
    "is_average": "_average",
    "noise_bounds": "_bayes",
    "probe": "_probe",
    "read_curve": "_regime",
    "row_losses": "_losses",
    "spread_columns": "_losses",
    "wilson_interval": "_intervals",
}

__getattr__, __dir__ = names_when_used("learnt.diagnosis", _FILES)
