"""Changing `sklearn` to `learnt` in the imports of a script is the whole migration."""

import importlib
import re
from pathlib import Path

import pytest
import sklearn

import learnt

ROOT = Path(__file__).parents[1]
OURS = {"inspection": {"Reasons", "contributions"}}  # names that scikit-learn does not have
MODULES = [*learnt._BORROWED, "feature_extraction.text", "feature_extraction.image", "metrics.pairwise"]
# Learning algorithms are ours or not there; submodules are modules of this list themselves.
LEFT_OUT = {"feature_extraction": {"image", "text"}}
SCRIPT = """
import numpy as np
from sklearn.base import clone
from sklearn.compose import make_column_transformer
from sklearn.datasets import load_wine
from sklearn.feature_extraction.text import TfidfVectorizer
from sklearn.impute import SimpleImputer
from sklearn.linear_model import LogisticRegression
from sklearn.metrics import classification_report, make_scorer, top_k_accuracy_score
from sklearn.model_selection import GridSearchCV, StratifiedKFold, train_test_split
from sklearn.multiclass import OneVsRestClassifier
from sklearn.naive_bayes import MultinomialNB
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import MinMaxScaler, OneHotEncoder, StandardScaler
from sklearn.svm import LinearSVC

X, y = load_wine(return_X_y=True)
X = np.column_stack([X, np.digitize(X[:, 0], [12.5, 13.5])])
X[::7, 3] = np.nan
X_train, X_test, y_train, y_test = train_test_split(X, y, random_state=0, stratify=y)
numbers = make_pipeline(SimpleImputer(strategy="median"), StandardScaler())
columns = make_column_transformer((numbers, list(range(13))), (OneHotEncoder(), [13]))
steps = make_pipeline(columns, LogisticRegression(tol=1e-8, max_iter=1000))
search = GridSearchCV(steps, {"logisticregression__C": [0.01, 0.1, 1.0]}, cv=StratifiedKFold(3))
search.fit(X_train, y_train)
report = classification_report(y_test, search.predict(X_test))
top = top_k_accuracy_score(y_test, search.predict_proba(X_test), k=2)
rest = clone(OneVsRestClassifier(LinearSVC(dual=False)))
rest.fit(MinMaxScaler().fit_transform(X_train[:, [0, 6, 9]]), y_train)
words = TfidfVectorizer().fit_transform(["good tea", "bad tea", "good milk", "bad, bad milk"])
mood = MultinomialNB().fit(words, ["good", "bad", "good", "bad"]).predict(words)
scorer = make_scorer(top_k_accuracy_score, response_method="predict_proba", k=2)(search, X_test, y_test)
answers = search.best_params_, report, round(float(top), 10), scorer, len(rest.estimators_), list(mood)
"""


@pytest.mark.parametrize("module", MODULES)
def test_a_borrowed_module_has_the_names_of_scikit_learn_and_its_objects(module):
    ours, theirs = importlib.import_module(f"learnt.{module}"), importlib.import_module(f"sklearn.{module}")
    for name in set(ours.__all__) - OURS.get(module, set()):
        assert getattr(ours, name) is getattr(theirs, name)
    if module not in ("base", "utils"):  # these have no list of what is public, or one of their own tools
        public = set(getattr(theirs, "__all__", ours.__all__))
        assert public - set(ours.__all__) <= LEFT_OUT.get(module, set())
        assert not LEFT_OUT.get(module, set()) & set(ours.__all__)


def test_a_script_runs_with_another_import_and_says_the_same():
    answers = []
    for package in ("sklearn", "learnt"):
        names: dict = {}
        exec(re.sub(r"(?m)^from sklearn", f"from {package}", SCRIPT), names)
        answers.append(names["answers"])
    assert names["search"].best_estimator_[-1].__class__.__module__.startswith("learnt.")
    assert answers[0] == answers[1]


def test_every_public_name_of_scikit_learn_is_there():
    """docs/migration.md says so. `externals` holds copies of others' code; what begins with Base its classes share."""
    promised = set(sklearn.__all__) - {"externals"}
    missing = {name for name in promised if not hasattr(learnt, name)}
    for room in sorted(promised - missing):
        if importlib.util.find_spec(f"sklearn.{room}") is None:  # a function
            assert getattr(learnt, room) is getattr(sklearn, room)
            continue
        ours, theirs = importlib.import_module(f"learnt.{room}"), importlib.import_module(f"sklearn.{room}")
        public = {name for name in getattr(theirs, "__all__", ()) if not name.startswith("Base")}
        for name in public:
            if not hasattr(ours, name) and importlib.util.find_spec(f"learnt.{room}.{name}") is None:
                missing.add(f"{room}.{name}")
    assert missing == set()


def test_what_is_experimental_needs_no_switch_and_the_switches_are_there():
    from learnt.experimental import enable_halving_search_cv, enable_hist_gradient_boosting, enable_iterative_imputer
    from learnt.impute import IterativeImputer
    from learnt.model_selection import HalvingGridSearchCV, HalvingRandomSearchCV

    assert enable_halving_search_cv is enable_hist_gradient_boosting is enable_iterative_imputer is None
    assert IterativeImputer().get_params()["max_iter"] == 10
    assert HalvingGridSearchCV.__name__ != HalvingRandomSearchCV.__name__
