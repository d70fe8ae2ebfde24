// Threads that work through numbered jobs together, for a caller who waits.
#pragma once

#include <algorithm>
#include <atomic>
#include <condition_variable>
#include <cstddef>
#include <exception>
#include <functional>
#include <mutex>
#include <system_error>
#include <thread>
#include <vector>

#include "interruption.hpp"

namespace asnets {

class Team {
 public:
  // What a worker, numbered from 0, does for a job.
  using Work = std::function<void(unsigned worker, std::size_t job)>;

  // The calling thread is one of the workers; further ones are started when there is work for them.
  explicit Team(unsigned size) : size_(std::max(1u, size)) {}
  ~Team() {
    {
      const std::lock_guard lock(mutex_);
      over_ = true;
    }
    begin_.notify_all();
    for (std::thread& thread : threads_) thread.join();
  }
  Team(const Team&) = delete;
  Team& operator=(const Team&) = delete;

  unsigned size() const { return size_; }

  // Does jobs 0, …, count - 1. What a job throws is thrown here, after the others have ended; where the calling thread is
  // interrupted, so are they.
  void run(std::size_t count, const Work& work) {
    if (size_ == 1 || count <= 1) {
      for (std::size_t job = 0; job < count; ++job) work(0, job);
      return;
    }
    start_threads();
    {
      const std::lock_guard lock(mutex_);
      work_ = &work;
      count_ = count;
      next_ = 0;
      stop_ = false;
      failure_ = nullptr;
      working_ = threads_.size();
      ++round_;
    }
    begin_.notify_all();
    take_jobs(0);
    std::unique_lock lock(mutex_);
    end_.wait(lock, [&] { return working_ == 0; });
    if (failure_) std::rethrow_exception(failure_);
  }

 private:
  void start_threads() {
    while (threads_.size() + 1 < size_) {
      const auto worker = static_cast<unsigned>(threads_.size() + 1);
      try {
        threads_.emplace_back([this, worker] { live(worker); });
      } catch (const std::system_error&) {
        size_ = worker;  // The system has no more threads to give: those that run do the work.
      }
    }
  }

  void live(unsigned worker) {
    const InterruptionScope scope([this] {
      if (stop_.load(std::memory_order_relaxed)) throw Interrupted{};
    });
    std::size_t seen = 0;
    for (;;) {
      {
        std::unique_lock lock(mutex_);
        begin_.wait(lock, [&] { return over_ || round_ != seen; });
        if (over_) return;
        seen = round_;
      }
      take_jobs(worker);
      const std::lock_guard lock(mutex_);
      if (--working_ == 0) end_.notify_one();
    }
  }

  void take_jobs(unsigned worker) {
    try {
      for (std::size_t job = next_++; job < count_ && !stop_; job = next_++) (*work_)(worker, job);
    } catch (...) {
      const std::lock_guard lock(mutex_);
      // What one has thrown interrupts the others, who then have nothing to add.
      if (!failure_) failure_ = std::current_exception();
      stop_ = true;
    }
  }

  unsigned size_;
  std::mutex mutex_;
  std::condition_variable begin_;
  std::condition_variable end_;
  const Work* work_ = nullptr;
  std::size_t count_ = 0;
  std::atomic<std::size_t> next_{0};
  std::atomic<bool> stop_{false};
  std::exception_ptr failure_;
  std::size_t working_ = 0;
  std::size_t round_ = 0;
  bool over_ = false;
  std::vector<std::thread> threads_;
};

}  // namespace asnets
