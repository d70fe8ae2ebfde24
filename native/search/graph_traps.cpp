// Traps of a search graph: collapsing them, and getting through them.
#include <algorithm>
#include <unordered_map>

#include "search/graph.hpp"
#include "search/interval_iteration.hpp"

namespace asnets {

double SearchGraph::careful_q_value(const Choice& choice) const {
  const std::vector<double>& probabilities = choice.distribution->probabilities;
  double q = choice.distribution->cost;
  for (std::size_t i = 0; i < probabilities.size(); ++i) q += probabilities[i] * values_[successor(choice, i)];
  return rounds_down_ && q > 0 ? q * (1 - rounding_of(probabilities.size())) : q;
}

double SearchGraph::promise(const Choice& choice) const {
  if (!ignores_costs_) return 0;
  double sum = 0;
  double known = 0;
  for (std::size_t i = 0; i < choice.size(); ++i) {
    // Dead ends are counted by the value already.
    if (is_dead(choice.successors[i])) continue;
    sum += choice.distribution->probabilities[i] * promises_[choice.successors[i]];
    known += choice.distribution->probabilities[i];
  }
  return known > 0 ? sum / known : 0;
}

StateId SearchGraph::collapse(const std::vector<StateId>& states) {
  for (auto id = static_cast<StateId>(representatives_.size()); id < size(); ++id) representatives_.push_back(id);
  is_plain_ = false;
  const UpperExit upper = keeps_upper_ ? upper_exit(states) : UpperExit{penalty_};
  // Whoever has the most members represents them, so that few are renamed.
  const StateId leader = *std::max_element(states.begin(), states.end(),
                                           [&](StateId a, StateId b) { return num_members(a) < num_members(b); });
  if (!is_trap(leader)) {
    own_records_[leader] = records_[leader];
    traps_[leader].members.push_back(leader);
  }
  double value = values_[leader];
  for (const StateId state : states) {
    ASNETS_ASSERT(representative(state) == state && is_expanded(state) && !is_terminal(state));
    value = std::max(value, values_[state]);  // All are worth the same, and none of them more than that.
    if (state == leader) continue;
    std::vector<StateId> members{state};
    if (const auto trap = traps_.find(state); trap != traps_.end()) {
      members = std::move(trap->second.members);
      records_[state] = own_records_[state];
      own_records_.erase(state);
      traps_.erase(trap);
    }
    for (const StateId member : members) representatives_[member] = leader;
    std::vector<StateId>& all = traps_[leader].members;
    all.insert(all.end(), members.begin(), members.end());
  }
  Trap& trap = traps_[leader];
  trap.exit = nullptr;
  set_value(leader, value);

  record_.assign(1, 0);
  std::vector<std::pair<std::size_t, StateId>> owners;  // Of each choice: where it begins in the record.
  std::unordered_map<StateId, std::size_t> position;
  for (const StateId member : trap.members) {
    Choices all = own_choices(member);
    for (Choice choice; all.next(choice);) {
      successors_.clear();
      probabilities_.clear();
      position.clear();
      bool stays = false;
      for (std::size_t i = 0; i < choice.size(); ++i) {
        const StateId target = successor(choice, i);
        if (target == leader) {
          stays = true;
          continue;
        }
        const auto [entry, is_new] = position.try_emplace(target, successors_.size());
        if (is_new) {
          successors_.push_back(choice.successors[i]);
          probabilities_.push_back(0);
        }
        probabilities_[entry->second] += choice.distribution->probabilities[i];
      }
      if (successors_.empty()) continue;
      double leaves = 0;
      for (const double probability : probabilities_) leaves += probability;
      if (!stays) leaves = 1;
      for (double& probability : probabilities_) probability /= leaves;
      const std::uint32_t distribution = distribution_id(probabilities_, choice.distribution->repetitions / leaves,
                                                         choice.distribution->cost / leaves);
      ++record_[0];
      owners.emplace_back(record_.size(), member);
      record_.push_back(static_cast<std::uint32_t>(choice.action));
      record_.push_back(distribution);
      record_.insert(record_.end(), successors_.begin(), successors_.end());
    }
  }
  std::uint32_t* const memory = allocate(record_.size());
  std::copy(record_.begin(), record_.end(), memory);
  records_[leader] = memory;
  for (const auto& [offset, owner] : owners) owners_[memory + offset] = owner;
  if (keeps_upper_) {
    uppers_[leader] = upper.value;
    upper_choices_[leader] = nullptr;
    for (const auto& [offset, owner] : owners) {
      const bool leaves_here = owner == upper.owner && static_cast<ActionId>(memory[offset]) == upper.action;
      if (leaves_here) upper_choices_[leader] = memory + offset;
    }
  }
  if (record_[0] == 0) mark_dead(leader);
  return leader;
}

void SearchGraph::find_ways(Trap& trap, StateId target) const {
  struct Edge {
    StateId source;
    const std::uint32_t* entry;
  };
  std::unordered_map<StateId, std::vector<Edge>> into;
  const StateId leader = representative(target);
  for (const StateId member : trap.members) {
    Choices all = own_choices(member);
    for (Choice choice; all.next(choice);) {
      if (choice.distribution->cost != 0) continue;
      bool stays = true;
      for (std::size_t i = 0; i < choice.size() && stays; ++i) stays = successor(choice, i) == leader;
      if (!stays) continue;
      for (std::size_t i = 0; i < choice.size(); ++i) into[choice.successors[i]].push_back({member, choice.entry()});
    }
  }
  trap.ways.clear();
  std::vector<StateId> queue{target};
  for (std::size_t i = 0; i < queue.size(); ++i) {
    for (const Edge& edge : into[queue[i]]) {
      if (edge.source == target || !trap.ways.try_emplace(edge.source, edge.entry).second) continue;
      queue.push_back(edge.source);
    }
  }
  ASNETS_ASSERT(queue.size() == trap.members.size());
}

SearchGraph::Backup SearchGraph::within_trap(StateId state, const Backup& exit) {
  Trap& trap = traps_.at(representative(state));
  const Choice leaving{exit.action, exit.distribution, exit.successors};
  const StateId owner = owners_.at(leaving.entry());
  const auto backup_of = [&](const Choice& choice) {
    return Backup{exit.value, choice.action, choice.distribution, choice.successors};
  };
  if (state == owner) {
    Choices all = own_choices(state);
    for (Choice choice; all.next(choice);) {
      if (choice.action == exit.action) return backup_of(choice);
    }
  }
  if (trap.exit != leaving.entry()) {
    find_ways(trap, owner);
    trap.exit = leaving.entry();
  }
  return backup_of(choice_at(trap.ways.at(state)));
}

}  // namespace asnets
