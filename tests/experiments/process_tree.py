"""Processes of this machine, from /proc."""

from __future__ import annotations

from pathlib import Path


def processes() -> dict[int, tuple[int, str]]:
    """Parent and command line of each process that lives; zombies do not."""
    found = {}
    for folder in Path("/proc").iterdir():
        if folder.name.isdigit():
            try:
                state, parent = (folder / "stat").read_text().rpartition(")")[2].split()[:2]
                command = (folder / "cmdline").read_bytes().replace(b"\0", b" ").decode(errors="replace")
            except OSError:
                continue
            if state != "Z":
                found[int(folder.name)] = int(parent), command
    return found


def descendants(root: int) -> list[int]:
    """All processes below one."""
    children: dict[int, list[int]] = {}
    for pid, (parent, _) in processes().items():
        children.setdefault(parent, []).append(pid)
    found: list[int] = []
    left = [root]
    while left:
        left += (new := children.get(left.pop(), []))
        found += new
    return sorted(found)


def cells_below(root: int) -> list[int]:
    """The processes of cells among the descendants: children of a fork server."""
    known = processes()
    return [pid for pid in descendants(root) if "forkserver" in known.get(known.get(pid, (0, ""))[0], (0, ""))[1]]
