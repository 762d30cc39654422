"""One number for how well predicted labels agree with true ones."""

from __future__ import annotations

import warnings
from typing import Any

import numpy as np
from sklearn.exceptions import UndefinedMetricWarning

from learnt.engine.arrays import is_foreign_array
from learnt.engine.documentation import documented
from learnt.metrics._confusion import confusion_matrix, pair_counts
from learnt.metrics._inputs import check_lengths, check_option, follow
from learnt.metrics._labels import check_targets


def _agreement(y_true: Any, y_pred: Any, sample_weight: Any) -> tuple[float, float]:
    """Weight of the rows whose labels agree, and of all rows."""
    if is_foreign_array(y_pred) and y_pred.ndim == 1:
        xp, y_true, y_pred, weight = follow(y_true, y_pred, sample_weight)
        n = check_lengths(y_true=y_true, y_pred=y_pred, sample_weight=weight)
        same = y_true == y_pred
        if weight is None:
            return float(xp.sum(xp.astype(same, xp.int64))), float(n)
        return float(xp.sum(weight[same])), float(xp.sum(weight))
    targets = check_targets(y_true, y_pred, sample_weight)
    if targets.multilabel:
        same = (targets.true != targets.pred).sum(axis=1) == 0
    else:
        same = targets.true == targets.pred
    if targets.weight is None:
        return float(np.count_nonzero(same)), float(same.size)
    return float(targets.weight[same].sum(dtype=np.float64)), float(targets.weight.sum(dtype=np.float64))


@documented
def accuracy_score(y_true: Any, y_pred: Any, *, normalize: bool = True, sample_weight: Any = None) -> float:
    """The share of rows predicted right, Σ w · 1[ŷ = y] / Σ w; for label matrices a row is right when all of it is.

    The plainest score of a classifier, and the one to take where classes are about equally common and all mistakes cost
    the same. With imbalanced classes it is high for a model that always says the common class.

    Parameters
    ----------
    y_true : array-like of shape (n_samples,) or (n_samples, n_labels)
        The true labels: integers, booleans or strings; where a row has several labels, a matrix of zeros and ones.
    y_pred : array-like of shape (n_samples,) or (n_samples, n_labels)
        The predicted labels, in the same form.
    normalize : bool, default=True
        False gives the weight of the right rows (their number, without weights) instead of their share.

    Returns
    -------
    accuracy : float
        Between 0 and 1, 1 at best; with `normalize=False`, how many rows are right.

    See Also
    --------
    balanced_accuracy_score : The same weight for every class, for imbalanced data.
    zero_one_loss : The share of rows predicted wrong.
    f1_score : Precision and recall of one class in one number.
    mean_cost : The average cost, where some mistakes are dearer than others.
    learnt.diagnosis.wilson_interval : A confidence interval for such a share.

    Notes
    -----
    O(n) time. PyTorch tensors and other Array API vectors are compared on their device.

    Examples
    --------
    >>> from learnt.metrics import accuracy_score
    >>> accuracy_score([0, 1, 2, 3], [0, 2, 1, 3])
    0.5
    >>> accuracy_score([0, 1, 2, 3], [0, 2, 1, 3], normalize=False)
    2.0
    """
    agreed, total = _agreement(y_true, y_pred, sample_weight)
    return agreed / total if normalize else agreed


@documented
def zero_one_loss(y_true: Any, y_pred: Any, *, normalize: bool = True, sample_weight: Any = None) -> float:
    """The share of rows predicted wrong, Σ w · 1[ŷ ≠ y] / Σ w.

    The misclassification rate: 1 − accuracy. For label matrices a row is wrong as soon as one of its labels is.

    Parameters
    ----------
    y_true : array-like of shape (n_samples,) or (n_samples, n_labels)
        The true labels: integers, booleans or strings; where a row has several labels, a matrix of zeros and ones.
    y_pred : array-like of shape (n_samples,) or (n_samples, n_labels)
        The predicted labels, in the same form.
    normalize : bool, default=True
        False gives the weight of the wrong rows (their number, without weights) instead of their share.

    Returns
    -------
    loss : float
        Between 0 and 1, 0 at best; with `normalize=False`, how many rows are wrong.

    See Also
    --------
    accuracy_score : The share of rows predicted right.
    hamming_loss : Counts each label of a row by itself.
    mean_cost : The average cost, where some mistakes are dearer than others.

    Notes
    -----
    O(n) time. PyTorch tensors and other Array API vectors are compared on their device.

    Examples
    --------
    >>> from learnt.metrics import zero_one_loss
    >>> zero_one_loss([2, 2, 3, 4], [1, 2, 3, 4])
    0.25
    """
    agreed, total = _agreement(y_true, y_pred, sample_weight)
    return 1 - agreed / total if normalize else total - agreed


