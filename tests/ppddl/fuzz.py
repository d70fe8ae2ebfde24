"""A mutation fuzzer: good tasks, damaged at random, must be read or refused, never crash.

    python -m tests.ppddl.fuzz --count 100000 --seed 1

An input is a domain and a problem as one text. It is read strictly and leniently; what is done with it is up to
`attempt`. Anything but success or an `AsnetsError` stops the run, and the input is written to a file. The inputs depend
on the seed alone.
"""

from __future__ import annotations

import argparse
import random
import re
import sys
import tempfile
import time
import traceback
from collections import Counter
from collections.abc import Callable, Sequence
from functools import cache
from pathlib import Path

from asnets.domains import FAMILIES, domain_text, generate
from asnets.errors import AsnetsError, InputError
from asnets.evaluation import simulate
from asnets.grounding import Limits, ground
from asnets.policies import RandomPolicy
from asnets.ppddl import LENIENT_HINT, Document, Domain, Problem, parse_text, write_domain, write_problem
from tests.support import loop_seconds

TOKEN = re.compile(r"[()]|[^\s()]+|\s+")
NUMBER = re.compile(r"(?<![^\s(])[+-]?[\d./]+(?![^\s)])")
_WORDS = """
( ) () - ?x ?y ? : ; = and or not imply forall exists when probabilistic either oneof increase decrease reward
total-cost (reward) define domain problem object number minimize maximize at unknown undefined <= > assign
:requirements :types :constants :predicates :functions :action :parameters :precondition :effect :domain :objects
:init :goal :metric :goal-reward :derived :durative-action :vars 0.5 1/3 (and) (or) (:init) #t |a| "s" 'q ,
"""
WORDS = (
    *_WORDS.split(),
    "(define (domain d))",
    "(forall (?x) (p ?x))",
    "(either object object)",
    "(probabilistic 0.5 (and) 0.5 (and))",
    "(:goal (and))",
)
_NUMBERS = """
0 1 -1 -0 1/0 0/1 1/3 1.0 .5 5. +1 -.5 1e5 1e999 0.1 0.999999999999 1.0000000000001 nan inf -inf 2/3 00 1/2/3
"""
NUMBERS = (*_NUMBERS.split(), "9" * 400, "9" * 401, "9" * 5000, "0." + "3" * 350, "1/" + "7" * 380)
CHARACTERS = "()?-:;=/.#\"'\\|,\0\x1b\x7f\x85\xa0é中\u2028\ud800\ufeff😀 \t\n\r\f\vaZ09_"

Mutation = Callable[[str, random.Random], str]
FUZZ_LIMITS = Limits(max_actions=20_000, max_atoms=20_000, max_entries=200_000, max_join_steps=1_000_000)


def attempt(text: str) -> str:
    """Does all there is to do with an input; returns the kind of the outcome. Anything else is a bug.

    What is read strictly is read leniently without a warning, and is the same. What is only read leniently has
    warnings, and is right once it is written.
    """
    strict, lenient = _read(text, lenient=False), _read(text, lenient=True)
    if isinstance(lenient, InputError):
        assert isinstance(strict, InputError)
        assert LENIENT_HINT not in str(strict)
        assert {diagnostic.severity for diagnostic in lenient.diagnostics} == {"error"}
        return type(strict).__name__
    if isinstance(strict, InputError):
        assert LENIENT_HINT in str(strict) or len(strict.diagnostics) > 1000
        assert {diagnostic.severity for diagnostic in lenient.diagnostics} == {"warning"}
    else:
        assert (lenient.domains, lenient.problems) == (strict.domains, strict.problems)
        assert not lenient.diagnostics
    document = lenient
    written = "".join([*map(write_domain, document.domains), *map(write_problem, document.problems)])
    again = parse_text(written)
    assert (again.domains, again.problems) == (document.domains, document.problems)
    for problem in document.problems:
        for domain in document.domains:
            if domain.name == problem.domain:
                ground_and_simulate(domain, problem)
    return "forgiven" if document.diagnostics else "success"


def _read(text: str, lenient: bool) -> Document | InputError:
    """What is read, or the error; messages can be printed."""
    try:
        document = parse_text(text, lenient=lenient)
    except InputError as error:
        str(error).encode()
        return error
    "".join(map(str, document.diagnostics)).encode()
    return document


def ground_and_simulate(domain: Domain, problem: Problem) -> None:
    """Everything after the front-end, on small limits."""
    for costs in ("unit", "metric"):
        try:
            task = ground(domain, problem, costs=costs, limits=FUZZ_LIMITS)
        except AsnetsError as error:
            str(error).encode()
            continue
        result = simulate(RandomPolicy(task), episodes=3, max_steps=20, threads=1)
        assert result.episodes - result.count("stopped") == 3


