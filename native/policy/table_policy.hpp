// A policy written down: an action for each of a set of states.
#pragma once

#include <optional>
#include <span>
#include <stdexcept>
#include <vector>

#include "policy/policy.hpp"
#include "simulator.hpp"
#include "state_table.hpp"

namespace asnets {

// Closed: holds the initial state and all states that its actions may lead to. Immutable once made: threads may share it.
class PolicyTable {
 public:
  // States are packed, one after the other; actions are negative to give up.
  PolicyTable(const Task& task, std::span<const Word> states, std::span<const ActionId> actions)
      : table_(task.num_words()) {
    for (std::size_t i = 0; i < actions.size(); ++i) {
      const Word* const state = states.data() + i * task.num_words();
      if (table_.intern(state) != i) throw std::invalid_argument("a state occurs twice");
      if (actions[i] >= 0 && (static_cast<std::size_t>(actions[i]) >= task.num_actions() ||
                              !task.is_applicable(actions[i], state))) {
        throw std::invalid_argument("an action is not applicable in its state");
      }
    }
    actions_.assign(actions.begin(), actions.end());
    bool closed = table_.find(task.initial_state().data()).has_value();
    Expander expander(task, kMaxSuccessors);
    for (std::size_t i = 0; i < actions.size() && closed; ++i) {
      if (actions[i] < 0) continue;
      expander.expand(states.data() + i * task.num_words(), actions[i]);
      for (std::size_t s = 0; s < expander.count() && closed; ++s) {
        closed = table_.find(expander.successor(s)).has_value();
      }
    }
    if (!closed) throw std::invalid_argument("there is no action for a state that the policy reaches");
  }

  ActionId action(const Word* state) const {
    const std::optional<StateId> id = table_.find(state);
    if (!id) throw std::invalid_argument("the policy has no action for the state");
    return actions_[*id];
  }

 private:
  static constexpr std::size_t kMaxSuccessors = std::size_t{1} << 20;

  StateTable table_;
  std::vector<ActionId> actions_;
};

class TablePolicy final : public Policy {
 public:
  explicit TablePolicy(const PolicyTable& table) : table_(table) {}
  ActionId choose(const Word* state, RandomStream&) override { return table_.action(state); }
  void distribution(const Word* state, ActionDistribution& result) override {
    result.clear();
    if (const ActionId action = table_.action(state); action >= 0) result.add(action, 1);
  }

 private:
  const PolicyTable& table_;
};

}  // namespace asnets
