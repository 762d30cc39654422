"""Rules of CONTRIBUTING.md that can be read off the source: where randomness comes from, names, tests that assert."""

import ast
import re
from collections import Counter
from functools import cache
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parent.parent
SOURCE = ROOT / "src" / "learnt"
EVERYWHERE = ("src", "tests", "benchmarks", "docs", "examples")
TEST_FILES = sorted((ROOT / "tests").rglob("test_*.py"))


@cache
def text(path):
    return path.read_text()


def files(*folders):
    return [path for folder in folders for path in sorted((ROOT / folder).rglob("*.py"))]


# --- randomness

MAKERS = {"default_rng", "RandomState", "Generator", "SeedSequence", "PCG64", "MT19937", "seed"}
# The room of randomness itself, and saved generators, which are made again as they were.
MAY_MAKE_GENERATORS = {SOURCE / "engine" / "random.py", SOURCE / "persistence" / "_random.py"}


def generators_made(code):
    """Lines on which a generator is made by NumPy's own names."""
    if "np.random." not in code and "numpy.random" not in code:
        return []
    calls = (
        node
        for node in ast.walk(ast.parse(code))
        if isinstance(node, ast.Call) and isinstance(node.func, ast.Attribute)
    )
    return [
        call.lineno
        for call in calls
        if call.func.attr in MAKERS and ast.unparse(call.func.value) in ("np.random", "numpy.random")
    ]


def test_randomness_comes_from_the_engine():
    made = {str(path): lines for path in files("src") if (lines := generators_made(text(path)))}
    assert made.keys() == {str(path) for path in MAY_MAKE_GENERATORS}, "take it from learnt.engine.random"


# --- names that nothing uses


def test_no_dead_names():
    """A function, class or constant of a module whose name occurs once in all files is never used."""
    times = Counter(word for path in files(*EVERYWHERE) for word in re.findall(r"\w+", text(path)))
    dead = [
        f"{path.relative_to(ROOT)}: {name}"
        for path in files("src")
        for name in re.findall(r"^(?:(?:def|class) )?([A-Za-z_][A-Za-z0-9_]*)(?=\(|: .* = | = )", text(path), re.M)
        if times[name] == 1
    ]
    assert not dead


# --- test files are named after what they test

VAGUE = {
    *("kindness", "looking", "looks", "words", "manners", "misc", "miscellaneous", "various", "stuff", "things"),
    *("more", "other", "others", "extra", "general", "helpers", "utils", "basic", "basics", "new", "old", "issue"),
}
# What is tested and is no name of the source: kinds of input, oracles, sets of files, scripts beside the package.
SUBJECTS = {
    *(
        "advice",
        "bad",
        "collinear",
        "consistency",
        "crafted",
        "declarations",
        "docs",
        "fuzz",
        "golden",
        "hard",
        "harness",
        "migration",
        "hostile",
    ),
    *("house", "kills", "law", "minimum", "nist", "nullable", "printed", "properties", "rules", "scikit", "shake"),
    *("site", "typing"),
}


@cache
def words_of_the_source():
    """Words of the names of modules, classes and functions."""
    names = [part for path in files("src") for part in path.relative_to(SOURCE).with_suffix("").parts]
    names += [name for path in files("src") for name in re.findall(r"\b(?:def|class) (\w+)", text(path))]
    return {word.lower() for name in names for word in re.findall(r"[A-Z]?[a-z0-9]+|[A-Z]+(?![a-z])", name)}


def unclear(stem):
    """Words of the name of a test file that say nothing of what it tests."""
    known = words_of_the_source() | SUBJECTS
    words = stem.removeprefix("test_").split("_")
    return [word for word in words if word in VAGUE or not {word, word.removesuffix("s")} & known]


def test_a_test_file_is_named_after_what_it_tests():
    told = {str(path.relative_to(ROOT)): words for path in TEST_FILES if (words := unclear(path.stem))}
    assert not told, "name the module, the class or the kind of input; a new subject goes to SUBJECTS"


@pytest.mark.parametrize("stem", ["test_kindness", "test_looking", "test_words", "test_manners", "test_tree_words"])
def test_a_vague_name_is_reported(stem):
    assert unclear(stem)
    assert not unclear("test_lasso_cv")


# --- tests assert


def statements(node):
    """What a function does itself, without the functions inside it."""
    for child in ast.iter_child_nodes(node):
        if not isinstance(child, ast.FunctionDef | ast.AsyncFunctionDef | ast.ClassDef | ast.Lambda):
            yield child
            yield from statements(child)


