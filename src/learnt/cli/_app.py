"""The commands and their options. Nothing heavy is imported here: ``learnt --help`` must answer at once.

The standard library reads the options: a package for it took .2 processor seconds to load, a second on a busy machine.
"""

from __future__ import annotations

from argparse import BooleanOptionalAction, Namespace
from collections.abc import Callable
from typing import NamedTuple

from learnt.cli._arguments import Parser, add_switch, misused, suggestion, whole

SUMMARY = "Machine learning with judgement: from a table to a judged model in one command."


class Command(NamedTuple):
    """A command: what it does in one line and in more, its options, and what runs it."""

    summary: str
    text: str
    usage: str
    options: Callable[[Parser], None]
    run: Callable[[Namespace], int]


# --- options that several commands have ---

_TABLES = "CSV, JSON, Parquet, Arrow, Excel, SQLite (file.db::table), .npz of images; - is standard input."


def _header(parser: Parser) -> None:
    parser.add_argument("--header", action=BooleanOptionalAction, help="Whether the first line of a CSV holds names.")


def _lenient(parser: Parser) -> None:
    add_switch(parser, "--lenient", text="Count text in a column of numbers as missing instead of stopping.")


def _model(parser: Parser, text: str = "A model file, or the folder of a study.") -> None:
    parser.add_argument("model", help=text)


# --- study ---


def _study_options(parser: Parser) -> None:
    add = parser.add_argument
    add("table", nargs="?", help=f"{_TABLES} Without one: a table of ours.")
    add("-t", "--target", metavar="COLUMN", help="The column to predict.")
    add(
        "--budget",
        metavar="TIME",
        default="60s",
        help="What you wait for once the table is read: 60s, 5m, 1h (default: 60s).",
    )
    add("-o", "--out", metavar="FOLDER", help="Folder for the report, model and numbers.")
    add("--task", default="auto", help="auto, classify or regress (default: auto).")
    add("--time", metavar="COLUMN", help="Column that orders rows in time; “none” to shuffle.")
    add("--group", metavar="COLUMN", help="Column whose equal values must stay together.")
    add("--cost", help="Costs of errors, such as fp=1,fn=10.")
    add("--keep", metavar="COLUMN", action="append", help="Use a column although it was set aside.")
    add("--drop", metavar="COLUMN", action="append", help="Do not use a column.")
    add("--metric", help="Choose models by it: roc_auc, f1, log_loss, rmse, … (learnt.metrics).")
    _header(parser)
    add("--prefer", default="best", help="best (lowest loss) or simple (within one standard error; default: best).")
    final = "all: refit on all rows once judged; judged: keep it as judged (default: all)."
    add("--final", default="all", help=final)
    sealed = "Leave the test set to learnt evaluate, which opens it once."
    add_switch(parser, "--keep-sealed", text=sealed)
    add("--seed", type=whole(), default=0, help="Same seed, same study (default: 0).")
    add_switch(parser, "--fresh", text="Do not resume; start again.")
    add_switch(parser, "--overwrite", text="Replace another study in the folder.")
    add_switch(parser, "--require-better", text="Exit with 3 where no model beats a constant.")
    add("--format", metavar="KIND", default="html", help="html, or md: the report as Markdown too (default: html).")
    add("--threads", type=whole(), help="Threads to use.")
    add_switch(parser, "-q", "--quiet", text="Print only the path of the report.")


_STUDY = """\
Reads and profiles the table, seals a test set, brackets the best possible
error, races models, diagnoses the winner, opens the test set once, and
writes report.html, model.learnt, study.json and predictions.parquet.
Interrupted at any moment, the same command goes on where it was.

Exit code 0: the report is there; 2: an error; 3, with --require-better
only: no model beat the best constant."""
_HANDED_ON = [
    "task",
    "time",
    "group",
    "keep",
    "drop",
    "seed",
    "prefer",
    "final",
    "keep_sealed",
    "fresh",
    "threads",
    "metric",
    "header",
    "overwrite",
]


def _study(asked: Namespace) -> int:
    from learnt.study import head_start, parse_budget

    options = {name: getattr(asked, name) for name in _HANDED_ON}
    shown = {"quiet": asked.quiet, "require_better": asked.require_better, "form": asked.format}
    with head_start(asked.threads, parse_budget(asked.budget)):  # processes that fit models load while this one does
        from learnt.engine.late_import import collecting_later, import_late_in_our_processes

        with collecting_later():
            import_late_in_our_processes()
            from learnt.cli._study import run_study

        named = {"out": asked.out, "budget": asked.budget, "cost": asked.cost}
        return run_study(asked.table, asked.target, **named, options=options, **shown)


