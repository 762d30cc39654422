"""A recipe as a script: plain code with our estimators that fits the study's model again from its table.

What is written here is what `_recipe.build_recipe` builds and `Bench.fit` fits, step by step; a test compares the two.
"""

from __future__ import annotations

import json
from typing import Any

WIDTH = 118
MOST_LINES = 8  # of the names of the columns
_AS_THEY_ARE = {"exponent": 1.0, "floor": 0.0, "offsets": None, "doubt": 0.0}  # probabilities that are not bent
_SEED_OF_ORDER = 99  # the stream of the study's seed that orders the rows


class Imports:
    """The names that a script uses, and where they come from."""

    def __init__(self) -> None:
        self._names: dict[str, set[str]] = {}

    def name(self, dotted: str) -> str:
        """The name of a class as it is written once it is imported."""
        module, _, name = dotted.rpartition(".")
        self._names.setdefault(module, set()).add(name)
        return name

    def lines(self) -> list[str]:
        return [f"from {module} import {', '.join(sorted(names))}" for module, names in sorted(self._names.items())]


def train_script(facts: dict[str, Any]) -> str:
    """The text of train.py: from the table to the model of a study, under sixty lines.

    Parameters
    ----------
    facts : dict
        What study.json holds.

    Returns
    -------
    str
    """
    imports = Imports()
    model = model_code(facts["chosen"], facts["task"] == "classify", imports)
    settings, seed = facts["settings"], facts["settings"]["seed"]
    for dotted in ("learnt.engine.random.stream", "learnt.study.labelled_rows", "learnt.study.read_table"):
        imports.name(dotted)
    read = "sys.argv[1]" + ("" if settings.get("header") is None else f", header={settings['header']!r}")
    features = _broken("columns = [", [_literal(name) for name in facts["data"]["features"]], "]", MOST_LINES)
    lines = [
        f'"""{_about(facts)}',
        "",
        "    python train.py TABLE [MODEL]      # writes MODEL, trained.learnt by default",
        '"""',
        "",
        "import sys",
        "",
        "import learnt",
        *imports.lines(),
        "",
        *features,
        f"table, y = labelled_rows(read_table({read}), {_literal(facts['target'])}, task={_literal(settings['task'])})",
        f"rows = stream({seed}, {_SEED_OF_ORDER}).permutation(len(y))  # some models hold the last rows out",
        *model,
        "model.fit(table.select(columns)[rows], y[rows])",
        'learnt.save(model, sys.argv[2] if len(sys.argv) > 2 else "trained.learnt")',
        *_decision(facts),
    ]
    return "\n".join(lines) + "\n"


def _about(facts: dict[str, Any]) -> str:
    said = f"Fit the model of a study again: {facts['chosen']['label']}, for {facts['target']} in {facts['table']}."
    if facts["model"]["final"] != "all":
        rows = f"{facts['model']['rows']:,} development rows"
        said += f"\n\nmodel.learnt was fitted on {rows}, this model is on all rows that have a target."
    return said.replace("\\", "/").replace('"', "'")


def _decision(facts: dict[str, Any]) -> list[str]:
    threshold = facts["decision"]["threshold"]
    if threshold == 0.5 or facts["positive"] is None:
        return []
    return [
        f"# The study says {_literal(str(facts['positive']))} from a probability of {threshold!r} on (Study.predict)."
    ]


