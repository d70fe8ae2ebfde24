// The part of an SSP that a search has seen: states with values, and the transitions of those that were expanded.
//
// The problem solved is the SSP with a fixed penalty D for giving up [kolobov2012theory, "fSSPUDE"]: in every state one
// may give up at cost D, so that optimal values are at most D, and equal to D at dead ends. Values are
//   V(s) = 0 at goals,  V(s) = min(D, min_a Q(s, a)) elsewhere,  Q(s, a) = c(s, a) + sum_s' P(s' | s, a) V(s').
// A state starts with its heuristic value, clamped below D where it is finite: only an infinite one is a dead end.
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
  SearchGraph(const Task& task, const SuccessorGenerator& generator, Heuristic& heuristic, double penalty,
              Statistics& statistics);

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
    void improve(double q, const Choice& choice) {
      if (q < value) *this = {q, choice.action, choice.distribution, choice.successors};
    }
  };

  // The budget of the call that is under way, which expansions count against; null for none.
  void set_budget(Budget* budget) { budget_ = budget; }

  // Both may be interrupted, and leave the graph as it was but for states that were added.
  StateId add(const Word* state);
  void expand(StateId state);
  bool is_expanded(StateId state) const { return records_[state] != nullptr; }
  bool is_goal(StateId state) const { return flags_[state] & kGoal; }
  bool is_dead(StateId state) const { return flags_[state] & kDead; }
  bool is_terminal(StateId state) const { return flags_[state] & (kGoal | kDead); }
  void mark_dead(StateId state);
  double value(StateId state) const {
    ASNETS_ASSERT(state < values_.size());
    return values_[state];
  }
  void set_value(StateId state, double value) {
    ASNETS_ASSERT(value <= penalty_);
    values_[state] = value;
  }
  double penalty() const { return penalty_; }

  bool is_marked(StateId state, std::uint8_t mark) const { return flags_[state] & mark; }
  void mark(StateId state, std::uint8_t mark) { flags_[state] |= mark; }
  void unmark(StateId state, std::uint8_t mark) { flags_[state] &= static_cast<std::uint8_t>(~mark); }

  Choices choices(StateId state) const {
    ASNETS_ASSERT(is_expanded(state));
    return Choices(*this, records_[state]);
  }
  double q_value(const Choice& choice) const {
    double q = choice.distribution->cost;
    const std::vector<double>& probabilities = choice.distribution->probabilities;
    for (std::size_t i = 0; i < probabilities.size(); ++i) q += probabilities[i] * values_[choice.successors[i]];
    return q;
  }
  // What a backup of an expanded state would give; does not change the value.
  Backup evaluate(StateId state);

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

 private:
  std::uint32_t distribution_id(const std::vector<double>& probabilities, double repetitions, double cost);
  void successors_of(StateId state, ActionId action);
  std::uint32_t* allocate(std::size_t size);

  const Task& task_;
  const SuccessorGenerator& generator_;
  Heuristic& heuristic_;
  const double penalty_;
  Statistics& statistics_;
  Budget* budget_ = nullptr;
  StateTable table_;
  std::vector<double> values_;
  std::vector<std::uint8_t> flags_;
  std::vector<const std::uint32_t*> records_;

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
};

}  // namespace asnets
