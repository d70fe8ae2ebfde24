"""Trains on short corridors, compares with the optimum, and acts in long ones."""

from pathlib import Path

from corridor import corridor

import asnets

DOMAIN = (Path(__file__).parent / "domain.pddl").read_text(encoding="utf-8")
tasks = {length: asnets.load_text(DOMAIN, corridor(length)) for length in (2, 3, 4, 10, 30)}

policy = asnets.train(None, [tasks[2], tasks[3], tasks[4]], seed=0, time_limit=120, solved_epochs=3, progress=True)
for length, task in tasks.items():
    result = policy.evaluate(task, runs=200, seed=0)
    optimum = asnets.solve(task, time_limit=60).value
    cost = "–" if result.mean_cost is None else f"{result.mean_cost:.2f}"
    print(f"{length:>2} rooms: {result.goals} of {result.runs} runs serve; mean cost {cost}, optimum {optimum:.2f}")

print("the first steps in the longest:")
for step in policy.run(tasks[30], seed=0).steps[:6]:
    print(f"  {step.action}  {step.probability:.2f}")
