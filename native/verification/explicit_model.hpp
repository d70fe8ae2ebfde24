// An MDP state by state, or a chain: one choice in each inner state.
//
// Probabilities and costs are doubles. The exact model behind them is rational: outcomes have the fractions of the
// domain, and a policy draws an action with the share that its weight has of the sum of its weights. `roundings` says
// how often, at most, a number of this model was rounded on its way: each probability is the exact one times (1 +
// d)^±roundings with |d| <= 2^-53, and so is each cost if none of the parts that costs are sums of is negative; else a cost
// differs by as much of `largest_cost`.
#pragma once

#include <cstdint>
#include <vector>

#include "state_table.hpp"
#include "task.hpp"

namespace asnets {

enum class StateKind : std::uint8_t {
  kInner,
  kGoal,
  kStopped,    // No action is applicable, or the policy gives up.
  kUnexplored  // Reached, and no goal; what follows is not known.
};

// Why an exploration ended.
enum class Exploration : int { kComplete, kStates, kTime, kMemory, kInterrupted };

struct ExplicitModel {
  explicit ExplicitModel(std::size_t num_words) : states(num_words) {}

  std::size_t num_states() const { return kinds.size(); }
  std::size_t num_choices() const { return choice_action.size(); }
  StateKind kind(StateId state) const { return static_cast<StateKind>(kinds[state]); }

  StateTable states;  // State 0 is the initial one.
  std::vector<std::uint8_t> kinds;
  std::vector<std::uint64_t> first_choice;      // Of each state, and one more.
  std::vector<ActionId> choice_action;          // -1: several, of a policy that draws.
  std::vector<double> choice_cost;              // Expected cost of the step.
  std::vector<std::uint64_t> first_transition;  // Of each choice, and one more.
  std::vector<StateId> successors;              // Ascending within a choice, each once; the state itself may be one.
  std::vector<double> probabilities;

  // Where the actions that a policy may draw differ in cost, the cost of a step depends on the successor. If that is so
  // anywhere, these hold successors, each once for each cost, for all choices; else they are empty.
  std::vector<std::uint64_t> first_joint;
  std::vector<StateId> joint_successors;
  std::vector<double> joint_probabilities;
  std::vector<double> joint_costs;

  Exploration status = Exploration::kComplete;
  std::uint32_t roundings = 0;
  double largest_cost = 0;  // The parts of an action's together, by absolute value.
  bool has_negative_cost = false;  // Whether some part of a cost is negative.
};

}  // namespace asnets
