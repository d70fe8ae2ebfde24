"""The chain of a policy, or the whole MDP of a task, as files for model checkers.

The model is explored as a whole before anything is written: a model that a limit has cut off would answer another
question. Files appear together or not at all.

Numbers are the doubles of the model, written so that they read back as the same doubles. Rows are not normalised: a row
of three outcomes of 1/3 sums to 1 within one unit in the last place, and PRISM and Storm accept far more; a changed
number would be one that `asnets` itself does not compute with.
"""

from __future__ import annotations

import re
import time
from collections.abc import Callable
from contextlib import nullcontext
from dataclasses import dataclass
from functools import partial
from pathlib import Path
from typing import Any, Protocol

from asnets import _native
from asnets.deadline import NO_DEADLINE, Deadline
from asnets.errors import ConfigError, LimitError
from asnets.files import FilesTogether, check_replaceable
from asnets.grounding import GroundTask
from asnets.grounding.task import Bools
from asnets.policies.protocol import TaskPolicy
from asnets.progress import progress_bar
from asnets.verification import drn, prism, umb
from asnets.verification.labels import state_labels
from asnets.verification.model import ExplicitModel, explore_chain, explore_mdp
from asnets.verification.rows import counts, is_chain

DEFAULT_MAX_STATES = 10_000_000
DEFAULT_MEMORY = 10 * 10**9
_BEGINNING = 1000  # Bytes, by which a file is told.


class Write(Protocol):
    """Writes the files of a model; see `write_prism`."""

    def __call__(
        self,
        files: FilesTogether,
        path: Path,
        model: ExplicitModel,
        labels: dict[str, Bools],
        *,
        states: bool,
        check: Callable[[int], None],
    ) -> list[Path]: ...


@dataclass(frozen=True)
class Format:
    """A format of files.

    Attributes:
        suffixes: Of its files; the last one is that of the file by which they are named.
        begins: What each of them begins with, as a regular expression.
        write: Writes them.
        require: Checks that what it needs is installed.
    """

    description: str
    suffixes: tuple[str, ...]
    begins: tuple[str, ...]
    write: Write
    require: Callable[[], None] = lambda: None

    def paths(self, path: Path) -> dict[Path, str]:
        """The files that it may write for a name, the one by which they are named last; what each begins with."""
        if len(self.suffixes) == 1:
            return {path: self.begins[0]}
        base = path.with_suffix("") if path.suffix in self.suffixes else path
        names = [base.with_name(base.name + suffix) for suffix in self.suffixes]
        return dict(zip(names, self.begins, strict=True))


FORMATS: dict[str, Format] = {
    "prism": Format(
        "PRISM's plain-text files, several beside each other",
        prism.SUFFIXES,
        (r'0="init"', r"# Reward structure", r"# Reward structure", r"\(", r"\d+ \d+( \d+)?\n"),
        prism.write_prism,
    ),
    "drn": Format("Storm's text format", drn.SUFFIXES, (r".*@type: ",), drn.write_drn),
    "umb": Format(
        "the binary format that PRISM and Storm share",
        umb.SUFFIXES,
        ("\x1f.",),  # As all that gzip writes.
        umb.write_umb,
        umb.require_umbi,
    ),
}
"""The formats by name."""


@dataclass(frozen=True)
class Exported:
    """What was written.

    Attributes:
        format: One of `FORMATS`.
        files: All that were written.
        policy: The name of the policy of a chain; None for an MDP.
        states: How many there are; likewise the others, with the choice of each state that has none of its own.
        labels: How many states have each label.
        seconds: What it took: "explore", "label", "write".

    Example:
        >>> exported = asnets.export(asnets.RandomPolicy(asnets.generate("gripper", 1)), "chain.drn")
        >>> exported.format, exported.policy, exported.states == exported.choices
        ('drn', 'random', True)
    """

    format: str
    files: tuple[Path, ...]
    task: GroundTask
    policy: str | None
    states: int
    choices: int
    transitions: int
    labels: dict[str, int]
    seconds: dict[str, float]

    def to_dict(self) -> dict[str, Any]:
        """For JSON."""
        return {
            "domain": self.task.domain,
            "problem": self.task.problem,
            "model": "mdp" if self.policy is None else "chain",
            "policy": self.policy,
            "costs": self.task.cost_mode,
            "format": self.format,
            "files": [str(file) for file in self.files],
            "states": self.states,
            "choices": self.choices,
            "transitions": self.transitions,
            "labels": self.labels,
            "seconds": self.seconds,
        }


def format_of(path: Path, name: str | None = None) -> str:
    """The format of a file: the one that is named, else that of its suffix.

    Raises:
        ConfigError: If there is none of that name, or the suffix is of no format.
    """
    if name is not None:
        if name not in FORMATS:
            raise ConfigError(f"unknown format {name!r}; expected one of {', '.join(FORMATS)}")
        return name
    for found, format_ in FORMATS.items():
        if path.suffix in format_.suffixes:
            return found
    suffixes = ", ".join(f"{info.suffixes[-1]} ({found})" for found, info in FORMATS.items())
    raise ConfigError(f"{path}: the name does not tell the format; expected one that ends with {suffixes}, or a format")


def check_output(path: Path, format_name: str, *, force: bool) -> list[Path]:
    """Checks that files of a format may be written for a name; gives all that may be.

    Raises:
        ConfigError: If one of them is there and not to be replaced, or is something else.
        MissingPackageError: If a package is missing that the format needs.
    """
    chosen = FORMATS[format_name]
    chosen.require()
    if not path.name or path.is_dir():
        raise ConfigError(f"{path} is a folder; give the name of a file")
    paths = chosen.paths(path)
    for (file, begins), suffix in zip(paths.items(), chosen.suffixes, strict=True):
        check_replaceable(file, f"{suffix} file of a model", partial(_has_beginning, begins), force=force)
    return list(paths)


