// Running policies from the initial state.
#pragma once

#include <cstdint>
#include <functional>
#include <memory>
#include <span>
#include <vector>

#include "heuristics/dead_end_detector.hpp"
#include "interruption.hpp"
#include "policy/decision.hpp"
#include "policy/draw.hpp"
#include "policy/loop_detector.hpp"
#include "policy/policy.hpp"
#include "random.hpp"
#include "simulator.hpp"
#include "successor_generator.hpp"
#include "task.hpp"

namespace asnets {

enum class Ending : std::int8_t { kGoal = 0, kDeadEnd = 1, kStepLimit = 2, kInterrupted = 3, kLoop = 4, kGaveUp = 5 };

struct Episode {
  std::int64_t steps = 0;
  double cost = 0;
  Ending ending = Ending::kInterrupted;
  std::uint64_t last_state = 0;  // Its hash, of episodes that have ended.
};

// Which episodes: with the seed, the number of an episode names its random stream.
struct EpisodeNumbers {
  std::uint64_t seed = 0;
  std::uint64_t first = 0;
  std::size_t count = 1;
};

// True to stop; asked now and then on the calling thread.
using Stop = std::function<bool()>;
// Makes a detector for each thread; none if empty.
using DetectorFactory = std::function<std::unique_ptr<DeadEndDetector>()>;

// Dead ends are looked for every so many steps and at the step limit: a dead end stays one.
inline constexpr std::int64_t kStepsBetweenLooks = 8;

// An episode step by step: whoever runs it asks whether it goes on, and chooses an action if so.
class EpisodeRun {
 public:
  EpisodeRun(const Task& task, const RandomStream& random, std::int64_t max_steps)
      : task_(task), random_(random), max_steps_(max_steps), state_(task.initial_state()), loops_(max_steps) {}

  // Whether it goes on from this state, asked once a step: it ends at goals, at the step limit, and at states that the
  // detector, which may be null, knows to be dead ends.
  bool goes_on(DeadEndDetector* detector) {
    if (task_.is_goal(state_.data())) return end(Ending::kGoal);
    const bool is_last = result_.steps == max_steps_;
    const bool looks = detector != nullptr && (is_last || result_.steps % kStepsBetweenLooks == kStepsBetweenLooks - 1);
    if (looks && detector->is_dead_end(state_.data())) return end(Ending::kDeadEnd);
    if (is_last) return end(loops_.is_loop() ? Ending::kLoop : Ending::kStepLimit);
    return true;
  }
  // Negative actions give up, which ends it; returns whether it goes on. Nothing is given up in a dead end.
  bool act(ActionId action, Sampler& sampler, DeadEndDetector* detector) {
    if (action < 0) return end(is_dead_end(detector) ? Ending::kDeadEnd : Ending::kGaveUp);
    loops_.visit(result_.steps, state_);
    result_.cost += task_.cost(action, state_.data());
    ++result_.steps;
    sampler.step(state_.data(), action, random_);
    return true;
  }

  const std::vector<Word>& state() const { return state_; }
  RandomStream& random() { return random_; }
  // Marked as interrupted until it has ended.
  const Episode& result() const { return result_; }

 private:
  bool end(Ending ending) {
    result_.ending = ending;
    return false;
  }
  bool is_dead_end(DeadEndDetector* detector) const {
    if (detector != nullptr && detector->is_dead_end(state_.data())) return true;
    for (std::size_t a = 0; a < task_.num_actions(); ++a) {
      if (task_.is_applicable(static_cast<ActionId>(a), state_.data())) return false;
    }
    return true;
  }

  const Task& task_;
  RandomStream random_;
  std::int64_t max_steps_;
  std::vector<Word> state_;
  LoopDetector loops_;
  Episode result_;
};

// An episode until it ends. `observe(state, action)` is called before each action.
template <typename Observe>
void run_episode(EpisodeRun& run, Policy& policy, Sampler& sampler, DeadEndDetector* detector, Observe&& observe) {
  policy.begin(run.random());
  while (run.goes_on(detector)) {
    interruption_tick();
    const ActionId action = policy.choose(run.state().data(), run.random());
    if (action >= 0) observe(run.state(), action);
    if (!run.act(action, sampler, detector)) return;
  }
}

// Runs episodes, each with the random stream of its own number, on several threads. `poll` is called on the calling
// thread now and then; where it returns true, what has not finished is marked as interrupted.
std::vector<Episode> run_episodes(const Task& task, const PolicyFactory& make_policy,
                                  const DetectorFactory& make_detector, const EpisodeNumbers& numbers,
                                  std::int64_t max_steps, unsigned num_threads, const Stop& poll);

// Episodes side by side, one step of all of them at a time, for policies that are asked from outside: about many states
// at once, so that they can compute them together. The episodes are those of `run_episodes` for the same numbers and the
// same choices.
class EpisodeBatch {
 public:
  EpisodeBatch(const Task& task, const SuccessorGenerator& generator, const DetectorFactory& make_detector,
               const EpisodeNumbers& numbers, std::int64_t max_steps);

  // The episodes that wait for an action, ascending; where none is applicable, they end.
  const std::vector<std::size_t>& waiting() const { return waiting_; }
  std::size_t size() const { return runs_.size(); }
  const std::vector<Word>& state(std::size_t episode) const { return runs_[episode].state(); }
  // One step of all waiting episodes, by the distribution of each; returns the actions, negative where it is empty. Throws
  // std::invalid_argument, and changes nothing, if one is no distribution over applicable actions.
  std::vector<ActionId> step(std::span<const ActionDistribution> distributions, bool sampled);
  std::vector<Episode> episodes() const;

 private:
  void find_waiting();

  const Task& task_;
  const SuccessorGenerator& generator_;
  Sampler sampler_;
  std::unique_ptr<DeadEndDetector> detector_;
  std::vector<EpisodeRun> runs_;
  std::vector<std::size_t> waiting_;
  ActionList applicable_;
  std::vector<std::int32_t> stack_;
};

// One such episode with the states it visits (words one after the other), the actions it takes and, of a policy that
// tells, how each of them was decided.
struct Trace {
  Episode episode;
  std::vector<Word> states;
  std::vector<ActionId> actions;
  std::vector<Decision> decisions;
};
Trace trace_episode(const Task& task, const PolicyFactory& make_policy, const DetectorFactory& make_detector,
                    std::uint64_t seed, std::uint64_t episode, std::int64_t max_steps, const Stop& poll);

}  // namespace asnets
