"""``learnt completion``: a script that lets a shell complete commands and options, made from the options themselves.

A value is completed by the words in `_WORDS`, by files, or not at all where nobody could guess it.
"""

from __future__ import annotations

import argparse
from collections.abc import Callable
from typing import NamedTuple

_FILES = {"table", "model", "file", "out"}  # whose values are files or folders
_WORDS = {
    "task": ("auto", "classify", "regress"),
    "prefer": ("best", "simple"),
    "final": ("all", "judged"),
    "budget": ("30s", "60s", "5m", "15m", "1h"),
    "cost": ("fp=1,fn=10",),
    "host": ("127.0.0.1", "0.0.0.0"),
    "metric": (
        "log_loss",
        "roc_auc",
        "average_precision",
        "f1",
        "balanced_accuracy",
        "mcc",
        "rmse",
        "mae",
        "r2",
        "mape",
    ),
}


class Option(NamedTuple):
    """An option, or an argument by its place, as shells need it."""

    names: list[str]  # none: an argument
    text: str
    takes_value: bool
    words: tuple[str, ...]
    files: bool


class Spelled(NamedTuple):
    """A command with its summary and options."""

    name: str
    text: str
    options: list[Option]


def run_completion(shell: str) -> int:
    """Print the script of a shell."""
    print(_SCRIPTS[shell](_commands()), end="")
    return 0


def _commands() -> list[Spelled]:
    from learnt.cli._app import COMMANDS
    from learnt.cli._arguments import Parser

    found = []
    for name, command in COMMANDS.items():
        parser = Parser(f"learnt {name}", "", "")
        command.options(parser)
        found.append(Spelled(name, command.summary, [_option(action) for action in parser._actions]))
    return found


def _option(action: argparse.Action) -> Option:
    words = tuple(map(str, action.choices or ())) or _WORDS.get(action.dest, ())
    takes_value = action.nargs != 0 and not isinstance(action, argparse.BooleanOptionalAction)
    text = "Show this message." if action.dest == "help" else str(action.help or "")
    return Option(list(action.option_strings), text, takes_value, words, action.dest in _FILES)


def _quoted(text: str) -> str:
    """In single quotes for bash and zsh.

    >>> _quoted("it's")
    "'it'\\\\''s'"
    """
    return "'" + text.replace("'", "'\\''") + "'"


# --- bash ---


def _bash(commands: list[Spelled]) -> str:
    first = " ".join([*(command.name for command in commands), "--help", "--version"])
    valued = {name: option for c in commands for option in c.options if option.takes_value for name in option.names}
    by_words: dict[str, list[str]] = {}
    for name, option in valued.items():
        by_words.setdefault("-" if option.files else " ".join(option.words), []).append(name)
    cases = []
    for words, names in by_words.items():
        then = "return" if words == "-" else f'COMPREPLY=($(compgen -W {_quoted(words)} -- "$cur")); return'
        then = "compopt +o default 2>/dev/null; return" if words == "" else then
        cases.append(f"    {'|'.join(names)}) {then} ;;")
    lists = []
    for command in commands:
        options = " ".join(name for option in command.options for name in option.names)
        plain = next((option for option in command.options if not option.names and option.words), None)
        words = "" if plain is None else f" plain={_quoted(' '.join(plain.words))}"
        lists.append(f"    {command.name}) options={_quoted(options)}{words} ;;")
    values, options = "\n".join(cases), "\n".join(lists)
    return f"""\
# learnt's completion for bash: source <(learnt completion bash)
_learnt() {{
  local cur="${{COMP_WORDS[COMP_CWORD]}}" prev="${{COMP_WORDS[COMP_CWORD-1]}}" options="" plain=""
  COMPREPLY=()
  if [ "$cur" = "=" ]; then cur=""
  elif [ "$prev" = "=" ]; then prev="${{COMP_WORDS[COMP_CWORD-2]}}"; fi
  if [ "$COMP_CWORD" -eq 1 ]; then
    COMPREPLY=($(compgen -W {_quoted(first)} -- "$cur")); return
  fi
  case "$prev" in
{values}
  esac
  case "${{COMP_WORDS[1]}}" in
{options}
  esac
  if [ "${{cur#-}}" != "$cur" ]; then COMPREPLY=($(compgen -W "$options" -- "$cur"))
  elif [ -n "$plain" ]; then COMPREPLY=($(compgen -W "$plain" -- "$cur")); fi
}}
complete -o default -F _learnt learnt
"""


# --- zsh ---


def _zsh(commands: list[Spelled]) -> str:
    named = "\n".join(f"    {_quoted(f'{c.name}:{_zsh_text(c.text)}')}" for c in commands)
    cases = []
    for command in commands:
        parts = [_zsh_option(name, option) for option in command.options for name in option.names]
        plain = [option for option in command.options if not option.names]
        parts += [_quoted(f":value:{_zsh_values(option)}") for option in plain]
        cases.append(f"    {command.name}) _arguments {' '.join(parts)} ;;")
    listed = "\n".join(cases)
    return f"""\
#compdef learnt
# learnt's completion for zsh: source <(learnt completion zsh), or a file _learnt in a folder of $fpath
_learnt() {{
  local -a commands
  commands=(
{named}
  )
  if (( CURRENT == 2 )); then
    _describe 'command' commands
    _values 'option' --help --version
    return
  fi
  local command=$words[2]
  shift words
  (( CURRENT-- ))
  case $command in
{listed}
  esac
}}
if [ "${{funcstack[1]}}" = _learnt ]; then _learnt "$@"; else compdef _learnt learnt; fi
"""


def _zsh_text(text: str) -> str:
    for character in ("\\", "[", "]", ":"):
        text = text.replace(character, f"\\{character}")
    return text


def _zsh_values(option: Option) -> str:
    return "_files" if option.files else f"({' '.join(option.words)})" if option.words else " "


def _zsh_option(name: str, option: Option) -> str:
    value = f":value:{_zsh_values(option)}" if option.takes_value else ""
    return _quoted(f"*{name}[{_zsh_text(option.text)}]{value}")


# --- fish ---


def _fish(commands: list[Spelled]) -> str:
    first, other = "complete -c learnt -n __fish_use_subcommand", "complete -c learnt -n '__fish_seen_subcommand_from"
    lines = ["# learnt's completion for fish: learnt completion fish | source"]
    lines += [f"{first} -f -a {c.name} -d {_fish_text(c.text)}" for c in commands]
    lines += [f"{first} -l help -d 'Show this message.'", f"{first} -l version -d 'Show the version.'"]
    for command in commands:
        for option in command.options:
            parts = [f"-l {name[2:]}" if name.startswith("--") else f"-s {name[1:]}" for name in option.names]
            if option.takes_value and option.names:
                parts.append("-r" if option.files else f"-x -a {_fish_text(' '.join(option.words))}")
            elif not option.names and option.words:
                parts.append(f"-f -a {_fish_text(' '.join(option.words))}")
            if parts:
                lines.append(f"{other} {command.name}' {' '.join(parts)} -d {_fish_text(option.text)}")
    return "\n".join(lines) + "\n"


def _fish_text(text: str) -> str:
    return "'" + text.replace("\\", "\\\\").replace("'", "\\'") + "'"


_SCRIPTS: dict[str, Callable[[list[Spelled]], str]] = {"bash": _bash, "zsh": _zsh, "fish": _fish}
