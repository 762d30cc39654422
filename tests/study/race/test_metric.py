"""Metrics by name: against learnt.metrics and scikit-learn's scorers, thresholds by brute force, typos."""

import numpy as np
import pytest
from sklearn.metrics import get_scorer

from learnt import metrics
from learnt.study import StudyError
from learnt.study.race._metric import _KINDS, metric_of, read_metric


class Given:
    """A fitted classifier or regressor, as scikit-learn's scorers want one, that gives the rows' own predictions."""

    def __init__(self, k):
        self.classes_ = np.arange(k)
        self._estimator_type = "classifier" if k else "regressor"

    def __sklearn_tags__(self):
        from sklearn.utils import ClassifierTags, InputTags, RegressorTags, Tags, TargetTags

        kind = self._estimator_type
        tags = {"classifier_tags": ClassifierTags()} if kind == "classifier" else {"regressor_tags": RegressorTags()}
        return Tags(kind, TargetTags(required=True), input_tags=InputTags(), **tags)

    def fit(self, X, y):
        return self

    def predict_proba(self, X):
        return X

    def predict(self, X):
        return X.argmax(axis=1) if self._estimator_type == "classifier" else X[:, 0]


def drawn(k, n=200, seed=0):
    rng = np.random.default_rng(seed)
    y = rng.integers(0, k, n)
    p = rng.dirichlet(np.ones(k), n) + 0.6 * np.eye(k)[y]
    return y, p / p.sum(axis=1, keepdims=True)


AVERAGED = [f"{name}_{how}" for name in ("precision", "recall", "f1") for how in ("micro", "macro", "weighted")]
AREAS = ["roc_auc_ovr", "roc_auc_ovo", "roc_auc_ovr_weighted", "roc_auc_ovo_weighted"]
ANY = ["accuracy", "neg_brier_score", "neg_log_loss", "balanced_accuracy", "matthews_corrcoef", *AVERAGED, *AREAS]
TWO = ["precision", "recall", "f1", "average_precision", "roc_auc"]


@pytest.mark.parametrize(("name", "k"), [(n, k) for k in (2, 3) for n in ANY] + [(n, 2) for n in TWO])
def test_classification_scores_are_those_of_scikit_learn(name, k):
    y, p = drawn(k)
    metric = metric_of(name, "classify", k)
    threshold = 0.5 if metric.at_best_threshold else None
    ours = metric.score(y, p, threshold=threshold)
    theirs = get_scorer(name)(Given(k), p, y)
    assert ours * (1 if metric.greater else -1) == pytest.approx(theirs, abs=1e-12)
    if not metric.at_best_threshold:
        assert metric.loss(y, p) == pytest.approx(-theirs, abs=1e-12)


def test_more_than_two_classes_are_averaged():
    y, p = drawn(3)
    for name, theirs in [("f1", "f1_macro"), ("recall", "recall_macro"), ("roc_auc", "roc_auc_ovr")]:
        assert metric_of(name, "classify", 3).score(y, p) == pytest.approx(
            get_scorer(theirs)(Given(3), p, y), abs=1e-12
        )


@pytest.mark.parametrize(
    "name",
    ["r2", "explained_variance", "neg_mean_absolute_error", "neg_mean_squared_error", "neg_root_mean_squared_error",
     "neg_median_absolute_error", "neg_max_error", "neg_mean_absolute_percentage_error", "neg_mean_squared_log_error"],
)  # fmt: skip
def test_regression_losses_are_those_of_scikit_learn(name):
    rng = np.random.default_rng(1)
    y = rng.gamma(2.0, size=100)
    predicted = y * rng.uniform(0.5, 1.5, 100)
    theirs = get_scorer(name)(Given(0), predicted[:, None], y)
    assert metric_of(name, "regress").loss(y, predicted) == pytest.approx(-theirs)


