"""What all networks share around the training loop: what is reported, kept at checkpoints and recorded."""

from __future__ import annotations

from numbers import Integral
from typing import Any

import numpy as np

from learnt.engine import progress
from learnt.engine.params import ParameterError
from learnt.engine.verbose import tell
from learnt.neural_network.training import Checkpoint, Data, History, Output
from learnt.neural_network.training._checkpoint import digest_of

_FREE = ("max_iter", "verbose", "checkpoint", "warm_start", "device")  # may differ when training goes on


class TrainedNetwork(progress.CallbackSupportMixin):
    """A network that is trained by steps. Subclasses say what y is and what outputs cost."""

    def _get(self, name: str) -> Any:
        return getattr(self, name)

    def _score_of(self, z: np.ndarray, y: np.ndarray, w: Any) -> float:
        """The score of raw outputs on rows held out."""
        raise NotImplementedError

    def _score_and_loss(self, z: Any, held: Data, output: Output, y: np.ndarray, w: Any) -> tuple[float, float]:
        """What raw outputs of rows held out come to; y and w are those of `held` on the host."""
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

    def _record_curves(self, end: History, early: bool) -> None:
        self.n_iter_, self.loss_, self.loss_curve_ = end.n_iter, end.loss, end.loss_curve
        self.best_loss_ = None if early else end.best_loss
        self.validation_scores_ = end.validation_scores if early else None
        self.validation_loss_curve_ = end.validation_losses if early else None
        self.best_validation_score_ = end.best_score if early else None
