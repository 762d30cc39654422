"""Every sentence of ten studies is read, and every figure in it computed again from study.json."""

import json
import math
import re

import pytest
from tests.study.ten_tables import TEN, table

from learnt.plots import number
from learnt.study import study
from learnt.study.facts import Facts
from learnt.study.report._words import loss_words, model_words, race_words, share, simplicity_words

NUMBER = r"-?\d[\d,]*(?:\.\d+)?k?M?"


def fraction(value, total):
    return f"{min(max(100 * value / total, 0.0), 100.0):.0f}" if total > 0 else "0"


class Known:
    """What a sentence may say, from the plain data of a study.json; every entry is a pattern and its figures."""

    def __init__(self, facts):
        self.facts, self.test = facts, facts["test"] or {}
        self.race = facts["race"]

    def shown(self, loss):
        if self.race["squared"]:
            return math.sqrt(max(loss, 0.0))
        return -loss if self.race["greater"] else loss

    def span(self, part, form=share):
        low, high = form(part["low"]), form(part["high"])
        return low.rstrip("%"), high

    def patterns(self):
        f, t = self.facts, self.test
        data, seal, model = f["data"], f["seal"], f["model"]
        yield r"from (\d+) columns?", [str(len(data["features"]))]
        yield r"Learnt from ([\d,]+) rows", [f"{model['judged_rows']:,}"]
        yield r"again on all ([\d,]+) rows", [f"{model['rows']:,}"]
        yield r"([\d,]+) other rows? (?:is|are) sealed", [f"{seal['test_rows']:,}"]
        yield r"([\d,]+) test rows? stays? sealed", [f"{seal['test_rows']:,}"]
        predicts = f["ceiling"]["constant"]["predicts"]
        yield rf"a constant that always says ({NUMBER})", [number(predicts) if isinstance(predicts, float) else ""]
        yield r"which of (\d+) classes", [str(len(f["classes"] or []))]
        yield r"--budget (\d+)m", [str(max(5, round(4 * f["settings"]["budget"] / 60)))]
        unfinished = sum("loss" not in e for e in self.race["entries"])
        tried = sum("loss" in e and e["family"] != "constant" for e in self.race["entries"])
        yield r"(\d+) of (\d+) models were not measured", [str(unfinished), str(unfinished + tried)]
        yield r"None of the (\d+) models there was time for", [str(tried)]
        yield from self.of_the_race(unfinished)
        yield from self.of_the_test(t)
        yield from self.of_the_bracket(t)
        yield from self.of_the_diagnosis()

    def of_the_race(self, unfinished):
        entries = self.race["entries"]
        finished = [e for e in entries if "loss" in e]
        yield r"Raced (\d+) models?, (\d+) to the end", [str(len(entries)), str(len(finished))]
        yield r"None of (\d+) models? was measured", [str(unfinished)]
        by_id = {e["id"]: e for e in finished}
        simple, chosen = by_id.get(self.facts["choice"]["simple"]["id"]), by_id.get(self.facts["chosen"]["id"])
        if simple and chosen:
            one, other = self.shown(simple["loss"]), self.shown(chosen["loss"])
            sign = -1 if self.race["greater"] else 1
            figures = [loss_words(one), loss_words(other)]
            yield rf"({NUMBER}) against ({NUMBER}), no worse", figures
            yield (
                rf"({NUMBER}) against ({NUMBER}), ([\d.]+%) worse",
                [*figures, share(sign * (one - other) / abs(other))],
            )
            low, high = sorted((self.shown(chosen["low"]), self.shown(chosen["high"])))
            constant = next(e for e in finished if e["family"] == "constant")
            figures = [loss_words(v) for v in (other, low, high, self.shown(constant["loss"]))]
            yield rf"Cross-validated .*? ({NUMBER}) \(({NUMBER})–({NUMBER})\), of a constant ({NUMBER})", figures
        for member in self.facts["choice"]["members"]:
            yield rf"{re.escape(member['label'])} \(([\d.]+%)\)", [share(member["weight"])]

    def of_the_test(self, t):
        if not t:
            return
        level = f"{100 * t['level']:.1f}".rstrip("0").rstrip(".")
        yield r"judged once on ([\d,]+) rows", [f"{t['rows']:,}"]
        yield r"judged \(\d+.. use\) on ([\d,]+) rows", [f"{t['rows']:,}"]
        yield r"which may be chance on ([\d,]+) rows", [f"{t['rows']:,}"]
        if "metric" in t:
            m = t["metric"]
            name = re.escape(m["words"][1:])
            yield (
                rf"{name} ({NUMBER}), against ({NUMBER}) of a constant",
                [loss_words(m[k]) for k in ("estimate", "constant")],
            )
            figures = [loss_words(m[k]) for k in ("estimate", "low", "high", "constant")]
            yield rf"{name} ({NUMBER}) \(({NUMBER})–({NUMBER})\), of a constant ({NUMBER})", figures
        if "rmse" in t:
            yield rf"to within ({NUMBER}) on average", [number(t["mae"]["estimate"])]
            interval = [number(t["rmse"][k]) for k in ("low", "high")]
            typical = (
                rf"\(RMSE\) ({NUMBER}) \(([\d.]+)% interval ({NUMBER})–({NUMBER})\), mean absolute error ({NUMBER})"
            )
            yield typical, [number(t["rmse"]["estimate"]), level, *interval, number(t["mae"]["estimate"])]
            explained = {k: max(v, 0.0) for k, v in t["r2"].items()}
            figures = [share(explained["estimate"]), *self.span(explained)]
            yield r"explains ([\d.]+%) of the variance \(([\d.]+)–([\d.]+%)\)", figures
            mean = number(self.facts["ceiling"]["constant"]["predicts"])
            yield rf"the mean, ({NUMBER}), has an RMSE of ({NUMBER})", [mean, number(t["constant_rmse"])]
            yield r"the model's is ([\d.]+%) smaller", [share(1 - t["rmse"]["estimate"] / t["constant_rmse"])]
            return
        error, usual = t["error"]["estimate"], t["constant_error"]
        yield r"([\d.]+%) of new rows come out right", [share(1 - error)]
        figures = [share(error), level, *self.span(t["error"])]
        yield r"rong on ([\d.]+%) of new rows \(([\d.]+)% interval ([\d.]+)–([\d.]+%)\)", figures
        if "low" in t.get("auc", {}):
            figures = [f"{t['auc'][k]:.3f}" for k in ("estimate", "low", "high")]
            yield r"ROC area ([\d.]+) \(([\d.]+)–([\d.]+)\), where chance is 0\.5", figures
        removed = [share(usual), share((usual - error) / usual if usual else 0.0)]
        yield r"is wrong on ([\d.]+%): the model removes ([\d.]+%) of those errors", removed
        yield r"is wrong on ([\d.]+%) of rows only", [share(usual)]
        yield r"is wrong on ([\d.]+%): the model on ([\d.]+%)", [share(usual), share(error)]
        yield r"is wrong on ([\d.]+%): (?:the model is no better|no fewer)", [share(usual)]
        yield r"is wrong on ([\d.]+%)\.", [share(usual)]
        yield r"from a probability of ([\d.]+%) on", [share(t["threshold"])]
        yield r"is then wrong on ([\d.]+%)", [share(t["error_at_threshold"])]
        chance = share(1 / len(self.facts["classes"]))
        yield r"([\d.]+%) of a class are found on average, where chance is ([\d.]+%)", [share(t["mean_recall"]), chance]
        if "cost" in t:
            least, paid = min(t["cost_of_none"], t["cost_of_all"]), t["cost"]
            yield r"errors cost ([\d.]+%) less", [share(1 - paid["estimate"] / least)]
            figures = [share(t["threshold"]), number(paid["estimate"]), *self.span(paid, number), number(least)]
            costs = rf"which costs ({NUMBER}) per row \(({NUMBER})–({NUMBER})\); without a model ({NUMBER})"
            yield rf"from ([\d.]+%) on, {costs}", figures
        if "rare" in t:
            yield from self.of_a_rare_class(t["rare"], level)

    def of_a_rare_class(self, r, level):
        if r["recall"]:
            figures = [
                f"{r['found']:,}",
                f"{r['rows']:,}",
                share(r["recall"]["estimate"]),
                level,
                *self.span(r["recall"]),
            ]
            found = r"Finds ([\d,]+) of the ([\d,]+) .*? \(recall ([\d.]+%), ([\d.]+)% interval ([\d.]+)–([\d.]+%)\)"
            yield found, figures
            yield (
                r"([\d,]+) “[^”]*” in the test set leave its recall open between ([\d.]+)–([\d.]+%)",
                [
                    f"{r['rows']:,}",
                    *self.span(r["recall"]),
                ],
            )
        if r["precision"]:
            figures = [share(r["precision"]["estimate"]), *self.span(r["precision"]), f"{r['false_alarms']:,}"]
            yield r"calls, ([\d.]+%) are right \(precision, ([\d.]+)–([\d.]+%)\), with ([\d,]+) false", figures
        if r["average_precision"]:
            figures = [f"{r['average_precision'][k]:.3f}" for k in ("estimate", "low", "high")] + [f"{r['share']:.3f}"]
            yield r"PR area ([\d.]+) \(([\d.]+)–([\d.]+)\), where chance is ([\d.]+)", figures
        if r["recall"] and r["precision"] and r["average_precision"]:
            figures = [share(r[k]["estimate"]) for k in ("recall", "precision")]
            headline = r"([\d.]+%) of the rare .*? are found, ([\d.]+%) of those called are right \(PR area ([\d.]+)\)"
            yield headline, [*figures, f"{r['average_precision']['estimate']:.2f}"]

    def of_the_bracket(self, t):
        b = self.facts.get("bracket")
        if not b or not t:
            return
        classify = "error" in t
        now, form = (t["error"]["estimate"], share) if classify else (t["rmse"]["estimate"], number)
        lower, upper = form(b["lower"]), form(b["upper"])
        yield rf"likely to be wrong on less than ({NUMBER}%)", [lower]
        yield rf"can remove is at least about ({NUMBER})", [lower]
        yield rf"(?:wrong on|RMSE of) at most ({NUMBER}%?)", [upper]
        figures = [lower.rstrip("%"), upper, form(now)]
        room = f"{100 * max(now - b['lower'], 0.0):.1f}"
        best = rf"wrong on ({NUMBER})–({NUMBER}%) of rows, this model on ({NUMBER}%)"
        yield rf"{best}: at most ([\d.]+) points", [*figures, room]
        yield best, figures
        yield rf"has an RMSE of ({NUMBER})–({NUMBER}), this one ({NUMBER})", figures

    def of_the_diagnosis(self):
        d = self.facts["diagnosis"]
        if not d:
            return
        classify = self.facts["task"] == "classify"
        form = number if classify else lambda v: number(math.sqrt(max(v, 0.0)))
        figures = [form(d[k]) for k in ("loss", "train_loss", "constant")]
        yield rf"on new rows ({NUMBER}), on its own training rows ({NUMBER}), of the best constant ({NUMBER})", figures
        sizes, valid = d["curve"]["sizes"], [sum(fold) / len(fold) for fold in d["curve"]["valid"]]
        if len(sizes) > 1:
            change = (valid[-2] - valid[-1]) / valid[-2]
            steps = [f"{sizes[-2]:,}", f"{sizes[-1]:,}"]
            step = r"From ([\d,]+) to ([\d,]+) training rows the loss on new rows"
            yield rf"{step} (?:fell|rose) by (\d+)%", [*steps, fraction(abs(change), 1)]
            yield rf"{step} hardly", steps
        parts = d["parts"]
        figures = [fraction(parts[p][k], d["loss"]) for p in ("noise", "bias", "variance") for k in ("low", "high")]
        yield r"noise (\d+)–(\d+)%, bias (\d+)–(\d+)%, variance (\d+)–(\d+)%", figures
        for part in parts.values():
            low, high, value = (fraction(part[k], d["loss"]) for k in ("low", "high", "value"))
            yield r"[Uu]p to (\d+)%", [high]
            yield r"[Aa]t least (\d+)%", [low]
            yield r"[Aa]bout (\d+)%", [value]
            yield r"[Bb]etween (\d+)% and (\d+)%", [low, high]