class _Model:
    """Lines of code that build the parts of a model one after another, each under a name."""

    def __init__(self, classify: bool, imports: Imports) -> None:
        self.classify, self.imports = classify, imports
        self.lines: list[str] = []

    def call(self, target: str, dotted: str, arguments: list[str]) -> str:
        """Assign what a class returns for these arguments; returns the name it is assigned to."""
        self.lines += _broken(f"{target} = {self.imports.name(dotted)}(", arguments, ")")
        return target

    def member(self, target: str, member: dict[str, Any]) -> str:
        """One model of the race with its own map of probabilities."""
        self.call(target, member["model"], _arguments(member["params"]))
        if member.get("scale_target"):
            scaler = f"transformer={self.imports.name('learnt.preprocessing.StandardScaler')}()"
            self.call(target, "learnt.compose.TransformedTargetRegressor", [target, scaler, "check_inverse=False"])
        return self.calibrated(target, member["calibration"])

    def calibrated(self, target: str, calibration: dict[str, Any] | None) -> str:
        if calibration is not None:
            bent = {k: v for k, v in calibration.items() if v != _AS_THEY_ARE[k]}
            self.call(target, "learnt.ensemble.RecalibratedClassifier", [target, *_arguments(bent)])
        return target

    def average(self, target: str, names: list[str], weights: list[float]) -> str:
        """The weighted mean of models; a single one stays as it is."""
        if len(names) == 1:
            return names[0]
        named = "[" + ", ".join(f'("{name}", {name})' for name in names) + "]"
        how = ['voting="soft"'] if self.classify else []
        kind = f"learnt.ensemble.Voting{'Classifier' if self.classify else 'Regressor'}"
        return self.call(target, kind, [named, *how, f"weights={weights!r}"])

    def prepared(self, target: str, name: str, member: dict[str, Any]) -> str:
        """A model behind the encoder of the table, scaling and products of columns."""
        steps, room = [], "learnt.preprocessing."
        if member["encoding"] != "pixels":
            numeric = "raw" if member["encoding"] == "none" else member["encoding"]
            steps.append(f"{self.imports.name(room + 'TableEncoder')}(numeric={_literal(numeric)})")
        if member["scale"]:
            steps.append(f"{self.imports.name(room + 'StandardScaler')}()")
        if member["products"]:
            steps.append(f"{self.imports.name(room + 'PolynomialFeatures')}(2, include_bias=False)")
            steps.append(f"{self.imports.name(room + 'StandardScaler')}()")
        return self.call(target, "learnt.pipeline.make_pipeline", [*steps, name]) if steps else name


def model_code(chosen: dict[str, Any], classify: bool, imports: Imports) -> list[str]:
    """Lines that assign the unfitted model to `model`; members prepared alike share the preparation."""
    code = _Model(classify, imports)
    groups: dict[tuple, list[tuple[str, dict[str, Any]]]] = {}
    for k, member in enumerate(chosen["members"], 1):
        name = code.member(f"model_{k}", member)
        groups.setdefault((member["encoding"], member["scale"], member["products"]), []).append((name, member))
    parts, shares = [], []
    for k, group in enumerate(groups.values(), 1):
        weights = [member["weight"] for _, member in group]
        whole = code.average(f"part_{k}", [name for name, _ in group], weights)
        parts.append(code.prepared(f"part_{k}", whole, group[0][1]))
        shares.append(sum(weights))
    whole = code.calibrated(code.average("model", parts, shares), chosen["calibration"])
    return [*code.lines, *([f"model = {whole}"] if whole != "model" else [])]


def _arguments(params: dict[str, Any]) -> list[str]:
    return [f"{name}={_literal(value)}" for name, value in params.items()]


def _literal(value: Any) -> str:
    return json.dumps(value, ensure_ascii=False) if isinstance(value, str) else repr(value)


def _broken(start: str, items: list[str], end: str, most: int = 2) -> list[str]:
    """A call or a list over as few lines as it needs; where those are more than `most`, in a single one."""
    lines, line = [], start
    for k, item in enumerate(items):
        piece = item + (end if k == len(items) - 1 else ",")
        joint = "" if line.endswith(("(", "[")) else " "
        if len(line) + len(joint) + len(piece) > WIDTH and line != start:
            lines.append(line)
            line, joint = "   ", " "
        line += joint + piece
    lines.append(line)
    return lines if len(lines) <= most else [start + ", ".join(items) + end]
