"""The texts of `asnets help TOPIC`: a Markdown file each, with the title in its first line."""

from __future__ import annotations

from pathlib import Path

from asnets.errors import ConfigError

FOLDER = Path(__file__).parent


def topic_names() -> list[str]:
    return sorted(path.stem for path in FOLDER.glob("*.md"))


def topic_titles() -> dict[str, str]:
    """What each topic is about, in a few words."""
    return {name: topic_text(name).partition("\n")[0].removeprefix("# ") for name in topic_names()}


def topic_text(name: str) -> str:
    """A topic, in Markdown.

    Raises:
        ConfigError: If there is none of that name; the message has those that there are.
    """
    if name not in topic_names():
        raise ConfigError(f"there is no topic {name!r}; topics are {', '.join(topic_names())}")
    return (FOLDER / f"{name}.md").read_text(encoding="utf-8")
