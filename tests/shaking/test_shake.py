"""`make shake` says which tests fail, and under what."""

import runpy
from pathlib import Path

import pytest

shake = runpy.run_path(str(Path(__file__).parent / "shake.py"))


def test_a_test_that_hangs_on_its_place_is_named(tmp_path, monkeypatch):
    """`test_last` fails unless it runs last."""
    test = "seen = []\n" + "".join(f"def test_{k}():\n    seen.append({k})\n" for k in range(8))
    (tmp_path / "test_it.py").write_text(test + "def test_last():\n    assert len(seen) == 8\n")
    monkeypatch.chdir(tmp_path)
    code, failed, last = shake["run"]({"SHAKE_SEED": "5"}, ["test_it.py"])
    assert code == 1
    assert failed == ["test_it.py::test_last"]
    assert "1 failed, 8 passed" in last


def test_variants():
    names = " ".join(name for name, _ in shake["variants"](7))
    for part in ("OPENBLAS_CORETYPE=", "NUMBA_CPU_NAME=generic", "OMP_NUM_THREADS=1", "load of 4", "SHAKE_SEED=7"):
        assert part in names


def test_variants_are_chosen_by_parts_of_their_names():
    everything = shake["variants"](7)
    assert shake["chosen"]("", 7) == everything
    found = [name for name, _ in shake["chosen"]("THREADS load", 7)]
    assert found == ["OMP_NUM_THREADS=1", "load of 4"]
    with pytest.raises(SystemExit, match=r"SHAKE_ONLY=nothing is part of none of: .*load of 4"):
        shake["chosen"]("nothing", 7)
