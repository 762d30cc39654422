"""A small model with columns of every kind, and servers on free ports."""

import threading
from contextlib import contextmanager

import numpy as np
import polars as pl
import pytest
from sklearn.pipeline import make_pipeline

from learnt.linear_model import LogisticRegression, Ridge
from learnt.persistence import save
from learnt.preprocessing import TableEncoder
from learnt.study import ModelServer, open_service
from learnt.study._predict import ModelNotes

EVIL = '</script><script>alert("x")</script>'


def rows(n=120, seed=0):
    rng = np.random.default_rng(seed)
    return pl.DataFrame(
        {
            "age": rng.integers(20, 70, n),
            EVIL: rng.normal(size=n),
            "day": [f"2020-{1 + k % 12:02d}-{1 + k % 28:02d} 0{k % 10}:30" for k in range(n)],
            "price": [f"€{v:,.2f}" for v in rng.uniform(500, 3000, n)],
            "town": rng.choice(["Oslo", "Rome", "Åre & co"], n),
            "member": rng.random(n) < 0.5,
        }
    )


@pytest.fixture(scope="session")
def classifier(tmp_path_factory):
    """A model file with a threshold that a study could have written."""
    path, table = tmp_path_factory.mktemp("classifier") / "model.learnt", rows()
    late = np.where(table[EVIL].to_numpy() + (table["town"] == "Oslo").to_numpy() > 0.4, "yes", f"no {EVIL}")
    save(make_pipeline(TableEncoder(), LogisticRegression(C=0.01)).fit(table, late), path)
    ModelNotes("late", "classify", threshold=0.3, half_width=None, positive="yes").write(path)
    return path


@pytest.fixture(scope="session")
def regressor(tmp_path_factory):
    path, table = tmp_path_factory.mktemp("regressor") / "model.learnt", rows()
    save(make_pipeline(TableEncoder(), Ridge()).fit(table, 3 * table[EVIL].to_numpy()), path)
    ModelNotes("late", "regress", threshold=0.5, half_width=1.5).write(path)
    return path


@contextmanager
def running(path, log=lambda text: None, **limits):
    with ModelServer(open_service(path), "127.0.0.1", 0, log, **limits) as server:
        thread = threading.Thread(target=server.serve_forever, args=(0.01,))
        thread.start()
        try:
            yield server
        finally:
            server.shutdown()
            thread.join()


@pytest.fixture(scope="session")
def lines():
    """What the server of `served` has written."""
    return []


@pytest.fixture(scope="session")
def served(classifier, lines):
    with running(classifier, lines.append) as server:
        yield server


@pytest.fixture(scope="session")
def served_amounts(regressor):
    with running(regressor) as server:
        yield server


@pytest.fixture(scope="session")
def new_rows():
    """Rows that no model here has seen, some cells missing, a town nobody knows."""
    table = rows(40, seed=1)
    missing = pl.Series(np.arange(40) % 7 == 3)
    town = pl.when(pl.Series(np.arange(40) % 5 == 1)).then(pl.lit("Bern")).otherwise(pl.col("town"))
    return table.with_columns(town.alias("town")).with_columns(
        pl.when(missing).then(None).otherwise(pl.col(name)).alias(name) for name in table.columns
    )
