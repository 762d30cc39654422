"""The commands and their options. Nothing heavy is imported here: ``learnt --help`` must answer at once."""

from __future__ import annotations

from typing import Annotated

import typer

app = typer.Typer(
    help="Machine learning with judgement: from a table to a judged model in one command.",
    no_args_is_help=True,
    add_completion=False,
    rich_markup_mode=None,  # the plain help is there sooner than the framed one
    pretty_exceptions_enable=False,
    context_settings={"help_option_names": ["-h", "--help"]},
)

# Options that several commands have.
Header = Annotated[
    bool | None, typer.Option("--header/--no-header", help="Whether the first line of a CSV holds names.")
]
Lenient = Annotated[
    bool, typer.Option("--lenient", help="Count text in a column of numbers as missing instead of stopping.")
]


def _version(wanted: bool) -> None:
    if wanted:
        from learnt import __version__

        print(f"learnt {__version__}")
        raise typer.Exit(0)


@app.callback()
def _options(
    version: Annotated[
        bool, typer.Option("--version", callback=_version, is_eager=True, help="Show the version.")
    ] = False,
    debug: Annotated[bool, typer.Option("--debug", help="Show the traceback of an error.")] = False,
) -> None:
    pass


@app.command()
def study(
    table: Annotated[
        str | None,
        typer.Argument(
            help="CSV, Parquet, Arrow, Feather or JSON lines; .npz of images. Without one: a table of ours."
        ),
    ] = None,
    *,
    target: Annotated[str | None, typer.Option("--target", "-t", help="The column to predict.")] = None,
    budget: Annotated[str, typer.Option(help="Wall-clock limit, such as 60s, 5m, 1h.")] = "60s",
    out: Annotated[str | None, typer.Option("--out", "-o", help="Folder for the report, model and numbers.")] = None,
    task: Annotated[str, typer.Option(help="auto, classify or regress.")] = "auto",
    time: Annotated[str | None, typer.Option(help='Column that orders rows in time; "none" to shuffle.')] = None,
    group: Annotated[str | None, typer.Option(help="Column whose equal values must stay together.")] = None,
    cost: Annotated[str | None, typer.Option(help="Costs of errors, such as fp=1,fn=10.")] = None,
    keep: Annotated[list[str] | None, typer.Option(help="Use a column although it was set aside.")] = None,
    drop: Annotated[list[str] | None, typer.Option(help="Do not use a column.")] = None,
    metric: Annotated[
        str | None, typer.Option(help="Choose models by it: roc_auc, f1, log_loss, rmse, … (learnt.metrics).")
    ] = None,
    header: Header = None,
    prefer: Annotated[str, typer.Option(help="best (lowest loss) or simple (within one standard error).")] = "best",
    final: Annotated[str, typer.Option(help="all: refit on all rows once judged; judged: keep it as judged.")] = "all",
    keep_sealed: Annotated[
        bool, typer.Option("--keep-sealed", help="Leave the test set to learnt evaluate, which opens it once.")
    ] = False,
    seed: Annotated[int, typer.Option(help="Same seed, same study.")] = 0,
    fresh: Annotated[bool, typer.Option("--fresh", help="Do not resume; start again.")] = False,
    overwrite: Annotated[bool, typer.Option("--overwrite", help="Replace another study in the folder.")] = False,
    require_better: Annotated[
        bool, typer.Option("--require-better", help="Exit with 3 where no model beats a constant.")
    ] = False,
    threads: Annotated[int | None, typer.Option(help="Threads to use.")] = None,
    quiet: Annotated[bool, typer.Option("--quiet", "-q", help="Print only the path of the report.")] = False,
) -> int:
    """Go from a table to a judged model and a report.

    Reads and profiles the table, seals a test set, brackets the best possible error, races models, diagnoses the
    winner, opens the test set once, and writes report.html, model.learnt, study.json and predictions.parquet.
    Interrupted at any moment, the same command goes on where it was.

    Exit code 0: the report is there; 2: an error; 3, with --require-better only: no model beat the best constant.
    """
    from learnt.study import head_start, parse_budget

    options = {"task": task, "time": time, "group": group, "keep": keep, "drop": drop, "seed": seed}
    options |= {"prefer": prefer, "final": final, "keep_sealed": keep_sealed}
    options |= {"fresh": fresh, "threads": threads, "metric": metric, "header": header, "overwrite": overwrite}
    shown = {"quiet": quiet, "require_better": require_better}
    with head_start(threads, parse_budget(budget)):  # the processes that fit models load while this one does
        from learnt.engine.late_import import import_late_in_our_processes

        import_late_in_our_processes()
        from learnt.cli._study import run_study

        return run_study(table, target, out=out, budget=budget, cost=cost, options=options, **shown)


