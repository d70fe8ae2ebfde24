#include "search/ssipp.hpp"

namespace asnets {

namespace {

constexpr std::size_t kGoalsInARow = 100;
constexpr std::size_t kMaxTrajectory = 10000;

}  // namespace

Ssipp::Ssipp(const Task& task, const SuccessorGenerator& generator, const SolverConfig& config)
    : Lrtdp(task, generator, config), depth_(config.depth) {
  is_optimal_ = has_traps_ = false;
}

void Ssipp::search(StateId root, Budget& budget) {
  for (std::size_t goals = 0; goals < kGoalsInARow;) {
    budget.start_trial();
    goals = run_trajectory(root, budget) ? goals + 1 : 0;
  }
}

bool Ssipp::run_trajectory(StateId state, Budget& budget) {
  for (std::size_t step = 0; step < kMaxTrajectory; ++step) {
    if (graph_.is_goal(state)) return true;
    if (graph_.is_dead(state)) return false;
    if (step == 0 || !graph_.is_marked(state, SearchGraph::kVisited)) plan_from(state, budget);
    budget.tick();
    const SearchGraph::Backup backup = graph_.evaluate(state);
    if (backup.action < 0) return false;
    state = sample(backup);
  }
  return false;
}

ActionId Ssipp::policy_action(StateId state, Budget& budget) {
  if (graph_.is_terminal(state)) return -1;
  if (!graph_.is_marked(state, SearchGraph::kVisited)) plan_from(state, budget);
  return graph_.evaluate(state).action;
}

void Ssipp::plan_from(StateId root, Budget& budget) {
  forget_plan();
  try {
    grow_region(root, budget);
    label(root, budget);
  } catch (...) {
    forget_plan();
    throw;
  }
  // Labels and borders are those of this short-sighted SSP only.
  for (const StateId state : region_) graph_.unmark(state, SearchGraph::kSolved | SearchGraph::kBorder);
}

void Ssipp::grow_region(StateId root, Budget& budget) {
  region_.assign(1, root);
  graph_.mark(root, SearchGraph::kVisited);
  std::size_t layer_end = 1;
  std::size_t distance = 0;
  for (std::size_t i = 0; i < region_.size(); ++i) {
    if (i == layer_end) {
      layer_end = region_.size();
      ++distance;
    }
    const StateId state = region_[i];
    if (graph_.is_terminal(state)) continue;
    if (distance == depth_) {
      // An artificial goal: it keeps its value.
      graph_.unmark(state, SearchGraph::kVisited);
      graph_.mark(state, SearchGraph::kBorder);
      continue;
    }
    budget.tick();
    ensure_expanded(state);
    SearchGraph::Choices all = graph_.choices(state);
    for (SearchGraph::Choice choice; all.next(choice);) {
      for (std::size_t s = 0; s < choice.size(); ++s) {
        const StateId successor = choice.successors[s];
        if (graph_.is_marked(successor, SearchGraph::kVisited)) continue;
        graph_.mark(successor, SearchGraph::kVisited);
        region_.push_back(successor);
      }
    }
  }
}

void Ssipp::forget_plan() {
  for (const StateId state : region_) {
    graph_.unmark(state, SearchGraph::kSolved | SearchGraph::kBorder | SearchGraph::kVisited);
  }
  region_.clear();
}

}  // namespace asnets
