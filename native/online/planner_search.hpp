// A planner that searches on from the state of a run before each step, and a guard that chooses between it and the policy.
//
// What it computes: the planner's table is kept during a run; in each step it searches from the current state as far as its
// share of the budget goes, and proposes the best action of its table. Where the policy would do something else, the guard
// compares by paired rollouts what both would come to: one goes on by the policy; the other by the planner's table, and where
// it ends by the policy. So each step improves on both, as rollouts of several policies do [chang2004parallel]. The proposed
// action is taken where
//  - it is proved to be better: by bounds, or since it is the planner's action in a state that the planner has solved to
//    optimality, and the policy's is not known to be as good. Where that action is not allowed, or giving up is best, which a
//    run cannot do, a solved state says nothing of what is left;
//  - the evidence (evidence.hpp) that it is better reaches 1 / error rate, and is above that of the contrary. It is
//    gathered over the steps of a run, older steps counting less;
//  - the policy fails: nearly all of its last rollouts in this run did; or some of those compared did, and no more of
//    the plan's; and there is no evidence of kTrusted or more that the policy's action is better. A plan that is made anew
//    before each step comes to more than its rollouts do.
// What it guarantees: where the rollouts of the policy do not fail, and no plan is better than the policy in any state of a
// run, the probability that one is ever followed is at most the error rate.
#pragma once

#include <algorithm>
#include <memory>
#include <vector>

#include "online/evidence.hpp"
#include "online/plan.hpp"
#include "online/rollout_search.hpp"
#include "online/rollouts.hpp"
#include "online/step_budget.hpp"
#include "policy/decision.hpp"
#include "search/puct.hpp"
#include "search/registry.hpp"
#include "search/solver.hpp"

namespace asnets {

// What a tree has at its leaves. kAuto: rollouts if some of the policy's from the beginning of a run reach the goal.
enum class Leaves : std::uint8_t { kAuto, kRollouts, kHeuristic };
inline constexpr const char* kLeavesNames[] = {"auto", "rollouts", "heuristic"};

struct PlannerSearchOptions {
  std::string planner = "lrtdp";
  SolverConfig solver;  // The seed is drawn anew in each run.
  Leaves leaves = Leaves::kAuto;
  StepBudget budget;
  double error_rate = 0.5;
  std::int64_t max_steps = 300;  // Of a rollout.
  unsigned threads = 1;
  std::size_t memory = 0;  // Resident memory of the process at which nothing more is searched; 0: none.
};

class PlannerSearch final : public StepSearch {
 public:
  // `policy` may be empty: then the planner decides alone.
  PlannerSearch(const Task& task, const SuccessorGenerator& generator, PolicyFactory policy, DetectorFactory detector,
                const PlannerSearchOptions& options);

  void begin(const RandomStream& of_episode) override;
  void decide(const Word* state, std::span<const ActionId> allowed, ActionId preferred, Decision& decision) override;
  void describe(const Word* state, Decision& decision) override;

 private:
  // From this many states on the table is begun anew.
  static constexpr std::size_t kMostStates = std::size_t{1} << 21;
  static constexpr std::size_t kFirstRollouts = 8;  // To choose what a tree has at its leaves.
  static constexpr std::size_t kPairs = 4;       // At a time.
  static constexpr double kRolloutShare = 0.2;   // Of the budget, for rollouts of the policy before the search;
  static constexpr double kFailingShare = 0.05;  // where it is known to fail;
  static constexpr double kFirstShare = 0.4;     // and where nothing is known of the policy yet.
  static constexpr double kMostGoals = 0.75;     // Of the first rollouts, for a tree to have rollouts at its leaves.
  static constexpr double kSearchShare = 0.6;    // Of the budget, where there is a policy to compare with.
  static constexpr double kMostOfRest = 0.75;    // as a share of what the rollouts left, so that there is time to compare;
  static constexpr double kLeastShare = 0.02;    // where the rollouts have used up all of it.
  static constexpr double kManyFailures = 6;     // Of rollouts, as far as they have not faded;
  static constexpr double kMostFailures = 0.9;   // and as a share of them.
  static constexpr double kSomeFailures = 3;     // Of rollouts that were compared, likewise: plans that mostly fail have
                                                 // failed more often by then.
  static constexpr double kTrusted = 4;          // Evidence from which a policy that fails now and then is followed.
  static constexpr double kFading = 0.9;         // Of evidence, from step to step.

  void make_solver(const Word* state);
  // Whether nearly all rollouts of the policy in this run failed, as far as that is not long ago.
  bool policy_fails() const { return policy_failures_ > std::max(kManyFailures, kMostFailures * policy_runs_); }
  // Whether some rollouts of the policy failed that were compared with those of plans, and no more of those.
  bool plans_fail_no_more() const {
    return compared_policy_failures_ >= kSomeFailures && compared_plan_failures_ <= compared_policy_failures_;
  }
  double share_of_search(const StepClock& clock) const;
  void search(StateId state, double share, Decision& decision);
  // Reports on all allowed actions, the best first.
  void report(StateId state, std::span<const ActionId> allowed, Decision& decision);
  // Whether an action is optimal, since it is that of a state which is solved to optimality.
  bool is_optimal(StateId state, ActionId action);
  // Whether an action is known to be as good as the best one of a state that is solved to optimality.
  bool is_as_good(StateId state, ActionId action) const;
  bool is_proved_better(StateId state, ActionId better, ActionId than);
  // Whether rollouts of the policy from a state mostly reach the goal.
  bool reaches_goals(const Word* state);
  void ask_policy(const Word* state, ActionId preferred, StepClock& clock, Decision& decision);
  void count_policy(const Rollout& rollout);
  // Rollouts of the policy's action and the policy afterwards, as many as there is time for; false where the budget ended.
  bool run_policy(const Word* state, ActionId preferred, StepClock& clock, Decision& decision);
  // Rollouts of the plan and the policy afterwards, each with the luck of one of those, from the given one on.
  bool compare(const Word* state, std::size_t first, StepClock& clock, Decision& decision);
  void guard(StateId state, const Word* words, ActionId preferred, StepClock& clock, Decision& decision);

  const Task& task_;
  const SuccessorGenerator& generator_;
  const PlannerEntry& planner_;
  PlannerSearchOptions options_;
  const double most_cost_;
  std::unique_ptr<Rollouts> rollouts_;  // Of the policy; null if there is none.
  std::unique_ptr<Solver> solver_;
  Puct* tree_ = nullptr;  // The solver, if it is one.
  bool has_rollout_leaves_ = false;
  RandomStream random_{0, 0};
  RandomStream of_step_{0, 0};
  std::uint64_t step_ = 0;
  Evidence plan_is_better_;
  Evidence policy_is_better_;
  double policy_runs_ = 0;  // Rollouts of the policy in this run, older ones counting less, and those that failed.
  double policy_failures_ = 0;
  double compared_policy_failures_ = 0;  // Of those that were compared with plans, likewise.
  double compared_plan_failures_ = 0;
  double rollout_seconds_ = 0;      // That one takes; 0 if that is not known.
  Plan plan_;
  std::vector<Rollout> of_policy_;  // In this step.
  std::unique_ptr<RolloutRunner> probe_;  // A rollout of the policy that has not ended, and what it has taken so far.
  double probe_seconds_ = 0;
  std::vector<Rollouts::Job> jobs_;
};

}  // namespace asnets
