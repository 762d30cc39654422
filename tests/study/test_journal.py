"""The journal survives what a kill leaves behind."""

import json

from learnt.study._journal import Journal


def test_records_are_found_again_by_their_study(tmp_path):
    path = tmp_path / "j.jsonl"
    journal = Journal(path, "one")
    journal.add("fit", "a", {"loss": 0.25})
    journal.add("fit", "b", {"loss": 0.5})
    Journal(path, "two").add("fit", "a", {"loss": 9.0})
    again = Journal(path, "one")
    assert (again.found, again.get("fit", "a"), again.get("fit", "c")) == (2, {"loss": 0.25}, None)


def test_a_torn_last_line_is_passed_over_and_cut_off(tmp_path):
    path = tmp_path / "j.jsonl"
    Journal(path, "k").add("fit", "a", 1)
    whole = path.read_bytes()
    for cut in range(1, len(whole)):
        path.write_bytes(whole + whole[:cut])
        journal = Journal(path, "k")
        assert journal.get("fit", "a") == 1
        journal.add("fit", "b", 2)
        assert [json.loads(line)["name"] for line in path.read_bytes().splitlines()] == ["a", "b"]


def test_garbage_in_the_middle_does_not_matter(tmp_path):
    path = tmp_path / "j.jsonl"
    Journal(path, "k").add("fit", "a", 1)
    with path.open("ab") as file:
        file.write(b"\x00\xff not json\n[1, 2]\n{}\n")
    Journal(path, "k").add("fit", "b", 2)
    again = Journal(path, "k")
    assert (again.get("fit", "a"), again.get("fit", "b")) == (1, 2)


def test_fresh_forgets_but_keeps_the_file(tmp_path):
    path = tmp_path / "j.jsonl"
    Journal(path, "k").add("fit", "a", 1)
    assert Journal(path, "k", fresh=True).get("fit", "a") is None
    assert Journal(path, "k").get("fit", "a") is None
    assert path.read_bytes().count(b"\n") == 2
