#include "search/value_iteration.hpp"

#include <algorithm>

namespace asnets {

void ValueIteration::search(StateId root, Budget& budget) {
  std::vector<StateId> states;
  std::vector<bool> seen;
  const auto visit = [&](StateId state) {
    if (state >= seen.size()) seen.resize(std::max<std::size_t>(2 * seen.size(), state + 1), false);
    if (seen[state]) return;
    seen[state] = true;
    states.push_back(state);
  };
  visit(root);
  for (std::size_t i = 0; i < states.size(); ++i) {
    budget.tick();
    if (graph_.is_terminal(states[i])) continue;
    ensure_expanded(states[i]);
    SearchGraph::Choices all = graph_.choices(states[i]);
    for (SearchGraph::Choice choice; all.next(choice);) {
      for (std::size_t s = 0; s < choice.size(); ++s) visit(choice.successors[s]);
    }
  }

  std::vector<bool> hopeful(graph_.size(), false);
  for (bool changed = true; changed;) {
    changed = false;
    for (auto state = states.rbegin(); state != states.rend(); ++state) {
      budget.tick();
      if (hopeful[*state] || graph_.is_dead(*state)) continue;
      bool reaches = graph_.is_goal(*state);
      if (!reaches) {
        SearchGraph::Choices all = graph_.choices(*state);
        for (SearchGraph::Choice choice; !reaches && all.next(choice);) {
          reaches = std::any_of(choice.successors, choice.successors + choice.size(),
                                [&](StateId successor) { return hopeful[successor]; });
        }
      }
      if (reaches) hopeful[*state] = changed = true;
    }
  }
  for (const StateId state : states) {
    if (!hopeful[state]) graph_.mark_dead(state);
  }

  for (double largest = epsilon_ + 1; largest > epsilon_;) {
    largest = 0;
    for (auto state = states.rbegin(); state != states.rend(); ++state) {
      if (graph_.is_terminal(*state)) continue;
      budget.tick();
      largest = std::max(largest, update(*state).second);
    }
  }
  for (const StateId state : states) graph_.mark(state, SearchGraph::kSolved);
}

}  // namespace asnets