@pytest.mark.parametrize("name", ["f1", "f2", "balanced_accuracy", "matthews_corrcoef", "kappa", "mean_cost"])
@pytest.mark.parametrize("positive", [0, 1])
def test_the_best_threshold_is_that_of_brute_force(name, positive):
    y, p = drawn(2, 60, seed=3)
    p = p.round(2)  # ties
    metric = metric_of(name, "classify", 2, positive, cost=(1.0, 3.0) if name == "mean_cost" else None)
    score = p[:, positive]
    tried = []
    for cut in np.unique(np.concatenate([[0.0], score, [1.5]])):
        decided = np.where(score >= cut, positive, 1 - positive)
        if name == "mean_cost":
            matrix = np.array([[0, 1.0], [3.0, 0]]) if positive == 1 else np.array([[0, 3.0], [1.0, 0]])
            tried.append(-metrics.mean_cost(y, decided, matrix, labels=[0, 1]))
        elif name in ("f1", "f2"):
            options = {"beta": float(name[1]), "pos_label": positive, "zero_division": 0}
            tried.append(metrics.fbeta_score(y, decided, **options))
        else:
            tried.append(getattr(metrics, metric.name)(y, decided))
    assert -metric.loss(y, p) == pytest.approx(np.nanmax(tried), abs=1e-12)


def test_every_scalar_metric_can_be_requested_and_weights_count_as_repeats():
    rng = np.random.default_rng(5)
    for name, kind in _KINDS.items():
        if name == "fbeta_score":
            continue
        y, p = drawn(2, 40, seed=7) if kind.task == "classify" else (rng.gamma(2.0, size=40), rng.gamma(2.0, size=40))
        metric = metric_of(name, kind.task, cost=(1.0, 2.0))
        times = rng.integers(1, 4, 40)
        assert metric.loss(np.repeat(y, times), np.repeat(p, times, axis=0)) == pytest.approx(
            metric.loss(y, p, times.astype(float))
        ), name
    whole = {n for n in metrics.__all__ if n not in _KINDS}
    for name in sorted(whole - {"auc"}):  # "auc" is what people call the ROC area
        with pytest.raises(StudyError, match="not a single number"):
            read_metric(name)


def test_rows_of_one_class_have_a_value():
    y, p = np.zeros(10, dtype=int), np.full((10, 2), 0.5)
    for name, kind in _KINDS.items():
        if kind.task == "classify" and name != "fbeta_score":
            assert np.isfinite(metric_of(name, "classify", cost=(1.0, 1.0)).loss(y, p)), name
    three = np.full((10, 3), 1 / 3)
    for name in ("roc_auc", "average_precision", "f1", "log_loss", "balanced_accuracy", "kappa", "roc_auc_ovo"):
        assert np.isfinite(metric_of(name, "classify", 3).loss(y, three)), name


@pytest.mark.parametrize(
    ("typed", "said"),
    [
        ("roc_aux", "did you mean “roc_auc"),
        ("acuracy", "“accuracy”"),
        ("xyzzy", "try log_loss"),
        ("", "There is no metric"),
        ("fbeta_score", "needs its beta"),
        ("f0", "write precision"),
        ("confusion_matrix", "not a single number"),
        ("neg_rmsee", "“rmse”"),
    ],
)
def test_a_mistyped_name_gets_a_sentence_with_near_matches(typed, said):
    with pytest.raises(StudyError) as error:
        read_metric(typed)
    assert said in str(error.value)
    assert str(error.value).count("\n") == 0


def test_a_metric_of_the_other_task_is_refused():
    with pytest.raises(StudyError, match="is for amounts, and the target is a class"):
        metric_of("rmse", "classify")
    with pytest.raises(StudyError, match="is for classes, and the target is an amount"):
        metric_of("auc", "regress")
    with pytest.raises(StudyError, match="add --cost"):
        metric_of("mean_cost", "classify")
    with pytest.raises(StudyError, match="is for two classes"):
        metric_of("specificity", "classify", 3)
