// Every applicable action with equal probability.
#pragma once

#include <vector>

#include "policy/policy.hpp"
#include "successor_generator.hpp"

namespace asnets {

class RandomPolicy final : public Policy {
 public:
  explicit RandomPolicy(const SuccessorGenerator& generator) : generator_(generator) {}

  ActionId choose(const Word* state, RandomStream& random) override {
    generator_.applicable(state, actions_, stack_);
    if (actions_.empty()) return -1;
    return actions_.actions()[random.below(actions_.actions().size())];
  }
  void distribution(const Word* state, ActionDistribution& result) override {
    generator_.applicable(state, actions_, stack_);
    result.actions.assign(actions_.actions().begin(), actions_.actions().end());
    result.probabilities.assign(result.actions.size(), 1.0 / static_cast<double>(result.actions.size()));
  }
  void preferences(const Word* state, ActionDistribution& result) override { distribution(state, result); }

 private:
  const SuccessorGenerator& generator_;
  ActionList actions_;
  std::vector<std::int32_t> stack_;
};

}  // namespace asnets