# --- Good inputs ------------------------------------------------------------------------------------------------


@cache
def seeds() -> tuple[str, ...]:
    """Good inputs: the domains as they are and as the writer writes them, with small problems."""
    texts = []
    for name, family in FAMILIES.items():
        for size in range(family.minimum_size, family.minimum_size + 2):
            problem = write_problem(generate(name, size))
            texts.append(domain_text(name) + problem)
        texts.append(write_domain(parse_text(domain_text(name)).domains[0]) + problem)
    return (*texts, RICH, write_rich())


RICH = """
; Everything that the language has.
(define (domain rich)
  (:requirements :adl :probabilistic-effects :rewards :action-costs)
  (:types car bus - vehicle vehicle place - object spot)
  (:constants home - place me - (either spot))
  (:predicates (at ?v - vehicle ?p - place) (clean ?x - (either car place)) raining (free ?s - spot))
  (:functions (distance ?a ?b - place) (fuel) - number (total-cost) - number)
  (:action drive
    :parameters (?v - vehicle ?from ?to - place)
    :precondition (and (at ?v ?from) (not (= ?from ?to)) (or raining (not (clean ?to)) (imply (raining) (clean ?from)))
      (forall (?p - place) (exists (?c - car) (or (at ?c ?p) (= ?p home)))))
    :effect (and (not (at ?v ?from))
      (probabilistic 9/10 (at ?v ?to) 0.05 (and (at ?v home) (increase (total-cost) 3)))
      (forall (?c - car) (when (and (at ?c ?to) (raining)) (probabilistic .5 (not (clean ?c)) 1/3 (clean ?c))))
      (when (or (< (distance ?from ?to) 3) (= (fuel) 7/2)) (not (clean ?to)))
      (increase (total-cost) (+ (distance ?from ?to) (* 2 (fuel)) (/ 1 3)))
      (decrease (reward) 1)))
  (:action wait :effect (probabilistic 0.25 raining 0.25 (not raining)))
  (:action rest))
(define (problem rich-1)
  (:domain rich)
  (:objects c1 c2 - car b1 - bus p1 p2 p3 - place s - spot)
  (:init (at c1 p1) (at c2 p2) (at b1 home) raining (clean c1) (free s) (not (free me)) (clean p1)
    (= (distance p1 p2) 5) (= (distance p2 p1) 0.5) (= fuel (/ 7 2)) (= (total-cost) 0)
    (probabilistic 1 (and (clean c2) (free s))))
  (:goal (and (forall (?c - car) (at ?c home)) (or (not (raining)) (exists (?x - (either bus car)) (at ?x p3)))))
  (:goal-reward 100)
  (:metric minimize (+ (total-cost) (* 0.5 (total-cost)))))
"""


def write_rich() -> str:
    document = parse_text(RICH)
    return write_domain(document.domains[0]) + write_problem(document.problems[0])


# --- Mutations --------------------------------------------------------------------------------------------------


def _tokens(text: str, rng: random.Random) -> tuple[list[str], int]:
    """The tokens and blanks of a text, and the place of one that is no blank."""
    tokens = TOKEN.findall(text) or ["x"]
    for _ in range(20):
        place = rng.randrange(len(tokens))
        if not tokens[place].isspace():
            break
    return tokens, place


def delete_token(text: str, rng: random.Random) -> str:
    tokens, place = _tokens(text, rng)
    return "".join(tokens[:place] + tokens[place + 1 :])


def delete_tokens(text: str, rng: random.Random) -> str:
    tokens, place = _tokens(text, rng)
    return "".join(tokens[:place] + tokens[place + rng.randrange(2, 60) :])


def insert_token(text: str, rng: random.Random) -> str:
    tokens, place = _tokens(text, rng)
    word = rng.choice(WORDS if rng.random() < 0.5 else tokens)
    return "".join([*tokens[:place], " ", word, " ", *tokens[place:]])


def replace_token(text: str, rng: random.Random) -> str:
    tokens, place = _tokens(text, rng)
    tokens[place] = rng.choice(WORDS if rng.random() < 0.5 else tokens)
    return "".join(tokens)


def replace_leaf(text: str, rng: random.Random) -> str:
    """A word becomes another word of the text, mostly one of the same kind."""
    tokens, place = _tokens(text, rng)
    if tokens[place] in ("(", ")"):
        place = min(place + 1, len(tokens) - 1)
    words = [token for token in tokens if token not in ("(", ")") and not token.isspace()]
    alike = [word for word in words if word[0] == tokens[place][0]]
    if tokens[place] in words:
        tokens[place] = rng.choice(alike if rng.random() < 0.5 else words)
    return "".join(tokens)


