"""`asnets help`."""

from __future__ import annotations

from typing import Annotated

import typer

from asnets.cli.completion import offer_topics
from asnets.cli.topics import topic_text, topic_titles


def show_help(
    topic: Annotated[
        str | None, typer.Argument(metavar="TOPIC", help="What to read about.", autocompletion=offer_topics)
    ] = None,
) -> None:
    """Read about a topic that commands have in common, or list the topics.

    What a single command does says its own --help.
    """
    if topic is not None:
        print(topic_text(topic), end="")
        return
    titles = topic_titles()
    width = max(map(len, titles))
    for name, title in titles.items():
        print(f"{name:<{width}}  {title}")
    print("\n`asnets help TOPIC` shows one; `asnets COMMAND --help` what a command does")
