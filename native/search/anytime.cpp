// Policies of a search that has not converged: the one that it starts from, and the best one that it knows.
//
// The given policy is asked in the states that it can visit from the root, in each for its most probable action: depth first,
// the likeliest outcome first, since what is known from above grows from the goal backwards. Those states are expanded, and
// their values from above backed up until they stay, over all of their actions: what the policy costs at most, or less. Where
// it was not followed to its end, it gives up; the next call goes on there. From then on its choices come first among equal
// ones. Values from below are as without it, and so is what a search converges to.
#include <algorithm>

#include "search/solver.hpp"

namespace asnets {

namespace {

// Of the limits of a search, for following the policy that it starts from.
constexpr double kTimeShare = 0.25;
constexpr std::size_t kExpansionShare = 2;
constexpr std::size_t kWorkShare = 4;
constexpr std::size_t kMostFollowed = std::size_t{1} << 17;  // States in a call, where expansions have no limit.

// Sweeps over values from above, and the fall, of the width that bounds may have, below which they stay.
constexpr std::size_t kMostSweeps = 1000;
constexpr double kFallShare = 1.0 / 16;

SearchLimits share_of(const SearchLimits& limits) {
  SearchLimits share = limits;
  double seconds = limits.seconds > 0 ? limits.seconds : kInfinity;
  if (limits.deadline != nullptr) seconds = std::min(seconds, limits.deadline->left());
  share.seconds = seconds < kInfinity ? std::max(1e-9, kTimeShare * seconds) : 0;
  share.cpu_seconds = kTimeShare * limits.cpu_seconds;
  share.work = limits.work > 0 ? std::max<std::size_t>(1, limits.work / kWorkShare) : 0;
  share.expansions = limits.expansions > 0 ? std::max<std::size_t>(1, limits.expansions / kExpansionShare) : kMostFollowed;
  return share;
}

ActionId most_probable(const ActionDistribution& distribution) {
  const auto best = std::max_element(distribution.probabilities.begin(), distribution.probabilities.end());
  return distribution.actions.empty() ? -1 : distribution.actions[static_cast<std::size_t>(best - distribution.probabilities.begin())];
}

}  // namespace

// Asks the given policy in a state, unless it was asked there.
void Solver::follow_into(StateId state) {
  if (graph_.is_terminal(state) || graph_.is_marked(state, SearchGraph::kFollowed)) return;
  ActionDistribution distribution;
  graph_.count_evaluation();
  policy_->distribution(graph_.table().state(state), distribution);
  const ActionId action = most_probable(distribution);
  std::vector<StateId> left;
  if (action >= 0) {
    ensure_expanded(state);
    SearchGraph::Choices all = graph_.own_choices(state);
    for (SearchGraph::Choice choice; all.next(choice);) {
      if (choice.action != action) continue;
      std::vector<std::pair<double, StateId>> outcomes;
      for (std::size_t s = 0; s < choice.size(); ++s) {
        outcomes.emplace_back(choice.distribution->probabilities[s], choice.successors[s]);
      }
      std::sort(outcomes.begin(), outcomes.end());
      for (const auto& [probability, successor] : outcomes) left.push_back(successor);
    }
  }
  graph_.mark(state, SearchGraph::kFollowed);
  following_.push_back({state, std::move(left)});
}

void Solver::follow_given(StateId root, const SearchLimits& limits, const Poll& poll) {
  if (policy_ == nullptr) return;
  if (following_.empty() && graph_.is_marked(root, SearchGraph::kFollowed)) return;
  const SearchLimits share = share_of(limits);
  const auto within_share = [&](auto&& work) {
    try {
      Budget budget(share, statistics_, poll);
      const LentBudget lent(graph_, &budget);
      work(budget);
    } catch (const SearchStopped& stopped) {
      if (stopped.status != Status::kTime && stopped.status != Status::kExpansions && stopped.status != Status::kWork) throw;
    }
  };
  within_share([&](Budget& budget) {
    follow_into(root);
    while (!following_.empty()) {
      budget.tick();
      const std::size_t top = following_.size() - 1;
      if (following_[top].left.empty()) {
        followed_.push_back(following_[top].state);
        following_.pop_back();
        continue;
      }
      follow_into(following_[top].left.back());
      following_[top].left.pop_back();
    }
  });
  std::vector<StateId> states;
  for (const Following& frame : following_) states.push_back(frame.state);
  states.insert(states.end(), followed_.rbegin(), followed_.rend());
  within_share([&](Budget& budget) { tighten_upper(states, budget); });
  for (const StateId state : states) {
    const StateId representative = graph_.representative(state);
    graph_.prefer(representative, graph_.upper_choice(representative));
  }
}

void Solver::tighten_upper(std::span<const StateId> states, Budget& budget) {
  for (std::size_t sweep = 0; sweep < kMostSweeps; ++sweep) {
    double largest = 0;
    for (std::size_t i = states.size(); i-- > 0;) {
      budget.tick();
      const StateId state = graph_.representative(states[i]);
      if (!graph_.is_expanded(state) || graph_.is_terminal(state)) continue;
      largest = std::max(largest, graph_.back_up_upper(state) / std::max(1.0, graph_.upper(state)));
    }
    if (largest <= kFallShare * target_) return;
  }
}

Status Solver::tighten(const SearchLimits& limits, const Poll& poll) {
  if (!graph_.keeps_upper()) return Status::kConverged;
  return within(limits, poll, [&](Budget& budget) {
    std::vector<StateId> states(graph_.size());
    for (std::size_t i = 0; i < states.size(); ++i) states[i] = static_cast<StateId>(i);
    tighten_upper(states, budget);
  });
}

SearchGraph::Backup Solver::known_choice(StateId state) {
  const StateId representative = graph_.representative(state);
  const std::uint32_t* const entry = graph_.upper_choice(representative);
  if (entry == nullptr) return {graph_.penalty()};
  const SearchGraph::Choice choice = graph_.choice_at(entry);
  return choice_within(state, {graph_.upper(state), choice.action, choice.distribution, choice.successors});
}

void Solver::write_down(StateId root, const Choose& choose, PolicyTable& table, Budget& budget) {
  std::vector<StateId> states = collect_envelope(root, SearchGraph::kVisited, choose, budget);
  for (const StateId state : states) graph_.unmark(state, SearchGraph::kVisited);
  for (const StateId state : states) {
    budget.tick();
    table.actions.push_back(graph_.is_terminal(state) ? -1 : choose(state).action);
  }
  table.states = std::move(states);
}

Solver::PolicyTable Solver::greedy_policy(StateId root, const SearchLimits& limits, const Poll& poll) {
  PolicyTable result;
  const Choose choose = [&](StateId state) {
    ensure_expanded(state);
    return policy_choice(state);
  };
  result.status = within(limits, poll, [&](Budget& budget) { write_down(root, choose, result, budget); });
  for (const StateId state : result.states) result.values.push_back(graph_.value(state));
  return result;
}

Solver::PolicyTable Solver::known_policy(StateId root, const SearchLimits& limits, const Poll& poll) {
  PolicyTable result;
  result.status = within(limits, poll, [&](Budget& budget) {
    const StateId representative = graph_.representative(root);
    if (graph_.is_terminal(root) || graph_.upper_choice(representative) != nullptr) {
      result.bound = graph_.upper(root);
      write_down(root, [&](StateId state) { return known_choice(state); }, result, budget);
      return;
    }
    const Choose greedy = [&](StateId state) {
      return graph_.is_expanded(state) ? best_choice(state) : SearchGraph::Backup{graph_.penalty()};
    };
    // A probability of failing is never more than 1.
    const double most = objective_ == Objective::kMaxprob ? graph_.penalty() : kInfinity;
    result.bound = policy_bound(representative, greedy, graph_.value(root), most, budget);
    write_down(root, [&](StateId state) { return choice_within(state, greedy(graph_.representative(state))); }, result,
               budget);
  });
  for (const StateId state : result.states) result.values.push_back(graph_.upper(state));
  return result;
}

}  // namespace asnets
