// How much may be done in a step: so many rollouts or simulations, or so many seconds.
#pragma once

#include <algorithm>
#include <cstddef>
#include <limits>

#include "deadline.hpp"
#include "heuristics/heuristic.hpp"

namespace asnets {

struct StepBudget {
  double seconds = 0;     // Wall time; 0: none.
  std::size_t count = 0;  // 0: none. One of the two is given.
};

// A share of a step's budget, from the moment on at which it is made. A count is exact, so that results are the same on any
// machine; it never looks at the clock.
class StepClock {
 public:
  StepClock(const StepBudget& budget, double share)
      : count_(budget.count == 0 ? std::numeric_limits<std::size_t>::max()
                                 : static_cast<std::size_t>(static_cast<double>(budget.count) * share + 0.5)),
        has_clock_(budget.count == 0),
        seconds_(has_clock_ ? budget.seconds * share : kInfinity),
        deadline_(seconds_) {}

  // How many more of `wanted` may be done.
  std::size_t allows(std::size_t wanted) const {
    if (has_clock_ && deadline_.has_passed()) return 0;
    // A share is rounded, and a step has one of each at least: more may be spent than there was.
    return spent_ < count_ ? std::min(wanted, count_ - spent_) : 0;
  }
  void spend(std::size_t number) { spent_ += number; }
  std::size_t spent() const { return spent_; }
  // Seconds left; infinite where a count is the limit.
  double left() const { return has_clock_ ? std::max(0.0, seconds_ - deadline_.elapsed()) : kInfinity; }
  // Null where a count is the limit.
  const Deadline* deadline() const { return has_clock_ ? &deadline_ : nullptr; }

 private:
  std::size_t count_;
  std::size_t spent_ = 0;
  bool has_clock_;
  double seconds_;
  Deadline deadline_;
};

}  // namespace asnets
