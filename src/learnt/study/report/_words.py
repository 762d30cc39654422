"""The answer in plain words: a headline, five lines, and the next step."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from learnt.plots import number
from learnt.study._counting import counted


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
    lines = [_what(facts)]
    if not has_model(facts):
        lines.append(_next(facts))
        return {"headline": _headline(facts), "verdict": verdict(facts), "lines": lines, "beats_constant": None}
    if facts["test"] is None:
        return summarise_sealed(facts)
    lines += [*verdict_lines(facts), *_ceiling_lines(facts), _next(facts)]
    short = verdict(facts)
    return {"headline": _headline(facts), "verdict": short, "lines": lines, "beats_constant": facts["beats_constant"]}


def summarise_sealed(facts: dict[str, Any]) -> dict[str, Any]:
    """The same while the test set is sealed: what cross-validation says, and how to open it."""
    entries = facts["race"]["entries"]
    name, loss = facts["race"]["loss_name"], _raced(facts)
    chosen = next((e for e in entries if e["state"] == "chosen"), None)
    constant = next((e for e in entries if e["family"] == "constant" and "loss" in e), None)
    lines = [_what(facts)]
    headline = f"A model of “{facts['target']}” is chosen; its test set is sealed until learnt evaluate opens it."
    if chosen is not None:
        low, high = sorted((loss(chosen["low"]), loss(chosen["high"])))
        said = f"Cross-validated {name} {_loss(loss(chosen['loss']))} ({_loss(low)}–{_loss(high)})"
        said += "" if constant is None else f", of a constant {_loss(loss(constant['loss']))}"
        why = "the model was chosen by it among several, so that it flatters"
        lines.append({"title": "How good it seems", "text": f"{said}; {why}: only the test set can judge."})
    if facts["seal"].get("opened"):
        count = len(facts["seal"]["opened"])
        often = "once" if count == 1 else "twice" if count == 2 else f"{count} times"
        text = f"These rows were opened {often} before, first on {facts['seal']['opened'][0]}."
        lines.append({"title": "The test set", "text": text})
    lines.append(_next(facts))
    return {"headline": headline, "verdict": verdict(facts), "lines": lines, "beats_constant": None}


def _raced(facts: dict[str, Any]) -> Callable[[float], float]:
    """Losses of the race as people read them."""
    greater = facts["race"].get("greater")
    if greater is None:
        return (lambda v: v) if facts["task"] == "classify" else (lambda v: max(v, 0.0) ** 0.5)
    return (lambda v: -v) if greater else (lambda v: v)


def _loss(value: float) -> str:
    return f"{value:.3f}" if abs(value) <= 1 else number(value)


def tried(facts: dict[str, Any]) -> int:
    """How many models beside the constant were measured to the end."""
    return sum("loss" in e and e["family"] != "constant" for e in facts["race"]["entries"])


def has_model(facts: dict[str, Any]) -> bool:
    """Whether a model was fitted, not only a constant for lack of time."""
    return tried(facts) > 0 and unfitted(facts) is None


def unfitted(facts: dict[str, Any]) -> str | None:
    """The model that won the race but could not be fitted in time, so that only a constant is left; else None."""
    wanted = facts.get("choice", {}).get("wanted")
    if wanted is None or facts["chosen"]["family"] != "constant" or wanted["family"] == "constant":
        return None
    return wanted["label"]


def verdict(facts: dict[str, Any]) -> str:
    """In a few words, whether the model is of any use."""
    if tried(facts) == 0:
        return "nothing was tried"
    if unfitted(facts) is not None:
        return "no time for the final fit"
    if facts["test"] is None:
        return "test set still sealed"
    return "better than a constant" if facts["beats_constant"] else "no better than a constant"


def _headline(facts: dict[str, Any]) -> str:
    target, test = facts["target"], facts["test"]
    if tried(facts) == 0:
        why = "no model could be fitted" if _failed(facts) else "the budget ended before any model was fitted"
        return f"Nothing was tried on “{target}”: {why}."
    if (winner := unfitted(facts)) is not None:
        return f"No time was left to fit the model that won the race for “{target}” ({winner})."
    if not facts["beats_constant"]:
        sure = " for sure" if _seems_better(facts) else ""
        than = f"better than a constant{' by ' + test['metric']['words'] if 'metric' in test else sure}."
        if facts["race"]["cut_short"]:
            count = tried(facts)
            none = f"None of the {count} models" if count > 1 else "The one model"
            return f"{none} there was time for predicts “{target}” {'' if count > 1 else 'no '}{than}"
        return f"No model predicts “{target}” {than}"
    can = f"“{target}” can be predicted"
    if "metric" in test:
        m = test["metric"]
        return f"{can}: {m['words']} {metric_words(m)}, against {metric_words(m, 'constant')} of a constant."
    if facts["task"] == "classify" and "cost" in test and _saved(test) > 0:
        return f"{can}: errors cost {share(_saved(test))} less than without a model."
    if "rare" in test:
        return _rare_headline(can, test["rare"])
    if facts["task"] == "classify" and test.get("lopsided"):
        chance = 1 / len(facts["classes"])
        return f"{can}: {share(test['mean_recall'])} of a class are found on average, where chance is {share(chance)}."
    if facts["task"] == "classify":
        right = 1 - test["error"]["estimate"]
        return f"{can}: {share(right)} of new rows come out right."
    return f"{can} to within {number(test['mae']['estimate'])} on average."


def _failed(facts: dict[str, Any]) -> bool:
    states = {e["state"] for e in facts["race"]["entries"] if "loss" not in e}
    return states == {"failed"}


def _rare_headline(can: str, rare: dict[str, Any]) -> str:
    area = rare["average_precision"]
    if rare["recall"] is None or rare["precision"] is None or area is None:
        return f"{can} to some degree, but too few “{rare['class']}” were among the test rows to judge it."
    return (
        f"{can}: {share(rare['recall']['estimate'])} of the rare “{rare['class']}” are found, "
        f"{share(rare['precision']['estimate'])} of those called are right (PR area {area['estimate']:.2f})."
    )


def metric_words(part: dict[str, Any], key: str = "estimate") -> str:
    """A value of the metric asked for, as people write it."""
    return f"{part[key]:.3f}" if abs(part[key]) <= 1 else number(part[key])


def _saved(test: dict[str, Any]) -> float:
    """The share of the cost that the model saves against the better of always and never."""
    least = min(test["cost_of_none"], test["cost_of_all"])
    return 1 - test["cost"]["estimate"] / least if least > 0 else 0.0


def _what(facts: dict[str, Any]) -> dict[str, str]:
    data = facts["data"]
    kind = f"which of {len(facts['classes'])} classes" if facts["task"] == "classify" else "an amount"
    if facts["task"] == "classify" and len(facts["classes"]) == 2:
        kind = " or ".join(str(c) for c in facts["classes"])
    columns = counted(len(data["features"]), "column")
    if data.get("image"):
        columns = f"images of {data['image']} pixels"
    if not has_model(facts):
        constant = facts["ceiling"]["constant"]["predicts"]
        constant = number(constant) if isinstance(constant, float) else f'"{constant}"'
        said = (
            f"“{facts['target']}” ({kind}) from {columns}. The model file holds a constant that always says {constant}."
        )
        if facts["test"] is None:
            rows = counted(facts["seal"]["test_rows"], "test row stays", "test rows stay")
            said += f" {rows} sealed: there is no model to judge."
        return {"title": "What it predicts", "text": said}
    test = facts["test"]
    if test is None:
        sealed = f"{counted(facts['seal']['test_rows'], 'other row is', 'other rows are')} sealed"
        said = f"“{facts['target']}” ({kind}) from {columns}, by {facts['chosen']['label']}. Learnt from "
        return {
            "title": "What it predicts",
            "text": f"{said}{counted(facts['model']['judged_rows'], 'row')}; {sealed}.",
        }
    judged = "judged once" if test["use"] == 1 else f"judged ({ordinal(test['use'])} use)"
    said = (
        f"“{facts['target']}” ({kind}) from {columns}, by {facts['chosen']['label']}. Learnt from "
        f"{counted(facts['model']['judged_rows'], 'row')} and {judged} on {counted(test['rows'], 'row')} it had never "
        "seen."
    )
    if facts["model"].get("final") == "all":
        said += f" The model file was then fitted again on all {facts['model']['rows']:,} rows."
    return {"title": "What it predicts", "text": said}


def verdict_lines(facts: dict[str, Any], rows: str = "the test rows") -> list[dict[str, str]]:
    """How good a model is on rows it had not seen, and the constant beside it; `rows` is what they are called."""
    good, constant = _classes(facts, rows) if facts["task"] == "classify" else _amounts(facts)
    return [{"title": "How good it is", "text": good}, {"title": "Against a constant", "text": constant}]


def _ceiling_lines(facts: dict[str, Any]) -> list[dict[str, str]]:
    said = _ceiling_of_classes(facts) if facts["task"] == "classify" else _ceiling_of_amounts(facts)
    return [{"title": "Against the best possible", "text": said}] if said else []


def _classes(facts: dict[str, Any], rows: str) -> tuple[str, str]:
    test = facts["test"]
    level = _level(test["level"])
    new = "new rows" if rows == "the test rows" else rows
    used = "cost" in test or facts.get("threshold", {}).get("used")  # a threshold other than one half
    wrong = "Taking the likelier class, wrong" if used else "Wrong"
    good = [f"{wrong} on {share(test['error']['estimate'])} of {new} ({level} {interval_words(test['error'])})"]
    asked = test.get("metric", {}).get("name")
    if "low" in test.get("auc", {}) and asked != "roc_auc_score":
        area = test["auc"]
        good.append(f"ROC area {area['estimate']:.3f} ({area['low']:.3f}–{area['high']:.3f}), where chance is 0.5")
    if "rare" in test:
        good = _rare_words(test["rare"], level, rows) + good[1:]
    said = "; ".join(good)
    said = f"{_metric_line(test)}. {said}" if "metric" in test else said
    if "cost" in test:
        paid, least = test["cost"], min(test["cost_of_none"], test["cost_of_all"])
        said += f". With your costs it says {facts['positive']} from {share(test['threshold'])} on, which costs "
        said += f"{number(paid['estimate'])} a row ({interval_words(paid, number)}); without a model {number(least)}"
    elif used:
        said += f". It says {facts['positive']} from a probability of {share(test['threshold'])} on, chosen on "
        said += f"development rows for the {facts['threshold']['by']}"
        said += "" if "rare" in test else f", and is then wrong on {share(test['error_at_threshold'])}"
    return said + ".", _constant(facts)


def _rare_words(rare: dict[str, Any], level: str, rows: str) -> list[str]:
    found = [f"Finds {rare['found']:,} of the {rare['rows']:,} “{rare['class']}” among {rows}"]
    if rare["recall"] is not None:
        found[0] += f" (recall {share(rare['recall']['estimate'])}, {level} {interval_words(rare['recall'])})"
    if rare["precision"] is not None:
        precision = rare["precision"]
        called = f"of those it calls, {share(precision['estimate'])} are right (precision, {interval_words(precision)})"
        found.append(f"{called}, with {counted(rare['false_alarms'], 'false alarm')}")
    else:
        found.append("it calls no row so")
    if rare["average_precision"] is not None:
        area = rare["average_precision"]
        between = f"{area['low']:.3f}–{area['high']:.3f}"
        found.append(f"PR area {area['estimate']:.3f} ({between}), where chance is {rare['share']:.3f}")
    return found


def _metric_line(test: dict[str, Any]) -> str:
    m = test["metric"]
    between = f"{metric_words(m, 'low')}–{metric_words(m, 'high')}"
    name = m["words"][0].upper() + m["words"][1:]
    return f"{name} {metric_words(m)} ({between}), of a constant {metric_words(m, 'constant')}"


def _constant(facts: dict[str, Any]) -> str:
    test, most = facts["test"], facts["ceiling"]["constant"]["predicts"]
    usual, error = test["constant_error"], test["error"]["estimate"]
    if "rare" in test and facts["beats_constant"]:
        rare = test["rare"]["class"]
        return f'Always saying "{most}" is wrong on {share(usual)} of rows only, and finds none of the “{rare}”.'
    said = f'Always saying "{most}" is wrong on {share(usual)}'
    if error < usual and facts["beats_constant"]:
        return said + f": the model removes {share((usual - error) / usual)} of those errors."
    if facts["beats_constant"]:
        how = (
            "probabilities are better than the bare shares"
            if test["brier_gain"]["low"] > 0
            else "order of rows tells more"
        )
        return said + f": no fewer errors, but its {how} of the classes."
    if _seems_better(facts):
        return said + f": the model on {share(error)}{_unproven(facts)}."
    return said + (": the model is no better." if _was_judged(facts) else ".")


def _seems_better(facts: dict[str, Any]) -> bool:
    """Whether the model's error is smaller than the constant's, by chance or not."""
    name = "error" if facts["task"] == "classify" else "rmse"
    return bool(facts["test"][name]["estimate"] < facts["test"][f"constant_{name}"])


def _unproven(facts: dict[str, Any]) -> str:
    """What to make of a smaller error where the model does not count as better."""
    if facts["beats_constant"]:
        return ""
    return f", which may be chance on {counted(facts['test']['rows'], 'row')}"


def _was_judged(facts: dict[str, Any]) -> bool:
    """Whether there was a model beside the constant; of rows that no race belongs to there is one."""
    return "race" not in facts or tried(facts) > 0


UNKNOWN = "Neighbouring rows are too few or too far apart to say how good any model could be."
NO_TIME = "There was no time to look at neighbouring rows, so how good any model could be is not known."


def _ceiling_of_classes(facts: dict[str, Any]) -> str:
    if "rare" in facts["test"]:
        return ""  # a bound on the share of wrong rows says nothing about a class of few rows
    found = facts["bracket"]
    if not found["known"]:
        return UNKNOWN if facts["ceiling"]["rows"] else NO_TIME
    error, low, high = facts["test"]["error"], found["lower"], found["upper"]
    if low == 0 and high >= error["estimate"]:
        return UNKNOWN
    if low == 0:
        return f"Similar rows agree so well that a rule wrong on at most {share(high)} of rows should be possible."
    said = f"No rule on these columns is likely to be wrong on less than {share(low)} of rows"
    if not facts["beats_constant"]:
        return said + "."
    if _at_the_ceiling(facts):
        return said + ": this model is about as good as the columns allow."
    room = max(error["estimate"] - low, 0.0)
    return said + f": at most {100 * room:.1f} points are left to gain."


def _at_the_ceiling(facts: dict[str, Any]) -> bool:
    return bool(facts.get("diagnosis")) and facts["diagnosis"]["regime"] == "near the ceiling"


def _amounts(facts: dict[str, Any]) -> tuple[str, str]:
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
    if _seems_better(facts):
        constant += f": the model's is {share(1 - rmse['estimate'] / usual)} smaller{_unproven(facts)}."
    else:
        constant += ": the model is no better." if _was_judged(facts) else "."
    if "metric" in test:
        good = f"{_metric_line(test)}. {good}"
    return good, constant


def _ceiling_of_amounts(facts: dict[str, Any]) -> str:
    found, now = facts["bracket"], facts["test"]["rmse"]["estimate"]
    if not found["known"]:
        return UNKNOWN if facts["ceiling"]["rows"] else NO_TIME
    if found["lower"] == 0 and found["upper"] >= now:
        return UNKNOWN
    if found["lower"] == 0:
        return f"Similar rows agree so well that an RMSE of at most {number(found['upper'])} should be possible."
    said = f"Noise that no model on these columns can remove is at least about {number(found['lower'])} (RMSE)"
    if not facts["beats_constant"]:
        return said + "."
    if _at_the_ceiling(facts):
        return said + ": this model is about as good as the columns allow."
    if found["upper"] < now:
        return said + f" and at most {number(found['upper'])}, against {number(now)} now."
    return said + f", against {number(now)} now."


def _next(facts: dict[str, Any]) -> dict[str, str]:
    diagnosis = facts.get("diagnosis")
    if tried(facts) == 0 and _failed(facts):
        return {
            "title": "What to do next",
            "text": "Look at the remarks below on why models failed, and at the columns.",
        }
    if diagnosis is None or not has_model(facts):
        ended = "any model was fitted" if tried(facts) == 0 else "the final fit" if unfitted(facts) else "a diagnosis"
        said = f"{_more_time(facts)}: it ended before {ended}, and goes on from what is in its journal."
        return {"title": "What to do next", "text": said}
    if facts["test"] is None:
        said = f"{diagnosis['finding']} {diagnosis['treatments'][0]}"
        return {"title": "What to do next", "text": f"{said} When nothing is left to choose, open the test set."}
    rare = facts["test"].get("rare")
    if rare is not None and rare["recall"] is not None and rare["recall"]["high"] - rare["recall"]["low"] > 0.2:
        few = f"{rare['rows']:,} “{rare['class']}” in the test set leave its recall open between"
        said = (
            f"Judge it on more rows of “{rare['class']}” before you rely on it: {few} {interval_words(rare['recall'])}."
        )
        return {"title": "What to do next", "text": said}
    said = f"{diagnosis['finding']} {diagnosis['treatments'][0]}"
    untried = sum("loss" not in e for e in facts["race"]["entries"])
    # A pattern that the model does not catch may be one for a model that was not tried.
    if facts["race"]["cut_short"] and untried and diagnosis["regime"] in ("noise or bias", "high bias"):
        left_out = f"{untried} of {untried + tried(facts)} models were not tried"
        said = f"{diagnosis['finding']} {_more_time(facts)}: {left_out}."
    return {"title": "What to do next", "text": said}


def _more_time(facts: dict[str, Any]) -> str:
    """A budget several times as long as this one was."""
    minutes = max(5, round(4 * facts["settings"].get("budget", 60.0) / 60))
    return f"Give the study more time (--budget {minutes}m)"


def _level(level: float) -> str:
    shown = f"{100 * level:.1f}".rstrip("0").rstrip(".")
    return f"{shown}% interval"
