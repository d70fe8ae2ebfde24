// Running policies from the initial state.
#pragma once

#include <cstdint>
#include <functional>
#include <memory>
#include <vector>

#include "heuristics/dead_end_detector.hpp"
#include "interruption.hpp"
#include "policy/loop_detector.hpp"
#include "policy/policy.hpp"
#include "random.hpp"
#include "simulator.hpp"
#include "task.hpp"

namespace asnets {

enum class Ending : std::int8_t { kGoal = 0, kDeadEnd = 1, kStepLimit = 2, kInterrupted = 3, kLoop = 4 };

struct Episode {
  std::int64_t steps = 0;
  double cost = 0;
  Ending ending = Ending::kInterrupted;
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

// An episode until goal, dead end, step limit or the policy gives up, which counts as a dead end. `detector` may be null:
// then only states without applicable actions are dead ends. `observe(state, action)` is called before each action;
// `state` holds the last state in the end.
template <typename Observe>
Episode run_episode(const Task& task, Policy& policy, Sampler& sampler, DeadEndDetector* detector, RandomStream random,
                    std::int64_t max_steps, std::vector<Word>& state, Observe&& observe) {
  state = task.initial_state();
  LoopDetector loops(max_steps);
  Episode episode;
  const auto ended = [&](Ending ending) {
    episode.ending = ending;
    return episode;
  };
  for (;; ++episode.steps) {
    if (task.is_goal(state.data())) return ended(Ending::kGoal);
    const bool is_last = episode.steps == max_steps;
    const bool looks = detector != nullptr && (is_last || episode.steps % kStepsBetweenLooks == kStepsBetweenLooks - 1);
    if (looks && detector->is_dead_end(state.data())) return ended(Ending::kDeadEnd);
    if (is_last) return ended(loops.is_loop() ? Ending::kLoop : Ending::kStepLimit);
    interruption_tick();
    const ActionId action = policy.choose(state.data(), random);
    if (action < 0) return ended(Ending::kDeadEnd);
    observe(state, action);
    loops.visit(episode.steps, state);
    episode.cost += task.cost(action);
    sampler.step(state.data(), action, random);
  }
}

// Runs episodes, each with the random stream of its own number, on several threads. `poll` is called on the calling
// thread now and then; where it returns true, what has not finished is marked as interrupted.
std::vector<Episode> run_episodes(const Task& task, const PolicyFactory& make_policy,
                                  const DetectorFactory& make_detector, const EpisodeNumbers& numbers,
                                  std::int64_t max_steps, unsigned num_threads, const Stop& poll);

// One such episode with the states it visits (words one after the other) and the actions it takes.
struct Trace {
  Episode episode;
  std::vector<Word> states;
  std::vector<ActionId> actions;
};
Trace trace_episode(const Task& task, const PolicyFactory& make_policy, const DetectorFactory& make_detector,
                    std::uint64_t seed, std::uint64_t episode, std::int64_t max_steps, const Stop& poll);

}  // namespace asnets
