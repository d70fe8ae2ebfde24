// The part of an SSP that a search has seen: states with values, and the transitions of those that were expanded.
//
// The problem solved is the SSP with a fixed penalty D for giving up [kolobov2012theory, "fSSPUDE"]: in every state one
// may give up at cost D, so that optimal values are at most D, and equal to D at dead ends. Values are
//   V(s) = 0 at goals,  V(s) = min(D, min_a Q(s, a)) elsewhere,  Q(s, a) = c(s, a) + sum_s' P(s' | s, a) V(s').
// A state starts with its heuristic value, clamped below D where it is finite: only an infinite one is a dead end.
//
// Where the objective is the probability of reaching a goal, costs count as 0 and D is 1, so that values are the least
// probabilities of failing; the heuristic then only tells dead ends, and which of equal choices to look at first.
//
// Zero-cost end components (all of them, where costs do not count) are traps: a set of states in which a policy can stay
// for ever for nothing, so that any value that is not above that of its exits is a fixpoint of backups. Once found they
// are collapsed [kolobov2011heuristic, "FRET"]: one of the states represents all of them, with the choices of all that
// leave the set, each repeated until it does. Values and choices are those of representatives; records keep the states as
// they are, and `representative` is looked up where they are read. To get from any state of a trap to the one whose choice
// leaves it is free, and `within_trap` says how.
//
// Values from above, where they are kept: U(s) = D at first and 0 at goals, and a backup makes it
//   U(s) = min(U(s), min_a c(s, a) + sum_s' P(s' | s, a) U(s')), rounded up,
// so that it is what some policy costs at most that gives up in the end: an upper bound of the optimal value, whatever the
// heuristic, with traps and without. The choice that last lowered it is kept as well. These choices are a policy that costs
// at most U (graph_upper.cpp).
//
// Transitions are kept once they are computed. An action that may leave the state unchanged is replaced by the
// equivalent one that is repeated until the state changes; one that never changes it is left out. The greedy choice and
// all values stay the same, and backups converge faster.
#pragma once

#include <cstdint>
#include <deque>
#include <memory>
#include <string>
#include <unordered_map>
#include <vector>

#include "assert.hpp"
#include "flat_actions.hpp"
#include "heuristics/heuristic.hpp"
#include "search/budget.hpp"
#include "search/objective.hpp"
#include "simulator.hpp"
#include "state_table.hpp"
#include "successor_generator.hpp"
#include "task.hpp"

namespace asnets {

// The probabilities of an action's successors and what it costs to get there, shared by all states where they are the
// same.
struct Distribution {
  std::vector<double> probabilities;
  double repetitions = 1;  // How often the action is applied, on average, until the state changes.
  double cost = 0;         // The expected cost until then: that of one step times the repetitions.
};

class SearchGraph {
 public:
  SearchGraph(const Task& task, const SuccessorGenerator& generator, Heuristic& heuristic, Objective objective,
              double penalty, bool rounds_down, bool keeps_upper, Statistics& statistics);

  // An applicable action of an expanded state.
  struct Choice {
    ActionId action;
    const Distribution* distribution;
    const StateId* successors;

    std::size_t size() const { return distribution->probabilities.size(); }
    // Names the choice for `choice_at`.
    const std::uint32_t* entry() const { return successors - 2; }
  };
  Choice choice_at(const std::uint32_t* entry) const {
    return {static_cast<ActionId>(entry[0]), &distributions_[entry[1]], entry + 2};
  }
  // The choices of a state, one after the other.
  class Choices {
   public:
    Choices(const SearchGraph& graph, const std::uint32_t* record) : graph_(&graph), next_(record + 1), left_(*record) {}
    bool next(Choice& choice) {
      if (left_ == 0) return false;
      --left_;
      choice = graph_->choice_at(next_);
      next_ += 2 + choice.size();
      return true;
    }

   private:
    const SearchGraph* graph_;
    const std::uint32_t* next_;
    std::uint32_t left_;
  };
  struct Backup {
    double value;                    // min(D, min_a Q)
    ActionId action = -1;            // The greedy action, the first of the best; -1 to give up.
    const Distribution* distribution = nullptr;
    const StateId* successors = nullptr;

    std::size_t size() const { return distribution == nullptr ? 0 : distribution->probabilities.size(); }
    // Of equal ones the first, unless another one is preferred; giving up comes before both.
    void improve(double q, const Choice& choice, const std::uint32_t* preferred) {
      if (q < value || (q == value && action >= 0 && choice.entry() == preferred)) {
        *this = {q, choice.action, choice.distribution, choice.successors};
      }
    }
  };