def unexplained(text, facts):
    """What is left of a sentence without the figures that study.json explains, and without names."""
    known = Known(facts)
    names = {facts["target"], facts["table"], facts["chosen"]["label"], facts["choice"]["rule"]}
    names |= {e["label"] for e in facts["race"]["entries"]} | {str(c) for c in facts["classes"] or []}
    patterns = list(known.patterns())
    for pattern, figures in sorted(patterns, key=lambda p: -len(p[0])):
        for match in list(re.finditer(pattern, text)):
            if list(match.groups()) == figures:
                text = text.replace(match[0], "…")
    for name in sorted(names, key=len, reverse=True):
        text = text.replace(name, "…")
    text = text.replace("R²", "").replace("F1", "").replace("within 1%", "")  # names, and a rule's constant
    return re.findall(r"\d[\d.,]*", text)


def sentences(folder):
    plain = json.loads((folder / "study.json").read_text(encoding="utf-8"))
    facts = Facts.read(plain)
    assert facts.plain() == plain  # nothing is lost on the way
    said = [facts.summary.headline, *(line.text for line in facts.summary.lines)]
    said += [race_words(facts), simplicity_words(facts), model_words(facts) if facts.choice.members else ""]
    if facts.diagnosis is not None:
        said += [facts.diagnosis.finding, *facts.diagnosis.evidence, *facts.diagnosis.treatments]
    return said, plain


