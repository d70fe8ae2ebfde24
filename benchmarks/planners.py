"""The planners to convergence beside the figures of other SSP planners: time, states expanded and memory.

    python -m benchmarks.planners --problems-dir DIR -o docs/planners.md

Each search runs in a process of its own, one after the other. The results stand in a CSV file beside the output, which
is written after each search; with --resume, only what it lacks is run: results under other limits, of another source
or of another build of the compiled core do not count.

The peers are C++ programs that were built by hand and measured once; their figures are cited here.
"""

from __future__ import annotations

import argparse
import csv
import hashlib
import io
import json
import os
import re
import resource
import shlex
import subprocess
import sys
import tempfile
import textwrap
import time
from collections.abc import Iterable, Sequence
from dataclasses import asdict, dataclass, fields
from pathlib import Path
from typing import Any

from asnets import _native
from asnets.cli.running import parse_size
from asnets.domains import FAMILIES, domain_text, generate
from asnets.errors import AsnetsError, ConfigError, FileError
from asnets.files import write_atomically
from asnets.grounding import ground
from asnets.planning import HEURISTICS, SearchLimits, Solver
from asnets.ppddl import load_task, write_problem

ROOT = Path(__file__).resolve().parents[1]
PLANNERS = ("lrtdp", "ilao", "cgilao")
PAIRS = [(planner, heuristic) for planner in PLANNERS for heuristic in ("lmcut", "hadd")]
EPSILON = 1e-4
SIZES = {"triangle-tireworld": (1, 2, 3, 4, 5, 6), "cosanostra": (5, 6, 8, 10, 12, 15)}
PUBLISHED_TOGETHER = {f"triangle-tire-{size}": "triangle-tire-1-to-5.pddl" for size in range(1, 6)}
STOPPED = ("time", "memory", "killed")
START_UP = 0.05
"""Peers that take no longer than this many seconds are not compared with: starting Python takes more."""
SAME_VALUE = 0.01
"""Values that differ by less are the same: ε bounds the residual of a state, which adds up along a run."""