  // The budget of the call that is under way, which expansions count against; null for none.
  void set_budget(Budget* budget) { budget_ = budget; }
  Budget* budget() const { return budget_; }
  // Counts as work what evaluating a state by a heuristic or a policy takes.
  void count_evaluation() { statistics_.work += kEvaluationWork * (task_.num_actions() + task_.num_propositions()); }

  // Both may be interrupted, and leave the graph as it was but for states that were added.
  StateId add(const Word* state);
  void expand(StateId state);
  bool is_expanded(StateId state) const { return records_[state] != nullptr; }
  bool is_goal(StateId state) const { return flags_[state] & kGoal; }
  bool is_dead(StateId state) const { return flags_[representative(state)] & kDead; }
  bool is_terminal(StateId state) const { return flags_[representative(state)] & (kGoal | kDead); }
  void mark_dead(StateId state);
  double value(StateId state) const {
    ASNETS_ASSERT(state < values_.size());
    return values_[representative(state)];
  }
  // Of a representative.
  void set_value(StateId state, double value) {
    ASNETS_ASSERT(value <= penalty_ && state == representative(state));
    values_[state] = value;
  }
  double penalty() const { return penalty_; }

  // --- Values from above.
  bool keeps_upper() const { return keeps_upper_; }
  double upper(StateId state) const {
    if (keeps_upper_) return uppers_[representative(state)];
    return is_terminal(state) ? value(state) : penalty_;
  }
  // The choice of a representative that its value from above stands for; null where it gives up.
  const std::uint32_t* upper_choice(StateId state) const { return upper_choices_[state]; }
  // The choice of a state that comes first among equal ones; null for none.
  void prefer(StateId state, const std::uint32_t* entry) {
    if (state >= preferred_.size()) preferred_.resize(size(), nullptr);
    preferred_[state] = entry;
  }
  const std::uint32_t* preferred(StateId state) const {
    return state < preferred_.size() ? preferred_[state] : nullptr;
  }
  // Backs up the value from above of an expanded representative; returns by how much it fell.
  double back_up_upper(StateId state);

  bool is_marked(StateId state, std::uint8_t mark) const { return flags_[state] & mark; }
  void mark(StateId state, std::uint8_t mark) { flags_[state] |= mark; }
  void unmark(StateId state, std::uint8_t mark) { flags_[state] &= static_cast<std::uint8_t>(~mark); }

  Choices choices(StateId state) const {
    ASNETS_ASSERT(is_expanded(state));
    return Choices(*this, records_[state]);
  }
  // The choices of a state itself, whoever represents it.
  Choices own_choices(StateId state) const {
    const auto own = own_records_.find(state);
    return Choices(*this, own == own_records_.end() ? records_[state] : own->second);
  }
  double q_value(const Choice& choice) const {
    if (!is_plain_) return careful_q_value(choice);
    double q = choice.distribution->cost;
    const std::vector<double>& probabilities = choice.distribution->probabilities;
    for (std::size_t i = 0; i < probabilities.size(); ++i) q += probabilities[i] * values_[choice.successors[i]];
    return q;
  }
  // What a backup of an expanded state would give; does not change the value.
  Backup evaluate(StateId state);

  // --- Traps. The state that stands for a state: itself, unless it is in a trap that was collapsed.
  StateId representative(StateId state) const {
    return state < representatives_.size() ? representatives_[state] : state;
  }
  StateId successor(const Choice& choice, std::size_t i) const { return representative(choice.successors[i]); }
  StateId successor(const Backup& backup, std::size_t i) const { return representative(backup.successors[i]); }
  bool is_trap(StateId state) const { return !traps_.empty() && traps_.contains(state); }
  // How many states a representative stands for.
  std::size_t num_members(StateId state) const { return is_trap(state) ? traps_.at(state).members.size() : 1; }
  // Makes one of representatives that form an end component without cost, all of them expanded. Without a way out, they are
  // dead ends. Returns who represents them.
  StateId collapse(const std::vector<StateId>& states);
  // The choice of a state of a trap, of its own, by which a policy gets to where the trap is left by `exit`, a choice of
  // the representative, and takes it there.
  Backup within_trap(StateId state, const Backup& exit);
  // Lower is more hopeful: what the heuristic says of where a choice leads, where costs do not count; else 0.
  double promise(const Choice& choice) const;

