// How deep a task is when nothing is ever deleted.
//
// What it computes: the number of rounds after which nothing new becomes true, where each round applies all actions that
// are applicable in the all-outcomes delete relaxation, from a state on; the depth of the relaxed planning graph.
// What it guarantees: each fact that can become true at all takes at least as many steps as its round.
#pragma once

#include <cstddef>

#include "heuristics/relaxed_task.hpp"

namespace asnets {

std::size_t relaxed_depth(const RelaxedTask& relaxed, const Word* state);

}  // namespace asnets
