// What heuristics say about the actions of a state, as bits: inputs of the network's first layer.
//
// A kind of features gives every action a code of a few bits. Most actions have the usual code, which is the same in all
// states, so that only the others are named. A new kind is a class here and an entry in `make_action_features` and in
// ACTION_FEATURES of asnets.planning.
#pragma once

#include <cstdint>
#include <functional>
#include <memory>
#include <string>
#include <vector>

#include "task.hpp"

namespace asnets {

// Holds scratch space: one for each thread.
class ActionFeatures {
 public:
  using Set = std::function<void(ActionId, std::uint8_t)>;

  virtual ~ActionFeatures() = default;
  virtual std::size_t bits() const = 0;
  virtual std::uint8_t usual_code() const = 0;
  // Calls `set(action, code)` for the actions with other codes than the usual one, each once.
  virtual void evaluate(const Word* state, const Set& set) = 0;
};

// "landmarks": the only action of some LM-cut landmark, one of several of some landmark, in none [toyer2018action,
// "Heuristic features for expressiveness"]. "relaxed-plan": part of the relaxed plan of h_ff. Of several kinds, the codes
// stand next to each other, that of the first kind in the lowest bits. Throws std::invalid_argument for other names and
// for more than 8 bits.
std::unique_ptr<ActionFeatures> make_action_features(const std::vector<std::string>& names, const Task& task);

// Bits and usual code of kinds of features, without a task.
struct FeatureCode {
  std::size_t bits = 0;
  std::uint8_t usual = 0;
};
FeatureCode feature_code(const std::vector<std::string>& names);

}  // namespace asnets
