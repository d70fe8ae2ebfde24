// What all heuristics have in common.
#pragma once

#include <limits>

#include "task.hpp"

namespace asnets {

inline constexpr double kInfinity = std::numeric_limits<double>::infinity();

// An estimate of the expected cost to the goal, 0 at goals; the registry says what each guarantees.
// Holds scratch space: one for each thread.
class Heuristic {
 public:
  virtual ~Heuristic() = default;
  virtual double evaluate(const Word* state) = 0;
};

}  // namespace asnets
