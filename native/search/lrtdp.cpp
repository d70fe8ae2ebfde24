#include "search/lrtdp.hpp"

#include <cmath>

namespace asnets {

namespace {

constexpr std::size_t kFirstTrapCheck = 256;

}  // namespace

void Lrtdp::label(StateId root, Budget& budget) {
  std::size_t idle_trials = 0;
  std::size_t next_trap_check = kFirstTrapCheck;
  while (!is_settled(root)) {
    count_trial(budget);
    const std::size_t expanded = statistics_.expanded;
    run_trial(root, budget);
    back_up_upper(trial_);
    while (!trial_.empty()) {
      const StateId state = trial_.back();
      trial_.pop_back();
      if (!check_solved(state, budget)) break;
    }
    idle_trials = statistics_.expanded == expanded ? idle_trials + 1 : 0;
    if (idle_trials == next_trap_check) {
      next_trap_check *= 2;
      close_traps(greedy_states(root, budget), budget);
    }
  }
}

std::vector<StateId> Lrtdp::greedy_states(StateId root, Budget& budget) {
  std::vector<bool> is_seen(graph_.size(), false);
  std::vector<StateId> states;
  const auto visit = [&](StateId state) {
    if (is_seen[state] || is_settled(state) || !graph_.is_expanded(state)) return;
    is_seen[state] = true;
    states.push_back(state);
  };
  visit(root);
  for (std::size_t i = 0; i < states.size(); ++i) {
    budget.tick();
    const SearchGraph::Backup backup = graph_.evaluate(states[i]);
    for (std::size_t s = 0; s < backup.size(); ++s) visit(graph_.successor(backup, s));
  }
  return states;
}

void Lrtdp::run_trial(StateId state, Budget& budget) {
  trial_.clear();
  std::size_t next_trap_check = kFirstTrapCheck;
  while (!is_settled(state)) {
    budget.tick();
    trial_.push_back(state);
    ensure_expanded(state);
    const auto [backup, residual] = update(state);
    if (backup.action < 0 || residual <= epsilon_) return;
    state = sample(backup);
    if (trial_.size() == next_trap_check) {
      next_trap_check *= 2;
      if (!is_settled(state) && graph_.close_trap(state, trial_.size(), budget)) return;
    }
  }
}

bool Lrtdp::check_solved(StateId root, Budget& budget) {
  if (is_settled(root)) return true;
  bool consistent = true;
  open_.assign(1, root);
  closed_.clear();
  graph_.mark(root, SearchGraph::kOpen);
  const auto forget = [&] {
    for (const StateId state : open_) graph_.unmark(state, SearchGraph::kOpen);
    for (const StateId state : closed_) graph_.unmark(state, SearchGraph::kOpen);
  };
  try {
    while (!open_.empty()) {
      budget.tick();
      const StateId state = open_.back();
      open_.pop_back();
      closed_.push_back(state);
      // Expanding a state may show that it is a dead end and raise its value: that must fail the check as well, since
      // its parents were found consistent with the value before.
      const double before = graph_.value(state);
      ensure_expanded(state);
      const SearchGraph::Backup backup = graph_.evaluate(state);
      if (std::abs(updated(state, backup) - before) > epsilon_) {
        consistent = false;
        continue;
      }
      for (std::size_t i = 0; i < backup.size(); ++i) {
        const StateId successor = graph_.successor(backup, i);
        if (is_settled(successor) || graph_.is_marked(successor, SearchGraph::kOpen)) continue;
        graph_.mark(successor, SearchGraph::kOpen);
        open_.push_back(successor);
      }
    }
  } catch (...) {
    forget();
    throw;
  }
  forget();
  if (consistent) {
    back_up_upper(closed_);
    for (const StateId state : closed_) graph_.mark(state, SearchGraph::kSolved);
    return true;
  }
  back_up_upper(closed_);
  for (; !closed_.empty(); closed_.pop_back()) update(closed_.back());
  return false;
}

}  // namespace asnets
