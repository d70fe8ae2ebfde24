// The interface of all planners.
//
// A solver keeps what it has learnt: solving for another state goes on from there. States are those of its graph.
#pragma once

#include <algorithm>
#include <functional>
#include <memory>
#include <span>
#include <stdexcept>
#include <string>
#include <unordered_map>
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
  Objective objective = Objective::kPenalty;
  // Values from above during the search; none where the objective is kLexicographic, or there are rewards.
  bool keeps_upper = false;
  // What the search starts from; null for none. Needs values from above.
  PolicyFactory policy;
};

// The value is between `lower` and `upper`, in exact arithmetic; so is the greatest probability of reaching a goal, where
// the objective is lexicographic. Where the objective is kMaxprob, all are probabilities of failing.
struct ValueBounds {
  double lower;
  double upper;
  double goal_lower = 0;
  double goal_upper = 1;
};

// The expected cost has no lower bound, or none that is known: an end component has a choice that earns something.
struct UnboundedCost : std::runtime_error {
  UnboundedCost(std::vector<Word> where, ActionId what, bool certain)
      : std::runtime_error("the expected cost has no lower bound"), state(std::move(where)), action(what), is_certain(certain) {}
  std::vector<Word> state;
  ActionId action;
  bool is_certain;
};

struct PolicyChain;

class Solver {
 public:
  using Poll = std::function<bool()>;

  Solver(const Task& task, const SuccessorGenerator& generator, const SolverConfig& config);
  virtual ~Solver() = default;

  // Searches until the greedy policy from the state is ε-consistent, or a limit is reached.
  Status solve(StateId state, const SearchLimits& limits, const Poll& poll);
  // The same, and goes on until the value is known up to ε, relative to max(1, |value|). Under an inadmissible heuristic, and
  // for a planner that is not optimal, ε-consistency has to do.
  Status solve_with_bounds(StateId state, const SearchLimits& limits, const Poll& poll, ValueBounds& bounds);

  // Whether the greedy policy from the state is known to be ε-consistent, and to end.
  bool is_solved(StateId state) const {
    if (graph_.is_terminal(state)) return true;
    const StateId representative = graph_.representative(state);
    return is_labelled(representative) && (!has_traps_ || fixed_.contains(representative));
  }

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
  // Backs up the values from above of all states that are known until they stay, or a limit is reached.
  Status tighten(const SearchLimits& limits, const Poll& poll);
  // A policy from a state on: the states that it can visit, that state first, with what it does there (-1: it gives up, as at
  // goals and dead ends) and values. Where a limit was reached before all were found, there are none.
  struct PolicyTable {
    std::vector<StateId> states;
    std::vector<ActionId> actions;
    std::vector<double> values;
    double bound = kInfinity;  // What it costs from there, at most; infinite where that is not known.
    Status status = Status::kConverged;
  };
  // The greedy policy of a solved state, with its values; its bounds are those of the search.
  PolicyTable greedy_policy(StateId state, const SearchLimits& limits, const Poll& poll);
  // Where values from above are kept: the best policy that is known for certain, with these values. If nothing is better for
  // certain than to give up, the greedy one, which gives up where nothing is known.
  PolicyTable known_policy(StateId state, const SearchLimits& limits, const Poll& poll);
  // Sound bounds of the value of any state: what is known without a search.
  virtual ValueBounds known_bounds(StateId state);
  // The applicable actions of a state that is no goal, ascending, with sound bounds of their Q values, as far as they are
  // known without a search. Expands the state if need be. Not where the objective is kLexicographic.
  struct ActionBounds {
    std::vector<ActionId> actions;
    std::vector<double> lower;
    std::vector<double> upper;
  };
  ActionBounds action_bounds(StateId state);
  // The action of a state; -1 at goals, dead ends and where giving up is best. Expands the state if need be.
  ActionId greedy_action(StateId state);
  // The action that execution takes: the greedy one, unless the planner replans.
  // Throws SearchStopped where replanning is interrupted.
  virtual ActionId policy_action(StateId state, Budget& /*budget*/) { return greedy_action(state); }

  // Follows the policy from the initial state in the task itself. It may give up. The detector may be
  // null.
  Episode run_episode(RandomStream random, std::int64_t max_steps, DeadEndDetector* detector, const Poll& poll);

  // Whether the values of solved states are optimal, up to ε.
  bool finds_optimum() const { return is_optimal_ && is_admissible_; }

  SearchGraph& graph() { return graph_; }
  const SearchGraph& graph() const { return graph_; }
  const Statistics& statistics() const { return statistics_; }

 protected:
  // States in what follows are representatives, unless it says otherwise.
  virtual void search(StateId state, Budget& budget) = 0;
  bool is_labelled(StateId state) const {
    return graph_.is_terminal(state) || graph_.is_marked(state, SearchGraph::kSolved);
  }
  // The backup of an expanded state, over the actions that the planner looks at.
  virtual SearchGraph::Backup best_choice(StateId state) { return graph_.evaluate(state); }

  // Does work that ticks a budget and counts expansions against it.
  template <typename Work>
  Status within(const SearchLimits& limits, const Poll& poll, Work&& work) {
    Budget budget(limits, statistics_, poll);
    const LentBudget lent(graph_, &budget);
    Status status = Status::kConverged;
    try {
      work(budget);
    } catch (const SearchStopped& stopped) {
      status = stopped.status;
    }
    budget.record();
    return status;
  }
  class LentBudget {
   public:
    LentBudget(SearchGraph& graph, Budget* budget) : graph_(graph), before_(graph.budget()) { graph_.set_budget(budget); }
    ~LentBudget() { graph_.set_budget(before_); }
    LentBudget(const LentBudget&) = delete;
    LentBudget& operator=(const LentBudget&) = delete;

