"""The call: workers are started, watched and, where one is lost, started again from the last checkpoint."""

from __future__ import annotations

import json
import os
import signal
import subprocess
import sys
import tempfile
import time
import warnings
from collections.abc import Callable
from pathlib import Path
from typing import Any, NamedTuple

from sklearn.exceptions import ConvergenceWarning

import learnt
from learnt.distributed._job import CHECKPOINT, ESTIMATOR, JOB, MODEL, epochs_of, read_result, result_path, write_table
from learnt.engine.documentation import documented
from learnt.engine.mixins import clone
from learnt.engine.random import first_seed
from learnt.engine.threads import get_threads
from learnt.neural_network._torch import torch_for
from learnt.neural_network.training import NetworkHealthWarning

_LOOK = 0.05  # seconds between two polls of the workers
_GRACE = 3.0  # seconds that the others have to end once one has
_WARNINGS = {"ConvergenceWarning": ConvergenceWarning, "NetworkHealthWarning": NetworkHealthWarning}
_ERRORS = {kind.__name__: kind for kind in (ValueError, TypeError, MemoryError, FileNotFoundError)}


class WorkerLostWarning(UserWarning):
    """A worker ended in the middle of training, and training goes on without what it did since the last checkpoint."""


class Ended(NamedTuple):
    """How one worker ended: its exit status, and its report (None where it was lost)."""

    status: int
    result: dict[str, Any] | None


Run = Callable[[Path, int], list[Ended]]  # a folder and the number of workers


@documented
def fit(
    estimator: Any,
    X: Any,
    y: Any,
    sample_weight: Any = None,
    *,
    workers: int = 2,
    client: Any = None,
    max_restarts: int = 3,
) -> Any:
    """Fit a network by several processes that take each step together.

    `batch_size` is a worker's: k workers give the weights of one with k times the batch, to rounding. Units that are
    dropped are drawn by each worker, and a batch norm takes the moments of a worker's own rows.

    Parameters
    ----------
    estimator : ConvNetClassifier, ConvNetRegressor, MLPClassifier or MLPRegressor
        The network to train, with any solver but lbfgs. It is fitted in place, and returned.
    X : array-like of shape (n_samples, n_features) or images
        The rows or images to learn from, as its `fit` takes them.
    y : array-like of shape (n_samples,) or (n_samples, n_outputs)
        The targets: class labels or numbers.
    sample_weight : array-like of shape (n_samples,), default=None
        What each row counts. None counts every row once.
    workers : int, default=2
        Processes; on GPUs each takes one, in turn.
    client : dask.distributed.Client or None, default=None
        Start them on the workers of this cluster instead of on this machine.
    max_restarts : int, default=3
        How often training goes on from its last checkpoint after a worker was lost. Checkpoints are in the estimator's
        own `checkpoint` file where it has one (training can then be taken up by another call too).

    Returns
    -------
    estimator : object
        The same estimator, fitted.

    Warns
    -----
    WorkerLostWarning
        If a worker ended in the middle of training, which then goes on from the last checkpoint.

    See Also
    --------
    learnt.neural_network.ConvNetClassifier : Classes of images.
    learnt.neural_network.MLPClassifier : Classes by a multilayer perceptron.

    Notes
    -----
    The table is written to disk for the workers, and they exchange gradients after each batch: it pays where a batch
    takes long beside that, as with large networks or slow processors.

    Examples
    --------
    >>> import learnt
    >>> from learnt.neural_network import ConvNetClassifier
    >>> learnt.distributed.fit(ConvNetClassifier(), images, y, workers=2)  # doctest: +SKIP
    """
    name = type(estimator).__name__
    torch_for(f"learnt.distributed.fit of {name}")
    _check(estimator, name, workers, max_restarts)
    job = clone(estimator)
    if not isinstance(job.random_state, int):
        job.set_params(random_state=first_seed(job.random_state))
    with tempfile.TemporaryDirectory(prefix="learnt-", ignore_cleanup_errors=True) as made:
        folder = Path(made)
        if job.checkpoint is None or client is not None:
            job.set_params(checkpoint=CHECKPOINT if client is not None else str(folder / CHECKPOINT))
        learnt.save(job, folder / ESTIMATOR)
        for part, table in (("X", X), ("y", y), ("w", sample_weight)):
            if table is not None:
                write_table(folder, part, table)
        (folder / JOB).write_text(json.dumps({"weighted": sample_weight is not None}))
        if client is None:
            run: Run = run_here
            checkpoint = Path(job.checkpoint)
        else:
            from learnt.distributed._on_dask import run_on

            run, checkpoint = run_on(client), folder / CHECKPOINT
        said = _until_done(run, folder, workers, checkpoint, max_restarts, name)
        fitted = vars(learnt.load(folder / MODEL))
    for kind, message in said:
        warnings.warn(message, _WARNINGS.get(kind, UserWarning), stacklevel=2)
    own = estimator.get_params(deep=False)
    vars(estimator).update({key: value for key, value in fitted.items() if key not in own})
    return estimator