  // States with actions that leave them as they are and earn something, as far as they were expanded.
  struct EarningLoop {
    StateId state;
    ActionId action;
  };
  const std::vector<EarningLoop>& earning_loops() const { return earning_loops_; }
  std::size_t most_successors() const { return most_successors_; }

  // Looks from a state along all actions, expanding what has not been, up to `max_expansions`. If no goal can be
  // reached, all that was seen is a trap: marks it dead and returns true.
  bool close_trap(StateId state, std::size_t max_expansions, Budget& budget);

  const Task& task() const { return task_; }
  const StateTable& table() const { return table_; }
  std::size_t size() const { return table_.size(); }

  static constexpr std::uint8_t kGoal = 1;
  static constexpr std::uint8_t kDead = 2;
  static constexpr std::uint8_t kSolved = 4;   // For the use of algorithms, as are the following.
  static constexpr std::uint8_t kOpen = 8;
  static constexpr std::uint8_t kVisited = 16;
  static constexpr std::uint8_t kBorder = 32;
  static constexpr std::uint8_t kGiven = 64;
  static constexpr std::uint8_t kFollowed = 128;

 private:
  // A collapsed end component.
  struct Trap {
    std::vector<StateId> members;
    const std::uint32_t* exit = nullptr;  // The last one that was asked for, and the way there.
    std::unordered_map<StateId, const std::uint32_t*> ways;
  };

  double careful_q_value(const Choice& choice) const;
  double upper_q_value(const Choice& choice) const;
  // Of representatives that are about to be collapsed: the value from above, and whose choice leaves them for it (an action
  // of -1: none does).
  struct UpperExit {
    double value;
    StateId owner = 0;
    ActionId action = -1;
  };
  UpperExit upper_exit(const std::vector<StateId>& states) const;
  void find_ways(Trap& trap, StateId target) const;
  std::uint32_t distribution_id(const std::vector<double>& probabilities, double repetitions, double cost);
  void successors_of(StateId state, ActionId action);
  std::uint32_t* allocate(std::size_t size);

  const Task& task_;
  const SuccessorGenerator& generator_;
  Heuristic& heuristic_;
  const bool ignores_costs_;
  const bool rounds_down_;  // Each Q value, so that values from below stay below the true ones.
  const double penalty_;
  const double dead_value_;  // The penalty; 0 where nothing more is paid once the goal is out of reach.
  Statistics& statistics_;
  Budget* budget_ = nullptr;
  bool is_plain_;                  // Q values need no care.
  StateTable table_;
  std::vector<double> values_;
  std::vector<std::uint8_t> flags_;
  std::vector<const std::uint32_t*> records_;

  const bool keeps_upper_;
  const double cost_error_;                           // Of the cost of a step, absolute.
  std::vector<double> uppers_;                        // Where they are kept, as are the following.
  std::vector<const std::uint32_t*> upper_choices_;
  std::vector<const std::uint32_t*> preferred_;       // Empty where none is.

  std::vector<double> promises_;   // Of each state, where costs are ignored.
  std::vector<EarningLoop> earning_loops_;
  std::size_t most_successors_ = 1;  // Of a choice.

  std::vector<StateId> representatives_;  // Empty before the first trap; states beyond its end represent themselves.
  std::unordered_map<StateId, Trap> traps_;
  std::unordered_map<StateId, const std::uint32_t*> own_records_;  // Of states that represent a trap.
  std::unordered_map<const std::uint32_t*, StateId> owners_;       // Of choices of traps: the state whose choice it is.

  std::vector<FlatAction> flat_;  // Empty for actions that are not flat.
  std::deque<Distribution> distributions_;  // Never moved: choices point to them.
  std::unordered_map<std::string, std::uint32_t> distribution_ids_;
  std::vector<std::uint32_t> plain_distribution_;  // Of flat actions of constant cost whose successors are all different.

  std::vector<std::unique_ptr<std::uint32_t[]>> chunks_;
  std::size_t chunk_left_ = 0;
  std::uint32_t* chunk_next_ = nullptr;

  Expander expander_;
  ActionList actions_;
  std::vector<std::int32_t> stack_;
  std::vector<Word> scratch_;
  std::vector<StateId> successors_;
  std::vector<double> probabilities_;
  std::vector<std::uint32_t> record_;
  // Of states among the successors of the action that is expanded; kNoPlace between such uses.
  std::vector<std::uint32_t> places_;
  static constexpr std::uint32_t kNoPlace = static_cast<std::uint32_t>(-1);
};

}  // namespace asnets
