// Drawing an action: the same number gives the same action, whoever computed the probabilities.
#pragma once

#include <algorithm>
#include <span>

#include "random.hpp"
#include "task.hpp"

namespace asnets {

// The position of an element, each with its probability; takes one random number.
inline std::size_t draw_position(std::span<const double> probabilities, RandomStream& random) {
  double rest = random.uniform();
  std::size_t chosen = 0;
  for (std::size_t i = 0; i < probabilities.size(); ++i) {
    if (probabilities[i] == 0) continue;
    // Where rounding leaves something over, it is the last possible one's.
    chosen = i;
    if (rest < probabilities[i]) break;
    rest -= probabilities[i];
  }
  return chosen;
}

// The action of a policy that acts by these probabilities; negative where there is none. A sampled policy takes a random
// number at every step, a greedy one only where several actions are possible.
inline ActionId draw_action(std::span<const ActionId> actions, std::span<const double> probabilities, bool sampled,
                            RandomStream& random) {
  if (actions.empty()) return -1;
  if (!sampled) {
    const auto is_possible = [](double probability) { return probability > 0; };
    const auto first = std::find_if(probabilities.begin(), probabilities.end(), is_possible);
    const auto possible = static_cast<std::size_t>(std::count_if(first, probabilities.end(), is_possible));
    const bool are_equal = std::all_of(first, probabilities.end(), [&](double p) { return p == 0 || p == *first; });
    if (possible == 1) return actions[static_cast<std::size_t>(first - probabilities.begin())];
    if (are_equal) {
      std::size_t skipped = random.below(possible);
      for (std::size_t i = 0;; ++i) {
        if (is_possible(probabilities[i]) && skipped-- == 0) return actions[i];
      }
    }
  }
  return actions[draw_position(probabilities, random)];
}

}  // namespace asnets