def _check(estimator: Any, name: str, workers: Any, max_restarts: Any) -> None:
    parameters: dict[str, Any] = getattr(estimator, "get_params", dict)()
    if not {"solver", "checkpoint", "batch_size", "device"} <= parameters.keys():
        raise TypeError(
            f"learnt.distributed.fit trains networks (ConvNetClassifier, MLPClassifier, …); it got a {name}, whose own "
            "fit takes Dask collections where it can be spread."
        )
    if parameters["solver"] == "lbfgs":
        raise ValueError(f"{name}(solver='lbfgs') looks at all rows at once and has no batches to share; use 'adam'.")
    for what, value, low in (("workers", workers, 1), ("max_restarts", max_restarts, 0)):
        if isinstance(value, bool) or not isinstance(value, int) or value < low:
            raise ValueError(
                f"{what} of learnt.distributed.fit must be a whole number of at least {low}; got {value!r}."
            )


def _until_done(
    run: Run, folder: Path, workers: int, checkpoint: Path, max_restarts: int, name: str
) -> list[tuple[str, str]]:
    """Run the workers, again where one was lost; returns the warnings of the first one."""
    for attempt in range(max_restarts + 1):
        for rank in range(workers):
            result_path(folder, rank).unlink(missing_ok=True)
        ended = run(folder, workers)
        if all(one.status == 0 for one in ended):
            return [tuple(pair) for pair in (ended[0].result or {}).get("warnings", [])]
        told = [one.result["error"] for one in ended if one.result is not None and one.result["error"] is not None]
        own = [error for error in told if not error[2]]
        if own:
            kind, message, _ = own[0]
            raise _ERRORS.get(kind, RuntimeError)(message)
        lost = next((i for i, one in enumerate(ended) if one.status != 0 and one.result is None), None)
        who = "the connection between workers"
        if lost is not None:
            who = f"worker {lost + 1} of {workers} ({_manner(ended[lost].status)})"
        epochs = epochs_of(checkpoint)
        if attempt == max_restarts:
            why = told[0][1].splitlines()[0][:160] if told and lost is None else ""
            raise RuntimeError(
                f"{name} lost {who} once more after {max_restarts} restarts, {epochs} epochs into training"
                f"{': ' + why if why else ''}; look at memory and at what ends processes there."
            )
        goes = (
            f"goes on from epoch {epochs}, the last checkpoint"
            if epochs
            else "begins anew, before its first checkpoint"
        )
        warnings.warn(f"{name} lost {who}; training {goes}.", WorkerLostWarning, stacklevel=3)
    raise AssertionError("unreachable")


def _manner(status: int) -> str:
    """An exit status in words.

    >>> _manner(-9), _manner(3)
    ('killed by SIGKILL', 'exit status 3')
    """
    if status < 0:
        try:
            return f"killed by {signal.Signals(-status).name}"
        except ValueError:
            return f"killed by signal {-status}"
    return f"exit status {status}"


def start(folder: Path, rank: int, workers: int, address: str, threads: int) -> subprocess.Popen[bytes]:
    """One worker as a process of its own."""
    environment = dict(os.environ, LEARNT_NUM_THREADS=str(threads), OMP_NUM_THREADS=str(threads))
    environment["PYTHONPATH"] = os.pathsep.join(path for path in sys.path if path)
    if rank:
        environment["LEARNT_PROGRESS"] = "off"  # the first one speaks for all
    command = [sys.executable, "-m", "learnt.distributed._worker", str(folder), str(rank), str(workers), address]
    return subprocess.Popen(command, env=environment, cwd=folder, stdin=subprocess.DEVNULL, start_new_session=True)


def run_here(folder: Path, workers: int) -> list[Ended]:
    """All workers as processes of this machine; none is left when this returns or is interrupted."""
    meeting = folder / f"meeting-{time.monotonic_ns()}"
    threads = max(1, get_threads() // workers)
    processes: list[subprocess.Popen[bytes]] = []
    try:
        for rank in range(workers):
            process = start(folder, rank, workers, meeting.as_uri(), threads)
            processes.append(process)
        while any(process.poll() is None for process in processes):
            if any(process.poll() not in (None, 0) for process in processes):
                _wait(processes, _GRACE)
                break
            time.sleep(_LOOK)
    finally:
        alive = [process for process in processes if process.poll() is None]
        for process in alive:
            process.kill()
        for process in alive:
            process.wait()
    stopped = {id(process) for process in alive}
    # A worker that we ended ourselves is not lost: only a status that it ended with by itself counts.
    return [
        Ended(1, {"error": ["RuntimeError", "stopped", True]})
        if id(process) in stopped
        else Ended(process.returncode, read_result(folder, rank))
        for rank, process in enumerate(processes)
    ]


def _wait(processes: list[subprocess.Popen[bytes]], seconds: float) -> None:
    end = time.monotonic() + seconds
    while time.monotonic() < end and any(process.poll() is None for process in processes):
        time.sleep(_LOOK)
