"""One network trained by several processes: synchronous gradient descent on `torch.distributed`.

    learnt.distributed.fit(ConvNetClassifier(batch_size=64), X, y, workers=4)
    learnt.distributed.fit(MLPClassifier(), X, y, workers=8, client=dask_client)

Every worker takes its part of each batch, and gradients are summed over the workers before every step: k workers with
batches of b rows give the weights of one worker with batches of k·b rows, to rounding. On CPUs they talk by gloo, on
GPUs by nccl.

_fit        the call: workers are started, watched and, where one is lost, started again from the last checkpoint
_worker     what a worker does (`python -m learnt.distributed._worker`)
_on_dask    the same on the workers of a Dask cluster
"""

from learnt.distributed._fit import WorkerLostWarning, fit

__all__ = ["WorkerLostWarning", "fit"]
