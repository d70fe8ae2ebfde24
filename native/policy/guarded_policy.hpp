// A policy, a search, a shield and a way out of loops as one policy.
//
// Before each step the shield excludes actions; the policy proposes one of those that are left; the search decides, if there is
// one; where the run came back to where it was, the rule for loops does, unless the search knows that its action is better. What
// was decided, by whom and why is kept (`decision`) and counted.
//
// All random numbers of the guard come from streams of their own, split off that of the episode: where it does not
// intervene, episodes are those of the policy alone.
#pragma once

#include <array>
#include <cstdint>
#include <memory>
#include <mutex>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "policy/decision.hpp"
#include "policy/loop_memory.hpp"
#include "policy/policy.hpp"
#include "policy/shield.hpp"
#include "random.hpp"
#include "successor_generator.hpp"

namespace asnets {

// What to do where a run came back to where it was without progress.
enum class OnLoop : std::uint8_t {
  kNone,    // As anywhere else.
  kNext,    // What the run knows least of: untried actions, those that may lead to new states; of several, the likeliest.
  kSample,  // A draw from the probabilities of the policy; from all actions alike, where it has none.
  kSearch,  // What a search finds.
};
inline constexpr const char* kOnLoopNames[] = {"none", "next", "sample", "search"};

// Throws std::invalid_argument.
OnLoop find_on_loop(const std::string& name);

inline constexpr std::size_t kNumDeciders = std::size(kDeciderNames);
inline constexpr std::size_t kNumReasons = std::size(kReasonNames);

struct GuardStatistics {
  std::int64_t episodes = 0;
  std::int64_t steps = 0;
  std::array<std::array<std::int64_t, kNumReasons>, kNumDeciders> decided{};  // Steps by decider and reason.
  std::int64_t rollouts = 0;
  std::int64_t simulations = 0;
  std::int64_t excluded_actions = 0;
  std::int64_t excluded_steps = 0;  // Steps in which actions were excluded.
  std::int64_t loops = 0;           // Steps at which the run was found to be in a loop.
  std::int64_t loops_left = 0;      // Those of them at which something else was done than the policy does.
  std::int64_t loop_episodes = 0;   // Episodes with loops.

  void add(const GuardStatistics& other);
};

// What all guards of one kind have counted; threads add to it.
class GuardTotal {
 public:
  void add(const GuardStatistics& counted) {
    const std::lock_guard lock(mutex_);
    total_.add(counted);
  }
  GuardStatistics statistics() {
    const std::lock_guard lock(mutex_);
    return total_;
  }

 private:
  std::mutex mutex_;
  GuardStatistics total_;
};

// What a guard is made of; all but one of policy and search may be missing.
struct GuardParts {
  std::unique_ptr<Policy> base;
  std::unique_ptr<StepSearch> search;       // At every step with a choice.
  std::unique_ptr<StepSearch> loop_search;  // At loops, where the rule says so.
  std::unique_ptr<Shield> shield;
  OnLoop on_loop = OnLoop::kNone;
  bool sampled = false;  // Whether the policy draws: so it does among the actions that are left.
};

class GuardedPolicy final : public Policy {
 public:
  // Throws std::invalid_argument where there is neither policy nor search, or no search for loops where one is asked for.
  GuardedPolicy(const Task& task, const SuccessorGenerator& generator, GuardParts parts, std::shared_ptr<GuardTotal> total);
  ~GuardedPolicy() override { total_->add(statistics_); }
  GuardedPolicy(const GuardedPolicy&) = delete;
  GuardedPolicy& operator=(const GuardedPolicy&) = delete;

  void begin(const RandomStream& of_episode) override;
  ActionId choose(const Word* state, RandomStream& random) override;
  // Throws std::invalid_argument where there is a search or a rule for loops: they depend on the run.
  void distribution(const Word* state, ActionDistribution& result) override;
  void preferences(const Word* state, ActionDistribution& result) override;
  const Decision* decision() const override { return &decision_; }
  void describe(const Word* state, Decision& decision) override {
    if (asked_ != nullptr) asked_->describe(state, decision);
  }

 private:
  void find_applicable(const Word* state);
  // Fills in the actions that the shield leaves.
  void find_allowed(const Word* state);
  bool is_allowed(ActionId action) const;
  // The allowed actions with what the policy gives each, all of it together 1: the likeliest first, and of equals the first.
  // Where the policy weighs nothing, they are alike, and `preferred` comes first.
  void rank(const Word* state, ActionId preferred);
  // What the policy draws from, with the shield alone.
  void shielded_distribution(const Word* state, ActionDistribution& result);
  // What is taken in place of an action that is excluded: what the policy would do if there were only the others.
  void replacement(const Word* state, ActionDistribution& result);
  void decide(const Word* state, ActionId preferred, bool is_loop);
  // By the rule for loops; that of a search has decided already.
  void leave_loop(const Word* state, ActionId preferred);
  void count(bool is_loop);

  const SuccessorGenerator& generator_;
  GuardParts parts_;
  std::shared_ptr<GuardTotal> total_;
  std::optional<LoopMemory> memory_;
  RandomStream shield_random_{0, 0};
  RandomStream loop_random_{0, 0};
  Decision decision_;
  StepSearch* asked_ = nullptr;  // In the last step; null for none.
  GuardStatistics statistics_;
  bool has_looped_ = false;  // In this episode.
  ActionList applicable_;
  std::vector<std::int32_t> stack_;
  std::vector<ActionId> actions_;   // Ascending.
  std::vector<ActionId> excluded_;  // Ascending.
  std::vector<ActionId> allowed_;   // Ascending.
  ActionDistribution ranking_;
  ActionDistribution scratch_;
  ActionDistribution drawn_;
};

}  // namespace asnets