def duplicate_tokens(text: str, rng: random.Random) -> str:
    tokens, place = _tokens(text, rng)
    end = place + rng.choice((1, 1, 2, 5, 20, 100))
    return "".join([*tokens[:end], " ", *tokens[place:end], *tokens[end:]])


def swap_tokens(text: str, rng: random.Random) -> str:
    tokens, first = _tokens(text, rng)
    second = min(first + rng.choice((1, 2, 3, 7, 50, 500)), len(tokens) - 1)
    tokens[first], tokens[second] = tokens[second], tokens[first]
    return "".join(tokens)


def delete_list(text: str, rng: random.Random) -> str:
    tokens, first, last = _list(text, rng)
    return "".join(tokens[:first] + tokens[last + 1 :])


def empty_list(text: str, rng: random.Random) -> str:
    tokens, first, last = _list(text, rng)
    return "".join(tokens[: first + 1] + tokens[last:])


def repeat_list(text: str, rng: random.Random) -> str:
    tokens, first, last = _list(text, rng)
    times = rng.choice((1, 1, 2, 30))
    return "".join(tokens[: last + 1] + tokens[first : last + 1] * times + tokens[last + 1 :])


def move_list(text: str, rng: random.Random) -> str:
    tokens, first, last = _list(text, rng)
    moved, rest = tokens[first : last + 1], tokens[:first] + tokens[last + 1 :]
    place = rng.randrange(len(rest) + 1)
    return "".join(rest[:place] + moved + rest[place:])


def nest_list(text: str, rng: random.Random) -> str:
    tokens, first, last = _list(text, rng)
    opening = rng.choice(("(", "(and ", "(not ", "(when (and) ", "(probabilistic 0.5 ", "(forall (?x) ", "(or ", "(- "))
    depth = rng.choice((1, 1, 1, 2, 10, 200, 3000))
    nested = [opening * depth, *tokens[first : last + 1], ")" * depth]
    return "".join(tokens[:first] + nested + tokens[last + 1 :])


def _list(text: str, rng: random.Random) -> tuple[list[str], int, int]:
    """The tokens of a text and the first and last one of some list in it; of one token where there is no list."""
    tokens, place = _tokens(text, rng)
    opened = [index for index, token in enumerate(tokens) if token == "("]
    first = rng.choice(opened) if opened else place
    depth = 0
    for last in range(first, len(tokens)):
        depth += (tokens[last] == "(") - (tokens[last] == ")")
        if depth <= 0:
            return tokens, first, last
    return tokens, first, len(tokens) - 1


def change_bracket(text: str, rng: random.Random) -> str:
    places = [match.start() for match in re.finditer(r"[()]", text)] or [0]
    place = rng.choice(places)
    return text[:place] + rng.choice(("", "(", ")", "()", ")(", "((")) + text[place + 1 :]


def change_character(text: str, rng: random.Random) -> str:
    place = rng.randrange(len(text) + 1)
    return text[:place] + rng.choice(CHARACTERS) + text[place + rng.randrange(2) :]


def delete_characters(text: str, rng: random.Random) -> str:
    place = rng.randrange(len(text) + 1)
    return text[:place] + text[place + rng.choice((1, 1, 2, 10, 300)) :]


def change_bytes(text: str, rng: random.Random) -> str:
    data = bytearray(text.encode(errors="surrogatepass"))
    for _ in range(rng.choice((1, 1, 5, 50))):
        if data:
            data[rng.randrange(len(data))] = rng.randrange(256)
    return data.decode(errors=rng.choice(("replace", "surrogateescape")))


def insert_random_bytes(text: str, rng: random.Random) -> str:
    place = rng.randrange(len(text) + 1)
    return text[:place] + rng.randbytes(rng.randrange(1, 40)).decode("latin-1") + text[place:]


def truncate(text: str, rng: random.Random) -> str:
    return text[: rng.randrange(len(text) + 1)]


def change_case(text: str, rng: random.Random) -> str:
    first = rng.randrange(len(text) + 1)
    last = first + rng.choice((1, 10, 1000))
    return text[:first] + text[first:last].swapcase() + text[last:]


def change_number(text: str, rng: random.Random) -> str:
    places = list(NUMBER.finditer(text))
    if not places:
        return insert_token(text, rng)
    place = rng.choice(places)
    return text[: place.start()] + rng.choice(NUMBERS) + text[place.end() :]


