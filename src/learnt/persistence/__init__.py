"""Model files: data, never code.

    save, load, inspect       the three verbs: write a model, read it back, describe a file without loading it   _files
    FileSummary               what `inspect` returns                                                            _summary
    LearntFileError           the one error, in one sentence                                                    _errors

How a model is written to a file and read back:

    object ──_encode──▶ tree (JSON) + tensors ──_container──▶ one safetensors file with a checksum
    object ◀──_decode── tree (JSON) + tensors ◀──_container── every length, offset, dtype and byte checked first
               │
               ├─ _registry    the classes that may stand in a file; no other name is ever imported
               └─ _models      parameters and fitted attributes of an estimator against the schema of its class
                    ├─ __learnt_schema__ of the class itself, in the language of `engine.schema`
                    ├─ _records     the fields of plain data holders: trees, losses, splitters
                    └─ _containers  the same for the scikit-learn containers our models sit in

There is no pickle here and no fallback to one. A file of an older format is converted by `_migrations`.
"""

from learnt.persistence._errors import LearntFileError
from learnt.persistence._files import inspect, load, save
from learnt.persistence._summary import ArraySummary, FileSummary, ModelSummary

__all__ = ["ArraySummary", "FileSummary", "LearntFileError", "ModelSummary", "inspect", "load", "save"]
