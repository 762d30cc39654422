"""Load and use crafted model files by the thousand, in a child process with little memory and little time.

    python tests/persistence/crafted.py --files 10000 --seed 0          # prints what went wrong, as JSON
    python tests/persistence/crafted.py --seed 0 --only 1234            # one file again, with its traceback

Only two things may happen: `LearntFileError`, foreseen and in one sentence, or a model whose every public method
answers or declines in a sentence of ours or scikit-learn's. A crash, a foreign exception, more than a GiB of memory or
more than a second is reported. `seeds` takes every class of the registry, so that a new one is tried too.
"""

from __future__ import annotations

import argparse
import contextlib
import gc
import inspect
import io
import json
import linecache
import multiprocessing
import resource
import runpy
import signal
import sys
import tempfile
import time
import traceback
import types
import warnings
from functools import cache, cached_property
from pathlib import Path
from random import Random
from typing import Any

import crafting
import numpy as np

from learnt.persistence import LearntFileError, _registry
from learnt.persistence import inspect as inspect_file
from learnt.persistence._files import load_bytes, to_bytes

MEMORY = 1 << 30
CPU_SECONDS, CPU_MOST, WALL_MOST = 1.0, 20, 120
# estimators_samples_ answers with as many numbers as the model says it had rows, which may be billions.
_NOT_USED = (
    "set_", "fit", "partial_fit", "get_metadata_routing", "score", "sparsify", "densify", "estimators_samples_",
)  # fmt: skip
# What scikit-learn does not foresee in states that its own `fit` can leave: a ColumnTransformer fitted on sparse rows
# and given dense ones, and the names of a union one of whose functions was never fitted.
_OF_SKLEARN = (("compose/_column_transformer.py", "_hstack"), ("pipeline.py", "_add_prefix_for_feature_names_out"))


class Seed:
    """A saved model, taken apart, and the data it answers for."""

    def __init__(self, name: str, model: Any, data: Any) -> None:
        self.name, self.data, self.tree = name, data, crafting.opened(to_bytes(model))


def seeds() -> list[Seed]:
    """A model of every class of the registry: those of the golden files and records in parameters."""
    golden = runpy.run_path(str(Path(__file__).with_name("make_golden.py")))
    found = [Seed(name, model, data) for name, (model, data) in golden["models"]().items()]
    from learnt.erm import ERMRegressor
    from learnt.kernel_ridge import KernelRidge

    found += [Seed(name, ERMRegressor(_made(name)), None) for name in sorted(_registry.RECORDS) if _made(name)]
    found += _networks()
    kernels = [_registry.resolve(name) for name in sorted(_registry.RECORDS) if _is_kernel(name)]
    found += [Seed(cls.__name__, KernelRidge(kernel=_made_kernel(cls)), None) for cls in kernels]
    return found


def _networks() -> list[Seed]:
    """A layer, or what is done to images, in the parameters of a network."""
    from learnt.neural_network import ConvNetRegressor

    found = []
    for name in sorted(filter(_is_of_networks, _registry.RECORDS)):
        needed = {"channels": 2, "units": 3}
        one = _registry.resolve(name)(**{key: needed[key] for key in _registry.RECORDS[name] if key in needed})
        parameters = {"layers": [one]} if ".layers." in name else {"augment": one}
        found.append(Seed(name, ConvNetRegressor(**parameters), None))
    return found


def _is_of_networks(name: str) -> bool:
    return name.startswith("learnt.neural_network")


def _is_kernel(name: str) -> bool:
    return name.startswith(("learnt.kernels", "learnt.gaussian_process"))


def _made(name: str) -> Any:
    """A record of plain values; those of trees and imputers come with their models."""
    if (
        name.startswith(("learnt.forestry", "learnt.cluster", "learnt.impute"))
        or _is_kernel(name)
        or _is_of_networks(name)
    ):
        return None
    needed = {"low": 0.0, "high": 1.0}
    return _registry.resolve(name)(**{key: needed[key] for key in _registry.RECORDS[name] if key in needed})


def _made_kernel(cls: Any) -> Any:
    from learnt.kernels import RBF, Linear, parameters_of

    parts = {"k1": RBF(2.0), "k2": Linear(), "kernel": RBF([1.0, 2.0]), "exponent": 2, "coefficients": (1.0, 0.5)}
    needed = {**parts, "A": np.eye(3)}
    return cls(**{key: needed[key] for key in parameters_of(cls) if key in needed})


