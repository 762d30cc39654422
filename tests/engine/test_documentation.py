"""Docstrings completed from the glossary: nothing that is written is replaced, and the order is the signature's."""

from sklearn.base import ClassifierMixin

from learnt.engine.documentation import SITE, documented
from learnt.engine.documentation.fill import document_class, parameters
from learnt.engine.documentation.sections import join, named, split
from learnt.engine.estimator import Takes
from learnt.linear_model import LogisticRegression, Ridge


def parameters_of(text):
    return named(split(text).sections["Parameters"])


def test_a_docstring_comes_back_whole():
    text = Ridge.__doc__
    assert join(split(text)).strip() == text.strip()
    assert join(split("One line.")) == "One line."
    assert split(None).head == ""


def test_what_is_written_stays_and_what_is_missing_is_added_in_order():
    @documented
    def score(y_true, y_pred, *, weights, sample_weight=None, pos_label="yes", **options):
        """Score.

        Parameters
        ----------
        y_pred : array
            Ours.
        weights : array
            Ours too.
        **options : dict
            More.
        """

    assert parameters_of(score.__doc__) == ["y_true", "y_pred", "weights", "sample_weight", "pos_label", "options"]
    assert "Ours.\n" in score.__doc__
    assert 'pos_label : int, float, bool or str, default="yes"' in score.__doc__


def test_parameters_are_those_of_the_signature():
    def function(self, a, b=1, *args, c, d=None, **options):
        pass

    found = parameters(function)
    assert list(found) == ["a", "b", "c", "d"]
    assert (found["b"], found["d"]) == (1, None)


def test_a_class_gets_what_its_kind_and_its_declarations_say():
    class Guess(ClassifierMixin):
        """A guess.

        Parameters
        ----------
        n : int, default=1
            How many.
        """

        __learnt_takes__ = Takes(sparse=True, missing=True)

        def __init__(self, n=1, random_state=None):
            self.n, self.random_state = n, random_state

        def fit(self, X, y, sample_weight=None):
            """Fit."""

        def predict(self, X):
            """Guess.

            Returns
            -------
            guess : str
                Anything.
            """

        def unusual(self, X):
            pass

    Guess.__module__ = Guess.fit.__module__ = "learnt.guessing"
    document_class(Guess)
    assert parameters_of(Guess.__doc__) == ["n", "random_state"]
    assert "SciPy sparse matrices; missing cells" in " ".join(Guess.__doc__.split())
    assert parameters_of(Guess.fit.__doc__) == ["X", "y", "sample_weight"]
    assert "Class labels" in Guess.fit.__doc__
    assert "{array-like, sparse matrix}" in Guess.fit.__doc__
    assert "guess : str" in Guess.predict.__doc__
    assert Guess.unusual.__doc__ is None


def test_notebooks_link_to_the_page_of_the_public_name():
    assert f"{SITE}/api/learnt.linear_model.LogisticRegression.html" in LogisticRegression()._repr_html_()

    class Mine(Ridge):
        pass

    assert Mine()._doc_link_url_param_generator() == {"room": "learnt.linear_model", "name": "Ridge"}


def test_without_docstrings_nothing_is_documented():
    """As under python -OO."""

    def bare(y_true):
        pass

    class Bare:
        def fit(self, X):
            pass

    assert documented(bare).__doc__ is None
    document_class(Bare)
    assert Bare.__doc__ is None
    assert Bare.fit.__doc__ is None
