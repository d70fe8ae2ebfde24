// A part of an SSP written out in flat arrays, and what its graph alone says: components and end components.
//
// An end component is a set of states with, in each, some choices that never leave the set and by which every state of it
// can be reached from every other: whoever is in can stay for ever, or go to any state of it with probability 1
// [dealfaro1997formal]. Maximal ones are found by taking out choices that leave their component, until none does.
#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>
#include <vector>

namespace asnets {

struct SparseModel {
  std::vector<std::size_t> first_choice{0};      // Number of states + 1.
  std::vector<double> cost;                      // Of each choice.
  std::vector<std::size_t> first_transition{0};  // Number of choices + 1.
  std::vector<std::uint32_t> successors;
  std::vector<double> probabilities;

  std::size_t size() const { return first_choice.size() - 1; }
  std::size_t num_choices() const { return cost.size(); }

  // Builds state after state: the choices of one, each with its transitions first.
  void add_transition(std::uint32_t successor, double probability) {
    successors.push_back(successor);
    probabilities.push_back(probability);
  }
  void end_choice(double choice_cost) {
    cost.push_back(choice_cost);
    first_transition.push_back(successors.size());
  }
  void end_state() { first_choice.push_back(cost.size()); }
};

using Tick = std::function<void()>;

struct Components {
  std::vector<std::uint32_t> of;  // The component of each state. One that leads to another has the greater number.
  std::uint32_t count = 0;
};

// Strongly connected components under the choices that `allowed` has (all of them if it is empty).
Components strong_components(const SparseModel& model, const std::vector<bool>& allowed, const Tick& tick);

inline constexpr std::uint32_t kNoComponent = static_cast<std::uint32_t>(-1);

struct EndComponents {
  std::vector<std::uint32_t> of;  // The maximal end component of each state, or kNoComponent.
  std::uint32_t count = 0;
  // Whether a choice is one of those by which its end component stays within itself.
  std::vector<bool> inner;
};

// Maximal end components under the choices that `allowed` has.
EndComponents end_components(const SparseModel& model, std::vector<bool> allowed, const Tick& tick);

// From which states some of the targets can be reached by choices that `allowed` has (all of them if it is empty). The ways
// lead there: of each state that is not a target, a choice with a transition that gets nearer.
struct Reaching {
  std::vector<bool> states;
  std::vector<std::size_t> ways;
};
Reaching reaching(const SparseModel& model, const std::vector<bool>& targets, const std::vector<bool>& allowed,
                  const Tick& tick);

// From which states the targets are reached with probability 1, and how: a greatest fixpoint of `reaching`.
Reaching reaching_for_certain(const SparseModel& model, const std::vector<bool>& targets, const Tick& tick);

}  // namespace asnets
