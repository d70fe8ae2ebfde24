#include "search/ilao_star.hpp"

#include <algorithm>
#include <cmath>

namespace asnets {

namespace {

constexpr std::size_t kFirstTrapCheck = 16;

}  // namespace

void IlaoStar::search(StateId root, Budget& budget) {
  std::size_t idle_passes = 0;
  std::size_t next_trap_check = kFirstTrapCheck;
  for (;;) {
    budget.start_trial();
    Pass pass = run_pass(root, budget);
    pass.changed |= after_pass(budget);
    if (pass.expanded == 0 && !pass.changed && pass.residual <= epsilon_ && accept(budget)) break;
    idle_passes = pass.expanded == 0 ? idle_passes + 1 : 0;
    if (idle_passes == next_trap_check) {
      next_trap_check *= 2;
      close_traps(order_, budget);
    }
  }
  for (const StateId state : order_) graph_.mark(state, SearchGraph::kSolved);
}

IlaoStar::Pass IlaoStar::run_pass(StateId root, Budget& budget) {
  Pass pass;
  order_.clear();
  stack_.clear();
  changed_.clear();
  const auto enter = [&](StateId state) {
    if (is_labelled(state) || graph_.is_marked(state, SearchGraph::kVisited)) return;
    if (!graph_.is_expanded(state)) {
      // A new state is backed up but not followed in this pass.
      graph_.expand(state);
      on_expanded(state);
      ++pass.expanded;
      stack_.push_back({state, 0, {0}});
    } else {
      stack_.push_back({state, 0, best_choice(state)});
    }
    graph_.mark(state, SearchGraph::kVisited);  // When nothing can interrupt any more.
  };
  const auto forget = [&] {
    for (const Frame& frame : stack_) graph_.unmark(frame.state, SearchGraph::kVisited);
    for (const StateId state : order_) graph_.unmark(state, SearchGraph::kVisited);
  };
  try {
    enter(root);
    while (!stack_.empty()) {
      budget.tick();
      Frame& frame = stack_.back();
      if (frame.next < frame.greedy.size()) {
        enter(graph_.successor(frame.greedy, frame.next++));
        continue;
      }
      if (!graph_.is_dead(frame.state)) {
        const SearchGraph::Backup backup = best_choice(frame.state);
        const double before = graph_.value(frame.state);
        const double after = updated(frame.state, backup);
        graph_.set_value(frame.state, after);
        if (after != before) on_changed(frame.state, before, after);
        pass.residual = std::max(pass.residual, std::abs(after - before));
        if (backup.successors != frame.greedy.successors) changed_.push_back(frame.state);
        if (graph_.keeps_upper()) graph_.back_up_upper(frame.state);
      }
      order_.push_back(frame.state);
      stack_.pop_back();
    }
    pass.changed = pass.expanded == 0 && pass.residual <= epsilon_ && leads_elsewhere(budget);
  } catch (...) {
    forget();
    throw;
  }
  forget();
  return pass;
}

bool IlaoStar::leads_elsewhere(Budget& budget) {
  for (const StateId state : changed_) {
    budget.tick();
    const SearchGraph::Backup backup = best_choice(state);
    for (std::size_t i = 0; i < backup.size(); ++i) {
      const StateId successor = graph_.successor(backup, i);
      if (!is_labelled(successor) && !graph_.is_marked(successor, SearchGraph::kVisited)) return true;
    }
  }
  return false;
}

}  // namespace asnets
