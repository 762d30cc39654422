"""Sentences of the command in the words of Python."""

import pytest

from learnt.study import StudyError, study
from learnt.study.door._sentences import in_python


@pytest.mark.parametrize(
    ("said", "meant"),
    [
        ("use --task classify.", 'use task="classify".'),
        ("Name it with --target; the columns are", "Name it with target=…; the columns are"),
        ("leave --no-header out", "leave header=False out"),
        ("leave --header out", "leave header=True out"),
        ("(--time none to shuffle instead)", '(time="none" to shuffle instead)'),
        ("add columns or --keep one.", "add columns or keep=… one."),
        ("a well-known sentence -- with dashes", "a well-known sentence -- with dashes"),
    ],
)
def test_options_become_arguments(said, meant):
    assert in_python(said) == meant


def test_errors_name_arguments(tmp_path):
    (tmp_path / "t.csv").write_text("a,b\n1,2\n")
    with pytest.raises(StudyError, match=r"Name it with target=…"):
        study(tmp_path / "t.csv")
