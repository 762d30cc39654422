"""Lines of estimators that are asked for them."""

from __future__ import annotations

import logging

import numpy as np
import pytest

from learnt.baseline import ConstantRegressor
from learnt.cluster import KMeans
from learnt.engine.verbose import tell
from learnt.ensemble import (
    GradientBoostingRegressor,
    HistGradientBoostingClassifier,
    StackingRegressor,
    VotingRegressor,
)
from learnt.linear_model import LinearRegression


@pytest.fixture(autouse=True)
def nobody_listens(monkeypatch):
    """As in a user's program without logging: pytest's own handlers are taken off."""
    monkeypatch.setattr(logging.getLogger(), "handlers", [])


def test_a_line_is_written_to_stderr_without_a_handler(capfd):
    tell("step %d of %d", 1, 2)
    said = capfd.readouterr()
    assert said.err == "step 1 of 2\n"
    assert said.out == ""


def test_a_line_is_logged_where_there_is_a_handler(capfd):
    kept = []

    class Keep(logging.Handler):
        def emit(self, record):
            kept.append(record.getMessage())

    log, handler = logging.getLogger("learnt"), Keep()
    log.addHandler(handler)
    log.setLevel(logging.INFO)
    try:
        tell("step %d of %d", 1, 2)
    finally:
        log.removeHandler(handler)
        log.setLevel(logging.NOTSET)
    assert kept == ["step 1 of 2"]
    assert capfd.readouterr().err == ""


_MEMBERS = [("line", LinearRegression()), ("mean", ConstantRegressor())]


@pytest.mark.parametrize(
    ("model", "lines", "word"),
    [
        (GradientBoostingRegressor(n_estimators=3, verbose=1), 3, "GradientBoostingRegressor iteration 3"),
        (HistGradientBoostingClassifier(max_iter=3, verbose=1), 3, "HistGradientBoostingClassifier iteration 3 of 3"),
        (KMeans(2, n_init=1, random_state=0, verbose=1), 1, "KMeans iteration 1"),
        (VotingRegressor(_MEMBERS, verbose=True), 2, "VotingRegressor: mean is fitted (2 of 2)"),
        (StackingRegressor(_MEMBERS, verbose=1), 2, "StackingRegressor: line is fitted (1 of 2)"),
    ],
    ids=lambda value: type(value).__name__,
)
def test_verbose_prints_and_the_default_does_not(model, lines, word, capfd):
    rng = np.random.default_rng(0)
    X = rng.normal(size=(60, 2))
    y = (X[:, 0] > 0).astype(int)
    model.fit(X, y)
    said = capfd.readouterr()
    assert word in said.err
    assert said.err.count("\n") >= lines
    assert said.out == ""
    model.set_params(verbose=0).fit(X, y)
    assert capfd.readouterr().err == ""
