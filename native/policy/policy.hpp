// What chooses actions.
#pragma once

#include <functional>
#include <memory>

#include "random.hpp"
#include "task.hpp"

namespace asnets {

// Holds scratch space: one for each thread.
class Policy {
 public:
  virtual ~Policy() = default;
  // The action to take in a state that is no goal; negative to give up, as where no action is applicable.
  virtual ActionId choose(const Word* state, RandomStream& random) = 0;
};

using PolicyFactory = std::function<std::unique_ptr<Policy>()>;

}  // namespace asnets
