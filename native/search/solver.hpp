// The interface of all planners.
//
// A solver keeps what it has learnt: solving for another state goes on from there. States are those of its graph.
#pragma once

#include <functional>
#include <memory>
#include <span>
#include <string>
#include <utility>
#include <vector>

#include "heuristics/heuristic.hpp"
#include "policy/episodes.hpp"
#include "random.hpp"
#include "search/budget.hpp"
#include "search/graph.hpp"

namespace asnets {

struct SolverConfig {
  std::string heuristic = "lmcut";
  double epsilon = 1e-4;
  double penalty = 500;
  std::uint64_t seed = 0;
  std::size_t depth = 3;  // Of short-sighted SSPs.
};

class Solver {
 public:
  using Poll = std::function<bool()>;

  Solver(const Task& task, const SuccessorGenerator& generator, const SolverConfig& config);
  virtual ~Solver() = default;

  // Searches until the greedy policy from the state is ε-consistent, or a limit is reached.
  Status solve(StateId state, const SearchLimits& limits, const Poll& poll);

  // Whether the greedy policy from the state is known to be ε-consistent.
  bool is_solved(StateId state) const { return graph_.is_terminal(state) || graph_.is_marked(state, SearchGraph::kSolved); }

  // States, and whether a limit was reached before all of them were found; then there are none.
  struct Envelope {
    std::vector<StateId> states;
    Status status = Status::kConverged;
  };
  // The states that the greedy policy from a solved state can visit, that state first.
  Envelope envelope(StateId state, const SearchLimits& limits, const Poll& poll);
  // Those of them that no earlier call of this function has given; does not look beyond states that it has given.
  Envelope new_envelope(StateId state, const SearchLimits& limits, const Poll& poll);
  // Takes back states that it has given, so that it gives them again.
  void take_back(std::span<const StateId> states) {
    for (const StateId state : states) graph_.unmark(state, SearchGraph::kGiven);
  }
  // The applicable actions of a state with their Q values, after solving all of their successors. Where the status is not
  // kConverged, values are only what the table holds.
  struct QValues {
    std::vector<ActionId> actions;
    std::vector<double> values;
    Status status = Status::kConverged;
  };
  QValues q_values(StateId state, const SearchLimits& limits, const Poll& poll);
  // The action of a state; -1 at goals, dead ends and where giving up is best. Expands the state if need be.
  ActionId greedy_action(StateId state);
  // The action that execution takes: the greedy one, unless the planner replans.
  // Throws SearchStopped where replanning is interrupted.
  virtual ActionId policy_action(StateId state, Budget& /*budget*/) { return greedy_action(state); }

  // Follows the policy from the initial state in the task itself. Giving up counts as a dead end. The detector may be
  // null.
  Episode run_episode(RandomStream random, std::int64_t max_steps, DeadEndDetector* detector, const Poll& poll);

  SearchGraph& graph() { return graph_; }
  const Statistics& statistics() const { return statistics_; }

 protected:
  virtual void search(StateId state, Budget& budget) = 0;
  // The backup of an expanded state, over the actions that the planner looks at.
  virtual SearchGraph::Backup best_choice(StateId state) { return graph_.evaluate(state); }

  // Does work that ticks a budget and counts expansions against it.
  template <typename Work>
  Status within(const SearchLimits& limits, const Poll& poll, Work&& work);
  // Searches until the state is solved, whatever the heuristic.
  void settle(StateId state, Budget& budget);
  // The states that the policy can visit without passing through marked ones; marks them.
  std::vector<StateId> collect_envelope(StateId state, std::uint8_t mark, Budget& budget);
  // The choice of the policy in an expanded state. In a solved state it is the one that the value stands for: under an
  // inadmissible heuristic, later searches may find a better one whose successors are not solved.
  SearchGraph::Backup policy_choice(StateId state);
  // Under an inadmissible heuristic, a value may fall after a state that leads there was labelled. Looks for that in the
  // states of the policy; where it finds it, mends the values, takes all labels back and returns true.
  bool reopen_stale(StateId state, Budget& budget);
  virtual void on_reopened() {}
  // A backup: sets the value; returns what was found and how far the value moved.
  std::pair<SearchGraph::Backup, double> update(StateId state);
  void ensure_expanded(StateId state) {
    if (!graph_.is_expanded(state)) graph_.expand(state);
  }
  StateId sample(const SearchGraph::Backup& backup);

  const Task& task_;
  const SuccessorGenerator& generator_;
  const double epsilon_;
  const bool is_admissible_;  // The heuristic.
  std::unique_ptr<Heuristic> heuristic_;
  Statistics statistics_;
  SearchGraph graph_;
  RandomStream random_;
};

}  // namespace asnets
