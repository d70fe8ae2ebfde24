#include "policy/episodes.hpp"

#include <algorithm>
#include <atomic>
#include <chrono>
#include <exception>
#include <memory>
#include <mutex>
#include <stdexcept>
#include <system_error>
#include <thread>

#include "state_table.hpp"

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
      for (std::size_t i = next++; i < numbers.count && !stop; i = next++) {
        EpisodeRun run(task, RandomStream(numbers.seed, numbers.first + i), max_steps);
        run_episode(run, *policy, sampler, detector.get(), [](const std::vector<Word>&, ActionId) {});
        episodes[i] = run.result();
        episodes[i].last_state = hash_words(run.state().data(), task.num_words());
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

EpisodeBatch::EpisodeBatch(const Task& task, const SuccessorGenerator& generator, const DetectorFactory& make_detector,
                           const EpisodeNumbers& numbers, std::int64_t max_steps)
    : task_(task), generator_(generator), sampler_(task), detector_(make_detector ? make_detector() : nullptr) {
  for (std::size_t i = 0; i < numbers.count; ++i) {
    runs_.emplace_back(task, RandomStream(numbers.seed, numbers.first + i), max_steps);
    waiting_.push_back(i);
  }
  find_waiting();
}

std::vector<ActionId> EpisodeBatch::step(std::span<const ActionDistribution> distributions, bool sampled) {
  if (distributions.size() != waiting_.size()) throw std::invalid_argument("expected a distribution for each state");
  for (std::size_t i = 0; i < waiting_.size(); ++i) check_distribution(task_, distributions[i], state(waiting_[i]).data());
  std::vector<ActionId> actions;
  std::vector<std::size_t> running;
  for (std::size_t i = 0; i < waiting_.size(); ++i) {
    EpisodeRun& run = runs_[waiting_[i]];
    actions.push_back(draw_action(distributions[i].actions, distributions[i].probabilities, sampled, run.random()));
    if (run.act(actions.back(), sampler_, detector_.get())) running.push_back(waiting_[i]);
  }
  waiting_ = std::move(running);
  find_waiting();
  return actions;
}

std::vector<Episode> EpisodeBatch::episodes() const {
  std::vector<Episode> result;
  for (const EpisodeRun& run : runs_) result.push_back(run.result());
  return result;
}

void EpisodeBatch::find_waiting() {
  std::erase_if(waiting_, [&](std::size_t episode) {
    EpisodeRun& run = runs_[episode];
    if (!run.goes_on(detector_.get())) return true;
    generator_.applicable(run.state().data(), applicable_, stack_);
    return applicable_.empty() && !run.act(-1, sampler_, nullptr);
  });
}

Trace trace_episode(const Task& task, const PolicyFactory& make_policy, const DetectorFactory& make_detector,
                    std::uint64_t seed, std::uint64_t episode, std::int64_t max_steps, const Stop& poll) {
  Trace trace;
  Sampler sampler(task);
  EpisodeRun run(task, RandomStream(seed, episode), max_steps);
  const InterruptionScope scope([&] {
    if (poll()) throw Interrupted{};
  });
  try {
    const std::unique_ptr<Policy> policy = make_policy();
    const std::unique_ptr<DeadEndDetector> detector = make_detector ? make_detector() : nullptr;
    run_episode(run, *policy, sampler, detector.get(), [&](const std::vector<Word>& before, ActionId action) {
      trace.states.insert(trace.states.end(), before.begin(), before.end());
      trace.actions.push_back(action);
      if (const Decision* const decision = policy->decision()) {
        trace.decisions.push_back(*decision);
        policy->describe(before.data(), trace.decisions.back());
      }
    });
  } catch (const Interrupted&) {
    // Between two steps, so that the trace holds as many actions as were taken.
  }
  trace.episode = run.result();
  trace.states.insert(trace.states.end(), run.state().begin(), run.state().end());
  return trace;
}

}  // namespace asnets
