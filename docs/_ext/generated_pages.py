"""Parts of pages that are made of the program: the reference of commands and that of names.

A line `<!-- commands -->` becomes a section for each command, made of what `asnets COMMAND --help` knows. A line
`<!-- names: PACKAGE -->` becomes the documentation of all that the package's `__all__` holds, and
`<!-- names: A.B C.D -->` that of the named things. `<!-- options: A.B -->` becomes the options of a configuration, and
`<!-- pages: a b -->` those of the pages that are there.
"""

from __future__ import annotations

import dataclasses
import importlib
import importlib.util
import re
from typing import TYPE_CHECKING, Any

from docutils import nodes
from typer.main import get_command

from asnets.cli.app import app as program
from asnets.options import Option, options_of

if TYPE_CHECKING:
    from sphinx.addnodes import pending_xref
    from sphinx.application import Sphinx
    from sphinx.environment import BuildEnvironment

_MARKER = re.compile(r"^<!-- (names|options|pages): (.*) -->$", re.MULTILINE)


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
            parts += [f"`{_named(names)}`\n: {_escaped(words) or '–'}" for names, words in rows]
    return "\n\n".join(parts)


def _named(names: str) -> str:
    """Without the types of arguments, which say nothing beside their words."""
    return re.sub(r" <(list\[)?(str|path)\]?>", "", names.strip(), flags=re.IGNORECASE)


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


def option_sections(wanted: str) -> str:
    """The options of a configuration: name, default, meaning."""
    found = options_of(_thing(wanted)).values()
    return "\n\n".join(f"`{each.name} = {each.default!r}`\n: {_escaped(each.help)}{_range(each)}" for each in found)


def _range(option: Option) -> str:
    if option.choices is not None:
        return f" One of {', '.join(f'`{choice}`' for choice in option.choices)}."
    return f" A number {option.range}." if option.type in (int, float) else ""


def _thing(name: str) -> Any:
    module, _, attribute = name.rpartition(".")
    return getattr(importlib.import_module(module), attribute)


def _directive(name: str) -> str:
    thing = _thing(name)
    if not isinstance(thing, type):
        return "autofunction" if callable(thing) else "autodata"
    return "autoexception" if issubclass(thing, Exception) else "autoclass"


def _fill_in(app: Sphinx, page: str, content: list[str]) -> None:
    def part(match: re.Match[str]) -> str:
        kind, wanted = match.groups()
        if kind == "names":
            return name_sections(wanted)
        if kind == "options":
            return option_sections(wanted)
        return "\n".join(name for name in wanted.split() if name in app.env.found_docs)

    text = _MARKER.sub(part, content[0])
    content[0] = text.replace("<!-- commands -->", command_sections()) if page == "cli" else text


def _resolve(app: Sphinx, env: BuildEnvironment, node: pending_xref, contents: nodes.Element) -> nodes.Node | None:
    """Finds types by the last part of their names, since they live in modules that the reference does not speak of.

    A type that is there and that the reference leaves out stays as text.
    """
    target = node.get("reftarget", "")
    if node.get("refdomain") != "py":
        return None
    known: Any = env.domains["py"].objects  # type: ignore[attr-defined]
    places = [name for name in known if name.rpartition(".")[2] == target.rpartition(".")[2]]
    if len(places) == 1:
        entry = known[places[0]]
        address = app.builder.get_relative_uri(node["refdoc"], entry.docname) + "#" + entry.node_id
        return nodes.reference("", "", contents, internal=True, refuri=address)
    try:
        _thing(target)
    except (AttributeError, ImportError, ValueError):
        return None
    return contents


def _shorten(app: Sphinx, what: str, name: str, thing: Any, options: Any, signature: str | None, result: str) -> Any:
    """Results and tasks are made by functions; how a program would make them itself is nobody's business."""
    if what == "class" and dataclasses.is_dataclass(thing):
        return "", None
    return signature, result


def _keep_colons(app: Sphinx, what: str, name: str, thing: Any, options: Any, lines: list[str]) -> None:
    """Napoleon would take what stands before a colon in the first line about a property for its type."""
    if what == "property" and lines:
        lines[0] = lines[0].replace(": ", " – ")


def setup(app: Sphinx) -> dict[str, Any]:
    """Called by Sphinx."""
    app.connect("source-read", _fill_in)
    app.connect("missing-reference", _resolve)
    app.connect("autodoc-process-signature", _shorten)
    app.connect("autodoc-process-docstring", _keep_colons, priority=400)
    return {"parallel_read_safe": True, "parallel_write_safe": True}
