"""What every `learnt` estimator may hold in a file."""

from learnt.persistence._checks import Schema

LEARNT_SCHEMAS: dict[str, Schema] = {}
