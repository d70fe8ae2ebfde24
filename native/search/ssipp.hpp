// SSiPP: short-sighted probabilistic planning [trevizan2014depth].
//
// What it computes: from a state, the SSP of all states within `depth` actions, where those at exactly that distance are
// artificial goals that cost their current value. Its optimal policy, found by LRTDP, is followed until an artificial
// goal is reached; then the next short-sighted SSP is solved there. Values are kept, so that bounds improve.
// What it is: a replanner. It does not find a closed policy; `search` is the training of [toyer2018action]: trajectories
// from the state until 100 in a row reach the goal.
// What it guarantees: without dead ends and with an admissible heuristic, it always reaches the goal in the end.
#pragma once

#include <vector>

#include "search/lrtdp.hpp"

namespace asnets {

class Ssipp final : public Lrtdp {
 public:
  Ssipp(const Task& task, const SuccessorGenerator& generator, const SolverConfig& config);

  ActionId policy_action(StateId state, Budget& budget) override;

 protected:
  void search(StateId state, Budget& budget) override;
  void count_trial(Budget&) override {}  // Trials are those of `search`: trajectories.

 private:
  bool run_trajectory(StateId state, Budget& budget);
  // Makes the short-sighted SSP of a state, solves it, and remembers its inner states.
  void plan_from(StateId state, Budget& budget);
  void grow_region(StateId state, Budget& budget);
  void forget_plan();

  const std::size_t depth_;
  std::vector<StateId> region_;  // All states of the last short-sighted SSP; inner ones are marked kVisited.
};

}  // namespace asnets
