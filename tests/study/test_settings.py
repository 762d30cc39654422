"""Settings come as text from the command line, and bad ones get a sentence."""

import pytest

from learnt.study import Settings, StudyError, parse_budget, parse_cost


@pytest.mark.parametrize("text", ["", "soon", "10x", "5m later", "-3"])
def test_bad_budgets(text):
    with pytest.raises(StudyError, match="not a time"):
        parse_budget(text)


@pytest.mark.parametrize("text", ["", "fp=1", "fp=a,fn=2", "1,10", "fp=0,fn=0"])
def test_bad_costs(text):
    with pytest.raises(StudyError, match="fp=1,fn=10"):
        parse_cost(text)


@pytest.mark.parametrize("bad", [{"task": "guess"}, {"budget": 0}, {"seed": -1}, {"threads": 0}])
def test_bad_settings(bad):
    with pytest.raises(StudyError):
        Settings(target="y", **bad)


def test_options_may_come_as_text():
    given = Settings(target="y", budget="1m30s", cost="fp=1,fn=2", keep="a", drop=["b", "c"])
    assert given == Settings(target="y", budget=90, cost=(1, 2), keep=("a",), drop=("b", "c"))


@pytest.mark.parametrize("bad", [{"budget": None}, {"budget": float("nan")}, {"cost": 3}, {"cost": (1, -1)}])
def test_options_of_the_wrong_type_get_a_sentence(bad):
    with pytest.raises(StudyError, match=r"[Tt]he (budget|cost) "):
        Settings(target="y", **bad)


def test_the_key_depends_on_what_changes_a_fit_and_on_nothing_else():
    base = Settings(target="y")
    same = [Settings(target="y", **o) for o in ({"budget": 5}, {"threads": 2}, {"fresh": True}, {"cost": (1, 2)})]
    other = [Settings(target="y", **o) for o in ({"seed": 1}, {"time": "t"}, {"drop": ("x",)}, {"task": "regress"})]
    assert {s.key("data") for s in same} == {base.key("data")}
    assert len({s.key("data") for s in other} | {base.key("data"), base.key("other data")}) == len(other) + 2
