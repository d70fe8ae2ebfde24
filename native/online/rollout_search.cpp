#include "online/rollout_search.hpp"

#include <algorithm>
#include <limits>

namespace asnets {

void RolloutSearch::decide(const Word* state, std::span<const ActionId> allowed, ActionId preferred,
                           Decision& decision) {
  const RandomStream of_step = random_.split(step_++);
  StepClock clock(budget_, 1);
  if (preferred < 0) {
    RandomStream of_choice = of_step.split(0);
    preferred = rollouts_.policy().choose(state, of_choice);
    if (std::find(allowed.begin(), allowed.end(), preferred) == allowed.end()) preferred = allowed.front();
  }
  find_candidates(state, allowed, preferred);
  decision.action = decision.search_action = preferred;
  decision.decider = Decider::kPolicy;
  decision.reason = Reason::kNoBudget;
  const double needed = static_cast<double>(candidates_.size() - 1) / error_rate_;
  random_step_ = of_step;
  for (std::size_t round = 0; run_round(state, round, clock); ++round) {
    const Candidate* best = nullptr;
    bool any_live = false;
    for (Candidate& candidate : candidates_) {
      if (&candidate == &candidates_.front() || !candidate.is_live) continue;
      if (candidate.is_worse.value() >= kDropped) candidate.is_live = false;
      any_live |= candidate.is_live;
      if (candidate.is_better.value() >= needed && (best == nullptr || candidate.mean() < best->mean())) {
        best = &candidate;
      }
    }
    decision.reason = Reason::kNotBetter;
    if (best != nullptr) {
      decision.action = decision.search_action = best->action;
      decision.decider = Decider::kSearch;
      decision.reason = Reason::kTested;
    }
    if (best != nullptr || !any_live) break;
  }
  decision.rollouts = clock.spent();
  report(decision);
}

void RolloutSearch::find_candidates(const Word* state, std::span<const ActionId> allowed, ActionId preferred) {
  rollouts_.policy().preferences(state, preferences_);
  const auto prior = [&](ActionId action) {
    const auto found = std::find(preferences_.actions.begin(), preferences_.actions.end(), action);
    if (found == preferences_.actions.end()) return std::numeric_limits<double>::quiet_NaN();
    return preferences_.probabilities[static_cast<std::size_t>(found - preferences_.actions.begin())];
  };
  candidates_.clear();
  for (const ActionId action : allowed) candidates_.push_back({action, prior(action), Evidence(most_), Evidence(most_)});
  std::stable_sort(candidates_.begin(), candidates_.end(), [&](const Candidate& a, const Candidate& b) {
    if ((a.action == preferred) != (b.action == preferred)) return a.action == preferred;
    return a.prior > b.prior;
  });
  // Rather a few rounds of some than none of all.
  if (budget_.count > 0) {
    const std::size_t most = std::max<std::size_t>(2, budget_.count / kLeastRounds);
    if (candidates_.size() > most) candidates_.erase(candidates_.begin() + static_cast<std::ptrdiff_t>(most), candidates_.end());
  }
}

bool RolloutSearch::run_round(const Word* state, std::size_t number, StepClock& clock) {
  live_.clear();
  for (std::size_t i = 0; i < candidates_.size(); ++i) {
    if (candidates_[i].is_live) live_.push_back(i);
  }
  if (clock.allows(live_.size()) < live_.size()) return false;
  jobs_.clear();
  const RandomStream stream = random_step_.split(number + 1);
  for (const std::size_t i : live_) jobs_.push_back({state, candidates_[i].action, stream});
  const std::vector<Rollout>& results = rollouts_.run(jobs_, clock.deadline());
  clock.spend(live_.size());
  if (!results.front().has_ended) return false;
  for (std::size_t j = 0; j < live_.size(); ++j) {
    if (!results[j].has_ended) continue;
    Candidate& candidate = candidates_[live_[j]];
    ++candidate.rollouts;
    candidate.total += results[j].cost;
    // Where neither reaches the goal, what was paid on the way says nothing.
    const bool tells = results.front().reaches_goal || results[j].reaches_goal;
    if (j == 0 || !tells) continue;
    candidate.is_better.add(results.front().cost, results[j].cost);
    candidate.is_worse.add(results[j].cost, results.front().cost);
  }
  return true;
}

void RolloutSearch::report(Decision& decision) const {
  decision.actions.clear();
  for (const Candidate& candidate : candidates_) {
    ActionReport& report = decision.actions.emplace_back();
    report.action = candidate.action;
    report.prior = candidate.prior;
    report.visits = candidate.rollouts;
    if (candidate.rollouts > 0) report.value = candidate.mean();
  }
  decision.value = decision.actions.front().value;
  for (const ActionReport& report : decision.actions) {
    if (report.action == decision.action) decision.value = report.value;
  }
  std::stable_sort(decision.actions.begin(), decision.actions.end(), [](const ActionReport& a, const ActionReport& b) {
    return a.visits > 0 && (b.visits == 0 || a.value < b.value);
  });
}

}  // namespace asnets
