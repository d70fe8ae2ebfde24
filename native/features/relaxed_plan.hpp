// Whether an action is part of the relaxed plan of h_ff.
#pragma once

#include <memory>

#include "features/action_feature.hpp"
#include "heuristics/relaxation_heuristics.hpp"

namespace asnets {

class RelaxedPlanFeature final : public ActionFeature {
 public:
  explicit RelaxedPlanFeature(const Task& task) : finder_(make_relaxed_plan_finder(task)) {}

  void evaluate(const Word* state, const Set& set) override {
    static constexpr float kInPlan = 1;
    for (const ActionId action : finder_->find(state)) set(action, &kInPlan);
  }

 private:
  std::unique_ptr<RelaxedPlanFinder> finder_;
};

}  // namespace asnets
