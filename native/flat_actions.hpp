// Actions without conditional effects and with few joint outcomes, multiplied out once for all states.
#pragma once

#include <cstdint>
#include <vector>

#include "task.hpp"

namespace asnets {

struct FlatAction {
  std::vector<std::vector<Literal>> changes;  // Of each outcome, deletes first.
  std::vector<double> probabilities;
  std::uint32_t roundings = 0;  // Behind each probability, at most: of the numbers of the domain and of their products.
};

// For each action; empty for those that are not flat.
std::vector<FlatAction> flatten_actions(const Task& task);

// Applies the changes of an outcome.
inline void apply_changes(const std::vector<Literal>& changes, Word* state) {
  for (const Literal literal : changes) {
    const auto bit = static_cast<std::size_t>(literal) >> 1;
    if (literal % 2 == 0) {
      set_bit(state, bit);
    } else {
      clear_bit(state, bit);
    }
  }
}

}  // namespace asnets