# User CPU seconds / states expanded / peak MB. V where h-add led to a policy of another value.
PROBFD_COLUMNS = [("LRTDP", "lmcut"), ("LRTDP", "hadd"), ("ILAO*", "lmcut"), ("ILAO*", "hadd"), ("LRTDP", "hmax")]
PROBFD = """
triangle-tire-3|0.05 / 6,182 / 10|0.04 / 5,437 / 10, V 17.648|0.10 / 6,202 / 10|0.12 / 6,202 / 10|0.05 / 6,182 / 10
triangle-tire-4|1.27 / 98,470 / 27|0.82 / 73,897 / 22, V 23.804|2.0 / 98,554 / 31|3.1 / 98,554 / 31|1.25 / 98,470 / 28
triangle-tire-5|36.5 / 1,573,542 / 343|24.2 / 863,061 / 184, V 30.086|42.0 / 1,573,882 / 376|109 / 1,573,882 / 376|\
32.4 / 1,573,542 / 343
triangle-tire-6|T/O|T/O|T/O|T/O|T/O
cosanostra-n5|refused|T/O|refused|0.02 / 1,032 / 10|T/O
cosanostra-n8|refused|–|refused|0.35 / 13,036 / 10|–
cosanostra-n10|refused|–|refused|2.1 / 64,832 / 13|–
cosanostra-n12|refused|–|refused|11.7 / 307,683 / 40|–
cosanostra-n15|refused|–|refused|158 / 3,044,678 / 424|–
prob_bw_n5_s1|0.02 / 608 / 10|0.01 / 32 / 10|0.01 / 212 / 10|0.01 / 32 / 10|0.01 / 841 / 10
prob_bw_n6_s1|0.18 / 5,911 / 10|0.01 / 52 / 10|0.05 / 762 / 10|0.01 / 42 / 10|0.08 / 7,011 / 10
prob_bw_n7_s1|1.9 / 40,772 / 10|0.01 / 124 / 10, V 17.694|0.14 / 1,748 / 10|0.01 / 80 / 10, V 17.694|0.67 / 64,331 / 10
prob_bw_n8_s1|21.2 / 321,286 / 33|0.01 / 74 / 10, V 21.194|0.78 / 6,441 / 10|0.01 / 57 / 10, V 21.194|\
10.2 / 673,172 / 38
prob_bw_n9_s1|T/O|0.02 / 178 / 10|38.0 / 207,579 / 34|0.02 / 154 / 10|T/O
prob_bw_n10_s1|T/O|0.01 / 98 / 10|42.5 / 151,693 / 34|0.03 / 169 / 10, V 26.056|T/O
"""
OTHERS = """
triangle-tire-5|ProbFD|labelled iLAO*|lmcut|19.9 / – / 354
prob_bw_n9_s1|ProbFD|labelled iLAO*|lmcut|32.6
prob_bw_n10_s1|ProbFD|labelled iLAO*|lmcut|39.0
triangle-tire-5|ProbFD|topological VI|–|30 / – / 593
cosanostra-n10|ProbFD|ILAO*|hmax|4.7
cosanostra-n12|ProbFD|ILAO*|hmax|28.2
prob_bw_n8_s1|ProbFD|ILAO*|hmax|2.3
prob_bw_n9_s1|ProbFD|ILAO*|hmax|131 / 2,990,426 / 224
cosanostra-n10|ProbFD, repaired|LRTDP|hadd|1.7
cosanostra-n12|ProbFD, repaired|LRTDP|hadd|10.1
cosanostra-n15|ProbFD, repaired|LRTDP|hadd|149 / – / 422
triangle-tire-4|mdp-lib|ILAO*|hff|7.6 / 98,554 / 47
triangle-tire-5|mdp-lib|ILAO*|hff|T/O / – / 567
cosanostra-n8|mdp-lib|ILAO*|hff|5.5 / 21,045
cosanostra-n10|mdp-lib|ILAO*|hff|40.5 / 109,856 / 52
triangle-tire-4|mdp-lib|LRTDP|hff|5.2
cosanostra-n6|mdp-lib|LRTDP|hff|11.9
triangle-tire-4|ppddl-planner|LRTDP|hadd|12.2 / 122,546 states / 636
triangle-tire-5|ppddl-planner|LRTDP|hadd|T/O (killed at 3.1 GB)
cosanostra-n8|ppddl-planner|LRTDP|hadd|4.0
cosanostra-n10|ppddl-planner|LRTDP|hadd|23.8 / 277,971 / 583
prob_bw_n10_s1|ppddl-planner|LRTDP|hadd|0.04
prob_bw_n10_s2|ppddl-planner|LRTDP|hadd|0.61 / 11,164 states
"""
COUNTERPARTS = {"lrtdp": "LRTDP", "ilao": "ILAO*"}
# Optimal values that other planners agree on; of the first two families by their formulas.
OPTIMAL = {
    **{f"triangle-tire-{n}": 6 * n - 0.5 for n in SIZES["triangle-tireworld"]},
    **{f"cosanostra-n{n}": 3.0 * n + 4 for n in SIZES["cosanostra"]},
    "prob_bw_n5_s1": 14.5833,
    "prob_bw_n6_s1": 15.9444,
    "prob_bw_n7_s1": 15.9444,
    "prob_bw_n8_s1": 19.4444,
    "prob_bw_n9_s1": 26.0556,
    "prob_bw_n10_s1": 24.3056,
}


@dataclass(frozen=True)
class Instance:
    """A problem; `problem` is a file, or FILE:NAME."""

    family: str
    size: int
    name: str
    domain: str
    problem: str
    source: str


