"""What ensembles may hold in a file. All other classes say it themselves (`__learnt_schema__`)."""

from __future__ import annotations

from learnt.engine.schema import Schema
from learnt.persistence._boosting import BOOSTING_CLASSIFIER, BOOSTING_REGRESSOR, HIST_CLASSIFIER, HIST_REGRESSOR
from learnt.persistence._forests import FOREST_CLASSIFIER, FOREST_EMBEDDING, FOREST_REGRESSOR
from learnt.persistence._meta_ensembles import META_ENSEMBLES

LEARNT_SCHEMAS: dict[str, Schema] = {
    **META_ENSEMBLES,
    "learnt.ensemble.ExtraTreesClassifier": FOREST_CLASSIFIER,
    "learnt.ensemble.ExtraTreesRegressor": FOREST_REGRESSOR,
    "learnt.ensemble.GradientBoostingClassifier": BOOSTING_CLASSIFIER,
    "learnt.ensemble.GradientBoostingRegressor": BOOSTING_REGRESSOR,
    "learnt.ensemble.HistGradientBoostingClassifier": HIST_CLASSIFIER,
    "learnt.ensemble.HistGradientBoostingRegressor": HIST_REGRESSOR,
    "learnt.ensemble.RandomForestClassifier": FOREST_CLASSIFIER,
    "learnt.ensemble.RandomForestRegressor": FOREST_REGRESSOR,
    "learnt.ensemble.RandomTreesEmbedding": FOREST_EMBEDDING,
}
