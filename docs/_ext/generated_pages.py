"""Parts of pages that are made of the program: the reference of commands and that of names.

A line `<!-- commands -->` becomes a section for each command, made of what `asnets COMMAND --help` knows. A line
`<!-- names: PACKAGE -->` becomes the documentation of all that the package's `__all__` holds, and `<!-- names: A.B C.D -->`
that of the named things.
"""

from __future__ import annotations

import importlib
import importlib.util
import re
from typing import TYPE_CHECKING, Any

from docutils import nodes
from typer.main import get_command

from asnets.cli.app import app as program

if TYPE_CHECKING:
    from sphinx.addnodes import pending_xref
    from sphinx.application import Sphinx
    from sphinx.environment import BuildEnvironment

_NAMES = re.compile(r"^<!-- names: (.*) -->$", re.MULTILINE)


def command_sections() -> str:
    """The commands in Markdown."""
    return "\n\n".join(_command(name, command) for name, command in get_command(program).commands.items())  # type: ignore[attr-defined]


def _command(name: str, command: Any) -> str:
    context = command.make_context(name, [], resilient_parsing=True)
    usage = " ".join(["asnets", name, *command.collect_usage_pieces(context)])
    arguments = [part for part in command.params if part.param_type_name == "argument"]
    options = [part for part in command.get_params(context) if part.param_type_name == "option" and not part.hidden]
    parts = [f"## `asnets {name}`", f"```text\n{usage}\n```", _paragraphs(command.help or "")]
    for title, parameters in (("Arguments", arguments), ("Options", options)):
        rows = [row for row in (parameter.get_help_record(context) for parameter in parameters) if row]
        if rows:
            parts.append(f"**{title}**")
            parts += [f"`{names.strip()}`\n: {_escaped(words) or '–'}" for names, words in rows]
    return "\n\n".join(parts)


def _paragraphs(text: str) -> str:
    return "\n\n".join(_escaped(" ".join(part.split())) for part in text.replace("\b", "").split("\n\n"))


def _escaped(text: str) -> str:
    """Text without Markdown of its own but code between backquotes."""
    pieces = re.split(r"(`[^`]*`)", text)
    return "".join(piece if piece.startswith("`") else re.sub(r"([*_<\[\]|#])", r"\\\1", piece) for piece in pieces)


def name_sections(wanted: str) -> str:
    """The documentation of names, in Markdown around reStructuredText."""
    names = wanted.split()
    if len(names) == 1 and _is_module(wanted):
        package = importlib.import_module(wanted)
        # Tables are documented beside their definitions; the page names those.
        names = [f"{wanted}.{name}" for name in package.__all__ if callable(getattr(package, name))]
    return "\n\n".join(f"```{{eval-rst}}\n.. {_directive(name)}:: {name}\n```" for name in names)


def _is_module(name: str) -> bool:
    return importlib.util.find_spec(name) is not None


def _directive(name: str) -> str:
    module, _, attribute = name.rpartition(".")
    thing = getattr(importlib.import_module(module), attribute)
    if not isinstance(thing, type):
        return "autofunction" if callable(thing) else "autodata"
    return "autoexception" if issubclass(thing, Exception) else "autoclass"


def _fill_in(app: Sphinx, page: str, content: list[str]) -> None:
    text = content[0].replace("<!-- commands -->", command_sections() if page == "cli" else "")
    content[0] = _NAMES.sub(lambda match: name_sections(match[1]), text)


def _resolve(app: Sphinx, env: BuildEnvironment, node: pending_xref, contents: nodes.Element) -> nodes.Node | None:
    """Finds types by the last part of their names: they live in modules that the reference does not speak of."""
    if node.get("refdomain") != "py":
        return None
    domain: Any = env.domains["py"]
    wanted = node["reftarget"].rpartition(".")[2]
    places = [name for name in domain.objects if name.rpartition(".")[2] == wanted and name.startswith("asnets")]
    if len(places) != 1:
        return None
    entry = domain.objects[places[0]]
    address = app.builder.get_relative_uri(node["refdoc"], entry.docname) + "#" + entry.node_id
    return nodes.reference("", "", contents, internal=True, refuri=address)


def setup(app: Sphinx) -> dict[str, Any]:
    app.connect("source-read", _fill_in)
    app.connect("missing-reference", _resolve)
    return {"parallel_read_safe": True, "parallel_write_safe": True}
