"""Scripts for shells: made from the options themselves, and bash completes by its own."""

import shutil
import subprocess

import pytest

from learnt.cli import _completion
from learnt.cli._app import COMMANDS
from learnt.cli._run import run
from learnt.study import Settings, parse_budget, parse_cost


@pytest.fixture(scope="module")
def scripts(tmp_path_factory):
    """The script of each shell in a file."""
    folder = tmp_path_factory.mktemp("shells")
    for shell in ("bash", "zsh", "fish"):
        text = _completion._SCRIPTS[shell](_completion._commands())
        (folder / shell).write_text(text, encoding="utf-8")
    return folder


COMPLETED = [
    ("learnt stu", ["study"]),
    ("learnt ", [*COMMANDS, "--help", "--version"]),
    ("learnt study --ta", ["--target", "--task"]),
    ("learnt study t.csv --task cl", ["classify"]),
    ("learnt study --task=cl", ["classify"]),
    ("learnt study t.csv --task ", ["auto", "classify", "regress"]),
    ("learnt study --no", ["--no-header"]),
    ("learnt predict --j", ["--join"]),
    ("learnt predict --ta", []),
    ("learnt completion ", ["bash", "zsh", "fish"]),
    ("learnt study t.c", []),  # nothing of ours: bash then offers files
]


@pytest.mark.parametrize(("line", "found"), COMPLETED)
def test_bash_completes(scripts, line, found):
    """As readline calls it; its words are cut at an equals sign too."""
    words = line.replace("=", " = ").split() + [""] * line.endswith((" ", "="))
    script = f"""
source {scripts / "bash"}
COMP_WORDS=({" ".join(f"'{word}'" for word in words)}); COMP_CWORD={len(words) - 1}
_learnt 2>/dev/null
printf '%s\\n' "${{COMPREPLY[@]}}"
complete -p learnt
"""
    done = subprocess.run(["bash", "--norc", "-c", script], capture_output=True, text=True, timeout=60)
    *completed, registered = done.stdout.splitlines()
    assert [word for word in completed if word] == found
    assert registered == "complete -o default -F _learnt learnt"
    assert done.stderr == ""


def test_every_option_is_in_every_script(scripts):
    for command in _completion._commands():
        for option in command.options:
            for name in option.names:
                assert name in (scripts / "bash").read_text()
                assert f"{name}[" in (scripts / "zsh").read_text()
                wanted = f"-l {name[2:]} " if name.startswith("--") else f"-s {name[1:]} "
                lines = (scripts / "fish").read_text().splitlines()
                assert any(f"from {command.name}'" in line and wanted in line for line in lines)


@pytest.mark.parametrize("shell", ["bash", "zsh", "fish"])
def test_the_command_prints_a_script_that_the_shell_can_read(scripts, shell, capfd):
    assert run(["completion", shell]) == 0
    assert capfd.readouterr().out == (scripts / shell).read_text()
    if found := shutil.which(shell):  # zsh and fish are not on every machine; bash is
        done = subprocess.run([found, "-n", str(scripts / shell)], capture_output=True, text=True, timeout=60)
        assert (done.returncode, done.stderr) == (0, "")


def test_the_words_that_are_offered_are_understood():
    """Each is a value of its option."""
    words = _completion._WORDS
    for name in ("task", "prefer", "final", "metric"):
        assert all(getattr(Settings(target="y", **{name: word}), name) == word for word in words[name])
    assert [parse_budget(word) for word in words["budget"]] == [30, 60, 300, 900, 3600]
    assert [parse_cost(word) for word in words["cost"]] == [(1, 10)]


def test_an_unknown_shell_gets_a_sentence(capfd):
    assert run(["completion", "csh"]) == 2
    assert capfd.readouterr().err.startswith("learnt: Invalid value for shell: 'csh' (choose from")
