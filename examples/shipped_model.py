"""Runs a model that comes with the package on a large problem, and draws a run.

python examples/shipped_model.py [FILE.html]
"""

import sys
from pathlib import Path

import asnets
from asnets.pictures import page, picture_of

policy = asnets.Policy.load("triangle-tireworld")
task = asnets.generate("triangle-tireworld", 12)
print(task)

likeliest, *others = policy.probabilities(task).items()
print(f"first {likeliest[0]} with probability {likeliest[1]:.2f}, of {1 + len(others)} applicable actions")

result = policy.evaluate(task, runs=20, seed=0)
print(result)
print(f"mean cost {result.mean_cost:.1f}; the optimum is {6 * 12 - 0.5}")

if len(sys.argv) > 1:
    picture = picture_of(policy.run(task, seed=0), task)
    Path(sys.argv[1]).write_text(page("A run", [picture.html]), encoding="utf-8")
    print(f"picture: {sys.argv[1]}")
