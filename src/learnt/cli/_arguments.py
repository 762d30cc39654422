"""Options and arguments of a command; a mistyped one is a sentence that says what to type instead."""

from __future__ import annotations

import argparse
from collections.abc import Callable, Iterable
from difflib import get_close_matches
from typing import Any, NoReturn


class Misused(Exception):
    """A command line that cannot be run; the text is a sentence with a reference to the help."""


def misused(said: str, program: str) -> Misused:
    """The exception for a sentence without its full stop, which may be a question."""
    return Misused(f"{said} See {program} --help." if said.endswith("?") else f"{said}; see {program} --help.")


class Parser(argparse.ArgumentParser):
    """The arguments of one command, in any order; never ends the process."""

    def __init__(self, program: str, usage: str, description: str) -> None:
        super().__init__(
            prog=program,
            usage=f"{program} {usage}",
            description=description,
            formatter_class=argparse.RawDescriptionHelpFormatter,
            allow_abbrev=False,
        )
        self._positionals.title = "arguments"

    def error(self, message: str) -> NoReturn:
        raise misused(_sentence(message), self.prog)

    def read(self, arguments: list[str]) -> argparse.Namespace:
        """The values of all options; mistyped ones are named together with those that exist."""
        found, others = self.parse_known_intermixed_args(arguments)
        mistyped = next((word for word in others if word.startswith("-")), None)
        if mistyped is not None:
            option = mistyped.partition("=")[0]
            raise misused(f"No such option {option}{suggestion(option, self._option_string_actions)}", self.prog)
        if others:
            raise misused(f"Too many arguments: {' '.join(others)}", self.prog)
        return found


def suggestion(word: str, known: Iterable[str]) -> str:
    """A question about the most similar known word, or nothing."""
    close = get_close_matches(word, list(known), n=1)
    return f": did you mean {close[0]}?" if close else ""


def whole(least: int | None = None, most: int | None = None) -> Callable[[str], int]:
    """What reads an integer, within bounds if they are given."""

    def read(text: str) -> int:
        try:
            value = int(text)
        except ValueError:
            raise argparse.ArgumentTypeError(f"“{text}” is no integer") from None
        if (least is not None and value < least) or (most is not None and value > most):
            raise argparse.ArgumentTypeError(f"it is {value}, and can be {least} to {most}")
        return value

    return read


def _sentence(message: str) -> str:
    """What `argparse` says, in the words of the other errors."""
    where, colon, what = message.partition(": ")
    if where == "the following arguments are required":
        return f"Missing: {what}"
    if not (colon and where.startswith("argument ")):
        return message[:1].upper() + message[1:]
    option = where.removeprefix("argument ").split("/")[-1]
    if what == "expected one argument":
        return f"{option} needs a value (one that begins with a dash: {option}=VALUE)"
    return f"Invalid value for {option}: {what.removeprefix('invalid choice: ')}"


def add_switch(parser: Any, *names: str, text: str) -> None:
    parser.add_argument(*names, action="store_true", help=text)
