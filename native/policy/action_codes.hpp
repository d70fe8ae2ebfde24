// The action features of states, remembered for states that come again.
#pragma once

#include <algorithm>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "assert.hpp"
#include "heuristics/action_features.hpp"
#include "network/layer.hpp"
#include "state_table.hpp"
#include "task.hpp"

namespace asnets {

// Holds scratch space: one for each thread.
class ActionCodes {
 public:
  ActionCodes(const Task& task, const std::vector<std::string>& names)
      : num_words_(task.num_words()), features_(make_action_features(names, task)) {}

  // The actions with other codes than the usual one, ascending; valid until the next call.
  std::span<const ActionCode> of(const Word* state) {
    if (table_ == nullptr || values_.size() > kMaxValues || table_->memory() > kMaxBytes) {
      table_ = std::make_unique<StateTable>(num_words_);
      values_.clear();
      offsets_.assign(1, 0);
    }
    StateId id = 0;
    if (const std::optional<StateId> known = table_->find(state)) {
      id = *known;
    } else {
      // Remembered only when it is complete: an evaluation may be interrupted.
      values_.resize(offsets_.back());
      features_->evaluate(state, [&](ActionId action, std::uint8_t code) { values_.push_back({action, code}); });
      std::sort(values_.begin() + static_cast<std::ptrdiff_t>(offsets_.back()), values_.end(),
                [](const ActionCode& a, const ActionCode& b) { return a.action < b.action; });
      id = table_->intern(state);
      offsets_.push_back(values_.size());
      ASNETS_ASSERT(id + 2 == offsets_.size());
    }
    return {values_.data() + offsets_[id], values_.data() + offsets_[id + 1]};
  }

 private:
  static constexpr std::size_t kMaxValues = std::size_t{4} << 20;
  static constexpr std::size_t kMaxBytes = std::size_t{32} << 20;

  std::size_t num_words_;
  std::unique_ptr<ActionFeatures> features_;
  std::unique_ptr<StateTable> table_;
  std::vector<std::size_t> offsets_;
  std::vector<ActionCode> values_;
};

}  // namespace asnets
