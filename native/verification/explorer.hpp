// Explicit models by exploration from the initial state.
//
// What it computes: the states that a policy, or any policy, can meet, with their transitions. Goals are absorbing.
// What it guarantees: the same model on any number of threads. Threads work out distributions and successors of blocks
// of states; the calling thread alone numbers states, in the order in which they are explored. If a limit ends the
// exploration, the states that were not explored are marked as such, and all others are as they would be.
//
// Breadth-first order numbers states as they are explored. The order "likeliest" explores, in rounds, the states that
// hold the greatest probability of being met first: bounds that a partial model gives are narrowest so.
#pragma once

#include <cstdint>
#include <functional>
#include <memory>
#include <vector>

#include "deadline.hpp"
#include "policy/policy.hpp"
#include "successor_generator.hpp"
#include "task.hpp"
#include "verification/explicit_model.hpp"

namespace asnets {

struct ExplorationOptions {
  std::size_t max_states = 0;  // About so many, met or explored; 0: none.
  std::size_t memory = 0;      // Resident set of the process, in bytes; 0: none.
  const Deadline* deadline = nullptr;
  unsigned threads = 1;
  bool likeliest_first = false;  // Of chains.
};

// What is asked for the distributions of states from outside, on the calling thread; it checks them.
using PolicyOutside =
    std::function<void(const std::vector<const Word*>& states, std::vector<ActionDistribution>& distributions)>;
// Told states and those that are left to explore, several times a second on the calling thread; true to stop.
using ExplorationPoll = std::function<bool(std::size_t states, std::size_t frontier)>;

// The chain of a policy. Throws TooManySuccessors, and what the policy throws.
std::unique_ptr<ExplicitModel> explore_chain(const Task& task, const SuccessorGenerator& generator,
                                             const PolicyFactory& make_policy, const ExplorationOptions& options,
                                             const ExplorationPoll& poll);
std::unique_ptr<ExplicitModel> explore_chain(const Task& task, const SuccessorGenerator& generator,
                                             const PolicyOutside& policy, const ExplorationOptions& options,
                                             const ExplorationPoll& poll);
// The MDP of all applicable actions.
std::unique_ptr<ExplicitModel> explore_mdp(const Task& task, const SuccessorGenerator& generator,
                                           const ExplorationOptions& options, const ExplorationPoll& poll);

}  // namespace asnets