def classes_in(node: Any) -> set[str]:
    """The names of all classes in a tree."""
    if isinstance(node, list):
        return set().union(*map(classes_in, node))
    if not isinstance(node, dict):
        return set()
    own = {node["class"]} if type(node.get("class")) is str else set()
    return own.union(*map(classes_in, node.values()))


def _has_trees(one: Seed) -> bool:
    return any(name.startswith("learnt.forestry") for name in classes_in(one.tree))


def pieces(trees: list[Any]) -> list[Any]:
    """Values of fields of all models, to be put where they do not belong."""
    found = []

    def walk(node: Any) -> None:
        if isinstance(node, dict):
            for key, value in node.items():
                if key in ("state", "params", "fields") and isinstance(value, dict):
                    found.extend(value.values())
                walk(value)
        elif isinstance(node, list):
            for item in node[:3]:
                walk(item)

    for tree in trees:
        found.append(tree)
        walk(tree)
    return found


# --- using a model


@cache
def methods(cls: type) -> tuple[list[tuple[str, bool, tuple[str, ...]]], list[str]]:
    """Public methods that need nothing but rows (name, whether they take X, flags to raise), and properties."""
    calls, values = [], []
    for name in dir(cls):
        if name.startswith("_") or name.startswith(_NOT_USED):
            continue
        attribute = inspect.getattr_static(cls, name)
        if isinstance(attribute, property | cached_property):
            values.append(name)
            continue
        if not callable(getattr(cls, name, None)) and not hasattr(attribute, "__get__"):
            continue
        try:
            parameters = list(inspect.signature(getattr(cls, name)).parameters.values())[1:]
        except (TypeError, ValueError, AttributeError):
            continue
        required = {p.name for p in parameters if p.default is p.empty and p.kind is p.POSITIONAL_OR_KEYWORD}
        flags = tuple(p.name for p in parameters if p.name in ("return_std", "return_cov"))
        if required <= {"X"}:
            calls.append((name, any(p.name == "X" for p in parameters), flags))
    return calls, values


def use(model: Any, data: Any, shown: bool = True) -> None:
    """Ask a model for everything it can say, and where it is to be `shown` for its parameters in words.

    Raises what is not an answer.
    """
    calls, values = methods(type(model))
    if shown:
        repr(model)
    for name in values:
        _ask(lambda name=name: getattr(model, name, None))
    if data is None:
        return
    transformed = None
    for name, takes_rows, flags in calls:
        if name == "inverse_transform" or not _ask(lambda name=name: hasattr(model, name)):
            continue
        rows = (data,) if takes_rows else ()
        result = _ask(lambda name=name, rows=rows: _all(getattr(model, name)(*rows)))
        if name == "transform":
            transformed = result
        for flag in flags:
            _ask(lambda name=name, rows=rows, flag=flag: getattr(model, name)(*rows, **{flag: True}))
    if transformed is not None and hasattr(model, "inverse_transform"):
        _ask(lambda: model.inverse_transform(transformed))


def _all(result: Any) -> Any:
    return list(result) if isinstance(result, types.GeneratorType) else result


def _ask(question: Any) -> Any:
    try:
        return question()
    except (ValueError, AttributeError, TypeError) as error:
        if not _deliberate(error):
            raise
    return None


def _deliberate(error: BaseException) -> bool:
    """Whether the last line of code was a `raise` of ours or of scikit-learn's."""
    frames = traceback.extract_tb(error.__traceback__)
    if any(one.filename.endswith(file) and one.name == name for one in frames for file, name in _OF_SKLEARN):
        return True
    frame = frames[-1]
    ours = "/learnt/" in frame.filename or "/sklearn/" in frame.filename
    return ours and linecache.getline(frame.filename, frame.lineno or 0).strip().startswith("raise")


# --- one file


