"""A rule of one's own as a policy, beside chance and the optimum.

The rule for Triangle Tireworld: change a flat tire where one can, else drive to where there is a spare.
"""

import asnets


def careful(state: asnets.State) -> str | None:
    """The name of an action, or None to give up."""
    names = state.applicable_names
    changes = [name for name in names if name.startswith("(changetire")]
    roads = [name for name in names if name.startswith("(move-car")]
    safe = [road for road in roads if f"(spare-in {road.strip('()').split()[2]})" in state]
    return next(iter([*changes, *safe, *roads]), None)


task = asnets.generate("triangle-tireworld", 2)
policies = {
    "chance": asnets.RandomPolicy(task),
    "careful": asnets.FunctionPolicy(task, careful, name="careful"),
    "optimal": asnets.solve(task).policy,
}
for name, policy in policies.items():
    result = asnets.evaluate(policy, runs=200, seed=0)
    print(f"{name:<8} {result.coverage:6.1%} of runs reach the goal")
    for failure in result.failures:
        print(f"         {failure.count} × {failure.example}")
