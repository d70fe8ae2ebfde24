// Dead ends by relaxed reachability.
//
// What it computes: whether the goal can be reached from a state in the delete-relaxed all-outcomes determinisation.
// What it guarantees: where it cannot, no policy reaches the goal with any probability; all states that follow are such
// dead ends too. Not all dead ends are seen.
#pragma once

#include <functional>
#include <memory>
#include <vector>

#include "heuristics/relaxed_task.hpp"

namespace asnets {

// Holds scratch space: one for each thread.
class DeadEndDetector {
 public:
  // `relaxed` gives the merged form of the task; it is called when the first state is looked at.
  using RelaxedTaskSource = std::function<std::shared_ptr<const RelaxedTask>()>;
  explicit DeadEndDetector(RelaxedTaskSource relaxed) : source_(std::move(relaxed)) {}

  bool is_dead_end(const Word* state);

 private:
  RelaxedTaskSource source_;
  std::shared_ptr<const RelaxedTask> relaxed_;
  std::vector<std::int32_t> num_preconditions_;
  std::vector<std::int32_t> missing_;
  std::vector<bool> reached_;
  std::vector<FactId> stack_;
};

}  // namespace asnets