def attempt(data: bytes, sample: Any, path: Path | None, printed: bool = True, shown: bool = True) -> str:
    """What a file came to: "refused" or "used"; anything else is raised.

    With a `path` it is inspected too, where it is to be `printed` by the command as well.
    """
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        try:
            model = load_bytes(data)
        except LearntFileError as error:
            if error.__cause__ is not None:
                raise error.__cause__ from None
            if "\n" in str(error) or str(error).endswith("not enough memory."):
                raise
            model = None
    if path is not None:
        path.write_bytes(data)
        _inspected(path, printed)
    if model is None:
        return "refused"
    with warnings.catch_warnings(), np.errstate(all="ignore"):
        warnings.simplefilter("ignore")
        use(model, sample, shown)
    return "used"


def _inspected(path: Path, printed: bool) -> None:
    from learnt.cli._inspect import run_inspect

    with contextlib.suppress(LearntFileError):
        str(inspect_file(path))
        if not printed:
            return
        with contextlib.redirect_stdout(io.StringIO()):
            run_inspect(str(path), as_json=False)
            run_inspect(str(path), as_json=True)


def _variant(data: Any, dice: Random) -> Any:
    """The rows of a model: as they are, enough of them for the walk of many rows, or with cells missing."""
    kind = dice.randrange(4)
    if isinstance(data, np.ndarray) and data.dtype.kind == "f":
        if kind == 0:
            return np.tile(data, (3, 1)) if data.shape[0] != data.shape[1] else data
        if kind == 1:
            data = data.copy()
            data[::3, 0] = np.nan
    elif hasattr(data, "mask") and kind == 1:
        return data.mask(np.arange(data.size).reshape(data.shape) % 5 == 0)
    return data


class Work:
    """Everything that the children share: seeds, pieces, and the files by number."""

    def __init__(self, seed: int, models: list[Seed]) -> None:
        self.seed, self.seeds = seed, models
        # What compiled loops walk by comes three times as often.
        self.order = [*models, *[one for one in models if _has_trees(one)] * 2]
        self.pool = pieces([one.tree for one in models])

    def file(self, index: int) -> tuple[Seed, bytes, Any, list[Any]]:
        """The file of a number, the rows to use it with, and what was changed; the first ones are as they were."""
        dice = Random(f"{self.seed}:{index}")
        one = self.order[index % len(self.order)]
        tree, changes = one.tree, []
        if index >= len(self.order):
            tree, changes = crafting.changed(one.tree, dice, self.pool)
        return one, crafting.written(tree), _variant(one.data, dice), changes


def child(work: Work, first: int, last: int, step: int, shared: Any, failures: str) -> None:
    """Try files first, first + step, … below last; `shared` holds the one under way and the counts."""
    _warm_up(work)
    with open("/proc/self/status") as status:
        now = next(int(line.split()[1]) << 10 for line in status if line.startswith("VmData"))
    resource.setrlimit(resource.RLIMIT_DATA, (now + MEMORY, now + MEMORY))
    gc.freeze()
    with tempfile.TemporaryDirectory() as folder, open(failures, "a") as log:
        path = Path(folder) / "crafted.learnt"
        for index in range(first, last, step):
            shared[0] = index
            one, data, rows, changes = work.file(index)
            # Words take longer to make than all the rest, and depend on names and parameters alone.
            inspected = path if index % 8 == 0 else None
            shown = index % 8 == 0 or any("params" in where for where, _, _ in changes)
            signal.setitimer(signal.ITIMER_PROF, CPU_MOST)
            try:
                start = time.perf_counter()
                shared[1 if attempt(data, rows, inspected, index % 64 == 0, shown) == "refused" else 2] += 1
                words = None
                if time.perf_counter() - start > CPU_SECONDS:  # or the machine is busy, or a kernel was compiled
                    words = _slow(data, rows)
            except BaseException as error:
                frame = traceback.extract_tb(error.__traceback__)[-1]
                words = f"{type(error).__name__}: {str(error)[:300]} at {frame.filename}:{frame.lineno}"
            signal.setitimer(signal.ITIMER_PROF, 0)
            if words is not None:
                story = crafting.told(changes)
                log.write(json.dumps({"index": index, "model": one.name, "change": story, "what": words}) + "\n")
                log.flush()
        shared[0] = -1
    _stop_workers()


def _stop_workers() -> None:
    """End the processes that a forged `n_jobs` made joblib start; the exit would wait until they were long idle."""
    loky = sys.modules.get("joblib.externals.loky")
    if loky is not None:
        loky.get_reusable_executor().shutdown(wait=False, kill_workers=True)


