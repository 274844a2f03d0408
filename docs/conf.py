"""How Sphinx builds the site: `sphinx-build -W --keep-going docs site`, offline."""

import pathlib
import re
import sys
from importlib.metadata import version as version_of

HERE = pathlib.Path(__file__).parent
sys.path.insert(0, str(HERE))
import pages  # noqa: E402

pages.write(HERE / "generated")

project = "jaxshap"
copyright = "the jaxshap developers, Apache License 2.0"
release = version = version_of("jaxshap")

extensions = ["myst_parser", "sphinx.ext.autodoc", "sphinx.ext.napoleon", "sphinx_copybutton"]
source_suffix = {".md": "markdown"}
exclude_patterns = ["generated/pictures"]
nitpicky = False
default_role = "code"  # docstrings write `name`, as Markdown does

myst_enable_extensions = ["colon_fence", "deflist"]
myst_heading_anchors = 3
myst_links_external_new_tab = False

autodoc_member_order = "bysource"
autodoc_typehints = "signature"
autodoc_typehints_format = "short"
autodoc_preserve_defaults = True
autodoc_inherit_docstrings = True
maximum_signature_line_length = 80
python_use_unqualified_type_names = True
toc_object_entries_show_parents = "hide"
napoleon_google_docstring = True
napoleon_numpy_docstring = False
napoleon_custom_sections = [("Attributes", "params_style")]  # not as members of their own
napoleon_attr_annotations = False
napoleon_use_rtype = False
napoleon_preprocess_types = False

html_theme = "furo"
html_title = f"jaxshap {release}"
html_static_path = ["pictures"]
html_copy_source = False
html_show_sphinx = False
copybutton_prompt_text = r">>> |\.\.\. |\$ "
copybutton_prompt_is_regexp = True

IN_BACKTICKS = re.compile(r"(``.+?``|`[^`]*`)")


def read_as_prose(app, what, name, obj, options, lines):
    """Docstrings are plain text with `names` in backticks: no star or bar in them is markup."""
    in_example = False
    if what == "property" and lines:
        lines[0] = lines[0].replace(": ", " – ")  # napoleon takes what is before a colon for a type
    for number, line in enumerate(lines):
        in_example = line.startswith("Example") or (in_example and line[:1] in ("", " "))
        if in_example or line.lstrip().startswith((">>>", "...")):
            continue
        parts = IN_BACKTICKS.split(line)
        prose = [re.sub(r"([*|\\])|(?<=\w)(_)(?=\W|$)", r"\\\1\2", part) for part in parts[::2]]
        code = [part if part.startswith("``") else f"`{part}`" for part in parts[1::2]]
        lines[number] = "".join(
            piece for pair in zip(prose, [*code, ""], strict=True) for piece in pair
        )


def setup(app):
    """Sphinx calls this."""
    app.connect("autodoc-process-docstring", read_as_prose, priority=100)  # before napoleon
