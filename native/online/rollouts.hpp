// Rollouts: what a policy comes to from a state, once an action was taken there.
//
// Step t of a rollout draws from a stream of its own, named by the rollout's number and t. So rollouts of the same number
// from the same state, after different actions or by different policies, meet the same luck as far as their effects are
// alike (common random numbers), and their difference varies less than either.
#pragma once

#include <cstdint>
#include <memory>
#include <span>
#include <unordered_map>
#include <vector>

#include "deadline.hpp"
#include "heuristics/dead_end_detector.hpp"
#include "online/plan.hpp"
#include "online/team.hpp"
#include "policy/episodes.hpp"
#include "policy/policy.hpp"
#include "random.hpp"
#include "simulator.hpp"
#include "task.hpp"

namespace asnets {

struct RolloutOptions {
  std::int64_t max_steps = 300;
  double penalty = 500;  // What failing costs beside what was paid: dead ends, going in circles, the step limit.
};

struct Rollout {
  double cost = 0;
  bool reaches_goal = false;
  bool has_ended = false;  // Or else the time was over.
};

// Holds scratch space: one for each thread.
class RolloutRunner {
 public:
  // All of them outlive this; the detector may be null.
  RolloutRunner(const Task& task, Policy& policy, DeadEndDetector* detector, const RolloutOptions& options)
      : task_(task), policy_(policy), detector_(detector), options_(options), sampler_(task) {}

  // From a state, with `first` as its first action if that is not negative; after it by the plan, if that is not null, and
  // where it knows nothing by the policy. Stops where the deadline, which may be null, has passed.
  Rollout run(const Word* state, ActionId first, Plan* plan, const RandomStream& stream, const Deadline* deadline) {
    start(state, first, plan, stream);
    return go_on(deadline);
  }
  // The same in parts: after each call of `go_on` that the deadline has stopped, another one goes on from there.
  void start(const Word* state, ActionId first, Plan* plan, const RandomStream& stream);
  Rollout go_on(const Deadline* deadline);

 private:
  // A rollout that has come to one state so often is given up; without visits since the one before which the policy drew an
  // action among several: then it wanders, and gets on in time.
  static constexpr std::uint32_t kMostVisits = 16;
  struct Visits {
    std::uint32_t count = 0;
    std::uint64_t draws = 0;  // Before the last visit.
  };

  ActionId choose(RandomStream random);
  Rollout failed() const { return {cost_ + options_.penalty, false, true}; }

  const Task& task_;
  Policy& policy_;
  DeadEndDetector* detector_;
  RolloutOptions options_;
  Sampler sampler_;
  std::vector<Word> state_;
  ActionId first_ = -1;
  Plan* plan_ = nullptr;
  RandomStream stream_{0, 0};
  std::int64_t step_ = 0;
  double cost_ = 0;
  std::uint64_t last_ = 0;   // The hash of the state before.
  std::uint64_t draws_ = 0;  // Of the policy.
  std::unordered_map<std::uint64_t, Visits> visits_;  // By hash of the state.
};

// Rollouts of one policy, on several threads.
class Rollouts {
 public:
  struct Job {
    const Word* state;
    ActionId first;  // Negative: the policy's own choice.
    RandomStream stream;
    Plan* plan = nullptr;
  };

  Rollouts(const Task& task, PolicyFactory make_policy, DetectorFactory make_detector, const RolloutOptions& options,
           unsigned threads)
      : task_(task),
        make_policy_(std::move(make_policy)),
        make_detector_(std::move(make_detector)),
        options_(options),
        team_(threads),
        workers_(team_.size()) {}

  // The results are those of the jobs, whatever the number of threads.
  const std::vector<Rollout>& run(std::span<const Job> jobs, const Deadline* deadline);
  // The policy of the calling thread.
  Policy& policy() { return *worker(0).policy; }
  // Another runner of that policy, for rollouts in parts.
  std::unique_ptr<RolloutRunner> make_runner() {
    return std::make_unique<RolloutRunner>(task_, policy(), worker(0).detector.get(), options_);
  }

 private:
  struct Worker {
    std::unique_ptr<Policy> policy;
    std::unique_ptr<DeadEndDetector> detector;
    std::unique_ptr<RolloutRunner> runner;
  };

  Worker& worker(unsigned number);

  const Task& task_;
  PolicyFactory make_policy_;
  DetectorFactory make_detector_;
  RolloutOptions options_;
  Team team_;
  std::vector<Worker> workers_;
  std::vector<Rollout> results_;
};

}  // namespace asnets
