// What a planner would do, as far as its table goes.
#pragma once

#include <mutex>
#include <optional>
#include <unordered_map>

#include "search/solver.hpp"

namespace asnets {

// Safe for use from several threads, while nothing else uses the solver.
class Plan {
 public:
  // After each search, since its table has changed.
  void begin(Solver& solver) {
    solver_ = &solver;
    actions_.clear();
  }
  // Negative where the planner gives up, and in states of which it knows nothing.
  ActionId action(const Word* state) {
    const std::optional<StateId> id = solver_->graph().table().find(state);
    if (!id || solver_->graph().is_terminal(*id) || !solver_->graph().is_expanded(*id)) return -1;
    const std::lock_guard lock(mutex_);
    const auto [known, is_new] = actions_.try_emplace(*id, -1);
    if (is_new) known->second = solver_->greedy_action(*id);
    return known->second;
  }

 private:
  Solver* solver_ = nullptr;
  std::mutex mutex_;
  std::unordered_map<StateId, ActionId> actions_;
};

}  // namespace asnets
