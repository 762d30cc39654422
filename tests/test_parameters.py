"""No function takes more positional parameters than a reader can keep apart; those that still do are listed, and go."""

import ast
from pathlib import Path

import learnt

MOST = 12
SOURCE = Path(learnt.__file__).parent
# How many they take now: a list that only gets shorter.
EXCEPTIONS = {
    "cli/_app.py::study": 20,
    "cluster/hdbscan/_estimator.py::__init__": 15,  # scikit-learn's signature
    "forestry/boosting/_kernel.py::work": 14,
    "forestry/kept/_grove.py::__init__": 14,  # the fields of a saved forest
    "forestry/kept/_short_words.py::lay_bytes": 14,
}


def found():
    """Functions of more than `MOST` parameters that may be given by position."""
    for path in sorted(SOURCE.rglob("*.py")):
        for node in ast.walk(ast.parse(path.read_text(encoding="utf-8"))):
            if isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef):
                count = len(node.args.posonlyargs) + len(node.args.args)
                if count > MOST:
                    yield f"{path.relative_to(SOURCE).as_posix()}::{node.name}", count


def test_functions_take_few_positional_parameters():
    """Group what is used together into a NamedTuple: kernels take those as they are (`engine.kernel_compiler`)."""
    assert dict(found()) == EXCEPTIONS
