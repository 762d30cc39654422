"""What is measured beside the judgement of the test rows."""

import time

import polars as pl
import pytest

from learnt.study.judgement._opening import LONG_ENOUGH, _latency


@pytest.mark.parametrize(("seconds", "calls"), [(0.0, 6), (0.4 * LONG_ENOUGH, 4), (2 * LONG_ENOUGH, 2)])
def test_a_slow_prediction_is_repeated_less_often_and_the_first_never_counts(monkeypatch, seconds, calls):
    now, predicted = [0.0], []

    class Model:
        def predict(self, row):
            predicted.append(row)
            now[0] += seconds if len(predicted) > 1 else 60.0  # the first loads what the others have

    monkeypatch.setattr(time, "perf_counter", lambda: now[0])
    assert _latency(Model(), pl.DataFrame({"x": [1.0]})) == pytest.approx(seconds)
    assert len(predicted) == calls
