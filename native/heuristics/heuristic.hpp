// What all heuristics have in common.
#pragma once

#include <limits>
#include <memory>
#include <string>

#include "task.hpp"

namespace asnets {

inline constexpr double kInfinity = std::numeric_limits<double>::infinity();

// An estimate of the expected cost to the goal. Infinite only where no goal can be reached (all of ours are safe).
// Holds scratch space: one for each thread.
class Heuristic {
 public:
  virtual ~Heuristic() = default;
  virtual double evaluate(const Word* state) = 0;
  // Whether it never exceeds the optimal expected cost.
  virtual bool is_admissible() const { return true; }
};

// "zero", "hmax", "hadd", "hff" or "lmcut"; throws std::invalid_argument for others.
std::unique_ptr<Heuristic> make_heuristic(const std::string& name, const Task& task);

}  // namespace asnets
