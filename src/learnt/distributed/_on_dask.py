"""Workers of a network on the workers of a Dask cluster: each is a process that a task there starts and watches."""

from __future__ import annotations

import socket
import tempfile
from pathlib import Path
from typing import Any
from urllib.parse import urlsplit

from learnt.distributed._fit import Ended, Run, start
from learnt.distributed._job import CHECKPOINT, MODEL, read_result


def run_on(client: Any) -> Run:
    """A function that runs the workers on this cluster; the model and the last checkpoint come back to the folder."""

    def run(folder: Path, workers: int) -> list[Ended]:
        places = _places(client, workers)
        files = {path.name: path.read_bytes() for path in folder.iterdir() if path.suffix != ".part" and path.is_file()}
        shared = client.scatter(files, broadcast=True, hash=False)
        port = client.submit(free_port, workers=[places[0]], pure=False).result()
        host = urlsplit(places[0]).hostname if places[0].startswith(("tcp://", "tls://")) else None
        address = f"tcp://{host or '127.0.0.1'}:{port}"
        tasks = [
            client.submit(run_one, shared, rank, workers, address, workers=[place], pure=False, retries=0)
            for rank, place in enumerate(places)
        ]
        ended = []
        for rank, task in enumerate(tasks):
            status, result, made = task.result()
            ended.append(Ended(status, result))
            for name, content in made.items():
                if rank == 0:
                    (folder / name).write_bytes(content)
        return ended

    return run


def _places(client: Any, workers: int) -> list[str]:
    """The address of a Dask worker for every one of ours: all have a thread to wait on it."""
    known = client.scheduler_info(n_workers=-1)["workers"]
    free = {address: int(info["nthreads"]) for address, info in known.items()}
    if sum(free.values()) < workers:
        raise ValueError(
            f"The Dask cluster has {sum(free.values())} threads and {workers} workers of a network need one each; "
            "add workers to it, or ask for fewer."
        )
    found: list[str] = []
    while len(found) < workers:
        for address in free:
            if free[address] > 0 and len(found) < workers:
                free[address] -= 1
                found.append(address)
    return found


def free_port() -> int:
    """An unused port."""
    with socket.socket() as probe:
        probe.bind(("", 0))
        return int(probe.getsockname()[1])


def run_one(files: dict[str, bytes], rank: int, workers: int, address: str) -> tuple[int, Any, dict[str, bytes]]:
    """One worker, where this task runs: its exit status, its report, and its files."""
    with tempfile.TemporaryDirectory(prefix="learnt-", ignore_cleanup_errors=True) as made:
        folder = Path(made)
        for name, content in files.items():
            (folder / name).write_bytes(content)
        process = start(folder, rank, workers, address, threads=1)
        try:
            status = process.wait()
        finally:
            if process.poll() is None:
                process.kill()
                process.wait()
        kept = [folder / name for name in (MODEL, CHECKPOINT)]
        return status, read_result(folder, rank), {path.name: path.read_bytes() for path in kept if path.exists()}
