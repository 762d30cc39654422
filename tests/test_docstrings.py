"""Every public name explains itself: `tests/docstrings` finds no fault in docstrings, attributes and types."""

import sys
from pathlib import Path

import pytest

FOLDER = Path(__file__).parent / "docstrings"


@pytest.fixture
def audit(monkeypatch):
    """The audit is a folder of scripts, whose names are found while it is in the path."""
    monkeypatch.syspath_prepend(str(FOLDER))
    import audit

    yield audit
    sys.modules.pop("audit", None)


@pytest.mark.filterwarnings("ignore")  # of names that scikit-learn has deprecated: its classes are looked at too
def test_no_public_name_leaves_its_user_alone(audit):
    found = [f"{name}: {fault}" for room in audit.ROOMS for name, fault in audit.faults(room)]
    assert found == []


def test_faults_are_found(audit):
    def bare(X, y):
        """Do something."""

    class Model:
        """A model.

        Attributes
        ----------
        coef_ : ndarray

        See Also
        --------
        Nonsense : Is nowhere.
        """

    assert [fault[:4] for fault in audit.of_numpydoc(bare)] == ["PR01"]
    assert list(audit.of_class("Model", Model)) == ["the attribute 'coef_' has no description"]
    assert list(audit.of_words("Model", "The parameters are those of `Ridge`.")) == [
        "explains by reference: 'parameters are those of'"
    ]
    assert len(list(audit.of_words("Model", Model.__doc__))) == 1
