// Interval value iteration over all states reachable from a state: simple, exact up to ε, the oracle for the other planners.
//
// What it computes: the reachable states are written out; those from which no goal can be reached are found by the graph
// alone, and `solve_intervals` bounds the values of the others, for all objectives:
//  - penalty: least expected cost, giving up offered everywhere; a dead end costs the penalty at once, whatever could be
//    earned there;
//  - maxprob: least probability of failing; states from which the goal is reached for certain are found by the graph alone;
//  - lexicographic: first maxprob; then the least expected cost by actions that keep the probability, until the goal is
//    reached or out of reach, where nothing more is paid. Giving up is not offered [trevizan2017efficient, "MCMP"].
// What it guarantees: the bounds hold whatever the heuristic, which is asked for dead ends only. The policy costs at most
// the upper bound. Values in the graph are lower bounds, but for rounding. Whether an action keeps the probability is exact where that is 0 or
// 1; in between it counts as kept where the bounds, kTieWidth apart or less, do not tell.
#pragma once

#include "search/interval_iteration.hpp"
#include "search/solver.hpp"

namespace asnets {

class ValueIteration final : public Solver {
 public:
  ValueIteration(const Task& task, const SuccessorGenerator& generator, const SolverConfig& config);

  ValueBounds known_bounds(StateId state) override;

 protected:
  void search(StateId state, Budget& budget) override;
  SearchGraph::Backup policy_choice(StateId state) override;
  bool is_allowed(StateId state, const SearchGraph::Choice& choice) const override;
  void certify(StateId state, Budget& budget) override;

 private:
  // The reachable states, as numbers from 0, with their choices.
  struct Reachable {
    std::vector<StateId> states;
    SparseModel model;
    std::vector<const std::uint32_t*> entries;  // Of each choice.
    std::vector<bool> goals;
    std::vector<bool> dead;
    double cost_error = 0;  // Of each cost.
  };

  Reachable explore(StateId root, Budget& budget);
  IntervalProblem least_failure(const Reachable& reachable, double epsilon, const Tick& tick) const;
  IntervalProblem least_cost(const Reachable& reachable, const IntervalProblem* failure, const Tick& tick);
  void keep(const Reachable& reachable, const IntervalProblem& solved);
  // Whether a choice may be one of the least probability of failing.
  static bool keeps_probability(const SparseModel& model, std::size_t choice, const IntervalProblem& failure,
                                std::uint32_t state);

  // Of each state of the graph that is solved.
  std::vector<ValueBounds> found_;
  std::vector<const std::uint32_t*> choices_;  // Null to give up.
  std::vector<double> failure_lower_;          // Where the objective is lexicographic.
  std::vector<double> failure_upper_;
};

}  // namespace asnets
