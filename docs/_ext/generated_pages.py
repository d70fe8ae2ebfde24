"""Parts of pages that are made of the program: the reference of commands and that of names.

A line `<!-- commands -->` becomes a section for each command, made of what `asnets COMMAND --help` knows. A line
`<!-- names: PACKAGE -->` becomes the documentation of all that the package's `__all__` holds, and
`<!-- names: A.B C.D -->` that of the named things. `<!-- options: A.B -->` becomes the options of a configuration, and
`<!-- pages: a b -->` those of the pages that are there. `<!-- topics -->` becomes what `asnets help TOPIC` shows.
"""

from __future__ import annotations

import dataclasses
import importlib
import importlib.util
import inspect
import re
from typing import TYPE_CHECKING, Any

from docutils import nodes
from typer.main import get_command

from asnets.cli.app import app as program
from asnets.cli.topics import topic_names, topic_text
from asnets.domains.family import Family
from asnets.options import Option, options_of
from asnets.training.config import PRESETS

if TYPE_CHECKING:
    from sphinx.addnodes import pending_xref
    from sphinx.application import Sphinx
    from sphinx.environment import BuildEnvironment

_MARKER = re.compile(r"^<!-- (names|options|pages): (.*) -->$", re.MULTILINE)


def command_sections() -> str:
    """The options of the program itself, then the commands, in Markdown."""
    group: Any = get_command(program)
    context = group.make_context("asnets", [], resilient_parsing=True)
    own = ["## `asnets`", "```text\nasnets [OPTIONS] COMMAND …\n```", *_parameters("option", group, context)]
    return "\n\n".join([*own, *(_command(name, command) for name, command in group.commands.items())])


def topic_sections() -> str:
    """The topics of `asnets help` in Markdown, under headings of the third level."""
    texts = (topic_text(name).removeprefix("# ").partition("\n") for name in topic_names())
    return "\n\n".join(
        f"### `asnets help {name}`: {title}\n{text}"
        for name, (title, _, text) in zip(topic_names(), texts, strict=True)
    )


def _command(name: str, command: Any) -> str:
    context = command.make_context(name, [], resilient_parsing=True)
    usage = " ".join(["asnets", name, *command.collect_usage_pieces(context)])
    parts = [f"## `asnets {name}`", f"```text\n{usage}\n```", _paragraphs(command.help or "")]
    return "\n\n".join([*parts, *_parameters("argument", command, context), *_parameters("option", command, context)])


def _parameters(kind: str, command: Any, context: Any) -> list[str]:
    """The arguments or the options of a command, with a title where there are any."""
    found = [part for part in command.get_params(context) if part.param_type_name == kind]
    records = [part.get_help_record(context) for part in found if not getattr(part, "hidden", False)]
    rows = [f"`{_named(names)}`\n: {_escaped(words) or '–'}" for names, words in filter(None, records)]
    return [f"**{kind.capitalize()}s**", *rows] if rows else []


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
    return "\n\n".join(_documented(name) for name in names)


def _documented(name: str) -> str:
    directive = _directive(name)
    if directive != "autodata":
        known = ", ".join(_described_attributes(_thing(name)))
        option = f"\n   :exclude-members: {known}" if known else ""
        return f"```{{eval-rst}}\n.. {directive}:: {name}{option}\n```"
    rows = [f"| `{key}` | {_escaped(_description(entry))} |" for key, entry in _thing(name).items()]
    table = "\n".join(["| name | |", "|---|---|", *rows])
    return f"```{{eval-rst}}\n.. {directive}:: {name}\n   :no-value:\n```\n\n{table}"


def _described_attributes(thing: Any) -> list[str]:
    """The attributes that the docstring of a class speaks of, which need not stand among its members again."""
    _, _, attributes = (inspect.getdoc(thing) or "").partition("\nAttributes:\n")
    return re.findall(r"^    (\w+): ", attributes.partition("\n\n")[0], re.MULTILINE)


def _description(entry: Any) -> str:
    """What an entry of a registry is, in a line."""
    if isinstance(entry, Family):
        return f"{entry.title}; size: {entry.size_meaning}"
    return str(entry.description)


def _is_module(name: str) -> bool:
    return importlib.util.find_spec(name) is not None


def option_sections(wanted: str) -> str:
    """The options of a configuration: name, values in the presets, meaning."""
    config = _thing(wanted)
    return "\n\n".join(
        f"`{each.name}` – {_preset_values(config, each.name)}\n: {_escaped(each.help)}{_range(each)}"
        for each in options_of(config).values()
    )


def _preset_values(config: type, name: str) -> str:
    """The value of an option in each preset; once where all have the same."""
    parts = {
        preset: part
        for preset, values in PRESETS.items()
        for part in (values.network, values.training)
        if type(part) is config
    }
    shown = {preset: f"`{getattr(part, name)!r}`" for preset, part in parts.items()}
    if len(set(shown.values())) == 1:
        return next(iter(shown.values()))
    return ", ".join(f"{value} (preset {preset})" for preset, value in shown.items())


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
    if page == "cli":
        text = text.replace("<!-- commands -->", command_sections()).replace("<!-- topics -->", topic_sections())
    content[0] = text


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
