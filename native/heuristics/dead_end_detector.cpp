#include "heuristics/dead_end_detector.hpp"

namespace asnets {

bool DeadEndDetector::is_dead_end(const Word* state) {
  if (relaxed_ == nullptr) {
    relaxed_ = source_();
    for (std::size_t op = 0; op < relaxed_->num_operators(); ++op) {
      const auto id = static_cast<OperatorId>(op);
      num_preconditions_.push_back(static_cast<std::int32_t>(relaxed_->preconditions(id).size()));
    }
  }
  missing_ = num_preconditions_;
  reached_.assign(relaxed_->num_facts(), false);
  stack_.clear();
  const auto reach = [&](FactId fact) {
    if (reached_[static_cast<std::size_t>(fact)]) return;
    reached_[static_cast<std::size_t>(fact)] = true;
    stack_.push_back(fact);
  };
  relaxed_->for_each_true(state, reach);
  while (!stack_.empty() && !reached_[static_cast<std::size_t>(relaxed_->goal())]) {
    const FactId fact = stack_.back();
    stack_.pop_back();
    for (const OperatorId op : relaxed_->precondition_of(fact)) {
      if (--missing_[static_cast<std::size_t>(op)] > 0) continue;
      for (const FactId effect : relaxed_->effects(op)) reach(effect);
    }
  }
  return !reached_[static_cast<std::size_t>(relaxed_->goal())];
}

}  // namespace asnets