# --- the others ---


_PREDICT = """\
CSV holds every cell as it is. Text that begins with =, +, - or @ is a formula
to a spreadsheet, which may come from whoever wrote the table: it is counted
on standard error; import such columns as text, or write Parquet.

With --explain there are columns "reason 1" to "reason 3", such as
kitchen_queue = 14: +0.21: that cell raises the probability of the predicted
class by 21 points (or the predicted number by 0.21), compared with a row of
which nothing is known."""


def _predict_options(parser: Parser) -> None:
    _model(parser)
    parser.add_argument("table", help=f"A table with the same columns: {_TABLES}")
    parser.add_argument("-o", "--out", metavar="FILE", help="CSV, Parquet or Arrow file; else CSV is printed.")
    add_switch(parser, "--join", text="Put the predictions beside the columns of the table.")
    add_switch(parser, "--explain", text="Add the three cells of each row that moved its prediction most.")
    _lenient(parser)
    _header(parser)


def _predict(asked: Namespace) -> int:
    from learnt.cli._study import run_predict

    options = {"join": asked.join, "lenient": asked.lenient, "header": asked.header, "explain": asked.explain}
    return run_predict(asked.model, asked.table, out=asked.out, **options)


def _evaluate_options(parser: Parser) -> None:
    _model(parser, "The folder of a study, or a model file.")
    table = "A table with the same columns and the target, as for study; of a sealed study: its table."
    parser.add_argument("table", nargs="?", help=table)
    target = "The column of the target, where the file does not say."
    parser.add_argument("-t", "--target", metavar="COLUMN", help=target)
    _lenient(parser)
    _header(parser)
    add_switch(parser, "--json", text="Print every figure as JSON.")
    add_switch(parser, "--require-better", text="Exit with 3 where the model does not beat a constant.")


_EVALUATE = """\
learnt evaluate MODEL TABLE says how good the model is on rows with a known
target, with intervals, a constant beside it.
learnt evaluate FOLDER opens the test set that learnt study --keep-sealed left
sealed, writes that down and completes the report; what was opened before is
shown as it was then, not judged again."""


def _evaluate(asked: Namespace) -> int:
    from learnt.cli._evaluate import run_evaluate

    options = {"target": asked.target, "lenient": asked.lenient, "header": asked.header}
    shown = {"as_json": asked.json, "require_better": asked.require_better}
    return run_evaluate(asked.model, asked.table, **options, **shown)


def _profile_options(parser: Parser) -> None:
    parser.add_argument("table", help="A table, as learnt study reads it.")
    parser.add_argument("-t", "--target", metavar="COLUMN", help="The column to predict: how the others go with it.")
    _header(parser)
    add_switch(parser, "--json", text="Print everything as JSON.")


def _profile(asked: Namespace) -> int:
    from learnt.cli._profile import run_profile

    return run_profile(asked.table, asked.target, header=asked.header, as_json=asked.json)


def _compare_options(parser: Parser) -> None:
    parser.add_argument("first", help="The folder of a study.")
    parser.add_argument("second", help="The folder of another study of the same target.")
    add_switch(parser, "--json", text="Print every figure as JSON.")


_COMPARE = """\
Every measure of the two models on the test rows that both judged, with the
interval of its paired difference. The studies must have the same test rows:
the same table and seed, whatever else differs."""


def _compare(asked: Namespace) -> int:
    from learnt.cli._compare import run_compare

    return run_compare(asked.first, asked.second, as_json=asked.json)


def _serve_options(parser: Parser) -> None:
    _model(parser)
    here = "Where to listen; 0.0.0.0 lets other machines in (default: 127.0.0.1)."
    parser.add_argument("--host", default="127.0.0.1", help=here)
    port = "The port; 0 takes a free one (default: 8000)."
    parser.add_argument("--port", type=whole(0, 65535), default=8000, help=port)
    add_switch(parser, "-q", "--quiet", text="Print only the address.")


_SERVE = """\
GET / is a page with a form; POST /predict takes a row as a JSON object, a list
of them, or CSV; GET /docs says how, and /openapi.json to programs; GET /schema
says what columns there are; GET /health whether it answers. ?explain=yes adds
what each column adds to a prediction. Only this machine is listened to unless
--host says otherwise."""


