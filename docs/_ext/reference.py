"""The reference: a page for every room, and one for every public name of ours, written before Sphinx reads docs/api.

    entries()       every public name: its page, the room it is listed on, the object
    write           api/index.rst, api/learnt.cluster.rst (a room), api/learnt.cluster.KMeans.rst (a name)
    readable        docstrings are written for `help()`: what reStructuredText would take for markup is escaped

The names of pages are a promise: models shown in a notebook link to `api/learnt.{room}.{name}.html`.
"""

from __future__ import annotations

import importlib
import inspect
import re
from functools import cache
from pathlib import Path
from typing import Any, NamedTuple

from numpydoc.docscrape_sphinx import SphinxDocString
from sphinx.util import logging

import learnt
from learnt.engine.estimator import takes_of, trial_of

ROOT = Path(__file__).resolve().parents[2]
INSIDE = {"engine": "the machine room", "forestry": "trees as arrays", "explanation": "exact Shapley values"}
GROUPS = {
    "A table, a model": ("study", "persistence", "accel"),
    "Models with a line, a kernel, a density": (
        "linear_model", "erm", "svm", "kernels", "kernel_ridge", "kernel_approximation", "gaussian_process", "bayes",
        "naive_bayes", "discriminant_analysis", "density", "mixture", "isotonic", "cross_decomposition", "covariance",
    ),
    "Neighbours, trees, ensembles, networks": ("neighbors", "tree", "ensemble", "neural_network", "distributed"),
    "Without labels": ("cluster", "decomposition", "manifold", "random_projection", "semi_supervised", "inverse"),
    "Tables into numbers": (
        "preprocessing", "impute", "feature_extraction", "feature_selection", "compose", "pipeline",
    ),
    "Judgement": (
        "metrics", "model_selection", "diagnosis", "inspection", "calibration", "baseline", "dummy", "plots",
    ),
}  # fmt: skip
KINDS = {  # what `Takes` says, in words
    "sparse": "SciPy's sparse matrices",
    "missing": "missing cells",
    "categories": "columns of text and categories",
    "lazy": "files and Dask collections, in blocks (:doc:`learnt.scan`)",
    "tensors": "tensors on their device (PyTorch, CuPy, JAX)",
}
log = logging.getLogger(__name__)


class Entry(NamedTuple):
    """A public name."""

    name: str  # learnt.cluster.KMeans
    room: str  # learnt.cluster
    thing: Any
    ours: bool


def members_of(room: str) -> list[Entry]:
    """The public names of a module."""
    module = importlib.import_module(room)
    found = []
    for name in sorted(getattr(module, "__all__", ()), key=str.lower):
        thing = getattr(module, name)
        home = getattr(thing, "__module__", None) or (thing.__name__ if inspect.ismodule(thing) else "learnt")
        found.append(Entry(f"{room}.{name}", room, thing, home.split(".")[0] == "learnt"))
    return found


@cache
def rooms() -> list[str]:
    """The rooms that users import from, and their public modules."""
    found = []
    for room in (f"learnt.{room}" for room in sorted(learnt._ROOMS) if room not in INSIDE):
        inner = [entry.name for entry in members_of(room) if inspect.ismodule(entry.thing) and entry.ours]
        found += [room, *inner]
    return found


@cache
def entries() -> list[Entry]:
    """Every public name but modules: of the package itself, and of its rooms."""
    names = (*learnt._FUNCTIONS, *learnt._BORROWED_FUNCTIONS)
    own = [Entry(f"learnt.{name}", "learnt", getattr(learnt, name), name in learnt._FUNCTIONS) for name in names]
    return own + [entry for room in rooms() for entry in members_of(room) if not inspect.ismodule(entry.thing)]


def has_page(entry: Entry) -> bool:
    """Classes and functions of ours have a page each; what is scikit-learn's is listed on the page of its room."""
    return entry.ours and callable(entry.thing)


@cache
def first_page(cls: type) -> str:
    """The page of a class that stands in several rooms, which others call the same."""
    return min((entry.name for entry in entries() if entry.thing is cls), key=lambda name: -name.count("."))


def first_sentence(thing: Any) -> str:
    """The first paragraph of a docstring, on one line."""
    text = inspect.getdoc(thing) or ""
    return readable_line(re.sub(r"\s+", " ", text.partition("\n\n")[0]).strip())


# --- Docstrings ---------------------------------------------------------------------------------------------------


