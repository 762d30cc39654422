"""Machine learning with judgement, under the names scikit-learn users already type.

The house, from the ground up; imports only go down:

    engine                                   arrays, compiled kernels, threads, rows, random, checks, progress
    erm metrics forestry statistics distances kernels explanation    the mathematics
    linear_model naive_bayes neighbors       estimators
    cluster mixture manifold decomposition density preprocessing baseline svm inverse tree ensemble
    discriminant_analysis bayes kernel_ridge kernel_approximation gaussian_process neural_network random_projection
    covariance cross_decomposition isotonic dummy
    calibration semi_supervised impute       scores turned into probabilities; missing cells
    model_selection diagnosis plots          judging models
    persistence                              model files: data, never code
    distributed                              networks trained by several processes
    study accel cli                          what people run

and, as they are in scikit-learn, what holds models and prepares data: pipeline compose feature_extraction
feature_selection frozen multiclass multioutput inspection datasets base callback utils exceptions.

Importing `learnt` is instant: every room is imported when first named.
"""

from __future__ import annotations

from importlib import import_module
from typing import TYPE_CHECKING, Any

from learnt._version import __version__

# Rooms with estimators: what is public there and has a `__learnt_schema__` may stand in a model file.
_ESTIMATORS = (
    "baseline",
    "bayes",
    "calibration",
    "cluster",
    "covariance",
    "cross_decomposition",
    "decomposition",
    "density",
    "discriminant_analysis",
    "dummy",
    "ensemble",
    "erm",
    "gaussian_process",
    "impute",
    "isotonic",
    "kernel_approximation",
    "kernel_ridge",
    "linear_model",
    "manifold",
    "mixture",
    "naive_bayes",
    "neighbors",
    "neural_network",
    "preprocessing",
    "random_projection",
    "semi_supervised",
    "svm",
    "tree",
)
# Containers, data sets and tools of scikit-learn, under its names: changing the import is the whole migration.
_BORROWED = (
    "base",
    "callback",
    "compose",
    "datasets",
    "exceptions",
    "feature_extraction",
    "feature_selection",
    "frozen",
    "inspection",
    "multiclass",
    "multioutput",
    "pipeline",
    "utils",
)
_ROOMS = (
    *_ESTIMATORS,
    *_BORROWED,
    "accel",
    "diagnosis",
    "distributed",
    "engine",
    "experimental",
    "explanation",
    "forestry",
    "inverse",
    "kernels",
    "metrics",
    "model_selection",
    "persistence",
    "plots",
    "study",
)
# A public function and the room it lives in.
_FUNCTIONS = {
    "StudyClassifier": "study",
    "StudyRegressor": "study",
    "compare": "study",
    "open_study": "study",
    "profile": "study",
    "load": "persistence",
    "save": "persistence",
    "scan": "engine.rows",
    "set_threads": "engine.threads",
    "get_threads": "engine.threads",
}
# Functions of the package itself that are scikit-learn's.
_BORROWED_FUNCTIONS = ("clone", "config_context", "get_config", "set_config", "show_versions")

__all__ = ["__version__", *_ROOMS, *_FUNCTIONS, *_BORROWED_FUNCTIONS]

if TYPE_CHECKING:  # what type checkers and editors see
    from sklearn import clone as clone
    from sklearn import config_context as config_context
    from sklearn import get_config as get_config
    from sklearn import set_config as set_config
    from sklearn import show_versions as show_versions

    from learnt import accel as accel
    from learnt import base as base
    from learnt import baseline as baseline
    from learnt import bayes as bayes
    from learnt import calibration as calibration
    from learnt import callback as callback
    from learnt import cluster as cluster
    from learnt import compose as compose
    from learnt import covariance as covariance
    from learnt import cross_decomposition as cross_decomposition
    from learnt import datasets as datasets
    from learnt import decomposition as decomposition
    from learnt import density as density
    from learnt import diagnosis as diagnosis
    from learnt import discriminant_analysis as discriminant_analysis
    from learnt import distributed as distributed
    from learnt import dummy as dummy
    from learnt import engine as engine
    from learnt import ensemble as ensemble
    from learnt import erm as erm
    from learnt import exceptions as exceptions
    from learnt import experimental as experimental
    from learnt import explanation as explanation
    from learnt import feature_extraction as feature_extraction
    from learnt import feature_selection as feature_selection
    from learnt import forestry as forestry
    from learnt import frozen as frozen
    from learnt import gaussian_process as gaussian_process
    from learnt import impute as impute
    from learnt import inspection as inspection
    from learnt import inverse as inverse
    from learnt import isotonic as isotonic
    from learnt import kernel_approximation as kernel_approximation
    from learnt import kernel_ridge as kernel_ridge
    from learnt import kernels as kernels
    from learnt import linear_model as linear_model
    from learnt import manifold as manifold
    from learnt import metrics as metrics
    from learnt import mixture as mixture
    from learnt import model_selection as model_selection
    from learnt import multiclass as multiclass
    from learnt import multioutput as multioutput
    from learnt import naive_bayes as naive_bayes
    from learnt import neighbors as neighbors
    from learnt import neural_network as neural_network
    from learnt import persistence as persistence
    from learnt import pipeline as pipeline
    from learnt import plots as plots
    from learnt import preprocessing as preprocessing
    from learnt import random_projection as random_projection
    from learnt import semi_supervised as semi_supervised
    from learnt import svm as svm
    from learnt import tree as tree
    from learnt import utils as utils
    from learnt.engine.rows import scan as scan
    from learnt.engine.threads import get_threads as get_threads
    from learnt.engine.threads import set_threads as set_threads
    from learnt.persistence import load as load
    from learnt.persistence import save as save
    from learnt.study import StudyClassifier as StudyClassifier
    from learnt.study import StudyRegressor as StudyRegressor
    from learnt.study import compare as compare
    from learnt.study import open_study as open_study
    from learnt.study import profile as profile
    from learnt.study.door._callable import CallableModule

    study: CallableModule  # a module that is called: learnt.study(frame, target="late")


def __getattr__(name: str) -> Any:
    if name in _ROOMS:
        return import_module(f"learnt.{name}")
    if name in _FUNCTIONS:
        return getattr(import_module(f"learnt.{_FUNCTIONS[name]}"), name)
    if name in _BORROWED_FUNCTIONS:
        return getattr(import_module("sklearn"), name)
    raise AttributeError(f"module 'learnt' has no attribute {name!r}")


def __dir__() -> list[str]:
    return sorted(__all__)
