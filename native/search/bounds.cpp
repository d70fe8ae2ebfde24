// Two-sided bounds of the value that a search has found.
//
// From below: values started at an admissible heuristic and every backup kept them below the optimal ones, but for
// rounding. Where Q values are rounded down, that holds as it is. Otherwise each step costs at least c and nothing more than
// D: if values are at most (1 + κ) V* and a backup has the relative error η, then it gives at most
// (1 + η)(c + (1 + κ)(V* - c)), which is at most (1 + κ) V* if κ c >= 2 η D. Likewise, values that exceed their backups by up
// to ε come down to a lower bound if they are scaled by 1 - ε / c. The heuristic is a sum of a few thousand roundings at
// most, for which kHeuristicRounding is taken off.
// From above: what the policy costs (and what graph_upper.cpp keeps during a search). If x >= c + P x - r in all states of its chain, rounding included, then
// x (1 + κ) with κ = r / (c - r) is not below its own backup, and neither is x + r N where N >= 1 + P N is a bound on the
// number of steps; nothing that is non-negative and not below its own backup is less than the cost of the policy.
#include <algorithm>
#include <cmath>
#include <unordered_map>

#include "heuristics/registry.hpp"
#include "search/interval_iteration.hpp"
#include "search/solver.hpp"
#include "search/sparse_model.hpp"

namespace asnets {

// The chain of a policy; each state comes after those that it leads to, as far as cycles allow.
struct PolicyChain {
  SparseModel model;           // One choice in each state that goes on.
  std::vector<double> values;  // From below; those of the others are what they cost.