def readable_line(line: str) -> str:
    """A line of prose in which nothing but backticks is markup: `w_`, `|x|` and `*args` stay as they are."""
    parts = re.split(r"(``.+?``|:[a-z:]+:`[^`]+`|`[^`]+`_{0,2}|\[\d+\]_)", line)
    parts[::2] = [re.sub(r"(?<=\w)_(?!\w)|[|*]|`", r"\\\g<0>", part) for part in parts[::2]]
    return "".join(parts)


def readable(lines: list[str]) -> list[str]:
    """A docstring before numpydoc reads it: markup in its prose escaped, indented tables and formulas as they stand."""
    out: list[str] = []
    before = ""  # the last line that is not empty
    literal, shift = None, ""  # how far the block is indented that stays as it stands, and what that is short of
    for line in lines:
        if not line.strip():
            literal = None if shift else literal
            out.append(line)
            continue
        if literal is not None and indent(line) < literal:
            literal = None
        elif literal is None and is_block(line, before, out):
            literal, shift = indent(line), "" if indent(line) > indent(before) else "    "
            if not before.endswith("::"):
                out += [f"{' ' * indent(before)}::", ""]
        if literal is not None:
            out.append(shift + line)
        elif CODE.match(line) or _in_doctest(out):
            out.append(line)
        elif is_entry(line):
            names, _, rest = line.partition(" : ")
            names = readable_line(names) if "," in names else names  # numpydoc escapes a single name by itself
            out.append(f"{names} : {readable_line(rest)}")
        else:
            out.append(readable_line(line))
        before = line
    return out


CODE = re.compile(r"\s*(>>>|\.\.\.|\.\. )")
ITEM = re.compile(r"\s*([-*•]|\d+[.)]|\.\. \S+) ")


def indent(line: str) -> int:
    return len(line) - len(line.lstrip())


def is_block(line: str, before: str, out: list[str]) -> bool:
    """Whether a line begins a table, or an indented formula: after a paragraph, and no part of a list or a doctest."""
    stands_out = indent(line) > indent(before) or re.search(r"\S {3,}\S", line)
    if not (stands_out and out) or out[-1].strip():
        return False
    return not (CODE.match(line) or ITEM.match(line) or ITEM.match(before) or is_entry(before))


def is_entry(line: str) -> bool:
    """Whether a line is the head of a parameter or an attribute."""
    names, colon, _ = line.strip().partition(" : ")
    return bool(colon) and re.fullmatch(r"[*\w., ]+", names) is not None


def _in_doctest(before: list[str]) -> bool:
    """Whether a line after these is the output of a doctest."""
    for line in reversed(before):
        if not line.strip():
            return False
        if line.strip().startswith(">>>"):
            return True
    return False


def make_readable(app: Any, what: str, name: str, thing: Any, options: Any, lines: list[str]) -> None:
    lines[:] = readable(lines)


# --- Pages --------------------------------------------------------------------------------------------------------


def title(text: str) -> str:
    return f"{text}\n{'=' * len(text)}\n\n"


def accepts(cls: type) -> str:
    """Which tables an estimator takes, as a line."""
    if not hasattr(cls, "__learnt_takes__"):
        return ""
    takes = takes_of(cls(**trial_of(cls).settings()))
    more = [words for kind, words in KINDS.items() if getattr(takes, kind)]
    return f":Accepts: {'; '.join(['arrays and data frames of any library', *more])}\n\n"


def own_members(cls: type) -> list[str]:
    """Public methods and properties that are defined in `learnt`, in the order of reading."""
    found: list[str] = []
    for base in cls.__mro__:
        if base.__module__.split(".")[0] != "learnt":
            continue
        for name, member in vars(base).items():
            function = getattr(member, "__func__", getattr(member, "fget", None) or getattr(member, "fn", member))
            is_ours = inspect.isfunction(function) and (function.__module__ or "").startswith("learnt")
            if is_ours and not name.startswith("_") and name not in found and inspect.getdoc(function):
                found.append(name)
    return sorted(found, key=lambda name: (ORDER.index(name) if name in ORDER else len(ORDER), name))


ORDER = ["fit", "partial_fit", "fit_predict", "fit_transform", "predict", "predict_proba", "predict_log_proba",
         "decision_function", "transform", "inverse_transform", "score", "summary", "predict_interval"]  # fmt: skip


