"""The main job: train on Triangle Tireworld 1-3, act on sizes that planners cannot solve. `make demo` runs this."""

from __future__ import annotations

import sys
import time
from pathlib import Path

from rich.console import Console
from rich.table import Table

import asnets
from asnets.domains import domain_text, generate
from asnets.files import write_atomically
from asnets.planning import SearchLimits, Solver
from asnets.ppddl import write_problem
from asnets.progress import live_figures
from asnets.training.progress import EpochRecord

FOLDER = Path("demo")
TRAINING = (1, 2, 3)
TESTS = (4, 6, 8, 10, 15, 20)
LRTDP_SECONDS = 10
PAPER = {4: "23.37", 6: "34.87", 8: "46.83", 10: "59.00", 15: "88.67", 20: "118.43"}
"""Mean cost of the paper's ASNet with the LM-cut teacher, which reached the goal in all runs (Toyer et al. 2018)."""


def main() -> None:
    console = Console(highlight=False)
    write_atomically(FOLDER / "domain.pddl", domain_text("triangle-tireworld"))
    for size in (*TRAINING, *TESTS):
        write_atomically(FOLDER / f"triangle-tire-{size}.pddl", write_problem(generate("triangle-tireworld", size)))

    def problem(size: int) -> Path:
        return FOLDER / f"triangle-tire-{size}.pddl"

    console.print("A car moves from corner to corner of a triangle. Half of all moves give a flat")
    console.print("tire, and spare tires lie only along the outer edge: the shortest way is the")
    console.print("deadliest.\n")
    console.print(f"Training on sizes {', '.join(map(str, TRAINING))}, taught by LRTDP with LM-cut …")
    with live_figures("the teacher solves the training problems") as show:

        def report(record: EpochRecord) -> None:
            show(f"epoch {record.epoch}: coverage {100 * record.coverage:.0f}%, loss {record.loss:.4f}")

        policy = asnets.train(FOLDER / "domain.pddl", [problem(size) for size in TRAINING], on_epoch=report)
    policy.save(FOLDER / "tires.asnet")
    console.print(
        f"… {policy.training['seconds']:.0f} s, {policy.training['epochs']} epochs; wrote {FOLDER}/tires.asnet\n"
    )

    table = Table(title="30 runs each", box=None, pad_edge=False)
    for heading in ("size", "states", "goals", "mean cost", "seconds", "optimal", f"LRTDP, {LRTDP_SECONDS} s", "paper"):
        table.add_column(heading, justify="right", no_wrap=True)
    planner_alive = True
    for size in TESTS:
        task = asnets.load(FOLDER / "domain.pddl", problem(size))
        begin = time.perf_counter()
        result = policy.evaluate(task)
        seconds = time.perf_counter() - begin
        mean, half = result.finished.mean_cost, result.finished.ci95
        planned = "–"
        if planner_alive:
            solution = Solver(task, "lrtdp", "lmcut").solve(limits=SearchLimits(seconds=LRTDP_SECONDS))
            planner_alive = solution.status == "converged"
            planned = f"{solution.value:.1f}, {solution.seconds:.1f} s" if planner_alive else "not solved"
        table.add_row(
            str(size),
            f"{1.5 * 2 ** (4 * size):.0e}",
            str(result.goals),
            "–" if mean is None or half is None else f"{mean:.2f} ± {half:.2f}",
            f"{seconds:.2f}",
            f"{6 * size - 0.5:.1f}",
            planned,
            PAPER[size],
        )
    console.print(table)
    console.print("\nstates: of an optimal policy, about. LRTDP: optimal cost and time, with LM-cut.")
    console.print("paper: mean cost of the paper's ASNet, which reached the goal in all of 30 runs.")
    command = Path(sys.executable).with_name("asnets").absolute()
    command = command.relative_to(Path.cwd()) if command.is_relative_to(Path.cwd()) else command
    console.print(f"\nNext: {command} run {FOLDER}/tires.asnet {FOLDER}/domain.pddl {problem(6)}")


if __name__ == "__main__":
    main()
