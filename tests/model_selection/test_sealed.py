"""The sealed test set: opens once, remembers, warns, and cannot be peeked into by accident."""

import copy
import json
import pickle
import subprocess
import sys
import threading
import warnings

import numpy as np
import pandas as pd
import polars as pl
import pytest
from scipy.sparse import csr_array

from learnt.model_selection import SealedTestSet, TestSetReopenedWarning

X = np.random.default_rng(0).standard_normal((40, 3))
Y = np.arange(40) % 3


def test_the_first_opening_is_logged_the_second_warns_and_is_logged():
    box = SealedTestSet(X, Y)
    assert (box.opened, box.log) == (0, ())
    got_X, got_y = box.open(reason="final score")
    assert got_X is X
    assert got_y is Y
    with pytest.warns(TestSetReopenedWarning, match="opened for the 2nd time; .* for 'final score'") as caught:
        box.open("one more look")
    assert caught[0].filename == __file__
    assert "\n" not in str(caught[0].message)
    with pytest.warns(TestSetReopenedWarning, match="3rd time"):
        box.open("and another")
    assert [opening.reason for opening in box.log] == ["final score", "one more look", "and another"]
    assert all(opening.when.endswith("+00:00") for opening in box.log)


def test_a_reason_is_needed():
    box = SealedTestSet(X, Y)
    with pytest.raises(TypeError):
        box.open()
    for nothing in ("", "  ", None):
        with pytest.raises(ValueError, match="opened for a reason"):
            box.open(reason=nothing)
    assert box.opened == 0


def test_nothing_shows():
    box = SealedTestSet(np.full((2000, 3), 123456.0), np.full(2000, 654321))
    text = repr(box) + str(box)
    assert repr(box) == "SealedTestSet(2,000 rows, never opened)"
    assert "123456" not in text
    assert len(box) == 2000
    for peek in (lambda: box[0], lambda: list(box), lambda: np.asarray(box), lambda: pd.DataFrame(box)):
        with pytest.raises(TypeError, match="sealed"):
            peek()
    for name in ("X", "y", "data", "target"):
        with pytest.raises(AttributeError, match="sealed"):
            getattr(box, name)
    assert box.opened == 0
    box.open("now")
    assert repr(box) == "SealedTestSet(2,000 rows, opened once)"
    with pytest.raises(AttributeError):
        box.log = ()
    assert isinstance(box.log, tuple)


@pytest.mark.parametrize("duplicate", [copy.copy, copy.deepcopy, lambda box: pickle.loads(pickle.dumps(box))])
def test_copies_keep_the_count(duplicate):
    box = SealedTestSet(X, Y)
    box.open("first")
    other = duplicate(box)
    assert other.opened == 1
    with pytest.warns(TestSetReopenedWarning):
        got_X, _ = other.open("through a copy")
    np.testing.assert_array_equal(got_X, X)


def test_a_copy_within_the_process_is_the_same_box():
    box = SealedTestSet(X, Y)
    copy.deepcopy({"a": [box]})["a"][0].open("through a copy")
    assert box.opened == 1


def test_the_ledger_counts_other_processes_and_other_row_orders(tmp_path):
    ledger = tmp_path / "state" / "ledger.jsonl"
    box = SealedTestSet(X, Y, path=ledger)
    box.open("first process")
    code = (
        "import sys, warnings, numpy as np; from learnt.model_selection import SealedTestSet\n"
        "X = np.random.default_rng(0).standard_normal((40, 3)); y = np.arange(40) % 3\n"
        "box = SealedTestSet(X[::-1], y[::-1].tolist(), path=sys.argv[1]); print(repr(box))\n"
        "warnings.simplefilter('error')\n"
        "try: box.open('second process')\n"
        "except UserWarning as warning: print(type(warning).__name__)\n"
    )
    done = subprocess.run([sys.executable, "-c", code, str(ledger)], capture_output=True, text=True, check=True)
    assert done.stdout.splitlines() == ["SealedTestSet(40 rows, opened once)", "TestSetReopenedWarning"]
    assert [opening.reason for opening in box.log] == ["first process", "second process"]
    with pytest.warns(TestSetReopenedWarning, match="3rd time"):
        box.open("back here")
    assert SealedTestSet(X[:-1], Y[:-1], path=ledger).opened == 0
    assert SealedTestSet(X + 1, Y, path=ledger).opened == 0
    assert SealedTestSet(X, 1 + Y, path=ledger).opened == 0


def test_damaged_lines_are_passed_over(tmp_path):
    ledger = tmp_path / "ledger.jsonl"
    SealedTestSet(X, Y, path=ledger).open("a reason")
    with ledger.open("ab") as file:
        file.write(b'{"test": 1}\n\xff\xfe garbage\n[]\n{"tes')
    assert SealedTestSet(X, Y, path=ledger).opened == 1


def test_a_ledger_that_cannot_be_written_keeps_the_seal(tmp_path):
    blocker = tmp_path / "file"
    blocker.write_text("")
    box = SealedTestSet(X, Y, path=blocker / "ledger.jsonl")
    with pytest.raises(OSError, match="stays sealed"):
        box.open("a reason")
    assert box.opened == 0


def test_fingerprints_are_of_the_content():
    names = np.array(["a", "b", "c", None], dtype=object)[np.arange(40) % 4]
    whole = np.round(10 * X)
    same = [
        SealedTestSet(whole, Y),
        SealedTestSet(whole.tolist(), Y.tolist()),
        SealedTestSet(pd.DataFrame(whole), pd.Series(Y)),
        SealedTestSet(pl.DataFrame(whole), pl.Series(Y)),
        SealedTestSet(csr_array(whole), Y.astype(np.int8)),
        SealedTestSet(whole[::-1], Y[::-1]),
    ]
    assert len({box.fingerprint for box in same}) == 1
    mixed = {"name": names, "x": whole[:, 0]}
    frames = [SealedTestSet(pd.DataFrame(mixed), Y), SealedTestSet(pl.DataFrame(mixed), Y)]
    assert frames[0].fingerprint == frames[1].fingerprint
    assert frames[0].fingerprint != SealedTestSet(pd.DataFrame(mixed)[::-1], Y).fingerprint
    assert SealedTestSet(X, None).fingerprint != SealedTestSet(X, Y).fingerprint


def test_openings_from_many_threads_are_all_counted(tmp_path):
    for path in (None, tmp_path / "ledger.jsonl"):
        box = SealedTestSet(X, Y, path=path)

        def work(box=box):
            for i in range(5):
                box.open(f"thread {threading.get_ident()}, {i}")

        threads = [threading.Thread(target=work) for _ in range(4)]
        with warnings.catch_warnings():
            warnings.simplefilter("ignore", TestSetReopenedWarning)
            for thread in threads:
                thread.start()
            for thread in threads:
                thread.join()
        assert box.opened == 20
    assert len([json.loads(line) for line in (tmp_path / "ledger.jsonl").read_text().splitlines()]) == 20


def test_unequal_rows_are_refused():
    with pytest.raises(ValueError, match="X has 40 rows and y 39"):
        SealedTestSet(X, Y[:-1])