def asserts(node):
    name = ast.unparse(node.func) if isinstance(node, ast.Call) else ""
    return isinstance(node, ast.Assert) or "assert" in name or name in ("pytest.raises", "pytest.warns")


def silent_returns(code):
    """Tests that may end before anything was asserted, with the line on which they do."""
    found = []
    for test in ast.parse(code).body if re.search(r"^ +return\b", code, re.M) else ():
        if isinstance(test, ast.FunctionDef) and test.name.startswith("test_"):
            own = list(statements(test))
            returns = [node.lineno for node in own if isinstance(node, ast.Return)]
            asserted = [node.lineno for node in own if asserts(node)] if returns else []
            found += [(test.name, line) for line in returns if not any(earlier < line for earlier in asserted)]
    return found


def test_no_test_returns_before_it_asserts():
    silent = [(str(path.relative_to(ROOT)), *where) for path in TEST_FILES for where in silent_returns(text(path))]
    assert not silent, "assert there too, or leave the case out of the parameters"


def test_what_returns_silently_is_found():
    silent = "def test_a(x):\n    if x:\n        return\n    assert x == 0\n"
    assert silent_returns(silent) == [("test_a", 3)]
    assert silent_returns(silent.replace("return", "assert x.y\n        return")) == []


# --- scikit-learn's checks take a second a class: tests/test_estimators.py runs them for all, once


def test_scikit_learns_checks_run_once_a_class():
    """Elsewhere they run with other settings, among the long tests."""
    again = []
    for path in TEST_FILES:
        if path.parent.name != "tests" and "check_estimator(" in text(path):
            tests = [node for node in ast.parse(text(path)).body if isinstance(node, ast.FunctionDef)]
            again += [test for test in tests if "check_estimator(" in ast.unparse(test)]
    assert again
    for test in again:
        assert "pytest.mark.long" in map(ast.unparse, test.decorator_list), test.name


# --- what kind of data it is, is asked in the engine

QUESTIONS = {"issparse", "is_numpy", "is_foreign_array"}
# How often a room still asks: a code path that `engine.matrices` cannot take for it. The numbers only go down.
STILL_ASK = {
    "baseline": 1,
    "cli": 1,
    "cluster": 12,
    "decomposition": 27,
    "distances": 21,
    "ensemble": 10,
    "erm": 8,
    "forestry": 1,
    "gaussian_process": 6,
    "kernel_approximation": 4,
    "kernels": 20,
    "linalg": 1,
    "linear_model": 25,
    "metrics": 15,
    "mixture": 1,
    "model_selection": 3,
    "naive_bayes": 8,
    "neighbors": 6,
    "neural_network": 2,
    "persistence": 1,
    "preprocessing": 8,
    "statistics": 15,
    "svm": 10,
    "tree": 2,
}


def questions(code):
    """Calls that ask what kind of data something is."""
    if not any(word in code for word in QUESTIONS):
        return 0
    calls = (node.func for node in ast.walk(ast.parse(code)) if isinstance(node, ast.Call))
    return sum((getattr(f, "attr", None) or getattr(f, "id", "")) in QUESTIONS for f in calls)


def test_packages_do_not_test_the_kind_of_data():
    """`dense`, `stored`, `take_rows`, `product`, `double`, … of `engine.matrices`, and `rows.route`, answer for all."""
    asked = Counter()
    for path in files("src"):
        room = path.relative_to(SOURCE).parts[0]
        asked[room] += 0 if room == "engine" else questions(text(path))
    more = {room: n for room, n in asked.items() if n > STILL_ASK.get(room, 0)}
    assert not more, "ask engine.matrices instead; a new code path is chosen once, by `route(X)`"


def test_questions_are_counted():
    assert questions("sparse.issparse(X) or is_numpy(X)") == 2
    assert questions("import issparse") == 0


def test_the_map_of_the_engine_names_every_file():
    import learnt.engine.classification
    import learnt.engine.kernel
    import learnt.engine.rows

    for folder in (learnt.engine, learnt.engine.kernel, learnt.engine.rows, learnt.engine.classification):
        files = {path.stem for path in Path(folder.__file__).parent.glob("*.py")} - {"__init__"}
        assert files <= set(re.findall(r"\w+", folder.__doc__)), f"name the file in the map of {folder.__name__}"