def rename(text: str, rng: random.Random) -> str:
    """All uses of one name become another name."""
    tokens, place = _tokens(text, rng)
    old, new = tokens[place], rng.choice(tokens)
    return "".join(new if token == old else token for token in tokens)


def forget(text: str, rng: random.Random) -> str:
    """A word that occurs several times loses its first occurrence, which is mostly its declaration."""
    tokens, place = _tokens(text, rng)
    place = tokens.index(tokens[place])
    return text if tokens[place] in ("(", ")") else "".join(tokens[:place] + tokens[place + 1 :])


def repeat_word(text: str, rng: random.Random) -> str:
    tokens, place = _tokens(text, rng)
    return text if tokens[place] in ("(", ")") else "".join([*tokens[:place], tokens[place], " ", *tokens[place:]])


def splice(text: str, rng: random.Random) -> str:
    other = rng.choice(seeds())
    cut = rng.randrange(len(text) + 1)
    return text[:cut] + other[rng.randrange(len(other)) :]


def join(text: str, rng: random.Random) -> str:
    other = rng.choice(seeds())
    return text + other if rng.random() < 0.5 else other + text


def change_line_ends(text: str, rng: random.Random) -> str:
    return text.replace("\n", rng.choice(("\r", "\r\n", "\f", "", "\n;")))


GENTLE: tuple[Mutation, ...] = (
    replace_leaf,
    delete_list,
    empty_list,
    repeat_list,
    move_list,
    nest_list,
    change_case,
    change_number,
    rename,
    forget,
    repeat_word,
    join,
)
"""These leave the parentheses matched, so that more than the reader is tried."""
ROUGH: tuple[Mutation, ...] = (
    delete_token,
    delete_tokens,
    insert_token,
    replace_token,
    duplicate_tokens,
    swap_tokens,
    change_bracket,
    change_character,
    delete_characters,
    change_bytes,
    insert_random_bytes,
    truncate,
    splice,
    change_line_ends,
)
MAX_LENGTH = 30_000


def make_input(seed: int, index: int) -> str:
    """The input of a number; mostly with a single mutation or a few."""
    rng = random.Random(f"{seed}/{index}")
    text = rng.choice(seeds())
    roughness = rng.choice((0.0, 0.3, 1.0))
    for _ in range(rng.choice((1, 1, 1, 2, 2, 3, 5, 10))):
        mutation = rng.choice(ROUGH if rng.random() < roughness else GENTLE)
        text = mutation(text, rng)[:MAX_LENGTH]
    return text


# --- Running ----------------------------------------------------------------------------------------------------


class Crash(AssertionError):  # noqa: N818
    """An input with an outcome that is neither success nor an error for the user."""


def fuzz(count: int, seed: int, *, progress: bool = False) -> Counter[str]:
    """Tries so many inputs; returns how often each outcome occurred.

    Raises:
        Crash: At the first outcome that is none; names the file to which the input was written.
    """
    outcomes: Counter[str] = Counter()
    for index in range(count):
        text = make_input(seed, index)
        began = time.process_time()
        try:
            outcomes[attempt(text)] += 1
        except Exception as error:
            path = Path(tempfile.gettempdir()) / f"fuzz-{seed}-{index}.pddl"
            path.write_text(text, encoding="utf-8", errors="surrogatepass")
            raise Crash(f"input {index} of seed {seed} ({path}):\n{traceback.format_exc()}") from error
        seconds = time.process_time() - began
        if seconds > 60 * loop_seconds():
            raise Crash(f"input {index} of seed {seed} took {seconds:.0f} s of CPU time")
        if progress and (index + 1) % 1000 == 0:
            print(f"\r{index + 1} of {count}", end="", file=sys.stderr, flush=True)
    if progress:
        print(file=sys.stderr)
    return outcomes


def main(arguments: Sequence[str] | None = None) -> int:
    """The command line."""
    parser = argparse.ArgumentParser(prog="python -m tests.ppddl.fuzz", description="A mutation fuzzer.")
    parser.add_argument("--count", type=int, default=10_000, help="how many inputs to try")
    parser.add_argument("--seed", type=int, default=0, help="selects the inputs")
    options = parser.parse_args(arguments)
    began = time.perf_counter()
    try:
        outcomes = fuzz(options.count, options.seed, progress=True)
    except Crash as crash:
        print(f"\n{crash}", file=sys.stderr)
        return 1
    seconds = time.perf_counter() - began
    for outcome, times in outcomes.most_common():
        print(f"{times:8} {outcome}")
    print(f"{options.count:8} inputs in {seconds:.1f} s, {options.count / seconds:.0f} a second; no crash")
    return 0


if __name__ == "__main__":
    sys.exit(main())
