"""`asnets help`."""

from __future__ import annotations

from typing import Annotated, Any

import typer
from typer.main import get_command

from asnets.cli.completion import offer_topics
from asnets.cli.topics import topic_names, topic_text, topic_titles


def show_help(
    topic: Annotated[
        str | None, typer.Argument(metavar="TOPIC", help="What to read about.", autocompletion=offer_topics)
    ] = None,
) -> None:
    """Read about a topic that commands have in common, or list the topics.

    What a single command does says its own --help, which is shown for its name too.
    """
    if topic is not None and topic not in topic_names() and _show_command(topic):
        return
    if topic is not None:
        print(topic_text(topic), end="")
        return
    titles = topic_titles()
    width = max(map(len, titles))
    for name, title in titles.items():
        print(f"{name:<{width}}  {title}")
    print("\n`asnets help TOPIC` shows one; `asnets COMMAND --help` what a command does")


def _show_command(name: str) -> bool:
    """Shows the help of a command; returns whether there is one of that name."""
    from asnets.cli.app import app  # It imports this module.

    group: Any = get_command(app)
    if name not in group.commands:
        return False
    program = group.make_context("asnets", [], resilient_parsing=True)
    context = group.commands[name].make_context(name, [], parent=program, resilient_parsing=True)
    print(group.commands[name].get_help(context))
    return True
