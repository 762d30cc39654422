"""The base of every estimator of ours that completes docstrings and tells notebooks where the class is explained."""

from __future__ import annotations

import importlib
from typing import Any

from learnt.engine.documentation.fill import document_class

# Where `make docs` is published. Pages have stable names: api/learnt.cluster.KMeans.html.
SITE = "https://learnt.readthedocs.io/en/latest"


class Documented:
    """Docstrings completed from the glossary, and a link from the HTML of a notebook to the page of the class."""

    _doc_link_module = "learnt"
    _doc_link_template = SITE + "/api/{room}.{name}.html"

    def __init_subclass__(cls, **options: Any) -> None:
        super().__init_subclass__(**options)
        if cls.__module__.startswith("learnt."):
            document_class(cls)

    def _doc_link_url_param_generator(self, *_: Any) -> dict[str, str]:
        """The public module and name of the class: not the file that it is written in."""
        for cls in type(self).__mro__:  # of a class derived from a public one, that one's page
            room = ".".join(cls.__module__.split(".")[:2])
            if cls.__name__ in getattr(importlib.import_module(room), "__all__", ()):
                return {"room": room, "name": cls.__name__}
        return {"room": "learnt", "name": type(self).__name__}
