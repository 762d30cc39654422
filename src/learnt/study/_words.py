"""The answer in plain words: a headline, five lines, and the next step."""

from __future__ import annotations

from typing import Any

from learnt.plots import number


def share(value: float) -> str:
    """A share with one decimal, the same in every sentence; two where one would say nothing.

    >>> [share(v) for v in (0.17, 0.2605, 0.0004, 1.0)]
    ['17.0%', '26.1%', '0.04%', '100%']
    """
    if value == 1:
        return "100%"
    return f"{100 * value:.2f}%" if 0 < abs(value) < 0.001 else f"{100 * value:.1f}%"


def interval_words(part: dict[str, float], form: Any = share) -> str:
    """An interval as people read it: "7.9–13.9%"."""
    low, high = form(part["low"]), form(part["high"])
    return f"{low.rstrip('%')}–{high}" if low.endswith("%") else f"{low}–{high}"


def ordinal(k: int) -> str:
    """1st, 2nd, 3rd, 4th …

    >>> [ordinal(k) for k in (1, 2, 3, 4, 11, 22)]
    ['1st', '2nd', '3rd', '4th', '11th', '22nd']
    """
    ending = "th" if 10 <= k % 100 <= 20 else {1: "st", 2: "nd", 3: "rd"}.get(k % 10, "th")
    return f"{k}{ending}"


def summarise(facts: dict[str, Any]) -> dict[str, Any]:
    """Headline, verdict and lines from the numbers of a finished study."""
    classify = facts["task"] == "classify"
    lines = [_what(facts)]
    lines += _classes(facts) if classify else _amounts(facts)
    lines.append(_next(facts))
    return {"headline": _headline(facts), "lines": lines, "beats_constant": facts["beats_constant"]}


def _headline(facts: dict[str, Any]) -> str:
    target, test = facts["target"], facts["test"]
    if not facts["beats_constant"]:
        return f"No model predicts “{target}” better than a constant."
    if facts["task"] == "classify" and "cost" in test and _saved(test) > 0:
        return f"“{target}” can be predicted: errors cost {share(_saved(test))} less than without a model."
    if facts["task"] == "classify":
        right = 1 - test["error"]["estimate"]
        return f"“{target}” can be predicted: {share(right)} of new rows come out right."
    return f"“{target}” can be predicted to within {number(test['mae']['estimate'])} on average."


def _saved(test: dict[str, Any]) -> float:
    """The share of the cost that the model saves against the better of always and never."""
    least = min(test["cost_of_none"], test["cost_of_all"])
    return 1 - test["cost"]["estimate"] / least if least > 0 else 0.0


def _what(facts: dict[str, Any]) -> dict[str, str]:
    data = facts["data"]
    kind = f"which of {len(facts['classes'])} classes" if facts["task"] == "classify" else "an amount"
    if facts["task"] == "classify" and len(facts["classes"]) == 2:
        kind = " or ".join(str(c) for c in facts["classes"])
    columns = f"{len(data['features'])} column{'s' if len(data['features']) != 1 else ''}"
    test = facts["test"]
    judged = "judged once" if test["use"] == 1 else f"judged ({ordinal(test['use'])} use)"
    said = (
        f"“{facts['target']}” ({kind}) from {columns}, by {facts['chosen']['label']}. Learnt from "
        f"{facts['model']['judged_rows']:,} rows and {judged} on {test['rows']:,} rows it had never seen."
    )
    return {"title": "What it predicts", "text": said}


