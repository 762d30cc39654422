"""Who asks scikit-learn's packages gets learnt's or scikit-learn's; afterwards all is as it was."""

import copyreg
import inspect
import pickle
import sys
from types import ModuleType

import numpy as np
import pytest
import sklearn.calibration
import sklearn.compose
import sklearn.ensemble
import sklearn.impute
import sklearn.linear_model as lm
import sklearn.naive_bayes as nb
import sklearn.preprocessing
from sklearn.ensemble import RandomForestClassifier as Before
from sklearn.utils import all_estimators

import learnt.linear_model
from learnt.accel import install, load_ipython_extension, uninstall, unload_ipython_extension
from learnt.accel._classes import become_original
from learnt.accel._pairs import pair_of

Original = vars(lm)["Ridge"]


@pytest.fixture(autouse=True)
def _given_back():
    yield
    uninstall()


def test_a_script_gets_ours_and_uninstall_gives_back():
    tables = dict(copyreg.dispatch_table)
    install()
    install()  # a second time changes nothing
    from sklearn.linear_model import Ridge

    assert Ridge is lm.Ridge
    assert Ridge is not Original
    assert issubclass(type(Ridge()), learnt.linear_model.Ridge)
    assert getattr(lm, "Lasso").__module__ == "learnt.accel.replaced"  # noqa: B009
    assert vars(lm)["Ridge"] is Original
    uninstall()
    uninstall()
    from sklearn.linear_model import Ridge as Again

    assert Again is lm.Ridge is Original
    assert type(lm) is ModuleType
    assert not [finder for finder in sys.meta_path if type(finder).__module__.startswith("learnt.accel")]
    assert copyreg.dispatch_table == tables


def test_scikit_learn_keeps_its_own():
    before = [cls for _, cls in all_estimators()]
    with install():
        assert [cls for _, cls in all_estimators()] == before
        assert inspect.getattr_static(sklearn.calibration, "LinearSVC").__module__ == "sklearn.svm._classes"
        asked = "from sklearn.linear_model import Ridge\nfrom sklearn import svm\nSVC = svm.SVC"
        inside, outside = {"__name__": "sklearn.somewhere.new"}, {"__name__": "somewhere"}
        exec(asked, inside)
        exec(asked, outside)
        assert (inside["Ridge"], inside["SVC"].__module__) == (Original, "sklearn.svm._classes")
        assert outside["Ridge"].__module__ == outside["SVC"].__module__ == "learnt.accel.replaced"
        # A member of scikit-learn's own making
        member = sklearn.compose.TransformedTargetRegressor().fit([[1.0], [3.0]], [1.0, 2.0]).regressor_
        assert type(member).__module__ == "sklearn.linear_model._base"


def test_names_can_be_left():
    with install(leave=["Ridge"]):
        assert lm.Ridge is Original
        assert lm.Lasso.__module__ == "learnt.accel.replaced"
    with pytest.raises(TypeError, match=r"leave=\['Ridge'\]"):
        install(leave="Ridge")


def test_what_stays_and_what_was_imported_before():
    with install():
        assert Before is vars(sklearn.ensemble)["RandomForestClassifier"]
        assert sklearn.impute.SimpleImputer.__module__ == "sklearn.impute._base"
        assert sklearn.preprocessing.MinMaxScaler.__module__ == "sklearn.preprocessing._data"
        with pytest.raises(AttributeError, match="Nonsense"):
            lm.Nonsense  # noqa: B018


def test_notebooks():
    load_ipython_extension(None)
    assert lm.Ridge is not Original
    unload_ipython_extension(None)
    assert lm.Ridge is Original


def test_pickles_of_scikit_learns_classes_defined_in_the_package():
    """Their pickles name `sklearn.naive_bayes.GaussianNB`, which scripts see replaced."""
    X, y = np.random.default_rng(0).normal(size=(40, 2)), np.repeat([0, 1], 20)
    theirs = nb.GaussianNB().fit(X, y)
    old = pickle.dumps(theirs)
    pair = pair_of("naive_bayes", "GaussianNB")
    with install():
        loaded = pickle.loads(old)
        assert type(loaded) is pair.original
        np.testing.assert_array_equal(loaded.theta_, theirs.theta_)
        model = nb.GaussianNB(var_smoothing=0.5)
        become_original(pair, model)
        copy = pickle.loads(pickle.dumps(model.fit(X, y)))
        assert type(copy) is pair.original
        np.testing.assert_array_equal(copy.var_, model.var_)
        new = pickle.dumps(model)
    np.testing.assert_array_equal(pickle.loads(new).var_, model.var_)
