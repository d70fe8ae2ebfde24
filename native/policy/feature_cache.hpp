// The action features of states, remembered for states that come again.
#pragma once

#include <algorithm>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "assert.hpp"
#include "features/action_features.hpp"
#include "network/layer.hpp"
#include "state_table.hpp"
#include "task.hpp"

namespace asnets {

// Holds scratch space: one for each thread.
class FeatureCache {
 public:
  FeatureCache(const Task& task, const std::vector<std::string>& names)
      : num_words_(task.num_words()), features_(names, task) {}

  // Valid until the next call.
  FeatureRows of(const Word* state) {
    if (table_ == nullptr || bytes() > kMaxBytes || table_->memory() > kMaxTableBytes) clear();
    const std::optional<StateId> known = table_->find(state);
    const StateId id = known ? *known : add(state);
    const std::size_t width = features_.width();
    return {{actions_.data() + offsets_[id], actions_.data() + offsets_[id + 1]}, values_.data() + offsets_[id] * width};
  }

 private:
  static constexpr std::size_t kMaxBytes = std::size_t{64} << 20;
  static constexpr std::size_t kMaxTableBytes = std::size_t{32} << 20;

  struct Named {
    ActionId action;
    std::size_t position;  // Of its values in scratch_.
  };

  std::size_t bytes() const { return actions_.size() * sizeof(ActionId) + values_.size() * sizeof(float); }

  void clear() {
    table_ = std::make_unique<StateTable>(num_words_);
    actions_.clear();
    values_.clear();
    offsets_.assign(1, 0);
  }

  // Remembered only when it is complete: an evaluation may be interrupted.
  StateId add(const Word* state) {
    named_.clear();
    scratch_.clear();
    features_.evaluate(state, [&](ActionId action, const float* values) {
      named_.push_back({action, scratch_.size()});
      scratch_.insert(scratch_.end(), values, values + features_.width());
    });
    std::sort(named_.begin(), named_.end(), [](const Named& a, const Named& b) { return a.action < b.action; });
    for (const Named& named : named_) {
      actions_.push_back(named.action);
      const float* const values = scratch_.data() + named.position;
      values_.insert(values_.end(), values, values + features_.width());
    }
    const StateId id = table_->intern(state);
    offsets_.push_back(actions_.size());
    ASNETS_ASSERT(id + 2 == offsets_.size());
    return id;
  }

  std::size_t num_words_;
  ActionFeatures features_;
  std::unique_ptr<StateTable> table_;
  std::vector<std::size_t> offsets_;  // Of the states' actions.
  std::vector<ActionId> actions_;
  std::vector<float> values_;
  std::vector<Named> named_;
  std::vector<float> scratch_;
};

}  // namespace asnets
