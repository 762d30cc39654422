"""The symmetric product, under the name this room knows it by."""

from learnt.engine.gram import gram as gram
