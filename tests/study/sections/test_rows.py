"""The worst rows and typical ones, with their places in the file."""

import numpy as np
import polars as pl

from learnt.study.sections._finishers import finishers
from learnt.study.sections._rows import shown_rows, with_reasons, worst_and_typical


def test_rows_are_shown_as_they_are_in_the_file():
    n = 40
    rng = np.random.default_rng(0)
    p = rng.random(n)
    y = np.array(["no", "yes"])[(rng.random(n) < 0.5).astype(int)]
    output = np.column_stack([1 - p, p])
    losses = np.where(y == "yes", (1 - p) ** 2, p**2)
    table = pl.DataFrame({"a": np.arange(n), "b": [f"cell {k} " + "x" * 100 for k in range(n)], "c": [None] * n})
    worst, typical = worst_and_typical(losses)
    assert losses[worst].tolist() == sorted(losses, reverse=True)[:5]
    assert not set(worst) & set(typical)
    decided = np.array(["no", "yes"])[(p >= 0.5).astype(int)]
    contributions = np.zeros((5, 3))
    contributions[:, 0], contributions[:, 1] = -0.5, 0.25
    facts = {"places": 100 + np.arange(n), "y": y, "output": output, "losses": losses, "decided": decided}
    own = {name: part[worst] for name, part in facts.items()}
    found = shown_rows(table[worst], **own, classes=["no", "yes"], columns=["b", "a", "c"])
    found = with_reasons(found, table[worst], contributions)
    assert [row.row for row in found] == (100 + worst).tolist()
    first, k = found[0], worst[0]
    assert first.truth == y[k]
    assert first.predicted == decided[k]
    assert first.probability == output[k, int(y[k] == "yes")]
    assert list(first.cells) == ["b", "a", "c"]
    assert first.cells["a"] == str(k)
    assert first.cells["b"].startswith(f"cell {k} ")
    assert len(first.cells["b"]) == 60
    assert first.cells["c"] == "–"
    assert [(r.column, r.cell[:5], r.contribution) for r in first.reasons] == [
        ("a", str(k), -0.5),
        ("b", "cell ", 0.25),
    ]


def test_amounts_are_shown_without_probabilities():
    y, output = np.array([1.0, 5.0, 2.0]), np.array([1.0, 2.0, 2.5])
    facts = {"places": np.arange(3), "y": y, "output": output, "losses": (y - output) ** 2, "decided": output}
    found = shown_rows(pl.DataFrame({"x": [1.0, 2.0, 1 / 3]}), **facts)
    assert found[2].cells == {"x": "0.333333"}
    found = found[1]
    assert (found.truth, found.predicted, found.probability, found.loss) == (5.0, 2.0, None, 9.0)


def test_models_finish_in_the_order_of_time():
    rng = np.random.default_rng(1)
    rows = [(f"m{k}", "f", float(s), float(loss)) for k, (s, loss) in enumerate(rng.random((30, 2)))]
    found = finishers(rows)
    seconds, losses = [f.seconds for f in found], np.array([f.loss for f in found])
    assert seconds == sorted(seconds)
    assert [f.loss for f in found if f.best] == sorted(set(np.minimum.accumulate(losses)), reverse=True)