def _has_beginning(pattern: str, path: Path) -> bool:
    try:
        with path.open("rb") as stream:
            return re.match(pattern.encode(), stream.read(_BEGINNING), re.DOTALL) is not None
    except OSError:
        return False


def export(
    what: TaskPolicy | GroundTask,
    path: str | Path,
    *,
    format: str | None = None,  # noqa: A002
    states: bool = False,
    force: bool = False,
    max_states: int = DEFAULT_MAX_STATES,
    memory_limit: int = DEFAULT_MEMORY,
    threads: int | None = None,
    deadline: Deadline = NO_DEADLINE,
    progress: bool = False,
) -> Exported:
    """Writes the chain of a policy, or the MDP of a task, as files for model checkers.

    States are labelled init, goal, dead_end (the goal is proved out of reach), gives_up (the policy stops) and
    unexplored (never in what this function writes). Costs are rewards named "cost"; goals, and other states where a run
    ends, loop at no cost. In a chain of a policy that draws among several actions, the choice has no name.

    Args:
        what: A policy of a task, such as `RandomPolicy(task)`, `solve(task).policy` or `policy.of(task)` of a trained
            one; or a task, for all states that can be reached from its initial one, and all actions.
        path: The file to write: .tra (PRISM; others stand beside it: .lab, .srew or .trew, and .sta), .drn or .umb.
        format: "prism", "drn" or "umb"; by the name of the file if left out.
        states: Whether to describe each state by its true propositions.
        force: Whether to replace such files that are there.
        max_states: How many states the model may have.
        memory_limit: Resident memory of the process, in bytes.
        threads: On how many to explore; as many as there are cores if left out. The result is the same.
        deadline: When all of it has to end.
        progress: Whether to show how far it is, on a terminal or in a notebook.

    Raises:
        ConfigError: If an argument cannot be used, or a file is there that is not to be replaced.
        FileError: If a file cannot be written; nothing is left behind then.
        LimitError: If a limit is reached; nothing is written then.
        MissingPackageError: If `umbi` is not installed, for UMB.

    Example:
        >>> task = asnets.generate("triangle-tireworld", 1)
        >>> exported = asnets.export(task, "mdp.drn")
        >>> exported.states, exported.labels["goal"], exported.labels["dead_end"]
        (42, 16, 2)
        >>> policy = asnets.Policy.load("triangle-tireworld").of(task)
        >>> [file.name for file in asnets.export(policy, "chain.tra").files]
        ['chain.lab', 'chain.srew', 'chain.tra']
    """
    name = format_of(Path(path), format)
    paths = check_output(Path(path), name, force=force)
    limits: Any = {"max_states": max_states, "deadline": deadline, "memory": memory_limit, "threads": threads}
    if isinstance(what, GroundTask):
        model = explore_mdp(what, progress=progress, **limits)
    else:
        model = explore_chain(what, progress=progress, **limits)
    if not model.is_complete:
        raise _cut_off(model, max_states, memory_limit, deadline)
    assert model.task is not None
    start = time.perf_counter()
    labels = state_labels(model, deadline)
    labelled = time.perf_counter()

    with progress_bar("writing", model.num_states) if progress else nullcontext(_say_nothing) as show:

        def check(done: int) -> None:
            show(done, "states")
            deadline.check(f"writing {path}")
            if _native.resident_memory() > memory_limit:
                raise LimitError(f"the memory limit of {memory_limit / 1e6:,.0f} MB was reached while writing {path}")

        files = write_model(paths[-1], model, labels, name, states=states, check=check)
    seconds = {"explore": model.seconds, "label": labelled - start, "write": time.perf_counter() - labelled}
    sizes = {label: int(holds.sum()) for label, holds in labels.items()}
    return Exported(name, tuple(files), model.task, model.policy, *counts(model), sizes, seconds)


def write_model(
    path: Path,
    model: ExplicitModel,
    labels: dict[str, Bools],
    format_name: str,
    *,
    states: bool = False,
    check: Callable[[int], None] = lambda done: None,
) -> list[Path]:
    """Writes a model, in place of whatever is there, and says which files.

    Args:
        path: The file by which they are named.
        model: The model; its numbers may be fractions too, as objects, in the text formats.
        labels: Of its states.
        format_name: One of `FORMATS`.
        states: Whether to describe states.
        check: Called now and then with the number of states that are written; may raise an error.

    Raises:
        FileError: If one cannot be written; what was there stays then, and nothing else is left.
        MissingPackageError: If a package is missing that the format needs.
    """
    chosen = FORMATS[format_name]
    with FilesTogether(remove=chosen.paths(path)) as files:
        return chosen.write(files, path, model, labels, states=states, check=check)


def _say_nothing(done: int, figures: str) -> None:
    """In place of a bar."""


def _cut_off(model: ExplicitModel, max_states: int, memory_limit: int, deadline: Deadline) -> LimitError:
    assert model.task is not None
    problem = model.task.problem
    what = f"the chain of {model.policy} on {problem}" if is_chain(model) else f"the MDP of {problem}"
    if model.status == "states":
        return LimitError(f"{what} has more than {max_states:,} states, which is the limit; nothing is written")
    is_memory = model.status == "memory"
    limit = f"the memory limit of {memory_limit / 1e6:,.0f} MB" if is_memory else deadline.words
    return LimitError(
        f"{limit} was reached after {model.num_states:,} states of {what}, which has more; nothing is written"
    )
