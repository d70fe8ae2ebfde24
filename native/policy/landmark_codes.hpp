// What the network reads of LM-cut in a state, remembered for states that come again.
#pragma once

#include <algorithm>
#include <memory>
#include <span>
#include <vector>

#include "heuristics/lm_cut.hpp"
#include "network/layer.hpp"
#include "state_table.hpp"
#include "task.hpp"

namespace asnets {

// Holds scratch space: one for each thread.
class LandmarkCodes {
 public:
  explicit LandmarkCodes(const Task& task)
      : num_words_(task.num_words()), finder_(make_landmark_finder(task)), codes_(task.num_actions(), 0) {}

  // The actions that are members of cuts, ascending, with their codes; valid until the next call.
  std::span<const LandmarkCode> of(const Word* state) {
    if (table_ == nullptr || values_.size() > kMaxValues || table_->memory() > kMaxBytes) {
      table_ = std::make_unique<StateTable>(num_words_);
      values_.clear();
      offsets_.assign(1, 0);
    }
    const StateId id = table_->intern(state);
    if (id + 1 == offsets_.size()) {
      find(state);
      offsets_.push_back(values_.size());
    }
    return {values_.data() + offsets_[id], values_.data() + offsets_[id + 1]};
  }

 private:
  static constexpr std::size_t kMaxValues = std::size_t{4} << 20;
  static constexpr std::size_t kMaxBytes = std::size_t{32} << 20;

  void find(const Word* state) {
    found_.clear();
    finder_->find(state, [&](std::span<const ActionId> actions, double) {
      for (const ActionId action : actions) {
        std::uint8_t& code = codes_[static_cast<std::size_t>(action)];
        if (code == 0) found_.push_back(action);
        code = static_cast<std::uint8_t>(code | (actions.size() == 1 ? 1 : 2));
      }
    });
    std::sort(found_.begin(), found_.end());
    for (const ActionId action : found_) {
      values_.push_back({action, codes_[static_cast<std::size_t>(action)]});
      codes_[static_cast<std::size_t>(action)] = 0;
    }
  }

  std::size_t num_words_;
  std::unique_ptr<LandmarkFinder> finder_;
  std::unique_ptr<StateTable> table_;
  std::vector<std::size_t> offsets_;
  std::vector<LandmarkCode> values_;
  std::vector<std::uint8_t> codes_;
  std::vector<ActionId> found_;
};

}  // namespace asnets