@dataclass(frozen=True)
class Result:
    """A line of the CSV file.

    Attributes:
        build: Hash of the compiled core.
        status: That of the search; "killed" where the process had to be ended or ended by a signal; "error"; "skipped"
            where a smaller size has reached a limit.
        process_seconds: User CPU time of the whole process.
        system_seconds: Its system CPU time.
        search_seconds: CPU time of the search alone, user and system.
        megabytes: Largest resident memory of the process.
    """

    problem: str
    planner: str
    heuristic: str
    source: str
    time_limit: float | None
    memory_limit: int | None
    build: str
    status: str
    value: float | None = None
    expanded: int | None = None
    process_seconds: float | None = None
    system_seconds: float | None = None
    search_seconds: float | None = None
    megabytes: float | None = None

    @property
    def key(self) -> tuple[str, str, str]:
        return self.problem, self.planner, self.heuristic

    @property
    def made_as(self) -> tuple[str, float | None, int | None, str]:
        return self.source, self.time_limit, self.memory_limit, self.build

    def finds(self, optimal: float | None) -> bool:
        """Whether the search converged to the optimal value."""
        if self.status != "converged" or self.value is None or optimal is None:
            return False
        return abs(self.value - optimal) < SAME_VALUE


Results = dict[tuple[str, str, str], Result]


@dataclass(frozen=True)
class Peer:
    """A cited figure."""

    problem: str
    system: str
    planner: str
    heuristic: str
    figures: str

    @property
    def seconds(self) -> float | None:
        match = re.match(r"\d+(\.\d+)?", self.figures)
        return float(match[0]) if match else None

    @property
    def tried(self) -> bool:
        return self.seconds is not None or self.figures.startswith("T/O")

    @property
    def optimal(self) -> bool:
        return self.seconds is not None and "V " not in self.figures


def peers() -> list[Peer]:
    """All cited figures, those of the table of ProbFD first."""
    result = []
    for line in PROBFD.split("\n")[1:-1]:
        problem, *cells = line.split("|")
        for (planner, heuristic), figures in zip(PROBFD_COLUMNS, cells, strict=True):
            result.append(Peer(problem, "ProbFD", planner, heuristic, figures))
    return result + [Peer(*line.split("|")) for line in OTHERS.split("\n")[1:-1]]


def instances(published: Path | None, scratch: Path) -> list[Instance]:
    """The problems, published where there is a file, generated into the folder `scratch` otherwise."""
    found = []
    for family, sizes in SIZES.items():
        for size in sizes:
            name = FAMILIES[family].problem_name(size, seed=0, index=0)
            found.append(_published(published, family, size, name) or _generated(scratch, family, size, name))
    folder = None if published is None else published / "prob-blocksworld"
    for path in [] if folder is None else folder.glob("prob_bw_n*_s*.pddl"):
        if match := re.fullmatch(r"prob_bw_n(\d+)_s\d+", path.stem):
            domain = str(path.with_name("domain.pddl"))
            found.append(Instance("prob-blocksworld", int(match[1]), path.stem, domain, str(path), "published"))
    order = [*SIZES, "prob-blocksworld"]
    return sorted(found, key=lambda instance: (order.index(instance.family), instance.size, instance.name))


def _published(folder: Path | None, family: str, size: int, name: str) -> Instance | None:
    if folder is None:
        return None
    domain, alone = folder / family / "domain.pddl", folder / family / f"{name}.pddl"
    together = folder / family / PUBLISHED_TOGETHER.get(name, "")
    problem = str(alone) if alone.is_file() else f"{together}:{name}" if together.is_file() else None
    return Instance(family, size, name, str(domain), problem, "published") if problem and domain.is_file() else None


def _generated(folder: Path, family: str, size: int, name: str) -> Instance:
    domain, problem = folder / f"{family}.pddl", folder / f"{name}.pddl"
    domain.write_text(domain_text(family), encoding="utf-8")
    problem.write_text(write_problem(generate(family, size)), encoding="utf-8")
    return Instance(family, size, name, str(domain), str(problem), "generated")