@documented
def hamming_loss(y_true: Any, y_pred: Any, *, sample_weight: Any = None) -> float:
    """The share of labels predicted wrong; for label matrices each entry counts.

    With one label a row it is `zero_one_loss`. With several it is milder: a row with one wrong label of ten adds a
    tenth.

    Parameters
    ----------
    y_true : array-like of shape (n_samples,) or (n_samples, n_labels)
        The true labels: integers, booleans or strings; where a row has several labels, a matrix of zeros and ones.
    y_pred : array-like of shape (n_samples,) or (n_samples, n_labels)
        The predicted labels, in the same form.

    Returns
    -------
    loss : float
        Between 0 and 1, 0 at best.

    See Also
    --------
    zero_one_loss : Counts a row as wrong when any of its labels is.
    accuracy_score : The share of rows that are right altogether.
    f1_score : Precision and recall of sparse labels, with `average="samples"` row by row.

    Notes
    -----
    Labels that are 0 in nearly every row make it small for a model that predicts none; F₁ shows that.

    References
    ----------
    .. [1] G. Tsoumakas and I. Katakis, "Multi-label classification: an overview", International Journal of Data
       Warehousing and Mining, 2007.

    Examples
    --------
    >>> import numpy as np
    >>> from learnt.metrics import hamming_loss
    >>> hamming_loss(np.array([[0, 1], [1, 1]]), np.zeros((2, 2)))
    0.75
    """
    targets = check_targets(y_true, y_pred, sample_weight)
    if not targets.multilabel:
        return float(np.average(targets.true != targets.pred, weights=targets.weight))
    wrong = (targets.true != targets.pred).sum(axis=1)
    return float(np.average(wrong, weights=targets.weight) / targets.true.shape[1])


@documented
def balanced_accuracy_score(y_true: Any, y_pred: Any, *, sample_weight: Any = None, adjusted: bool = False) -> float:
    """The mean over classes of the share of each class predicted right.

    Accuracy for imbalanced data: every class counts the same, however rare. It is the macro-averaged recall, and for
    two classes the mean of sensitivity and specificity.

    Parameters
    ----------
    y_true : array-like of shape (n_samples,)
        The true labels: integers, booleans or strings.
    y_pred : array-like of shape (n_samples,)
        The predicted labels.
    adjusted : bool, default=False
        Rescale so that chance scores 0 and perfection 1; then it can be negative.

    Returns
    -------
    balanced_accuracy : float
        1 at best; 1 / n_classes for guessing, or 0 with `adjusted=True`.

    See Also
    --------
    accuracy_score : Every row counts the same.
    recall_score : The share of each class predicted right, class by class with `average=None`.
    cohen_kappa_score : Agreement beyond chance.
    roc_auc_score : Judges the scores behind the labels, whatever the threshold.

    Notes
    -----
    With `adjusted=True` and two classes it is Youden's J, sensitivity + specificity − 1. Classes that occur in y_pred
    only have no recall, and are left out with a warning.

    References
    ----------
    .. [1] K. H. Brodersen, C. S. Ong, K. E. Stephan and J. M. Buhmann, "The balanced accuracy and its posterior
       distribution", ICPR, 2010.

    Examples
    --------
    >>> from learnt.metrics import accuracy_score, balanced_accuracy_score
    >>> y_true, y_pred = [0, 1, 0, 0, 0, 0], [0, 0, 0, 0, 0, 0]
    >>> round(accuracy_score(y_true, y_pred), 2), balanced_accuracy_score(y_true, y_pred)
    (0.83, 0.5)
    """
    targets = check_targets(y_true, y_pred, sample_weight)
    if targets.multilabel:
        raise ValueError("multilabel-indicator is not supported by balanced_accuracy_score; give one label a row.")
    counts = pair_counts(targets.true, targets.pred, targets.classes.size, targets.weight)
    if targets.classes.size == 1:
        warnings.warn("A single label was found in 'y_true' and 'y_pred'; there is nothing to balance.", stacklevel=2)
    size = counts.sum(axis=1)
    if not (size > 0).all():
        warnings.warn("y_pred contains classes not in y_true, which are left out of the mean.", stacklevel=2)
    recall = counts.diagonal()[size > 0] / size[size > 0]
    score = recall.mean()
    if adjusted:
        chance = 1 / recall.size
        score = (score - chance) / (1 - chance)
    return float(score)


