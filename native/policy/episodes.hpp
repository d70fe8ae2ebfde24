// Running policies from the initial state.
#pragma once

#include <cstdint>
#include <functional>
#include <vector>

#include "policy/policy.hpp"
#include "random.hpp"
#include "simulator.hpp"
#include "task.hpp"

namespace asnets {

enum class Ending : std::int8_t { kGoal = 0, kDeadEnd = 1, kStepLimit = 2, kInterrupted = 3 };

struct Episode {
  std::int64_t steps = 0;
  double cost = 0;
  Ending ending = Ending::kStepLimit;
};

// Asked now and then; true to stop.
using Stop = std::function<bool()>;

// An episode until goal, step limit or the policy gives up, which counts as a dead end. `observe(state, action)` is
// called before each action; `state` holds the last state in the end.
template <typename Observe>
Episode run_episode(const Task& task, Policy& policy, Sampler& sampler, RandomStream random, std::int64_t max_steps,
                    std::vector<Word>& state, Observe&& observe, const Stop& stop) {
  state = task.initial_state();
  Episode episode;
  for (;; ++episode.steps) {
    if (task.is_goal(state.data())) {
      episode.ending = Ending::kGoal;
      return episode;
    }
    if (episode.steps == max_steps) {
      episode.ending = Ending::kStepLimit;
      return episode;
    }
    if (episode.steps % 1024 == 1023 && stop()) {
      episode.ending = Ending::kInterrupted;
      return episode;
    }
    const ActionId action = policy.choose(state.data(), random);
    if (action < 0) {
      episode.ending = Ending::kDeadEnd;
      return episode;
    }
    observe(state, action);
    episode.cost += task.cost(action);
    sampler.step(state.data(), action, random);
  }
}

// Runs episodes first, …, first + count - 1, each with the random stream of its own number, on several threads. `poll` is
// called on the calling thread now and then; where it returns true, what has not finished is marked as interrupted.
std::vector<Episode> run_episodes(const Task& task, const PolicyFactory& make_policy, std::uint64_t seed,
                                  std::uint64_t first, std::size_t count, std::int64_t max_steps, unsigned num_threads,
                                  const Stop& poll);

// One such episode with the states it visits (words one after the other) and the actions it takes.
struct Trace {
  Episode episode;
  std::vector<Word> states;
  std::vector<ActionId> actions;
};
Trace trace_episode(const Task& task, Policy& policy, std::uint64_t seed, std::uint64_t episode,
                    std::int64_t max_steps, const Stop& poll);

}  // namespace asnets