def search(limits: SearchLimits, domain: str, problem: str, planner: str, heuristic: str) -> dict[str, Any]:
    """One search, in this process."""
    task = ground(*load_task(domain, problem), costs="unit")
    solver = Solver(task, planner, heuristic, epsilon=EPSILON, seed=0)
    start = time.process_time()
    solution = solver.solve(limits=limits)
    seconds = time.process_time() - start
    return {
        "status": solution.status,
        "value": solution.value,
        "expanded": solution.expanded,
        "search_seconds": round(seconds, 4),
        "megabytes": round(_peak_memory() / 1e6, 1),
    }


def _peak_memory() -> int:
    """Of this process, in bytes; what getrusage tells is at least what the parent had when it started us."""
    status = Path("/proc/self/status").read_text(encoding="ascii")
    match = re.search(r"^VmHWM:\s*(\d+) kB$", status, re.MULTILINE)
    assert match
    return int(match[1]) * 1024


def _run(instance: Instance, planner: str, heuristic: str, limits: SearchLimits) -> dict[str, Any]:
    """One search, in a process of its own: the figures of a `Result`."""
    command = [sys.executable, "-m", "benchmarks.planners"]
    command += ["--time-limit", str(limits.seconds), "--memory-limit", str(limits.memory)]
    command += ["--search", instance.domain, instance.problem, planner, heuristic]
    figures: dict[str, Any] = {"status": "killed"}
    before = resource.getrusage(resource.RUSAGE_CHILDREN)
    try:
        # The search ends by itself; this is for one that does not.
        patience = 2 * (limits.seconds or 0) + 60
        done = subprocess.run(command, cwd=ROOT, capture_output=True, text=True, timeout=patience)
        if done.returncode == 0:
            figures = json.loads(done.stdout)
        elif done.returncode > 0:
            figures["status"] = "error"
            print(done.stderr.rstrip(), file=sys.stderr)
    except subprocess.TimeoutExpired:
        pass
    after = resource.getrusage(resource.RUSAGE_CHILDREN)
    figures["process_seconds"] = round(after.ru_utime - before.ru_utime, 4)
    figures["system_seconds"] = round(after.ru_stime - before.ru_stime, 4)
    return figures


def _build() -> str:
    return hashlib.sha256(Path(_native.__file__).read_bytes()).hexdigest()[:12]


def measure(chosen: Sequence[tuple[Instance, str, str]], results: Results, table: Path, limits: SearchLimits) -> None:
    """Runs what `results` lacks, smaller sizes first, and adds it there and to the CSV file."""
    at_limit: dict[tuple[str, str, str], int] = {}
    for count, (instance, planner, heuristic) in enumerate(chosen, start=1):
        series = instance.family, planner, heuristic
        made_as = (instance.source, limits.seconds, limits.memory, _build())
        result = results.get((instance.name, planner, heuristic))
        known = result is not None and result.made_as == made_as and result.status not in ("skipped", "error")
        if result is None or not known:
            skipped = at_limit.get(series, instance.size) < instance.size
            figures = {"status": "skipped"} if skipped else _run(instance, planner, heuristic, limits)
            result = Result(instance.name, planner, heuristic, *made_as, **figures)
            results[result.key] = result
            write_atomically(table, _as_csv(results.values()))
        if result.status in STOPPED:
            at_limit.setdefault(series, instance.size)
        print(f"[{count}/{len(chosen)}] {_progress(result)}{' (known)' * known}", file=sys.stderr, flush=True)


def _progress(result: Result) -> str:
    text = f"{' '.join(result.key)}: {result.status}"
    if result.search_seconds is None:
        return text
    return (
        f"{text}, {result.process_seconds:.2f} s (search {result.search_seconds:.2f}), "
        f"{result.expanded:,} expanded, {result.megabytes:.0f} MB, V {result.value:.4f}"
    )


