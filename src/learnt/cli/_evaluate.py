"""``learnt evaluate``: a model judged on other rows, or the sealed test set of a study opened."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

from rich.console import Console
from rich.markup import escape

from learnt.cli._errors import tell
from learnt.cli._study import NOTHING_BEAT_THE_CONSTANT
from learnt.study import StudyError, evaluate_study, evaluate_table

_SHOWN = ("What it predicts", "How good it is", "Against a constant", "Against the best possible")


def run_evaluate(
    model: str,
    table: str | None,
    *,
    target: str | None,
    lenient: bool,
    header: bool | None,
    as_json: bool,
    require_better: bool,
) -> int:
    """Judge a model on a table, or open the test set of a study where it is sealed."""
    folder = Path(model)
    if folder.is_dir() and (table is None or _is_sealed(folder)):
        facts, opened = evaluate_study(folder, table, say=tell)
        shown = _test_set_figures(facts, opened)
    elif table is None and folder.exists():
        raise StudyError(f"{model} is no folder of a study; name a table after it, to judge the model on.")
    elif table is None:
        raise StudyError(f"There is no folder {model}; check the path.")
    else:
        shown = evaluate_table(model, table, target=target, lenient=lenient, header=header, say=tell)
    if as_json:
        print(json.dumps(shown, indent=1, ensure_ascii=False))
    else:
        _print(shown)
    return NOTHING_BEAT_THE_CONSTANT if require_better and not shown["beats_constant"] else 0


def _is_sealed(folder: Path) -> bool:
    try:
        return json.loads((folder / "study.json").read_text(encoding="utf-8"))["test"] is None
    except (OSError, ValueError, KeyError, TypeError):
        return False


def _test_set_figures(facts: dict[str, Any], opened: bool) -> dict[str, Any]:
    """The figures of the test set, and when it was opened."""
    test = facts["test"]
    when = test.get("opened") or facts.get("run", {}).get("finished", "?")
    lines = [line for line in facts["summary"]["lines"] if line["title"] in _SHOWN]
    if opened:
        said = "Opened now and written down; the report has all figures. The model has not been fitted on these rows: "
        said += "learnt study without --keep-sealed fits it again on all of them."
    else:
        said = f"It was opened on {when}; these are the figures of then. A test set judges once."
    lines.append({"title": "The test set", "text": said})
    summary = {"headline": facts["summary"]["headline"], "lines": lines}
    kept = {name: facts[name] for name in ("target", "task", "classes", "positive", "test", "beats_constant")}
    return {**kept, "opened": when, "opened_now": opened, "summary": summary}


def _print(shown: dict[str, Any]) -> None:
    console = Console(highlight=False)
    style = "bold green" if shown["beats_constant"] else "bold yellow"
    console.print(f"[{style}]{escape(shown['summary']['headline'])}[/{style}]", soft_wrap=True)
    for line in shown["summary"]["lines"]:
        console.print(f"  [bold]{line['title']}.[/bold] {escape(line['text'])}", soft_wrap=True)
