"""Finished studies that several tests look at, a browser, and a ledger that is not the user's."""

import fcntl
import json
import os
import shutil

import numpy as np
import polars as pl
import pytest

from learnt.cli._run import run
from learnt.study import open_study, study

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
def made_once(tmp_path_factory, worker_id):
    """Calls `make(folder)` in one of the processes that run the tests; the others wait, and find the folder."""
    root = tmp_path_factory.getbasetemp()
    root = root if worker_id == "master" else root.parent

    def folder_of(name, make):
        folder = root / name
        with (root / f"{name}.lock").open("w") as lock:
            fcntl.flock(lock, fcntl.LOCK_EX)
            if not (folder / "made").exists():
                folder.mkdir()
                make(folder)
                (folder / "made").touch()
        return folder

    return folder_of


@pytest.fixture(scope="session")
def orders(made_once):
    """A file whose column "outcome" is to be predicted."""
    return made_once("classified", lambda folder: class_table().write_csv(folder / "orders.csv")) / "orders.csv"


@pytest.fixture(scope="session")
def sealed(orders, made_once):
    """The folder of a study of these rows, by the command, whose test set was left sealed."""

    def make(folder):
        with pytest.MonkeyPatch.context() as patch:
            patch.setenv("LEARNT_LEDGER", str(folder / "ledger"))
            # The clock must not decide here, whatever else the machine does.
            command = ["study", str(orders), "--target", "outcome", "--out", str(folder / "out"), "--budget", "10m"]
            assert run([*command, "--cost", "fp=1,fn=5", "--keep-sealed"]) == 0
        assert not (folder / "ledger").exists()

    return made_once("sealed", make) / "out"


def with_fits_of(study_folder, out):
    """A folder in which a study finds the fits of another study of the same rows, so that it need not repeat them."""
    out.mkdir()
    shutil.copyfile(study_folder / "journal.jsonl", out / "journal.jsonl")
    return out


@pytest.fixture(scope="session")
def classified(orders, sealed, made_once):
    """A finished study of the same rows, and what it said."""

    def make(folder):
        said = []
        with pytest.MonkeyPatch.context() as patch:
            patch.setenv("LEARNT_LEDGER", str(folder / "ledger"))  # other tests open this table's test set too
            out = with_fits_of(sealed, orders.parent / "out")
            found = study(orders, "outcome", out=out, cost=(1.0, 5.0), say=said.append, budget=600)
        assert found.facts["run"]["reused"] > 100
        (folder / "said.json").write_text(json.dumps(said))

    folder = made_once("classified study", make)
    return open_study(orders.parent / "out", table=orders), json.loads((folder / "said.json").read_text())


@pytest.fixture(scope="session")
def regressed(made_once):
    def make(folder):
        amount_table().write_parquet(folder / "prices.parquet")
        study(folder / "prices.parquet", "price", out=folder / "out", budget=600)

    folder = made_once("regressed", make)
    return open_study(folder / "out", table=folder / "prices.parquet")


# --- a browser

ARGUMENTS = [
    "--no-sandbox",
    "--disable-gpu",
    "--disable-background-networking",
    "--disable-component-update",
    "--disable-sync",
]
CONTRAST = """
() => {
  const parse = c => { const v = c.match(/[\\d.]+/g).map(Number); return v.length < 4 ? [...v, 1] : v; };
  const linear = v => { v /= 255; return v <= .03928 ? v / 12.92 : ((v + .055) / 1.055) ** 2.4; };
  const light = c => .2126 * linear(c[0]) + .7152 * linear(c[1]) + .0722 * linear(c[2]);
  const behind = e => {
    for (; e; e = e.parentElement) {
      const c = parse(getComputedStyle(e).backgroundColor);
      if (c[3] > .99) return c;
    }
    return [255, 255, 255, 1];
  };
  const silent = ["SCRIPT", "STYLE", "title", "desc"], bad = [];
  const walker = document.createTreeWalker(document.body, NodeFilter.SHOW_TEXT);
  while (walker.nextNode()) {
    const e = walker.currentNode.parentElement, text = walker.currentNode.data.trim();
    if (!text || !e.getClientRects().length || silent.includes(e.tagName)) continue;
    const style = getComputedStyle(e), svg = e.namespaceURI.endsWith("svg");
    const a = light(parse(svg ? style.fill : style.color)), b = light(behind(e));
    const ratio = (Math.max(a, b) + .05) / (Math.min(a, b) + .05);
    if (ratio < 4.5) bad.push([text.slice(0, 40), ratio.toFixed(2)]);
  }
  return bad;
}
"""


def at_home(url, own):
    return url == own or (own.startswith("http:") and url.startswith(own))


@pytest.fixture(scope="module")
def open_page():
    """Opens a file or an address at a width and colour scheme, in a real browser, with no memory of other pages.

    What goes wrong in the page is collected in `page.trouble`; `page.low_contrast()` lists text that is hard to read.
    """
    from playwright.sync_api import sync_playwright

    found = os.environ.get("LEARNT_CHROMIUM") or shutil.which("chromium") or shutil.which("chromium-browser")
    assert found, "These tests need Chromium: install it, or name it in LEARNT_CHROMIUM."
    with sync_playwright() as playwright:
        browser = playwright.chromium.launch(executable_path=found, headless=True, args=ARGUMENTS)
        contexts = []

        def opener(path, width, scheme):
            own = path if isinstance(path, str) else path.as_uri()
            while contexts:
                contexts.pop().close()  # a page that nobody looks at still costs
            context = browser.new_context(viewport={"width": width, "height": 900}, color_scheme=scheme)
            contexts.append(context)
            page = context.new_page()
            page.trouble = []
            page.on("console", lambda message: page.trouble.append(message.text))
            page.on("pageerror", lambda error: page.trouble.append(str(error)))
            page.on("dialog", lambda dialog: (page.trouble.append(f"dialog {dialog.message}"), dialog.dismiss()))
            page.on("request", lambda request: None if at_home(request.url, own) else page.trouble.append(request.url))
            page.low_contrast = lambda: page.evaluate(CONTRAST)
            page.goto(own)
            return page

        yield opener
        browser.close()