def _as_csv(results: Iterable[Result]) -> str:
    stream = io.StringIO()
    writer = csv.DictWriter(stream, [field.name for field in fields(Result)], lineterminator="\n")
    writer.writeheader()
    writer.writerows(asdict(result) for result in results)
    return stream.getvalue()


def read_csv(path: Path) -> Results:
    """The results of a CSV file; none if there is no file.

    Raises:
        FileError: If it is not a file of ours.
    """
    if not path.exists():
        return {}
    names = [field.name for field in fields(Result)]
    texts = ("problem", "planner", "heuristic", "source", "build", "status")
    with path.open(encoding="utf-8", newline="") as stream:
        reader = csv.DictReader(stream)
        if reader.fieldnames != names:
            raise FileError(f"{path}: not a table of this program; run without --resume")
        rows: list[dict[str, Any]] = [
            {name: row[name] if name in texts else json.loads(row[name] or "null") for name in names} for row in reader
        ]
    return {result.key: result for result in (Result(**row) for row in rows)}


def report(found: Sequence[Instance], results: Results, command: str, limits: SearchLimits) -> str:
    """The Markdown page."""
    text = [
        "# The planners to convergence",
        "",
        _wrap(
            f"`asnets` with {', '.join(PLANNERS)} and the heuristics LM-cut (admissible) and h-add (not admissible), "
            f"ε {EPSILON:g}, unit costs, dead-end penalty 500, seed 0; limits of {limits.seconds:g} s and "
            f"{(limits.memory or 0) / 1e9:g} GB. Each search in a process of its own, one after the other, on "
            f"{_machine()}."
        ),
        "",
        f"    {command}",
        "",
        _wrap(
            "- Our cells: user CPU seconds of the whole process, with the start of Python (in brackets the search "
            "alone) / states expanded / peak MB of the process, of which Python and numpy are about 40. **V** where "
            "the value is not the optimal one, which h-add does not promise. `time`, `memory`: the limit was reached; "
            "`skipped`: a smaller size of the family had reached it. More digits are in the CSV file beside this page."
        ),
        _wrap(
            "- Peers' cells: user CPU seconds / states expanded / peak MB, as far as known. `T/O`: no answer within "
            "60–180 s; `refused`: conditional effects. **The peers were measured once, on comparable two-core "
            "machines, not in this run: trust ratios to a factor of about 1.3.** They are ProbFD (Saarland "
            "University), mdp-lib and ppddl-planner, all C++. `ProbFD, repaired` has the labelling of dead ends "
            "mended and its trials bounded; as it is, LRTDP does not end on CosaNostra or returns too small a value."
        ),
        _wrap(
            "- Ratio: the best peer's CPU seconds over ours (the whole process): above 1 we are faster. First for the "
            "same planner and heuristic, whatever value it led to; then overall, the fastest search of any kind that "
            f"found the optimal value. `start-up` where the peer takes {START_UP:g} s or less: starting Python alone "
            "takes more."
        ),
    ]
    if len({result.made_as[1:] for result in results.values()}) > 1:
        text += ["", "**These results are of several builds or limits (see the CSV file); run all of them again.**"]
    for family in (*SIZES, "prob-blocksworld"):
        rows = [instance for instance in found if instance.family == family]
        shown = [row for row in rows if any((row.name, *pair) in results for pair in PAIRS)]
        text += ["", f"## {FAMILIES[family].title}", ""]
        if not shown:
            text.append("Not run." if rows else "Left out: the published files were not given (`--problems-dir`).")
            continue
        text += [f"Problem files: {' and '.join(sorted({row.source for row in shown}))}.", "", *_table(shown, results)]
        if family == "prob-blocksworld":
            text += ["", "ppddl-planner (LRTDP, hadd) has no answer within 45 s on n15 and n20."]
    return "\n".join(text) + "\n"


