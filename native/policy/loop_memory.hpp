// Whether a run has come back to where it was without progress.
//
// What it computes: at each state of a run, whether the run goes in circles there, and how often it was found to. Coming
// back alone says little: a block that falls brings a run back by chance. A run is in a loop if it
//   - stays among states that it knows: from here, the actions that it took last lead to states that it has visited,
//     whatever chance does, and never out of them. A policy that goes by the state alone does not leave them any more; or
//   - has come back here `kReturnsByChance` times.
// An action that may leave the state as it is, and has, is tried again: that does not count as coming back.
#pragma once

#include <cstddef>
#include <optional>
#include <vector>

#include "simulator.hpp"
#include "state_table.hpp"
#include "task.hpp"

namespace asnets {

// For one thread. A step takes microseconds; successors are worked out only where a run comes back.
class LoopMemory {
 public:
  explicit LoopMemory(const Task& task) : task_(task), table_(task.num_words()), expander_(task, kMaxSuccessors) {}

  // A run begins.
  void begin() {
    table_ = StateTable(task_.num_words());
    visits_.clear();
  }

  // The run is in this state, and is going to act. Returns how often it was found to be in a loop here, 0 if it is not now.
  std::size_t visit(const Word* state) {
    const StateId before = current_;
    current_ = known(state);
    Visits& visits = visits_[current_];
    const bool has_returned = visits.is_visited;
    visits.is_visited = true;
    if (!has_returned) return 0;
    if (current_ != before) ++visits.returns;
    const bool is_loop = visits.returns >= kReturnsByChance || stays_among_known();
    return is_loop ? ++visits_[current_].loops : 0;
  }

  // Whether an action may lead from there to a state that the run has not visited.
  bool leads_on(ActionId action) {
    try {
      expander_.expand(table_.state(current_), action);
    } catch (const TooManySuccessors&) {
      return true;
    }
    for (std::size_t i = 0; i < expander_.count(); ++i) {
      const std::optional<StateId> id = table_.find(expander_.successor(i));
      if (!id || !visits_[*id].is_visited) return true;
    }
    return false;
  }

  // What it does there.
  void act(ActionId action) {
    Visits& visits = visits_[current_];
    if (visits.action == action) return;
    visits.action = action;
    visits.successors.clear();
  }

 private:
  struct Visits {
    ActionId action = -1;               // The last one.
    std::vector<StateId> successors;    // Of that action, where they were asked for.
    std::size_t returns = 0;
    std::size_t loops = 0;
    std::size_t look = 0;               // The last look at the states around that came by.
    bool is_visited = false;            // Otherwise it is only known as a successor.
  };

  // A block that falls with a probability of 1/4 brings a run back so often once in 65,000 times; a policy that goes in
  // circles through many states has wasted no more than that many rounds.
  static constexpr std::size_t kReturnsByChance = 8;
  static constexpr std::size_t kMaxSuccessors = 256;  // Actions with more can be trusted to lead somewhere new.

  StateId known(const Word* state) {
    const StateId id = table_.intern(state);
    if (id >= visits_.size()) visits_.resize(id + 1);
    return id;
  }

  bool stays_among_known() {
    ++look_;
    open_.assign(1, current_);
    visits_[current_].look = look_;
    while (!open_.empty()) {
      const StateId state = open_.back();
      open_.pop_back();
      if (visits_[state].successors.empty() && !find_successors(state)) return false;
      for (const StateId successor : visits_[state].successors) {
        Visits& visits = visits_[successor];
        if (!visits.is_visited) return false;
        if (visits.look == look_) continue;
        visits.look = look_;
        open_.push_back(successor);
      }
    }
    return true;
  }

  bool find_successors(StateId state) {
    try {
      expander_.expand(table_.state(state), visits_[state].action);
    } catch (const TooManySuccessors&) {
      return false;
    }
    std::vector<StateId> successors;
    for (std::size_t i = 0; i < expander_.count(); ++i) successors.push_back(known(expander_.successor(i)));
    visits_[state].successors = std::move(successors);
    return true;
  }

  const Task& task_;
  StateTable table_;
  Expander expander_;
  std::vector<Visits> visits_;
  std::vector<StateId> open_;
  std::size_t look_ = 0;
  StateId current_ = 0;
};

}  // namespace asnets
