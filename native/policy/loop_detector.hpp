// Runs that go in circles.
//
// A run that reaches its step limit is a loop if few different states make up its last steps.
#pragma once

#include <algorithm>
#include <cstdint>
#include <vector>

#include "state_table.hpp"

namespace asnets {

class LoopDetector {
 public:
  explicit LoopDetector(std::int64_t max_steps)
      : window_(std::min<std::int64_t>(kWindow, max_steps / 2)), first_(max_steps - window_) {}

  // The state before step number `step`.
  void visit(std::int64_t step, const std::vector<Word>& state) {
    if (step >= first_) hashes_.push_back(hash_words(state.data(), state.size()));
  }

  // Once all steps were visited.
  bool is_loop() {
    if (window_ < kStepsPerState) return false;
    std::sort(hashes_.begin(), hashes_.end());
    const auto end = std::unique(hashes_.begin(), hashes_.end());
    return end - hashes_.begin() <= window_ / kStepsPerState;
  }

 private:
  static constexpr std::int64_t kWindow = 128;
  static constexpr std::int64_t kStepsPerState = 8;  // On average, each state of a loop is visited so often.

  std::int64_t window_;
  std::int64_t first_;
  std::vector<std::uint64_t> hashes_;
};

}  // namespace asnets
