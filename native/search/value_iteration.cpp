#include "search/value_iteration.hpp"

#include <algorithm>
#include <cmath>

namespace asnets {

namespace {

// Of probabilities of failing, where the objective is lexicographic.
constexpr double kTieWidth = 1e-11;
constexpr double kRoundingWidth = 1e-10;
constexpr double kAcceptedTieWidth = 1e-8;  // Wider bounds are not trusted to tell.

}  // namespace

ValueIteration::ValueIteration(const Task& task, const SuccessorGenerator& generator, const SolverConfig& config)
    : Solver(task, generator, config) {
  has_traps_ = false;  // In the graph: they are collapsed in a model of its own.
}

ValueIteration::Reachable ValueIteration::explore(StateId root, Budget& budget) {
  Reachable result;
  std::vector<std::uint32_t> index;
  const auto visit = [&](StateId state) {
    if (state >= index.size()) index.resize(std::max<std::size_t>(2 * index.size(), state + 1), kNoComponent);
    if (index[state] != kNoComponent) return;
    index[state] = static_cast<std::uint32_t>(result.states.size());
    result.states.push_back(state);
  };
  visit(root);
  for (std::size_t i = 0; i < result.states.size(); ++i) {
    budget.tick();
    const StateId state = result.states[i];
    if (!graph_.is_terminal(state)) ensure_expanded(state);
    if (!graph_.is_terminal(state)) {
      SearchGraph::Choices all = graph_.choices(state);
      for (SearchGraph::Choice choice; all.next(choice);) {
        for (std::size_t s = 0; s < choice.size(); ++s) {
          visit(choice.successors[s]);
          result.model.add_transition(index[choice.successors[s]], choice.distribution->probabilities[s]);
        }
        result.model.end_choice(choice.distribution->cost);
        result.entries.push_back(choice.entry());
        result.cost_error =
            std::max(result.cost_error, task_.cost_error(choice.action) * choice.distribution->repetitions);
      }
    }
    result.model.end_state();
    result.goals.push_back(graph_.is_goal(state));
  }
  const Reaching hopeful = reaching(result.model, result.goals, {}, [&] { budget.tick(); });
  for (std::size_t i = 0; i < result.states.size(); ++i) {
    result.dead.push_back(!hopeful.states[i]);
    if (result.dead.back()) graph_.mark_dead(result.states[i]);
  }
  return result;
}

IntervalProblem ValueIteration::least_failure(const Reachable& reachable, double epsilon, const Tick& tick) const {
  const std::size_t n = reachable.states.size();
  const Reaching certain = reaching_for_certain(reachable.model, reachable.goals, tick);
  IntervalProblem problem{&reachable.model, {}, std::vector<bool>(n), std::vector<double>(n, 0),
                          std::vector<double>(n, 0), {}, 1, epsilon, true};
  for (std::size_t i = 0; i < n; ++i) {
    problem.fixed[i] = reachable.dead[i] || certain.states[i];
    problem.lower[i] = problem.upper[i] = reachable.dead[i] ? 1 : 0;
  }
  solve_intervals(problem, tick);
  for (std::size_t i = 0; i < n; ++i) {
    problem.lower[i] = std::max(0.0, problem.lower[i]);
    if (certain.states[i] && !reachable.goals[i]) problem.choice[i] = certain.ways[i];
  }
  return problem;
}

bool ValueIteration::keeps_probability(const SparseModel& model, std::size_t choice, const IntervalProblem& failure,
                                       std::uint32_t state) {
  double least = 0;
  for (std::size_t t = model.first_transition[choice]; t < model.first_transition[choice + 1]; ++t) {
    least += model.probabilities[t] * failure.lower[model.successors[t]];
    // Where the goal is certain, nothing is risked at all.
    if (failure.upper[state] == 0 && failure.upper[model.successors[t]] > 0) return false;
  }
  return least * (1 - rounding_of(model.first_transition[choice + 1] - model.first_transition[choice])) <=
         failure.upper[state];
}

IntervalProblem ValueIteration::least_cost(const Reachable& reachable, const IntervalProblem* failure,
                                           const Tick& tick) {
  const std::size_t n = reachable.states.size();
  const bool gives_up = failure == nullptr;
  IntervalProblem problem{&reachable.model, {}, std::vector<bool>(n), std::vector<double>(n, 0),
                          std::vector<double>(n, 0), {}, graph_.penalty(), target_};
  problem.cost_error = reachable.cost_error;
  for (std::uint32_t i = 0; i < n; ++i) {
    problem.fixed[i] = reachable.dead[i] || reachable.goals[i];
    problem.lower[i] = problem.upper[i] = reachable.dead[i] && gives_up ? graph_.penalty() : 0;
    for (std::size_t c = reachable.model.first_choice[i]; !gives_up && c < reachable.model.first_choice[i + 1]; ++c) {
      problem.allowed.push_back(keeps_probability(reachable.model, c, *failure, i));
    }
  }
  try {
    solve_intervals(problem, tick);
  } catch (const UnboundedValue& unbounded) {
    const Word* const words = graph_.table().state(reachable.states[unbounded.state]);
    throw UnboundedCost({words, words + task_.num_words()}, graph_.choice_at(reachable.entries[unbounded.choice]).action,
                        unbounded.is_certain);
  }
  return problem;
}

void ValueIteration::keep(const Reachable& reachable, const IntervalProblem& solved) {
  statistics_.backups += solved.backups;
  found_.resize(graph_.size(), {0, 0});
  choices_.resize(graph_.size(), nullptr);
  for (std::size_t i = 0; i < reachable.states.size(); ++i) {
    const StateId state = reachable.states[i];
    found_[state] = {solved.lower[i], solved.upper[i]};
    choices_[state] = solved.choice[i] == kNoChoice ? nullptr : reachable.entries[solved.choice[i]];
    // The lower bound; but where the two differ by rounding only, the middle is what it is without.
    const double width = solved.upper[i] - solved.lower[i];
    const bool is_rounding = width <= kRoundingWidth * std::max(1.0, std::abs(solved.upper[i]));
    graph_.set_value(state, std::min(solved.lower[i] + (is_rounding ? width / 2 : 0), graph_.penalty()));
  }
}

void ValueIteration::search(StateId root, Budget& budget) {
  const Tick tick = [&] { budget.tick(); };
  const Reachable reachable = explore(root, budget);
  for (const SearchGraph::EarningLoop& loop : graph_.earning_loops()) {
    if (graph_.is_dead(loop.state)) continue;
    const Word* const words = graph_.table().state(loop.state);
    throw UnboundedCost({words, words + task_.num_words()}, loop.action, true);
  }
  if (objective_ == Objective::kMaxprob) {
    keep(reachable, least_failure(reachable, target_, tick));
  } else if (objective_ == Objective::kPenalty) {
    keep(reachable, least_cost(reachable, nullptr, tick));
  } else {
    const IntervalProblem failure = least_failure(reachable, kTieWidth, tick);
    for (std::size_t i = 0; i < reachable.states.size(); ++i) {
      if (failure.upper[i] - failure.lower[i] > kAcceptedTieWidth) throw SearchStopped{Status::kPrecision};
    }
    statistics_.backups += failure.backups;
    keep(reachable, least_cost(reachable, &failure, tick));
    failure_lower_.resize(graph_.size(), 0);
    failure_upper_.resize(graph_.size(), 1);
    for (std::size_t i = 0; i < reachable.states.size(); ++i) {
      failure_lower_[reachable.states[i]] = failure.lower[i];
      failure_upper_[reachable.states[i]] = failure.upper[i];
      // Rounded outward, where they are not exact.
      const double least = failure.upper[i] == 0 ? 1 : std::nextafter(1 - failure.upper[i], 0);
      const double most = failure.lower[i] == 1 ? 0 : std::nextafter(1 - failure.lower[i], 1);
      found_[reachable.states[i]].goal_lower = least;
      found_[reachable.states[i]].goal_upper = most;
    }
  }
  for (const StateId state : reachable.states) graph_.mark(state, SearchGraph::kSolved);
}

SearchGraph::Backup ValueIteration::policy_choice(StateId state) {
  if (!is_labelled(state) || state >= choices_.size()) return Solver::policy_choice(state);
  if (choices_[state] == nullptr) return {graph_.penalty()};
  const SearchGraph::Choice choice = graph_.choice_at(choices_[state]);
  return {graph_.q_value(choice), choice.action, choice.distribution, choice.successors};
}

bool ValueIteration::is_allowed(StateId state, const SearchGraph::Choice& choice) const {
  if (objective_ != Objective::kLexicographic || state >= failure_upper_.size()) return true;
  double least = 0;
  for (std::size_t i = 0; i < choice.size(); ++i) {
    const StateId successor = choice.successors[i];
    if (successor >= failure_upper_.size()) return true;
    least += choice.distribution->probabilities[i] * failure_lower_[successor];
    if (failure_upper_[state] == 0 && failure_upper_[successor] > 0) return false;
  }
  return least * (1 - rounding_of(choice.size())) <= failure_upper_[state];
}

void ValueIteration::certify(StateId state, Budget&) {
  bounds_ = known_bounds(state);
  const double width = bounds_.upper - bounds_.lower;
  if (!(width <= target_ * std::max(1.0, std::min(std::abs(bounds_.lower), std::abs(bounds_.upper))))) {
    throw SearchStopped{Status::kPrecision};
  }
}

ValueBounds ValueIteration::known_bounds(StateId state) {
  const bool is_lexicographic = objective_ == Objective::kLexicographic;
  if (graph_.is_goal(state)) return {0, 0, 1, 1};
  if (graph_.is_dead(state)) {
    return is_lexicographic ? ValueBounds{0, 0, 0, 0} : ValueBounds{graph_.penalty(), graph_.penalty()};
  }
  if (is_labelled(state) && state < found_.size()) return found_[state];
  const bool earns = objective_ != Objective::kMaxprob && task_.has_negative_costs();
  return {earns ? -kInfinity : 0, graph_.upper(state)};
}

}  // namespace asnets
