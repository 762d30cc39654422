"""No function takes more positional parameters than a reader can keep apart; those that still do are listed, and go."""

import ast
from pathlib import Path

import learnt

MOST = 14
SOURCE = Path(learnt.__file__).parent
# How many they take now: a list that only gets shorter.
EXCEPTIONS = {
    "cli/_app.py::study": 20,
    "cluster/_kernels.py::decide": 18,
    "cluster/_kernels.py::settle": 19,
    "cluster/_kernels.py::assign_sparse": 16,
    "forestry/binned/_row_vectors.py::_counts": 15,
    "forestry/binned/_row_vectors.py::row_counts": 16,
    "forestry/bins/_kernels.py::encode_rows": 15,
    "forestry/boosting/_histogram.py::add_double": 15,
    "forestry/boosting/_histogram.py::add_single": 17,
    "forestry/boosting/_histogram.py::histogram": 24,
    "forestry/boosting/_kernel.py::search_step": 15,
    "forestry/boosting/_kernel.py::work": 15,
    "forestry/boosting/_search.py::search_numbers": 18,
    "forestry/boosting/_sets.py::search_categories": 20,
    "forestry/boosting/_share.py::search_thresholds": 18,
    "forestry/boosting/_share.py::search_sets": 21,
    "forestry/kept/_walk_many.py::sum_leaves": 15,
    "linalg/pursuit_kernels.py::pursue": 18,
    "linalg/pursuit_kernels.py::pursue_positive": 18,
    "linear_model/coordinate/_gram.py::descend_path": 17,
    "linear_model/coordinate/_kernels.py::descend": 18,
    "linear_model/logistic/_l1_joint.py::joint_sweeps": 16,
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