def _classes(facts: dict[str, Any]) -> list[dict[str, str]]:
    test = facts["test"]
    level = _level(test["level"])
    good = f"Wrong on {share(test['error']['estimate'])} of new rows ({level} {interval_words(test['error'])})"
    if "low" in test.get("auc", {}):
        area = test["auc"]
        good += f"; ROC area {area['estimate']:.3f} ({area['low']:.3f}–{area['high']:.3f}), where chance is 0.5"
    if "cost" in test:
        paid, least = test["cost"], min(test["cost_of_none"], test["cost_of_all"])
        good += f". With your costs it says {facts['positive']} from {share(test['threshold'])} on, which costs "
        good += f"{number(paid['estimate'])} a row ({interval_words(paid, number)}); without a model {number(least)}"
    most = facts["ceiling"]["constant"]["predicts"]
    usual, error = test["constant_error"], test["error"]["estimate"]
    constant = f'Always saying "{most}" is wrong on {share(usual)}'
    gain = test["brier_gain"]
    if error < usual:
        constant += f": the model removes {share((usual - error) / usual)} of those errors."
    elif gain["low"] > 0:
        constant += ": no fewer errors, but its probabilities are better than the bare shares of the classes."
    else:
        constant += ": the model is no better."
    return [
        {"title": "How good it is", "text": good + "."},
        {"title": "Against a constant", "text": constant},
        {"title": "Against the best possible", "text": _ceiling_of_classes(facts)},
    ]


def _ceiling_of_classes(facts: dict[str, Any]) -> str:
    low, high = facts["bracket"]["lower"], facts["bracket"]["upper"]
    error = facts["test"]["error"]
    if facts["bracket"]["broken"]:
        return (
            f"Nearest neighbours put it at {share(low)} or more, but the model is already better: with so many "
            "columns for so few rows, neighbours are too far apart to tell."
        )
    between = interval_words({"low": low, "high": high})
    said = f"No rule on these columns is likely to be wrong on less than {between} of rows"
    if not facts["beats_constant"]:
        return said + "."
    room = error["estimate"] - low
    if error["low"] <= low or room < 0.1 * error["estimate"]:
        return said + ": this model is about as good as the columns allow."
    return said + f": at most {100 * room:.1f} points are left to gain."


def _amounts(facts: dict[str, Any]) -> list[dict[str, str]]:
    test = facts["test"]
    rmse, level = test["rmse"], _level(test["level"])
    good = (
        f"Typical error (RMSE) {number(rmse['estimate'])} ({level} {interval_words(rmse, number)}), mean absolute "
        f"error {number(test['mae']['estimate'])}; it explains {share(max(test['r2']['estimate'], 0.0))} of the "
        f"variance ({interval_words({k: max(v, 0.0) for k, v in test['r2'].items()})})."
    )
    usual = test["constant_rmse"]
    constant = (
        f"Always saying the mean, {number(facts['ceiling']['constant']['predicts'])}, has an RMSE of {number(usual)}"
    )
    if rmse["estimate"] < usual:
        constant += f": the model's is {share(1 - rmse['estimate'] / usual)} smaller."
    else:
        constant += ": the model is no better."
    low, high = facts["bracket"]["lower"], facts["bracket"]["upper"]
    if facts["bracket"]["broken"]:
        ceiling = (
            f"Nearest neighbours put the noise at {number(low)} or more, but the model is already better than that."
        )
    elif low < 0.02 * usual:
        ceiling = f"Noise that no model on these columns can remove is at most about {number(high)} (RMSE)"
        ceiling += "." if not facts["beats_constant"] else f", against {number(rmse['estimate'])} now."
    else:
        ceiling = f"Noise that no model on these columns can remove is about {number(low)}–{number(high)} (RMSE)"
        if facts["beats_constant"] and rmse["low"] <= low:
            ceiling += ": this model is about as good as the columns allow."
        elif facts["beats_constant"]:
            ceiling += f", against {number(rmse['estimate'])} now: there is room for a better model."
        else:
            ceiling += "."
    return [
        {"title": "How good it is", "text": good},
        {"title": "Against a constant", "text": constant},
        {"title": "Against the best possible", "text": ceiling},
    ]


def _next(facts: dict[str, Any]) -> dict[str, str]:
    diagnosis = facts.get("diagnosis")
    if diagnosis is None:
        return {
            "title": "What to do next",
            "text": "Give the study more time (--budget 5m): it ended before a diagnosis.",
        }
    return {"title": "What to do next", "text": f"{diagnosis['finding']} {diagnosis['treatments'][0]}"}


def _level(level: float) -> str:
    shown = f"{100 * level:.1f}".rstrip("0").rstrip(".")
    return f"{shown}% interval"
