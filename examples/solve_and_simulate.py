"""Finds an optimal policy with a planner, asks for values of states, and goes through a run step by step."""

import asnets

task = asnets.generate("triangle-tireworld", 2)
solved = asnets.solve(task, planner="lrtdp", heuristic="lmcut", time_limit=60)
print(f"{solved.status}: expected cost {solved.value:.2f}, a policy for {len(solved.policy.actions)} states")

# The very random choices of an episode can be walked through by hand.
simulator = asnets.Simulator(task, seed=0)
while not (simulator.state.is_goal or simulator.state.is_dead_end):
    [(actions, probabilities)] = solved.policy.distributions([simulator.state.propositions])
    action = int(actions[probabilities.argmax()])
    value = solved.value_of(simulator.state)
    print(f"V* = {value:5.2f}  {task.action_name(action)}")
    simulator.step(action)
print(f"{'goal' if simulator.state.is_goal else 'dead end'} after {simulator.steps} steps, cost {simulator.cost:g}")

# And counted over many runs, where the mean comes close to the expected cost.
runs = asnets.simulate(solved.policy, episodes=1000, seed=0)
print(f"{runs.count('goal')} of {runs.episodes} runs reach the goal, mean cost {runs.mean_cost:.2f}")
