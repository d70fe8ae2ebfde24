#include "online/rollouts.hpp"

#include "interruption.hpp"
#include "state_table.hpp"

namespace asnets {

Rollout RolloutRunner::run(const Word* state, ActionId first, const RandomStream& stream, const Deadline* deadline) {
  state_.assign(state, state + task_.num_words());
  visits_.clear();
  double cost = 0;
  for (std::int64_t step = 0;; ++step) {
    if (task_.is_goal(state_.data())) return {cost, true, true};
    if (step == options_.max_steps) return failed(cost);
    const bool looks = detector_ != nullptr && step % kStepsBetweenLooks == kStepsBetweenLooks - 1;
    if (looks && detector_->is_dead_end(state_.data())) return failed(cost);
    if (++visits_[hash_words(state_.data(), state_.size())] > kMostVisits) return failed(cost);
    interruption_tick();
    if (deadline != nullptr && deadline->has_passed()) return {cost, false, false};
    RandomStream random = stream.split(static_cast<std::uint64_t>(step));
    ActionId action = first;
    if (step > 0 || first < 0) {
      RandomStream of_choice = random.split(0);  // So that what effects draw does not depend on whether choices drew.
      action = policy_.choose(state_.data(), of_choice);
    }
    if (action < 0) return failed(cost);
    cost += task_.cost(action, state_.data());
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
    results_[job] = worker(number).runner->run(jobs[job].state, jobs[job].first, jobs[job].stream, deadline);
  });
  return results_;
}

}  // namespace asnets
