"""Two finished studies that several tests look at, and a ledger that is not the user's."""

import numpy as np
import polars as pl
import pytest

from learnt.study import study

EVIL = '<script>alert("x")</script>'


@pytest.fixture(scope="session", autouse=True)
def _own_ledger(tmp_path_factory):
    with pytest.MonkeyPatch.context() as patch:
        patch.setenv("LEARNT_LEDGER", str(tmp_path_factory.mktemp("state") / "ledger.jsonl"))
        patch.setenv("LEARNT_STUDY_BRIEF", "1")  # the leaders of each family, with few trees
        yield


def class_table(n=420, seed=0):
    """Numbers, a category, text, money, missing cells, an identifier, and names that would be markup."""
    rng = np.random.default_rng(seed)
    x, z = rng.normal(size=n), rng.normal(size=n)
    town = rng.choice(["Oslo", "<b>Rome</b>", "Åre & co"], n)
    late = 2 * x + 1.5 * (town == "Oslo") + rng.normal(size=n) > 0.5
    frame = pl.DataFrame(
        {
            "row_id": [f"R{k:05d}" for k in range(n)],
            EVIL: x,
            "z": z,
            "town": town,
            "price": [f"€{v:,.2f}" for v in 1000 + 200 * z],
            "outcome": np.where(late, "yes", f"no {EVIL}"),
        }
    )
    return frame.with_columns(pl.when(pl.Series(rng.random(n) < 0.1)).then(None).otherwise(pl.col("z")).alias("z"))


def amount_table(n=420, seed=1):
    rng = np.random.default_rng(seed)
    x, z = rng.normal(size=n), rng.uniform(0, 3, n)
    return pl.DataFrame(
        {"x": x, "z": z, "kind": rng.choice(["a", "b"], n), "price": 50 + 8 * x + 3 * z + rng.normal(size=n)}
    )


@pytest.fixture(scope="session")
def orders(tmp_path_factory):
    """A file whose column "outcome" is to be predicted."""
    path = tmp_path_factory.mktemp("classified") / "orders.csv"
    class_table().write_csv(path)
    return path


@pytest.fixture(scope="session")
def classified(orders):
    said = []
    with pytest.MonkeyPatch.context() as patch:
        patch.setenv("LEARNT_LEDGER", str(orders.parent / "ledger.jsonl"))  # other tests open this table's test set too
        found = study(orders, "outcome", out=orders.parent / "out", cost=(1.0, 5.0), say=said.append, budget=600)
    return found, said


@pytest.fixture(scope="session")
def regressed(tmp_path_factory):
    folder = tmp_path_factory.mktemp("regressed")
    amount_table().write_parquet(folder / "prices.parquet")
    return study(folder / "prices.parquet", "price", out=folder / "out", budget=600)
