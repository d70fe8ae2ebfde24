#include "heuristics/relaxed_depth.hpp"

#include <utility>
#include <vector>

#include "interruption.hpp"

namespace asnets {

std::size_t relaxed_depth(const RelaxedTask& relaxed, const Word* state) {
  std::vector<std::size_t> missing(relaxed.num_operators());
  for (std::size_t op = 0; op < missing.size(); ++op) {
    missing[op] = relaxed.preconditions(static_cast<OperatorId>(op)).size();
  }
  std::vector<bool> reached(relaxed.num_facts(), false);
  std::vector<FactId> now;
  std::vector<FactId> next;
  const auto reach = [&](FactId fact, std::vector<FactId>& round) {
    if (reached[static_cast<std::size_t>(fact)]) return;
    reached[static_cast<std::size_t>(fact)] = true;
    round.push_back(fact);
  };
  relaxed.for_each_true(state, [&](FactId fact) { reach(fact, now); });
  std::vector<OperatorId> applied;  // In this round; what they add counts in the next one.
  for (std::size_t depth = 0;; ++depth) {
    interruption_point();
    applied.clear();
    for (std::size_t i = 0; i < now.size(); ++i) {
      for (const OperatorId op : relaxed.precondition_of(now[i])) {
        if (--missing[static_cast<std::size_t>(op)] > 0) continue;
        if (relaxed.action(op) >= 0) {
          applied.push_back(op);
        } else {  // Clauses and the goal take no step.
          for (const FactId effect : relaxed.effects(op)) reach(effect, now);
        }
      }
    }
    for (const OperatorId op : applied) {
      for (const FactId effect : relaxed.effects(op)) reach(effect, next);
    }
    if (next.empty()) return depth;
    now = std::exchange(next, {});
  }
}

}  // namespace asnets
