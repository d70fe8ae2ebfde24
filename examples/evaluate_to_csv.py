"""Runs several policies on several problems and writes every run as a row of a CSV file.

    python examples/evaluate_to_csv.py [FILE.csv]

With pandas installed, `asnets.evaluate(…).to_frame()` gives the same rows as a table.
"""

import csv
import sys

import asnets

trained = asnets.Policy.load("triangle-tireworld")
rows: list[dict[str, object]] = []
for size in (2, 4, 6):
    task = asnets.generate("triangle-tireworld", size)
    for policy in (trained.of(task), asnets.RandomPolicy(task)):
        result = asnets.evaluate(policy, runs=20, seed=0)
        for number in range(result.finished.episodes):
            run = result.finished.record(number)
            rows.append(
                {
                    "problem": task.problem,
                    "policy": policy.name,
                    "seed": run.seed,
                    "episode": run.episode,
                    "steps": run.steps,
                    "cost": run.cost,
                    "ending": run.ending,
                }
            )
        print(f"{task.problem}: {policy.name}: {result.goals} of {result.runs}", file=sys.stderr)

with open(sys.argv[1], "w", newline="", encoding="utf-8") if len(sys.argv) > 1 else sys.stdout as file:
    writer = csv.DictWriter(file, rows[0])
    writer.writeheader()
    writer.writerows(rows)
