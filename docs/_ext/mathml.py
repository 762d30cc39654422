"""Formulas as MathML, made at build time by docutils: browsers draw them without a script, online or off.

`html_math_renderer = "mathml"` in conf.py chooses it. LaTeX that docutils does not know is a warning, which fails a
build with `-W`; `MACROS` has a few commands more.
"""

import html
import re

from docutils import nodes
from docutils.utils.math import latex2mathml
from sphinx.util import logging

MACROS = {  # written in another way
    r"\iff": r"\;\Longleftrightarrow\;",
    r"\implies": r"\;\Longrightarrow\;",
    r"\dots": r"\ldots",
    r"\E": r"\mathbb{E}",
    r"\R": r"\mathbb{R}",
    r"\P": r"\mathbb{P}",
    r"\bm": r"\mathbf",
    r"\boldsymbol": r"\mathbf",
}
for name in ("argmin", "argmax"):  # operators whose index stands below
    latex2mathml.operators[name] = f"arg\u2009{name[3:]}"
    latex2mathml.movablelimits = (*latex2mathml.movablelimits, name, latex2mathml.operators[name])
for name in ("tr", "diag", "sign", "rank", "span", "Var", "Cov", "KL", "softmax"):
    latex2mathml.functions.setdefault(name, name)
log = logging.getLogger(__name__)


def to_mathml(tex, node, block):
    """A formula as a `<math>` element, or as its source where it cannot be read, with a warning."""
    tex = re.sub(r"\\operatorname\*?\{arg\\?,?\s*(min|max)\}", r"\\arg\1", tex.strip())
    tex = re.sub(r"\\[A-Za-z]+", lambda m: MACROS.get(m[0], m[0]), tex)
    tex = re.sub(r"\\[dt]?frac\s*(\d)\s*([\dA-Za-z])", r"\\frac{\1}{\2}", tex)  # docutils reads 12 over …
    tex = re.sub(r"\\(begin|end)\{(align|gather|equation|split)\*?\}", r"\\\1{aligned}", tex)
    try:
        found = latex2mathml.tex2mathml(tex, as_block=block)
    except Exception as error:
        log.warning("LaTeX that cannot be read: %s (%s)", tex, error, location=node)
        return f"<code>{html.escape(tex)}</code>"
    return re.sub(r">\s+<", "><", found)


def visit_math(self, node):
    self.body.append(f'<span class="math">{to_mathml(node.astext(), node, False)}</span>')
    raise nodes.SkipNode


def visit_math_block(self, node):
    number = ""
    if node.get("number"):
        number = f'<span class="eqno">({node["number"]})</span>'
    name = f' id="{node["ids"][0]}"' if node.get("ids") else ""
    self.body.append(f'<div class="math"{name}>{to_mathml(node.astext(), node, True)}{number}</div>\n')
    raise nodes.SkipNode


def setup(app):
    app.add_html_math_renderer("mathml", (visit_math, None), (visit_math_block, None))
    return {"parallel_read_safe": True, "parallel_write_safe": True}
