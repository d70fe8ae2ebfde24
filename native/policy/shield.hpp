// Which actions are proved to be worse than others, in the probability of reaching a goal.
#pragma once

#include <span>
#include <vector>

#include "heuristics/dead_end_detector.hpp"
#include "simulator.hpp"
#include "task.hpp"

namespace asnets {

// For one thread.
class Shield {
 public:
  Shield(const Task& task, DeadEndDetector detector)
      : expander_(task, kMaxSuccessors), detector_(std::move(detector)) {}

  // Appends those of the applicable actions that are to be excluded, in their order; never all of them. Depends on the
  // state alone. May be interrupted.
  void exclude(const Word* state, std::span<const ActionId> actions, std::vector<ActionId>& excluded);

 private:
  static constexpr std::size_t kMaxSuccessors = std::size_t{1} << 16;

  bool is_hopeless(const Word* state, ActionId action);

  Expander expander_;
  DeadEndDetector detector_;
};

}  // namespace asnets
