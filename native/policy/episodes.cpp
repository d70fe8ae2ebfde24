#include "policy/episodes.hpp"

#include <algorithm>
#include <atomic>
#include <chrono>
#include <exception>
#include <memory>
#include <mutex>
#include <system_error>
#include <thread>

namespace asnets {

std::vector<Episode> run_episodes(const Task& task, const PolicyFactory& make_policy,
                                  const DetectorFactory& make_detector, const EpisodeNumbers& numbers,
                                  std::int64_t max_steps, unsigned num_threads, const Stop& poll) {
  std::vector<Episode> episodes(numbers.count);
  std::atomic<std::size_t> next{0};
  std::atomic<bool> stop{false};
  std::atomic<unsigned> running{0};
  std::exception_ptr failure;
  std::mutex failure_mutex;

  const auto work = [&] {
    try {
      const InterruptionScope scope([&] {
        if (stop.load(std::memory_order_relaxed)) throw Interrupted{};
      });
      const std::unique_ptr<Policy> policy = make_policy();
      const std::unique_ptr<DeadEndDetector> detector = make_detector ? make_detector() : nullptr;
      Sampler sampler(task);
      std::vector<Word> state;
      for (std::size_t i = next++; i < numbers.count && !stop; i = next++) {
        episodes[i] = run_episode(task, *policy, sampler, detector.get(), RandomStream(numbers.seed, numbers.first + i),
                                  max_steps, state, [](const std::vector<Word>&, ActionId) {});
      }
    } catch (const Interrupted&) {
      // The episode stays marked as interrupted.
    } catch (...) {
      const std::lock_guard lock(failure_mutex);
      failure = std::current_exception();
      stop = true;
    }
    --running;
  };

  std::vector<std::thread> threads;
  for (unsigned t = 0; t < std::max(1u, num_threads); ++t) {
    ++running;
    try {
      threads.emplace_back(work);
    } catch (const std::system_error&) {
      --running;
      if (threads.empty()) throw;
      break;  // The system has no more threads to give: those that run do the work.
    }
  }
  // The calling thread only waits, so that signals are answered however long an episode takes.
  auto pause = std::chrono::microseconds(20);
  auto last_poll = std::chrono::steady_clock::now();
  while (running != 0) {
    std::this_thread::sleep_for(pause);
    pause = std::min(pause * 2, std::chrono::microseconds(5000));
    if (std::chrono::steady_clock::now() - last_poll > std::chrono::milliseconds(50)) {
      last_poll = std::chrono::steady_clock::now();
      if (poll()) stop = true;
    }
  }
  for (std::thread& thread : threads) thread.join();
  if (failure) std::rethrow_exception(failure);
  return episodes;
}

Trace trace_episode(const Task& task, const PolicyFactory& make_policy, const DetectorFactory& make_detector,
                    std::uint64_t seed, std::uint64_t episode, std::int64_t max_steps, const Stop& poll) {
  Trace trace;
  Sampler sampler(task);
  std::vector<Word> state = task.initial_state();
  const InterruptionScope scope([&] {
    if (poll()) throw Interrupted{};
  });
  try {
    const std::unique_ptr<Policy> policy = make_policy();
    const std::unique_ptr<DeadEndDetector> detector = make_detector ? make_detector() : nullptr;
    trace.episode = run_episode(task, *policy, sampler, detector.get(), RandomStream(seed, episode), max_steps, state,
                                [&](const std::vector<Word>& before, ActionId action) {
                                  trace.states.insert(trace.states.end(), before.begin(), before.end());
                                  trace.actions.push_back(action);
                                });
  } catch (const Interrupted&) {
    // Between two steps, so that the trace holds as many actions as were taken.
    trace.episode.steps = static_cast<std::int64_t>(trace.actions.size());
    for (const ActionId action : trace.actions) trace.episode.cost += task.cost(action);
  }
  trace.states.insert(trace.states.end(), state.begin(), state.end());
  return trace;
}

}  // namespace asnets