def _serve(asked: Namespace) -> int:
    from learnt.cli._serve import run_serve

    return run_serve(asked.model, host=asked.host, port=asked.port, quiet=asked.quiet)


def _inspect_options(parser: Parser) -> None:
    parser.add_argument("file", help="A model file, or the folder of a study.")
    add_switch(parser, "--json", text="Print everything as JSON.")


def _inspect(asked: Namespace) -> int:
    from learnt.cli._inspect import run_inspect

    return run_inspect(asked.file, as_json=asked.json)


def _warmup_options(parser: Parser) -> None:
    add_switch(parser, "--clear", text="Remove the compiled kernels instead.")


def _warmup(asked: Namespace) -> int:
    from learnt.cli._warmup import run_warmup

    return run_warmup(clear=asked.clear)


def _bench_options(parser: Parser) -> None:
    parser.add_argument("family", nargs="?", help="A family of models, such as linear; all without one.")


def _bench(asked: Namespace) -> int:
    from learnt.cli._bench import run_bench

    return run_bench(asked.family)


def _info(asked: Namespace) -> int:
    from learnt.cli._info import run_info

    return run_info()


def _completion_options(parser: Parser) -> None:
    parser.add_argument("shell", choices=("bash", "zsh", "fish"), help="bash, zsh or fish.")


_COMPLETION = """\
bash   source <(learnt completion bash)           in ~/.bashrc
zsh    source <(learnt completion zsh)            in ~/.zshrc, after compinit
fish   learnt completion fish | source            in ~/.config/fish/config.fish"""


def _completion(asked: Namespace) -> int:
    from learnt.cli._completion import run_completion

    return run_completion(asked.shell)


COMMANDS = {
    "study": Command(
        "Go from a table to a judged model and a report.", _STUDY, "[options] [table]", _study_options, _study
    ),
    "predict": Command(
        "Predict the rows of a table with a saved model.",
        _PREDICT,
        "[options] model table",
        _predict_options,
        _predict,
    ),
    "evaluate": Command(
        "Judge a saved model on other rows, or open a sealed test set.",
        _EVALUATE,
        "[options] model [table]",
        _evaluate_options,
        _evaluate,
    ),
    "profile": Command(
        "Look through a table: kinds, missing cells, leaks.", "", "[options] table", _profile_options, _profile
    ),
    "compare": Command(
        "Compare two studies on the same test rows.", _COMPARE, "[options] first second", _compare_options, _compare
    ),
    "serve": Command(
        "Serve a saved model: a page with a form, JSON and CSV.", _SERVE, "[options] model", _serve_options, _serve
    ),
    "inspect": Command(
        "Show what a model file holds, without loading it.", "", "[options] file", _inspect_options, _inspect
    ),
    "warmup": Command(
        "Compile everything ahead, so that no later fit waits for it.", "", "[options]", _warmup_options, _warmup
    ),
    "bench": Command(
        "Compare speed and quality with scikit-learn, side by side in one run.", "", "[family]", _bench_options, _bench
    ),
    "completion": Command(
        "Print a script that completes commands and options in a shell.",
        _COMPLETION,
        "shell",
        _completion_options,
        _completion,
    ),
    "info": Command("Show versions, threads, BLAS, cache and GPU.", "", "", lambda parser: None, _info),
}


def run_command(arguments: list[str]) -> int:
    """Read the name of a command and its options, and run it; returns the exit code."""
    first = arguments[0] if arguments else "--help"
    if first in ("-h", "--help"):
        print(_help())
        return 0
    if first == "--version":
        from learnt import __version__

        print(f"learnt {__version__}")
        return 0
    if first not in COMMANDS:
        what = "option" if first.startswith("-") else "command"
        known = ["--version", "--debug", "--help"] if what == "option" else list(COMMANDS)
        raise misused(f"No such {what} {first}{suggestion(first, known)}", "learnt")
    command = COMMANDS[first]
    parser = Parser(f"learnt {first}", command.usage, f"{command.summary}\n\n{command.text}".rstrip())
    command.options(parser)
    return command.run(parser.read(arguments[1:]))


def _help() -> str:
    listed = "\n".join(f"  {name:<12}{command.summary}" for name, command in COMMANDS.items())
    return f"""\
usage: learnt [--version] [--debug] [--help] command …

{SUMMARY}

options:
  --version   Show the version.
  --debug     Show the traceback of an error.
  -h, --help  Show this message, or that of a command.

commands:
{listed}"""
