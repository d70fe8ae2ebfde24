// A moment by which work has to end, or any moment at which it is cancelled.
#pragma once

#include <atomic>
#include <chrono>

namespace asnets {

// Safe to share between threads.
class Deadline {
 public:
  // So many seconds from now; infinite for none.
  explicit Deadline(double seconds) : begin_(Clock::now()), seconds_(seconds) {}

  double elapsed() const { return std::chrono::duration<double>(Clock::now() - begin_).count(); }
  bool has_passed() const { return cancelled_.load(std::memory_order_relaxed) || elapsed() >= seconds_; }
  bool is_cancelled() const { return cancelled_.load(std::memory_order_relaxed); }
  void cancel() { cancelled_.store(true, std::memory_order_relaxed); }
  double seconds() const { return seconds_; }

 private:
  using Clock = std::chrono::steady_clock;

  Clock::time_point begin_;
  double seconds_;
  std::atomic<bool> cancelled_{false};
};

}  // namespace asnets
