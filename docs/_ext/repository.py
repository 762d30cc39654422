"""What pages take from the repository: links to its files, and the pictures that scripts write."""

import os
import posixpath
import re
import shutil
from pathlib import Path

from sphinx_gallery.scrapers import figure_rst

ROOT = Path(__file__).resolve().parents[2]


def link_to_repository(app, docname, content):
    """Links of Markdown pages to files outside docs/ lead to the repository: pages are also read there."""
    if Path(app.env.doc2path(docname)).suffix != ".md":
        return
    folder = posixpath.join("docs", posixpath.dirname(docname))

    def absolute(match):
        target = posixpath.normpath(posixpath.join(folder, match[1]))
        path = ROOT / target.partition("#")[0]
        if (target.startswith("docs/") and path.suffix == ".md") or not path.exists():
            return match[0]
        kind = "tree" if path.is_dir() else "blob"
        return f"]({app.config.REPOSITORY}/{kind}/main/{target})"

    content[0] = re.sub(r"\]\((?![a-z]+:|#|/)([^()\s]+)\)", absolute, content[0])


def written_pictures(block, block_vars, gallery_conf):
    """A scraper for sphinx-gallery: pictures that a script writes into its folder move to its page."""
    folder = Path(os.path.dirname(block_vars["src_file"]))
    found = [path for kind in ("png", "svg") for path in folder.rglob(f"*.{kind}")]
    shown = []
    for path in sorted(found, key=lambda path: path.stat().st_mtime):
        target = Path(next(block_vars["image_path_iterator"])).with_suffix(path.suffix)
        shutil.move(path, target)
        shown.append(str(target))
        if path.parent != folder and not any(path.parent.iterdir()):
            path.parent.rmdir()
    return figure_rst(shown, gallery_conf["src_dir"])


def setup(app):
    app.add_config_value("REPOSITORY", "", "env")
    app.connect("source-read", link_to_repository)
    return {"parallel_read_safe": True, "parallel_write_safe": True}