@documented
def matthews_corrcoef(y_true: Any, y_pred: Any, *, sample_weight: Any = None) -> float:
    """The correlation between true and predicted labels, from −1 over 0 (chance) to 1; 0 where it is undefined.

    The Matthews correlation coefficient (MCC, φ for two classes) is high only where both classes are predicted well, so
    that it suits imbalanced data. More than two classes are taken together in one number.

    Parameters
    ----------
    y_true : array-like of shape (n_samples,)
        The true labels: integers, booleans or strings.
    y_pred : array-like of shape (n_samples,)
        The predicted labels.

    Returns
    -------
    mcc : float
        1 for perfect predictions, about 0 for guessing, negative for predictions that are worse than that; for two
        classes −1 is the opposite of the truth.

    See Also
    --------
    cohen_kappa_score : Agreement beyond chance, with a price for how far off a label is.
    balanced_accuracy_score : The mean recall of the classes.
    f1_score : Precision and recall of one class only.

    Notes
    -----
    With the confusion matrix C, its total s, its trace c, its column sums p and its row sums t:
    (c·s − p·t) / √((s² − p·p)(s² − t·t)).

    References
    ----------
    .. [1] B. W. Matthews, "Comparison of the predicted and observed secondary structure of T4 phage lysozyme",
       Biochimica et Biophysica Acta, 1975.
    .. [2] J. Gorodkin, "Comparing two K-category assignments by a K-category correlation coefficient", Computational
       Biology and Chemistry, 2004.

    Examples
    --------
    >>> from learnt.metrics import matthews_corrcoef
    >>> round(matthews_corrcoef([1, 1, 1, 0], [1, 0, 1, 1]), 2)
    -0.33
    """
    targets = check_targets(y_true, y_pred, sample_weight)
    if targets.multilabel:
        raise ValueError("multilabel-indicator is not supported by matthews_corrcoef; give one label a row.")
    counts = pair_counts(targets.true, targets.pred, targets.classes.size, targets.weight).astype(np.float64)
    actual, predicted = counts.sum(axis=1), counts.sum(axis=0)
    total = predicted.sum()
    covariance = np.trace(counts) * total - actual @ predicted
    spread = (total**2 - predicted @ predicted) * (total**2 - actual @ actual)
    return 0.0 if spread == 0 else float(covariance / np.sqrt(spread))


def _nothing_in_common(total: float) -> str:
    if total == 0:
        return "`y2` contains no labels that are present in both `y1` and `labels`."
    return "`y1`, `y2` and `labels` have only one label in common."


@documented
def cohen_kappa_score(
    y1: Any,
    y2: Any,
    *,
    labels: Any = None,
    weights: str | None = None,
    sample_weight: Any = None,
    replace_undefined_by: float = np.nan,
) -> float:
    """Agreement of two annotators beyond chance: κ = 1 − observed / expected disagreement.

    Expected is the disagreement of two annotators who give each label as often as these do, but at random. Neither
    needs to be the truth: the score is the same with y1 and y2 exchanged.

    Parameters
    ----------
    y1 : array-like of shape (n_samples,)
        Labels of the first annotator.
    y2 : array-like of shape (n_samples,)
        Labels of the second annotator.
    labels : array-like, default=None
        The classes to compare; rows with any other label are left out. None for all, sorted. With `weights` their order
        is the scale on which distances are counted.
    weights : {None, "linear", "quadratic"}, default=None
        How disagreement grows with the distance between classes, counted in places. None: any two classes differ as
        much. "linear": by the distance. "quadratic": by its square. Take one of these for ordered classes, such as
        grades.
    replace_undefined_by : float, default=np.nan
        The answer, with a warning, where κ is 0/0: where there is one label only, or none of `labels`.

    Returns
    -------
    kappa : float
        1 for full agreement, 0 for that of chance, negative for less.

    See Also
    --------
    matthews_corrcoef : The correlation of predicted and true labels.
    balanced_accuracy_score : The mean recall of the classes.
    confusion_matrix : The counts behind it.
    adjusted_rand_score : Agreement of two clusterings, whose labels have no meaning.

    References
    ----------
    .. [1] J. Cohen, "A coefficient of agreement for nominal scales", Educational and Psychological Measurement, 1960.
    .. [2] J. Cohen, "Weighted kappa: nominal scale agreement with provision for scaled disagreement or partial credit",
       Psychological Bulletin, 1968.

    Examples
    --------
    >>> from learnt.metrics import cohen_kappa_score
    >>> first, second = [0, 1, 1, 2], [0, 1, 2, 2]
    >>> round(cohen_kappa_score(first, second), 2), round(cohen_kappa_score(first, second, weights="quadratic"), 2)
    (0.64, 0.8)
    """
    check_option(weights, "weights", (None, "linear", "quadratic"))
    if labels is not None and np.size(labels) and not np.isin(y1, labels).any():
        raise ValueError(f"At least one label in `labels` must be present in `y1`; none of {list(labels)} is.")
    with warnings.catch_warnings():
        warnings.filterwarnings("ignore", message="A single label was found")
        counts = confusion_matrix(y1, y2, labels=labels, sample_weight=sample_weight).astype(np.float64)
    second, first = counts.sum(axis=0), counts.sum(axis=1)
    total = second.sum()
    place = np.arange(counts.shape[0], dtype=np.float64)
    distance = np.abs(place - place[:, None])
    if weights is None:
        distance = (distance > 0).astype(np.float64)
    elif weights == "quadratic":
        distance = distance**2
    expected = (distance * np.outer(second, first)).sum() / total if total > 0 else 0.0
    if expected == 0:
        warnings.warn(
            f"{_nothing_in_common(total)} `cohen_kappa_score` is undefined and set to the value defined by the "
            f"`replace_undefined_by` param, which is set to {replace_undefined_by}.",
            UndefinedMetricWarning,
            stacklevel=2,
        )
        return replace_undefined_by
    return float(1 - (distance * counts).sum() / expected)
