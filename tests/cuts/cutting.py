"""One cut: drawn from a seed and a number, made, and looked at; then the command goes on and has to come to its end."""

from __future__ import annotations

import math
import os
import random
import shutil
import signal
import subprocess
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, Self

from tests.cuts.commands import Command, Evaluate, Export, Reproduce, Solve, Train, difference
from tests.cuts.watching import Ending, Shot, watch

SIGNALS = {name: getattr(signal, name) for name in ("SIGINT", "SIGTERM", "SIGKILL")}
TIME_LIMIT, FILE_SIZE, FULL_DISK = "time limit", "file size", "full disk"
KINDS = (*SIGNALS, TIME_LIMIT, FILE_SIZE, FULL_DISK)

CODES = {
    # A shell shows a process that a signal has ended with 128 more than its number: the same 130 and 143.
    "SIGINT": (0, 130, -signal.SIGINT),
    "SIGTERM": (0, 143, -signal.SIGTERM),
    "SIGKILL": (0, -signal.SIGKILL),
    TIME_LIMIT: (0, 4),
    FILE_SIZE: (0, 3),
    FULL_DISK: (0, 3),
}
"""The exit codes after each kind of cut; 0 where the command came to its end all the same."""

COMMANDS = ("solve", "evaluate", "export", "train", "reproduce")
PAIRS = tuple(
    (command, kind)
    for kind in KINDS
    for command in ("solve", "evaluate", "export", "train", "solve", "reproduce")
    if (command, kind) != ("reproduce", TIME_LIMIT)
)
"""Command and kind of the cuts 0, 1, …, over and over: `solve`, which is fast, more often than the others."""

_BEYOND = 1.1
_LEAST = 1e-3
_LITTLE = 20_000
"""About the bytes of temporary files: Python takes another folder where there is no room for anything at all."""


@dataclass(frozen=True)
class Cut:
    """A cut as it was drawn.

    Attributes:
        share: Where it is, as a share of the life, the files or the time of the command when it is not cut.
        variant: Which problem, for commands with several.
        to_all: Whether the signal goes to all processes.
        is_resumed: Whether the command goes on afterwards, where not all of them do.
    """

    seed: int
    number: int
    command: str
    kind: str
    share: float
    variant: int
    to_all: bool
    is_resumed: bool


def draw(seed: int, number: int) -> Cut:
    """The cut of a seed and a number, always the same."""
    rng = random.Random(f"cut/{seed}/{number}")
    command, kind = PAIRS[number % len(PAIRS)]
    return Cut(
        seed,
        number,
        command,
        kind,
        share=rng.uniform(0, _BEYOND),
        variant=rng.randrange(100),
        to_all=rng.random() < 0.5,
        is_resumed=rng.random() < 1 / 3,
    )


@dataclass(frozen=True)
class Uncut:
    """A command that was not cut.

    Attributes:
        seconds: How long it runs, less the time for which it waits for a processor.
        cpu: CPU seconds of it and its processes.
        largest: Bytes of the largest of its files.
        total: Bytes of all of them.
        result: What came out.
    """

    command: Command
    seconds: float
    cpu: float
    largest: int
    total: int
    result: Any


@dataclass
class Outcome:
    """What a cut came to.

    Attributes:
        where: How the cut was made, in words.
        late: Seconds from the cut to the end of the process; None where there was no such moment.
        own_late: These less the time for which the process waited for a processor.
        is_early: Whether it was cut before Python had come to the command.
        resumed: Whether it went on to its end with the right result; None if that was not tried.
        failures: What is wrong.
    """

    cut: Cut
    where: str
    code: int | None = None
    late: float | None = None
    own_late: float | None = None
    is_early: bool = False
    resumed: bool | None = None
    failures: list[str] = field(default_factory=list)


