"""Watches a command from outside: how far it has come, when and how it ends, and what it leaves running."""

from __future__ import annotations

import os
import resource
import select
import signal
import subprocess
import time
from collections.abc import Iterator, Sequence
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path

from tests.cli.running import COMMAND, ENVIRONMENT

PATIENCE = 600.0
"""Seconds without an end after which a command counts as stuck; generous, since the machine may be busy."""
_POLL = 0.01
_TICK = 1 / os.sysconf("SC_CLK_TCK")


@dataclass(frozen=True)
class Shot:
    """A signal to send.

    Attributes:
        number: Which one.
        cpu: After so many CPU seconds of the command.
        to_all: To all processes of the command, as Ctrl-C does, and not to the first one alone.
    """

    number: signal.Signals
    cpu: float
    to_all: bool = False


@dataclass(frozen=True)
class Sample:
    """A moment of a command.

    Attributes:
        moment: On the clock of `time.monotonic`.
        queued: Seconds that its main thread had waited for a processor until then.
    """

    moment: float
    queued: float


@dataclass(frozen=True)
class Ending:
    """How a command ended.

    Attributes:
        code: The exit code, negative for a signal; None if it was stuck and had to be killed.
        errors: What it wrote to standard error.
        seconds: How long it ran.
        cpu: CPU seconds of it and its processes.
        shot: The moment at which the signal was sent; None if the command ended before.
        left: The command lines of processes that it left running.
    """

    code: int | None
    errors: str
    seconds: float
    cpu: float
    shot: float | None
    left: list[str]
    samples: list[Sample]

    @property
    def own_seconds(self) -> float:
        """How long it ran, less the time for which its main thread waited for a processor."""
        return self.seconds - self.samples[-1].queued

    def moment_of(self, own_seconds: float) -> float:
        """The moment at which it had run so long, less the time that it waited for a processor."""
        begin = self.samples[0].moment
        return next(
            (each.moment for each in self.samples if each.moment - begin - each.queued >= own_seconds),
            self.samples[-1].moment,
        )

    def since(self, moment: float) -> tuple[float, float]:
        """Seconds from a moment to the end; and these less the time that it waited for a processor."""
        before = [each for each in self.samples if each.moment <= moment] or self.samples[:1]
        end = self.samples[-1]
        late = max(0.0, end.moment - moment)
        return late, max(0.0, late - (end.queued - before[-1].queued))


def watch(
    arguments: Sequence[str | Path],
    temporary: Path,
    *,
    output: Path | None = None,
    shot: Shot | None = None,
    file_size: int | None = None,
    all_processes: bool = False,
) -> Ending:
    """Runs the `asnets` command to its end.

    Args:
        arguments: Of the command.
        temporary: Its folder for temporary files.
        output: Where standard output goes; nowhere if left out.
        shot: A signal to send on the way.
        file_size: The size in bytes beyond which it can write no file.
        all_processes: Whether CPU seconds are those of all its processes, and not of the first one alone.
    """
    environment = ENVIRONMENT | {
        "TMPDIR": str(temporary),
        "TORCHINDUCTOR_CACHE_DIR": str(temporary.with_name("torch")),  # Which torch makes and never removes.
        "PYTHONDONTWRITEBYTECODE": "1",  # Where files cannot be written, Python would damage its cache.
    }
    with (output or Path(os.devnull)).open("wb") as stream:
        process = subprocess.Popen(
            [COMMAND, *map(str, arguments)],
            env=environment,
            stdin=subprocess.DEVNULL,
            stdout=stream,
            stderr=subprocess.PIPE,
            start_new_session=True,
        )
    pid = process.pid
    if file_size is not None:
        resource.prlimit(pid, resource.RLIMIT_FSIZE, (file_size, file_size))
    assert process.stderr is not None
    os.set_blocking(process.stderr.fileno(), False)
    begin = time.monotonic()
    shot_at: float | None = None
    samples: list[Sample] = []
    cpu = 0.0
    is_stuck = False
    handle = os.pidfd_open(pid)
    try:
        has_ended = False
        while True:
            samples.append(Sample(time.monotonic(), _queued(pid)))
            cpu = max(cpu, _tree_cpu(pid) if all_processes else _stat(pid)[1])
            if has_ended:
                break
            if shot is not None and shot_at is None and cpu >= shot.cpu:
                time.sleep(shot.cpu % _TICK)  # CPU time is counted in ticks; the moment is anywhere in one.
                shot_at = time.monotonic()
                (os.killpg if shot.to_all else os.kill)(pid, shot.number)
            if time.monotonic() - (shot_at or begin) > PATIENCE:
                is_stuck = True
                os.kill(pid, signal.SIGKILL)
            has_ended = bool(select.select([handle], [], [], PATIENCE if is_stuck else _POLL)[0])
    finally:
        os.close(handle)
    code = process.wait()
    left = _wait_for_session(pid)
    with process.stderr as pipe:
        errors = (pipe.read() or b"").decode(errors="replace")
    return Ending(
        None if is_stuck else code, errors, samples[-1].moment - samples[0].moment, cpu, shot_at, left, samples
    )


def _stat(pid: int) -> tuple[int, float]:
    """Session and CPU seconds of a process, with those of its children that have been waited for."""
    fields = Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()
    return int(fields[3]), sum(map(int, fields[11:15])) * _TICK


def _queued(pid: int) -> float:
    """Seconds that the main thread of a process has waited for a processor; 0 where the system does not count them."""
    try:
        return int(Path(f"/proc/{pid}/schedstat").read_text().split()[1]) / 1e9
    except OSError:
        return 0.0


def _tree_cpu(pid: int) -> float:
    """CPU seconds of a process and all below it."""
    try:
        children = Path(f"/proc/{pid}/task/{pid}/children").read_text().split()
        return _stat(pid)[1] + sum(_tree_cpu(int(child)) for child in children)
    except OSError:
        return 0.0


def _session(pid: int) -> Iterator[int]:
    """The processes of a session, zombies among them."""
    for name in os.listdir("/proc"):
        with suppress(OSError):
            if name.isdigit() and _stat(int(name))[0] == pid:
                yield int(name)


def _wait_for_session(pid: int) -> list[str]:
    """Waits until no process of a session is left; after a long while kills those that are, and names them."""
    end = time.monotonic() + PATIENCE
    while True:
        left = {}
        for member in _session(pid):
            try:
                command = Path(f"/proc/{member}/cmdline").read_bytes()
            except OSError:
                continue
            if command:  # Zombies have none.
                left[member] = command.replace(b"\0", b" ").decode(errors="replace").strip()
        if not left or time.monotonic() > end:
            break
        time.sleep(_POLL)
    for member in left:
        os.kill(member, signal.SIGKILL)
    return list(left.values())