  std::size_t size() const { return values.size(); }
  bool goes_on(std::size_t i) const { return model.first_choice[i] != model.first_choice[i + 1]; }
  // One step from state i, rounded up, with `cost` in place of its cost.
  double step(std::size_t i, double cost, const std::vector<double>& of) const {
    const std::size_t choice = model.first_choice[i];
    double sum = cost;
    for (std::size_t t = model.first_transition[choice]; t < model.first_transition[choice + 1]; ++t) {
      sum += model.probabilities[t] * of[model.successors[t]];
    }
    return sum * (1 + rounding_of(model.first_transition[choice + 1] - model.first_transition[choice]));
  }
  double cost(std::size_t i) const { return model.cost[model.first_choice[i]]; }
};

namespace {

constexpr double kHeuristicRounding = 0x1p-40;
constexpr double kTighter = 16;
constexpr double kLeastResidual = 1e-14;

// Whether every state can get to one that does not go on.
bool ends(const PolicyChain& chain, const Tick& tick) {
  const Components components = strong_components(chain.model, {}, tick);
  std::vector<bool> leaves(components.count, false);
  for (std::size_t i = 0; i < chain.size(); ++i) {
    if (!chain.goes_on(i)) {
      leaves[components.of[i]] = true;
      continue;
    }
    const std::size_t choice = chain.model.first_choice[i];
    for (std::size_t t = chain.model.first_transition[choice]; t < chain.model.first_transition[choice + 1]; ++t) {
      if (components.of[chain.model.successors[t]] != components.of[i]) leaves[components.of[i]] = true;
    }
  }
  return std::all_of(leaves.begin(), leaves.end(), [](bool leaving) { return leaving; });
}

// A bound on the expected number of steps from each state.
std::vector<double> most_steps(const PolicyChain& chain, const Tick& tick) {
  std::vector<double> steps(chain.size(), 0);
  for (double largest = 1; largest > 0.5;) {
    largest = 0;
    for (std::size_t i = 0; i < chain.size(); ++i) {
      tick();
      if (chain.goes_on(i)) steps[i] = chain.step(i, 1, steps);
    }
    for (std::size_t i = 0; i < chain.size(); ++i) {
      tick();
      if (chain.goes_on(i)) largest = std::max(largest, chain.step(i, 1, steps) - steps[i]);
    }
  }
  for (double& bound : steps) bound *= 2 * (1 + kInputRounding);
  return steps;
}

}  // namespace

// The share of a cost that its error is at most, where parts of both signs were added up and every cost is positive.
double Solver::cost_share() const {
  const double error = task_.largest_cost_error();
  return error > 0 && least_cost_ > 0 ? std::min(1.0, error / least_cost_) : 0;
}

double Solver::lower_bound(StateId state) {
  if (graph_.is_terminal(state)) return graph_.value(state);
  if (!is_admissible_) return heuristic_bound(state);
  const double rounding =
      rounds_down_ ? 0 : 4 * rounding_of(graph_.most_successors()) * graph_.penalty() / least_cost_;
  const double excess = residual_below() > 0 ? residual_below() * (1 + kInputRounding) / least_cost_ : 0;
  return std::max(0.0, graph_.value(state) * (1 - rounding - excess - cost_share() - kHeuristicRounding));
}

double Solver::heuristic_bound(StateId state) {
  if (admissible_ == nullptr) admissible_ = find_heuristic("lmcut").make(task_);
  const double found = admissible_->evaluate(graph_.table().state(state)) * (1 - cost_share() - kHeuristicRounding);
  return std::min(found, graph_.penalty());
}

PolicyChain Solver::policy_chain(StateId root, const Choose& choose, Budget& budget) {
  PolicyChain chain;
  // Depth first, so that states come after their successors.
  struct Frame {
    StateId state;
    std::size_t next;
    SearchGraph::Backup backup;
  };
  constexpr std::uint32_t kUnseen = static_cast<std::uint32_t>(-1);
  constexpr std::uint32_t kOnStack = kUnseen - 1;
  std::vector<std::uint32_t> index(graph_.size(), kUnseen);
  std::vector<std::pair<StateId, SearchGraph::Backup>> order;
  std::vector<Frame> stack;
  const auto enter = [&](StateId state) {
    if (index[state] != kUnseen) return;
    index[state] = kOnStack;
    stack.push_back({state, 0, graph_.is_terminal(state) ? SearchGraph::Backup{graph_.value(state)}
                                                         : choose(state)});
  };
  enter(root);
  while (!stack.empty()) {
    budget.tick();
    Frame& frame = stack.back();
    if (frame.next < frame.backup.size()) {
      enter(graph_.successor(frame.backup, frame.next++));
      continue;
    }
    index[frame.state] = static_cast<std::uint32_t>(order.size());
    order.emplace_back(frame.state, frame.backup);
    stack.pop_back();
  }
  for (const auto& [state, backup] : order) {
    budget.tick();
    const bool goes_on = backup.action >= 0;
    chain.values.push_back(goes_on || graph_.is_terminal(state) ? graph_.value(state) : graph_.penalty());
    if (goes_on) {
      for (std::size_t s = 0; s < backup.size(); ++s) {
        chain.model.add_transition(index[graph_.successor(backup, s)], backup.distribution->probabilities[s]);
      }
      chain.model.end_choice(backup.distribution->cost);
    }
    chain.model.end_state();
  }
  return chain;
}

double Solver::upper_bound(StateId root, double lower, Budget& budget) {
  return policy_bound(root, [&](StateId state) { return representative_choice(state); }, lower, graph_.penalty(), budget);
}

double Solver::policy_bound(StateId root, const Choose& choose, double lower, double otherwise, Budget& budget) {
  const Tick tick = [&] { budget.tick(); };
  const double penalty = graph_.penalty();
  if (graph_.is_terminal(root)) return graph_.value(root);
  PolicyChain chain = policy_chain(root, choose, budget);
  if (!chain.goes_on(chain.size() - 1)) return penalty;  // It gives up at once.
  double least = kInfinity;
  for (const double cost : chain.model.cost) least = std::min(least, cost);
  if (least == 0 && !ends(chain, tick)) return otherwise;  // It goes on for ever, for nothing perhaps.
  std::vector<double>& x = chain.values;
  std::vector<double> steps;
  const std::size_t last = chain.size() - 1;  // The root.
  const double near_enough = target_ * std::max(1.0, x[last]) / 4;
  const double share = cost_share();
  double best = otherwise;
  for (;;) {
    double residual = 0;
    double largest = 0;
    for (std::size_t i = 0; i < chain.size(); ++i) {
      budget.tick();
      if (!chain.goes_on(i)) continue;
      residual = std::max(residual, chain.step(i, chain.cost(i), x) - x[i]);
      largest = std::max(largest, x[i]);
    }
    if (x[last] > 2 * penalty) return otherwise;  // It goes on for ever, at a cost.
    double excess = kInfinity;
    if (residual == 0) {
      excess = 0;
    } else if (least > 0) {
      if (residual < least) excess = x[last] * residual / (least - residual);
    } else {
      if (steps.empty()) steps = most_steps(chain, tick);
      excess = residual * steps[last];
    }
    best = std::min(best, (x[last] + excess) * (1 + kInputRounding + share));
    if (best - lower <= target_ * std::max(1.0, lower) || excess <= near_enough) return best;
    double moved = 0;
    for (std::size_t i = 0; i < chain.size(); ++i) {
      budget.tick();
      if (!chain.goes_on(i)) continue;
      const double value = std::max(x[i], chain.step(i, chain.cost(i), x));
      moved = std::max(moved, value - x[i]);
      x[i] = value;
    }
    if (moved <= kUnitRoundoff * largest) return best;
  }
}

void Solver::certify(StateId given, Budget& budget) {
  if (!is_optimal_) {
    bounds_ = known_bounds(given);
    return;
  }
  for (;;) {
    const StateId state = graph_.representative(given);
    const double lower = lower_bound(state);
    bounds_ = {lower, upper_bound(state, lower, budget)};
    bounds_.lower = std::min(lower, bounds_.upper);
    if (!is_admissible_ || bounds_.upper - bounds_.lower <= target_ * std::max(1.0, bounds_.lower)) return;
    if (epsilon_ / kTighter < kLeastResidual * std::max(1.0, graph_.value(state))) throw SearchStopped{Status::kPrecision};
    epsilon_ /= kTighter;
    forget_labels();
    settle(given, budget);
  }
}

ValueBounds Solver::known_bounds(StateId given) {
  const StateId state = graph_.representative(given);
  if (graph_.is_terminal(state)) return {graph_.value(state), graph_.value(state)};
  const double upper = graph_.upper(state);
  // Values that backups may have raised too far, and not yet brought down again, tell nothing.
  const double lower = residual_below() > 0 ? heuristic_bound(given) : lower_bound(state);
  return {std::min(lower, upper), upper};
}

Solver::ActionBounds Solver::action_bounds(StateId state) {
  ActionBounds result;
  if (graph_.is_goal(state)) return result;
  ensure_expanded(state);
  result.actions = applicable_actions(state);
  const ValueBounds here = known_bounds(state);
  // Sums of terms of any sign: what they are, and how large.
  struct Sum {
    double value = 0;
    double size = 0;
    void add(double weight, double term) {
      value += weight * term;
      size += weight * std::abs(term);
    }
  };
  std::unordered_map<ActionId, SearchGraph::Choice> changing;
  SearchGraph::Choices all = graph_.own_choices(state);
  for (SearchGraph::Choice choice; all.next(choice);) changing.emplace(choice.action, choice);
  for (const ActionId action : result.actions) {
    const bool counts = objective_ != Objective::kMaxprob;
    const double cost = counts ? task_.cost(action, graph_.table().state(state)) : 0;
    Sum lower{cost, std::abs(cost)};
    Sum upper = lower;
    // An action is repeated until the state changes: Q(s, a) = c + P(stay) V(s) + P(leave) (V of where that leads).
    const auto found = changing.find(action);
    const double leaves = found == changing.end() ? 0 : 1 / found->second.distribution->repetitions;
    if (leaves < 1) {
      lower.add(1 - leaves, here.lower);
      upper.add(1 - leaves, here.upper);
    }
    const std::size_t size = found == changing.end() ? 0 : found->second.size();
    for (std::size_t i = 0; i < size; ++i) {
      const ValueBounds there = known_bounds(found->second.successors[i]);
      lower.add(leaves * found->second.distribution->probabilities[i], there.lower);
      upper.add(leaves * found->second.distribution->probabilities[i], there.upper);
    }
    const double rounding = 2 * rounding_of(size + 2);
    const double error = counts ? task_.cost_error(action) : 0;
    result.lower.push_back(lower.value - rounding * lower.size - error);
    result.upper.push_back(upper.value + rounding * upper.size + error);
    if (objective_ == Objective::kMaxprob) {
      result.lower.back() = std::max(0.0, result.lower.back());
      result.upper.back() = std::min(1.0, result.upper.back());
    }
  }
  return result;
}

}  // namespace asnets
