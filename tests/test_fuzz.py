"""Random estimators on random tables beside scikit-learn, by law: `tests/fuzz`; `make fuzz` draws new seeds."""

import dataclasses
import os
import subprocess
import sys
from pathlib import Path

import numpy as np
import pytest

FUZZ = Path(__file__).parent / "fuzz"
SEED = int(os.environ.get("LEARNT_FUZZ_SEED", "0"))
PART = 500


@pytest.fixture
def laws(monkeypatch):
    """The harness is a folder of scripts, whose names are found while it is in the path."""
    monkeypatch.syspath_prepend(str(FUZZ))
    import laws

    yield laws
    for name in ("laws", "objectives", "subjects", "tables"):
        sys.modules.pop(name, None)


def test_a_few_cases_hold(laws):
    lines = {str(case): laws.broken(case) for case in (laws.case_of(SEED, number) for number in range(60))}
    assert not {case: found for case, found in lines.items() if found}


def _first(laws, name):
    """The first case of this class on a well-posed table."""
    for number in range(20_000):
        case = laws.case_of(1, number)
        if case.subject.name == name and case.table.tame and case.table.layout == "C":
            return case
    raise AssertionError(name)


def test_a_broken_law_is_found(laws):
    """A fit that is worse, not finite, of another shape, foreign in its words or late is reported as such."""
    case = _first(laws, "Ridge")
    right = laws._fit(case.subject.ours(case.settings), case.table.laid, case.table)
    assert laws.broken(case, right) == []

    right.model.coef_ = right.model.coef_ + 1.0
    assert any("objective" in line for line in laws.broken(case, right))
    right.outputs = {"predict": right.outputs["predict"] + 1.0}
    assert any("predict differs" in line for line in laws.broken(case, right))
    right.outputs = {"predict": np.full(len(case.table.plain), np.nan)}
    assert any("predict is not finite" in line for line in laws.broken(case, right))
    right.outputs = {"predict": np.zeros((len(case.table.plain), 1))}
    assert any("predict has shape" in line for line in laws.broken(case, right))
    assert any("has no predict" in line for line in laws.broken(case, dataclasses.replace(right, outputs={})))


def test_errors_that_are_not_sentences_are_found(laws):
    case = _first(laws, "Ridge")
    try:
        np.linalg.cholesky(-np.eye(2))
    except np.linalg.LinAlgError as error:
        foreign = laws.Outcome(error=error)
    assert any("not ours" in line for line in laws.broken(case, foreign))
    try:
        case.subject.ours({"alpha": -1.0}).fit(case.table.plain, case.table.y)
    except ValueError as error:
        own = laws.Outcome(error=error)
    assert any("refused, though" in line for line in laws.broken(case, own))


@pytest.mark.long
@pytest.mark.parametrize("first", range(0, 3000, PART))
def test_laws(first):
    """In a process of its own, as a user starts it."""
    command = [sys.executable, str(FUZZ), "--seed", str(SEED), "--first", str(first), "--cases", str(PART)]
    ended = subprocess.run(command, capture_output=True, text=True, check=False)
    assert ended.returncode == 0, ended.stdout + ended.stderr
