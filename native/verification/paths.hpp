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

#include "verification/model_view.hpp"

namespace asnets {

// The states from `start` to the first target, both included; empty if there is no way. `is_target` has a byte a state.
std::vector<StateId> find_path(const ModelView& model, StateId start,
                               std::span<const std::uint8_t> is_target, bool is_shortest);

}  // namespace asnets
