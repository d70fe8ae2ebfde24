"""Trains a policy on small problems of a domain and lets it act in a larger one."""

from pathlib import Path
from tempfile import TemporaryDirectory

import asnets

small = [asnets.generate("triangle-tireworld", size) for size in (1, 2)]
policy = asnets.train(None, small, seed=0, time_limit=60, solved_epochs=3, progress=True)
print(policy)
print(policy.history)

# The same weights act in problems of any size: here, one that was not trained on.
task = asnets.generate("triangle-tireworld", 5)
result = policy.evaluate(task, runs=30, seed=0)
print(f"{task.problem}: {result.goals} of {result.runs} runs reach the goal")

# A file holds all that is needed to use the policy again.
with TemporaryDirectory() as folder:
    file = Path(folder) / "tires.asnet"
    policy.save(file)
    again = asnets.Policy.load(file)
same = again.probabilities(task) == policy.probabilities(task)
print(f"the same after saving and loading: {same}")
