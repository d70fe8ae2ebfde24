// CG-iLAO* [schmalz2024efficient]: ILAO* that looks only at the actions that matter.
//
// What it computes: a state starts with its greedy action as the only active one, and backups look at active actions
// alone. Values are then those of a problem with fewer choices and may be too high. After each pass of ILAO*, the
// actions of the states whose value has risen are checked: one with Q(s, a) < V(s) (a violated constraint of the linear
// program) is activated, and V(s) is lowered to it.
// What it guarantees: at the end V(s) <= Q(s, a) + ε for all actions of all expanded states, so that with an admissible
// heuristic values are optimal up to the error that residuals of ε allow, as for ILAO*.
// How it differs: where a value has fallen, so that constraints of other states may have become violated, all expanded
// states are swept when the passes have converged, instead of keeping lists of predecessors. Where there may be traps, all
// actions are active, as for ILAO*: lower bounds need values that were never too high.
#pragma once

#include <vector>

#include "search/ilao_star.hpp"

namespace asnets {

class CgIlaoStar final : public IlaoStar {
 public:
  using IlaoStar::IlaoStar;

 protected:
  SearchGraph::Backup best_choice(StateId state) override;
  void on_expanded(StateId state) override;
  void on_changed(StateId state, double before, double after) override;
  bool after_pass(Budget& budget) override;
  bool accept(Budget& budget) override;
  void on_reopened() override { fallen_ = true; }
  double residual_below() const override { return has_traps_ ? 0 : epsilon_; }

 private:
  bool is_restricted(StateId state) const { return state < first_.size() && first_[state] != 0; }
  void activate(StateId state, const SearchGraph::Choice& choice);
  // Activates what is violated and lowers the value; returns whether there was anything.
  bool enforce(StateId state);

  // Active choices, as lists through `next`.
  struct Link {
    const std::uint32_t* entry;
    std::uint32_t next;
  };
  std::vector<Link> links_;
  std::vector<std::uint32_t> first_;  // For each state, link + 1; 0 where all choices are active.
  std::vector<StateId> risen_;  // May hold a state more than once.
  bool fallen_ = false;
};

}  // namespace asnets
