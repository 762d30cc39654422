"""Scores and losses: pure functions under scikit-learn's names, with its parameters, defaults and results.

    _inputs       validation: lengths, finite numbers, weights        _labels       labels become small integers
    _confusion    confusion matrices, the four rates                _agreement    accuracy and its relatives
    _precision    precision, recall, F, the report                  _sort         a radix sort of scores
    _ranking      ROC, precision–recall and DET curves, areas       _areas        areas for many classes and labels
    _probability  log loss, Brier score, calibration                _costs        decisions with costs
    _regression   errors of predicted numbers                       _clusters     by classes, or by the rows only
    _borrowed     scikit-learn's scorers, pictures, rarer scores    pairwise      its distances and kernels of pairs
    cluster       _clusters under scikit-learn's name             _clusters_device   of rows on a device

Small inputs are computed by NumPy only; large ones by compiled kernels on all cores. Results do not depend on the
number of threads. Accuracy, log loss, the area under the ROC curve, the regression metrics and the scores of clusters
by the rows only also take PyTorch tensors and other Array API arrays, and compute on their devices.
"""

from __future__ import annotations

from typing import Any

from learnt.metrics._agreement import (
    accuracy_score,
    balanced_accuracy_score,
    cohen_kappa_score,
    hamming_loss,
    matthews_corrcoef,
    zero_one_loss,
)
from learnt.metrics._areas import average_precision_score, roc_auc_score
from learnt.metrics._clusters import (
    calinski_harabasz_score,
    davies_bouldin_score,
    silhouette_samples,
    silhouette_score,
)
from learnt.metrics._confusion import (
    ClassificationRates,
    classification_rates,
    confusion_matrix,
    multilabel_confusion_matrix,
    sensitivity_score,
    specificity_score,
)
from learnt.metrics._costs import cost_threshold, expected_loss, mean_cost
from learnt.metrics._labellings import (
    adjusted_mutual_info_score,
    adjusted_rand_score,
    completeness_score,
    fowlkes_mallows_score,
    homogeneity_completeness_v_measure,
    homogeneity_score,
    mutual_info_score,
    normalized_mutual_info_score,
    pair_confusion_matrix,
    rand_score,
    v_measure_score,
)
from learnt.metrics._precision import (
    classification_report,
    f1_score,
    fbeta_score,
    precision_recall_fscore_support,
    precision_score,
    recall_score,
)
from learnt.metrics._probability import brier_score_loss, calibration_curve, d2_brier_score, log_loss
from learnt.metrics._ranking import (
    auc,
    confusion_matrix_at_thresholds,
    det_curve,
    metric_at_thresholds,
    precision_recall_curve,
    roc_curve,
)
from learnt.metrics._regression import (
    explained_variance_score,
    max_error,
    mean_absolute_error,
    mean_absolute_percentage_error,
    mean_pinball_loss,
    mean_squared_error,
    mean_squared_log_error,
    median_absolute_error,
    r2_score,
    root_mean_squared_error,
    root_mean_squared_log_error,
)

__all__ = [
    "ClassificationRates",
    "accuracy_score",
    "adjusted_mutual_info_score",
    "adjusted_rand_score",
    "auc",
    "average_precision_score",
    "balanced_accuracy_score",
    "brier_score_loss",
    "calibration_curve",
    "calinski_harabasz_score",
    "classification_rates",
    "classification_report",
    "cohen_kappa_score",
    "completeness_score",
    "confusion_matrix",
    "confusion_matrix_at_thresholds",
    "cost_threshold",
    "d2_brier_score",
    "davies_bouldin_score",
    "det_curve",
    "expected_loss",
    "explained_variance_score",
    "f1_score",
    "fbeta_score",
    "fowlkes_mallows_score",
    "hamming_loss",
    "homogeneity_completeness_v_measure",
    "homogeneity_score",
    "log_loss",
    "matthews_corrcoef",
    "max_error",
    "mean_absolute_error",
    "mean_absolute_percentage_error",
    "mean_cost",
    "mean_pinball_loss",
    "mean_squared_error",
    "mean_squared_log_error",
    "median_absolute_error",
    "metric_at_thresholds",
    "multilabel_confusion_matrix",
    "mutual_info_score",
    "normalized_mutual_info_score",
    "pair_confusion_matrix",
    "precision_recall_curve",
    "precision_recall_fscore_support",
    "precision_score",
    "r2_score",
    "rand_score",
    "recall_score",
    "roc_auc_score",
    "roc_curve",
    "root_mean_squared_error",
    "root_mean_squared_log_error",
    "sensitivity_score",
    "silhouette_samples",
    "silhouette_score",
    "specificity_score",
    "v_measure_score",
    "zero_one_loss",
]


def __getattr__(name: str) -> Any:
    """scikit-learn's own names; its package is loaded when one of them is first used."""
    if not name.startswith("_"):
        from learnt.metrics import _borrowed

        if name in _borrowed.__all__:
            return getattr(_borrowed, name)
    raise AttributeError(f"module 'learnt.metrics' has no attribute {name!r}")


def __dir__() -> list[str]:
    from learnt.metrics import _borrowed

    return sorted([*__all__, *_borrowed.__all__, "cluster", "pairwise"])
