"""A team of threads: no step waits for a helper that has given its processor away."""

import numpy as np

from learnt.forestry.boosting import _team
from learnt.forestry.boosting._share import TEAM_SIZE


def test_helpers_before_the_first_that_is_away_are_members():
    team = np.zeros(TEAM_SIZE, np.int64)
    assert _team.members(team) == 1
    assert [int(_team.join(team)) for _ in range(3)] == [1, 2, 3]
    assert _team.members(team) == 4
    team[_team.AWAKE] -= 1 << 2
    assert _team.members(team) == 2
    team[_team.AWAKE] -= 1 << 1
    assert _team.members(team) == 1


def test_a_helper_without_a_bit_of_its_own_is_always_a_member():
    team = np.zeros(TEAM_SIZE, np.int64)
    places = [int(_team.join(team)) for _ in range(70)]
    assert places == list(range(1, 71))
    assert _team.members(team) == 71


def test_a_helper_that_has_waited_for_long_is_away_until_it_is_back(monkeypatch):
    team, seen = np.zeros(TEAM_SIZE, np.int64), []
    me = int(_team.join(team))
    monkeypatch.setattr(_team, "_PATIENCE", 5)

    def elsewhere():
        seen.append(int(_team.members(team)))  # what the leader would see meanwhile
        team[_team.WORD] = (7 << 10) + 2

    for name in ("atomic_add", "atomic_load", "atomic_store", "members"):
        monkeypatch.setattr(_team, name, getattr(_team, name).python)
    monkeypatch.setattr(_team, "yield_processor", elsewhere)
    word = _team.next_step.python(team, np.int64(0), me)
    assert seen == [1]
    assert word == (7 << 10) + 2
    assert _team.members(team) == 2
