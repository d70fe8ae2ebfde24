// Limits and wishes to stop, wherever the work is.
//
// Whoever does long work marks the points where it can be left with `interruption_point()`; small steps, of which there
// are many, use `tick()` of the scope or `interruption_tick()`. Whoever calls that work says in an `InterruptionScope`
// what is to be looked at there. The clock decides how often: the scope's check is called every few milliseconds.
#pragma once

#include <chrono>
#include <cstdint>
#include <functional>
#include <utility>

namespace asnets {

// Thrown by checks that have nothing more to say than that the work is to end.
struct Interrupted {};

class InterruptionScope {
 public:
  // `check` throws to end the work; it is called on this thread, within the scope's life, once in so long a time.
  explicit InterruptionScope(std::function<void()> check, std::chrono::microseconds interval = kInterval)
      : check_(std::move(check)), interval_(interval), next_(Clock::now()), outer_(std::exchange(current_, this)) {}
  ~InterruptionScope() { current_ = outer_; }
  InterruptionScope(const InterruptionScope&) = delete;
  InterruptionScope& operator=(const InterruptionScope&) = delete;

  // Reads the clock, which takes some 25 ns.
  void point() {
    if (Clock::now() >= next_) look();
  }
  // Reads the clock once in a while: for steps of less than a microsecond.
  void tick() {
    if (++ticks_ % kTicks == 0) point();
  }
  static InterruptionScope* current() { return current_; }
  static constexpr std::chrono::microseconds kInterval{5000};

 private:
  using Clock = std::chrono::steady_clock;

  static constexpr std::uint32_t kTicks = 32;  // Few: even steps that turn out long do not make a second together.

  void look() {
    check_();
    next_ = Clock::now() + interval_;
  }

  static inline thread_local InterruptionScope* current_ = nullptr;

  std::function<void()> check_;
  std::chrono::microseconds interval_;
  Clock::time_point next_;
  InterruptionScope* outer_;
  std::uint32_t ticks_ = kTicks - 1;  // The first point looks: limits may have been reached before.
};

inline void interruption_point() {
  if (InterruptionScope* const scope = InterruptionScope::current()) scope->point();
}

inline void interruption_tick() {
  if (InterruptionScope* const scope = InterruptionScope::current()) scope->tick();
}

}  // namespace asnets
