// A planner that searches on from the state of a run before each step, and a guard that chooses between it and the policy.
//
// What it computes: the planner's table is kept during a run; in each step it searches from the current state as far as its
// share of the budget goes, and proposes the best action of its table. Where the policy would do something else, the guard
// compares what both come to by paired rollouts: the policy's action and the policy afterwards, against the proposed
// action and the table's greedy policy afterwards (outside a tree with rollouts at its leaves: the policy). So it judges a
// plan by what it is worth, not by what the search thinks of it.
// The proposed action is taken where
//  - the planner has solved the state, and is optimal: proved;
//  - no rollout of the policy from here reaches the goal: the policy has nothing to say;
//  - the evidence (evidence.hpp) that the plan is better reaches 1 / error rate, and is above that of the contrary. It is
//    gathered over the steps of a run, older steps counting less.
// What it guarantees: if following the planner is not better in any state of a run, the probability that the guard ever
// prefers it although the policy's rollouts reach the goal is at most the error rate.
#pragma once

#include <memory>
#include <vector>

#include "online/evidence.hpp"
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
};

class PlannerSearch final : public StepSearch {
 public:
  // `policy` may be empty: then the planner decides alone.
  PlannerSearch(const Task& task, const SuccessorGenerator& generator, PolicyFactory policy, DetectorFactory detector,
                const PlannerSearchOptions& options);

  void begin(const RandomStream& of_episode) override;
  void decide(const Word* state, std::span<const ActionId> allowed, ActionId preferred, Decision& decision) override;

 private:
  class PlanPolicy;

  // From this many states on the table is begun anew.
  static constexpr std::size_t kMostStates = std::size_t{1} << 21;
  static constexpr std::size_t kPairs = 4;       // At a time.
  static constexpr double kSearchShare = 0.7;    // Of the budget, where there is a policy to compare with.
  static constexpr double kTrusted = 4;          // Evidence from which a policy that fails now and then is followed.
  static constexpr double kFading = 0.9;         // Of evidence, from step to step.

  void make_solver(const Word* state);
  void search(StateId state, double share, Decision& decision);
  // Reports on all allowed actions, the best first.
  void report(StateId state, std::span<const ActionId> allowed, Decision& decision);
  // Whether an action is known to be as good as the best one of a state that is solved to optimality.
  bool is_as_good(StateId state, ActionId action) const;
  void guard(StateId state, const Word* words, ActionId preferred, StepClock& clock, Decision& decision);

  const Task& task_;
  const SuccessorGenerator& generator_;
  const PlannerEntry& planner_;
  PlannerSearchOptions options_;
  const double most_cost_;
  std::unique_ptr<Rollouts> rollouts_;  // Of the policy; null if there is none.
  std::unique_ptr<DeadEndDetector> detector_;
  std::unique_ptr<Solver> solver_;
  Puct* tree_ = nullptr;  // The solver, if it is one.
  bool has_rollout_leaves_ = false;
  std::unique_ptr<Policy> plan_;
  std::unique_ptr<RolloutRunner> plan_runner_;
  RandomStream random_{0, 0};
  std::uint64_t step_ = 0;
  Evidence plan_is_better_;
  Evidence policy_is_better_;
  std::vector<Rollouts::Job> jobs_;
};

}  // namespace asnets