def inherited(cls: type, own: list[str]) -> list[str]:
    """Public methods that come from scikit-learn."""
    names = {name for base in cls.__mro__ if base.__module__.startswith("sklearn.") for name in vars(base)}
    return sorted(name for name in names - {*own} if not name.startswith("_") and callable(getattr(cls, name, None)))


def page_of(entry: Entry) -> str:
    """The page of a name."""
    own = entry.name.removeprefix(f"{entry.room}.")
    again = "   :no-index:\n" if inspect.isclass(entry.thing) and first_page(entry.thing) != entry.name else ""
    head = f":orphan:\n\n{title(own)}.. currentmodule:: {entry.room}\n\n"
    gallery = f".. minigallery:: {entry.name}\n   :add-heading: Where it is used\n   :heading-level: -\n\n"
    if not inspect.isclass(entry.thing):
        return f"{head}.. autofunction:: {entry.name}\n\n{gallery}"
    members = own_members(entry.thing)
    listed = f"   :members: {', '.join(members)}\n   :member-order: bysource\n" if members else ""
    theirs = inherited(entry.thing, members)
    rest = f"From scikit-learn's base classes: {', '.join(f'``{name}``' for name in theirs)}.\n\n" if theirs else ""
    return f"{head}{accepts(entry.thing)}.. autoclass:: {entry.name}\n{again}{listed}\n{rest}{gallery}"


def table_of(rows: list[tuple[str, str]]) -> str:
    """Names and what they are."""
    if not rows:
        return ""
    lines = "".join(f"   * - {name}\n     - {words}\n" for name, words in rows)
    return f".. list-table::\n   :widths: 35 65\n   :class: names\n\n{lines}\n"


def page_of_room(room: str) -> str:
    """The page of a room: our classes and functions, values, modules, and what is scikit-learn's."""
    module = importlib.import_module(room)
    found = members_of(room) if room != "learnt" else [entry for entry in entries() if entry.room == "learnt"]
    text = f"{title(room)}.. py:module:: {room}\n\n{first_sentence(module)}\n\n"
    inner = [entry for entry in found if entry.name in rooms()]
    with_page = [entry for entry in found if has_page(entry)]
    for heading, wanted in (("Classes", True), ("Functions", False)):
        rows = [
            (f":doc:`{entry.name.rpartition('.')[2]} <{entry.name}>`", first_sentence(entry.thing))
            for entry in with_page
            if inspect.isclass(entry.thing) is wanted
        ]
        text += f"{heading}\n{'-' * len(heading)}\n\n{table_of(rows)}" if rows else ""
    if inner:
        text += "Modules\n-------\n\n"
        text += table_of([(f":doc:`{e.name}`", first_sentence(e.thing)) for e in inner])
    borrowed = [e.name.rpartition(".")[2] for e in found if not e.ours and callable(e.thing)]
    if borrowed:
        text += (
            "From scikit-learn\n-----------------\n\nscikit-learn's own, under the same names, so that changing the "
        )
        text += f"import is the whole migration: {', '.join(f'``{name}``' for name in borrowed)}.\n\n"
    return text


def index_page() -> str:
    """The first page: every room, in groups."""
    text = title("Reference")
    text += "Names, parameters and attributes are scikit-learn's wherever it has the thing. Every page says what a\n"
    text += "model accepts, and where the course and the gallery use it.\n\n"
    outer = [room for room in rooms() if room.count(".") == 1]  # the others stand on the page of their room
    grouped = {f"learnt.{room}" for group in GROUPS.values() for room in group}
    groups = {
        "The package": ["learnt"],
        **{heading: [f"learnt.{room}" for room in group] for heading, group in GROUPS.items()},
        "Tools, as in scikit-learn": [room for room in outer if room not in grouped],
    }
    for heading, group in groups.items():
        rows = [(f":doc:`{room}`", first_sentence(importlib.import_module(room))) for room in group]
        text += f"{heading}\n{'-' * len(heading)}\n\n{table_of(rows)}"
    return text + ".. toctree::\n   :hidden:\n\n" + "".join(f"   {room}\n" for room in ["learnt", *rooms()])


def pages() -> dict[str, str]:
    """Every page of the reference by its name: without the folder, without a suffix."""
    found = {"index": index_page(), "learnt": page_of_room("learnt")}
    found |= {room: page_of_room(room) for room in rooms()}
    for entry in entries():
        if has_page(entry):
            if entry.name in found:
                raise ValueError(f"There are two pages {entry.name}.")
            found[entry.name] = page_of(entry)
    return found


