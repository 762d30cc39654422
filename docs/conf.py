"""The site of `learnt`: `make docs` builds it into docs/_build/html from PyPI packages alone, without a network.

    index.md, start/, guide/     written pages
    course/ → lessons/           chapters as scripts, run by the build
    ../examples/ → gallery/      examples, too
    api/                         a page for every public name, written by _ext/reference.py
    _ext/                        formulas as MathML, the reference, links into the repository

`make docs QUICK=1` runs no chapter and no example.
"""

import os
import sys
import warnings
from pathlib import Path

HERE = Path(__file__).resolve().parent
sys.path[:0] = [str(HERE / "_ext"), str(HERE.parent / "src")]

import learnt

project = "learnt"
author = "The learnt developers"
copyright = "The learnt developers; BSD 3-clause"
version = release = learnt.__version__
REPOSITORY = "https://github.com/learnt/learnt"

extensions = [
    "mathml",
    "repository",
    "reference",
    "myst_parser",
    "numpydoc",
    "sphinx.ext.autodoc",
    "sphinx.ext.linkcode",
    "sphinx_design",
    "sphinx_gallery.gen_gallery",
]
exclude_patterns = ["_build", "_ext", "_charts", "_templates", "course", "**/.ipynb_checkpoints"]
default_role = "py:obj"  # what stands in single backticks becomes a link where it is a public name, and code where not
nitpicky = False
suppress_warnings = ["config.cache", "ref.term", "ref.python"]  # what scikit-learn's docstrings refer to is not here
html_math_renderer = "mathml"

# Pages in Markdown
myst_enable_extensions = ["colon_fence", "deflist", "dollarmath", "fieldlist"]
myst_heading_anchors = 3
source_suffix = {".rst": "restructuredtext", ".md": "markdown"}

# Docstrings
autodoc_typehints = "none"
autodoc_class_signature = "mixed"
numpydoc_show_class_members = False
numpydoc_xref_param_type = False
add_module_names = False
python_maximum_signature_line_length = 100

# Chapters and examples
warnings.filterwarnings("ignore", message="FigureCanvasAgg is non-interactive")
os.environ.setdefault("LEARNT_PROGRESS", "off")
sphinx_gallery_conf = {
    "examples_dirs": ["course", "../examples"],
    "gallery_dirs": ["lessons", "gallery"],
    "filename_pattern": r"\.py$",
    "ignore_pattern": r"(__init__|png)\.py$",
    "within_subsection_order": "FileNameSortKey",
    "image_scrapers": ("matplotlib", "repository.written_pictures"),
    "backreferences_dir": "api/backlinks",
    "doc_module": ("learnt",),
    "abort_on_example_error": False,  # an error is a warning, and fails the build with -W after the others have run
    "plot_gallery": "True",
    "default_thumb_file": str(HERE / "_static/printed.png"),  # of examples that print, or draw SVG
    "download_all_examples": False,
    "show_memory": False,
    "show_signature": False,
    "write_computation_times": False,
    "remove_config_comments": True,
    "min_reported_time": 1,
}

# Pages
html_theme = "pydata_sphinx_theme"
html_title = "learnt"
html_static_path = ["_static"]
html_css_files = ["learnt.css"]
html_copy_source = False
html_show_sourcelink = False
html_show_sphinx = False
html_sidebars = {"index": [], "release_notes": [], "api/learnt*": ["room.html"]}
templates_path = ["_templates"]
html_theme_options = {
    "logo": {"text": "learnt"},
    "github_url": REPOSITORY,
    "use_edit_page_button": False,
    "header_links_before_dropdown": 7,
    "navigation_with_keys": False,
    "show_toc_level": 2,
    "collapse_navigation": True,
    "navigation_depth": 3,
    "footer_start": ["copyright"],
    "footer_end": [],
    "pygments_light_style": "a11y-high-contrast-light",
    "pygments_dark_style": "a11y-high-contrast-dark",
}
html_context = {"default_mode": "auto"}


def linkcode_resolve(domain, info):
    """The lines of the repository in which a public name is defined."""
    from reference import lines_of

    where = lines_of(info["module"], info["fullname"]) if domain == "py" else None
    return f"{REPOSITORY}/blob/main/{where}" if where else None
