"""What many docstrings share comes from here, so that it is written once.

    sections     a docstring taken apart into numpydoc's sections, and put together again
    glossary     what X, y, sample_weight, random_state, … are, and what `fit`, `predict`, … return
    fill         the two brought together: `@documented` for functions, `document_class` for every estimator
    estimators   `Documented`, the base class that calls it, and the links of notebooks to the site

A docstring says what is special. Parameters that it leaves out, and that the glossary knows, are added to it in the
order of the signature when the module is imported; so are what a method returns, and which tables an estimator takes,
which it has declared already. What stands in a docstring is never replaced.
"""

from learnt.engine.documentation.estimators import SITE, Documented
from learnt.engine.documentation.fill import documented

__all__ = ["SITE", "Documented", "documented"]