class Cutter:
    """Cuts commands. Each has run to its end before it is cut for the first time."""

    def __init__(self, folder: Path, keep: Path | None = None) -> None:
        """Prepares the problems.

        Args:
            folder: For problems, and for what the commands write.
            keep: Where to keep what is left by cuts that went wrong.
        """
        self._folder = folder
        self._keep = keep
        self._uncut: dict[Command, Uncut] = {}
        self._starts: dict[Command, float] = {}
        self._commands: dict[str, list[Command]] = {
            "solve": [
                Solve(folder, "triangle-tireworld", 2),
                Solve(folder, "triangle-tireworld", 4),
                Solve(folder, "prob-blocksworld", 5),
            ],
            "evaluate": [Evaluate(folder)],
            "export": [Export(folder, ".tra"), Export(folder, ".drn")],
            "train": [Train(folder)],
            "reproduce": [Reproduce(folder)],
        }

    def command_of(self, cut: Cut) -> Command:
        variants = self._commands[cut.command]
        return variants[cut.variant % len(variants)]

    def uncut(self, command: Command) -> Uncut:
        """The command when it is not cut.

        Raises:
            RuntimeError: If it fails all the same.
        """
        if command not in self._uncut:
            self._uncut[command] = self._run_uncut(command)
        return self._uncut[command]

    def _run_uncut(self, command: Command) -> Uncut:
        with self._place(f"uncut-{command.name}") as (out, temporary):
            ending = watch(
                command.arguments(out), temporary, output=command.output(out), all_processes=command.all_processes
            )
            failures = [*ending_failures(ending, (0,)), *file_failures(command, out, temporary, ending)]
            if failures:
                raise RuntimeError(f"{command.name} fails without a cut: {'; '.join(failures)}")
            sizes = [path.stat().st_size for path in out.rglob("*") if path.is_file()]
            return Uncut(command, ending.own_seconds, ending.cpu, max(sizes), sum(sizes), command.result(out))

    def _start(self, command: Command) -> float:
        """Seconds before the time limit of a command begins, less the time for which it waits for a processor."""
        if command not in self._starts:
            with self._place(f"start-{command.name}") as (out, temporary):
                ending = watch(command.before_limit(out), temporary, output=command.output(out))
            self._starts[command] = ending.own_seconds
        return self._starts[command]

    def make(self, cut: Cut) -> Outcome:
        """Makes a cut and looks at what it leaves."""
        command = self.command_of(cut)
        uncut = self.uncut(command)
        with self._place(f"{cut.seed}-{cut.number}") as (out, temporary):
            if cut.kind != FULL_DISK:
                return self._make(cut, uncut, out, temporary)
            is_temporary = command.all_processes and cut.to_all  # Only the processes of cells use that folder.
            size = _LITTLE + _skewed(_LITTLE, cut.share) if is_temporary else _skewed(uncut.total, cut.share)
            with _Disk(temporary if is_temporary else out, size) as disk:
                return self._make(cut, uncut, out, temporary, disk)

    def _make(self, cut: Cut, uncut: Uncut, out: Path, temporary: Path, disk: _Disk | None = None) -> Outcome:
        command = uncut.command
        arguments = command.arguments(out)
        shot: Shot | None = None
        file_size: int | None = None
        limit = 0.0
        if cut.kind in SIGNALS:
            to_all = cut.to_all and cut.kind != "SIGKILL"
            shot = Shot(SIGNALS[cut.kind], cut.share * uncut.cpu, to_all)
            where = f"{cut.kind} after {shot.cpu:.3f} CPU seconds, to {'all processes' if to_all else 'the process'}"
        elif cut.kind == TIME_LIMIT:
            limit = max(_LEAST, cut.share * (uncut.seconds - self._start(command)) / command.num_limits)
            arguments = [*arguments, "--time-limit", f"{limit:.3f}"]
            where = f"--time-limit {limit:.3f}"
        elif cut.kind == FILE_SIZE:
            file_size = _skewed(uncut.largest, cut.share)
            where = f"files of at most {file_size} bytes"
        else:
            assert disk is not None
            where = f"a disk of {disk.size} bytes for {disk.folder.name}"
        outcome = Outcome(cut, where)
        ending = watch(
            arguments,
            temporary,
            output=command.output(out),
            shot=shot,
            file_size=file_size,
            all_processes=command.all_processes,
        )
        self._look(cut, outcome, uncut, ending, limit, out, temporary)
        must_resume = command.always_resumed and not command.is_over(out)
        if (must_resume or cut.is_resumed) and not any(each.startswith("half-written") for each in outcome.failures):
            if disk is not None:
                disk.grow()
            self._resume(cut, outcome, uncut, out, temporary)
        if outcome.failures and self._keep is not None:
            shutil.copytree(out, self._keep / f"{cut.seed}-{cut.number}", dirs_exist_ok=True)
        return outcome

    def _look(
        self, cut: Cut, outcome: Outcome, uncut: Uncut, ending: Ending, limit: float, out: Path, temporary: Path
    ) -> None:
        command = uncut.command
        outcome.code = ending.code
        moment = ending.shot
        if cut.kind == TIME_LIMIT:
            moment = ending.moment_of(self._start(command)) + limit * command.num_limits
        if moment is not None:
            outcome.late, outcome.own_late = ending.since(moment)
        outcome.is_early = cut.kind == "SIGINT" and _is_pythons_own(ending)
        if not outcome.is_early:
            outcome.failures += ending_failures(ending, CODES[cut.kind])
        outcome.failures += file_failures(command, out, temporary, ending)
        if ending.code == 0 and cut.kind != TIME_LIMIT and (other := difference(uncut.result, command.result(out))):
            outcome.failures.append(f"another result than when it is not cut {other}")

    def _resume(self, cut: Cut, outcome: Outcome, uncut: Uncut, out: Path, temporary: Path) -> None:
        command = uncut.command
        shutil.rmtree(temporary)
        temporary.mkdir()
        kept = command.kept(out)
        ending = watch(command.again(out), temporary, output=command.output(out))
        failures = [*ending_failures(ending, (0,)), *file_failures(command, out, temporary, ending, ignore_old=True)]
        if not failures:
            # What a time limit cuts from the first epoch, or which problems it leaves out, stays so.
            other = difference(uncut.result, command.result(out))
            if other and (command.name, cut.kind) != ("train", TIME_LIMIT):
                failures.append(f"another result than when it is not cut {other}")
            failures += filter(None, [command.check_kept(kept, out)])
        outcome.resumed = not failures
        outcome.failures += [f"going on: {failure}" for failure in failures]

    @contextmanager
    def _place(self, name: str) -> Iterator[tuple[Path, Path]]:
        """Empty folders for output and for temporary files."""
        place = self._folder / "cuts" / name
        out, temporary = place / "of output" / "output", place / "of tmp" / "tmp"
        out.mkdir(parents=True)
        temporary.mkdir(parents=True)
        try:
            yield out, temporary
        finally:
            shutil.rmtree(place)