def check(folder):
    said, plain = sentences(folder)
    assert {text: left for text in said if (left := unexplained(text, plain))} == {}
    page = (folder / "report.html").read_text(encoding="utf-8")
    for word in ("tied", "a leaf", "told apart", "Nothing was tried", "None of None"):
        assert word not in page
    chosen = plain["chosen"]
    if chosen["members"][1:]:
        assert "default settings" not in page
        assert all(f"{share(m['weight'])}" in page for m in plain["choice"]["members"])
    threshold = plain.get("threshold")
    if threshold is not None and not threshold["used"] and "Threshold and costs" in page:
        assert f"chosen {threshold['threshold']:.1%}" not in page
    finished = [e for e in plain["race"]["entries"] if "loss" in e]
    constant = next(e for e in finished if e["family"] == "constant")
    for entry in finished:
        assert not (entry["tied"] and entry["loss"] > constant["loss"] > finished[0]["loss"])
    rule, corrected = plain["choice"]["rule"], plain["choice"]["corrected"]
    if rule == "the lowest cross-validated loss":
        assert finished[0]["state"] == "chosen"
    if rule.endswith("picking the lowest of many"):
        assert corrected
        assert min(finished, key=lambda e: e["corrected"])["state"] == "chosen"
        assert "Corrected" in page


def test_every_figure_of_a_study_of_classes(classified):
    check(classified[0].folder)


def test_every_figure_of_a_study_of_amounts(regressed):
    check(regressed.folder)


def test_every_figure_of_a_study_whose_test_set_is_sealed(sealed):
    check(sealed)


@pytest.mark.parametrize(
    "wrong",
    [("of new rows come out right", "99.9% of new rows come out right."), ("Raced", "Raced 3 models, 2 to the end")],
)
def test_a_false_figure_is_found(regressed, wrong):
    plain = json.loads((regressed.folder / "study.json").read_text(encoding="utf-8"))
    assert unexplained(wrong[1], plain)


@pytest.mark.long
@pytest.mark.parametrize("name", TEN)
def test_every_figure_of_ten_studies(tmp_path, name):
    options = TEN[name][1]
    study(table(name), "y", out=tmp_path / "out", budget=600, **options)  # the clock does not decide what is said
    check(tmp_path / "out")
