// Greedy in a heuristic: the action after which cost and expected heuristic value are least.
//
// What it computes: argmin over a of c(s, a) + sum_s' P(s' | s, a) h(s'), where dead ends (h infinite) count as the penalty;
// the lowest of equal ones.
#pragma once

#include <algorithm>
#include <memory>
#include <vector>

#include "heuristics/heuristic.hpp"
#include "interruption.hpp"
#include "policy/policy.hpp"
#include "simulator.hpp"
#include "successor_generator.hpp"

namespace asnets {

class GreedyHeuristicPolicy final : public Policy {
 public:
  GreedyHeuristicPolicy(const Task& task, const SuccessorGenerator& generator, std::unique_ptr<Heuristic> heuristic,
                        double penalty)
      : task_(task),
        generator_(generator),
        heuristic_(std::move(heuristic)),
        penalty_(penalty),
        expander_(task, kMaxSuccessors) {}

  ActionId choose(const Word* state, RandomStream&) override {
    generator_.applicable(state, applicable_, stack_);
    actions_.assign(applicable_.actions().begin(), applicable_.actions().end());
    std::sort(actions_.begin(), actions_.end());
    ActionId best = -1;
    double least = kInfinity;
    for (const ActionId action : actions_) {
      interruption_point();
      const double value = q_value(state, action);
      if (value < least) {
        least = value;
        best = action;
      }
    }
    return best;
  }
  void distribution(const Word* state, ActionDistribution& result) override {
    RandomStream unused(0, 0);
    result.clear();
    if (const ActionId action = choose(state, unused); action >= 0) result.add(action, 1);
  }

 private:
  static constexpr std::size_t kMaxSuccessors = std::size_t{1} << 20;

  double q_value(const Word* state, ActionId action) {
    expander_.expand(state, action);
    double value = task_.cost(action, state);
    for (std::size_t i = 0; i < expander_.count(); ++i) {
      const Word* const successor = expander_.successor(i);
      const double h = task_.is_goal(successor) ? 0 : heuristic_->evaluate(successor);
      value += expander_.probability(i) * std::min(h, penalty_);
    }
    return value;
  }

  const Task& task_;
  const SuccessorGenerator& generator_;
  std::unique_ptr<Heuristic> heuristic_;
  double penalty_;
  Expander expander_;
  ActionList applicable_;
  std::vector<std::int32_t> stack_;
  std::vector<ActionId> actions_;
};

}  // namespace asnets
