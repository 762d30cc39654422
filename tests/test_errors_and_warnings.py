"""Errors and warnings that people filter on begin with scikit-learn's words; ours come after them.

For each call that both packages refuse, or warn about: the class of the error or warning is scikit-learn's, and the
first sentence of its message, up to where values are printed in another form, begins ours.
"""

import importlib
import re
import warnings

import numpy as np
import pytest


class Package:
    """`Package("sklearn").metrics.f1_score`: the rooms of a package as attributes."""

    def __init__(self, name):
        self.name = name

    def __getattr__(self, room):
        if room.startswith("_"):
            raise AttributeError(room)
        return importlib.import_module(f"{self.name}.{room}")


SKLEARN, LEARNT = Package("sklearn"), Package("learnt")
EGGS = ["eggs", "spam", "ham"]
THREE = [[0.5, 0.3, 0.2], [0.2, 0.3, 0.5], [0.1, 0.8, 0.1]]

REFUSED = {
    "kinds of targets": lambda of: of.metrics.accuracy_score([0.5, 1.0], [0, 1]),
    "labels and a matrix": lambda of: of.metrics.f1_score([[0, 1], [1, 1]], [0, 1]),
    "average of three": lambda of: of.metrics.f1_score([0, 1, 2], [0, 1, 2]),
    "names of classes": lambda of: of.metrics.classification_report([0, 1], [0, 1], target_names=["a"]),
    "positive label": lambda of: of.metrics.f1_score([2, 3], [2, 3]),
    "label of precisions": lambda of: of.metrics.average_precision_score([0, 1], [0.1, 0.2], pos_label=2),
    "fixed positive label": lambda of: of.metrics.average_precision_score([0, 1, 2], THREE, pos_label=0),
    "area of a zigzag": lambda of: of.metrics.auc([2, 1, 3, 4], [5, 6, 7, 8]),
    "columns of scores": lambda of: of.metrics.roc_auc_score([0, 1, 2], THREE, labels=[0, 1], multi_class="ovr"),
    "one true label": lambda of: of.metrics.log_loss([2, 2], [0.5, 0.5]),
    "one given label": lambda of: of.metrics.log_loss([1, 1], [0.5, 0.5], labels=[1]),
    "columns of probabilities": lambda of: of.metrics.log_loss(EGGS, [[0.5, 0.5]] * 3),
    "many true classes": lambda of: of.metrics.brier_score_loss(EGGS, [0.1, 0.2, 0.3]),
    "labels of no annotator": lambda of: of.metrics.cohen_kappa_score([0, 1], [0, 1], labels=[3]),
    "shape of labels": lambda of: of.metrics.rand_score([[0, 1], [1, 0]], [0, 1]),
    "distances to oneself": lambda of: of.metrics.silhouette_score(np.ones((3, 3)), [0, 0, 1], metric="precomputed"),
}

WARNED = {
    "nothing predicted": lambda of: of.metrics.precision_score([0, 1, 2], [0, 0, 2], average="macro"),
    "ignored positive label": lambda of: of.metrics.f1_score([0, 1], [0, 1], pos_label=0, average="macro"),
    "order of labels": lambda of: of.metrics.log_loss(EGGS, THREE, labels=["spam", "eggs", "ham"]),
    "old name of probabilities": lambda of: of.metrics.log_loss([0, 1], y_pred=[0.1, 0.9]),
    "annotators of one label": lambda of: of.metrics.cohen_kappa_score([0, 0], [0, 0], labels=[0, 1]),
    "annotators apart": lambda of: of.metrics.cohen_kappa_score([0, 0], [2, 2], labels=[0, 1]),
    "fractions as clusters": lambda of: of.metrics.rand_score([0.1, 0.2, 0.3], [0, 1, 2]),
}


def first_words(message):
    """The first sentence, without the array or number that ends it."""
    return re.split(r"\.[\s`]|[:(\[]|\.$", message.strip())[0].strip()


@pytest.mark.parametrize("name", REFUSED)
def test_errors_begin_with_the_known_words(name):
    with pytest.raises((ValueError, TypeError)) as theirs:
        REFUSED[name](SKLEARN)
    with pytest.raises(type(theirs.value)) as ours:
        REFUSED[name](LEARNT)
    assert str(ours.value).startswith(first_words(str(theirs.value)))


@pytest.mark.parametrize("name", WARNED)
def test_warnings_begin_with_the_known_words(name):
    said = []
    for package in (SKLEARN, LEARNT):
        with warnings.catch_warnings(record=True) as caught:
            warnings.simplefilter("always")
            WARNED[name](package)
        said.append(caught)
    theirs, ours = said
    assert theirs
    known = {(w.category.__name__, first_words(str(w.message))) for w in theirs}
    for category, words in known:
        assert any(w.category.__name__ == category and str(w.message).startswith(words) for w in ours), words