def _wrap(text: str) -> str:
    indent = "  " if text.startswith("- ") else ""
    return textwrap.fill(text, 120, subsequent_indent=indent, break_on_hyphens=False, break_long_words=False)


def _table(shown: Sequence[Instance], results: Results) -> list[str]:
    cited = peers()
    columns = PROBFD_COLUMNS[:4]
    header = ["problem", "V(s₀)", *(" ".join(pair) for pair in PAIRS)]
    header += [*(f"ProbFD {' '.join(column)}" for column in columns), "other peers", "ratio"]
    rows = []
    for instance in shown:
        own = {pair: results[key] for pair in PAIRS if (key := (instance.name, *pair)) in results}
        theirs = [peer for peer in cited if peer.problem == instance.name]
        optimal, stated = _optimal(instance.name, own)
        table = {(peer.planner, peer.heuristic): peer.figures for peer in theirs if peer.system == "ProbFD"}
        others = [
            f"{peer.system} {peer.planner} {peer.heuristic.replace('–', '')}".rstrip() + f": {peer.figures}"
            for peer in theirs
            if (peer.system != "ProbFD" or (peer.planner, peer.heuristic) not in columns) and peer.figures != "–"
        ]
        rows.append(
            [instance.name, stated]
            + [_cell(own[pair], optimal) if pair in own else "–" for pair in PAIRS]
            + [table.get(column, "–") for column in columns]
            + ["<br>".join(others) or "–", "<br>".join(_ratios(own, theirs, optimal)) or "–"]
        )
    kept = [place for place in range(len(header)) if place < 2 or any(row[place] != "–" for row in rows)]
    lines = [header, ["---"] * len(header), *rows]
    return ["| " + " | ".join(line[place] for place in kept) + " |" for line in lines]


def _optimal(name: str, own: dict[tuple[str, str], Result]) -> tuple[float | None, str]:
    """The optimal value, where known, and how to write it: ≤ where only an inadmissible heuristic has led to one."""
    converged = [result for result in own.values() if result.status == "converged" and result.value is not None]
    proven = [result.value for result in converged if result.value and HEURISTICS[result.heuristic].admissible]
    value = OPTIMAL.get(name, min(proven, default=None))
    if value is not None:
        return value, _value(value)
    bound = min((result.value for result in converged if result.value is not None), default=None)
    return None, "–" if bound is None else f"≤ {_value(bound)}"


def _value(value: float) -> str:
    return f"{value:.4f}".rstrip("0").rstrip(".")


def _cell(result: Result, optimal: float | None) -> str:
    if result.status != "converged" or result.value is None:
        return result.status
    text = f"{_seconds(result.process_seconds or 0)} ({_seconds(result.search_seconds or 0)})"
    text += f" / {result.expanded:,} / {result.megabytes:.0f}"
    if optimal is None:
        return f"{text}, V {_value(round(result.value, 3))}"
    return text if result.finds(optimal) else f"{text}, **V {_value(round(result.value, 3))}**"


def _seconds(seconds: float) -> str:
    if seconds < 0.1:
        return f"{seconds:.3f}"
    return f"{seconds:.2f}" if seconds < 10 else f"{seconds:.1f}" if seconds < 100 else f"{seconds:.0f}"


def _ratios(own: dict[tuple[str, str], Result], theirs: Sequence[Peer], optimal: float | None) -> list[str]:
    lines = []
    for planner, heuristic in PAIRS:
        ours = own.get((planner, heuristic))
        same = [peer for peer in theirs if (peer.planner, peer.heuristic) == (COUNTERPARTS.get(planner), heuristic)]
        if ours is not None and any(peer.tried for peer in same):
            seconds = ours.process_seconds if ours.status == "converged" else None
            best = min((peer.seconds for peer in same if peer.seconds is not None), default=None)
            lines.append(f"{planner} {heuristic} {_ratio(seconds, best)}")
    if any(peer.tried for peer in theirs):
        seconds = min((result.process_seconds or 0 for result in own.values() if result.finds(optimal)), default=None)
        best = min((peer.seconds for peer in theirs if peer.optimal and peer.seconds is not None), default=None)
        lines.append(f"overall {_ratio(seconds, best)}")
    return lines


