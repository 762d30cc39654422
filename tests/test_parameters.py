"""No function takes more positional parameters than a reader can keep apart; those that must are listed."""

import ast
from pathlib import Path

import learnt

MOST = 12
SOURCE = Path(learnt.__file__).parent
# A list that only gets shorter.
EXCEPTIONS = {
    "cluster/hdbscan/_estimator.py::__init__": 15,  # scikit-learn's signature
    "linear_model/sgd/_one_class.py::__init__": 13,  # scikit-learn's signature
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
    """Group what is used together into a NamedTuple: kernels take those as they are (`engine.kernel.compiler`)."""
    assert dict(found()) == EXCEPTIONS
