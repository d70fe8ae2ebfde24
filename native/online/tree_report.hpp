// The first levels of what a planner has built, for those who want to see them.
#pragma once

#include <span>

#include "policy/decision.hpp"
#include "search/graph.hpp"
#include "search/puct.hpp"

namespace asnets {

// Describes two levels of actions from a state of the graph on, with their outcomes: of each state the actions that were
// visited most often, or without visits those of the lowest cost; of each action the likeliest outcomes. Those of `always`
// are among the actions of the first level, wherever they rank. `tree` is what has the visits; null where nobody counts
// them. Describes nothing where the state has not been expanded.
void describe_tree(const SearchGraph& graph, const Puct* tree, StateId state, std::span<const ActionId> always, TreeOutcome& result);

}  // namespace asnets
