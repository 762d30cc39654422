"""How ensembles of trees are tried: what their classifiers and regressors share. A class adds its warm-up fits."""

from __future__ import annotations

from dataclasses import replace

from learnt.engine.estimator import Trial

_FOREST = Trial(
    # Few levels, so that there are no ties between splits
    quick={"n_estimators": 4, "max_depth": 3, "random_state": 0},
    members="n_estimators",
)
FOREST_OF_CLASSES = replace(
    _FOREST,
    weighted=(
        {"bootstrap": True, "oob_score": True, "n_estimators": 30, "max_samples": 0.5},
        {"bootstrap": True, "class_weight": "balanced_subsample", "min_samples_leaf": 0.05},
        {"splitter": "binned", "min_samples_split": 0.2},
    ),
)
FOREST_OF_AMOUNTS = replace(
    _FOREST,
    weighted=(
        {"bootstrap": True, "oob_score": True, "n_estimators": 30, "max_samples": 50},
        {"splitter": "binned", "min_samples_leaf": 0.05},
        {"criterion": "absolute_error"},
    ),
)
HIST_BOOSTING = Trial(
    quick={"max_iter": 20, "random_state": 0},
    weighted=({"early_stopping": True}, {"subsample": 0.5}, {"max_bins": 7, "min_samples_leaf": 3}),
    members="max_iter",
    weight_unit_free=False,  # the least curvature of a leaf is measured by them
)
GRADIENT_BOOSTING = Trial(
    quick={"n_estimators": 20, "random_state": 0},
    weighted=({"n_iter_no_change": 3, "subsample": 0.5},),
    members="n_estimators",
)
