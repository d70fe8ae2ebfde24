// What is decided in a step of a run, by whom and why.
#pragma once

#include <cstddef>
#include <cstdint>
#include <limits>
#include <span>
#include <vector>

#include "random.hpp"
#include "task.hpp"

namespace asnets {

// Whose action is taken. The names in Python are those of `kDeciderNames`.
enum class Decider : std::uint8_t { kPolicy, kSearch, kPlanner, kNextChoice, kDraw };
inline constexpr const char* kDeciderNames[] = {"policy", "search", "planner", "next", "sample"};

// Why. The names in Python are those of `kReasonNames`.
enum class Reason : std::uint8_t {
  kAlone,          // There is nobody else to ask, or nothing else to do.
  kAgreed,         // The search proposes what the policy does.
  kNotBetter,      // No test says that another action is better than the policy's.
  kTested,         // Paired rollouts say that it is better than the policy's.
  kProved,         // Bounds say that it is better than the policy's, or as good as any.
  kPolicyFails,    // The rollouts of the policy do not reach the goal, so that the search decides.
  kNoBudget,       // The budget of the step ended before anything was known.
  kLoop,           // The run came back to where it was.
  kExcluded,       // The shield excludes what would have been taken.
};
inline constexpr const char* kReasonNames[] = {"alone", "agreed", "not_better", "tested", "proved", "policy_fails", "no_budget", "loop", "excluded"};

// What a search knows of an action.
struct ActionReport {
  ActionId action = -1;
  double prior = std::numeric_limits<double>::quiet_NaN();  // Of the policy.
  double value = std::numeric_limits<double>::quiet_NaN();  // Expected cost, failing with its penalty; no number where nothing is known.
  std::size_t visits = 0;                                   // Rollouts or simulations that began with it.
  bool is_excluded = false;                                 // By the shield.
};

// The first levels of what a search has built: actions of a state, outcomes of each, actions of those.
struct TreeAction;
struct TreeOutcome {
  double probability = 0;
  double value = std::numeric_limits<double>::quiet_NaN();  // Of the state, as of an action.
  std::size_t visits = 0;               // Simulations that went on from there.
  bool is_goal = false;
  bool is_dead_end = false;             // Known to be one.
  std::vector<std::int32_t> added;      // Propositions.
  std::vector<std::int32_t> deleted;
  std::vector<TreeAction> actions;      // Some, the most important first.
  std::size_t num_actions = 0;          // All that are known.
};
struct TreeAction {
  ActionReport report;
  std::vector<TreeOutcome> outcomes;    // Some, the likeliest first.
  std::size_t num_outcomes = 0;
};

struct Decision {
  ActionId action = -1;
  ActionId policy_action = -1;  // What the policy alone would do; -1 where there is no policy, or it gives up.
  ActionId search_action = -1;  // What the search proposes; -1 if nothing.
  Decider decider = Decider::kPolicy;
  Reason reason = Reason::kAlone;
  std::size_t rollouts = 0;     // In this step.
  std::size_t simulations = 0;  // Of a tree, or trials.
  std::size_t num_excluded = 0; // Actions that the shield excludes.
  double value = std::numeric_limits<double>::quiet_NaN();  // Of the state, as the search sees it.
  std::vector<ActionReport> actions;  // Of a search, in its order of preference; others leave it empty.
  TreeOutcome tree;                   // From the state on; without actions, unless it is asked for and there is one.
};

// What looks ahead from the state of a run before each step. Holds what it has found during a run: one for each thread.
class StepSearch {
 public:
  virtual ~StepSearch() = default;
  // A run begins: what was found in the one before is forgotten, so that a run depends on its random stream alone.
  virtual void begin(const RandomStream& of_episode) = 0;
  // Decides in a state that is no goal. `allowed`: the applicable actions, ascending, without those that are excluded;
  // there are at least two. `preferred`: the policy's choice among them; -1 if there is none. Fills in all of the decision
  // but `num_excluded`. May be interrupted.
  virtual void decide(const Word* state, std::span<const ActionId> allowed, ActionId preferred, Decision& decision) = 0;
  // Fills in the tree of a decision, directly after it was made; nothing where there is no tree.
  virtual void describe(const Word* /*state*/, Decision& /*decision*/) {}
};

}  // namespace asnets
