"""Makes many cuts and prints what they came to; the exit code is 1 if one of them went wrong.

python -m tests.cuts --count 1000 --seed 0
python -m tests.cuts --seed 0 --only 17        # this cut again
"""

from __future__ import annotations

import argparse
import math
import signal
import statistics
import sys
import tempfile
import threading
import time
from collections import Counter
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

from tests.cuts.cutting import COMMANDS, FULL_DISK, KINDS, Cutter, Outcome, can_mount, draw

ALLOWED = 2.0
"""Seconds from a cut to the end of the process, on a machine that is not busy."""


def main() -> int:
    parser = argparse.ArgumentParser(prog="python -m tests.cuts", description=__doc__.splitlines()[0])
    parser.add_argument("--count", type=int, default=1000, help="how many cuts")
    parser.add_argument("--first", type=int, default=0, help="the number of the first one")
    parser.add_argument("--only", type=int, action="append", help="only the cut of this number")
    parser.add_argument("--seed", type=int, default=0)
    parser.add_argument("--minutes", type=float, default=math.inf, help="begin no cut after so many")
    parser.add_argument("--jobs", type=int, default=1, help="cuts at a time")
    parser.add_argument("--strict-time", action="store_true", help=f"more than {ALLOWED:g} s to the end is a failure")
    parser.add_argument("--keep", type=Path, help="a folder for what is left by cuts that went wrong")
    options = parser.parse_args()
    # A shell that starts it in the background has it ignore Ctrl-C, and the commands would inherit that.
    signal.signal(signal.SIGINT, signal.default_int_handler)
    numbers = options.only or range(options.first, options.first + options.count)
    outcomes: list[Outcome] = []
    with tempfile.TemporaryDirectory() as folder:
        cuts = [draw(options.seed, number) for number in numbers]
        if any(cut.kind == FULL_DISK for cut in cuts) and not can_mount(Path(folder)):
            print("no small disks can be mounted here: cuts by a full disk are left out")
            cuts = [cut for cut in cuts if cut.kind != FULL_DISK]
        cutter = Cutter(Path(folder), options.keep)
        for command in dict.fromkeys(cutter.command_of(cut) for cut in cuts):
            cutter.uncut(command)
        end = time.monotonic() + 60 * options.minutes
        is_over = threading.Event()
        with ThreadPoolExecutor(options.jobs) as pool:
            try:
                for outcome in pool.map(
                    lambda cut: None if is_over.is_set() or time.monotonic() > end else cutter.make(cut), cuts
                ):
                    if outcome is None:
                        continue
                    if options.strict_time and (outcome.late or 0) > ALLOWED:
                        outcome.failures.append(f"it ends {outcome.late:.1f} s after the cut")
                    for line in described(outcome):
                        print(line, flush=True)
                    outcomes.append(outcome)
            except KeyboardInterrupt:
                is_over.set()
    for line in summary(outcomes):
        print(line)
    return 1 if any(outcome.failures for outcome in outcomes) else 0


def described(outcome: Outcome) -> Iterator[str]:
    """A line for a cut that went wrong or took long to end."""
    cut = outcome.cut
    name = f"cut {cut.number} ({cut.command}, {outcome.where})"
    again = f"again: python -m tests.cuts --seed {cut.seed} --only {cut.number}"
    for failure in outcome.failures:
        yield f"{name}: {failure}; {again}"
    if outcome.late is not None and outcome.own_late is not None and outcome.late > ALLOWED:
        yield f"{name}: {outcome.late:.1f} s to its end, {outcome.own_late:.2f} s of them not waiting for a processor"


def summary(outcomes: list[Outcome]) -> Iterator[str]:
    """A table by command and kind, and what there is to say of all cuts."""
    yield ""
    yield f"{'command':10} {'kind':10} {'cuts':>5} {'went on':>9} {'late':>7} {'own':>6}  exit codes"
    for command in COMMANDS:
        for kind in KINDS:
            chosen = [each for each in outcomes if (each.cut.command, each.cut.kind) == (command, kind)]
            if chosen:
                resumed = [each.resumed for each in chosen if each.resumed is not None]
                codes = Counter(str(each.code) for each in chosen)
                latest, longest = (max(values, default=0.0) for values in _times(chosen))
                yield (
                    f"{command:10} {kind:10} {len(chosen):5} {f'{sum(resumed)}/{len(resumed)}':>9} "
                    f"{latest:6.1f}s {longest:5.2f}s  {', '.join(f'{code}: {codes[code]}' for code in sorted(codes))}"
                )
    late, own = _times(outcomes)
    if late:
        yield f"to the end: median {statistics.median(late):.2f} s, at most {max(late):.2f} s; not waiting for a "
        yield f"processor: median {statistics.median(own):.2f} s, at most {max(own):.2f} s"
    yield f"more than {ALLOWED:g} s: {sum(each > ALLOWED for each in late)}, own: {sum(each > ALLOWED for each in own)}"
    yield f"before Python came to the command: {sum(each.is_early for each in outcomes)}"
    yield f"{len(outcomes)} cuts, {sum(bool(each.failures) for each in outcomes)} went wrong"


def _times(outcomes: list[Outcome]) -> tuple[list[float], list[float]]:
    late = [each.late for each in outcomes if each.late is not None]
    own = [each.own_late for each in outcomes if each.own_late is not None]
    return late, own


if __name__ == "__main__":
    sys.exit(main())
