// The arrays of an explicit model, wherever they are kept.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>

#include "state_table.hpp"
#include "verification/explicit_model.hpp"

namespace asnets {

// Those of explicit_model.hpp; whoever fills this in keeps them alive.
struct ModelView {
  std::span<const std::uint8_t> kinds;
  std::span<const std::uint64_t> first_choice;
  std::span<const double> choice_cost;
  std::span<const std::uint64_t> first_transition;
  std::span<const StateId> successors;
  std::span<const double> probabilities;
  // Empty if each step costs what its choice does.
  std::span<const std::uint64_t> first_joint;
  std::span<const StateId> joint_successors;
  std::span<const double> joint_probabilities;
  std::span<const double> joint_costs;
  std::uint32_t roundings = 1;

  std::size_t num_states() const { return first_choice.size() - 1; }
  StateKind kind(StateId state) const { return static_cast<StateKind>(kinds[state]); }
  bool has_choice(StateId state) const { return first_choice[state] < first_choice[state + 1]; }
  // Its transitions: those of its choice in a chain, of all its choices in an MDP.
  std::uint64_t first(StateId state) const { return first_transition[first_choice[state]]; }
  std::uint64_t last(StateId state) const { return first_transition[first_choice[state + 1]]; }
};

}  // namespace asnets
