"""The site: `make docs` builds it of the pages beside this file, of docstrings and of the command line."""

from __future__ import annotations

import sys
from importlib.metadata import version as version_of
from pathlib import Path

sys.path.insert(0, str(Path(__file__).parent / "_ext"))

project = "asnets"
author = "the asnets authors"
copyright = f"{author}; MIT licence"  # noqa: A001
version = release = version_of("asnets")

extensions = [
    "myst_nb",
    "sphinx.ext.autodoc",
    "sphinx.ext.napoleon",
    "sphinx.ext.doctest",
    "generated_pages",
]
exclude_patterns = ["_build", "_ext", "README.md", "**.ipynb_checkpoints"]
root_doc = "index"
nitpicky = True
# What the documentation does not hold: Python's own types and those of other packages, which are not fetched, and
# types that only name others.
nitpick_ignore_regex = [
    ("py:.*", r"(numpy|np|npt|pd|torch|pathlib|collections|typing|types|logging)\..*"),
    ("py:.*", r"(Path|Any|Sequence|Callable|Iterable|Iterator|Mapping|optional|Literal.*|NDArray|ndarray|array)"),
    ("py:.*", r"ASNet|NetworkPolicy"),
    ("py:.*", r"asnets\._native\..*|_native\..*"),
]

# --- Pages ---

myst_enable_extensions = ["colon_fence", "deflist"]
myst_heading_anchors = 4
highlight_language = "none"
smartquotes = False  # They would make one dash of the two of an option.
pygments_style = "friendly"
pygments_dark_style = "monokai"

# --- Notebooks: executed once, and again where their text has changed ---

nb_execution_mode = "cache"
nb_execution_timeout = 600
nb_execution_raise_on_error = True
nb_merge_streams = True

# --- The reference ---

autodoc_member_order = "bysource"
autodoc_typehints = "signature"
autodoc_typehints_format = "short"
autodoc_preserve_defaults = True
autodoc_default_options = {"members": True, "undoc-members": True}
autodoc_class_signature = "mixed"
napoleon_google_docstring = True
napoleon_numpy_docstring = False
napoleon_use_ivar = True

# --- How it looks; nothing is fetched from elsewhere ---

html_theme = "furo"
html_title = f"asnets {release}"
html_static_path = ["_static"]
html_css_files = ["site.css"]
html_show_sphinx = False
html_copy_source = False
html_theme_options = {
    "light_css_variables": {"color-brand-primary": "#2457a6", "color-brand-content": "#2457a6"},
    "dark_css_variables": {"color-brand-primary": "#8ab4f8", "color-brand-content": "#8ab4f8"},
}
