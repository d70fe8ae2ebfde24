// Finding traps in the graph of a policy, and collapsing them [kolobov2011heuristic, "FRET"; steinmetz2016goal, "FRET-π"].
//
// Once a search has converged, the policy is followed from the root. A bottom component of its graph in which it pays
// nothing is a trap: its value is that of its best exit, which backups within it cannot find out. As in FRET-π, only traps
// of the policy itself start work; unlike there, all end components without cost in what is known around them are then
// collapsed at once, and as many further states are expanded as the traps have, so that a large end component takes few
// rounds of search.
#include <unordered_map>

#include "search/solver.hpp"
#include "search/sparse_model.hpp"

namespace asnets {

bool Solver::eliminate_traps(StateId root, Budget& budget) {
  const Tick tick = [&] { budget.tick(); };
  std::vector<StateId> states{root};
  std::unordered_map<StateId, std::uint32_t> index{{root, 0}};
  std::vector<const std::uint32_t*> entries;
  SparseModel chain;
  for (std::size_t i = 0; i < states.size(); ++i) {
    budget.tick();
    const StateId state = states[i];
    entries.push_back(nullptr);
    // From where choices are fixed, the policy is known to end.
    if (!graph_.is_terminal(state) && !fixed_.contains(state)) {
      const SearchGraph::Backup backup = representative_choice(state);
      if (backup.action >= 0) {
        entries.back() = SearchGraph::Choice{backup.action, backup.distribution, backup.successors}.entry();
        for (std::size_t s = 0; s < backup.size(); ++s) {
          const StateId successor = graph_.successor(backup, s);
          const auto [entry, is_new] = index.try_emplace(successor, static_cast<std::uint32_t>(states.size()));
          if (is_new) states.push_back(successor);
          chain.add_transition(entry->second, backup.distribution->probabilities[s]);
        }
        chain.end_choice(backup.distribution->cost);
      }
    }
    chain.end_state();
  }
  const Components components = strong_components(chain, {}, tick);
  std::vector<bool> is_trap(components.count, true);
  for (std::uint32_t i = 0; i < states.size(); ++i) {
    if (chain.first_choice[i] == chain.first_choice[i + 1] || chain.cost[chain.first_choice[i]] != 0) {
      is_trap[components.of[i]] = false;
      continue;
    }
    const std::size_t choice = chain.first_choice[i];
    for (std::size_t t = chain.first_transition[choice]; t < chain.first_transition[choice + 1]; ++t) {
      if (components.of[chain.successors[t]] != components.of[i]) is_trap[components.of[i]] = false;
    }
  }
  std::vector<StateId> trapped;
  for (std::uint32_t i = 0; i < states.size(); ++i) {
    if (is_trap[components.of[i]]) trapped.push_back(states[i]);
  }
  if (!trapped.empty()) {
    collapse_around(trapped, budget);
    return true;
  }
  for (std::size_t i = 0; i < states.size(); ++i) {
    if (!graph_.is_terminal(states[i])) fixed_.try_emplace(states[i], entries[i]);
  }
  return false;
}

void Solver::close_traps(std::span<const StateId> visited, Budget& budget) {
  std::vector<bool> reaches(graph_.size(), true);  // Whether the greedy policy gets out of them alive.
  for (const StateId state : visited) reaches[state] = false;
  for (bool changed = true; changed;) {  // To a fixpoint.
    changed = false;
    for (const StateId state : visited) {
      budget.tick();
      if (reaches[state] || graph_.is_dead(state)) continue;
      const SearchGraph::Backup backup = best_choice(state);
      for (std::size_t i = 0; i < backup.size() && !reaches[state]; ++i) {
        const StateId successor = graph_.successor(backup, i);
        reaches[state] = reaches[successor] && !graph_.is_dead(successor);
      }
      changed |= reaches[state];
    }
  }
  for (const StateId state : visited) {
    if (!reaches[state] && !graph_.is_dead(state)) graph_.close_trap(state, visited.size(), budget);
  }
}

void Solver::collapse_around(const std::vector<StateId>& trapped, Budget& budget) {
  const Tick tick = [&] { budget.tick(); };
  std::size_t room = 0;
  std::vector<StateId> states;
  std::unordered_map<StateId, std::uint32_t> index;
  for (const StateId state : trapped) {
    index.emplace(state, static_cast<std::uint32_t>(states.size()));
    states.push_back(state);
    room += graph_.num_members(state);
  }
  SparseModel free;
  for (std::size_t i = 0; i < states.size(); ++i) {
    budget.tick();
    const StateId state = states[i];
    if (!graph_.is_terminal(state) && !graph_.is_expanded(state) && room > 0) {
      --room;
      graph_.expand(state);
    }
    if (!graph_.is_terminal(state) && graph_.is_expanded(state)) {
      SearchGraph::Choices all = graph_.choices(state);
      for (SearchGraph::Choice choice; all.next(choice);) {
        if (choice.distribution->cost != 0) continue;
        for (std::size_t s = 0; s < choice.size(); ++s) {
          const StateId successor = graph_.successor(choice, s);
          const auto [entry, is_new] = index.try_emplace(successor, static_cast<std::uint32_t>(states.size()));
          if (is_new) states.push_back(successor);
          free.add_transition(entry->second, choice.distribution->probabilities[s]);
        }
        free.end_choice(0);
      }
    }
    free.end_state();
  }
  const EndComponents found = end_components(free, std::vector<bool>(free.num_choices(), true), tick);
  std::vector<std::vector<StateId>> members(found.count);
  for (std::size_t i = 0; i < states.size(); ++i) {
    if (found.of[i] != kNoComponent) members[found.of[i]].push_back(states[i]);
  }
  forget_labels();  // Before anything changes: what follows is not interrupted.
  for (const std::vector<StateId>& component : members) graph_.collapse(component);
}

}  // namespace asnets
