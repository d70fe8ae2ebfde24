"""The benchmark families: a domain file and a problem generator each.

The domain files in `files/` are our own, but use the names of the published domains, so that published problems load
with our domains and our problems with the published ones.
"""

from __future__ import annotations

from numbers import Integral

from asnets.domains import blocksworld, cosanostra, gripper, monster, triangle_tireworld
from asnets.domains.family import Family
from asnets.errors import ConfigError
from asnets.ppddl.model import Problem

__all__ = ["FAMILIES", "Family", "domain_text", "generate"]

FAMILIES: dict[str, Family] = {
    family.name: family
    for family in (
        triangle_tireworld.FAMILY,
        cosanostra.FAMILY,
        blocksworld.PROB_BLOCKSWORLD,
        monster.FAMILY,
        blocksworld.EXPLODING_BLOCKSWORLD,
        blocksworld.BLOCKSWORLD,
        gripper.FAMILY,
    )
}
"""The benchmark families by name.

Example:
    >>> asnets.FAMILIES["triangle-tireworld"].size_meaning
    'n, for a triangle with 2n + 1 locations on each side'
"""


def generate(family: str, size: int, *, seed: int = 0, index: int = 0) -> Problem:
    """A problem of a family.

    Args:
        family: A key of `FAMILIES`.
        size: The problem's size; see `Family.size_meaning`.
        seed: Together with `index`, selects a problem of a randomised family; of no effect in the others.
        index: Counts the problems of one seed.

    Returns:
        The same problem for the same arguments, in every process and on every machine.

    Raises:
        ConfigError: There is no such family, the size is below its minimum or above its maximum, or a number is not
            whole or negative.
    """
    found = _family(family)
    numbers: dict[str, object] = {"seed": seed, "index": index}
    for name, number in numbers.items():
        if isinstance(number, Integral) and number < 0:
            raise ConfigError(f"{family}: {name} must not be negative, as {number} is")
    return found.problem(size, seed=seed, index=index)


def domain_text(family: str) -> str:
    """The PPDDL text of a family's domain.

    Raises:
        ConfigError: There is no such family.
    """
    return _family(family).domain_text()


def _family(name: str) -> Family:
    if not (isinstance(name, str) and name in FAMILIES):
        raise ConfigError(f"unknown family {name!r}; known families: {', '.join(FAMILIES)}")
    return FAMILIES[name]
