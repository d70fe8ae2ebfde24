// Paths through an explicit model: the likeliest one to a set of states, or the shortest.
//
// What it computes: Dijkstra's algorithm over -log of the probabilities, with the number of steps to decide between equal
// ones; or over the number of steps, with -log of the probability to decide. Of several choices any may be taken, each with
// the probabilities of its own successors.
// What it guarantees: a best path up to the rounding of logarithms, the same every time. It stops at the first target, so
// that it looks only at states that are nearer. It can be interrupted.
#pragma once

#include <cstdint>
#include <span>
#include <vector>

namespace asnets {

// The arrays of an explicit model that paths are about; see explicit_model.hpp.
struct TransitionArrays {
  std::span<const std::uint64_t> first_choice;
  std::span<const std::uint64_t> first_transition;
  std::span<const std::uint32_t> successors;
  std::span<const double> probabilities;

  std::size_t num_states() const { return first_choice.size() - 1; }
};

// The states from `start` to the first target, both included; empty if there is no way. `is_target` has a byte a state.
std::vector<std::uint32_t> find_path(const TransitionArrays& model, std::uint32_t start,
                                     std::span<const std::uint8_t> is_target, bool is_shortest);

}  // namespace asnets
