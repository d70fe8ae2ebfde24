// A moment by which work has to end, or any moment at which it is cancelled.
#pragma once

#include <algorithm>
#include <atomic>
#include <chrono>

namespace asnets {

// Safe to share between threads.
class Deadline {
 public:
  // So many seconds from now; infinite for none. Passes with `within`, if not null, at the latest.
  explicit Deadline(double seconds, const Deadline* within = nullptr)
      : begin_(Clock::now()), seconds_(seconds), within_(within) {}

  double elapsed() const { return std::chrono::duration<double>(Clock::now() - begin_).count(); }
  // Seconds until it passes; infinite for none.
  double left() const {
    const double own = std::max(0.0, seconds_ - elapsed());
    return within_ == nullptr ? own : std::min(own, within_->left());
  }
  bool has_passed() const {
    return is_cancelled() || elapsed() >= seconds_ || (within_ != nullptr && within_->has_passed());
  }
  bool is_cancelled() const {
    return cancelled_.load(std::memory_order_relaxed) || (within_ != nullptr && within_->is_cancelled());
  }
  void cancel() { cancelled_.store(true, std::memory_order_relaxed); }

 private:
  using Clock = std::chrono::steady_clock;

  Clock::time_point begin_;
  double seconds_;
  const Deadline* within_;
  std::atomic<bool> cancelled_{false};
};

}  // namespace asnets
