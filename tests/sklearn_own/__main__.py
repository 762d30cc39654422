"""Run scikit-learn's own tests against our classes: `python tests/sklearn_own [--tally=FILE] [MODULE ...]`."""

import subprocess
import sys
from pathlib import Path

HERE = Path(__file__).resolve().parent
sys.path.insert(0, str(HERE))
import swap  # noqa: E402

given = [argument for argument in sys.argv[1:] if argument.startswith("-")]
modules = [argument for argument in sys.argv[1:] if not argument.startswith("-")] or swap.TESTS
code = "import sys, pytest; sys.path.insert(0, sys.argv[1]); sys.exit(pytest.main(sys.argv[2:]))"
options = [
    "-p",
    "swap",
    "-p",
    "tally",
    "-q",
    "--continue-on-collection-errors",
    "--tb=line",
    "-p",
    "no:cacheprovider",
    "--pyargs",
    *given,
    *modules,
]
sys.exit(subprocess.run([sys.executable, "-c", code, str(HERE), *options], cwd="/").returncode)