   private:
    SearchGraph& graph_;
    Budget* before_;
  };
  // Follows the given policy from a state, if there is one, within a share of the limits, and backs up from above what it
  // visits.
  void follow_given(StateId state, const SearchLimits& limits, const Poll& poll);
  void follow_into(StateId state);
  // Backs up values from above, the last of the states first, until they stay.
  void tighten_upper(std::span<const StateId> states, Budget& budget);
  // The choice of a policy in a state; no action where it gives up.
  using Choose = std::function<SearchGraph::Backup(StateId)>;
  // Fills in the states and actions of a policy. Throws SearchStopped.
  void write_down(StateId root, const Choose& choose, PolicyTable& table, Budget& budget);
  // The choice by which the value from above of any state is known.
  SearchGraph::Backup known_choice(StateId state);
  // The choice of an expanded representative as one of a state that it stands for.
  SearchGraph::Backup choice_within(StateId state, const SearchGraph::Backup& of_representative);
  // Searches until the state is solved, whatever the heuristic.
  void settle(StateId state, Budget& budget);
  // The states that a policy can visit without passing through marked ones; marks them.
  std::vector<StateId> collect_envelope(StateId state, std::uint8_t mark, const Choose& choose, Budget& budget);
  // The choice of the policy in any expanded state.
  virtual SearchGraph::Backup policy_choice(StateId state);
  // That of a representative. In a solved state it is the one that the value stands for: under an inadmissible heuristic,
  // later searches may find a better one whose successors are not solved.
  SearchGraph::Backup representative_choice(StateId state);
  // Whether an action may be taken at all.
  virtual bool is_allowed(StateId /*state*/, const SearchGraph::Choice&) const { return true; }

  // Looks for traps among expanded states that the greedy policy visits: from those where it gets to no other state that is
  // not dead, sets of states are searched that no action leaves, and are dead ends. Values in them would count up to the penalty.
  void close_traps(std::span<const StateId> visited, Budget& budget);
  // Looks for traps in the graph of the policy from a labelled state: sets of states that it does not leave, and where it
  // pays nothing. If there are any, collapses all end components of what is known around them, takes all labels back and
  // returns true. Otherwise the choices of these states are fixed, and the policy ends with probability 1.
  bool eliminate_traps(StateId state, Budget& budget);
  void collapse_around(const std::vector<StateId>& trapped, Budget& budget);
  void forget_labels();

  // Bounds of the value of a solved state; searches on until they are near enough. Throws SearchStopped.
  virtual void certify(StateId state, Budget& budget);
  double lower_bound(StateId state);
  // A lower bound by a heuristic alone.
  double heuristic_bound(StateId state);
  double cost_share() const;
  PolicyChain policy_chain(StateId root, const Choose& choose, Budget& budget);
  // What a policy of representatives costs, bounded from above; `otherwise` where nothing is found, or more than that.
  double policy_bound(StateId root, const Choose& choose, double lower, double otherwise, Budget& budget);
  // The cost of the policy from a labelled state, bounded from above.
  double upper_bound(StateId state, double lower, Budget& budget);
  // By how much values may exceed those of a backup.
  virtual double residual_below() const { return 0; }
  // Under an inadmissible heuristic, a value may fall after a state that leads there was labelled. Looks for that in the
  // states of the policy; where it finds it, mends the values, takes all labels back and returns true.
  bool reopen_stale(StateId state, Budget& budget);
  virtual void on_reopened() {}
  // What a backup makes of the value. Where there may be traps, lower bounds are never lowered again: the rounding of backups
  // would go round in them for ever.
  double updated(StateId state, const SearchGraph::Backup& backup) const {
    return has_traps_ && is_admissible_ ? std::max(graph_.value(state), backup.value) : backup.value;
  }
  // Backs up values from above, if they are kept, the last state first.
  void back_up_upper(std::span<const StateId> states) {
    if (!graph_.keeps_upper()) return;
    for (std::size_t i = states.size(); i-- > 0;) graph_.back_up_upper(states[i]);
  }
  std::vector<ActionId> applicable_actions(StateId state) const;
  // A backup: sets the value; returns what was found and how far the value moved.
  std::pair<SearchGraph::Backup, double> update(StateId state);
  void ensure_expanded(StateId state) {
    if (!graph_.is_expanded(state)) graph_.expand(state);
  }
  StateId sample(const SearchGraph::Backup& backup);

  const Task& task_;
  const SuccessorGenerator& generator_;
  const Objective objective_;
  const double target_;       // What bounds may differ by.
  double epsilon_;            // The largest residual of a solved state: as `target_`, unless that was not enough.
  const bool is_admissible_;  // The heuristic.
  bool is_optimal_ = true;
  bool has_traps_;            // There may be end components without cost.
  const double least_cost_;   // Of an action; 0 where costs do not count.
  const bool rounds_down_;
  ValueBounds bounds_{0, 0};
  std::unordered_map<StateId, const std::uint32_t*> fixed_;  // Choices of states where `eliminate_traps` found none; null: gives up.
  std::unique_ptr<Heuristic> heuristic_;
  std::unique_ptr<Heuristic> admissible_;  // Where that is not, or values may be too high; made when it is asked for.
  std::unique_ptr<Policy> policy_;         // What the search starts from; may be null.
  // The states on the way to where it is followed, with what it leads to and has not been looked at, the likeliest last;
  // and the states from which all has been, each after those that it leads to, as far as cycles allow.
  struct Following {
    StateId state;
    std::vector<StateId> left;
  };
  std::vector<Following> following_;
  std::vector<StateId> followed_;
  Statistics statistics_;
  SearchGraph graph_;
  RandomStream random_;
};

}  // namespace asnets