def _ratio(ours: float | None, best: float | None) -> str:
    if ours is None or best is None:
        return "neither" if ours is None and best is None else "only ours" if best is None else "only the peer"
    if best <= START_UP:
        return "start-up"
    ratio = best / max(ours, 1e-3)
    return f"{ratio:.0f}×" if ratio >= 10 else f"{ratio:.1f}×" if ratio >= 1 else f"{ratio:.2f}×"


def _machine() -> str:
    cpus = Path("/proc/cpuinfo").read_text(encoding="utf-8")
    match = re.search(r"^model name\s*:\s*(.*)$", cpus, re.MULTILINE)
    memory = os.sysconf("SC_PAGE_SIZE") * os.sysconf("SC_PHYS_PAGES") / 1e9
    return f"{os.cpu_count()} cores ({match[1] if match else 'unknown CPU'}), {memory:.0f} GB"


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--time-limit", type=float, default=180, metavar="SECONDS", help="of a search")
    parser.add_argument("--memory-limit", default="10GB", metavar="SIZE", help="of a process, e.g. 10GB")
    parser.add_argument("--problems-dir", type=Path, metavar="DIR", help="published files, a folder for each family")
    parser.add_argument("--only", default="", metavar="SUBSTRING", help="of 'PROBLEM PLANNER HEURISTIC'")
    parser.add_argument("--resume", action="store_true", help="run only what the CSV file lacks")
    parser.add_argument("-o", "--output", type=Path, metavar="FILE.md", help="the CSV file stands beside it")
    parser.add_argument("--search", nargs=4, metavar=("DOMAIN", "PROBLEM", "PLANNER", "HEURISTIC"), help="one, as JSON")
    arguments = parser.parse_args()
    try:
        limits = SearchLimits(seconds=arguments.time_limit, memory=parse_size(arguments.memory_limit))
        if arguments.search:
            print(json.dumps(search(limits, *arguments.search)))
            return 0
        if arguments.output is None or arguments.output.suffix != ".md":
            parser.error("the output must be a file that ends in .md: -o FILE.md")
        if arguments.problems_dir is not None and not arguments.problems_dir.is_dir():
            parser.error(f"{arguments.problems_dir}: no such folder")
        given = [argument for argument in sys.argv[1:] if argument != "--resume"]
        command = shlex.join(["python", "-m", "benchmarks.planners", *given])
        _measure_and_report(arguments, command, limits)
    except AsnetsError as error:
        print(f"error: {error}", file=sys.stderr)
        return 1
    except KeyboardInterrupt:
        print("interrupted; --resume goes on from here", file=sys.stderr)
        return 130
    return 0


def _measure_and_report(arguments: argparse.Namespace, command: str, limits: SearchLimits) -> None:
    output: Path = arguments.output
    published = None if arguments.problems_dir is None else arguments.problems_dir.resolve()
    table = output.with_suffix(".csv")
    results = read_csv(table) if arguments.resume else {}
    with tempfile.TemporaryDirectory() as folder:
        found = instances(published, Path(folder))
        if not any(instance.family == "prob-blocksworld" for instance in found):
            print("Prob. Blocksworld is left out: its files are not there (--problems-dir)", file=sys.stderr)
        chosen = [
            (instance, planner, heuristic)
            for instance in found
            for planner, heuristic in PAIRS
            if arguments.only in f"{instance.name} {planner} {heuristic}"
        ]
        if not chosen:
            raise ConfigError(f"no search matches {arguments.only!r}")
        measure(chosen, results, table, limits)
    write_atomically(output, report(found, results, command, limits))


if __name__ == "__main__":
    sys.exit(main())
