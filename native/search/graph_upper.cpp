// Values from above, and the policy that they stand for.
//
// What it guarantees: U >= c + P U under the choices that are kept (those that last lowered a value, by something), P and c
// exact; where none is kept, U is D, and the policy gives up. So no policy that is followed for n steps and gives up then
// costs more than U, and neither does this one for ever, if it ends. It does: a set of states that it never leaves would have
// one U throughout and cost nothing. Look at its state that was lowered last; another one leads there, was lowered before,
// from a greater value, and so would have a greater U.
// Traps: a set that is collapsed gets the least U of its states. Of those that have it, one leaves the set by its choice, or
// else they would never leave; repeated until it leaves, that choice costs no more. A set that is closed after that would
// have been part of the set.
#include <algorithm>
#include <unordered_set>

#include "search/graph.hpp"
#include "search/interval_iteration.hpp"

namespace asnets {

double SearchGraph::upper_q_value(const Choice& choice) const {
  const std::vector<double>& probabilities = choice.distribution->probabilities;
  double q = choice.distribution->cost + choice.distribution->repetitions * cost_error_;
  for (std::size_t i = 0; i < probabilities.size(); ++i) q += probabilities[i] * uppers_[successor(choice, i)];
  return q * (1 + rounding_of(probabilities.size()));
}

double SearchGraph::back_up_upper(StateId state) {
  ASNETS_ASSERT(state == representative(state));
  const double before = uppers_[state];
  if (before == 0) return 0;
  Choices all = choices(state);
  std::size_t looked_at = 1;
  for (Choice choice; all.next(choice);) {
    looked_at += choice.size();
    const double q = upper_q_value(choice);
    if (q >= uppers_[state]) continue;
    uppers_[state] = q;
    upper_choices_[state] = choice.entry();
  }
  statistics_.work += looked_at;
  return before - uppers_[state];
}

SearchGraph::UpperExit SearchGraph::upper_exit(const std::vector<StateId>& states) const {
  UpperExit exit{penalty_};
  for (const StateId state : states) exit.value = std::min(exit.value, uppers_[state]);
  const std::unordered_set<StateId> inside(states.begin(), states.end());
  for (const StateId state : states) {
    const std::uint32_t* const entry = upper_choices_[state];
    if (uppers_[state] > exit.value || entry == nullptr) continue;
    const Choice choice = choice_at(entry);
    for (std::size_t i = 0; i < choice.size(); ++i) {
      if (inside.contains(successor(choice, i))) continue;
      exit.owner = is_trap(state) ? owners_.at(entry) : state;
      exit.action = choice.action;
      return exit;
    }
  }
  ASNETS_ASSERT(exit.value == penalty_);
  return exit;
}

}  // namespace asnets
