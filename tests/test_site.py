"""The site of `make docs`: every public name has a page, formulas need no script, and pages no network."""

import importlib
import os
import re
import subprocess
import sys
from html.parser import HTMLParser
from pathlib import Path
from urllib.parse import unquote

import pytest

import learnt

ROOT = Path(__file__).resolve().parent.parent
DOCS = ROOT / "docs"


@pytest.fixture
def extension(monkeypatch):
    """A module of docs/_ext."""
    monkeypatch.syspath_prepend(DOCS / "_ext")
    return importlib.import_module


def test_the_configuration_is_read_and_reaches_no_network(monkeypatch):
    monkeypatch.setattr(sys, "path", [*sys.path])
    monkeypatch.setenv("LEARNT_PROGRESS", "off")
    settings = {"__file__": str(DOCS / "conf.py")}
    exec(compile((DOCS / "conf.py").read_text(), "conf.py", "exec"), settings)
    assert settings["release"] == learnt.__version__
    assert settings["html_math_renderer"] == "mathml"
    assert not any("intersphinx" in name or "mathjax" in name for name in settings["extensions"])
    assert not {"switcher", "analytics"} & set(settings["html_theme_options"])
    own = [*(DOCS / "_templates").glob("*"), *(DOCS / "_static").glob("*.css"), *(DOCS / "_static").glob("*.svg")]
    for path in own:
        assert not re.search(r"(src|href)=[\"']?(https?:)?//|url\(|@import", path.read_text()), path


def test_every_public_name_has_a_page(extension):
    reference = extension("reference")
    pages = reference.pages()
    listed = " ".join(pages.values())
    for room in learnt._ROOMS:
        module = importlib.import_module(f"learnt.{room}")
        if room in reference.INSIDE:
            assert f"learnt.{room}" not in pages
            continue
        assert f"learnt.{room}" in pages
        for name in getattr(module, "__all__", ()):
            thing = getattr(module, name)
            ours = (getattr(thing, "__module__", None) or "").startswith("learnt")
            assert f"learnt.{room}.{name}" in pages or not ours, name
            assert name in listed or not callable(thing), name
    assert {f"learnt.{name}" for name in learnt._FUNCTIONS} <= {*pages}
    assert "Accepts" in pages["learnt.cluster.KMeans"]
    assert ":members: fit, fit_predict, " in pages["learnt.cluster.KMeans"]


def test_sources_are_found_in_the_repository(extension):
    where = extension("reference").lines_of("learnt.cluster", "KMeans.fit")
    path, _, lines = where.partition("#L")
    first = int(lines.split("-")[0])
    assert "def fit(" in "\n".join((ROOT / path).read_text().splitlines()[first - 1 : first + 4])


def test_prose_of_docstrings_is_no_markup(extension):
    readable = extension("reference").readable
    before = ["p(y | x) of `coef_` and coef_, *args.", "", "    a   table", "", "x_, y_ : arrays", "", ">>> a_ | b_"]
    after = readable(before)
    assert after[0] == r"p(y \| x) of `coef_` and coef\_, \*args."
    assert "::" in after
    assert "    a   table" in after
    assert r"x\_, y\_ : arrays" in after
    assert after[-1] == before[-1]


@pytest.mark.parametrize(
    "tex",
    [
        r"\argmin_w \frac1n \sum_{i=1}^n \ell(h(x_i), y_i) + \lambda \|w\|_2^2",
        r"a &= b \\ c &= \begin{cases} 1 & x > 0 \\ 0 & \text{else} \end{cases}",
        r"\begin{align*} a &\iff b \dots \end{align*}",
        r"\operatorname*{arg\,max}_y \E[\Var(X)] = \mathbf{X}^\top\mathbf{X}",
    ],
)
def test_formulas_become_mathml(extension, tex):
    found = extension("mathml").to_mathml(tex, None, True)
    assert found.startswith("<math")
    assert "arg" not in tex or "arg" in found


@pytest.mark.parametrize("path", sorted((DOCS / "course").glob("*.py")), ids=lambda path: path.name)
def test_chapters_have_what_a_chapter_has(path):
    text = path.read_text()
    assert re.match(r'r?"""\n.+\n=+\n', text)
    assert "# Exercises\n" in text
    assert "# Solutions\n" in text
    assert "assert " in text


def test_the_chart_of_the_front_page_is_that_of_the_benchmarks(monkeypatch):
    monkeypatch.syspath_prepend(DOCS / "_charts")
    speed = importlib.import_module("speed")
    speed.check((ROOT / "benchmarks/README.md").read_text())
    assert (DOCS / "_static/speed.svg").read_text() == speed.svg()


class Page(HTMLParser):
    """The anchors, links and resources of a page."""

    def __init__(self, text):
        super().__init__()
        self.anchors, self.links, self.resources = {""}, [], []
        self.feed(text)

    def handle_starttag(self, tag, attributes):
        values = dict(attributes)
        self.anchors |= {values[key] for key in ("id", "name") if values.get(key)}
        if tag == "a" and values.get("href"):
            self.links.append(values["href"])
        for key in ("src", "data", "poster"):
            if values.get(key) and (tag, key) != ("button", "data"):
                self.resources.append(values[key])
        if tag == "link" and values.get("rel") in ("stylesheet", "preload", "icon", "modulepreload", "preconnect"):
            self.resources.append(values.get("href", ""))


def is_external(address):
    return re.match(r"[a-z]+:|//", address) is not None and not address.startswith("data:")


@pytest.mark.long
def test_the_site_is_built_without_warnings_and_all_its_links_lead_somewhere(tmp_path):
    """Without running chapters and examples, which tests/test_docs.py and `make docs` do."""
    command = [sys.executable, "-m", "sphinx", "-q", "-j", "2", "-W", "--keep-going", "-D", "plot_gallery=0"]
    done = subprocess.run(
        [*command, "-d", tmp_path / "trees", DOCS, tmp_path / "html"],
        env={**os.environ, "LEARNT_PROGRESS": "off"},
        capture_output=True,
        text=True,
        timeout=1200,
    )
    assert done.returncode == 0, done.stderr[-4000:]

    html = [path for path in (tmp_path / "html").rglob("*.html") if "_static" not in path.parts]
    pages = {path: Page(path.read_text()) for path in html}
    assert len(pages) > len(learnt._ROOMS)
    wrong = []
    for path, page in pages.items():
        wrong += [f"{path.name} loads {address}" for address in page.resources if is_external(address)]
        for address in [*page.links, *page.resources]:
            if is_external(address) or address.startswith("data:"):
                continue
            file, _, anchor = unquote(address).partition("#")
            file = file.partition("?")[0]
            target = (path.parent / file).resolve() if file else path
            if not target.exists():
                wrong.append(f"{path.name} leads to {address}, which is not there")
            elif target in pages and anchor not in pages[target].anchors:
                wrong.append(f"{path.name} leads to {address}, which has no such anchor")
    assert wrong == []
