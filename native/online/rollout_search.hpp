// One step of policy improvement by paired rollouts.
//
// What it computes: for each action, rollouts that take it and follow the policy afterwards, all actions with the same
// random numbers [bertsekas1999rollout]. After every round, the evidence that an action is better than the policy's own
// (evidence.hpp) decides whether to take it; actions for which there is evidence that they are worse are dropped.
// What it guarantees: if no action is better than the policy's, the probability that another one is taken in this step is
// at most the error rate, for any distribution of costs up to kMostCost times the penalty (higher ones count as that): the
// evidence asked for grows with the number of actions.
#pragma once

#include <vector>

#include "online/evidence.hpp"
#include "online/rollouts.hpp"
#include "online/step_budget.hpp"
#include "policy/decision.hpp"

namespace asnets {

// Costs of rollouts above so many penalties count as that.
inline constexpr double kMostCost = 1.25;

class RolloutSearch final : public StepSearch {
 public:
  RolloutSearch(const Task& task, PolicyFactory policy, DetectorFactory detector, const RolloutOptions& options,
                const StepBudget& budget, double error_rate, unsigned threads)
      : budget_(budget),
        error_rate_(error_rate),
        most_(kMostCost * options.penalty),
        rollouts_(task, std::move(policy), std::move(detector), options, threads) {}

  void begin(const RandomStream& of_episode) override {
    random_ = of_episode;
    step_ = 0;
  }
  void decide(const Word* state, std::span<const ActionId> allowed, ActionId preferred, Decision& decision) override;

 private:
  struct Candidate {
    ActionId action;
    double prior;
    Evidence is_better;  // Than the policy's action.
    Evidence is_worse;
    std::size_t rollouts = 0;
    double total = 0;
    bool is_live = true;

    double mean() const { return total / static_cast<double>(rollouts); }
  };

  // Evidence from which an action is not looked at any more.
  static constexpr double kDropped = 4;

  // Rounds that there should be at least, where a count is the limit.
  static constexpr std::size_t kLeastRounds = 8;

  // The policy's action first, then the others as the policy ranks them, as many as the budget has room for.
  void find_candidates(const Word* state, std::span<const ActionId> allowed, ActionId preferred);
  // One rollout of each live candidate; returns whether the budget allowed it.
  bool run_round(const Word* state, std::size_t number, StepClock& clock);
  void report(Decision& decision) const;

  StepBudget budget_;
  double error_rate_;
  double most_;
  Rollouts rollouts_;
  RandomStream random_{0, 0};
  RandomStream random_step_{0, 0};  // Of the step that is decided.
  std::uint64_t step_ = 0;
  std::vector<Candidate> candidates_;
  ActionDistribution preferences_;
  std::vector<Rollouts::Job> jobs_;
  std::vector<std::size_t> live_;
};

}  // namespace asnets