def can_mount(folder: Path) -> bool:
    """Whether disks of a small size can be made here; only root can, and not everywhere."""
    place = folder / "mount"
    place.mkdir(parents=True)
    try:
        with _Disk(place / "files", 0):
            return True
    except (OSError, subprocess.CalledProcessError):
        return False
    finally:
        place.rmdir()


class _Disk:
    """A folder on a small disk in memory, of whole pages and perhaps of none."""

    def __init__(self, folder: Path, size: int) -> None:
        self.folder = folder
        self._place = folder.parent
        self._page = os.sysconf("SC_PAGE_SIZE")
        self.size = size // self._page * self._page

    def __enter__(self) -> Self:
        self._mount(f"size={self.size + self._page}")  # Size 0 would be no limit.
        (self._place / "filler").write_bytes(bytes(self._page))
        self.folder.mkdir()
        return self

    def __exit__(self, *_: object) -> None:
        subprocess.run(["umount", self._place], check=True, capture_output=True)

    def grow(self) -> None:
        """Makes the disk as large as anybody wants."""
        self._mount("remount,size=1g")

    def _mount(self, options: str) -> None:
        subprocess.run(["mount", "-t", "tmpfs", "-o", options, "tmpfs", self._place], check=True, capture_output=True)


def _skewed(size: int, share: float) -> int:
    """A part of a size; small ones are more likely, since most files are smaller than the largest."""
    return math.ceil(size * share**2)


def _is_pythons_own(ending: Ending) -> bool:
    """Whether Python was interrupted before it had come to the command, which it tells with a traceback."""
    return "Traceback" in ending.errors and ", in main\n" not in ending.errors and ending.code in (1, -signal.SIGINT)


def ending_failures(ending: Ending, codes: tuple[int, ...]) -> Iterator[str]:
    """What is wrong with the end of a command, which should have one of these exit codes."""
    if ending.code is None:
        yield "it does not end"
    elif ending.code not in codes:
        yield f"the exit code is {ending.code}: {ending.errors.strip()[-300:]!r}"
    for words in ("Traceback", "Exception ignored", "internal error", "Fatal Python error"):
        if words in ending.errors:
            yield f"standard error has {words!r}: {ending.errors.strip()[-1000:]!r}"
            break
    for process in ending.left:
        yield f"a process is left: {process[:200]}"


def file_failures(
    command: Command, out: Path, temporary: Path, ending: Ending, *, ignore_old: bool = False
) -> Iterator[str]:
    """What is wrong with the files of a command.

    Args:
        command: The command.
        out: Its folder.
        temporary: Its folder for temporary files.
        ending: How it ended.
        ignore_old: Whether temporary files may be there from one that was killed before.
    """
    was_killed = ending.code is not None and ending.code < 0
    output = command.output(out)
    for path in sorted(out.rglob("*")):
        name = str(path.relative_to(out))
        if path.is_dir():
            continue
        if path == output and ending.code not in (0, 4):
            continue
        reader = next((reader for pattern, reader in command.readers.items() if path.match(pattern)), None)
        if reader is not None:
            try:
                reader(path)
            except Exception as error:
                yield f"half-written: {name}: {type(error).__name__}: {error}"
        elif not was_killed and not (ignore_old and name.startswith(".")):
            yield f"left behind: {name}"
    if not was_killed:
        for path in sorted(temporary.rglob("*")):
            yield f"left behind: {path.relative_to(temporary.parent)}"
