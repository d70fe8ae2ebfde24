#include "online/rollouts.hpp"

#include <utility>

#include "interruption.hpp"
#include "state_table.hpp"

namespace asnets {

void RolloutRunner::start(const Word* state, ActionId first, Plan* plan, const RandomStream& stream) {
  state_.assign(state, state + task_.num_words());
  first_ = first;
  plan_ = plan;
  stream_ = stream;
  step_ = 0;
  cost_ = 0;
  draws_ = 0;
  visits_.clear();
}

ActionId RolloutRunner::choose(RandomStream random) {
  const ActionId planned = plan_ == nullptr ? -1 : plan_->action(state_.data());
  if (planned >= 0) return planned;
  const ActionId action = policy_.choose(state_.data(), random);
  draws_ += random.num_drawn();
  return action;
}

Rollout RolloutRunner::go_on(const Deadline* deadline) {
  for (;; ++step_) {
    if (task_.is_goal(state_.data())) return {cost_, true, true};
    if (step_ == options_.max_steps) return failed();
    interruption_tick();
    if (deadline != nullptr && deadline->has_passed()) return {cost_, false, false};
    const bool looks = detector_ != nullptr && step_ % kStepsBetweenLooks == kStepsBetweenLooks - 1;
    if (looks && detector_->is_dead_end(state_.data())) return failed();
    const std::uint64_t hash = hash_words(state_.data(), state_.size());
    Visits& visits = visits_[hash];
    const bool has_drawn = std::exchange(visits.draws, draws_) != draws_;
    // An action that has left the state as it is, is tried again.
    const bool has_stayed = step_ > 0 && last_ == hash;
    if (!has_drawn && !has_stayed && ++visits.count > kMostVisits) return failed();
    last_ = hash;
    RandomStream random = stream_.split(static_cast<std::uint64_t>(step_));
    // The choice has a stream of its own, so that what effects draw does not depend on whether choices drew.
    const ActionId action = step_ == 0 && first_ >= 0 ? first_ : choose(random.split(0));
    if (action < 0) return failed();
    cost_ += task_.cost(action, state_.data());
    sampler_.step(state_.data(), action, random);
  }
}

Rollouts::Worker& Rollouts::worker(unsigned number) {
  Worker& worker = workers_[number];
  if (worker.runner == nullptr) {
    worker.policy = make_policy_();
    worker.detector = make_detector_ ? make_detector_() : nullptr;
    worker.runner = std::make_unique<RolloutRunner>(task_, *worker.policy, worker.detector.get(), options_);
  }
  return worker;
}

const std::vector<Rollout>& Rollouts::run(std::span<const Job> jobs, const Deadline* deadline) {
  results_.assign(jobs.size(), {});
  team_.run(jobs.size(), [&](unsigned number, std::size_t job) {
    const auto& [state, first, stream, plan] = jobs[job];
    results_[job] = worker(number).runner->run(state, first, plan, stream, deadline);
  });
  return results_;
}

}  // namespace asnets
