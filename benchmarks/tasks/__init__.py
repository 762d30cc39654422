"""Every task, by family."""

from __future__ import annotations

from tasks import (
    bayes,
    boosting,
    cluster,
    decomposition,
    discriminants,
    ensembles,
    forests,
    glm,
    inverse,
    kernel_svm,
    kernels,
    l1_logistic,
    lasso,
    latency,
    linear,
    logistic,
    logistic_cv,
    metrics,
    mixture,
    neighbors,
    nonlinear,
    preprocessing,
    pursuit,
    selection,
    sgd,
    svm,
    trees,
)

_FAMILIES = (
    linear,
    logistic,
    logistic_cv,
    lasso,
    l1_logistic,
    bayes,
    discriminants,
    decomposition,
    cluster,
    neighbors,
    metrics,
    mixture,
    preprocessing,
    selection,
    latency,
    nonlinear,
    sgd,
    svm,
    kernel_svm,
    kernels,
    inverse,
    pursuit,
    glm,
    trees,
    ensembles,
    forests,
    boosting,
)


def all_tasks() -> list:
    return [task for family in _FAMILIES for task in family.TASKS]
