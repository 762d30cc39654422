"""Progress, random streams and array namespaces."""

import io
import time
from concurrent.futures import ThreadPoolExecutor

import numpy as np
import pytest

from learnt.engine import progress
from learnt.engine.arrays import is_foreign_array, is_lazy, like, namespace, to_numpy
from learnt.engine.random import (
    borrowed,
    entropy,
    first_seed,
    generator,
    random_state_of,
    stream,
    streams,
    task_seed,
)


@pytest.fixture(autouse=True)
def _off():
    yield
    progress.show("off")


def test_silent_by_default(capfd):
    progress.show("off")
    with progress.task("work", total=3) as bar:
        bar.advance()
        bar.note("half way")
    assert capfd.readouterr() == ("", "")


def test_plain_lines(monkeypatch):
    monkeypatch.setattr(progress, "_PLAIN_SECONDS", 0.0)
    out = io.StringIO()
    progress.show("plain", stream=out)
    assert list(progress.track("abc", "letters")) == ["a", "b", "c"]
    with progress.task("no end") as bar:
        bar.advance(note="a note")
    lines = out.getvalue().splitlines()
    assert lines[0] == "learnt: letters 0/3" or lines[0].startswith("learnt: letters")
    assert any("letters 2/3" in line and "left" in line for line in lines)
    assert any("done in" in line for line in lines)
    assert any("a note" in line for line in lines)


def test_work_with_a_deadline_is_not_estimated_to_take_longer():
    bar = progress.Bar("race", total=1000)
    bar.started, bar.done = time.monotonic() - 100.0, 1
    assert progress._remaining(bar).startswith("about 99")  # thousands of seconds at this rate
    bar.until = time.monotonic() + 30.4
    assert progress._remaining(bar) == "about 30 s left"
    bar.until = time.monotonic() - 1.0
    assert progress._remaining(bar) == "about 0 s left"


def test_rich_bars_go_to_standard_error(capfd):
    progress.show("rich")
    with progress.task("outer", total=2) as outer, progress.task("inner", total=1) as inner:
        inner.advance(note="x")
        outer.advance()
    out, _ = capfd.readouterr()
    assert out == ""


def test_an_error_ends_the_bar():
    out = io.StringIO()
    progress.show("plain", stream=out)
    with pytest.raises(KeyError), progress.task("work", total=2):
        raise KeyError
    assert "done in" in out.getvalue()


def test_modes():
    with pytest.raises(ValueError, match="progress can be off, auto, rich, plain"):
        progress.show("loud")


def test_streams_are_independent_and_repeatable():
    a = [stream.random(4) for stream in streams(7, 3)]
    b = [stream.random(4) for stream in streams(7, 3)]
    np.testing.assert_array_equal(a, b)
    assert len({tuple(x) for x in a}) == 3
    np.testing.assert_array_equal(a[0], streams(7, 1)[0].random(4))  # a stream does not depend on how many there are


def test_a_borrowed_state_draws_what_a_new_one_does_in_every_thread():
    def draws(seed):
        return [borrowed(seed).randint(1000, size=50).tolist() for _ in range(20)]

    with ThreadPoolExecutor(4) as pool:
        found = list(pool.map(draws, range(8)))
    for seed, lists in enumerate(found):
        assert lists == [np.random.RandomState(seed).randint(1000, size=50).tolist()] * 20
    borrowed(3).normal()  # leaves half of a pair behind, which the next seed forgets
    assert borrowed(3).normal() == np.random.RandomState(3).normal()


def test_the_first_seed_is_scikit_learns():
    for seed in (0, 7, np.int64(7), 2**32 - 1):
        assert first_seed(seed) == np.random.RandomState(seed).randint(0, 2**31 - 1)
    drawn = np.random.RandomState(5)
    assert first_seed(drawn) == np.random.RandomState(5).randint(0, 2**31 - 1)
    assert first_seed(drawn) != first_seed(5)  # it has moved on
    assert first_seed(None) >= 0
    for wrong in (-1, 2**32, "seed"):
        with pytest.raises(ValueError):
            first_seed(wrong)


@pytest.mark.parametrize("state", [None, 0, np.int64(3), np.random.RandomState(1), np.random.default_rng(1)])
def test_every_kind_of_random_state(state):
    assert 0 <= generator(state).random() < 1
    assert 0 <= random_state_of(state).rand() < 1
    assert entropy(state) >= 0


def test_sklearns_draws():
    assert random_state_of(0).randint(100) == np.random.RandomState(0).randint(100)
    with pytest.raises(ValueError, match="at least 0"):
        entropy(-1)


def test_namespaces():
    import array_api_strict
    import torch

    x = torch.ones(3, dtype=torch.float32)
    assert namespace(x).__name__.endswith("torch")
    assert namespace(np.ones(3)) is np
    assert is_foreign_array(x)
    assert is_foreign_array(array_api_strict.ones(3))
    assert not is_foreign_array(np.ones(3))
    assert not is_lazy(x)
    assert isinstance(like([1.0], x), torch.Tensor)
    assert like([1.0], x).dtype == torch.float32
    np.testing.assert_array_equal(to_numpy(x), np.ones(3))
    with pytest.raises(TypeError, match="numpy and torch came together"):
        namespace(x, np.ones(3))


@pytest.mark.parametrize("seed", [0, 7, 2**31 - 1])
def test_integers_seed_the_streams_that_numpy_makes_of_them(seed):
    same = (
        (generator(seed), np.random.default_rng(seed)),
        (stream(seed, 3), np.random.default_rng([seed, 3])),
        (random_state_of(seed), np.random.RandomState(seed)),
    )
    for ours, numpys in same:
        np.testing.assert_array_equal(ours.normal(size=5), numpys.normal(size=5))
    assert task_seed(seed, 1, 2) == np.random.SeedSequence([seed, 1, 2]).generate_state(1, np.uint64)[0] >> np.uint64(1)
