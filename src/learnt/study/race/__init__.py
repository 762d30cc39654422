"""Cross-validation of every candidate inside a time budget: step 4.

_families    the kinds of models that race, with their settings and paths
_candidates  the entries of one race, in the order of their turns
_race        turns, time limits, results in the journal
_budget      how the time is divided: what comes after the race is set aside before it
_ground      targets, folds, held-out rows
_objective   the loss that is minimised; _metric   the metric that was asked for instead
_recipe      from plain data to models: a specification, a blend
_script      the same recipe as train.py, plain code for the user
_layout      rows and folds in files, for the processes that fit models
_bench       fits in the worker process: prepared folds, losses, the final model
_worker      the process itself; _process how it is started; _remote the study's side of it: requests with a time limit
_compilation kernels compiled before the race
_background  a calculation in a thread while the race goes on
"""
