// Threads that work blocks of states out.
#pragma once

#include <algorithm>
#include <atomic>
#include <chrono>
#include <condition_variable>
#include <cstddef>
#include <deque>
#include <exception>
#include <functional>
#include <mutex>
#include <system_error>
#include <thread>
#include <utility>
#include <vector>

#include "interruption.hpp"
#include "verification/block.hpp"

namespace asnets {

class Workers {
 public:
  using Work = std::function<void(StateBlock&)>;
  // Makes what one thread needs.
  using WorkFactory = std::function<Work()>;

  Workers(unsigned count, WorkFactory make) : make_(std::move(make)) {
    for (unsigned t = 0; t < std::max(1u, count); ++t) {
      try {
        threads_.emplace_back([this] { run(); });
      } catch (const std::system_error&) {
        if (threads_.empty()) throw;
        break;  // The system has no more threads to give: those that run do the work.
      }
    }
  }
  ~Workers() {
    {
      const std::lock_guard lock(mutex_);
      stop_ = true;
    }
    work_.notify_all();
    for (std::thread& thread : threads_) thread.join();
  }
  Workers(const Workers&) = delete;
  Workers& operator=(const Workers&) = delete;

  std::size_t size() const { return threads_.size(); }
  void submit(StateBlock& block) {
    {
      const std::lock_guard lock(mutex_);
      queue_.push_back(&block);
    }
    work_.notify_one();
  }
  // Whether the block is done; waits a few milliseconds for it.
  bool wait(const StateBlock& block) {
    std::unique_lock lock(mutex_);
    return done_.wait_for(lock, std::chrono::milliseconds(5), [&] { return block.is_done; });
  }

 private:
  void run() {
    const InterruptionScope scope([this] {
      if (stop_) throw Interrupted{};
    });
    Work work;
    for (;;) {
      std::unique_lock lock(mutex_);
      work_.wait(lock, [&] { return stop_ || !queue_.empty(); });
      if (stop_) return;
      StateBlock& block = *queue_.front();
      queue_.pop_front();
      lock.unlock();
      try {
        if (!work) work = make_();
        work(block);
      } catch (const Interrupted&) {
        return;
      } catch (...) {
        block.failure = std::current_exception();
      }
      lock.lock();
      block.is_done = true;
      lock.unlock();
      done_.notify_one();
    }
  }

  WorkFactory make_;
  std::mutex mutex_;
  std::condition_variable work_;
  std::condition_variable done_;
  std::deque<StateBlock*> queue_;
  std::atomic<bool> stop_{false};
  std::vector<std::thread> threads_;
};

}  // namespace asnets
