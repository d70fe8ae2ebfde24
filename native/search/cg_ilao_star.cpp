#include "search/cg_ilao_star.hpp"

#include <algorithm>

namespace asnets {

SearchGraph::Backup CgIlaoStar::best_choice(StateId state) {
  if (!is_restricted(state)) return graph_.evaluate(state);
  ++statistics_.backups;
  SearchGraph::Backup best{graph_.penalty()};
  for (std::uint32_t link = first_[state]; link != 0; link = links_[link - 1].next) {
    const SearchGraph::Choice choice = graph_.choice_at(links_[link - 1].entry);
    best.improve(graph_.q_value(choice), choice, graph_.preferred(state));
  }
  return best;
}

void CgIlaoStar::activate(StateId state, const SearchGraph::Choice& choice) {
  links_.push_back({choice.entry(), first_[state]});
  first_[state] = static_cast<std::uint32_t>(links_.size());
}

void CgIlaoStar::on_expanded(StateId state) {
  if (first_.size() <= state) first_.resize(std::max<std::size_t>(state + 1, graph_.size()), 0);
  if (graph_.is_dead(state) || has_traps_) return;  // All are active where values have to stay below the true ones.
  const SearchGraph::Backup best = graph_.evaluate(state);
  if (best.action >= 0) activate(state, {best.action, best.distribution, best.successors});
}

void CgIlaoStar::on_changed(StateId state, double before, double after) {
  if (after > before) {
    risen_.push_back(state);
  } else {
    fallen_ = true;
  }
}

bool CgIlaoStar::enforce(StateId state) {
  if (state != graph_.representative(state) || is_labelled(state) || !graph_.is_expanded(state)) return false;
  const double value = graph_.value(state);
  const double limit = value - epsilon_;
  ++statistics_.backups;
  double lowest = value;
  SearchGraph::Choices all = graph_.choices(state);
  for (SearchGraph::Choice choice; all.next(choice);) {
    const double q = graph_.q_value(choice);
    if (q >= limit) continue;
    lowest = std::min(lowest, q);
    bool active = !is_restricted(state);
    for (std::uint32_t link = active ? 0 : first_[state]; link != 0 && !active; link = links_[link - 1].next) {
      active = links_[link - 1].entry == choice.entry();
    }
    if (!active) activate(state, choice);
  }
  if (lowest == value) return false;
  graph_.set_value(state, lowest);
  return true;
}

bool CgIlaoStar::after_pass(Budget& budget) {
  bool any = false;
  for (; !risen_.empty(); risen_.pop_back()) {
    budget.tick();
    if (!enforce(risen_.back())) continue;
    any = fallen_ = true;  // At once: the next tick may end the search.
  }
  return any;
}

bool CgIlaoStar::accept(Budget& budget) {
  bool satisfied = true;
  while (fallen_) {
    bool again = false;
    for (StateId state = static_cast<StateId>(graph_.size()); state-- > 0;) {
      budget.tick();
      again |= enforce(state);
    }
    fallen_ = again;  // Not before: a sweep that was interrupted has to be made again.
    satisfied &= !again;
  }
  return satisfied;
}

}  // namespace asnets
