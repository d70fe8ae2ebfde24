#include "policy/shield.hpp"

#include <algorithm>
#include <optional>
#include <utility>

#include "interruption.hpp"
#include "search/registry.hpp"
#include "simulator.hpp"
#include "tolerances.hpp"

namespace asnets {

namespace {

// How good each applicable action is: the least probability of failing.
class Prospects {
 public:
  Prospects(Solver& solver, StateId state) : solver_(solver), state_(state) { update(); }

  void update() {
    bounds_ = solver_.action_bounds(state_);
    for (const double upper : bounds_.upper) best_upper_ = std::min(best_upper_, upper);
    best_lower_ = bounds_.lower.empty() ? 1 : *std::min_element(bounds_.lower.begin(), bounds_.lower.end());
  }
  // The state is known to fail with at most this probability.
  void lower_best(double upper) { best_upper_ = std::min(best_upper_, upper); }

  const std::vector<ActionId>& actions() const { return bounds_.actions; }
  bool is_excluded(std::size_t i) const {
    if (bounds_.lower[i] >= 1) return best_lower_ < 1;
    return bounds_.lower[i] > best_upper_ + kShieldMargin;
  }
  // Whether an action is known to be as good as any.
  bool is_best(std::size_t i) const { return bounds_.upper[i] <= best_lower_ + kShieldMargin; }

 private:
  Solver& solver_;
  StateId state_;
  Solver::ActionBounds bounds_;
  double best_upper_ = 1;
  double best_lower_ = 0;
};

std::vector<StateId> successors_of(const SearchGraph& graph, StateId state, ActionId action) {
  SearchGraph::Choices all = graph.own_choices(state);
  for (SearchGraph::Choice choice; all.next(choice);) {
    if (choice.action == action) return {choice.successors, choice.successors + choice.size()};
  }
  return {};
}

}  // namespace

const std::vector<ActionId>& Shield::excluded(const Word* state) {
  if (table_ == nullptr || table_->size() >= kMaxKnown) {
    table_ = std::make_unique<StateTable>(task_.num_words());
    known_.clear();
  }
  if (const std::optional<StateId> id = table_->find(state)) return known_[*id];
  std::vector<ActionId> found;
  try {
    found = find_excluded(state);
  } catch (const TooManySuccessors&) {
    // What cannot be enumerated is not excluded.
  }
  table_->intern(state);
  return known_.emplace_back(std::move(found));
}

std::vector<ActionId> Shield::find_excluded(const Word* state) const {
  SolverConfig config;
  config.heuristic = "hadd";  // Of equal choices, it leads to the goal: that makes values from above.
  config.objective = Objective::kMaxprob;
  config.keeps_upper = true;
  const std::unique_ptr<Solver> solver = find_planner("lrtdp").make(task_, generator_, config);
  InterruptionScope* const outer = InterruptionScope::current();
  const Solver::Poll poll = [outer] {
    if (outer != nullptr) outer->point();
    return false;
  };
  const StateId root = solver->graph().add(state);
  Prospects prospects(*solver, root);
  const std::size_t end = solver->statistics().expanded + expansions_;
  const auto left = [&] { return end - std::min(end, solver->statistics().expanded); };
  const auto limits = [](std::size_t expansions) {
    SearchLimits result;
    result.expansions = expansions;
    result.trials = expansions;  // Each makes one, at least, unless there is little that is new.
    return result;
  };
  const std::size_t num_actions = prospects.actions().size();
  if (num_actions > 1 && left() > 1) {
    ValueBounds bounds{0, 1};
    solver->solve_with_bounds(root, limits(left() / 2), poll, bounds);
    prospects.update();
    prospects.lower_best(bounds.upper);
  }
  for (std::size_t i = 0; i < num_actions; ++i) {
    const std::size_t share = left() / (num_actions - i);
    const std::size_t until = left() - share;
    for (const StateId successor : successors_of(solver->graph(), root, prospects.actions()[i])) {
      if (left() <= until || prospects.is_excluded(i) || prospects.is_best(i)) break;
      solver->solve(successor, limits(left() - until), poll);
      prospects.update();
    }
  }
  std::vector<ActionId> result;
  for (std::size_t i = 0; i < num_actions; ++i) {
    if (prospects.is_excluded(i)) result.push_back(prospects.actions()[i]);
  }
  return result;
}

}  // namespace asnets
