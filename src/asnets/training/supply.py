"""Where larger problems come from: a benchmark family, or a folder of files; in the same order each time."""

from __future__ import annotations

from collections.abc import Callable, Collection
from pathlib import Path
from typing import Any, Protocol

from asnets.deadline import Deadline
from asnets.domains import FAMILIES, Family
from asnets.errors import ConfigError, FileError, LimitError
from asnets.grounding import GroundTask
from asnets.grounding.fingerprint import fingerprint
from asnets.loading import generate
from asnets.network import DomainSignature
from asnets.ppddl import load_task, parse_file
from asnets.training.problems import task_size
from asnets.words import by_number, count

_INSTANCES = 3
"""Of each size, where problems of a size differ."""
_SHARE = 0.1
"""Reading and grounding one may take this share of the time left."""
_GROWTH = 5
"""Sizes of a family grow by one part in so many, and by one at least."""


class Supply(Protocol):
    """Problems by number, about in the order of their sizes."""

    @property
    def identity(self) -> str:
        """What a checkpoint knows it by."""

    def task(self, number: int, deadline: Deadline) -> GroundTask | None:
        """The problem of this number, from 0 on; None if there are no more.

        Raises:
            LimitError: If it is too large, or the deadline passes.
        """


def open_supply(
    place: str | Path,
    like: GroundTask,
    *,
    domain: str | Path | None,
    read: Callable[[str, Deadline], GroundTask],
    seed: int,
    lenient: bool = False,
) -> Supply:
    """What a user names: a family of `asnets.FAMILIES`, or a folder.

    Args:
        place: The name.
        like: A problem of the domain, with the costs that problems are to have.
        domain: The domain file.
        read: Reads a problem file.
        seed: Of a randomised family.
        lenient: As for `load`.

    Raises:
        ConfigError: If it is neither, or of another domain.
        FileError: If a folder has no problems.
        InputError: With all mistakes of a file.
    """
    if str(place) in FAMILIES:
        return FamilySupply(FAMILIES[str(place)], like, seed)
    if not Path(place).is_dir():
        families = ", ".join(FAMILIES)
        raise ConfigError(f"{place} is neither a folder nor a family of problems; the families are {families}")
    if domain is None:
        raise ConfigError(f"{place} is a folder, and there is no domain file to read its problems with")
    return FolderSupply(Path(place), domain, read, lenient)


class FamilySupply:
    """Generated problems. The seed is not one that users take, so that what is drawn is not what is tested with."""

    def __init__(self, family: Family, like: GroundTask, seed: int) -> None:
        self._family = family
        self._costs = like.cost_mode
        self._seed = seed
        first = generate(family.name, family.minimum_size, costs=self._costs)
        differences = DomainSignature.of(like).differences(DomainSignature.of(first))
        if differences:
            raise ConfigError(
                f"the family {family.name} is of another domain than the problem {like.problem!r}: {differences[0]}"
            )

    @property
    def identity(self) -> str:
        return f"the family {self._family.name}"

    def task(self, number: int, deadline: Deadline) -> GroundTask | None:
        instances = _INSTANCES if self._family.randomised else 1
        size = self._family.minimum_size
        for _ in range(number // instances):
            size += max(1, size // _GROWTH)
        if size > self._family.maximum_size:
            return None
        deadline.check(f"a problem of {self._family.name} of size {size} was generated")
        return generate(self._family.name, size, seed=self._seed, index=number % instances, costs=self._costs)


class FolderSupply:
    """The problems of a folder's files *.pddl, by numbers of objects and of facts, then by name.

    All files are read and checked at once, so that mistakes are found before training begins.
    """

    def __init__(
        self, folder: Path, domain: str | Path, read: Callable[[str, Deadline], GroundTask], lenient: bool
    ) -> None:
        self._read = read
        entries = []
        for path in sorted(folder.glob("*.pddl")):
            problems = parse_file(path, lenient=lenient).problems
            for problem in problems:
                name = f"{path}:{problem.name}" if len(problems) > 1 else str(path)
                load_task(domain, name, lenient=lenient, on_warning=lambda warning: None)
                entries.append((len(problem.objects), len(problem.init), by_number(path.name), problem.name, name))
        if not entries:
            raise FileError(f"{folder}: the folder holds no problems (*.pddl)")
        entries.sort()
        self._names = [name for *_, name in entries]
        self._problems = [problem for *_, problem, _ in entries]

    @property
    def identity(self) -> str:
        return f"a folder with {count(len(self._problems), 'problem')}: {', '.join(self._problems)}"

    def task(self, number: int, deadline: Deadline) -> GroundTask | None:
        if number >= len(self._names):
            return None
        deadline.check(f"{self._names[number]} was read")
        return self._read(self._names[number], deadline)


class Draw:
    """Draws from a supply, each problem once.

    Attributes:
        next: The number of the problem that comes next.
        why_over: Why nothing more is drawn; None if there may be more.
    """

    def __init__(self, supply: Supply) -> None:
        self.supply = supply
        self.next = 0
        self.why_over: str | None = None

    def larger(self, least: int, known: Collection[str], deadline: Deadline) -> tuple[int, GroundTask] | None:
        """The next problem that is not smaller than others, with its number; None if there are no more.

        Args:
            least: Propositions and actions of the largest of the others.
            known: Fingerprints of problems that are not to be drawn.
            deadline: Of the training; reading and grounding may take a share of what is left.

        Raises:
            LimitError: If it passes.
        """
        own = deadline.part(_SHARE)
        try:
            while (task := self.supply.task(self.next, own)) is not None:
                self.next += 1
                if task_size(task) >= least and fingerprint(task) not in known:
                    return self.next - 1, task
            self.why_over = "there are no larger ones"
        except LimitError as error:
            deadline.check("a larger problem was read")
            self.why_over = f"the next one is too large: {error}"
        return None

    def again(self, number: int, expected: str, deadline: Deadline) -> GroundTask:
        """The problem that was drawn with a number before.

        Raises:
            ValueError: If it is another one.
        """
        task = self.supply.task(number, deadline)
        if task is None or fingerprint(task) != expected:
            raise ValueError(f"{self.supply.identity}: the problem with number {number} is not what it was")
        return task

    def state(self) -> dict[str, Any]:
        """What goes into checkpoints."""
        return {"from": self.supply.identity, "next": self.next, "why_over": self.why_over}


def restore_draw(draw: Draw | None, state: dict[str, Any] | None) -> None:
    """Goes on to draw where an earlier session stood.

    Raises:
        ValueError: If it drew from somewhere else.
    """
    here, there = None if draw is None else draw.supply.identity, None if state is None else state["from"]
    if here != there:
        raise ValueError(f"larger problems come from {there or 'nowhere'} there, from {here or 'nowhere'} here")
    if draw is not None and state is not None:
        draw.next, draw.why_over = state["next"], state["why_over"]
