"""What all networks share around the training loop: what is reported, kept at checkpoints and recorded."""

from __future__ import annotations

import warnings
from numbers import Integral
from typing import Any

import numpy as np

from learnt.engine import progress
from learnt.engine.params import ParameterError
from learnt.engine.validation import check_same_columns
from learnt.engine.verbose import tell
from learnt.neural_network._torch import device_for, torch_for
from learnt.neural_network.training import Checkpoint, Data, History, Optimiser, Output
from learnt.neural_network.training._checkpoint import digest_of

_CHUNK = 8192  # rows that are judged at once
# Parameters that may change when training is continued
_FREE = ("max_iter", "verbose", "checkpoint", "warm_start", "device")


class TrainedNetwork(progress.CallbackSupportMixin):
    """A network that is trained by steps. Subclasses define the type of y and the loss."""

    n_iter_: int
    t_: int
    _resume: dict[str, Any]
    _auto_batch, _batch_of = 200, "rows"  # what batch_size="auto" is at most, and what a batch holds

    def _get(self, name: str) -> Any:
        return getattr(self, name)

    def __sklearn_is_fitted__(self) -> bool:
        raise NotImplementedError

    def _check_parameters(self) -> None:
        raise NotImplementedError

    def _score_of(self, z: np.ndarray, y: np.ndarray, w: Any) -> float:
        """The score of raw outputs on rows held out."""
        raise NotImplementedError

    def _score_and_loss(self, z: Any, held: Data, output: Output, y: np.ndarray, w: Any) -> tuple[float, float]:
        """Score and loss of raw outputs on validation rows; y and w are those of `held` on the host."""
        loss = float(output.value_and_delta(z, held.y, held.w)[0])
        z = z.cpu().numpy()
        return (self._score_of(z, y, w) if np.isfinite(z).all() else float("nan")), loss

    def _reporter(self, loop: Any, history: History) -> Any:
        def report(note: str) -> bool:
            if self._get("verbose"):
                tell("Iteration %d, loss = %.8f", history.n_iter, history.loss)
                if history.validation_scores:
                    tell("Validation score: %f", history.validation_scores[-1])
            return loop.step(note)

        return report

    def _checkpoint(self, X: Any, Y: Any, w: Any) -> Checkpoint | None:
        path = self._get("checkpoint")
        if path is None:
            return None
        if not isinstance(self._get("random_state"), Integral):
            raise ParameterError(
                f"checkpoint needs a whole number as random_state of {type(self).__name__}, so that training goes on "
                f"with the same draws; got {self._get('random_state')!r}."
            )
        settings = {k: v for k, v in self._get("get_params")(deep=False).items() if k not in _FREE}
        return Checkpoint(path, digest_of({"class": type(self).__name__, **settings}, X, Y, w))

    def _batch_size(self, n: int) -> int:
        size = self._get("batch_size")
        if isinstance(size, str):
            return min(self._auto_batch, n)
        if size > n:
            what = self._batch_of
            warnings.warn(
                f"Got `batch_size` larger than the sample size: {size} {what} in a batch of {type(self).__name__} and "
                f"{n} {what} in all; it is going to be clipped.",
                UserWarning,
                stacklevel=6,
            )
        return int(min(size, n))

    def _judge_of(self, held: Data, output: Output, y: np.ndarray, w: Any) -> Any:
        """A function for the score and the loss of a network on validation rows; y and w are theirs on the host."""

        def judge(network: Any) -> tuple[float, float]:
            torch = torch_for("a network")
            parts = [network.predict(held.X[a : a + _CHUNK]) for a in range(0, held.n, _CHUNK)]
            return self._score_and_loss(torch.cat(parts), held, output, y, w)

        return judge

    def _begin_anew(self) -> None:
        """Reset the state of earlier fits."""
        self.n_iter_, self.t_, self._resume = 0, 0, {}
        for name in ("loss_curve_", "best_loss_", "validation_scores_", "validation_loss_curve_"):
            self.__dict__.pop(name, None)
        self.__dict__.pop("best_validation_score_", None)

    def _history(self, early: bool) -> History:
        """The state of the last fit, in a warm start or a later `partial_fit`; new otherwise."""
        history = History(t=int(getattr(self, "t_", 0)), loss_curve=list(getattr(self, "loss_curve_", None) or []))
        history.no_improvement = int(getattr(self, "_resume", {}).get("no_improvement", 0))
        if early:
            history.validation_scores = list(getattr(self, "validation_scores_", None) or [])
            history.validation_losses = list(getattr(self, "validation_loss_curve_", None) or [])
            best = getattr(self, "best_validation_score_", None)
            history.best_score = -np.inf if best is None else best
        else:
            best = getattr(self, "best_loss_", None)
            history.best_loss = np.inf if best is None else best
        return history

    def _to_go_on(self, end: History, optimiser: Optimiser) -> dict[str, Any]:
        """Keep the state that the next `partial_fit` needs."""
        return {
            "rate": float(optimiser.rate),
            "steps": int(optimiser.t),
            "no_improvement": int(end.no_improvement),
            "state": {name: tensor.cpu().numpy().copy() for name, tensor in optimiser.state().items()},
        }

    def _check_classes_of_partial_fit(self, classes: Any) -> None:
        """The first `partial_fit` of a classifier names all classes, a later one no others; weights are not counted."""
        known = getattr(self, "classes_", None)
        if known is None and classes is None:
            raise ValueError("classes must be passed on the first call to partial_fit.")
        if known is not None and classes is not None and not np.array_equal(known, np.unique(np.asarray(classes))):
            raise ValueError(
                f"`classes={np.asarray(classes).tolist()!r}` is not the same as on last call to partial_fit, was: "
                f"{known.tolist()!r}."
            )
        if self._get("class_weight") == "balanced":
            raise ValueError(
                "class_weight 'balanced' is not supported for partial_fit, which does not see all rows; give a dict."
            )

    def _goes_on(self, X: Any) -> bool:
        """Whether `fit` goes on from the last one; the table must then have as many columns."""
        going_on = bool(self._get("warm_start")) and self.__sklearn_is_fitted__()
        if going_on:
            check_same_columns(self, X)
        return going_on

    def _ready(self, incremental: bool) -> Any:
        """The device to train on, once the parameters are validated and PyTorch is imported."""
        name = type(self).__name__
        self._check_parameters()
        torch_for(f"{name}.fit")
        if incremental and self._get("early_stopping"):
            raise ValueError(f"partial_fit does not support early_stopping=True: {name} sees one epoch at a time.")
        return device_for(self._get("device"), name)

    def _record_curves(self, end: History, early: bool) -> None:
        self.n_iter_, self.loss_, self.loss_curve_ = end.n_iter, end.loss, end.loss_curve
        self.best_loss_ = None if early else end.best_loss
        self.validation_scores_ = end.validation_scores if early else None
        self.validation_loss_curve_ = end.validation_losses if early else None
        self.best_validation_score_ = end.best_score if early else None