def _warm_up(work: Work) -> None:
    """Use all models as they are, so that libraries are loaded and kernels compiled before memory is counted."""
    for one in work.seeds:
        with contextlib.suppress(Exception):  # which the first files report
            attempt(crafting.written(one.tree), one.data, None)


def _slow(data: bytes, rows: Any) -> str | None:
    """Whether a file takes long the second time too, by the processor's clock; large files may take longer."""
    start = time.process_time()
    attempt(data, rows, None)
    taken = time.process_time() - start
    return f"slow: {taken:.1f} s" if taken > CPU_SECONDS * (1 + len(data) / 1e6) else None


def run(files: int, seed: int, jobs: int = 1, first: int = 0, most_failures: int = 10**9) -> dict[str, Any]:
    """Try many files; the report says how many were refused and used, and everything else that happened."""
    fork = multiprocessing.get_context("fork")
    work = Work(seed, _elsewhere(fork))
    covered = set().union(*(classes_in(one.tree) for one in work.seeds))
    with tempfile.NamedTemporaryFile("r", suffix=".jsonl") as log:
        lanes = []
        for lane in range(jobs):
            shared = fork.RawArray("q", 3)
            lanes.append({"next": first + lane, "shared": shared, "process": None})
        found: list[dict[str, Any]] = []
        while any(lane["next"] is not None for lane in lanes):
            for lane in lanes:
                _tend(lane, work, fork, first + files, jobs, log.name, found)
            time.sleep(0.02)
        found += [json.loads(line) for line in log]
    counts = [sum(lane["shared"][k] for lane in lanes) for k in (1, 2)]
    return {
        "files": files,
        "refused": counts[0],
        "used": counts[1],
        "uncovered": sorted(_registry.classes() - covered),
        "failures": sorted(found, key=lambda one: one["index"])[:most_failures],
    }


def _elsewhere(fork: Any) -> list[Seed]:
    """The seeds, made in a process of its own: what starts threads must not run before children are forked."""
    with fork.Pool(1) as pool:
        return pool.apply(seeds)


def _tend(lane: Any, work: Work, fork: Any, last: int, jobs: int, log: str, found: list[Any]) -> None:
    """Start a lane's process where there is none; see how it ended or that it is stuck."""
    process, shared = lane["process"], lane["shared"]
    if lane["next"] is None:
        return
    if process is None:
        shared[0] = lane["next"]
        lane["process"] = fork.Process(target=child, args=(work, lane["next"], last, jobs, shared, log))
        lane["seen"], lane["since"] = lane["next"], time.monotonic()
        lane["process"].start()
        return
    if shared[0] != lane["seen"]:
        lane["seen"], lane["since"] = shared[0], time.monotonic()
    stuck = time.monotonic() - lane["since"] > WALL_MOST
    if process.is_alive() and not stuck:
        return
    process.kill()
    process.join()
    lane["process"] = None
    if shared[0] == -1:
        lane["next"] = None
        return
    index = int(shared[0])
    one, _, _, changes = work.file(index)
    code = process.exitcode or 0
    name = "stuck" if stuck else signal.Signals(-code).name if code < 0 else f"exit {code}"
    found.append(
        {"index": index, "model": one.name, "change": crafting.told(changes), "what": f"process ended: {name}"}
    )
    lane["next"] = index + jobs if index + jobs < last else None


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--files", type=int, default=10_000)
    parser.add_argument("--first", type=int, default=0)
    parser.add_argument("--seed", type=int, default=0)
    parser.add_argument("--jobs", type=int, default=1)
    parser.add_argument("--only", type=int)
    asked = parser.parse_args()
    warnings.simplefilter("ignore")
    if asked.only is not None:
        one, data, rows, changes = Work(asked.seed, seeds()).file(asked.only)
        print(one.name, crafting.told(changes), sep="\n", file=sys.stderr)
        with tempfile.TemporaryDirectory() as folder:
            print(attempt(data, rows, Path(folder) / "crafted.learnt"))
        return
    print(json.dumps(run(asked.files, asked.seed, asked.jobs, asked.first), indent=1))


if __name__ == "__main__":
    main()
