#include "policy/policy.hpp"

#include <cmath>
#include <cstddef>
#include <stdexcept>
#include <string>

#include "tolerances.hpp"

namespace asnets {

void check_distribution(const Task& task, const ActionDistribution& distribution, const Word* state) {
  double total = distribution.actions.empty() ? 1 : 0;
  for (std::size_t i = 0; i < distribution.actions.size(); ++i) {
    const ActionId action = distribution.actions[i];
    const double probability = distribution.probabilities[i];
    if (action < 0 || static_cast<std::size_t>(action) >= task.num_actions()) {
      throw std::invalid_argument("there is no action of the number " + std::to_string(action));
    }
    if (!task.is_applicable(action, state)) {
      throw std::invalid_argument("the action of the number " + std::to_string(action) + " is not applicable");
    }
    if (!(probability >= 0)) throw std::invalid_argument("a probability is negative, or no number");
    total += probability;
  }
  if (!(std::abs(total - 1) <= kPolicySum)) {
    throw std::invalid_argument("the probabilities sum to " + std::to_string(total) + ", not to 1");
  }
}

}  // namespace asnets
