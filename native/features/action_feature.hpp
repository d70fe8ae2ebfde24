// What all action features have in common: what is said about the actions of a state, as inputs of the network's first
// layer.
//
// A feature gives every action some numbers. Most actions have the default values, which are the same in all states, so
// that only the others are named.
#pragma once

#include <functional>

#include "task.hpp"

namespace asnets {

// Holds scratch space: one for each thread.
class ActionFeature {
 public:
  // Takes an action and its values, as many as the feature's width; they are valid during the call only.
  using Set = std::function<void(ActionId, const float*)>;

  virtual ~ActionFeature() = default;
  // Names at least the actions with other than the default values, each once.
  virtual void evaluate(const Word* state, const Set& set) = 0;
};

}  // namespace asnets
