"""Grounding of tasks whose size lies in quantifiers: CPU seconds and memory, each in its own process.

    python -m benchmarks.grounding [SIZE ...]

SysAdmin: every action may stop any machine, those beside a stopped one more likely, so that n actions have n² effects.
Coloured blocks: the goal is a tower of n blocks of given colours, one quantifier a block.
"""

from __future__ import annotations

import json
import random
import resource
import subprocess
import sys
import time

from rich.table import Table

from asnets.grounding import ground
from asnets.ppddl import parse_text
from benchmarks import wide_console

SIZES = [240, 480, 960, 1920]
TOWERS = [6, 8, 10]

SYSADMIN = """(define (domain machines)
  (:types machine)
  (:predicates (running ?m) (feeds ?m ?n))
  (:action restart
    :parameters (?m - machine)
    :effect (and
      (probabilistic 0.9 (running ?m))
      (forall (?n - machine) (and
        (probabilistic 0.05 (when (not (= ?n ?m)) (not (running ?n))))
        (probabilistic 0.2 (when
          (exists (?other - machine) (and (feeds ?other ?n) (not (running ?other)) (not (= ?n ?m))))
          (not (running ?n)))))))))
"""
BLOCKS = """(define (domain coloured-blocks)
  (:types block colour)
  (:predicates (on ?b ?c - block) (bottom ?b - block) (clear ?b - block) (held ?b - block) (free)
    (has ?b - block ?c - colour))
  (:action take
    :parameters (?b ?c - block)
    :precondition (and (free) (clear ?b) (on ?b ?c))
    :effect (and (held ?b) (clear ?c) (not (on ?b ?c)) (not (clear ?b)) (not (free))))
  (:action lift
    :parameters (?b - block)
    :precondition (and (free) (clear ?b) (bottom ?b))
    :effect (and (held ?b) (not (bottom ?b)) (not (clear ?b)) (not (free))))
  (:action put
    :parameters (?b ?c - block)
    :precondition (and (held ?b) (clear ?c))
    :effect (and (free) (clear ?b) (not (held ?b))
      (probabilistic 3/4 (and (on ?b ?c) (not (clear ?c))) 1/4 (bottom ?b)))))
"""


def sysadmin(size: int) -> str:
    """A ring of machines with as many connections across it."""
    rng = random.Random(size)
    names = [f"m{number}" for number in range(size)]
    links = [*zip(names, names[1:] + names[:1], strict=True), *(rng.sample(names, 2) for _ in names)]
    facts = " ".join(f"(feeds {first} {second})" for first, second in links)
    return (
        f"{SYSADMIN} (define (problem ring-{size}) (:domain machines) (:objects {' '.join(names)} - machine)"
        f" (:init {facts}) (:goal (forall (?m - machine) (running ?m))))"
    )


def coloured_tower(size: int, colours: int = 4) -> str:
    """All blocks in one tower whose colours are those of the blocks, shuffled; one `exists` inside the other."""
    rng = random.Random(size)
    blocks = [f"b{number}" for number in range(size)]
    colour = {block: f"c{index % colours}" for index, block in enumerate(blocks)}
    wanted = rng.sample([colour[block] for block in blocks], size)
    tower = [f"(has ?x{index} {name})" for index, name in enumerate(wanted)]
    tower += [f"(on ?x{index} ?x{index + 1})" for index in range(size - 1)]
    opening = " ".join(f"(exists (?x{index} - block)" for index in range(size))
    facts = " ".join(f"(bottom {block}) (clear {block}) (has {block} {colour[block]})" for block in blocks)
    return (
        f"{BLOCKS} (define (problem tower-{size}) (:domain coloured-blocks)"
        f" (:objects {' '.join(blocks)} - block {' '.join(f'c{number}' for number in range(colours))} - colour)"
        f" (:init (free) {facts}) (:goal {opening} (and {' '.join(tower)}){')' * size}))"
    )


FAMILIES = {"SysAdmin": sysadmin, "coloured blocks": coloured_tower}


def measure(family: str, size: int) -> dict[str, float]:
    """CPU seconds and peak memory of this process."""
    document = parse_text(FAMILIES[family](size))
    began = time.process_time()
    task = ground(document.domains[0], document.problems[0])
    _ = task.native
    seconds = time.process_time() - began
    memory = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1000
    return {"seconds": seconds, "memory": memory, "actions": task.num_actions}


def main(arguments: list[str] | None = None) -> None:
    """Prints the table, or the figures of one task (FAMILY SIZE)."""
    words = sys.argv[1:] if arguments is None else arguments
    if len(words) == 2 and words[0] in FAMILIES:
        print(json.dumps(measure(words[0], int(words[1]))))
        return
    table = Table("task", "actions", "CPU seconds", "memory, MB", title="Grounding with many quantified variables")
    tasks = [("SysAdmin", int(word)) for word in words] or [
        *(("SysAdmin", size) for size in SIZES),
        *(("coloured blocks", size) for size in TOWERS),
    ]
    for family, size in tasks:
        command = [sys.executable, "-m", "benchmarks.grounding", family, str(size)]
        result = json.loads(subprocess.run(command, capture_output=True, text=True, check=True).stdout)
        figures = f"{result['actions']:,}", f"{result['seconds']:.2f}", f"{result['memory']:,.0f}"
        table.add_row(f"{family} {size}", *figures)
    wide_console().print(table)


if __name__ == "__main__":
    main()