@app.command()
def predict(
    model: Annotated[str, typer.Argument(help="A model file, or the folder of a study.")],
    table: Annotated[str, typer.Argument(help="A table with the same columns.")],
    out: Annotated[
        str | None, typer.Option("--out", "-o", help="CSV, Parquet or Arrow file; else CSV is printed.")
    ] = None,
    join: Annotated[bool, typer.Option("--join", help="Put the predictions beside the columns of the table.")] = False,
    lenient: Lenient = False,
    header: Header = None,
) -> int:
    """Predict the rows of a table with a saved model."""
    from learnt.cli._study import run_predict

    return run_predict(model, table, out=out, join=join, lenient=lenient, header=header)


@app.command()
def evaluate(
    model: Annotated[str, typer.Argument(help="The folder of a study, or a model file.")],
    table: Annotated[
        str | None, typer.Argument(help="A table with the same columns and the target; of a sealed study: its table.")
    ] = None,
    target: Annotated[
        str | None, typer.Option("--target", "-t", help="The column of the target, where the file does not say.")
    ] = None,
    lenient: Lenient = False,
    header: Header = None,
    as_json: Annotated[bool, typer.Option("--json", help="Print every figure as JSON.")] = False,
    require_better: Annotated[
        bool, typer.Option("--require-better", help="Exit with 3 where the model does not beat a constant.")
    ] = False,
) -> int:
    """Judge a saved model on other rows, or open a sealed test set.

    learnt evaluate MODEL TABLE says how good the model is on rows with a known target, with intervals, a constant
    beside it.
    learnt evaluate FOLDER opens the test set that learnt study --keep-sealed left sealed, writes that down and
    completes the report; what was opened before is shown as it was then, not judged again.
    """
    from learnt.cli._evaluate import run_evaluate

    shown = {"as_json": as_json, "require_better": require_better}
    return run_evaluate(model, table, target=target, lenient=lenient, header=header, **shown)


@app.command()
def serve(
    model: Annotated[str, typer.Argument(help="A model file, or the folder of a study.")],
    host: Annotated[str, typer.Option(help="Where to listen; 0.0.0.0 lets other machines in.")] = "127.0.0.1",
    port: Annotated[int, typer.Option(help="The port; 0 takes a free one.", min=0, max=65535)] = 8000,
    quiet: Annotated[bool, typer.Option("--quiet", "-q", help="Print only the address.")] = False,
) -> int:
    """Serve a saved model: a page with a form, JSON and CSV.

    GET / is a page with a form; POST /predict takes rows as JSON objects or CSV; GET /schema says what columns there
    are; GET /health whether it answers. Only this machine is listened to unless --host says otherwise.
    """
    from learnt.cli._serve import run_serve

    return run_serve(model, host=host, port=port, quiet=quiet)


@app.command()
def inspect(
    file: Annotated[str, typer.Argument(help="A model file, or the folder of a study.")],
    as_json: Annotated[bool, typer.Option("--json", help="Print everything as JSON.")] = False,
) -> int:
    """Show what a model file holds, without loading it."""
    from learnt.cli._inspect import run_inspect

    return run_inspect(file, as_json=as_json)


@app.command()
def warmup(
    clear: Annotated[bool, typer.Option("--clear", help="Remove the compiled kernels instead.")] = False,
) -> int:
    """Compile everything ahead, so that no later fit waits for it."""
    from learnt.cli._warmup import run_warmup

    return run_warmup(clear=clear)


@app.command()
def bench(
    family: Annotated[str | None, typer.Argument(help="A family of models, such as linear; all without one.")] = None,
) -> int:
    """Compare speed and quality with scikit-learn, side by side in one run."""
    from learnt.cli._bench import run_bench

    return run_bench(family)


@app.command()
def info() -> int:
    """Show versions, threads, BLAS, cache and GPU."""
    from learnt.cli._info import run_info

    return run_info()
