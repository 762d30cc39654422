"""What a study says of the rows it judged: the worst ones, groups of them, and how predictions change with a column."""

from __future__ import annotations

from typing import Any

import numpy as np
import polars as pl

from learnt.study._errors import StudyError, did_you_mean
from learnt.study.race._objective import SMALLEST
from learnt.study.sections._effects import effects
from learnt.study.sections._groups import errors_by_group
from learnt.study.table._columns import as_text


def judged_rows(predictions: pl.DataFrame) -> pl.DataFrame:
    """The predictions of rows that the model had not seen: the test rows, or out of fold while these are sealed."""
    test = predictions.filter(pl.col("part") == "test")
    return test if len(test) else predictions


def losses(facts: dict[str, Any], judged: pl.DataFrame) -> np.ndarray:
    """How wrong each prediction is: −log of the probability of the true class, or the absolute error."""
    truth = judged[facts["target"]]
    if facts["classes"] is None:
        return np.abs(truth.to_numpy() - judged["prediction"].to_numpy())
    return -np.log(np.clip(probability_of_truth(facts, judged), SMALLEST, 1.0))


def probability_of_truth(facts: dict[str, Any], judged: pl.DataFrame) -> np.ndarray:
    """The probability that was given to the class that was true; NaN for classes whose probability is not kept."""
    found = np.full(len(judged), np.nan)
    truth = judged[facts["target"]]
    for name in facts["classes"]:
        if (column := f"p({name})") in judged.columns:
            inside = (truth == name).to_numpy()
            found[inside] = judged[column].to_numpy()[inside]
    return found


def worst_rows(facts: dict[str, Any], judged: pl.DataFrame, table: pl.DataFrame | None, count: int) -> pl.DataFrame:
    """The rows that were predicted worst, worst first, with their cells where the table is known."""
    loss = losses(facts, judged)
    order = np.argsort(-np.nan_to_num(loss, nan=-np.inf), kind="stable")[: max(count, 0)]
    picked = judged[order].select("row", facts["target"], "prediction")
    if facts["classes"] is not None:
        truth = probability_of_truth(facts, judged)[order]
        picked = picked.with_columns(pl.Series("probability_of_truth", truth))
    picked = picked.with_columns(pl.Series("loss", loss[order]))
    if table is None:
        return picked
    cells = table.select(facts["data"]["features"])[picked["row"].to_numpy()]
    return picked.hstack(cells.rename({name: f"{name} (cell)" for name in cells.columns if name in picked.columns}))


def errors_by(facts: dict[str, Any], judged: pl.DataFrame, table: pl.DataFrame, column: str) -> pl.DataFrame:
    """The error in each group of a column, with intervals, and whether it differs from that of all other rows."""
    _check_column(column, table.columns)
    rows = table[judged["row"].to_numpy()]
    classify = facts["classes"] is not None
    wrong = (judged["prediction"] != judged[facts["target"]]).to_numpy() if classify else losses(facts, judged)
    group = facts["data"]["group"]
    clusters = None if group is None else as_text(rows[group]).fill_null("(missing)").to_numpy()
    found = errors_by_group(rows, wrong, classify=classify, columns=[column], kinds=kinds_of(facts), clusters=clusters)
    names = ("group", "rows", "error", "low", "high", "elsewhere", "p_value")
    lines = [{**{name: getattr(g, name) for name in names}, "differs": g.flagged} for g in found.groups]
    types = [pl.String, pl.Int64, *[pl.Float64] * 5, pl.Boolean]
    return pl.DataFrame(lines, schema=dict(zip((*names, "differs"), types)))


def partial_dependence(
    facts: dict[str, Any], table: pl.DataFrame, column: str, predict: Any, positive: int | None
) -> pl.DataFrame:
    """The mean prediction with the column set to each of some values, and the middle half of the rows' own curves."""
    _check_column(column, facts["data"]["features"])
    X = table.select(facts["data"]["features"])
    classes = facts["classes"]
    found = effects(
        predict, X, [column], classes=classes, positive=positive, kinds=kinds_of(facts), seed=facts["settings"]["seed"]
    )
    schema: dict[str, Any] = {"value": pl.String, "place": pl.Float64, "about": pl.String}
    schema |= dict.fromkeys(("mean", "low", "high"), pl.Float64)
    if not found:
        raise StudyError(f"“{column}” holds a single value, so nothing can depend on it.")
    one = found[0]
    place = one.place if one.place is not None else [None] * len(one.values)
    about = [one.about or facts["target"]] * len(one.values)
    cells = {"value": one.values, "place": place, "about": about, "mean": one.mean, "low": one.low, "high": one.high}
    return pl.DataFrame(cells, schema=schema)


def kinds_of(facts: dict[str, Any]) -> dict[str, str]:
    """What the profile found that each column holds."""
    return {column["name"]: column["kind"] for column in facts["data"]["columns"]}


def _check_column(column: str, columns: list[str]) -> None:
    if column not in columns:
        raise StudyError(f"There is no column “{column}”; {did_you_mean(str(column), columns)}")
