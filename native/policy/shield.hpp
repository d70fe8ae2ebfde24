// Which actions are proved to be worse than others, in the probability of reaching a goal.
//
// What it computes: bounds of the least probability of failing after each applicable action, by a search for the greatest
// probability of reaching a goal (LRTDP with values from below and above) that begins in the state: half of its expansions
// go to the best action, the others to what is left to prove about each of the others. Dead ends that the relaxation shows
// are seen without any expansion but that of the state.
// What it guarantees: an action is excluded only where the goal is proved out of reach after it, and not after all others;
// or where another one is proved to reach it with a probability that is greater by more than `kShieldMargin`. Bounds are
// sound, rounding included, so that an action of the greatest probability is never excluded, however few expansions there
// are. With enough of them, all that are worse by more than ε are.
// It depends on the state alone: each state is looked at anew, and what was found of it is remembered. It does not ask the
// policy that it guards: to follow that first took more than twice the time (networks are dearer than h-add) and proved hardly
// more, on Exploding Blocksworld.
#pragma once

#include <cstddef>
#include <memory>
#include <vector>

#include "search/solver.hpp"
#include "state_table.hpp"
#include "successor_generator.hpp"
#include "task.hpp"

namespace asnets {

// For one thread.
class Shield {
 public:
  // It expands so many states, at most, for each state that it is asked about.
  Shield(const Task& task, const SuccessorGenerator& generator, std::size_t expansions)
      : task_(task), generator_(generator), expansions_(expansions) {}

  // The applicable actions of a state that are to be excluded, ascending; never all of them. Valid until the next call. May
  // be interrupted.
  const std::vector<ActionId>& excluded(const Word* state);

 private:
  static constexpr std::size_t kMaxKnown = std::size_t{1} << 16;  // States that are remembered.

  std::vector<ActionId> find_excluded(const Word* state) const;

  const Task& task_;
  const SuccessorGenerator& generator_;
  const std::size_t expansions_;
  std::unique_ptr<StateTable> table_;
  std::vector<std::vector<ActionId>> known_;
};

}  // namespace asnets
