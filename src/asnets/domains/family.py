"""What a benchmark family is: a domain file, a problem builder and the words to describe them."""

from __future__ import annotations

import random
from collections.abc import Callable
from dataclasses import dataclass
from importlib import resources
from numbers import Integral

from asnets.errors import ConfigError
from asnets.ppddl.model import Problem


@dataclass(frozen=True, slots=True)
class Family:
    """A parametrised set of problems over one domain.

    Attributes:
        name: The name in the registry and on the command line.
        title: A human-readable name.
        size_meaning: What the size counts, in one line.
        minimum_size: The smallest size that makes sense.
        domain_file: The domain's file name in the folder `files` of this package.
        problem_prefix: What a problem's name starts with; the size follows.
        build: Makes the problem of a size; takes its random numbers from the generator and uses the given name.
        randomised: Whether `build` draws random numbers, so that a size has many problems.
        reference: Where the family was published.
        maximum_size: The largest size; beyond it a problem would have millions of objects and facts.
    """

    name: str
    title: str
    size_meaning: str
    minimum_size: int
    domain_file: str
    problem_prefix: str
    build: Callable[[int, random.Random, str], Problem]
    randomised: bool
    reference: str
    maximum_size: int = 1_000_000

    def problem_name(self, size: int, *, seed: int, index: int) -> str:
        """The name of one problem; the seed and index are part of it only where they make a difference."""
        name = f"{self.problem_prefix}{size}"
        return f"{name}-s{seed}-i{index}" if self.randomised else name

    def problem(self, size: int, *, seed: int = 0, index: int = 0) -> Problem:
        """The problem of a size; `index` counts the problems of one seed.

        Raises:
            ConfigError: The size is below the family's minimum or above its maximum, or a number is not whole.
        """
        given: dict[str, object] = {"size": size, "seed": seed, "index": index}
        for name, value in given.items():
            if isinstance(value, bool) or not isinstance(value, Integral):
                raise ConfigError(f"{self.name}: {name} must be a whole number, not {value!r}")
        if size < self.minimum_size:
            raise ConfigError(
                f"{self.name}: size {size} is too small; the smallest is {self.minimum_size} "
                f"(the size is: {self.size_meaning})"
            )
        if size > self.maximum_size:
            raise ConfigError(
                f"{self.name}: size {size} is too large; the largest is {self.maximum_size} "
                f"(the size is: {self.size_meaning})"
            )
        # A string seed goes through SHA-512, not through hash(), and so gives the same numbers in every process.
        rng = random.Random(f"{self.name}/{size}/{seed}/{index}")
        return self.build(size, rng, self.problem_name(size, seed=seed, index=index))

    def domain_text(self) -> str:
        """The text of the domain file."""
        return (resources.files(__package__) / "files" / self.domain_file).read_text(encoding="utf-8")