def write(app: Any) -> None:
    """Write what has changed, and remove pages of names that are gone."""
    folder = Path(app.srcdir) / "api"
    folder.mkdir(exist_ok=True)
    wanted = pages()
    for path in folder.glob("*.rst"):
        if path.stem not in wanted and path.name[: -len(".rst")] not in wanted:
            path.unlink()
    for name, text in wanted.items():
        path = folder / f"{name}.rst"
        if not path.exists() or path.read_text() != text:
            path.write_text(text)


# --- Links --------------------------------------------------------------------------------------------------------


def lines_of(module: str, name: str) -> str | None:
    """src/learnt/…/file.py#L10-L20 of a public name or a method."""
    try:
        thing = importlib.import_module(module)
        for part in name.split("."):
            thing = inspect.getattr_static(thing, part) if inspect.isclass(thing) else getattr(thing, part)
        thing = getattr(thing, "__func__", getattr(thing, "fget", None) or getattr(thing, "fn", thing))
        thing = inspect.unwrap(thing)
        path = Path(inspect.getsourcefile(thing) or "").resolve().relative_to(ROOT)
        lines, first = inspect.getsourcelines(thing)
    except (AttributeError, TypeError, ValueError, OSError):
        return None
    return f"{path.as_posix()}#L{first}-L{first + len(lines) - 1}"


@cache
def unique() -> dict[str, str]:
    """Public names that stand in one room only, and their pages."""
    found: dict[str, list[str]] = {}
    for entry in entries():
        if has_page(entry) and entry.room != "learnt":
            found.setdefault(entry.name.rpartition(".")[2], []).append(entry.name)
    return {name: pages[0] for name, pages in found.items() if len(pages) == 1}


def resolve(app: Any, env: Any, node: Any, contnode: Any) -> Any:
    """A name in backticks that no module around it has: the public name of any room, if there is one only."""
    if node.get("refdomain") != "py":
        return None
    target = node["reftarget"].rstrip("()")
    for name in (target, f"learnt.{target}", unique().get(target, "")):
        if name in rooms() or (name and name in env.get_domain("py").objects):
            document = f"api/{name}" if f"api/{name}" in env.found_docs else None
            if document:
                from sphinx.util.nodes import make_refnode

                return make_refnode(app.builder, node["refdoc"], document, None, contnode, name)
    return None


def neighbours(app: Any, page: str, template: str, context: dict[str, Any], doctree: Any) -> None:
    """What stands beside a page of the reference: its room's names. A toctree of all names would be on every page."""
    name = page.removeprefix("api/")
    if name == page or name == "index" or template != "page.html":
        return
    is_room = name in rooms() or name == "learnt"
    room = name if is_room else name.rpartition(".")[0]
    names = [entry.name for entry in by_room().get(room, []) if has_page(entry)]
    listed = [(other.rpartition(".")[2], f"api/{other}", other == name) for other in names]
    context["room"] = {"name": room, "page": f"api/{room}", "names": listed}
    if not is_room:
        link = app.builder.get_relative_uri
        context["parents"] = [
            {"link": link(page, "api/index"), "title": "Reference"},
            {"link": link(page, f"api/{room}"), "title": room},
        ]


@cache
def by_room() -> dict[str, list[Entry]]:
    found: dict[str, list[Entry]] = {}
    for entry in entries():
        found.setdefault(entry.room, []).append(entry)
    return found


def of_property(original: Any) -> Any:
    """numpydoc describes an attribute that is a property by the property's docstring, which is not readable yet."""

    def process(self: Any, name: str, lines: list[str], summary: bool) -> tuple[str, list[str]]:
        shown, found = original(self, name, lines, summary)
        return shown, found if found is lines else readable(found)

    return process


def setup(app: Any) -> dict[str, bool]:
    app.setup_extension("sphinx.ext.autodoc")
    SphinxDocString._process_param = of_property(SphinxDocString._process_param)
    app.connect("builder-inited", write, priority=100)
    app.connect("autodoc-process-docstring", make_readable, priority=100)  # numpydoc's is 500
    app.connect("missing-reference", resolve)
    app.connect("html-page-context", neighbours)
    return {"parallel_read_safe": True, "parallel_write_safe": True}
