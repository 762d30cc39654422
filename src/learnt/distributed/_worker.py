"""What a worker does:  python -m learnt.distributed._worker FOLDER RANK WORKERS ADDRESS

It reads estimator and rows from the folder, joins the others, fits, and leaves `result<rank>.json`; the first one
leaves the model too. Where it leaves nothing it was lost.
"""

from __future__ import annotations

import json
import sys
import warnings
from datetime import timedelta
from pathlib import Path
from typing import Any

import learnt
from learnt.distributed._job import ESTIMATOR, JOB, MODEL, read_table, result_path

_SILENCE = timedelta(minutes=30)  # after which the others are taken for lost


def main(folder: Path, rank: int, size: int, address: str) -> int:
    """Fit as one of several; the exit status."""
    job = json.loads((folder / JOB).read_text())
    result: dict[str, Any] = {"error": None, "warnings": []}
    status = 0
    try:
        with warnings.catch_warnings(record=True) as caught:
            warnings.simplefilter("always")
            model = _fit(folder, rank, size, address, job)
        result["warnings"] = [[type(w.message).__name__, str(w.message)] for w in caught]
        if rank == 0:
            learnt.save(model, folder / MODEL)
    except Exception as error:
        alone = type(error).__module__.startswith("torch") or (
            type(error) is RuntimeError and any(word in str(error) for word in ("gloo", "NCCL", "Connection", "peer"))
        )
        result["error"] = [type(error).__name__, str(error), alone]
        status = 1
    path = result_path(folder, rank)
    path.with_suffix(".part").write_text(json.dumps(result))
    path.with_suffix(".part").replace(path)
    return status


def _fit(folder: Path, rank: int, size: int, address: str, job: dict[str, Any]) -> Any:
    import torch
    from torch import distributed

    from learnt.neural_network.training._group import Group, join

    model = learnt.load(folder / ESTIMATOR)
    gpus = torch.cuda.device_count() if str(getattr(model, "device", "cpu")) in ("cuda", "auto") else 0
    if gpus:
        model.set_params(device=f"cuda:{rank % gpus}")
    backend = "nccl" if gpus >= size else "gloo"
    distributed.init_process_group(backend, init_method=address, rank=rank, world_size=size, timeout=_SILENCE)
    X, y = read_table(folder, "X"), read_table(folder, "y")
    options = {"sample_weight": read_table(folder, "w")} if job["weighted"] else {}
    join(Group(rank, size))
    try:
        return model.fit(X, y, **options)
    finally:
        join(None)
        distributed.destroy_process_group()


if __name__ == "__main__":
    sys.exit(main(Path(sys.argv[1]), int(sys.argv[2]), int(sys.argv[3]), sys.argv[4]))
